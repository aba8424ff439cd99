// What the graph allows next, what it forbids, and why: one beam, one token, before and after the constraint.
// A visitor may force an allowed token (see forcing.js) and ask why a forbidden one may not follow.

import { figure, h, percent, refill, say, shownAs, svg } from '../core/dom.js';
import { followed, lineage, stateAfter, watchedAlong } from '../core/state.js';
import { withTerms } from '../core/terms.js';

/** @typedef {import('../core/types.js').RunState} RunState */
/** @typedef {import('../core/state.js').WatchPoint} WatchPoint */
/** @typedef {import('../core/dom.js').Child} Child */
/** @typedef {import('../core/types.js').PageText} PageText */
/** @typedef {PageText['allowed']} Words */

const [WIDTH, HEIGHT] = [300, 64]; // pixels of the line of forbidden mass
const SHOWN_TEXT = 60; // characters of the text before the token
const SMALLEST_REST = 0.0005; // probability below which the other forbidden tokens get no row

/**
 * What can be done with a token; `force` is null where no token can be forced.
 * @typedef {object} Acts
 * @property {((token: string, id: number) => void)|null} force
 * @property {(token: string) => void} ask shows or hides why a token is forbidden
 * @property {(token: string, before: number, why: string) => string|null} answer the sentence shown below a forbidden token
 * @property {import('../core/types.js').PageText['drive']} words
 */

/**
 * @param {import('../core/types.js').PageText} text
 * @param {ReturnType<typeof import('./forcing.js').makeForcing>} forcing
 * @param {ReturnType<typeof makeLayers>} layers
 * @returns {import('../core/types.js').View & {follow: (beam: number) => void, reset: () => void}}
 */
export function makeAllowed(text, forcing, layers) {
  const words = text.allowed;
  const note = h('p', { class: 'note' });
  const table = h('div', { class: 'tokens' });
  const side = h('div', { class: 'mass' });
  /** @type {number|null} */
  let chosenBeam = null;
  /** @type {number|null} */
  let chosenStep = null;
  let asked = ''; // the forbidden token whose reason is shown
  /** @type {{of: string, line: number[]}} the beam that a run which has ended is stepped along, and its ancestors */
  let walked = { of: '', line: [] };
  /** @type {{run: string|null, beam: number}} */
  let shown = { run: null, beam: 0 };
  let redraw = () => {};
  /** @param {number|null} step */
  const choose = (step) => { if (chosenStep !== step) { chosenStep = step; redraw(); } };

  /** @type {import('../core/types.js').View['draw']} */
  const draw = (state, player) => {
    redraw = () => draw(state, player);
    const beam = followed(state, lineToWalk(player), shown.run === player.run ? shown.beam : 0);
    shown = { run: player.run, beam };
    const points = watchedAlong(state, beam);
    const point = pointToShow(points, chosenStep, state);
    const sentence = point?.step === chosenStep ? words.chosen : state.constrained.paths.length > 0 ? words.most : words.now;
    note.textContent = point ? say(sentence, { after: textBefore(point, words) }) : words.waiting;
    const can = Boolean(point && forcing.can(point.watch.beam));
    refill(table, [beam, point?.step, points.length, can, asked], () => (point ? tokenTable(point, text, actsAt(point.watch.beam, can)) : []));
    layers.draw(state, player.run ?? '', point);
    const hadFocus = side.contains(document.activeElement);
    refill(side, [beam, point?.step, points.length, state.constrained.steps.length, chosenStep], () => (point ? [
      h('div', { class: 'big' }, percent(point.watch.forbidden_mass)),
      h('p', { class: 'note' }, words.mass),
      sparkline(points, point, words, choose),
      chosenStep === null ? null : h('button', { type: 'button', class: 'plain', on: { click: () => choose(null) } }, words.unchoose),
      pathsLeft(points, words),
    ] : []));
    if (hadFocus && !side.contains(document.activeElement)) /** @type {SVGElement|null} */ (side.querySelector('.here'))?.focus();
  };

  /**
   * The beam that the visitor has chosen, else that of the best path, as soon as the whole run is known.
   * @param {import('../core/types.js').Player} player
   */
  function lineToWalk(player) {
    const of = player.ended ? `${player.run} ${chosenBeam}` : '';
    if (of !== walked.of) {
      const { constrained } = stateAfter(player.events);
      const end = chosenBeam ?? constrained.paths.find((path) => path.index === 1)?.beam ?? 0;
      walked = { of, line: of ? lineage(constrained, end).map((beam) => beam.id) : [] };
    }
    return of ? walked.line : chosenBeam === null ? [] : [chosenBeam];
  }

  /** @type {(beam: number, can: boolean) => Acts} */
  function actsAt(beam, can) {
    const nameOf = (/** @type {string} */ token) => `${beam} ${token}`;
    return {
      force: can ? (token, id) => forcing.force(beam, id, token) : null,
      ask: (token) => { asked = asked === nameOf(token) ? '' : nameOf(token); redraw(); },
      answer: (token, before, why) => (asked === nameOf(token) ? say(text.drive.refused, { token: shownAs(token), why, share: percent(before) }) : null),
      words: text.drive,
    };
  }

  return {
    element: h('section', { class: 'card allowed' }, h('div', {}, h('h2', {}, words.title), note, table, layers.element), side),
    draw,
    follow(beam) { chosenBeam = beam; chosenStep = null; redraw(); },
    reset() { chosenBeam = null; chosenStep = null; },
  };
}

