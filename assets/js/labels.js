// Where the names stand in the picture: beside their nodes, and on the edges where they touch nothing else.
// The canvas of the page and the files are both drawn from this, so that they look alike.

const FACE = 'Inter, system-ui, sans-serif';
const LOOKS = { topic: [16, 650], end: [15, 600], entity: [14, 600], ghost: [14, 400], stray: [14, 400], looked: [12.5, 400], dropped: [12.5, 400], neighbour: [11.5, 400], more: [12, 400] };
const ON_EDGE = [12, 400];
const LINE = 14; // pixels from one line of an edge's label to the next
const PLACES = [0.5, 0.44, 0.56, 0.38, 0.62, 0.68, 0.32, 0.74, 0.26, 0.8]; // along the edge, the best first
export const ROUND = 0.35; // how far the curves run level before they turn

const ruler = document.createElement('canvas').getContext('2d');
function widthOf(words, [size, weight]) {
  ruler.font = `${weight} ${size}px ${FACE}`;
  return ruler.measureText(words).width;
}

/**
 * Labels `{node, edge, lines, step, x, y, align, size, weight, tone}` (y is the middle of the first line) and the box of it all.
 * @param {object[]} nodes with x and y
 * @param {object[]} edges
 * @param {boolean} narrow for a phone: names are cut short and the topic's stands below it
 */
export function placeLabels(nodes, edges, narrow = false) {
  const most = narrow ? 18 : 40;
  const at = new Map(nodes.map((node) => [node.id, node]));
  const onward = (edge) => (at.has(edge.from) && at.has(edge.to) && at.get(edge.to).x < at.get(edge.from).x ? edge.to : edge.from);
  const leads = new Set(edges.filter((edge) => edge.kind !== 'neighbour').map(onward)); // something is drawn to the right of them
  const labels = nodes.filter((node) => node.group !== 'more' && !node.mute).map((node) => besideNode(node, leads.has(node.id), most, narrow));
  const taken = [...labels.map(boxOf), ...nodes.map((node) => ({ left: node.x - 8, right: node.x + 8, top: node.y - 8, bottom: node.y + 8 }))];
  for (const edge of edges) {
    if (!edge.label || edge.kind === 'neighbour' || !at.has(edge.from) || !at.has(edge.to)) continue;
    const label = onEdge(edge, at.get(edge.from), at.get(edge.to), most, taken);
    labels.push(label);
    taken.push(boxOf(label));
  }
  return { labels, box: around(taken) };
}

function besideNode(node, leads, most, narrow) {
  const [size, weight] = LOOKS[node.group] ?? LOOKS.entity;
  const base = { node: node.id, lines: [cutTo(node.label, most)], size, weight, step: LINE, tone: node.group };
  if (node.group === 'neighbour' && !node.named) return { ...base, x: node.x - 8, y: node.y, align: 'right' };
  if (node.group === 'neighbour') return { ...base, x: node.x, y: node.y + 14, align: 'center' };
  if (node.group === 'topic' && narrow) return { ...base, lines: wrapped(node.label), step: 18, x: node.x - 11, y: node.y + 24, align: 'left' };
  if (narrow && leads) base.lines = [cutTo(node.label, 13)];
  if (node.group === 'topic' || leads) return { ...base, x: node.x, y: node.y - (node.group === 'topic' ? 23 : 18), align: 'center' };
  return { ...base, x: node.x + 17, y: node.y, align: 'left' };
}

/** A label on its edge (of a loop, below it), at the first place where it covers nothing, else where it covers least. */
function onEdge(edge, from, to, most, taken) {
  const lines = edge.label.split('\n').filter(Boolean).map((line) => cutTo(line, most));
  const [size, weight] = ON_EDGE;
  let best = null;
  const loop = edge.from === edge.to;
  for (const [nth, place] of PLACES.entries()) {
    const { x, y } = pointOn(edge, from, to, loop ? 0.5 : place);
    const down = loop ? nth * LINE : ((1 - lines.length) * LINE) / 2; // in a loop there is no room, below it there is
    const label = { edge: edge.id, lines, x, y: y + down, align: 'center', size, weight, step: LINE, tone: edge.kind };
    const box = boxOf(label);
    const covered = taken.reduce((sum, other) => sum + overlap(box, other), 0);
    if (!best || covered < best.covered) best = { label, covered };
    if (!covered) break;
  }
  return best.label;
}

/** A point of the curve that vis-network draws for an edge. */
export function pointOn(edge, from, to, t) {
  const c = controls(edge, from, to);
  const u = 1 - t;
  if (c.length === 1) return { x: u * u * from.x + 2 * u * t * c[0].x + t * t * to.x, y: u * u * from.y + 2 * u * t * c[0].y + t * t * to.y };
  const mix = (name) => u ** 3 * from[name] + 3 * u * u * t * c[0][name] + 3 * u * t * t * c[1][name] + t ** 3 * to[name];
  return { x: mix('x'), y: mix('y') };
}

/** Control points of an edge: two of a curve that leaves and arrives level or hangs below its one node, one of a bent second edge. */
export function controls(edge, from, to) {
  if (edge.from === edge.to) {
    const round = 18 + 12 * edge.bend; // radius of the circle that vis-network draws, see frame.js
    return [-1, 1].map((side) => ({ x: from.x + side * 1.6 * round, y: from.y + (2 * round + 10) / 0.75 }));
  }
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  if (!edge.bend) return [{ x: from.x + ROUND * dx, y: from.y }, { x: to.x - ROUND * dx, y: to.y }];
  const share = 0.14 * edge.bend + 0.5;
  const angle = Math.atan2(-dy, dx) + share * Math.PI;
  const far = share * Math.hypot(dx, dy);
  return [{ x: from.x + far * Math.sin(angle), y: from.y + far * Math.cos(angle) }];
}

/** The room a label takes. */
export function boxOf({ lines, x, y, align, size, weight, step }) {
  const width = Math.max(...lines.map((line) => widthOf(line, [size, weight]))) + 4;
  const left = { left: x, right: x - width, center: x - width / 2 }[align];
  return { left, right: left + width, top: y - size / 2 - 1, bottom: y + size / 2 + 1 + (lines.length - 1) * step };
}

function overlap(a, b) {
  return Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) * Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
}

function around(boxes) {
  const of = (side, pick) => pick(0, ...boxes.map((box) => box[side]));
  return boxes.length ? { left: of('left', Math.min), right: of('right', Math.max), top: of('top', Math.min), bottom: of('bottom', Math.max) } : { left: 0, right: 0, top: 0, bottom: 0 };
}

/** A name in up to three short lines. */
function wrapped(name) {
  const lines = [''];
  for (const word of name.split(' ')) {
    if (lines.at(-1) && lines.at(-1).length + word.length > 9) lines.push('');
    lines[lines.length - 1] = `${lines.at(-1)} ${word}`.trim();
  }
  return lines.slice(0, 3).map((line) => cutTo(line, 12));
}

function cutTo(words, most) { return words.length > most ? `${words.slice(0, most - 1).trimEnd()}…` : words; }
