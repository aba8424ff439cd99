// Taking a run along and bringing one back: share link, trace, tables, pictures; and this browser's own runs.

import { copied, h, refill, say, wordsFor } from '../core/dom.js';
import { stateAfter } from '../core/state.js';
import { calculationCsv, edgesCsv, graphml, nodesCsv, offlinePage, pathsCsv, svgText } from './exports.js';
import { readTrace, TraceError, writeTrace } from './trace.js';

/** @typedef {import('../core/types.js').PageText} PageText */
/** @typedef {import('../core/types.js').RunState} RunState */
/** @typedef {import('../core/types.js').RunEvent} RunEvent */
/** @typedef {import('../core/types.js').Player} Player */
/** @typedef {import('../core/types.js').View} View */
/** @typedef {import('../core/inputs.js').Inputs} Inputs */
/** @typedef {import('../core/inputs.js').Values} Values */

// taking along ------------------------------------------------------------------------------------

/**
 * The card that hands the shown run over as a link or as a file.
 * @param {PageText} text
 * @param {() => Promise<string>} png the graph's canvas as a data address
 * @param {() => string|null} link the address of what is shown
 * @param {string} offline the address of the page as one file without a run; empty where there is none
 * @returns {View}
 */
export function makeKeep(text, png, link, offline) {
  const words = text.keep;
  const said = h('p', { class: 'note', role: 'status' });
  /** @type {RunState|null} */
  let state = null;
  /** @type {RunEvent[]} */
  let events = [];

  /** @type {(ending: string, content: BlobPart, type: string) => void} */
  const hand = (ending, content, type) => save(fileName(state?.run?.question ?? 'run', ending), content, type);
  /** @type {Record<keyof PageText['keep']['files'], () => void|Promise<void>>} */
  const files = {
    trace: () => hand('jsonl', writeTrace(events), 'application/x-ndjson'),
    paths: () => hand('paths.csv', pathsCsv(stateAfter(events)), 'text/csv'),
    calculation: () => hand('calculation.csv', calculationCsv(stateAfter(events)), 'text/csv'),
    nodes: () => hand('nodes.csv', nodesCsv(stateAfter(events)), 'text/csv'),
    edges: () => hand('edges.csv', edgesCsv(stateAfter(events)), 'text/csv'),
    graphml: () => hand('graphml', graphml(stateAfter(events)), 'application/graphml+xml'),
    svg: () => hand('svg', svgText(stateAfter(events), text.graph.title), 'image/svg+xml'),
    png: async () => hand('png', Uint8Array.from(atob((await png()).split(',')[1]), (byte) => byte.charCodeAt(0)), 'image/png'), // the page's policy lets nothing fetch a data address
    html: async () => hand('html', offlinePage(await textAt(offline), events), 'text/html'),
  };
  const names = /** @type {(keyof typeof files)[]} */ (Object.keys(files));
  const buttons = names.map((name) => h('button', { type: 'button', class: 'soft', 'data-file': name,
    hidden: name === 'html' && !offline,
    on: { click: async () => { said.textContent = await Promise.resolve(files[name]()).then(() => words.saved, () => words.failed); } } }, words.files[name]));

  const copy = h('button', { type: 'button', class: 'soft', on: { click: async () => {
    if (!state?.run) return;
    const address = link();
    said.textContent = !address ? words.no_link : await copied(address) ? words.copied : words.not_copied;
  } } }, words.copy);
  const element = h('section', { class: 'card keep', 'aria-label': words.title }, h('h2', {}, words.title), h('p', { class: 'note' }, words.note),
    h('div', { class: 'softs' }, copy, buttons), said);

  /** @type {View['draw']} */
  const draw = (stateNow, player) => {
    [state, events] = [stateNow, player.events];
    element.hidden = !state.run || !player.ended;
    buttons[names.indexOf('calculation')].hidden = !state.operation;
  };
  return { element, draw };
}

/** @type {(address: string) => Promise<string>} */
async function textAt(address) {
  const answer = await fetch(new URL(address, document.baseURI));
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.text();
}

/**
 * The name of a file, made from the question.
 * @param {string} question
 * @param {string} ending
 * @returns {string} of letters, digits and hyphens, and the ending
 */
export function fileName(question, ending) {
  const name = question.normalize('NFKD').replace(/[^A-Za-z0-9]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 50).toLowerCase();
  return `${name || 'run'}.${ending}`;
}

/**
 * Hand a file to the visitor.
 * @param {string} name
 * @param {BlobPart} content
 * @param {string} type
 */
