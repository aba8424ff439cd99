// The beams of one branch as a tree: first its layout, then its drawing. Below the tree a line tells the scores of
// the node in focus.

import { h, refill, say, score, svg, textWidth } from '../core/dom.js';

/** @typedef {import('../core/types.js').Branch} Branch */
/** @typedef {import('../core/types.js').Beam} Beam */

// layout ------------------------------------------------------------------------------------------

const ROW = 27; // pixels from one row to the next
const GAP = 26; // pixels between a node and its children
const PADDING = 9;
const LABEL_LENGTH = 40; // characters of a node's label; the line below the tree tells the whole text
const NAMED = 3; // dropped tokens that one leaf names

/**
 * A node: a chain of beams without branching, or the dropped children of one beam.
 * @typedef {object} TreeNode
 * @property {number} id
 * @property {number[]} ids the beams that became this node
 * @property {'kept'|'finished'|'pruned'} fate
 * @property {string} text
 * @property {string} label the text, shortened
 * @property {boolean} dead whether the node was dropped, with all that follows
 * @property {number} score
 * @property {[token: string, logProb: number][]} steps
 * @property {TreeNode|null} parent
 * @property {TreeNode|null} last the child placed last
 * @property {number} level 1 at the root
 * @property {number} row
 * @property {number} x
 * @property {number} width
 */

/** @typedef {{on: Beam[], off: Beam[]}} Children those that lead on and those that were dropped */

/**
 * Lay the tree out: chains become one node, lines that were dropped become one leaf.
 * @param {Branch} branch
 * @param {(text: string) => number} measure a label's width in pixels
 * @param {boolean} pruned whether dropped beams are shown
 * @returns {{nodes: TreeNode[], width: number, height: number}} nodes in reading order; sizes in pixels
 */
export function treeOf(branch, measure, pruned) {
  const children = childrenOf(branch);
  const alive = survivors(branch);
  /** @type {TreeNode[]} */
  const nodes = [];
  let row = -1;

  /** @type {(beams: Beam[], parent: TreeNode|null, ownRow?: number) => TreeNode} */
  function place(beams, parent, ownRow) {
    const content = contentOf(beams, alive);
    const node = {
      ...content, parent, last: null, level: parent ? parent.level + 1 : 1,
      x: parent ? parent.x + parent.width + GAP : 0, width: Math.ceil(measure(content.label)) + 2 * PADDING,
      row: ownRow ?? (parent && parent.last === null ? parent.row : (row += 1)),
    };
    if (parent) parent.last = node;
    nodes.push(node);
    return node;
  }

  /** @type {(beam: Beam, parent: TreeNode|null, ownRow?: number) => void} */
  function grow(beam, parent, ownRow) {
    const chain = [beam];
    let next = splitChildren(beam, children, alive);
    while (next.on.length === 1 && !(pruned && next.off.length)) {
      chain.push(next.on[0]);
      next = splitChildren(next.on[0], children, alive);
    }
    spread(next, place(chain, parent, ownRow));
  }

  /**
   * Children stand below one another; the dropped ones stand right below the node that they left.
   * @type {(children: Children, node: TreeNode|null) => void}
   */
  function spread({ on, off }, node) {
    const first = node ? node.row : (row += 1);
    const dropped = pruned && off.length ? (row += 1) : null;
    on.forEach((child, i) => grow(child, node, !node && i === 0 ? first : undefined));
    if (dropped !== null) place(off, node, dropped);
  }

  spread(splitChildren(/** @type {Beam} */ (branch.beams.get(0)), children, alive), null);
  return { nodes, width: Math.max(0, ...nodes.map((node) => node.x + node.width)), height: (row + 1) * ROW };
}

/**
 * @param {Branch} branch
 * @returns {Map<number|null, Beam[]>}
 */
function childrenOf(branch) {
  const children = new Map();
  for (const beam of branch.beams.values()) {
    if (beam.id === 0) continue;
    if (!children.has(beam.parent)) children.set(beam.parent, []);
    children.get(beam.parent).push(beam);
  }
  return children;
}

/**
 * Ids of the beams that a finished beam or a beam of the newest step continues.
 * @param {Branch} branch
 * @returns {Set<number>}
 */
