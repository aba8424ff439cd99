// The thoughts of a method that thinks in words: rows of text, with the tree or graph of how they follow from each
// other drawn beside them, and the decisions with what was turned down.

import { arrows, h, refill, say, svg, wordsFor } from '../core/dom.js';

/** @typedef {import('../core/types.js').Thought} Thought */
/** @typedef {import('../core/types.js').RunState} RunState */

/**
 * A thought with the actions and observations that follow from it, `then`.
 * @typedef {object} ThoughtNode
 * @property {number} id
 * @property {number[]} ids of all events told here
 * @property {number[]} parents ids of the thoughts it follows from
 * @property {number|null} above the parent that it stands below
 * @property {number} level 0 for the first thoughts
 * @property {string} text
 * @property {{kind: string, text: string}[]} then
 * @property {string} fate
 * @property {string} reason
 * @property {number} score
 * @property {string[]} entities
 */

/**
 * The tree or graph of thoughts in reading order: every node stands right below one of its parents.
 * @param {Map<number, Thought>} thoughts by id, in the order in which they were first told
 * @returns {ThoughtNode[]}
 */
export function thoughtTree(thoughts) {
  /** @type {Map<number, number>} id of an event -> id of the node that tells it */
  const home = new Map();
  /** @type {Map<number, ThoughtNode>} */
  const nodes = new Map();
  for (const event of thoughts.values()) {
    const parents = [...new Set(event.parents.map((id) => home.get(id)).filter((id) => id !== undefined))];
    const node = event.kind !== 'thought' && parents.length === 1 ? nodes.get(parents[0]) : undefined;
    if (node) {
      home.set(event.id, node.id);
      node.then.push({ kind: event.kind, text: event.text });
      node.entities.push(...event.entities);
      node.ids.push(event.id);
      continue;
    }
    home.set(event.id, event.id);
    nodes.set(event.id, { id: event.id, ids: [event.id], parents, above: parents.at(-1) ?? null, level: 0, text: event.text, then: [],
      fate: event.fate, reason: event.reason, score: event.score, entities: [...event.entities] });
  }
  return inOrder(nodes);
}

/**
 * @param {Map<number, ThoughtNode>} nodes
 * @returns {ThoughtNode[]}
 */
function inOrder(nodes) {
  /** @type {Map<number|null, ThoughtNode[]>} */
  const below = new Map();
  for (const node of nodes.values()) below.set(node.above, [...(below.get(node.above) ?? []), node]);
  const order = [];
  const stack = [...(below.get(null) ?? [])].reverse();
  for (let node = stack.pop(); node; node = stack.pop()) {
    const level = node.level + 1;
    order.push(node);
    stack.push(...(below.get(node.id) ?? []).map((child) => Object.assign(child, { level })).reverse());
  }
  return order;
}

// the card ----------------------------------------------------------------------------------------

const [INDENT, NARROW_INDENT] = [20, 11]; // pixels a level
const MAX_LEVEL = 9; // deeper thoughts are not indented further
const FATES = /** @type {const} */ (['kept', 'open', 'pruned', 'merged']);
const DECISIONS = 40; // the newest are shown

/**
 * @param {import('../core/types.js').PageText} text
 * @returns {import('../core/types.js').View}
 */
