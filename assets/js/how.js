// How it works, in three small pictures: the ways in which a language model can use a graph (GCR, Figure 2).

import { h, svg } from './dom.js';

const BOX = { graph: [50, 66], model: [184, 66], answer: [294, 66] };

export function makeHow(text) {
  const words = text.how;
  const cards = ['retrieval', 'agent', 'constrained'].map((way) => h('figure', { class: `way ${way}` }, picture(way, words),
    h('figcaption', {}, h('b', {}, words.ways[way].title), h('span', {}, words.ways[way].says))));
  return h('details', { class: 'card fold', open: true }, h('summary', {}, h('h2', {}, words.title)), h('div', { class: 'ways' }, cards), h('p', { class: 'note' }, words.source));
}

function picture(way, words) {
  const { labels } = words;
  const inside = way === 'constrained';
  return svg('svg', { viewBox: '0 0 340 132', role: 'img', 'aria-label': words.ways[way].picture },
    net(BOX.graph), label(BOX.graph[0], 118, labels.graph),
    box(BOX.model, inside ? '' : labels.model), inside ? mask(BOX.model) : null, inside ? label(BOX.model[0], 118, labels.masked) : null,
    svg('circle', { cx: BOX.answer[0], cy: BOX.answer[1], r: 17, class: 'to' }), label(BOX.answer[0], 118, labels.answer),
    way === 'agent'
      ? [arrow('M150 50C128 34 108 34 88 50', [88, 50], 142), label(119, 30, labels.asks), arrow('M88 82C108 98 128 98 150 82', [150, 82], -38), label(119, 110, labels.again)]
      : [arrow('M86 66H146', [148, 66]), label(115, 56, labels[inside ? 'allows' : 'facts'])],
    arrow('M220 66H272', [275, 66]));
}

/** A small graph: three nodes and their edges. */
function net([x, y]) {
  const points = [[x - 26, y + 18], [x, y - 24], [x + 26, y + 12]];
  return svg('g', { class: 'net' }, svg('path', { d: `M${points.map((point) => point.join(' ')).join('L')}Z` }), points.map(([cx, cy]) => svg('circle', { cx, cy, r: 7 })));
}

function box([x, y], words) {
  return svg('g', {}, svg('rect', { x: x - 34, y: y - 26, width: 68, height: 52, rx: 10, class: 'box' }), words ? label(x, y + 4, words) : null);
}

/** Inside the model: tokens, of which the graph lets one row pass. */
function mask([x, y]) {
  return [-14, 0, 14].map((down, row) => svg('rect', { x: x - 22, y: y + down - 4, width: [30, 44, 24][row], height: 8, rx: 3, class: row === 1 ? 'token yes' : 'token no' }));
}

/** A line with a head at its end, turned by `angle` degrees. */
function arrow(d, [x, y], angle = 0) {
  return svg('g', { class: 'arrow' }, svg('path', { d }), svg('path', { d: 'M0 0L-8 -4V4Z', class: 'head', transform: `translate(${x} ${y}) rotate(${angle})` }));
}

function label(x, y, words) { return svg('text', { x, y, 'text-anchor': 'middle' }, words); }