/**
 * The token to explain: the chosen one; of a finished search the one where the graph forbade most; else the newest.
 * @type {(points: WatchPoint[], step: number|null, state: RunState) => WatchPoint|undefined}
 */
function pointToShow(points, step, state) {
  const chosen = step === null ? null : points.find((point) => point.step === step);
  if (chosen) return chosen;
  const explained = points.filter((point) => point.watch.top);
  if (!state.constrained.paths.length) return explained.at(-1) ?? points.at(-1);
  let most;
  for (const point of explained) if (!most || point.watch.forbidden_mass > most.watch.forbidden_mass) most = point;
  return most;
}

/** @type {(point: WatchPoint, words: Words) => string} */
function textBefore(point, words) {
  if (!point.after) return words.start;
  const tail = point.after.length > SHOWN_TEXT ? `… ${point.after.slice(4 - SHOWN_TEXT)}` : point.after;
  return say(words.after, { text: tail.replaceAll('->', '→') });
}

// the tokens --------------------------------------------------------------------------------------

/** @type {(point: WatchPoint, text: PageText, acts: Acts) => HTMLElement} */
function tokenTable({ watch }, { allowed: words, terms }, acts) {
  const top = watch.top ?? [];
  const masked = watch.masked ?? [];
  const rest = Math.max(0, watch.forbidden_mass - masked.reduce((sum, one) => sum + one[1], 0));
  const others = watch.allowed - top.length;
  const { force } = acts;
  const head = h('tr', { role: 'row' }, h('th', { scope: 'col' }, withTerms(words.token, terms)), h('td', { class: 'bar' }), h('th', { scope: 'col', class: 'figure' }, words.before),
    h('th', { scope: 'col', class: 'figure' }, words.after_graph), h('th', { scope: 'col', class: 'why' }, words.why));
  return h('table', { role: 'table' }, h('thead', {}, head), h('tbody', {},
    top.map(([token, before, after, id]) => tokenRow('yes', token, before, after, token.trim() === '</PATH>' ? words.ends : words.allowed,
      force && id !== undefined && Number.isInteger(id) ? tokenButton(token, say(acts.words.force, { token: shownAs(token) }), () => force(token, id)) : null)),
    others > 0 ? tokenRow('yes rest', say(words.rest, { n: figure(others) }), null, null, '') : null,
    masked.map(([token, before, why]) => [
      tokenRow('no', token, before, 0, why, tokenButton(token, say(acts.words.why, { token: shownAs(token) }), () => acts.ask(token))),
      reasonRow(acts.answer(token, before, why))]),
    rest > SMALLEST_REST ? tokenRow('no rest', words.rest_masked, rest, 0, words.rest_why) : null));
}