export function makeThoughts(text) {
  const words = text.thoughts;
  const rows = h('ol', { class: 'rows', 'aria-label': words.title });
  const lines = svg('svg', { class: 'lines', 'aria-hidden': 'true' });
  const scroll = h('div', { class: 'thought-scroll', tabindex: 0, role: 'region', 'aria-label': words.title }, h('div', { class: 'thought-tree' }, lines, rows));
  const legend = h('p', { class: 'thought-legend' }, FATES.map((fate) => h('span', { class: fate }, mark(fate), words.fates[fate])));
  const list = h('ol', { class: 'decisions' });
  const count = h('summary');
  const decisions = h('details', { class: 'twin' }, count, h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': words.decisions }, list));
  const note = h('p', { class: 'note' });
  const element = h('section', { class: 'card thoughts', hidden: true }, h('h2', {}, words.title), note, scroll, legend, decisions);
  /** @type {ThoughtNode[]} */
  let nodes = [];
  /** @type {string|null} the run whose end has been shown */
  let shown = null;

  /** @type {(state: RunState, player: import('../core/types.js').Player) => void} */
  const draw = (state, player) => {
    element.hidden = !state.thoughts.size && !state.decisions.length;
    if (element.hidden) return;
    refill(rows, [player.run, state.thoughts.size, [...state.thoughts.values()].map((one) => one.fate)], () => {
      nodes = thoughtTree(state.thoughts);
      const dropped = nodes.filter((node) => node.fate === 'pruned').length;
      note.textContent = say(words.note, { n: nodes.length, dropped });
      requestAnimationFrame(join);
      return nodes.map(row);
    });
    scroll.hidden = legend.hidden = note.hidden = !state.thoughts.size;
    if (player.over && shown !== player.run) {
      shown = player.run;
      decisions.open = !state.thoughts.size; // without thoughts the decisions are all there is to see
    }
    decisions.hidden = !state.decisions.length;
    refill(count, state.decisions.length, () => say(words.decided, { n: state.decisions.length }));
    refill(list, [player.run, state.decisions.length], () => state.decisions.slice(-DECISIONS).map(decision));
  };

  /** @param {ThoughtNode} node */
  function row(node) {
    const others = node.parents.filter((id) => id !== node.above);
    return h('li', { class: node.fate, 'data-thought': node.id, style: `--level:${node.level}`,
      keys: [...node.ids.map((id) => `t${id}`), ...node.entities.map((name) => `e:${name}`)] },
    mark(node.fate), h('div', {},
      h('p', { class: 'says' }, h('span', {}, arrows(node.text)), node.score ? h('span', { class: 'figure' }, node.score.toFixed(2).replace('-', '−')) : null),
      node.then.map((one) => h('p', { class: one.kind }, h('span', { class: 'sr-only' }, `${wordsFor(words.kinds, one.kind, '')}: `), arrows(one.text))),
      h('p', { class: 'fate' }, h('span', { class: 'sr-only' }, say(words.level, { n: node.level + 1 }), ', '), h('b', {}, wordsFor(words.fates, node.fate)),
        node.reason ? `: ${node.reason}` : '', others.length ? ` · ${say(words.joins, { list: node.parents.join(', ') })}` : '')));
  }

  /** @param {RunState['decisions'][number]} one */
  function decision(one) {
    const scored = one.event === 'CandidatesScored';
    const said = scored ? one.options.map((option, i) => [i ? ' · ' : '',
      h('span', { class: one.kept[i] ? 'yes' : 'no' }, arrows(option), ' ', h('small', {}, one.scores[i].toFixed(2)))])
      : [h('span', { class: one.holds ? 'yes' : 'no' }, one.statement), ' ', h('small', {}, one.holds ? words.holds : words.fails)];
    return h('li', {}, h('b', {}, scored ? wordsFor(words.names, one.decision) : words.deduction), ' ', h('small', {}, say(words.by, { who: one.by })), h('p', {}, said));
  }

  /** Draw a line from every thought to those that follow from it, at the places where the rows stand now. */
  function join() {
    if (!rows.isConnected || !rows.clientWidth) return;
    const indent = rows.clientWidth < 420 ? NARROW_INDENT : INDENT;
    rows.style.setProperty('--step', `${indent}px`);
    const items = /** @type {HTMLElement[]} */ ([...rows.children]);
    const place = new Map(items.map((item) => [Number(item.dataset.thought), item.offsetTop + 15]));
    const level = new Map(nodes.map((node) => [node.id, node.level]));
    const at = (/** @type {number} */ id) => [8 + indent * Math.min(level.get(id) ?? 0, MAX_LEVEL), place.get(id) ?? 0];
    lines.setAttribute('height', String(rows.scrollHeight));
    lines.setAttribute('width', String(8 + indent * (MAX_LEVEL + 1) + 20));
    lines.replaceChildren(...nodes.flatMap((node) => node.parents.map((id) => {
      const [[x0, y0], [x1, y1]] = [at(id), at(node.id)];
      return id === node.above ? svg('path', { class: node.fate, d: `M${x0} ${y0 + 6}V${y1 - 6}q0 6 6 6H${x1 - 6}` })
        : svg('path', { class: 'join', d: `M${x0 + 5} ${y0 + 3}C${x0 + 26} ${y0 + 20} ${x1 + 26} ${y1 - 20} ${x1 + 5} ${y1 - 3}` });
    })));
  }
  new ResizeObserver(join).observe(rows);

  return { element, draw };
}

/**
 * The sign of a thought's fate; the shapes differ, not only the colours.
 * @param {string} fate
 * @returns {SVGElement}
 */
function mark(fate) {
  const d = fate === 'kept' ? 'M2 7a5 5 0 1 0 10 0a5 5 0 1 0-10 0' : fate === 'merged' ? 'M7 1l6 6-6 6-6-6z' : 'M2.5 7a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0';
  return svg('svg', { class: `mark ${fate}`, viewBox: '0 0 14 14', width: 14, height: 14, 'aria-hidden': 'true' }, svg('path', { d }),
    fate === 'pruned' ? svg('path', { d: 'M4.5 4.5l5 5m0-5l-5 5' }) : null);
}
