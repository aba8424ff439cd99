// Where labels stand in the picture: beside their nodes, and on the edges where they touch nothing else.
// The canvas of the page and the files are both drawn from this layout, so that they look alike.

import { textWidth } from '../core/dom.js';

/** @typedef {import('../core/types.js').PictureNode} PictureNode */
/** @typedef {import('../core/types.js').PictureEdge} PictureEdge */

/** @typedef {{x: number, y: number}} Point */
/** @typedef {{left: number, right: number, top: number, bottom: number}} Box */

/**
 * A label of a node or of an edge.
 * @typedef {object} Label
 * @property {string} [node] id
 * @property {string} [edge] id
 * @property {string[]} lines
 * @property {number} step pixels from one line to the next
 * @property {number} x
 * @property {number} y middle of the first line
 * @property {'left'|'right'|'center'} align
 * @property {number} size of the font
 * @property {number} weight of the font
 * @property {string} tone group of the node or kind of the edge
 */

/** @typedef {(words: string, font: string) => number} Measure the width of a text in pixels */

const FACE = 'Inter, system-ui, sans-serif';
/** @type {Record<string, [size: number, weight: number]>} */
const LOOKS = {
  topic: [16, 650], end: [15, 600], entity: [14, 600], ghost: [14, 400], value: [13.5, 600], stray: [14, 400], looked: [12.5, 400], dropped: [12.5, 400],
  neighbour: [11.5, 400], more: [12, 400],
};
const ON_EDGE = [12, 400];
const ON_PHONE = 0.9; // of the size of letters
const LINE = 14; // pixels from one line of an edge's label to the next
const PLACES = [0.5, 0.44, 0.56, 0.38, 0.62, 0.68, 0.32, 0.74, 0.26, 0.8]; // along the edge, the best first
const ASIDE = [0, -11, 11]; // pixels beside the edge
const NAME_LENGTHS = [40, 13, 10, 7]; // characters of a name, while there is no room for more
const NEIGHBOUR_LENGTH = 16;
const LINE_LENGTH = 14; // of a name in two lines
const RELATION_LENGTHS = [28, 14]; // and of what an edge says
const ROUND = 0.35; // how far the curves run level before they turn, as in kgdemo/ui/assets.py

/**
 * All labels of a picture, and the box around labels and nodes. No two labels touch, and none lies on a node: a name that
 * has no room on its side goes to another or is cut short. What an edge says, and the name of a mere neighbour, is left out
 * where it fits nowhere; the title, and the table or the list of neighbours, have it all the same.
 * @param {PictureNode[]} nodes
 * @param {PictureEdge[]} edges
 * @param {boolean} [narrow] for a phone: names are cut short and the topic's name stands below its node
 * @param {Measure} [measure]
 * @returns {{labels: Label[], box: Box}}
 */
export function placeLabels(nodes, edges, narrow = false, measure = textWidth) {
  const limit = narrow ? 18 : 26;
  const at = new Map(nodes.map((node) => [node.id, node]));
  const boxOf = (/** @type {Label} */ label) => labelBox(label, measure);
  const leads = leftEnds(edges, at);
  const taken = nodes.map((node) => (node.group === 'more' ? boxOf(besideNode(node, false, limit, narrow)) : bodyOf(node)));
  /** @type {Label[]} */
  const labels = [];
  /** @param {Label} label */
  const put = (label) => { labels.push(label); taken.push(boxOf(label)); };
  const named = nodes.filter((node) => node.group !== 'more' && !node.mute);
  const names = (/** @type {PictureNode} */ node) => firstFree(namings(besideNode(node, leads.has(node.id), limit, narrow), node, narrow), taken, boxOf);
  for (const node of named) if (node.group !== 'neighbour') put(names(node).label);
  for (const edge of [...edges].sort((a, b) => importance(a) - importance(b))) {
    const [from, to] = [at.get(edge.from), at.get(edge.to)];
    if (!edge.label || edge.kind === 'neighbour' || !from || !to) continue;
    const says = edge.label;
    const places = RELATION_LENGTHS.flatMap((length) => onEdge(edge, bundled(says, Math.min(length, limit), narrow ? 2 : 3), from, to));
    const { label, free } = firstFree(places, taken, boxOf);
    if (free) put(label);
  }
  for (const node of named.filter(({ group }) => group === 'neighbour')) {
    const { label, free } = names(node);
    if (free) put(label);
  }
  return { labels, box: around(taken) };
}

/** @type {(node: PictureNode) => Box} the room of the node itself */
const bodyOf = ({ x, y }) => ({ left: x - 8, right: x + 8, top: y - 8, bottom: y + 8 });

