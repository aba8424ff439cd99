// The graph's card: the frame is made once, then only told what has changed. Legend, filter, table twin.

import { h, refill, say } from './dom.js';
import { pathKey } from './highlight.js';

const KINDS = ['grounded', 'ghost', 'neighbour'];

export function makeGraph(boot, text, light) {
  const words = text.graph;
  const base = new URL('.', document.baseURI).href;
  const frame = h('iframe', { class: 'frame', sandbox: 'allow-scripts', title: words.title, tabindex: -1 });
  frame.srcdoc = boot.frame.replaceAll('__BASE__', base).replaceAll('__ORIGIN__', location.origin);
  const hidden = new Set();
  let ready = false;
  let waiting = null;
  let photographed = () => {};
  const tell = (message) => { if (ready) frame.contentWindow.postMessage(message, '*'); };

  const colours = () => tell({ type: 'theme', dark: document.body.classList.contains('dark') || document.documentElement.classList.contains('dark') });
  window.addEventListener('message', (event) => {
    if (event.source !== frame.contentWindow) return;
    if (event.data.type === 'ready') { ready = true; colours(); if (waiting) tell(waiting); }
    if (event.data.type === 'hover') light(event.data.keys);
    if (event.data.type === 'png' && String(event.data.url).startsWith('data:image/png;base64,')) photographed(event.data.url);
  });
  new MutationObserver(colours).observe(document.body, { attributes: true, attributeFilter: ['class'] });

  const legend = h('div', { class: 'legend' }, KINDS.map((kind) => h('button', { type: 'button', class: kind, 'aria-pressed': 'true', title: say(words.filter, { name: words[kind] }),
    on: { click: (event) => {
      const button = event.currentTarget;
      if (hidden.has(kind)) hidden.delete(kind); else hidden.add(kind);
      button.setAttribute('aria-pressed', String(!hidden.has(kind)));
      tell({ type: 'filter', hidden: [...hidden] });
    } } }, h('i', { 'aria-hidden': 'true' }), words[kind])), h('span', { class: 'left-out' }));
  const rows = h('tbody');
  const empty = h('p', { class: 'note waiting' }, words.waiting);
  const table = h('details', { class: 'twin' }, h('summary', {}, words.table), h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': words.table }, h('table', {}, h('thead', {}, h('tr', {},
    [words.path, words.from, words.relation, words.to, words.verdict].map((name) => h('th', { scope: 'col' }, name)))), rows)));
  let shown = '';

  const draw = (state) => {
    empty.hidden = state.nodes.size > 0;
    const key = `${state.run?.t}|${state.pictures}|${state.nodes.size}|${state.edges.size}|${[...state.edges.values()].reduce((n, e) => n + e.paths.length, 0)}`;
    if (key !== shown) {
      shown = key;
      waiting = { type: 'show', nodes: [...state.nodes.values()], edges: [...state.edges.values()] };
      tell(waiting);
      legend.lastChild.textContent = state.leftOut ? say(words.more, { n: state.leftOut }) : '';
    }
    const paths = [...state.branches.true.paths, ...state.branches.false.paths].filter((path) => path.verdict);
    refill(rows, paths.map((path) => [pathKey(path), path.verdict.hops]), () => paths.flatMap((path) => path.verdict.hops.map((hop) =>
      h('tr', { class: hop.verdict === 'ok' ? 'ok' : 'no', keys: [pathKey(path)] }, h('td', {}, `${path.constrained ? '' : '~'}${path.index}`),
        h('td', {}, hop.head), h('td', {}, hop.relation), h('td', {}, hop.tail), h('td', {}, text.verdicts[hop.verdict])))));
  };

  const element = h('section', { class: 'card graph' }, h('h2', {}, words.title), h('p', { class: 'note' }, words.note), h('div', { class: 'canvas' }, frame, empty), legend, table);
  return { element, draw, tellKeys: (keys) => tell({ type: 'light', keys }), png: () => new Promise((done) => { photographed = done; tell({ type: 'png' }); }) };
}
