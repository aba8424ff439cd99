// The graph's card: a sandboxed frame that is made once and then only told what has changed, with legend, filter,
// search, and a table that holds the same as the picture.

import { h, refill, say } from '../core/dom.js';
import { allPaths, holds, pathKey, relationsOf } from '../core/state.js';
import { hopWords } from '../views/paths.js';
import { makeExplorer } from './explore.js';
import { firstPaths, fitted } from './fitting.js';
import { placeLabels } from './labels.js';

/** @typedef {import('../core/types.js').RunState} RunState */
/** @typedef {import('../core/types.js').Player} Player */
/** @typedef {import('../core/types.js').PageText} PageText */
/** @typedef {import('../core/types.js').PictureEdge} PictureEdge */

const KINDS = /** @type {const} */ (['grounded', 'ghost', 'looked', 'neighbour']);
const [MIN_HEIGHT, MAX_HEIGHT] = [460, 640]; // pixels of the canvas; near to each other, so that little moves while it grows
const [MIN_ON_PHONE, MAX_ON_PHONE] = [220, 280]; // so that the answer and the picture fit into the first screen
const PHONE = 760; // pixels of a window's width
const SMALLEST = 0.75; // of the full size of letters; no picture is made smaller than that to be less high

/**
 * What the frame tells the page, see frame.js.
 * @typedef {{type: 'ready'|'seen'} | {type: 'hover', keys: string[]} | {type: 'choose', id: string|null} | {type: 'drawn', nodes: number}
 *   | {type: 'still', still: ImageBitmap, nodes: number} | {type: 'png', url: string}} FromFrame
 */

/**
 * @param {import('../core/types.js').Boot} boot
 * @param {PageText} text
 * @param {(keys: string[]) => void} light lights up everything that shows what the pointer is on
 * @param {import('./explore.js').AskNear} near asks the server for the neighbours of an entity
 * @param {() => void} known shows what the graph knows, where there is nothing to draw
 * @returns {import('../core/types.js').View & {tellKeys: (keys: string[]) => void, png: () => Promise<string>}} `tellKeys`
 *   lights up the picture; `png` gives it as a data address
 */
