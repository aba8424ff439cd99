// Changing the graph: edges are taken out or put in, the question is asked again, before and after stand side by side.
// The list of edits lives here and is sent with every question; the server makes the changed graph from it.

import { arrows, figure, h, refill, say } from '../core/dom.js';
import { hopsOf, ranked } from '../core/state.js';
import { makeBreaking } from './breaking.js';

/** @typedef {import('../core/types.js').PageText} PageText */
/** @typedef {import('../core/types.js').RunState} RunState */
/** @typedef {import('../core/types.js').RunEvent} RunEvent */
/** @typedef {import('../core/types.js').Player} Player */
/** @typedef {import('../core/types.js').Edit} Edit */
/** @typedef {[head: string, relation: string, tail: string]} Edge */

/**
 * What is compared of a run: triples of the graph, paths in the index, paths found, answer.
 * @typedef {{triples: number, trie: number, paths: string[], answer: string}} Summary
 */

/**
 * A run of this visit. `own` names the visitor's own graph, empty for an embedded one; `forced` tells a search that
 * began with forced tokens.
 * @typedef {{run: string, own: string, edits: Edit[], question: string, forced: boolean, events: RunEvent[], summary: Summary|null}} AskedRun
 */

const SHOWN_HOPS = 6;
const KEPT_RUNS = 60;

/**
 * @param {PageText} text
 * @param {object} page
 * @param {import('../core/types.js').Server} page.server
 * @param {(asked: import('../core/types.js').QuestionRequest) => void} page.again asks the question
 * @param {(events: RunEvent[], run: string) => void} page.revisit shows a run that has been seen
 * @param {() => void} page.gone called when the visitor's eyes are wanted at the answer
 * @param {{name: () => string}} page.own the visitor's own graph
 * @param {Pick<Parameters<typeof makeBreaking>[1], 'values'|'recorded'>} page.broken what breaking the world needs besides
 * @returns {import('../core/types.js').View & {compared: HTMLElement, asked: () => string, changes: () => string, drop: () => void, restore: (given: Edit[]) => void, of: (run: string) => Edit[]}}
 */
