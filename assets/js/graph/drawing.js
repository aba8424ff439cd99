// The graph as an SVG: the same layout as on the page, for files and wherever no canvas is.

import { svg, xmlText } from '../core/dom.js';
import { pictureOf, relationsOf } from '../core/state.js';
import { controls, placeLabels, pointOn } from './labels.js';

/** @typedef {import('../core/types.js').RunState} RunState */
/** @typedef {import('../core/types.js').PictureNode} PictureNode */
/** @typedef {import('../core/types.js').PictureEdge} PictureEdge */
/** @typedef {import('./labels.js').Label} Label */

const [BLACK, GREEN, ORANGE, GREY] = ['#1c1d21', '#00795a', '#b84600', '#62656d'];
/** @type {Record<string, string>} */
const NODE_COLOURS = { topic: BLACK, entity: GREEN, end: GREEN, ghost: ORANGE, value: GREEN, stray: GREY, looked: GREY, dropped: GREY, neighbour: '#9b9a94' };
/** @type {Record<string, string>} */
const EDGE_COLOURS = { grounded: GREEN, ghost: ORANGE, looked: GREY, dropped: '#a3a29b', neighbour: '#cfccc3' };
/** @type {Record<string, string>} */
const LABEL_COLOURS = { ghost: ORANGE, neighbour: GREY, looked: GREY, dropped: GREY };
/** @type {Record<string, string>} */
const DASHES = { ghost: '6 5', dropped: '2 4' };
/** @type {Record<string, number>} */
const RADII = { neighbour: 3.5, looked: 6, dropped: 6 };
const MARGIN = 24; // pixels around the outermost labels

/**
 * The picture of a run; labels enter it as text.
 * @param {RunState} state
 * @param {string} title
 * @returns {SVGSVGElement}
 */
export function drawGraph(state, title) {
  const { nodes, edges } = pictureOf(state);
  const { labels, box } = placeLabels(nodes, edges);
  const [left, top, width, height] = [box.left - MARGIN, box.top - MARGIN, box.right - box.left + 2 * MARGIN, box.bottom - box.top + 2 * MARGIN].map(Math.round);
  const place = new Map(nodes.map((node) => [node.id, node]));
  /** @param {PictureEdge} edge */
  const labelsOf = (edge) => labels.filter((label) => label.edge === edge.id).map((label) => drawnLabel(label, edge.kind === 'ghost' ? ORANGE : GREY));
  return svg('svg', { xmlns: 'http://www.w3.org/2000/svg', viewBox: `${left} ${top} ${width} ${height}`, width, height, role: 'img', 'font-family': 'Inter, system-ui, sans-serif' },
    svg('title', {}, xmlText(title)),
    svg('rect', { x: left, y: top, width, height, fill: '#ffffff' }),
    edges.map((edge) => drawnEdge(edge, /** @type {PictureNode} */ (place.get(edge.from)), /** @type {PictureNode} */ (place.get(edge.to)))),
    edges.map((edge) => svg('g', { 'data-paths': edge.paths.join(' ') }, labelsOf(edge))),
    nodes.map((node) => drawnNode(node, labels.find((label) => label.node === node.id))));
}

/** @type {(edge: PictureEdge, from: PictureNode, to: PictureNode) => SVGElement} */
function drawnEdge(edge, from, to) {
  const points = controls(edge, from, to);
  const colour = EDGE_COLOURS[edge.kind] ?? EDGE_COLOURS.neighbour;
  const width = edge.paths.includes('g1') ? 3 : edge.kind === 'neighbour' ? 1 : 1.8;
  const curve = `${points.length === 1 ? 'Q' : 'C'}${[...points, to].map(xy).join(' ')}`;
  const [before, tip] = [pointOn(edge, from, to, 0.94), pointOn(edge, from, to, 1)];
  const angle = (Math.atan2(tip.y - before.y, tip.x - before.x) * 180) / Math.PI;
  return svg('g', { 'data-paths': edge.paths.join(' ') },
    svg('title', {}, xmlText(`${edge.from} → ${relationsOf(edge).join(', ')} → ${edge.to}`)),
    svg('path', { d: `M${xy(from)}${curve}`, fill: 'none', stroke: colour, 'stroke-width': width, 'stroke-dasharray': DASHES[edge.kind] ?? null }),
    edge.kind === 'neighbour' ? null : svg('path', { d: 'M-11 0l-9 -4v8z', fill: colour, transform: `translate(${xy(to)}) rotate(${angle.toFixed(1)})` }));
}

/** @param {import('./labels.js').Point} point */
const xy = ({ x, y }) => `${Math.round(x)} ${Math.round(y)}`;

/** @type {(node: PictureNode, label: Label|undefined) => SVGElement} */
function drawnNode(node, label) {
  const colour = NODE_COLOURS[node.group] ?? GREY;
  const open = ['ghost', 'dropped', 'value'].includes(node.group);
  const shape = node.group === 'topic' ? svg('rect', { x: -9, y: -9, width: 18, height: 18, fill: colour })
    : node.group === 'end' ? svg('path', { d: 'M0 -11L11 0L0 11L-11 0z', fill: colour })
      : svg('circle', { r: RADII[node.group] ?? 8, fill: open ? '#ffffff' : colour, stroke: colour, 'stroke-width': 2, 'stroke-dasharray': node.group === 'ghost' ? '3 3' : null });
  return svg('g', { 'data-node': xmlText(node.id).slice(0, 200) }, svg('title', {}, xmlText(node.title ?? node.label)),
    svg('g', { transform: `translate(${xy(node)})` }, shape), label ? drawnLabel(label, LABEL_COLOURS[node.group] ?? BLACK) : null);
}

/**
 * A label, line by line. The white outline keeps it readable where it crosses an edge.
 * @type {(label: Label, colour: string) => SVGElement[]}
 */
function drawnLabel({ lines, step, x, y, align, size, weight }, colour) {
  const anchor = { left: 'start', right: 'end', center: 'middle' }[align];
  return lines.map((words, i) => svg('text', { x: Math.round(x), y: Math.round(y + size / 3 + step * i), 'text-anchor': anchor, 'font-size': size, 'font-weight': weight,
    fill: colour, stroke: '#ffffff', 'stroke-width': 4, 'paint-order': 'stroke', 'stroke-linejoin': 'round' }, xmlText(words)));
}