export function makeGraph(boot, text, light, near, known) {
  const words = text.graph;
  const base = new URL('.', document.baseURI).href;
  const frame = h('iframe', { class: 'frame', sandbox: 'allow-scripts', title: words.title, tabindex: -1 });
  frame.srcdoc = boot.frame.replaceAll('__BASE__', base).replaceAll('__ORIGIN__', location.origin);
  let ready = false;
  /** @type {object|null} the newest picture, for a frame that is not ready yet */
  let waiting = null;
  let shown = ''; // what the frame was told last
  let redraw = () => {};
  let width = 700; // pixels of the canvas
  let narrow = innerWidth < PHONE;
  let whole = false; // the visitor wants all of the picture, not the first paths alone
  let photographed = (/** @type {string} */ _) => {};
  /** @param {object} message */
  const tell = (message) => { if (ready) frame.contentWindow?.postMessage(message, '*'); };
  const explorer = makeExplorer(text, near, () => redraw(), (id) => {
    if (!shownAt.nodes.some((node) => node.id === id)) { whole = true; redraw(); } // it is not among the first paths
    tell({ type: 'point', id });
    scrollTo(id);
  });

  const tellTheme = () => tell({ type: 'theme', dark: document.body.classList.contains('dark') || document.documentElement.classList.contains('dark') });
  new MutationObserver(tellTheme).observe(document.body, { attributes: true, attributeFilter: ['class'] });
  window.addEventListener('message', (event) => {
    if (event.source !== frame.contentWindow) return;
    const told = /** @type {FromFrame} */ (event.data);
    if (told.type === 'ready') { ready = true; tellTheme(); if (waiting) tell(waiting); }
    if (told.type === 'hover') light(told.keys);
    if (told.type === 'choose') explorer.choose(told.id);
    if (told.type === 'still') {
      Object.assign(still, { width: told.still.width, height: told.still.height });
      still.getContext('bitmaprenderer')?.transferFromImageBitmap(told.still);
      still.dataset.nodes = String(told.nodes);
    }
    if (told.type === 'still' || told.type === 'seen') still.hidden = told.type === 'seen';
    if (told.type === 'drawn') canvas.dataset.drawn = String(told.nodes);
    if (told.type === 'png' && String(told.url).startsWith('data:image/png;base64,')) photographed(told.url);
  });

  const legend = makeLegend(words, (hidden) => tell({ type: 'filter', hidden }));
  const rows = h('tbody');
  const empty = h('div', { class: 'note waiting' });
  const still = h('canvas', { class: 'frame', 'aria-hidden': 'true', hidden: true }); // the frame's last look while it is out of sight
  const canvas = h('div', { class: 'canvas', role: 'group', 'aria-label': words.title }, still, frame, empty);
  const columns = [words.path, words.from, words.relation, words.to, words.verdict];
  const table = h('details', { class: 'twin' }, h('summary', {}, words.table), h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': words.table },
    h('table', {}, h('thead', {}, h('tr', {}, columns.map((name) => h('th', { scope: 'col' }, name)))), rows)));

  /** @type {(state: RunState, player: Player) => void} */
  const draw = (state, player) => {
    redraw = () => draw(state, player);
    empty.hidden = state.nodes.size > 0;
    const over = Boolean(state.finished ?? state.failed);
    refill(empty, over, () => (over ? [h('p', {}, words.nothing), h('button', { type: 'button', class: 'plain', on: { click: known } }, words.known)] : words.waiting));
    canvas.classList.toggle('empty', !state.nodes.size);
    const all = explorer.picture(state, player.run);
    if (canvas.clientWidth) { width = canvas.clientWidth; narrow = width < 520; } // a hidden canvas has no width
    const { nodes, edges } = narrow && !whole ? firstPaths(all) : all;
    showPart(nodes.filter(isFound).length, all.nodes.filter(isFound).length);
    const key = `${width}|${player.run}|${state.pictures}|${nodes.length}|${edges.length}|${edges.reduce((n, e) => n + e.paths.length, 0)}|${all.mark}`;
    if (key !== shown) {
      shown = key;
      const placed = fitted(nodes, width, narrow);
      const layout = placeLabels(placed, edges, narrow);
      waiting = { type: 'show', nodes: placed, edges, ...layout };
      shownAt = { box: layout.box, nodes: placed };
      makeRoom(layout.box, player.run);
      tell(waiting);
      legend.update(edges, state.leftOut);
    }
    drawRows(state, all.edges.filter((edge) => edge.kind === 'looked' || edge.kind === 'dropped'));
  };

  /** @type {(state: RunState, looked: PictureEdge[]) => void} */
  function drawRows(state, looked) {
    const paths = allPaths(state).filter((path) => path.verdict);
    refill(rows, [paths.map((path) => [pathKey(path), path.verdict?.hops]), looked], () => [
      paths.map((path) => path.verdict?.hops.map((hop) => h('tr', { class: holds(hop.verdict) ? 'ok' : 'no', keys: [pathKey(path)] },
        h('td', {}, `${path.constrained ? '' : '~'}${path.index}`), h('td', {}, hop.head), h('td', {}, hop.relation), h('td', {}, hop.tail),
        h('td', {}, hopWords(hop, text))))),
      looked.map((edge) => h('tr', { keys: edge.paths }, h('td', {}, '–'), h('td', {}, edge.from), h('td', {}, relationsOf(edge).join(', ')),
        h('td', {}, edge.to), h('td', {}, words.looked)))]);
  }

  // on a phone: how much of the picture is drawn, and the button that changes it
  const part = h('p', { class: 'part', hidden: true });
  /** @type {(drawn: number, of: number) => void} nodes */
  function showPart(drawn, of) {
    part.hidden = drawn === of && !whole;
    refill(part, [drawn, of, whole], () => [h('span', {}, whole ? '' : say(words.part, { n: drawn, of })),
      h('button', { type: 'button', class: 'plain', on: { click: () => { whole = !whole; redraw(); } } }, whole ? words.first : say(words.whole, { n: of }))]);
  }

  /** @type {{run: string|null, height: number}} */
  let room = { run: null, height: 0 };
  /**
   * Make the canvas as high as the picture needs. During a run it only grows, so that nothing jumps. A very high picture
   * is scrolled in its card; on a phone all of it makes the page longer, which is scrolled anyhow.
   * @type {(box: import('./labels.js').Box, run: string|null) => void}
   */
  function makeRoom(box, run) {
    if (!canvas.clientWidth) return;
    const scale = Math.min(1, canvas.clientWidth / (box.right - box.left + 24));
    const [least, most] = narrow ? [MIN_ON_PHONE, MAX_ON_PHONE] : [MIN_HEIGHT, MAX_HEIGHT];
    const full = Math.round((box.bottom - box.top + 40) * scale);
    const tall = full * Math.min(1, SMALLEST / scale) > most;
    const height = Math.min(tall && narrow && whole ? Infinity : most, Math.max(least, full, room.run === run ? room.height : 0));
    room = { run, height };
    canvas.style.minHeight = `${height}px`;
    const scrolled = tall && !narrow;
    const seen = canvas.classList.contains('scrolled') ? (canvas.scrollTop + canvas.clientHeight / 2) / canvas.scrollHeight : null;
    canvas.classList.toggle('scrolled', scrolled);
    for (const part of [frame, still]) part.style.height = scrolled ? `${full}px` : '';
    if (scrolled && seen === null) scrollTo(shownAt.nodes.find((node) => node.group === 'topic')?.id);
    else if (scrolled && seen !== null) canvas.scrollTop = seen * canvas.scrollHeight - canvas.clientHeight / 2; // what was seen stays in sight
    if (scrolled) canvas.tabIndex = 0;
    else canvas.removeAttribute('tabindex');
  }
  new ResizeObserver(() => redraw()).observe(canvas);

  /** @type {{box: import('./labels.js').Box, nodes: import('../core/types.js').PictureNode[]}} the picture as it was placed last */
  let shownAt = { box: { left: 0, right: 0, top: 0, bottom: 0 }, nodes: [] };
  /**
   * Bring a node of a picture that is scrolled into its middle.
   * @param {string|undefined} id
   */
  function scrollTo(id) {
    const node = shownAt.nodes.find((one) => one.id === id);
    if (!node) return;
    const { top, bottom } = shownAt.box;
    canvas.scrollTop = ((node.y - top) / Math.max(1, bottom - top)) * canvas.scrollHeight - canvas.clientHeight / 2;
  }

  const wide = h('button', { type: 'button', class: 'plain', on: { click: () => toggleFullScreen(element) } }, words.full);
  document.addEventListener('fullscreenchange', () => { wide.textContent = document.fullscreenElement === element ? words.small : words.full; });
  const element = h('section', { class: 'card graph' }, h('div', { class: 'head' }, h('h2', {}, words.title), explorer.search, wide),
    h('p', { class: 'note' }, words.note), canvas, part, explorer.panel, legend.element, table);
  /** @type {() => Promise<string>} */
  const png = () => new Promise((done) => { photographed = done; tell({ type: 'png' }); });
  return { element, draw, tellKeys: (keys) => tell({ type: 'light', keys }), png };
}

