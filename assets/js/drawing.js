// The graph as an SVG of our own: the same places as on the page, for files and wherever no canvas is.

import { svg } from './dom.js';
import { plain, real, relations } from './files.js';

const INK = { topic: '#1c1d21', entity: '#00795a', end: '#00795a', ghost: '#b84600', stray: '#62656d', neighbour: '#9b9a94' };
const LINE = { grounded: '#00795a', ghost: '#b84600', neighbour: '#cfccc3' };
const EDGE = 70; // room around the outermost nodes for their labels

/** An `<svg>` element of the picture; labels enter it as text. */
export function drawGraph(state, title) {
  const { nodes, edges } = real(state);
  const place = new Map(nodes.map((node) => [node.id, node]));
  const xs = nodes.map((node) => node.x);
  const ys = nodes.map((node) => node.y);
  const [left, top] = [Math.min(0, ...xs) - 2 * EDGE, Math.min(0, ...ys) - EDGE];
  const [width, height] = [Math.max(0, ...xs) + 2 * EDGE - left, Math.max(0, ...ys) + EDGE - top];
  return svg('svg', { xmlns: 'http://www.w3.org/2000/svg', viewBox: `${left} ${top} ${width} ${height}`, width, height, role: 'img', 'font-family': 'Inter, system-ui, sans-serif' },
    svg('title', {}, plain(title)),
    svg('rect', { x: left, y: top, width, height, fill: '#ffffff' }),
    edges.map((edge) => line(edge, place.get(edge.from), place.get(edge.to))),
    nodes.map(point));
}

function line(edge, from, to) {
  const [mx, my] = [(from.x + to.x) / 2, (from.y + to.y) / 2 - 24 * (edge.bend ?? 0)];
  const colour = LINE[edge.kind] ?? LINE.neighbour;
  const label = edge.kind === 'neighbour' ? [] : (edge.label ?? '').split('\n').filter(Boolean);
  // aimed at the middle of the curve's end, so that the head of the arrow lies along it
  const angle = (Math.atan2(to.y - my, to.x - mx) * 180) / Math.PI;
  return svg('g', { 'data-paths': edge.paths.join(' ') },
    svg('title', {}, plain(`${edge.from} → ${relations(edge).join(', ')} → ${edge.to}`)),
    svg('path', { d: `M${from.x} ${from.y}Q${mx} ${my} ${to.x} ${to.y}`, fill: 'none', stroke: colour, 'stroke-width': edge.paths.includes('g1') ? 3 : edge.kind === 'neighbour' ? 1 : 1.8,
      'stroke-dasharray': edge.kind === 'ghost' ? '6 5' : null }),
    edge.kind === 'neighbour' ? null : svg('path', { d: 'M-11 0l-9 -4v8z', fill: colour, transform: `translate(${to.x} ${to.y}) rotate(${angle.toFixed(1)})` }),
    label.map((words, i) => halo('text', { x: mx, y: (from.y + to.y) / 4 + my / 2 + 4 + 14 * i, 'text-anchor': 'middle', 'font-size': 12, fill: edge.kind === 'ghost' ? INK.ghost : '#62656d' }, words)));
}

function point(node) {
  const colour = INK[node.group] ?? INK.stray;
  const small = node.group === 'neighbour';
  const shape = node.group === 'topic' ? svg('rect', { x: -9, y: -9, width: 18, height: 18, fill: colour })
    : node.group === 'end' ? svg('path', { d: 'M0 -11L11 0L0 11L-11 0z', fill: colour })
      : svg('circle', { r: small ? 3.5 : 8, fill: node.group === 'ghost' ? '#ffffff' : colour, stroke: colour, 'stroke-width': 2, 'stroke-dasharray': node.group === 'ghost' ? '3 3' : null });
  return svg('g', { transform: `translate(${node.x} ${node.y})`, 'data-node': plain(node.id).slice(0, 200) }, svg('title', {}, plain(node.title ?? node.label)), shape,
    halo('text', { y: small ? 15 : 26, 'text-anchor': 'middle', 'font-size': small ? 10.5 : 14, fill: small ? '#62656d' : INK[node.group === 'ghost' ? 'ghost' : 'topic'] }, node.label));
}

/** Text that stays readable over lines. */
function halo(tag, attributes, words) {
  return svg(tag, { ...attributes, stroke: '#ffffff', 'stroke-width': 4, 'paint-order': 'stroke', 'stroke-linejoin': 'round' }, plain(words));
}

/** The picture as a file's text. */
export function svgText(state, title) {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(drawGraph(state, title))}\n`;
}
