// A question before and after a change of the graph, as a small table.

import { figure, h, refill } from './dom.js';

const SHOWN = 5;

export function makeCompared(words) {
  const element = h('div', { class: 'compared' });

  const draw = (before, after) => {
    element.hidden = !after.edits.length || !after.summary;
    if (element.hidden) return;
    const [old, now] = [before?.summary, after.summary];
    refill(element, [old, now], () => (old ? table(old, now) : h('p', { class: 'note' }, words.alone)));
  };

  function table(old, now) {
    const row = (name, one, other) => h('tr', { role: 'row' }, h('th', { scope: 'row', role: 'rowheader' }, name), h('td', { role: 'cell' }, one), h('td', { role: 'cell' }, other));
    return h('table', { role: 'table', 'aria-label': words.compared },
      h('thead', {}, h('tr', { role: 'row' }, h('td', {}), h('th', { scope: 'col', role: 'columnheader' }, words.before), h('th', { scope: 'col', role: 'columnheader' }, words.after))),
      h('tbody', {}, row(words.triples, figure(old.triples), figure(now.triples)), row(words.trie, figure(old.trie), figure(now.trie)),
        row(words.paths, paths(old.paths, now.paths, 'gone'), paths(now.paths, old.paths, 'new')),
        row(words.answer, old.answer || words.none, now.answer || words.none)));
  }

  /** The first paths; those that the other side lacks are marked, and said to be so. */
  function paths(mine, others, mark) {
    if (!mine.length) return words.none;
    return h('ol', {}, mine.slice(0, SHOWN).map((path) => (others.includes(path) ? h('li', {}, arrows(path))
      : h('li', { class: mark }, h('span', {}, arrows(path)), ' ', h('small', {}, words[mark])))));
  }

  return { element, draw };
}

function arrows(path) { return path.replaceAll(' -> ', ' → '); }
