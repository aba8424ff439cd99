// What the graph allows next, what it forbids, and why: one beam, one token, before and after.

import { figure, h, percent, refill, say, shownAs, svg } from './dom.js';
import { followed, watchedAlong } from './state.js';

const WIDTH = 300;
const HEIGHT = 64;

/** `drive` forces tokens and says why one may not follow, see drive.js. */
export function makeAllowed(text, drive) {
  const words = text.allowed;
  const note = h('p', { class: 'note' });
  const table = h('div', { class: 'tokens' });
  const side = h('div', { class: 'mass' });
  let chosenBeam = null;
  let chosenStep = null;
  let asked = ''; // the forbidden token whose reason is spelled out
  let redraw = () => {};
  const choose = (step) => { if (chosenStep !== step) { chosenStep = step; redraw(); } };

  const draw = (state, player) => {
    redraw = () => draw(state, player);
    const beam = followed(state, chosenBeam);
    const points = watchedAlong(state, beam);
    const point = pick(points, chosenStep, state);
    const chosen = point && point.step === chosenStep;
    const most = point && !chosen && state.branches.true.paths.length > 0;
    note.textContent = point ? say(chosen ? words.chosen : most ? words.most : words.now, { after: afterWords(point, words) }) : words.waiting;
    const can = Boolean(point) && drive.can(point.watch.beam);
    const told = (token) => `${point.watch.beam} ${token}`;
    const acts = {
      force: can ? (token, id) => drive.force(point.watch.beam, id, token) : null,
      ask: (token) => { asked = asked === told(token) ? '' : told(token); redraw(); },
      answer: (token, before, why) => (asked === told(token) ? drive.refusal(token, before, why) : null),
      words: drive.words,
    };
    refill(table, [beam, point?.step, points.length, can, asked], () => (point ? rows(point, words, acts) : []));
    const inSpark = side.contains(document.activeElement);
    refill(side, [beam, point?.step, points.length, state.branches.true.steps.length, chosenStep], () => (point ? [
      h('div', { class: 'big' }, percent(point.watch.forbidden_mass)),
      h('p', { class: 'note' }, words.mass),
      sparkline(points, point, words, choose),
      chosenStep === null ? null : h('button', { type: 'button', class: 'plain', on: { click: () => choose(null) } }, words.unchoose),
      left(points, words),
    ] : []));
    if (inSpark && !side.contains(document.activeElement)) side.querySelector('.here')?.focus();
  };

  return {
    element: h('section', { class: 'card allowed' }, h('div', {}, h('h2', {}, words.title), note, table), side),
    draw,
    follow(beam) { chosenBeam = beam; chosenStep = null; redraw(); },
    reset() { chosenBeam = null; chosenStep = null; },
  };
}

/** The token to explain: the chosen one; of a finished run where the graph forbade most; else the newest. */
function pick(points, step, state) {
  const explained = points.filter((point) => point.watch.top);
  const wanted = step === null ? null : points.find((point) => point.step === step);
  if (wanted) return wanted;
  if (!state.branches.true.paths.length) return explained.at(-1) ?? points.at(-1);
  return explained.reduce((best, point) => (!best || point.watch.forbidden_mass > best.watch.forbidden_mass ? point : best), null);
}

function afterWords(point, words) {
  if (!point.after) return words.start;
  const tail = point.after.length > 60 ? `… ${point.after.slice(-56)}` : point.after;
  return say(words.after, { text: tail.replaceAll('->', '→') });
}

// the tokens --------------------------------------------------------------------------------------