export function makeEdits(text, { server, again, revisit, gone, own, broken }) {
  const words = text.world;
  const breaking = makeBreaking(text, { ...broken, rerun: (asked) => server.rerun(asked), own: () => own.name(),
    take: (cut) => { edits = [...edits, ...cut.map((edge) => /** @type {Edit} */ (['remove', ...edge]))]; redraw(); } });
  const hops = h('ul', { class: 'hops', 'aria-label': words.hops });
  const list = h('ul', { class: 'edits', 'aria-label': words.edits });
  const said = h('p', { class: 'said', role: 'alert' });
  const buttons = h('div', { class: 'row' });
  const compared = h('section', { class: 'card compared', hidden: true, 'aria-label': words.compared });
  const element = h('section', { class: 'card world' }, h('h2', {}, words.title), h('p', { class: 'note' }, words.note),
    h('div', { class: 'sides' }, h('div', {}, hops), h('div', {}, form(), said, list, buttons)), breaking.element);
  /** @type {Map<string, AskedRun>} */
  const runs = new Map();
  /** @type {Edit[]} */
  let edits = [];
  /** @type {{own: string, edits: Edit[]}} what was sent with the last question */
  let sent = { own: '', edits: [] };
  /** @type {AskedRun|null} the run that is shown */
  let here = null;
  let all = false;
  let waiting = ''; // the run that stood there when the changed graph was asked
  /** @type {RunState|null} */
  let state = null;
  /** @type {Player|null} */
  let player = null;

  /** @type {(stateNow: RunState, playerNow: Player) => void} */
  const draw = (stateNow, playerNow) => {
    [state, player] = [stateNow, playerNow];
    if (player.run !== waiting) waiting = '';
    if (state.run && player.run) here = arrive(player.run, state.run, state, player);
    const shown = here;
    element.hidden = !shown || !state.run || shown.own !== own.name();
    const asked = waiting ? edits : shown?.edits ?? [];
    compared.hidden = !shown || !asked.length || Boolean(state.failed);
    if (shown && !compared.hidden) drawCompared(compared, asked, original(), waiting ? null : shown.summary, words);
    if (!shown || element.hidden) return;
    const walked = hopsOf(state);
    const written = edits.map((edit) => edit.join('\u0000'));
    refill(hops, [walked, written, all], () => [...walked.slice(0, all ? Infinity : SHOWN_HOPS).map((hop) => hopRow(hop, written)),
      !all && walked.length > SHOWN_HOPS ? h('li', {}, h('button', { type: 'button', class: 'plain', on: { click: () => { all = true; redraw(); } } },
        say(words.more, { n: walked.length - SHOWN_HOPS }))) : null]);
    refill(list, edits, () => edits.map(editRow));
    refill(buttons, [edits, shown.edits, player.ended], () => [
      edits.length ? h('button', { type: 'button', class: 'primary', on: { click: askAgain } }, words.again) : null,
      edits.length || shown.edits.length ? h('button', { type: 'button', class: 'plain', on: { click: back } }, words.back) : null]);
    breaking.draw(state, edits, player.over && Boolean(state.final));
  };
  const redraw = () => { if (state && player) draw(state, player); };

  /**
   * The shown run as it is known here; on another run than before, the edits are those of that run.
   * @type {(name: string, asked: import('../core/types.js').RunStarted, stateNow: RunState, player: Player) => AskedRun}
   */
  function arrive(name, asked, stateNow, { origin, events }) {
    let run = runs.get(name);
    if (!run) {
      const given = origin === 'live' ? sent : { own: '', edits: [] };
      run = { run: name, ...given, question: asked.question, forced: (asked.forced ?? []).length > 0, events, summary: null };
      runs.set(name, run);
      const [oldest] = runs.keys();
      if (runs.size > KEPT_RUNS) runs.delete(oldest);
    }
    run.events = events;
    if (stateNow.finished || stateNow.failed) run.summary = summaryOf(stateNow);
    if (run !== here) { edits = [...run.edits]; show(''); all = false; }
    return run;
  }

  /** The run of the same question on the unchanged graph. */
  function original() {
    return [...runs.values()].find((run) => !run.edits.length && !run.forced && run.summary && run.question === here?.question && run.own === here?.own) ?? null;
  }

  /**
   * Add the first of these edits of an edge that the server finds to fit the graph.
   * @type {(hop: Edge, ...kinds: ('add'|'remove')[]) => Promise<void>}
   */
  async function change(hop, ...kinds) {
    const [kind, ...others] = kinds;
    if (!here || !player || !state?.run) return;
    /** @type {Edit} */
    const edit = [kind, ...hop];
    // the server knows the graph of the shown run, so only what came after that run's own edits is tried
    const begins = here.edits.every((one, place) => String(one) === String(edits[place]));
    const { run } = player;
    const answer = begins ? await server.change({ run, graph: state.run.graph, edits: [...edits.slice(here.edits.length), edit] }) : {};
    if (player.run !== run) return;
    if (answer.error && others.length && hop.every(Boolean)) { await change(hop, ...others); return; }
    show(answer.error ?? '');
    if (!answer.error) edits = [...edits, edit];
    redraw();
  }

  function askAgain() {
    if (!here) return;
    waiting = here.run; // before and after stand above the answer from now on, so that nothing jumps when it comes
    again({ question: here.question, entities: state?.linked?.given ? state.linked.chosen : [] });
    redraw();
    gone();
  }

  function back() {
    edits = [];
    const before = original();
    if (before) revisit(before.events, before.run);
    else askAgain();
    redraw();
  }

  /** @param {string} sentence */
  function show(sentence) { refill(said, sentence, () => [sentence]); }

  /** @type {(hop: Edge, written: string[]) => HTMLElement} */
  function hopRow(hop, written) {
    const gone = written.includes(['remove', ...hop].join('\u0000'));
    const title = say(words.cut, { edge: hop.join(' → ') });
    return h('li', { class: gone ? 'gone' : '' }, h('span', {}, edge(hop)),
      h('button', { type: 'button', class: 'cut', disabled: gone, title, 'aria-label': title, on: { click: () => change(hop, 'remove') } }, '✂\uFE0E'));
  }

  /** @type {(edit: Edit, place: number) => HTMLElement} */
  function editRow([kind, ...hop], place) {
    return h('li', { class: kind }, h('small', {}, kind === 'add' ? words.added : words.removed), h('span', {}, edge(hop)),
      h('button', { type: 'button', class: 'out', 'aria-label': say(words.undo, { edge: hop.join(' → ') }),
        on: { click: () => { edits = edits.filter((_, i) => i !== place); redraw(); } } }, '×'));
  }

  function form() {
    const [head, relation, tail] = [field('head'), field('relation'), field('tail')];
    /** @returns {Edge} */
    const hop = () => [head.input.value.trim(), relation.input.value.trim(), tail.input.value.trim()];
    const act = h('button', { type: 'button', class: 'plain', on: { click: () => change(hop(), 'add', 'remove') } }, words.change);
    return h('div', { class: 'typed' }, head.label, relation.label, tail.label, h('div', { class: 'row' }, act));
  }

  /** @param {'head'|'relation'|'tail'} part */
  function field(part) {
    const names = h('datalist', { id: `kg-${part}-names` });
    const input = h('input', { type: 'text', list: names.id, maxlength: 300, autocomplete: 'off', on: { input: async () => {
      const written = input.value;
      const asked = { run: player?.run ?? '', graph: state?.run?.graph ?? '', written };
      const found = written.trim().length < 2 ? [] : await server[part === 'relation' ? 'relations' : 'entities'](asked);
      if (input.value === written) names.replaceChildren(...found.map((name) => h('option', { value: name })));
    } } });
    return { input, label: h('label', {}, words[part], input, names) };
  }

  return {
    element,
    compared,
    draw,
    /** What is sent with a question, as JSON. */
    asked() {
      sent = { own: own.name(), edits: here && here.own !== own.name() ? [] : edits };
      return JSON.stringify(sent);
    },
    /** The graph that the next question is asked on, as JSON. */
    changes: () => JSON.stringify({ own: own.name(), edits: here && here.own !== own.name() ? [] : edits }),
    /** Another graph is asked from now on. */
    drop() { edits = []; redraw(); },
    /** The next question is asked with these edits. */
    restore(given) { edits = given; },
    /** The edits of the graph that a run was asked on. */
    of(run) { return runs.get(run)?.edits ?? (run === player?.run || !player ? sent.edits : []); },
  };
}

