// What a visitor does to the picture: find a node, see its neighbours, take it out. Kept apart from the run's own picture.

import { h, refill, say } from './dom.js';

const SHOWN = 12; // neighbours that one node is given
const MOST = 150; // nodes in all, as on the server

/**
 * @param {object} text
 * @param {(asked: object) => Promise<{near: object[], more: number}>} near asks the server for neighbours
 * @param {() => void} changed called when the picture is another one
 * @param {(id: string) => void} point shows the frame which node is meant
 */
export function makeExplore(text, near, changed, point) {
  const words = text.graph;
  const added = { nodes: new Map(), edges: new Map() };
  const hidden = new Set();
  let chosen = null; // the node that the buttons speak of
  let around = null; // its neighbours, once asked for
  let shown = null; // the run whose picture this is
  let current = null;

  const names = h('datalist', { id: 'kg-nodes' });
  const search = h('input', { type: 'search', class: 'find', 'aria-label': words.search, placeholder: words.search, list: 'kg-nodes', maxlength: 200, on: { change: () => find(), search: () => find() } });
  const panel = h('div', { class: 'chosen', role: 'status' });

  /** The picture that is to be drawn: the run's, with what was added and without what was taken out. */
  function picture(state) {
    current = state;
    if (shown !== state.run) { shown = state.run; added.nodes.clear(); added.edges.clear(); hidden.clear(); chosen = null; around = null; search.value = ''; }
    for (const id of added.nodes.keys()) if (state.nodes.has(id)) added.nodes.delete(id);
    const nodes = [...state.nodes.values(), ...added.nodes.values()].filter((node) => !hidden.has(node.id));
    const there = new Set(nodes.map((node) => node.id));
    const edges = [...state.edges.values(), ...added.edges.values()].filter((edge) => there.has(edge.from) && there.has(edge.to));
    refill(names, [...there], () => nodes.filter((node) => node.group !== 'more').map((node) => h('option', { value: node.id })));
    drawPanel();
    return { nodes, edges, mark: `${added.nodes.size}|${hidden.size}` };
  }

  function find() {
    const wanted = search.value.trim().toLowerCase();
    if (!wanted) { choose(null); return; }
    const ids = [...current.nodes.keys(), ...added.nodes.keys()];
    const id = ids.find((one) => one.toLowerCase() === wanted) ?? ids.find((one) => one.toLowerCase().includes(wanted));
    choose(id ?? null, !id);
    if (id) { hidden.delete(id); changed(); point(id); }
  }

  function choose(id, missing = false) {
    const more = id?.startsWith('more:') ? id.slice(5) : null;
    chosen = more ?? id;
    around = null;
    drawPanel(missing);
    if (more) expand();
  }

  async function expand() {
    const id = chosen;
    const found = await near({ run: current.run_id ?? '', graph: current.run.graph, entity: id });
    if (chosen !== id) return;
    around = found;
    const taken = [...current.nodes.values(), ...added.nodes.values()];
    const from = taken.find((node) => node.id === id);
    const room = Math.max(0, Math.min(SHOWN, MOST - taken.length));
    for (const one of found.near.filter((each) => !taken.some((node) => node.id === each.id)).slice(0, room)) {
      const node = { id: one.id, label: one.label, group: 'neighbour', named: true, title: `${one.relation}: ${one.label}`, ...freePlace(from, taken) };
      taken.push(node);
      added.nodes.set(one.id, node);
      added.edges.set(`${id}\u0000${one.id}`, { id: `near:${id}\u0000${one.id}`, from: id, to: one.id, kind: 'neighbour', bend: 0, paths: [], label: '', title: `${id} → ${one.relation} → ${one.id}` });
    }
    changed();
  }

  function drawPanel(missing = false) {
    refill(panel, [chosen, around, missing, hidden.size, shown?.t], () => [
      chosen ? [h('b', {}, chosen), ' ',
        h('button', { type: 'button', class: 'plain', on: { click: () => expand() } }, words.expand),
        h('button', { type: 'button', class: 'plain', on: { click: () => { hidden.add(chosen); choose(null); changed(); } } }, words.hide)] : missing ? words.not_found : null,
      around ? h('p', {}, around.near.length ? around.near.slice(0, SHOWN).map((one, i) => [i ? ' · ' : '', `${one.relation} `, h('span', { class: 'entity', keys: [`e:${one.id}`] }, one.label)]) : words.alone,
        around.more + around.near.length > SHOWN ? ` ${say(words.more, { n: around.more + around.near.length - SHOWN })}` : '') : null,
      hidden.size ? h('button', { type: 'button', class: 'plain', on: { click: () => { hidden.clear(); changed(); } } }, say(words.unhide, { n: hidden.size })) : null,
    ]);
  }

  return { search: h('span', { class: 'finder' }, search, names), panel, picture, choose };
}

/** The first place around a node, ring by ring, where no other node's label would be touched. */
function freePlace(from, taken) {
  for (let ring = 1; ; ring += 1) {
    for (let k = 0; k < 6 + 4 * ring; k += 1) {
      const angle = ((2 * Math.PI) / (6 + 4 * ring)) * (k % 2 ? (k + 1) / 2 : -k / 2); // to the right first: paths come from the left
      const place = { x: Math.round(from.x + 150 * ring * Math.cos(angle)), y: Math.round(from.y + 78 * ring * Math.sin(angle)) };
      if (!taken.some((node) => Math.abs(node.x - place.x) < 130 && Math.abs(node.y - place.y) < 34)) return place;
    }
  }
}
