// What a visitor does to the picture: find a node, see its neighbours, take it out. This is kept apart from the run's
// own picture.

import { h, refill, say } from '../core/dom.js';
import { relationsOf } from '../core/state.js';

/** @typedef {import('../core/types.js').RunState} RunState */
/** @typedef {import('../core/types.js').PictureNode} PictureNode */
/** @typedef {import('../core/types.js').PictureEdge} PictureEdge */
/** @typedef {import('../core/types.js').Neighbour} Neighbour */
/** @typedef {(asked: {run: string, graph: string, entity: string}) => Promise<{near: Neighbour[], more: number}>} AskNear */

const NEIGHBOURS = 12; // added around one node
const MAX_NODES = 150; // in all, as on the server
const FACTS = 6; // of the chosen node, written out

/**
 * `search` is the field above the picture, `panel` tells of the chosen node, `choose` chooses one. `picture` is what
 * is to be drawn: the run's picture with what was added and without what was taken out; `mark` tells the two apart.
 * @typedef {object} Explorer
 * @property {HTMLElement} search
 * @property {HTMLElement} panel
 * @property {(id: string|null) => void} choose
 * @property {(state: RunState, run: string|null) => {nodes: PictureNode[], edges: PictureEdge[], mark: string}} picture
 */

/**
 * @param {import('../core/types.js').PageText} text
 * @param {AskNear} near asks the server for neighbours
 * @param {() => void} changed called when the picture is another one
 * @param {(id: string) => void} point tells the frame which node is meant
 * @returns {Explorer}
 */
