// The card of thoughts: rows of words with the tree, or graph, of how they follow from each other drawn beside them.

import { h, refill, say, svg } from './dom.js';
import { thoughtTree } from './thoughts.js';

const STEP = 20; // pixels a level is indented by
const NARROW = 11;
const FATES = ['kept', 'open', 'pruned', 'merged'];
const DECISIONS = 40; // the newest are shown

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
  let nodes = [];
  let shown = null; // the run that is shown

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
    if (player.over && shown !== player.run) { // without thoughts they are all there is to see
      shown = player.run;
      decisions.open = !state.thoughts.size;
    }
    decisions.hidden = !state.decisions.length;
    refill(count, state.decisions.length, () => say(words.decided, { n: state.decisions.length }));
    refill(list, [player.run, state.decisions.length], () => state.decisions.slice(-DECISIONS).map((one) => decision(one)));
  };

  function row(node) {
    const others = node.parents.filter((id) => id !== node.above);
    return h('li', { class: node.fate, 'data-thought': node.id, style: `--level:${node.level}`, keys: [...node.ids.map((id) => `t${id}`), ...node.entities.map((name) => `e:${name}`)] },
      mark(node.fate), h('div', {},
        h('p', { class: 'says' }, h('span', {}, arrows(node.text)), node.score ? h('span', { class: 'figure' }, node.score.toFixed(2).replace('-', '−')) : null),
        node.then.map((one) => h('p', { class: one.kind }, h('span', { class: 'sr-only' }, `${words.kinds[one.kind] ?? ''}: `), arrows(one.text))),
        h('p', { class: 'fate' }, h('span', { class: 'sr-only' }, say(words.level, { n: node.level + 1 }), ', '), h('b', {}, words.fates[node.fate] ?? node.fate), node.reason ? `: ${node.reason}` : '',
          others.length ? ` · ${say(words.joins, { list: node.parents.join(', ') })}` : '')));
  }

  function decision(one) {
    const said = one.options ? one.options.map((option, i) => [i ? ' · ' : '', h('span', { class: one.kept[i] ? 'yes' : 'no' }, arrows(option), ' ', h('small', {}, one.scores[i].toFixed(2)))])
      : [h('span', { class: one.holds ? 'yes' : 'no' }, one.statement), ' ', h('small', {}, one.holds ? words.holds : words.fails)];
    return h('li', {}, h('b', {}, words.names[one.decision] ?? one.decision ?? words.deduction), ' ', h('small', {}, say(words.by, { who: one.by })), h('p', {}, said));
  }

  /** Lines from every thought to those that follow from it; drawn from where the rows have come to stand. */
  function join() {
    if (!rows.isConnected || !rows.clientWidth) return;
    const step = rows.clientWidth < 420 ? NARROW : STEP;
    rows.style.setProperty('--step', `${step}px`);
    const place = new Map([...rows.children].map((item) => [Number(item.dataset.thought), item.offsetTop + 15]));
    const level = new Map(nodes.map((node) => [node.id, node.level]));
    const at = (id) => [8 + step * Math.min(level.get(id), 9), place.get(id)];
    lines.setAttribute('height', rows.scrollHeight);
    lines.setAttribute('width', 8 + step * 10 + 20);
    lines.replaceChildren(...nodes.flatMap((node) => node.parents.map((id) => {
      const [[x0, y0], [x1, y1]] = [at(id), at(node.id)];
      return id === node.above ? svg('path', { class: node.fate, d: `M${x0} ${y0 + 6}V${y1 - 6}q0 6 6 6H${x1 - 6}` })
        : svg('path', { class: 'join', d: `M${x0 + 5} ${y0 + 3}C${x0 + 26} ${y0 + 20} ${x1 + 26} ${y1 - 20} ${x1 + 5} ${y1 - 3}` });
    })));
  }
  new ResizeObserver(join).observe(rows);

  return { element, draw };
}

/** The sign of what became of a thought; the shapes differ, not only the colours. */
function mark(fate) {
  const shape = { kept: { d: 'M2 7a5 5 0 1 0 10 0a5 5 0 1 0-10 0' }, merged: { d: 'M7 1l6 6-6 6-6-6z' } }[fate] ?? { d: 'M2.5 7a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0' };
  return svg('svg', { class: `mark ${fate}`, viewBox: '0 0 14 14', width: 14, height: 14, 'aria-hidden': 'true' }, svg('path', shape), fate === 'pruned' ? svg('path', { d: 'M4.5 4.5l5 5m0-5l-5 5' }) : null);
}

function arrows(written) { return written.replaceAll(' -> ', ' → '); }