/** Which edges are labelled first, where there is not room for all. @type {(edge: PictureEdge) => number} */
const importance = (edge) => (edge.paths.includes('g1') ? 0 : ['grounded', 'ghost', 'looked'].indexOf(edge.kind) + 1 || 4);

/**
 * The first of several places of a label where it touches nothing, else the one where it covers least.
 * @type {(places: Label[], taken: Box[], boxOf: (label: Label) => Box) => {label: Label, free: boolean}}
 */
function firstFree(places, taken, boxOf) {
  let [best, least] = [places[0], Infinity];
  for (const label of places) {
    const box = boxOf(label);
    const covered = taken.reduce((sum, other) => sum + overlap(box, other), 0);
    if (covered < least) [best, least] = [label, covered];
    if (!covered) break;
  }
  return { label: best, free: least === 0 };
}

/**
 * Where a node's name may stand, the best first: as it is meant to, on another side, on a phone in two lines, and then
 * the same cut shorter.
 * @type {(label: Label, node: PictureNode, narrow: boolean) => Label[]}
 */
function namings(label, node, narrow) {
  const { x, y, group } = node;
  if (group === 'neighbour') return [label, { ...label, lines: label.lines.map((line) => cutTo(line, NEIGHBOUR_LENGTH)) }];
  /** @type {Pick<Label, 'x'|'y'|'align'>[]} */
  const sides = [label, { x: x + 17, y, align: 'left' }, { x, y: y + 19, align: 'center' }, { x, y: y - 19, align: 'center' }];
  if (!narrow) sides.push({ x: x - 17, y, align: 'right' }); // on a phone there is no room to the left
  const placed = sides.map((side) => ({ ...label, ...(side === label ? {} : side) }));
  const cut = NAME_LENGTHS.map((limit) => placed.map((one) => ({ ...one, lines: one.lines.map((line) => cutTo(line, limit)) })));
  const two = narrow && group !== 'topic' ? inTwo(node.label) : null;
  if (!two) return cut.flat();
  const broken = placed.map((one) => ({ ...one, lines: two, y: one.y - (one.y < y ? LINE : one.y > y ? 0 : LINE / 2) }));
  return [...(label.lines[0] === node.label ? cut[0] : []), ...broken, ...cut.flat()];
}

/**
 * Ids of the nodes that have an edge to their right.
 * @type {(edges: PictureEdge[], at: Map<string, PictureNode>) => Set<string>}
 */
function leftEnds(edges, at) {
  return new Set(edges.filter((edge) => edge.kind !== 'neighbour').map((edge) => {
    const [from, to] = [at.get(edge.from), at.get(edge.to)];
    return from && to && to.x < from.x ? edge.to : edge.from;
  }));
}

/** @type {(node: PictureNode, leads: boolean, limit: number, narrow: boolean) => Label} */
function besideNode(node, leads, limit, narrow) {
  const [full, weight] = LOOKS[node.group] ?? LOOKS.entity;
  const size = narrow ? ON_PHONE * full : full;
  const base = { node: node.id, lines: [cutTo(node.label, limit)], size, weight, step: LINE, tone: node.group };
  if (node.group === 'neighbour' && !node.named) return { ...base, x: node.x - 8, y: node.y, align: 'right' };
  if (node.group === 'neighbour') return { ...base, x: node.x, y: node.y + 16, align: 'center' };
  if (node.group === 'topic' && narrow) return { ...base, lines: wrapped(node.label), step: 18, x: node.x - 11, y: node.y + 24, align: 'left' };
  if (narrow && leads) base.lines = [cutTo(node.label, 13)];
  if (node.group === 'topic' || leads) return { ...base, x: node.x, y: node.y - (node.group === 'topic' ? 23 : 18), align: 'center' };
  return { ...base, x: node.x + 17, y: node.y, align: 'left' };
}

/**
 * Where the label of an edge may stand, the best first: along the edge, and then a little above or below it. The label of
 * a loop stands below the loop.
 * @type {(edge: PictureEdge, lines: string[], from: Point, to: Point) => Label[]}
 */
function onEdge(edge, lines, from, to) {
  const [size, weight] = ON_EDGE;
  const loop = edge.from === edge.to;
  return ASIDE.flatMap((aside) => PLACES.map((place, nth) => {
    const { x, y } = pointOn(edge, from, to, loop ? 0.5 : place);
    const down = loop ? nth * LINE : ((1 - lines.length) * LINE) / 2 + aside;
    return /** @type {Label} */ ({ edge: edge.id, lines, x, y: y + down, align: 'center', size, weight, step: LINE, tone: edge.kind });
  }));
}

