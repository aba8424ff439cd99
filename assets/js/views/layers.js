// Layers: at which layer of the model the graph's token overtakes the invented one, for one token of the path. The server
// reads the text once more, so it is asked only once somebody opens the strip.

import { h, percent, say, shownAs } from '../core/dom.js';
import { lineage } from '../core/state.js';

/** @typedef {import('../core/types.js').RunState} RunState */
/** @typedef {import('../core/state.js').WatchPoint} WatchPoint */
/** @typedef {import('../core/types.js').PageText['layers']} Words */
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

/** @type {(layers: Pair[], invented: string, taken: string, words: Words) => HTMLElement[]} */
function strip(layers, invented, taken, words) {
  const from = overtakes(layers);
  const slots = { taken: shownAs(taken), invented: shownAs(invented), i: from, n: layers.length - 1 };
  const said = from === null ? words.never : from === 0 ? words.always : words.from;
  const cell = (/** @type {number} */ share, /** @type {string} */ kind) => h('td', {}, percent(share), h('i', { class: `share ${kind}`, style: `--share:${(100 * share).toFixed(1)}%` }));
  const head = h('tr', {}, [words.layer, slots.taken, slots.invented].map((name) => h('th', { scope: 'col' }, name)));
  return [h('p', {}, say(said, slots)), h('table', { class: 'plain-table' }, h('thead', {}, head), h('tbody', {}, layers.map(([one, other], i) =>
    h('tr', { class: from !== null && i >= from ? 'ahead' : '' }, h('th', { scope: 'row' }, i ? say(words.nth, { i }) : words.first), cell(one, 'grounded'), cell(other, 'invented')))))];
}