function survivors(branch) {
  const alive = new Set([0]);
  const ends = [...(branch.steps.at(-1)?.kept ?? []), ...branch.steps.flatMap((step) => step.finished)];
  for (const end of ends) {
    for (let id = end; id && !alive.has(id); id = branch.beams.get(id)?.parent ?? 0) alive.add(id);
  }
  return alive;
}

/**
 * Children of a beam, best first.
 * @param {Beam} beam
 * @param {Map<number|null, Beam[]>} children
 * @param {Set<number>} alive
 * @returns {Children}
 */
function splitChildren(beam, children, alive) {
  const all = [...(children.get(beam.id) ?? [])].sort((a, b) => b.score - a.score);
  return { on: all.filter((one) => alive.has(one.id)), off: all.filter((one) => !alive.has(one.id)) };
}

/**
 * What a node says.
 * @param {Beam[]} beams a chain, or the dropped children of one beam
 * @param {Set<number>} alive
 * @returns {Pick<TreeNode, 'id'|'ids'|'fate'|'text'|'label'|'dead'|'score'|'steps'>}
 */
function contentOf(beams, alive) {
  const [start, end] = [beams[0], beams[beams.length - 1]];
  const dead = !alive.has(start.id);
  const tokens = beams.map((beam) => beam.text.trim());
  const text = dead ? tokens.slice(0, NAMED).join(' · ') + (tokens.length > NAMED ? ` +${tokens.length - NAMED}` : '')
    : beams.map((beam) => beam.text).join('').trim();
  const shown = dead ? start : end;
  return {
    id: shown.id, ids: beams.map((beam) => beam.id), fate: dead ? 'pruned' : end.fate === 'f' ? 'finished' : 'kept', text,
    label: shortened(text), dead, score: shown.score, steps: beams.map((beam) => [beam.text.trim(), beam.logProb]),
  };
}

/** @param {string} text */
function shortened(text) {
  const plain = text.replace(/\s*<\/PATH>$/, '').replaceAll('->', '→') || '→';
  return plain.length > LABEL_LENGTH ? `… ${plain.slice(2 - LABEL_LENGTH).replace(/^\S+ /, '')}` : plain;
}

// drawing -----------------------------------------------------------------------------------------

const HEIGHT = 20; // of a node
const SCORE_WIDTH = 62; // room for the total score behind a leaf

/** @param {string} label */
const measure = (label) => textWidth(label, '500 12.5px Inter, system-ui, sans-serif') * 1.04;

/** @typedef {(ids: number[], dead: boolean) => string[]|null} KeysOf keys for hovering, of a node's beams */

/**
 * @param {import('../core/types.js').PageText} text
 * @param {string} title of the branch
 * @param {(beam: number) => void} follow what a click on a node does
 * @returns {{element: HTMLElement, draw: (branch: Branch, keysOf: KeysOf) => void}}
 */
