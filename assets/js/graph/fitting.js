// How a picture fits the width it has, so that its letters keep their size: columns move together, and on a phone only
// the first paths are drawn until the visitor asks for all of it.

/** @typedef {import('../core/types.js').PictureNode} PictureNode */
/** @typedef {import('../core/types.js').PictureEdge} PictureEdge */
/** @typedef {{nodes: PictureNode[], edges: PictureEdge[]}} Picture */

const ROW = 46; // pixels between two rows, as the server places them
const [FEW_NODES, FEW_ROWS] = [14, 8]; // what a phone shows at first
const MANY_ROWS = 14; // with the neighbours that have no name: where there are more, they would make all letters small
const LAST = 1e6; // thoughts come after every path
/** @type {Record<string, number>} which of two paths of one number comes first: invented ones after those of the graph */
const BEHIND = { g: 0, x: 0.5, t: LAST };
const MARGIN = 24; // pixels around the outermost labels, see frame.js
const FRAMES = {
  wide: { left: 120, right: 170, least: 0.66, most: 1, rows: 1 },
  narrow: { left: 16, right: 104, least: 0.29, most: 0.5, rows: 0.9 },
};

/** What stands for the rest of the graph, not for anything that was found. @type {(node: PictureNode) => boolean} */
const around = ({ group, named }) => group === 'more' || (group === 'neighbour' && !named);

/**
 * The first paths of a large picture, as many as a phone has room for, with rows closed up; a small picture is left as it
 * is. What the visitor has added is kept.
 * @param {Picture} picture
 * @returns {Picture}
 */
export function firstPaths({ nodes, edges }) {
  const found = nodes.filter((node) => !around(node));
  const few = found.length <= FEW_NODES && rowsOf(found).length <= FEW_ROWS;
  if (few && rowsOf(nodes).length <= MANY_ROWS) return { nodes, edges };
  const at = new Map(nodes.map((node) => [node.id, node]));
  let chosen = new Set(nodes.filter((node) => node.group === 'topic' || node.named).map(({ id }) => id));
  const most = Math.max(FEW_NODES, chosen.size);
  for (const key of inOrder(edges)) {
    const more = new Set([...chosen, ...edges.filter(({ paths }) => paths.includes(key)).flatMap(({ from, to }) => [from, to])]);
    if (more.size > most || rowsOf([...more].map((id) => at.get(id))).length > FEW_ROWS) break;
    chosen = more;
  }
  const shown = nodes.filter(({ id }) => chosen.has(id));
  const heights = closedUp(shown);
  return {
    nodes: shown.map((node) => ({ ...node, y: heights.get(node.y) ?? node.y })),
    edges: edges.filter(({ from, to }) => chosen.has(from) && chosen.has(to)),
  };
}

/**
 * Where the rows of a picture stand once the empty ones are taken out: one below the other, and with room for the name
 * below a topic if the next row begins with a topic too.
 * @param {PictureNode[]} nodes
 * @returns {Map<number, number>}
 */
function closedUp(nodes) {
  const topics = new Set(nodes.filter(({ group }) => group === 'topic').map(({ y }) => y));
  let y = -ROW;
  let above = false;
  return new Map(rowsOf(nodes).map((row) => {
    y += above && topics.has(row) ? 2 * ROW : ROW;
    above = topics.has(row);
    return [row, y];
  }));
}

/** The keys of all paths of a picture: what was computed with, as it was drawn, then the first path first. @type {(edges: PictureEdge[]) => string[]} */
function inOrder(edges) {
  const place = (/** @type {string} */ key) => (key[0] === 'o' ? 0 : Number(key.slice(1)) + (BEHIND[key[0]] ?? LAST));
  return [...new Set(edges.flatMap(({ paths }) => paths))].sort((a, b) => place(a) - place(b));
}

/** Heights at which there are nodes, from top to bottom. @type {(nodes: (PictureNode|undefined)[]) => number[]} */
const rowsOf = (nodes) => [...new Set(nodes.flatMap((node) => (node ? [node.y] : [])))].sort((a, b) => a - b);

/**
 * The nodes of a picture, its columns as near to each other as the width asks for, so that letters need not be made
 * smaller. On a phone rows are nearer too, and most neighbours have no name.
 * @param {PictureNode[]} nodes
 * @param {number} width pixels
 * @param {boolean} narrow for a phone
 * @returns {PictureNode[]}
 */
export function fitted(nodes, width, narrow) {
  const { left, right, least, most, rows } = FRAMES[narrow ? 'narrow' : 'wide'];
  const across = nodes.map(({ x }) => x);
  const span = Math.max(...across) - Math.min(...across);
  const closer = Math.min(most, Math.max(least, (width - MARGIN - left - right) / (span || 1)));
  return nodes.map((node) => ({ ...node, x: Math.round(node.x * closer), y: Math.round(node.y * rows), mute: narrow && node.group === 'neighbour' && !node.named }));
}
