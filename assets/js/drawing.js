// The graph as an SVG of our own: the same places as on the page, for files and wherever no canvas is.

import { svg } from './dom.js';
import { plain, real, relations } from './files.js';
import { controls, placeLabels, pointOn } from './labels.js';

const INK = { topic: '#1c1d21', entity: '#00795a', end: '#00795a', ghost: '#b84600', stray: '#62656d', looked: '#62656d', dropped: '#62656d', neighbour: '#9b9a94' };
const LINE = { grounded: '#00795a', ghost: '#b84600', looked: '#62656d', dropped: '#a3a29b', neighbour: '#cfccc3' };
const DASHES = { ghost: '6 5', dropped: '2 4' };
const EDGE = 24; // room around the outermost names

/** An `<svg>` element of the picture; labels enter it as text. */
export function drawGraph(state, title) {
  const { nodes, edges } = real(state);
  const place = new Map(nodes.map((node) => [node.id, node]));
  const { labels, box } = placeLabels(nodes, edges);
  const [left, top, width, height] = [box.left - EDGE, box.top - EDGE, box.right - box.left + 2 * EDGE, box.bottom - box.top + 2 * EDGE].map(Math.round);
  const said = (edge) => labels.filter((label) => label.edge === edge.id).map((label) => name(label, edge.kind === 'ghost' ? INK.ghost : '#62656d'));
  return svg('svg', { xmlns: 'http://www.w3.org/2000/svg', viewBox: `${left} ${top} ${width} ${height}`, width, height, role: 'img', 'font-family': 'Inter, system-ui, sans-serif' },
    svg('title', {}, plain(title)),
    svg('rect', { x: left, y: top, width, height, fill: '#ffffff' }),
    edges.map((edge) => line(edge, place.get(edge.from), place.get(edge.to))),
    edges.map((edge) => svg('g', { 'data-paths': edge.paths.join(' ') }, said(edge))),
    nodes.map((node) => point(node, labels.find((label) => label.node === node.id))));
}

function line(edge, from, to) {
  const c = controls(edge, from, to);
  const colour = LINE[edge.kind] ?? LINE.neighbour;
  const way = c.length === 1 ? `Q${xy(c[0])} ${xy(to)}` : `C${xy(c[0])} ${xy(c[1])} ${xy(to)}`;
  const [before, tip] = [pointOn(edge, from, to, 0.94), pointOn(edge, from, to, 1)];
  const angle = (Math.atan2(tip.y - before.y, tip.x - before.x) * 180) / Math.PI;
  return svg('g', { 'data-paths': edge.paths.join(' ') },
    svg('title', {}, plain(`${edge.from} → ${relations(edge).join(', ')} → ${edge.to}`)),
    svg('path', { d: `M${xy(from)}${way}`, fill: 'none', stroke: colour, 'stroke-width': edge.paths.includes('g1') ? 3 : edge.kind === 'neighbour' ? 1 : 1.8, 'stroke-dasharray': DASHES[edge.kind] ?? null }),
    edge.kind === 'neighbour' ? null : svg('path', { d: 'M-11 0l-9 -4v8z', fill: colour, transform: `translate(${xy(to)}) rotate(${angle.toFixed(1)})` }));
}

const xy = ({ x, y }) => `${Math.round(x)} ${Math.round(y)}`;

function point(node, label) {
  const colour = INK[node.group] ?? INK.stray;
  const open = node.group === 'ghost' || node.group === 'dropped';
  const shape = node.group === 'topic' ? svg('rect', { x: -9, y: -9, width: 18, height: 18, fill: colour })
    : node.group === 'end' ? svg('path', { d: 'M0 -11L11 0L0 11L-11 0z', fill: colour })
      : svg('circle', { r: { neighbour: 3.5, looked: 6, dropped: 6 }[node.group] ?? 8, fill: open ? '#ffffff' : colour, stroke: colour, 'stroke-width': 2, 'stroke-dasharray': node.group === 'ghost' ? '3 3' : null });
  const ink = { ghost: INK.ghost, neighbour: '#62656d', looked: '#62656d', dropped: '#62656d' }[node.group] ?? INK.topic;
  return svg('g', { 'data-node': plain(node.id).slice(0, 200) }, svg('title', {}, plain(node.title ?? node.label)), svg('g', { transform: `translate(${xy(node)})` }, shape), label ? name(label, ink) : null);
}

/** A label, line by line. */
function name({ lines, step, x, y, align, size, weight }, ink) {
  const anchor = { left: 'start', right: 'end', center: 'middle' }[align];
  return lines.map((words, i) => halo('text', { x: Math.round(x), y: Math.round(y + size / 3 + step * i), 'text-anchor': anchor, 'font-size': size, 'font-weight': weight, fill: ink }, words));
}

/** Text that stays readable over lines. */
function halo(tag, attributes, words) {
  return svg(tag, { ...attributes, stroke: '#ffffff', 'stroke-width': 4, 'paint-order': 'stroke', 'stroke-linejoin': 'round' }, plain(words));
}

/** The picture as a file's text. */
export function svgText(state, title) {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(drawGraph(state, title))}\n`;
}