export function makeBeamTree(text, title, follow) {
  const words = text.tree;
  const canvas = h('div', { class: 'tree-scroll', tabindex: -1 });
  const detail = h('p', { class: 'note detail' });
  const pruned = h('input', { type: 'checkbox', checked: true, on: { change: () => redraw() } });
  const fates = /** @type {const} */ (['kept', 'finished', 'pruned']);
  const legend = h('div', { class: 'tree-legend' }, fates.map((fate) => h('span', { class: fate }, h('i', { 'aria-hidden': 'true' }), words[fate])),
    h('label', {}, pruned, words.show_pruned));
  const element = h('div', { class: 'tree' }, canvas, detail, legend);
  /** @type {TreeNode[]} */
  let nodes = [];
  /** @type {number|null} id of the node whose scores are shown */
  let focused = null;
  let redraw = () => {};

  /** @type {(branch: Branch, keysOf: KeysOf) => void} */
  const draw = (branch, keysOf) => {
    redraw = () => draw(branch, keysOf);
    refill(canvas, [branch.steps.length, branch.beams.size, branch.paths.length, pruned.checked], () => {
      const hadFocus = canvas.contains(document.activeElement);
      const tree = treeOf(branch, measure, pruned.checked);
      nodes = tree.nodes;
      if (!nodes.some((node) => node.id === focused)) focused = null;
      if (hadFocus) queueMicrotask(() => drawnAt(focused)?.focus());
      return picture(tree, keysOf);
    });
    explain();
  };

  /** @type {(tree: ReturnType<typeof treeOf>, keysOf: KeysOf) => SVGElement} */
  function picture({ nodes: all, width, height }, keysOf) {
    const first = focused ?? best()?.id;
    return svg('svg', { width: width + SCORE_WIDTH, height: height + 4, viewBox: `0 -2 ${width + SCORE_WIDTH} ${height + 4}`, role: 'tree',
      'aria-label': say(words.label, { title }), on: { keydown: walk } },
    all.map((node) => (node.parent ? svg('path', { class: `edge ${node.fate}`, d: lineTo(node, node.parent), keys: keysOf(node.ids, node.dead) }) : null)),
    all.map((node) => drawn(node, node.id === first, keysOf)));
  }

  /** @type {(node: TreeNode, first: boolean, keysOf: KeysOf) => SVGElement} */
  function drawn(node, first, keysOf) {
    const y = middle(node);
    const look = () => { if (focused !== node.id) { focused = node.id; explain(); } };
    return svg('g', { class: `node ${node.fate}`, role: 'treeitem', 'aria-level': node.level, 'aria-label': spoken(node), tabindex: first ? 0 : -1,
      'data-id': node.id, keys: keysOf(node.ids, node.dead),
      on: { focus: look, pointerenter: look, click: () => { drawnAt(node.id)?.focus(); if (!node.dead) follow(node.id); } } },
    svg('rect', { x: node.x, y: y - HEIGHT / 2, width: node.width, height: HEIGHT, rx: node.fate === 'finished' ? 3 : 10 }),
    svg('text', { x: node.x + 9, y: y + 4 }, node.label),
    node.last ? null : svg('text', { class: 'score', x: node.x + node.width + 8, y: y + 4 }, score(node.score)));
  }

  /** @type {(id: number|null|undefined) => SVGElement|null} */
  const drawnAt = (id) => canvas.querySelector(`[data-id="${id}"]`);
  const best = () => nodes.filter((node) => !node.last && !node.dead).sort((a, b) => b.score - a.score)[0] ?? nodes.at(0);
  const spoken = (/** @type {TreeNode} */ node) => say(words.detail, { text: node.text, total: score(node.score), fate: words[node.fate] });

  function explain() {
    const node = nodes.find((one) => one.id === focused) ?? best();
    for (const shown of /** @type {NodeListOf<SVGElement>} */ (canvas.querySelectorAll('.node'))) {
      const here = Number(shown.dataset.id) === node?.id;
      shown.classList.toggle('here', here);
      shown.setAttribute('tabindex', here ? '0' : '-1');
    }
    refill(detail, [node?.id, node?.steps, node?.fate], () => (node ? [
      h('b', {}, words[node.fate]), ' · ', node.steps.slice(-8).map(([token, logProb], i) => [i ? ', ' : '', h('code', {}, token), ` ${score(logProb)}`]),
      node.dead ? '' : [' · ', say(words.total, { total: score(node.score) })]] : words.waiting));
  }

  /**
   * Arrow keys go to the parent, the first child, and the rows above and below.
   * @param {KeyboardEvent} event
   */
  function walk(event) {
    const place = nodes.findIndex((node) => node.id === focused);
    const node = nodes.at(place);
    if (place < 0 || !node) return;
    /** @type {Record<string, TreeNode|null|undefined>} */
    const goals = { ArrowLeft: node.parent, ArrowRight: nodes.find((one) => one.parent === node), ArrowUp: nodes[place - 1], ArrowDown: nodes[place + 1],
      Home: nodes[0], End: nodes.at(-1) };
    if (event.key in goals) drawnAt((goals[event.key] ?? node).id)?.focus();
    else if (event.key === 'Enter' || event.key === ' ') { if (!node.dead) follow(node.id); } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return { element, draw };
}

/** @param {TreeNode} node */
function middle(node) { return node.row * ROW + ROW / 2; }

/**
 * A line from the end of the parent to the start of the child.
 * @param {TreeNode} node
 * @param {TreeNode} parent
 */
function lineTo(node, parent) {
  const [x0, y0, x1, y1] = [parent.x + parent.width, middle(parent), node.x, middle(node)];
  return y0 === y1 ? `M${x0} ${y0}H${x1}` : `M${x0} ${y0}h5q5 0 5 5V${y1 - 5}q0 5 5 5H${x1}`;
}
