// The x-ray of the graph that is asked: its themes, kinds and hubs, and each relation with how many of the things that
// could have it do have it. What is missing there is a hole, through which no path leads.

import { figure, h, percent, refill, say } from '../core/dom.js';

/** @typedef {{relation: string, facts: number, kind: string, known: number, of: number}} Relation */
/**
 * What the server counts, see kgdemo/kg/xray.py.
 * @typedef {{name: string, triples: number, entities: number, kinds: [string, number][], hubs: [string, number][],
 *   themes: Record<string, number>, relations: Relation[], left_out: number, error?: string}} Told
 */

const SHOWN = 12;

/**
 * The relations in an order, those whose name holds what was typed.
 * @param {Relation[]} relations most facts first
 * @param {'facts'|'holes'} order `holes`: those that are missing for most things first
 * @param {string} written
 * @returns {Relation[]}
 */
export function relationsShown(relations, order, written) {
  const wanted = written.trim().toLowerCase();
  const found = relations.filter(({ relation, kind }) => !wanted || relation.toLowerCase().includes(wanted) || kind.toLowerCase() === wanted);
  return order === 'facts' ? found : [...found].sort((a, b) => (b.of - b.known) - (a.of - a.known));
}

/**
 * @param {import('../core/types.js').PageText} text
 * @param {() => Promise<Told>} load asks the server about the graph that is asked now
 * @returns {{element: HTMLDetailsElement, changed: () => void, reveal: (relation: string) => Promise<void>}} `changed`: another
 *   graph is asked; `reveal` opens the card at a relation
 */
export function makeXray(text, load) {
  const words = text.xray;
  const said = h('p', { class: 'note', role: 'status' });
  const lists = h('div', { class: 'lists' });
  const find = h('input', { type: 'search', class: 'find', 'aria-label': words.find, placeholder: words.find, on: { input: () => draw() } });
  const rows = h('tbody');
  const more = h('div', {});
  /** @type {'facts'|'holes'} */
  let order = 'facts';
  let all = false;
  /** @type {Told|null} */
  let told = null;
  let asked = 0;

  const orders = h('div', { class: 'choice', role: 'group', 'aria-label': words.order }, /** @type {const} */ (['facts', 'holes']).map((name) =>
    h('button', { type: 'button', 'aria-pressed': String(name === order), on: { click: () => { order = name; draw(); } } }, words.orders[name])));
  const table = h('table', { class: 'plain-table relations' }, h('thead', {}, h('tr', {}, [words.relation, words.facts, words.known].map((name) => h('th', { scope: 'col' }, name)))), rows);
  const body = h('div', { class: 'rays', hidden: true }, lists, h('div', { class: 'row' }, find, orders), table, more);
  const element = h('details', { class: 'card fold xray', on: { toggle: () => { if (element.open && !told) fetchIt(); } } },
    h('summary', {}, h('h2', {}, words.title)), said, body);

  async function fetchIt() {
    const mine = asked += 1;
    said.textContent = words.loading;
    element.classList.add('counting');
    const answer = await load().catch(() => null);
    if (mine !== asked) return;
    element.classList.remove('counting');
    if (!answer || answer.error) {
      said.textContent = answer?.error || words.failed;
      return;
    }
    told = answer;
    said.textContent = say(words.counts, { name: told.name, triples: figure(told.triples), entities: figure(told.entities), relations: figure(told.relations.length + told.left_out) });
    body.hidden = false;
    draw();
  }

  function draw() {
    if (!told) return;
    const { themes, kinds, hubs, relations } = told;
    refill(lists, [told.name, told.triples], () => [
      list(words.themes, Object.entries(themes).sort((a, b) => b[1] - a[1])),
      list(words.kinds, kinds), list(words.hubs, hubs)]);
    for (const button of orders.children) button.setAttribute('aria-pressed', String(button.textContent === words.orders[order]));
    const found = relationsShown(relations, order, find.value);
    const shown = found.slice(0, all ? Infinity : SHOWN);
    refill(rows, [told.name, told.triples, shown], () => shown.map(row));
    refill(more, [found.length, all], () => (found.length > SHOWN ? h('button', { type: 'button', class: 'plain', 'aria-expanded': String(all),
      on: { click: () => { all = !all; draw(); } } }, all ? text.beams.fewer : say(text.beams.more, { n: found.length - SHOWN })) : found.length ? null : words.none));
  }

  /** @type {(one: Relation) => HTMLElement} */
  function row({ relation, facts, kind, known, of }) {
    const share = of ? known / of : 0;
    return h('tr', {}, h('th', { scope: 'row' }, relation), h('td', {}, figure(facts)),
      h('td', { class: share < 1 ? 'hole' : '' }, say(kind ? words.of_kind : words.of_all, { known: figure(known), of: figure(of), kind }), ' ',
        h('small', {}, percent(share)), h('i', { class: 'share', 'aria-hidden': 'true', style: `--share: ${(100 * share).toFixed(1)}%` })));
  }

  return {
    element,
    changed() {
      told = null;
      asked += 1;
      body.hidden = true;
      if (element.open) fetchIt();
    },
    async reveal(relation) {
      find.value = relation;
      order = 'facts';
      if (told) draw(); else await fetchIt();
      element.open = true;
      element.scrollIntoView({ block: 'start' });
      find.focus({ preventScroll: true });
    },
  };
}

/** @type {(title: string, counted: [name: string, n: number][]) => HTMLElement|null} */
function list(title, counted) {
  return counted.length ? h('div', {}, h('h3', {}, title), h('ul', {}, counted.map(([name, n]) => h('li', {}, name, ' ', h('small', {}, figure(n)))))) : null;
}