function rows(point, words, acts) {
  const { watch } = point;
  const top = watch.top ?? [];
  const masked = watch.masked ?? [];
  const rest = Math.max(0, watch.forbidden_mass - masked.reduce((sum, one) => sum + one[1], 0));
  const others = watch.allowed - top.length;
  return h('table', { role: 'table' }, h('thead', {}, h('tr', { role: 'row' }, h('th', { scope: 'col' }, words.token), h('td', { class: 'bar' }), h('th', { scope: 'col', class: 'figure' }, words.before),
    h('th', { scope: 'col', class: 'figure' }, words.after_graph), h('th', { scope: 'col', class: 'why' }, words.why))),
  h('tbody', {},
    top.map(([token, before, after, id]) => row('yes', token, before, after, token.trim() === '</PATH>' ? words.ends : words.allowed,
      acts.force && Number.isInteger(id) ? button(token, say(acts.words.force, { token: shownAs(token) }), () => acts.force(token, id)) : null)),
    others > 0 ? row('yes rest', say(words.rest, { n: figure(others) }), null, null, '') : null,
    masked.map(([token, before, why]) => [row('no', token, before, 0, why, button(token, say(acts.words.why, { token: shownAs(token) }), () => acts.ask(token))),
      told(acts.answer(token, before, why))]),
    rest > 0.0005 ? row('no rest', words.rest_masked, rest, 0, words.rest_why) : null));
}

function button(token, title, act) {
  return h('button', { type: 'button', class: 'act', title, 'aria-label': title, on: { click: act } }, h('code', {}, shownAs(token)));
}

/** A sentence below its row. */
function told(sentence) {
  return sentence ? h('tr', { class: 'told', role: 'row' }, h('td', { colspan: 5, role: 'cell' }, h('span', { role: 'status' }, sentence))) : null;
}

function row(kind, token, before, after, why, act = null) {
  return h('tr', { class: kind, role: 'row' }, h('th', { scope: 'row', role: 'rowheader' }, act ?? h('code', {}, shownAs(token))),
    h('td', { class: 'bar', 'aria-hidden': 'true' }, before === null ? null : h('span', {}, h('i', { style: `width:${(100 * before).toFixed(1)}%` }),
      after ? h('s', { style: `width:${(100 * after).toFixed(1)}%` }) : null)),
    h('td', { class: 'figure', role: 'cell' }, before === null ? '' : percent(before)),
    h('td', { class: 'figure', role: 'cell' }, after === null ? '' : after ? percent(after) : '0'), h('td', { class: 'why', role: 'cell' }, why));
}

// the forbidden share along the path --------------------------------------------------------------

function sparkline(points, current, words, choose) {
  const x = (i) => 6 + (i * (WIDTH - 12)) / Math.max(1, points.length - 1);
  const y = (mass) => HEIGHT - 8 - mass * (HEIGHT - 18);
  const list = points.map((point) => Math.round(100 * point.watch.forbidden_mass)).join(', ');
  return svg('svg', { class: 'spark', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'group', 'aria-label': say(words.sparkline, { list }) },
    svg('line', { x1: 0, x2: WIDTH, y1: HEIGHT - 4, y2: HEIGHT - 4, class: 'base' }),
    svg('polyline', { points: points.map((point, i) => `${x(i)},${y(point.watch.forbidden_mass)}`).join(' ') }),
    points.map((point, i) => svg('g', { class: point === current ? 'here' : 'there', role: 'button', tabindex: point === current ? 0 : -1, 'aria-pressed': String(point === current),
      'aria-label': say(words.point, { i: point.step + 1, text: point.taken?.text.trim() ?? '', share: percent(point.watch.forbidden_mass) }),
      on: { click: () => choose(point.step), keydown: (event) => along(event, points, i, choose) } },
      svg('rect', { x: x(i) - 7, y: 0, width: 14, height: HEIGHT }),
      svg('circle', { cx: x(i), cy: y(point.watch.forbidden_mass), r: point === current ? 5 : 2 }),
      svg('title', {}, `${point.taken?.text.trim() ?? ''} ${percent(point.watch.forbidden_mass)}`))));
}

/** Arrow keys go from token to token. */
function along(event, points, i, choose) {
  const goal = { ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: points.length - 1 }[event.key];
  if (goal === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  if (points[goal]) choose(points[goal].step);
}

/** Paths left: 1,203 → 41 → 6 → 1, each number once. */
function left(points, words) {
  const counts = points.map((point) => point.watch.paths_left);
  if (points.at(-1)?.taken?.fate === 'f') counts.push(1);
  const changes = counts.filter((n, i) => n !== counts[i - 1]);
  return h('p', { class: 'left' }, `${words.left} `, changes.map((n, i) => [i ? ' → ' : '', i === changes.length - 1 ? h('b', {}, figure(n)) : figure(n)]));
}
