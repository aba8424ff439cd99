// Taking a run along and bringing one back: share link, trace, tables, pictures; and this browser's own runs.

import { h, refill, say } from './dom.js';
import { svgText } from './drawing.js';
import { edgesCsv, graphml, nodesCsv, pathsCsv, save } from './files.js';
import { offlinePage } from './offline.js';
import { forgetRuns, remember, storedRuns } from './runs.js';
import { absorb, emptyState } from './state.js';
import { readTrace, TraceError, writeTrace } from './trace.js';

/**
 * @param {object} text
 * @param {import('./inputs.js').Inputs} inputs
 * @param {() => Promise<string>} png the graph's canvas as a data address
 * @param {(events: object[]) => void} show puts a run on the page
 */
export function makeKeep(text, inputs, png, show) {
  const words = text.keep;
  const said = h('p', { class: 'note', role: 'status' });
  let now = { state: null, player: null };
  const kept = new Set(); // live runs already remembered

  const whole = () => now.player.events.reduce((state, event) => { absorb(state, event); return state; }, emptyState());
  const FILES = {
    trace: () => save(named('jsonl'), writeTrace(now.player.events), 'application/x-ndjson'),
    paths: () => save(named('paths.csv'), pathsCsv(whole()), 'text/csv'),
    nodes: () => save(named('nodes.csv'), nodesCsv(whole()), 'text/csv'),
    edges: () => save(named('edges.csv'), edgesCsv(whole()), 'text/csv'),
    graphml: () => save(named('graphml'), graphml(whole()), 'application/graphml+xml'),
    svg: () => save(named('svg'), svgText(whole(), text.graph.title), 'image/svg+xml'),
    png: async () => save(named('png'), await (await fetch(await png())).blob(), 'image/png'),
    html: () => save(named('html'), offlinePage(whole(), text), 'text/html'),
  };
  const named = (ending) => `${(now.state.run?.question ?? 'run').normalize('NFKD').replace(/[^A-Za-z0-9]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 50).toLowerCase() || 'run'}.${ending}`;

  const copy = h('button', { type: 'button', class: 'soft', on: { click: async () => {
    const { run, linked } = now.state;
    const values = { ...inputs.values, question: run.question, method: run.method, beams: run.beams, hops: run.hops };
    said.textContent = await copied(inputs.link(linked?.given ? linked.chosen : [], values)) ? words.copied : words.not_copied;
  } } }, words.copy);
  const buttons = Object.entries(FILES).map(([name, make]) => h('button', { type: 'button', class: 'soft', 'data-file': name, on: { click: async () => { await make(); said.textContent = words.saved; } } }, words.files[name]));
  const element = h('section', { class: 'card keep', 'aria-label': words.title }, h('h2', {}, words.title), h('p', { class: 'note' }, words.note), h('div', { class: 'softs' }, copy, buttons), said);

  const file = h('input', { type: 'file', accept: '.jsonl,.ndjson,.json,application/x-ndjson', class: 'sr-only', tabindex: -1, 'aria-label': words.open, on: { change: async () => {
    const [chosen] = file.files;
    if (chosen) opened(await chosen.text());
    file.value = '';
  } } });
  const wrong = h('p', { class: 'failed', role: 'alert' });
  const past = h('ol', { class: 'past' });
  const runs = h('section', { class: 'runs' }, h('p', { class: 'note' }, words.runs_note), past);
  const own = h('details', { class: 'card fold' }, h('summary', {}, h('h2', {}, words.runs)), h('div', { class: 'softs' }, h('button', { type: 'button', class: 'soft', on: { click: () => file.click() } }, words.open), file), wrong, runs);

  function opened(written) {
    wrong.textContent = '';
    try {
      show(readTrace(written));
    } catch (error) {
      if (!(error instanceof TraceError)) throw error;
      wrong.textContent = words.wrong[error.reason];
    }
  }

  function list() {
    const found = storedRuns();
    refill(past, found, () => (found.length ? [...found.map(pastRun), h('li', {}, h('button', { type: 'button', class: 'plain', on: { click: () => { forgetRuns(); list(); } } }, words.clear))] : h('li', { class: 'note' }, words.no_runs)));
  }

  function pastRun(run) {
    const when = new Date(run.time);
    return h('li', {}, h('a', { href: inputs.link([], run) }, run.question), ' ', h('span', {}, run.answer), ' ',
      h('small', {}, say(words.past, { method: run.method ?? '', graph: run.graph ?? '', time: Number.isNaN(when.valueOf()) ? '' : when.toLocaleString() })));
  }

  const draw = (state, player) => {
    now = { state, player };
    element.hidden = !state.run || !player.ended;
    if (player.over && player.origin === 'live' && state.final && !kept.has(player.run)) {
      kept.add(player.run);
      remember({ ...inputs.values, question: state.run.question, method: state.run.method, graph: state.run.graph, beams: state.run.beams, hops: state.run.hops }, state.final.text);
      list();
    }
  };
  list();
  return { element, own, draw };
}

/** Put text on the clipboard; false where the browser lets no page do that. */
export async function copied(words) {
  try {
    await navigator.clipboard.writeText(words);
    return true;
  } catch {
    return false;
  }
}