/** @type {(edge: Edge) => HTMLElement[]} */
function edge([head, relation, tail]) {
  return [h('b', {}, head), h('span', { class: 'relation' }, ` → ${relation} → `), h('b', {}, tail)];
}

// before and after --------------------------------------------------------------------------------

const SHOWN_PATHS = 5;

/**
 * What is compared of a run that has ended.
 * @param {RunState} state
 * @returns {Summary}
 */
export function summaryOf(state) {
  return {
    triples: state.run?.triples ?? 0, trie: state.ready?.paths ?? 0,
    paths: ranked(state.constrained).map((path) => path.text),
    answer: state.final?.answers.join(', ') || state.failed?.message || state.answer,
  };
}

/**
 * @type {(element: HTMLElement, edits: Edit[], before: AskedRun|null, now: Summary|null, words: PageText['world']) => void}
 */
function drawCompared(element, edits, before, now, words) {
  const old = before?.summary;
  refill(element, [edits, old, now], () => [h('h2', {}, words.compared),
    h('ul', { class: 'what' }, edits.map(([kind, ...hop]) => h('li', { class: kind }, h('small', {}, kind === 'add' ? words.added : words.removed), ' ', edge(hop)))),
    old ? comparison(old, now, words) : h('p', { class: 'note' }, words.alone)]);
}

/**
 * Two answers side by side, and folded what else has changed; `now` is null while it is still asked for.
 * @type {(old: Summary, now: Summary|null, words: PageText['world']) => HTMLElement[]}
 */
function comparison(old, now, words) {
  /** @typedef {import('../core/dom.js').Child} Child */
  /** @type {(name: string, one: Child, other: Child) => HTMLElement} */
  const row = (name, one, other) => h('tr', { role: 'row' }, h('th', { scope: 'row', role: 'rowheader' }, name), h('td', { role: 'cell' }, one), h('td', { role: 'cell' }, other));
  const column = (/** @type {string} */ name) => h('th', { scope: 'col', role: 'columnheader' }, name);
  /** @type {(...rows: HTMLElement[]) => HTMLElement} */
  const table = (...rows) => h('table', { role: 'table', 'aria-label': words.compared },
    h('thead', {}, h('tr', { role: 'row' }, h('td', {}), column(words.before), column(words.after))), h('tbody', {}, rows));
  return [table(row(words.answer, old.answer || words.none, now ? now.answer || words.none : words.asking)),
    ...(now ? [h('details', {}, h('summary', {}, words.rest), table(row(words.triples, figure(old.triples), figure(now.triples)), row(words.trie, figure(old.trie), figure(now.trie)),
      row(words.paths, pathList(old.paths, now.paths, 'gone', words), pathList(now.paths, old.paths, 'new', words))))] : [])];
}

/**
 * The first paths; those that the other run lacks are marked.
 * @type {(mine: string[], others: string[], mark: 'gone'|'new', words: PageText['world']) => HTMLElement|string}
 */
function pathList(mine, others, mark, words) {
  if (!mine.length) return words.none;
  return h('ol', {}, mine.slice(0, SHOWN_PATHS).map((path) => (others.includes(path) ? h('li', {}, arrows(path))
    : h('li', { class: mark }, h('span', {}, arrows(path)), ' ', h('small', {}, words[mark])))));
}
