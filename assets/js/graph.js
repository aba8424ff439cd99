// The graph's card: the frame is made once, then only told what has changed. Legend, filter, search, table twin.

import { h, refill, say } from './dom.js';
import { makeExplore } from './explore.js';
import { relations } from './files.js';
import { pathKey } from './highlight.js';
import { placeLabels } from './labels.js';

const KINDS = ['grounded', 'ghost', 'looked', 'neighbour'];
const [LOWEST, HIGHEST] = [320, 640]; // pixels of the canvas

/**
 * @param {object} boot
 * @param {object} text
 * @param {(keys: string[]) => void} light lights up the twins of what the pointer is on
 * @param {(asked: object) => Promise<object>} near asks the server for the neighbours of an entity
 */
export function makeGraph(boot, text, light, near) {
  const words = text.graph;
  const base = new URL('.', document.baseURI).href;
  const frame = h('iframe', { class: 'frame', sandbox: 'allow-scripts', title: words.title, tabindex: -1 });
  frame.srcdoc = boot.frame.replaceAll('__BASE__', base).replaceAll('__ORIGIN__', location.origin);
  let ready = false;
  let waiting = null;
  let shown = '';
  let redraw = () => {};
  let narrow = innerWidth < 760;
  let photographed = () => {};
  const tell = (message) => { if (ready) frame.contentWindow.postMessage(message, '*'); };
  const explore = makeExplore(text, near, () => redraw(), (id) => tell({ type: 'point', id }));

  const colours = () => tell({ type: 'theme', dark: document.body.classList.contains('dark') || document.documentElement.classList.contains('dark') });
  window.addEventListener('message', (event) => {
    if (event.source !== frame.contentWindow) return;
    if (event.data.type === 'ready') { ready = true; colours(); if (waiting) tell(waiting); }
    if (event.data.type === 'hover') light(event.data.keys);
    if (event.data.type === 'choose') explore.choose(event.data.id);
    if (event.data.type === 'still') {
      Object.assign(still, { width: event.data.still.width, height: event.data.still.height });
      still.getContext('bitmaprenderer').transferFromImageBitmap(event.data.still);
      still.dataset.nodes = event.data.nodes;
    }
    if (event.data.type === 'still' || event.data.type === 'seen') still.hidden = event.data.type === 'seen';
    if (event.data.type === 'drawn') canvas.dataset.drawn = event.data.nodes;
    if (event.data.type === 'png' && String(event.data.url).startsWith('data:image/png;base64,')) photographed(event.data.url);
  });
  new MutationObserver(colours).observe(document.body, { attributes: true, attributeFilter: ['class'] });

  const legend = makeLegend(words, (hidden) => tell({ type: 'filter', hidden }));
  const rows = h('tbody');
  const empty = h('p', { class: 'note waiting' }, words.waiting);
  const still = h('canvas', { class: 'frame', 'aria-hidden': 'true', hidden: true }); // the frame's last look while it is out of sight
  const canvas = h('div', { class: 'canvas' }, still, frame, empty);
  const table = h('details', { class: 'twin' }, h('summary', {}, words.table), h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': words.table }, h('table', {}, h('thead', {}, h('tr', {},
    [words.path, words.from, words.relation, words.to, words.verdict].map((name) => h('th', { scope: 'col' }, name)))), rows)));

  const draw = (state, player) => {
    redraw = () => draw(state, player);
    state.run_id = player.run;
    empty.hidden = state.nodes.size > 0;
    canvas.classList.toggle('empty', !state.nodes.size);
    const { nodes, edges, mark } = explore.picture(state);
    if (canvas.clientWidth) narrow = canvas.clientWidth < 520; // it has no width while it is hidden
    const key = `${narrow}|${player.run}|${state.pictures}|${nodes.length}|${edges.length}|${edges.reduce((n, e) => n + e.paths.length, 0)}|${mark}`;
    if (key !== shown) {
      shown = key;
      const placed = narrow ? nodes.map(squeezed) : nodes;
      waiting = { type: 'show', nodes: placed, edges, ...placeLabels(placed, edges, narrow) };
      makeRoom(waiting.box, player.run);
      tell(waiting);
      legend.children[2].hidden = !edges.some((edge) => edge.kind === 'looked' || edge.kind === 'dropped');
      legend.lastChild.textContent = state.leftOut ? say(words.more, { n: state.leftOut }) : '';
    }
    const paths = [...state.branches.true.paths, ...state.branches.false.paths].filter((path) => path.verdict);
    const looked = edges.filter((edge) => edge.kind === 'looked' || edge.kind === 'dropped');
    refill(rows, [paths.map((path) => [pathKey(path), path.verdict.hops]), looked], () => paths.flatMap((path) => path.verdict.hops.map((hop) =>
      h('tr', { class: hop.verdict === 'ok' ? 'ok' : 'no', keys: [pathKey(path)] }, h('td', {}, `${path.constrained ? '' : '~'}${path.index}`),
        h('td', {}, hop.head), h('td', {}, hop.relation), h('td', {}, hop.tail), h('td', {}, text.verdicts[hop.verdict])))).concat(looked.map((edge) =>
      h('tr', { keys: edge.paths }, h('td', {}, '–'), h('td', {}, edge.from), h('td', {}, relations(edge).join(', ')), h('td', {}, edge.to), h('td', {}, words.looked)))));
  };

  /** The canvas is as high as the picture needs; in one run it only grows, so that nothing jumps back and forth. */
  let room = { run: null, height: 0 };
  function makeRoom(box, run) {
    if (!canvas.clientWidth) return;
    const scale = Math.min(1, canvas.clientWidth / (box.right - box.left + 24));
    const height = Math.min(HIGHEST, Math.max(LOWEST, Math.round((box.bottom - box.top + 40) * scale), room.run === run ? room.height : 0));
    room = { run, height };
    canvas.style.minHeight = `${height}px`;
  }
  new ResizeObserver(() => redraw()).observe(canvas);

  const wide = h('button', { type: 'button', class: 'plain', on: { click: () => toggleWide(element) } }, words.full);
  document.addEventListener('fullscreenchange', () => { wide.textContent = document.fullscreenElement === element ? words.small : words.full; });
  const element = h('section', { class: 'card graph' }, h('div', { class: 'head' }, h('h2', {}, words.title), explore.search, wide),
    h('p', { class: 'note' }, words.note), canvas, explore.panel, legend, table);
  const png = () => new Promise((done) => { photographed = done; tell({ type: 'png' }); });
  return { element, draw, tellKeys: (keys) => tell({ type: 'light', keys }), png };
}

/** On a phone the columns move together, so that names stay readable; mere neighbours keep no name. */
function squeezed(node) {
  return { ...node, x: Math.round(node.x * 0.36), mute: node.group === 'neighbour' && !node.named };
}

function toggleWide(card) {
  if (document.fullscreenElement) document.exitFullscreen();
  else card.requestFullscreen?.();
}

/** What the colours mean; each entry shows or hides its kind. Its last child says how much is not drawn. */
function makeLegend(words, filter) {
  const hidden = new Set();
  const entry = (kind) => h('button', { type: 'button', class: kind, 'aria-pressed': 'true', title: say(words.filter, { name: words[kind] }), on: { click: (event) => {
    if (hidden.has(kind)) hidden.delete(kind); else hidden.add(kind);
    event.currentTarget.setAttribute('aria-pressed', String(!hidden.has(kind)));
    filter([...hidden]);
  } } }, h('i', { 'aria-hidden': 'true' }), words[kind]);
  return h('div', { class: 'legend' }, KINDS.map(entry), h('span', { class: 'left-out' }));
}