/** It is no mere neighbour. @type {(node: import('../core/types.js').PictureNode) => boolean} */
const isFound = ({ group }) => group !== 'neighbour' && group !== 'more';

/** @param {HTMLElement} card */
function toggleFullScreen(card) {
  if (document.fullscreenElement) document.exitFullscreen();
  else card.requestFullscreen?.();
}

/**
 * What the colours mean. Each entry shows or hides its kind; the last words say how much is not drawn.
 * @type {(words: PageText['graph'], filter: (hidden: string[]) => void) =>
 *   {element: HTMLElement, update: (edges: PictureEdge[], leftOut: number) => void}}
 */
function makeLegend(words, filter) {
  /** @type {Set<string>} */
  const hidden = new Set();
  const entries = KINDS.map((kind) => h('button', { type: 'button', class: kind, 'aria-pressed': 'true', title: say(words.filter, { name: words[kind] }),
    on: { click: (event) => {
      if (hidden.has(kind)) hidden.delete(kind); else hidden.add(kind);
      event.currentTarget.setAttribute('aria-pressed', String(!hidden.has(kind)));
      filter([...hidden]);
    } } }, h('i', { 'aria-hidden': 'true' }), words[kind]));
  const rest = h('span', { class: 'left-out' });
  return {
    element: h('div', { class: 'legend' }, entries, rest),
    update(edges, leftOut) {
      entries[KINDS.indexOf('looked')].hidden = !edges.some((edge) => edge.kind === 'looked' || edge.kind === 'dropped');
      rest.textContent = leftOut ? say(words.more, { n: leftOut }) : '';
    },
  };
}
