// One question by several methods: the runs of this visit, kept in memory, as one table. A row shows its run again.

import { figure, h, refill, say } from '../core/dom.js';
import { stateAfter, verifiedCount } from '../core/state.js';

/** @typedef {import('../core/types.js').RunState} RunState */
/** @typedef {import('../core/types.js').RunEvent} RunEvent */
/** @typedef {import('../core/types.js').Player} Player */
/** @typedef {{run: string, events: RunEvent[], recorded: boolean, state: RunState, values: import('../core/inputs.js').Values}} KeptRun `values`: of the page's fields, when a live run began */

const KEPT_RUNS = 12; // a long one is a few hundred kilobytes
const ANSWERS = 6; // shown in a row
const TOLD = new Set(['question', 'graph', 'method', 'beams', 'hops', 'model', 'compare']); // fields that a run tells by itself, or that change no path
const COLUMNS = /** @type {const} */ (['method', 'paths', 'verified', 'calls', 'tokens', 'seconds', 'answer']);

/**
 * @param {import('../core/types.js').Boot} boot
 * @param {import('../core/types.js').PageText} text
 * @param {(events: RunEvent[], run: string) => void} show shows a kept run in the whole page
 * @param {(asked: import('../core/types.js').QuestionRequest) => void} again asks the question by another method
 * @param {(run: string) => import('../core/types.js').Edit[]} editsOf the edits of the graph that a run was asked on
 * @param {import('../core/inputs.js').Inputs} inputs
 * @returns {import('../core/types.js').View & {control: HTMLElement}} `control` asks the shown question by another method
 */
export function makeMethods(boot, text, show, again, editsOf, inputs) {
  const words = text.methods;
  /** @type {KeptRun[]} */
  const kept = [];
  const picker = h('select', { 'aria-label': words.with });
  const go = h('button', { type: 'button', class: 'primary', on: { click: () => ask() } }, words.go);
  const control = h('div', { class: 'versus', hidden: true }, h('span', {}, words.with), picker, go);
  const rows = h('tbody');
  const element = h('section', { class: 'card methods', hidden: true }, h('h2', {}, words.title), h('p', { class: 'note' }, words.note),
    h('div', { class: 'scroll' }, h('table', {}, h('thead', {}, h('tr', {}, COLUMNS.map((name) => h('th', { scope: 'col' }, words[name])))), rows)));
  /** @type {RunState|null} */
  let current = null;
  /** @param {string} name */
  const titleOf = (name) => boot.methods.find((one) => one.name === name)?.title ?? name;

  function ask() {
    if (!current?.run) return;
    again({ question: current.run.question, method: picker.value, entities: current.linked?.given ? current.linked.chosen : [] });
  }

  /** @type {{run: string|null, values: KeptRun['values']}} */
  let begun = { run: null, values: {} };

  /** @param {Player} player */
  function keep(player) {
    if (player.run !== begun.run) begun = { run: player.run, values: player.origin === 'live' ? inputs.values : {} };
    if (!player.run || !player.ended || player.stopped || kept.some((one) => one.run === player.run)) return;
    const state = stateAfter(player.events);
    if (!state.run || !state.finished) return;
    kept.push({ run: player.run, events: player.events, recorded: player.origin === 'recorded', state, values: begun.values });
    if (kept.length > KEPT_RUNS) kept.shift();
  }

  /** @type {(state: RunState, player: Player) => void} */
  const draw = (state, player) => {
    keep(player);
    current = state;
    control.hidden = !state.run || !(player.over && state.finished);
    const same = kept.filter((one) => state.run && one.state.run?.question === state.run.question);
    const done = new Set(same.map((one) => one.state.run?.method));
    const [open, asked] = [boot.methods.filter((one) => !done.has(one.name)), boot.methods.filter((one) => done.has(one.name))];
    refill(picker, [state.run?.question, [...done]], () => [...open, ...asked].map((one) => h('option', { value: one.name }, one.title)));
    element.hidden = same.length < 2;
    refill(rows, [same.map((one) => one.run), player.run], () => same.map((one) => row(one, one.run === player.run)));
  };

  /** @type {(one: KeptRun, here: boolean) => HTMLElement|null} */
  function row(one, here) {
    const { run, constrained, unconstrained, finished, final } = one.state;
    if (!run || !finished) return null;
    const branch = constrained.paths.length ? constrained : unconstrained;
    const n = branch.paths.length;
    const told = [run.graph, say(words.limits, { k: run.beams, l: run.hops }), one.recorded ? words.recorded : null,
      run.forced?.length ? say(words.forced, { n: run.forced.length }) : null,
      ...Object.entries(one.values).filter(([name, value]) => !TOLD.has(name) && value !== inputs.standard[name] && value !== undefined && value !== null && value !== '')
        .map(([name, value]) => say(words.setting, { name: name.replaceAll('_', ' '), value })),
      run.model && run.model !== boot.standard.model ? run.model : null,
      ...editsOf(one.run).map(([kind, ...edge]) => say(words.edits[kind], { edge: edge.join(' → ') }))].filter(Boolean).join(' · ');
    const answers = final?.answers ?? [];
    return h('tr', { 'aria-current': here ? 'true' : null },
      h('th', { scope: 'row' },
        h('button', { type: 'button', class: 'plain', title: words.show, on: { click: () => show(one.events, one.run) } }, titleOf(run.method)), h('small', {}, told)),
      h('td', {}, n), h('td', {}, n ? say(words.share, { ok: verifiedCount(branch).ok, n }) : '–'),
      h('td', {}, figure(finished.lm_calls)), h('td', {}, say(words.in_out, { read: figure(finished.tokens_in), written: figure(finished.tokens_out) })),
      h('td', {}, figure(finished.seconds, 1)),
      h('td', { class: 'says' }, answers.length ? answers.slice(0, ANSWERS).join(', ') + (answers.length > ANSWERS ? ' …' : '') : final?.text ?? '–'));
  }

  return { element, control, draw };
}