/** @type {(token: string, title: string, act: () => void) => HTMLElement} */
function tokenButton(token, title, act) {
  return h('button', { type: 'button', class: 'act', title, 'aria-label': title, on: { click: act } }, h('code', {}, shownAs(token)));
}

/** @type {(sentence: string|null) => HTMLElement|null} */
function reasonRow(sentence) {
  return sentence ? h('tr', { class: 'told', role: 'row' }, h('td', { colspan: 5, role: 'cell' }, h('span', { role: 'status' }, sentence))) : null;
}

/** @type {(kind: string, token: string, before: number|null, after: number|null, why: string, act?: HTMLElement|null) => HTMLElement} */
function tokenRow(kind, token, before, after, why, act = null) {
  const long = (/** @type {number} */ share) => `width:${(100 * share).toFixed(1)}%`;
  return h('tr', { class: kind, role: 'row' }, h('th', { scope: 'row', role: 'rowheader' }, act ?? h('code', {}, shownAs(token))),
    h('td', { class: 'bar', 'aria-hidden': 'true' }, before === null ? null : h('span', {}, h('i', { style: long(before) }), after ? h('s', { style: long(after) }) : null)),
    h('td', { class: 'figure', role: 'cell' }, before === null ? '' : percent(before)),
    h('td', { class: 'figure', role: 'cell' }, after === null ? '' : after ? percent(after) : '0'), h('td', { class: 'why', role: 'cell' }, why));
}

// the forbidden mass along the path ---------------------------------------------------------------

/** @type {(points: WatchPoint[], current: WatchPoint, words: Words, choose: (step: number) => void) => SVGElement} */
function sparkline(points, current, words, choose) {
  const x = (/** @type {number} */ i) => 6 + (i * (WIDTH - 12)) / Math.max(1, points.length - 1);
  const y = (/** @type {WatchPoint} */ point) => HEIGHT - 8 - point.watch.forbidden_mass * (HEIGHT - 18);
  const list = points.map((point) => Math.round(100 * point.watch.forbidden_mass)).join(', ');
  return svg('svg', { class: 'spark', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'group', 'aria-label': say(words.sparkline, { list }) },
    svg('line', { x1: 0, x2: WIDTH, y1: HEIGHT - 4, y2: HEIGHT - 4, class: 'base' }),
    svg('polyline', { points: points.map((point, i) => `${x(i)},${y(point)}`).join(' ') }),
    points.map((point, i) => {
      const here = point === current;
      const [token, share] = [point.taken?.text.trim() ?? '', percent(point.watch.forbidden_mass)];
      return svg('g', { class: here ? 'here' : 'there', role: 'button', tabindex: here ? 0 : -1, 'aria-pressed': String(here),
        'aria-label': say(words.point, { i: point.step + 1, text: token, share }),
        on: { click: () => choose(point.step), keydown: (event) => goAlong(event, points, i, choose) } },
      svg('rect', { x: x(i) - 7, y: 0, width: 14, height: HEIGHT }), svg('circle', { cx: x(i), cy: y(point), r: here ? 5 : 2 }), svg('title', {}, `${token} ${share}`));
    }));
}

/**
 * Arrow keys go from token to token.
 * @type {(event: KeyboardEvent, points: WatchPoint[], i: number, choose: (step: number) => void) => void}
 */
