// The page's address: it holds everything that makes the shown state, so that a link opens the same step of the same
// run, and the browser's Back and Forward lead from question to question.

import { linkQuery } from '../core/inputs.js';

/** @typedef {import('../core/types.js').RunState} RunState */
/** @typedef {import('../core/types.js').RunEvent} RunEvent */
/** @typedef {import('../core/types.js').Edit} Edit */
/** @typedef {import('../core/inputs.js').Values} Values */

/**
 * What an address says besides the fields: the topic entities and tokens chosen, edges changed, a recorded run in
 * place of a question, the step (null: the end), and which columns show trees.
 * @typedef {{entities: string[], forced: number[], edits: Edit[], recorded: string, step: number|null, trees: string[]}} Place
 */

const KEPT_RUNS = 40; // of this visit, shown again without the server
const MOST = { entities: 20, forced: 500, edits: 50, length: 300 };

/**
 * Read what an address says besides the fields. It may come from anyone: what does not fit is left out.
 * @param {string} search
 * @returns {Place}
 */
export function placeOf(search) {
  const query = new URLSearchParams(search);
  const step = query.get('step');
  return {
    entities: query.getAll('entity').slice(0, MOST.entities),
    forced: (query.get('forced') ?? '').split(',').filter((token) => /^\d{1,9}$/.test(token)).slice(0, MOST.forced).map(Number),
    edits: query.getAll('edit').map(editOf).filter((edit) => edit !== null).slice(0, MOST.edits),
    recorded: query.get('recorded') ?? '',
    step: step && /^\d{1,6}$/.test(step) ? Number(step) : null,
    trees: (query.get('trees') ?? '').split(',').filter((name) => ['with', 'without'].includes(name)),
  };
}

/** @type {(written: string) => Edit|null} */
function editOf(written) {
  try {
    const edit = JSON.parse(written);
    const fits = Array.isArray(edit) && edit.length === 4 && ['add', 'remove'].includes(edit[0])
      && edit.every((part) => typeof part === 'string' && part && part.length <= MOST.length);
    return fits ? /** @type {Edit} */ (edit) : null;
  } catch {
    return null;
  }
}

/**
 * The query of an address.
 * @param {Values} values of the fields
 * @param {Values} standard
 * @param {Place} place
 * @returns {string}
 */
export function addressQuery(values, standard, place) {
  const query = new URLSearchParams(place.recorded ? { recorded: place.recorded } : linkQuery(values, standard, place.entities));
  if (place.forced.length) query.set('forced', place.forced.join(','));
  for (const edit of place.edits) query.append('edit', JSON.stringify(edit));
  if (place.trees.length) query.set('trees', place.trees.join(','));
  if (place.step !== null) query.set('step', String(place.step));
  return query.toString();
}

/** @typedef {{events: RunEvent[], values: Values, place: Place, linked: boolean}} KeptRun a run of this visit; one that no link can ask again is not `linked` */

/**
 * Keeps address and history in step with what is shown.
 * @param {object} page
 * @param {import('../core/inputs.js').Inputs} page.inputs
 * @param {Set<string>} page.recordings ids of the recorded runs
 * @param {(run: string) => Edit[]} page.editsOf the edits of the graph that a run was asked on
 * @param {() => boolean} page.own a graph of the visitor's own is asked, which no link holds
 * @param {() => string[]} page.trees
 * @param {(events: RunEvent[], run: string) => void} page.revisit
 * @param {(place: Place) => void} page.arrange puts step and columns as they were
 * @param {(values: Values) => void} page.settle puts the settings of a question back into the fields
 * @param {() => void} page.reopen shows the page as it opens
 * @returns {import('../core/types.js').View & {link: () => string|null}} `link`: the address of what is shown, null where there is none
 */
export function makeAddress({ inputs, recordings, editsOf, own, trees, revisit, arrange, settle, reopen }) {
  /** @type {Map<string, KeptRun>} */
  const kept = new Map();
  let shown = ''; // the run that the newest entry of the history stands for
  let returning = false; // Back or Forward has been pressed: the entry is there already
  /** @type {number|undefined} */
  let timer;

  const base = () => location.href.split(/[?#]/)[0]; // a file on a disk has no origin
  /** @type {(run: KeptRun) => string} */
  const addressOf = (run) => (run.linked ? `${base()}?${addressQuery(run.values, inputs.standard, run.place)}` : base());

  /** @type {(state: RunState, name: string, events: RunEvent[], live: boolean) => KeptRun} */
  function keep({ run, linked }, name, events, live) {
    let one = kept.get(name);
    if (!one) {
      const values = { ...inputs.values, question: run?.question, method: run?.method, beams: run?.beams, hops: run?.hops };
      const recorded = recordings.has(name) ? name : '';
      one = { events, values, linked: Boolean(recorded) || (live && !own()), place: { entities: [], forced: run?.forced ?? [], edits: editsOf(name), recorded, step: null, trees: [] } };
      kept.set(name, one);
      const [oldest] = kept.keys();
      if (kept.size > KEPT_RUNS) kept.delete(oldest);
    }
    one.events = events;
    if (linked?.given) one.place.entities = linked.chosen;
    return one;
  }

  /** @type {import('../core/types.js').View['draw']} */
  const draw = (state, player) => {
    if (!player.run || !player.events.length || player.origin === 'idle') return;
    const first = player.events[0];
    if (first.event !== 'RunStarted') return;
    const one = keep({ ...state, run: first }, player.run, player.events, player.origin === 'live');
    one.place.step = player.following || player.over || player.playing ? null : player.stop;
    one.place.trees = trees();
    if (player.run !== shown) {
      const write = returning || history.state?.run === player.run ? 'replaceState' : 'pushState';
      [shown, returning] = [player.run, false];
      history[write]({ run: player.run }, '', addressOf(one));
    } else if (location.href !== addressOf(one)) {
      clearTimeout(timer); // browsers slow a page down that changes its address many times a second
      timer = setTimeout(() => { if (shown === player.run) history.replaceState({ run: shown }, '', addressOf(one)); }, 200);
    }
  };

  window.addEventListener('popstate', () => {
    const name = history.state?.run;
    const one = kept.get(name);
    if (one) {
      const place = { ...one.place, ...placeOf(location.search) };
      returning = true;
      revisit(one.events, name);
      arrange(place);
      if (one.linked && !one.place.recorded) settle(one.values);
    } else if (!name && !location.search) {
      shown = '';
      reopen();
    } else location.reload(); // a run of an earlier visit: its address asks again
  });

  return { element: document.createElement('span'), draw, link: () => {
    const one = kept.get(shown);
    return one?.linked ? addressOf(one) : null;
  } };
}