/**
 * The relations of an edge, one a line; of very many the first, and how many more there are. The edge's title and the
 * table have them all.
 * @type {(text: string, limit: number, most: number) => string[]}
 */
function bundled(text, limit, most) {
  const lines = text.split('\n').filter(Boolean).map((line) => cutTo(line, limit));
  return lines.length > most ? [...lines.slice(0, most - 1), `+${lines.length - most + 1}`] : lines;
}

// curves ------------------------------------------------------------------------------------------

/**
 * A point of the curve that vis-network draws for an edge.
 * @param {PictureEdge} edge
 * @param {Point} from
 * @param {Point} to
 * @param {number} t 0 at the start, 1 at the end
 * @returns {Point}
 */
export function pointOn(edge, from, to, t) {
  const [c, d] = controls(edge, from, to);
  const u = 1 - t;
  /** @param {'x'|'y'} name */
  const mix = (name) => (d ? u ** 3 * from[name] + 3 * u * u * t * c[name] + 3 * u * t * t * d[name] + t ** 3 * to[name]
    : u * u * from[name] + 2 * u * t * c[name] + t * t * to[name]);
  return { x: mix('x'), y: mix('y') };
}

/**
 * Control points of an edge's Bézier curve: two of a curve that leaves and arrives level, two of a loop below its
 * node, one of a bent second edge between the same nodes.
 * @param {PictureEdge} edge
 * @param {Point} from
 * @param {Point} to
 * @returns {[Point]|[Point, Point]}
 */
export function controls(edge, from, to) {
  if (edge.from === edge.to) {
    const round = 18 + 12 * edge.bend; // radius of the circle that vis-network draws, see frame.js
    const y = from.y + (2 * round + 10) / 0.75;
    return [{ x: from.x - 1.6 * round, y }, { x: from.x + 1.6 * round, y }];
  }
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  if (!edge.bend) return [{ x: from.x + ROUND * dx, y: from.y }, { x: to.x - ROUND * dx, y: to.y }];
  const share = 0.14 * edge.bend + 0.5;
  const angle = Math.atan2(-dy, dx) + share * Math.PI;
  const far = share * Math.hypot(dx, dy);
  return [{ x: from.x + far * Math.sin(angle), y: from.y + far * Math.cos(angle) }];
}

// boxes -------------------------------------------------------------------------------------------

/**
 * The room that a label takes.
 * @param {Label} label
 * @param {Measure} [measure]
 * @returns {Box}
 */
export function labelBox({ lines, x, y, align, size, weight, step }, measure = textWidth) {
  const width = Math.max(...lines.map((line) => measure(line, `${weight} ${size}px ${FACE}`))) + 4;
  const left = { left: x, right: x - width, center: x - width / 2 }[align];
  return { left, right: left + width, top: y - size / 2 - 1, bottom: y + size / 2 + 1 + (lines.length - 1) * step };
}

/** @type {(a: Box, b: Box) => number} */
function overlap(a, b) {
  return Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) * Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
}

/** @type {(boxes: Box[]) => Box} */
function around(boxes) {
  /** @type {(side: keyof Box, pick: (...values: number[]) => number) => number} */
  const of = (side, pick) => pick(0, ...boxes.map((box) => box[side]));
  return { left: of('left', Math.min), right: of('right', Math.max), top: of('top', Math.min), bottom: of('bottom', Math.max) };
}

// names -------------------------------------------------------------------------------------------

/**
 * A name in up to three short lines.
 * @type {(name: string) => string[]}
 */
function wrapped(name) {
  const lines = [''];
  for (const word of name.split(' ')) {
    if (lines[lines.length - 1] && lines[lines.length - 1].length + word.length > 9) lines.push('');
    lines[lines.length - 1] = `${lines[lines.length - 1]} ${word}`.trim();
  }
  return lines.slice(0, 3).map((line) => cutTo(line, 12));
}

/** A name of several words in two lines of about the same length; null for one word. @type {(name: string) => string[]|null} */
function inTwo(name) {
  const words = name.split(' ');
  const broken = words.slice(1).map((_, i) => [words.slice(0, i + 1).join(' '), words.slice(i + 1).join(' ')]);
  const [best] = broken.sort((a, b) => Math.max(...a.map((line) => line.length)) - Math.max(...b.map((line) => line.length)));
  return best ? best.map((line) => cutTo(line, LINE_LENGTH)) : null;
}

/** @type {(words: string, limit: number) => string} */
function cutTo(words, limit) { return words.length > limit ? `${words.slice(0, limit - 1).trimEnd()}…` : words; }