function goAlong(event, points, i, choose) {
  /** @type {Record<string, number>} */
  const goals = { ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: points.length - 1 };
  const goal = goals[event.key];
  if (goal === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  if (points[goal]) choose(points[goal].step);
}

/**
 * Paths left after each token, for example 1,203 → 41 → 6 → 1; equal numbers in a row are told once.
 * @type {(points: WatchPoint[], words: Words) => HTMLElement}
 */
function pathsLeft(points, words) {
  const counts = points.map((point) => point.watch.paths_left);
  if (points.at(-1)?.taken?.fate === 'f') counts.push(1);
  const changes = counts.filter((n, i) => n !== counts[i - 1]);
  return h('p', { class: 'left' }, `${words.left} `,
    changes.map((n, i) => [i ? ' → ' : '', i === changes.length - 1 ? h('b', {}, figure(n)) : figure(n)]));
}

// layers: at which layer of the model the graph's token overtakes the invented one. The server reads the text once more, so it
// is asked only once somebody opens the strip.

/** @typedef {PageText['layers']} LayerWords */
/** @typedef {[taken: number, invented: number]} Pair probabilities after a layer */
/** @typedef {{layers?: Pair[], error?: string}} Layers of the embeddings first */
/** @typedef {{run: string, graph: string, question: string, topics: string[], tokens: (number|undefined)[], taken: number|undefined, forbidden: string}} Asked */

const NEAR = 0.01; // the last layer is the model's own probability; a run with another prompt is told by that

/**
 * The layer from which on the graph's token stays ahead; 0 is the embeddings.
 * @param {Pair[]} layers
 * @returns {number|null} null where it is behind at the end
 */
export function overtakes(layers) {
  const behind = layers.findLastIndex(([taken, invented]) => taken < invented);
  return behind === layers.length - 1 ? null : behind + 1;
}

/**
 * @param {import('../core/types.js').PageText} text
 * @param {string} model whose layers the server can look into
 * @param {(asked: Asked) => Promise<Layers>} ask
 * @returns {{element: HTMLDetailsElement, draw: (state: RunState, run: string, point: WatchPoint|undefined) => void}}
 */
export function makeLayers(text, model, ask) {
  const words = text.layers;
  const body = h('div', { role: 'status' });
  const element = h('details', { class: 'layers', on: { toggle: () => look() } }, h('summary', {}, words.title), h('p', { class: 'note' }, words.note), body);
  /** @type {ReturnType<typeof placeOf>} */
  let place = null;
  let shown = '';

  async function look() {
    const key = JSON.stringify(place);
    if (!element.open || !place || key === shown) return;
    shown = key;
    const { asked, before, token } = place;
    body.textContent = words.waiting;
    /** @type {Layers} */
    const told = await ask(asked).catch(() => ({ error: words.failed }));
    if (key !== shown) return;
    const last = told.layers?.at(-1)?.[0] ?? 0;
    if (!told.layers) body.textContent = told.error ?? words.failed;
    else if (Math.abs(last - before) > NEAR) body.textContent = words.differs;
    else body.replaceChildren(...strip(told.layers, asked.forbidden, token, words));
  }

  return { element, draw: (state, run, point) => {
    place = point && state.run?.model === model ? placeOf(state, run, point) : null;
    element.hidden = !place;
    look();
  } };
}

/** @type {(state: RunState, run: string, point: WatchPoint) => {asked: Asked, before: number, token: string}|null} */
function placeOf({ run: started, linked, constrained }, run, { watch, taken }) {
  const forbidden = watch.masked?.[0]?.[0];
  if (!started || !linked || !taken || taken.token === undefined || !forbidden?.trim()) return null;
  const tokens = lineage(constrained, watch.beam).map((beam) => beam.token);
  return { before: Math.exp(taken.logProb), token: taken.text,
    asked: { run, graph: started.graph, question: started.question, topics: linked.chosen, tokens, taken: taken.token, forbidden } };
}

/** @type {(layers: Pair[], invented: string, taken: string, words: LayerWords) => HTMLElement[]} */
function strip(layers, invented, taken, words) {
  const from = overtakes(layers);
  const slots = { taken: shownAs(taken), invented: shownAs(invented), i: from, n: layers.length - 1 };
  const said = from === null ? words.never : from === 0 ? words.always : words.from;
  const cell = (/** @type {number} */ share, /** @type {string} */ kind) => h('td', {}, percent(share), h('i', { class: `share ${kind}`, style: `--share:${(100 * share).toFixed(1)}%` }));
  const head = h('tr', {}, [words.layer, slots.taken, slots.invented].map((name) => h('th', { scope: 'col' }, name)));
  return [h('p', {}, say(said, slots)), h('table', { class: 'plain-table' }, h('thead', {}, head), h('tbody', {}, layers.map(([one, other], i) =>
    h('tr', { class: from !== null && i >= from ? 'ahead' : '' }, h('th', { scope: 'row' }, i ? say(words.nth, { i }) : words.first), cell(one, 'grounded'), cell(other, 'invented')))))];
}