export function makeExplorer(text, near, changed, point) {
  const words = text.graph;
  /** @type {Map<string, PictureNode>} */
  const addedNodes = new Map();
  /** @type {Map<string, PictureEdge>} */
  const addedEdges = new Map();
  /** @type {Set<string>} */
  const hidden = new Set();
  /** @type {string|null} the node that the buttons are about */
  let chosen = null;
  /** @type {Awaited<ReturnType<AskNear>>|null} its neighbours, once the server was asked */
  let around = null;
  /** @type {RunState|null} */
  let current = null;
  /** @type {RunState['run']} the run whose picture this is */
  let shown = null;
  /** @type {string|null} its name */
  let shownName = null;

  const names = h('datalist', { id: 'kg-nodes' });
  const search = h('input', { type: 'search', class: 'find', 'aria-label': words.search, placeholder: words.search, list: 'kg-nodes', maxlength: 200,
    on: { change: () => find(), search: () => find() } });
  const panel = h('div', { class: 'chosen', role: 'status' });

  /** @type {Explorer['picture']} */
  function picture(state, run) {
    [current, shownName] = [state, run];
    if (shown !== state.run) {
      shown = state.run;
      for (const each of [addedNodes, addedEdges, hidden]) each.clear();
      chosen = around = null;
      search.value = '';
    }
    for (const id of addedNodes.keys()) if (state.nodes.has(id)) addedNodes.delete(id);
    const nodes = drawnNodes(state).filter((node) => !hidden.has(node.id));
    const ids = new Set(nodes.map((node) => node.id));
    const edges = [...state.edges.values(), ...addedEdges.values()].filter((edge) => ids.has(edge.from) && ids.has(edge.to));
    refill(names, [...ids], () => nodes.filter((node) => node.group !== 'more').map((node) => h('option', { value: node.id })));
    drawPanel();
    return { nodes, edges, mark: `${addedNodes.size}|${hidden.size}` };
  }

  /** @param {RunState} state */
  const drawnNodes = (state) => [...state.nodes.values(), ...addedNodes.values()];

  function find() {
    const wanted = search.value.trim().toLowerCase();
    if (!wanted || !current) { choose(null); return; }
    const ids = drawnNodes(current).map((node) => node.id);
    const id = ids.find((one) => one.toLowerCase() === wanted) ?? ids.find((one) => one.toLowerCase().includes(wanted));
    choose(id ?? null, !id);
    if (id) { hidden.delete(id); changed(); point(id); }
  }

  /** @type {(id: string|null, missing?: boolean) => void} */
  function choose(id, missing = false) {
    const more = id?.startsWith('more:') ? id.slice('more:'.length) : null; // the sign that stands for neighbours not drawn
    chosen = more ?? id;
    around = null;
    drawPanel(missing);
    if (more) expand();
  }

  /** Add the chosen node's neighbours to the picture. */
  async function expand() {
    if (!chosen || !current?.run) return;
    const id = chosen;
    const found = await near({ run: shownName ?? '', graph: current.run.graph, entity: id });
    if (chosen !== id) return;
    around = found;
    const taken = drawnNodes(current);
    const from = taken.find((node) => node.id === id);
    const room = Math.max(0, Math.min(NEIGHBOURS, MAX_NODES - taken.length));
    const fresh = found.near.filter((each) => !taken.some((node) => node.id === each.id)).slice(0, room);
    for (const one of from ? fresh : []) {
      const place = freePlace(/** @type {PictureNode} */ (from), taken);
      const node = { id: one.id, label: one.label, group: 'neighbour', named: true, title: `${one.relation}: ${one.label}`, ...place };
      const key = `${id}\u0000${one.id}`;
      taken.push(node);
      addedNodes.set(one.id, node);
      addedEdges.set(key, { id: `near:${key}`, from: id, to: one.id, kind: 'neighbour', bend: 0, paths: [], label: '', title: `${id} → ${one.relation} → ${one.id}` });
    }
    changed();
  }

  /** @param {string} id */
  function takeOut(id) {
    hidden.add(id);
    choose(null);
    changed();
  }

  function drawPanel(missing = false) {
    refill(panel, [chosen, around, missing, hidden.size, shown?.t], () => {
      const id = chosen;
      return [
        id ? [h('b', {}, id), ' ', factsOf(id),
          h('button', { type: 'button', class: 'plain', on: { click: () => expand() } }, words.expand),
          h('button', { type: 'button', class: 'plain', on: { click: () => takeOut(id) } }, words.hide)] : missing ? words.not_found : null,
        around ? neighbourList(around) : null,
        hidden.size ? h('button', { type: 'button', class: 'plain', on: { click: () => { hidden.clear(); changed(); } } }, say(words.unhide, { n: hidden.size })) : null,
      ];
    });
  }

  /**
   * What the picture says of a node, in words: on a phone there is not always room for it on the edges.
   * @param {string} id
   */
  function factsOf(id) {
    const edges = [...(current?.edges.values() ?? [])].filter((edge) => edge.kind !== 'neighbour' && (edge.from === id || edge.to === id));
    const lines = edges.flatMap((edge) => relationsOf(edge).map((relation) => h('li', { class: edge.kind }, `${edge.from} → ${relation} → ${edge.to}`)));
    const rest = lines.length - FACTS;
    return lines.length ? h('ul', {}, lines.slice(0, FACTS), rest > 0 ? h('li', {}, say(words.facts_more, { n: rest })) : null) : null;
  }

  /** @param {Awaited<ReturnType<AskNear>>} found */
  function neighbourList(found) {
    const rest = found.more + found.near.length - NEIGHBOURS;
    const list = found.near.slice(0, NEIGHBOURS).map((one, i) => [i ? ' · ' : '', `${one.relation} `, h('span', { class: 'entity', keys: [`e:${one.id}`] }, one.label)]);
    return h('p', {}, list.length ? list : words.alone, rest > 0 ? ` ${say(words.more, { n: rest })}` : '');
  }

  return { search: h('span', { class: 'finder' }, search, names), panel, picture, choose };
}

/**
 * The first place around a node, ring by ring, where no other node's label would be touched.
 * @param {{x: number, y: number}} from
 * @param {{x: number, y: number}[]} taken
 * @returns {{x: number, y: number}}
 */
export function freePlace(from, taken) {
  for (let ring = 1; ; ring += 1) {
    const places = 6 + 4 * ring;
    for (let k = 0; k < places; k += 1) {
      const angle = ((2 * Math.PI) / places) * (k % 2 ? (k + 1) / 2 : -k / 2); // to the right first: paths come from the left
      const place = { x: Math.round(from.x + 150 * ring * Math.cos(angle)), y: Math.round(from.y + 78 * ring * Math.sin(angle)) };
      if (!taken.some((node) => Math.abs(node.x - place.x) < 130 && Math.abs(node.y - place.y) < 34)) return place;
    }
  }
}
