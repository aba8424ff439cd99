// Draws the tree of beams and says, in a line below it, what the scores of the node in focus are.

import { h, refill, say, score, svg } from './dom.js';
import { middle, treeOf } from './tree.js';

const HIGH = 20;
const SCORE = 62; // room for the total score behind a leaf

const ruler = document.createElement('canvas').getContext('2d');
const measure = (text) => { ruler.font = '500 12.5px Inter, system-ui, sans-serif'; return ruler.measureText(text).width * 1.04; };

/**
 * @param {object} text
 * @param {string} title
 * @param {(beam: number) => void} follow what a click does
 */
export function makeTree(text, title, follow) {
  const words = text.tree;
  const canvas = h('div', { class: 'tree-scroll', tabindex: -1 });
  const detail = h('p', { class: 'note detail' });
  const pruned = h('input', { type: 'checkbox', checked: true, on: { change: () => redraw() } });
  const legend = h('div', { class: 'tree-legend' }, ['kept', 'finished', 'pruned'].map((fate) => h('span', { class: fate }, h('i', { 'aria-hidden': 'true' }), words[fate])),
    h('label', {}, pruned, words.show_pruned));
  const element = h('div', { class: 'tree' }, canvas, detail, legend);
  let nodes = [];
  let focused = null; // id of the node whose scores are shown
  let redraw = () => {};

  const draw = (branch, keysOf) => {
    redraw = () => draw(branch, keysOf);
    refill(canvas, [branch.steps.length, branch.beams.size, branch.paths.length, pruned.checked], () => {
      const had = canvas.contains(document.activeElement);
      const tree = treeOf(branch, measure, pruned.checked);
      nodes = tree.nodes;
      if (!nodes.some((node) => node.id === focused)) focused = null;
      if (had) queueMicrotask(() => at(focused)?.focus());
      return picture(tree, keysOf);
    });
    explain();
  };

  function picture({ nodes: all, width, height }, keysOf) {
    const first = focused ?? best()?.id;
    return svg('svg', { width: width + SCORE, height: height + 4, viewBox: `0 -2 ${width + SCORE} ${height + 4}`, role: 'tree', 'aria-label': say(words.label, { title }), on: { keydown: walk } },
      all.filter((node) => node.parent).map((node) => svg('path', { class: `edge ${node.fate}`, d: line(node.parent, node), keys: keysOf(node.ids, node.dead) })),
      all.map((node) => drawn(node, node.id === first, keysOf)));
  }

  function drawn(node, first, keysOf) {
    const y = middle(node);
    const look = () => { if (focused !== node.id) { focused = node.id; explain(); } };
    return svg('g', { class: `node ${node.fate}`, role: 'treeitem', 'aria-level': node.level, 'aria-label': spoken(node), tabindex: first ? 0 : -1, 'data-id': node.id, keys: keysOf(node.ids, node.dead),
      on: { focus: look, pointerenter: look, click: () => { at(node.id)?.focus(); if (!node.dead) follow(node.id); } } },
    svg('rect', { x: node.x, y: y - HIGH / 2, width: node.width, height: HIGH, rx: node.fate === 'finished' ? 3 : 10 }),
    svg('text', { x: node.x + 9, y: y + 4 }, node.label),
    node.last ? null : svg('text', { class: 'score', x: node.x + node.width + 8, y: y + 4 }, score(node.score)));
  }

  const at = (id) => canvas.querySelector(`[data-id="${id}"]`);
  const best = () => nodes.filter((node) => !node.last && !node.dead).sort((a, b) => b.score - a.score)[0] ?? nodes[0];
  const spoken = (node) => say(words.detail, { text: node.text, total: score(node.score), fate: words[node.fate] });

  function explain() {
    const node = nodes.find((one) => one.id === focused) ?? best();
    for (const element of canvas.querySelectorAll('.node')) {
      const here = Number(element.dataset.id) === node?.id;
      element.classList.toggle('here', here);
      element.setAttribute('tabindex', here ? 0 : -1);
    }
    refill(detail, [node?.id, node?.steps, node?.fate], () => (node ? [
      h('b', {}, words[node.fate]), ' · ', node.steps.slice(-8).map(([token, step], i) => [i ? ', ' : '', h('code', {}, token), ` ${score(step)}`]),
      node.dead ? '' : [' · ', say(words.total, { total: score(node.score) })]] : words.waiting));
  }

  /** Arrow keys: to the parent, the first child, the row above or below. */
  function walk(event) {
    const place = nodes.findIndex((node) => node.id === focused);
    const node = nodes[place];
    if (!node) return;
    const child = nodes.find((one) => one.parent === node);
    const goal = { ArrowLeft: node.parent, ArrowRight: child, ArrowUp: nodes[place - 1], ArrowDown: nodes[place + 1], Home: nodes[0], End: nodes.at(-1) };
    if (event.key in goal) at((goal[event.key] ?? node).id)?.focus();
    else if (event.key === 'Enter' || event.key === ' ') { if (!node.dead) follow(node.id); } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return { element, draw };
}

/** From the end of the parent to the start of the child. */
function line(parent, node) {
  const [x0, y0, x1, y1] = [parent.x + parent.width, middle(parent), node.x, middle(node)];
  return y0 === y1 ? `M${x0} ${y0}H${x1}` : `M${x0} ${y0}h5q5 0 5 5V${y1 - 5}q0 5 5 5H${x1}`;
}