function save(name, content, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// bringing back -----------------------------------------------------------------------------------

/**
 * The fold that opens a trace, and lists this browser's own runs.
 * @param {PageText} text
 * @param {Inputs} inputs
 * @param {(events: RunEvent[]) => void} show puts a run on the page
 * @returns {View}
 */
export function makeOwnRuns(text, inputs, show) {
  const words = text.keep;
  /** @type {Set<string>} live runs that are remembered already */
  const remembered = new Set();
  const file = h('input', { type: 'file', accept: '.jsonl,.ndjson,.json,application/x-ndjson', class: 'sr-only', tabindex: -1, 'aria-label': words.open,
    on: { change: async () => {
      const chosen = file.files?.[0];
      if (chosen) open(await chosen.text());
      file.value = '';
    } } });
  const wrong = h('p', { class: 'failed', role: 'alert' });
  const past = h('ol', { class: 'past' });
  const runs = h('section', { class: 'runs' }, h('p', { class: 'note' }, words.runs_note), past);
  const element = h('details', { class: 'card fold' }, h('summary', {}, h('h2', {}, words.runs)),
    h('div', { class: 'softs' }, h('button', { type: 'button', class: 'soft', on: { click: () => file.click() } }, words.open), file), wrong, runs);

  /** @param {string} written */
  function open(written) {
    wrong.textContent = '';
    try {
      show(readTrace(written));
    } catch (error) {
      if (!(error instanceof TraceError)) throw error;
      const wanted = wordsFor(words.wrong.types, error.slots.wanted ?? '');
      wrong.textContent = say(words.wrong[error.reason], { ...error.slots, wanted });
    }
  }

  function list() {
    const found = storedRuns();
    const clear = h('button', { type: 'button', class: 'plain', on: { click: () => { forgetRuns(); list(); } } }, words.clear);
    refill(past, found, () => (found.length ? [...found.map(pastRun), h('li', {}, clear)] : h('li', { class: 'note' }, words.no_runs)));
  }

  /** @param {StoredRun} run */
  function pastRun(run) {
    const when = new Date(String(run.time));
    const time = Number.isNaN(when.valueOf()) ? '' : when.toLocaleString();
    return h('li', {}, h('a', { href: inputs.link([], run) }, run.question), ' ', h('span', {}, run.answer), ' ',
      h('small', {}, say(words.past, { method: run.method ?? '', graph: run.graph ?? '', time })));
  }

  /** @type {View['draw']} */
  const draw = ({ run, final }, player) => {
    if (!player.over || player.origin !== 'live' || !player.run || !run || !final || remembered.has(player.run)) return;
    remembered.add(player.run);
    remember({ ...inputs.values, question: run.question, method: run.method, graph: run.graph, beams: run.beams, hops: run.hops }, final.text);
    list();
  };
  list();
  return { element, draw };
}

// this browser's own runs: what was asked and answered, kept on this machine only --------------------

const STORE = 'kgdemo.runs';
const STORED_RUNS = 30;
const STORED_LENGTH = 300; // characters of a value
const NOT_STORED = 'model'; // it may be a folder of the visitor's

/** @typedef {Values & {question: string, answer: string}} StoredRun */

/**
 * The stored runs, newest first.
 * @returns {StoredRun[]} none where the browser stores nothing, or where something else stands in the store
 */
export function storedRuns() {
  try {
    const found = JSON.parse(localStorage.getItem(STORE) ?? '[]');
    return Array.isArray(found) ? found.filter((run) => typeof run?.question === 'string' && typeof run.answer === 'string').slice(0, STORED_RUNS) : [];
  } catch {
    return [];
  }
}

/**
 * Store a run that has ended.
 * @param {Values} values of the page's fields
 * @param {string} answer
 * @returns {void}
 */
export function remember(values, answer) {
  /** @type {Values} */
  const run = { time: new Date().toISOString(), answer: String(answer).slice(0, STORED_LENGTH) };
  for (const [name, value] of Object.entries(values)) {
    if (name === NOT_STORED || value === undefined || value === null || value === '') continue;
    run[name] = typeof value === 'string' ? value.slice(0, STORED_LENGTH) : value;
  }
  store([run, ...storedRuns()].slice(0, STORED_RUNS));
}

/**
 * Forget all stored runs.
 * @returns {void}
 */
export function forgetRuns() { store([]); }

/** @param {Values[]} runs */
function store(runs) {
  try {
    localStorage.setItem(STORE, JSON.stringify(runs));
  } catch {
    // storage is full or switched off; the page works without it
  }
}
