// Breaking the world: what an edge holds up. Once an edge is taken out, the question on screen and the recorded examples
// whose paths it is on are asked again; and the fewest edges whose removal changes the answer can be looked for.

import { h, refill, say } from '../core/dom.js';
import { stateAfter } from '../core/state.js';

/** @typedef {import('../core/types.js').RunState} RunState */
/** @typedef {import('../core/types.js').Edit} Edit */
/** @typedef {import('../core/types.js').PageText['breaking']} Words */
/** @typedef {[head: string, relation: string, tail: string]} Edge */
/** @typedef {{answers?: string[], text?: string, edges?: Edge[], error?: string}} Answer what a question asked again ended in */
/** @typedef {{cut: Edge[]|null, before: Answer, after: Answer|null, tried: number}} Found `cut` is null where none was found within the limit */
/** @typedef {{question: string, answers: string[], pairs: Set<string>, asked: import('../core/types.js').RunStarted}} Example a recorded answer, and the pairs of entities on its paths */

const MOST_RUNS = 14; // of a search for a cut

/**
 * Whether two answers are the same set.
 * @param {string[]|undefined} one
 * @param {string[]|undefined} other
 * @returns {boolean}
 */
export function sameAnswers(one = [], other = []) {
  const [a, b] = [new Set(one), new Set(other)];
  return a.size === b.size && [...a].every((name) => b.has(name));
}

/**
 * The fewest edges whose removal changes the answer: a hitting-set tree, breadth first. A cut that changes an answer
 * holds an edge of the paths that the answer rests on, so only these are tried, one after the other, then two and two.
 * @param {(cut: Edge[]) => Promise<Answer>} run asks the question without these edges
 * @param {number} limit runs, the first included
 * @param {(tried: number) => void} [told] called after each run
 * @returns {Promise<Found>}
 */
export async function smallestCut(run, limit, told = () => {}) {
  const before = await run([]);
  let tried = 1;
  told(tried);
  const level = [{ cut: /** @type {Edge[]} */ ([]), edges: before.error ? [] : before.edges ?? [] }];
  const seen = new Set();
  for (let node = level.shift(); node; node = level.shift()) {
    for (const edge of node.edges) {
      const cut = [...node.cut, edge];
      const key = cut.map((one) => one.join('\u0000')).sort().join('\u0001');
      if (seen.has(key)) continue;
      if (tried === limit) return { cut: null, before, after: null, tried };
      seen.add(key);
      const after = await run(cut);
      tried += 1;
      told(tried);
      if (!after.error && !sameAnswers(before.answers, after.answers)) return { cut, before, after, tried };
      if (!after.error) level.push({ cut, edges: after.edges ?? [] });
    }
  }
  return { cut: null, before, after: null, tried };
}

/** Two entities in either order. @type {(head: string, tail: string) => string} */
const pair = (head, tail) => [head, tail].sort().join('\u0000');

/**
 * A recorded answer.
 * @param {import('../core/types.js').RunEvent[]} events
 * @returns {Example|null}
 */
export function exampleOf(events) {
  const { run, final, constrained } = stateAfter(events);
  const pairs = new Set(constrained.paths.flatMap(({ path }) => path?.relations.map((_, i) => pair(path.entities[i], path.entities[i + 1])) ?? []));
  return run && final ? { question: run.question, answers: final.answers, pairs, asked: run } : null;
}

/**
 * The examples that may change where these edges are gone: one of them joins two entities on their paths.
 * @param {Example[]} examples
 * @param {Edge[]} gone
 * @returns {Example[]}
 */
export function touched(examples, gone) {
  return examples.filter(({ pairs }) => gone.some(([head, , tail]) => pairs.has(pair(head, tail))));
}

/**
 * The part of the card that tells what falls.
 * @param {import('../core/types.js').PageText} text
 * @param {object} page
 * @param {(asked: {question: string, values: object, changes: string, entities: string[]}) => Promise<Answer>} page.rerun
 * @param {() => import('../core/inputs.js').Values} page.values of the page's fields
 * @param {() => Promise<import('../core/types.js').RunEvent[][]>} page.recorded the recorded examples
 * @param {() => string} page.own the name of the visitor's own graph, empty for an embedded one
 * @param {(cut: Edge[]) => void} page.take takes edges out
 * @returns {{element: HTMLElement, draw: (state: RunState, edits: Edit[], over: boolean) => void}}
 */
export function makeBreaking(text, { rerun, values, recorded, own, take }) {
  const words = text.breaking;
  const button = h('button', { type: 'button', class: 'soft', on: { click: () => search() } }, words.search);
  const cutSaid = h('div', { class: 'cut-said', role: 'status' });
  const rows = h('tbody');
  const rest = h('p', { class: 'note' });
  const table = h('div', { class: 'falls', hidden: true }, h('h3', {}, words.falls), h('table', { class: 'plain-table' },
    h('thead', {}, h('tr', {}, [words.question, words.before, words.after].map((name) => h('th', { scope: 'col' }, name)))), rows), rest);
  const element = h('div', { class: 'breaking' }, h('div', {}, button), cutSaid, table);
  /** @type {RunState|null} */
  let state = null;
  /** @type {Edit[]} */
  let edits = [];
  let shown = ''; // what the table tells of
  let of = ''; // the run that the cut was looked for in
  /** @type {Promise<Example[]>|null} */
  let examples = null;

  /** @type {(asked: import('../core/types.js').RunStarted, changes: Edit[], entities: string[]) => Promise<Answer>} */
  const again = (asked, changes, entities) => rerun({ question: asked.question, entities, changes: JSON.stringify({ own: own(), edits: changes }),
    values: { ...values(), method: asked.method, beams: asked.beams, hops: asked.hops } }).catch(() => ({ error: words.failed }));
  const givenEntities = () => (state?.linked?.given ? state.linked.chosen : []);
  const removing = (/** @type {Edge[]} */ cut) => cut.map((edge) => /** @type {Edit} */ (['remove', ...edge]));

  async function search() {
    if (!state?.run || button.getAttribute('aria-disabled') === 'true') return;
    const { run } = state;
    button.setAttribute('aria-disabled', 'true');
    const based = edits;
    const found = await smallestCut((cut) => again(run, [...based, ...removing(cut)], givenEntities()), MOST_RUNS,
      (tried) => cutSaid.replaceChildren(h('p', { class: 'note' }, say(words.searching, { tried, most: MOST_RUNS }))));
    button.removeAttribute('aria-disabled');
    if (state?.run === run) cutSaid.replaceChildren(...told(found));
  }

  /** @type {(found: Found) => HTMLElement[]} */
  function told({ cut, before, after, tried }) {
    if (before.error) return [h('p', { class: 'failed' }, before.error)];
    if (!cut || !after) return [h('p', {}, say(before.edges?.length ? words.holds : words.nothing, { tried }))];
    return [h('p', {}, say(cut.length > 1 ? words.cuts : words.cut, { n: cut.length, tried })),
      h('ul', {}, cut.map((edge) => h('li', {}, h('b', {}, edge.join(' → '))))),
      h('p', {}, say(words.then, { before: listed(before, words), after: listed(after, words) })),
      h('button', { type: 'button', class: 'plain', on: { click: () => take(cut) } }, words.take)];
  }

  async function tell() {
    const key = shown;
    const [run, gone] = [state?.run, edits.flatMap(([kind, ...edge]) => (kind === 'remove' ? [edge] : []))];
    if (!run || !state) return;
    examples ??= recorded().then((all) => all.map(exampleOf).filter((one) => one !== null));
    const fitting = own() ? [] : (await examples).filter(({ asked }) => asked.graph === values().graph && asked.question !== run.question);
    const falling = touched(fitting, gone);
    /** @type {Example} */
    const here = { question: run.question, answers: state.final?.answers ?? [], pairs: new Set(), asked: run };
    if (key !== shown) return;
    const cells = [here, ...falling].map((one) => ({ one, cell: h('td', {}, words.asking) }));
    rows.replaceChildren(...cells.map(({ one, cell }) => h('tr', {}, h('th', { scope: 'row' }, one.question), h('td', {}, one.answers.join(', ') || words.none), cell)));
    rest.textContent = say(words.rest, { n: fitting.length - falling.length });
    rest.hidden = fitting.length === falling.length;
    for (const { one, cell } of cells) {
      const answer = await again(one.asked, edits, one === here ? givenEntities() : []);
      if (key !== shown) return;
      const same = !answer.error && sameAnswers(one.answers, answer.answers);
      cell.replaceChildren(answer.error ? h('span', { class: 'note' }, answer.error) : same ? words.same : h('b', { class: 'changed' }, listed(answer, words)));
    }
  }

  return { element, draw(stateNow, editsNow, over) {
    [state, edits] = [stateNow, editsNow];
    const run = stateNow.run;
    element.hidden = !run || !over || Boolean(run.forced?.length);
    if (element.hidden) return;
    if (of !== String(run?.question)) { of = String(run?.question); refill(cutSaid, of, () => null); cutSaid.replaceChildren(); }
    const key = JSON.stringify([run?.question, edits]);
    table.hidden = !edits.some(([kind]) => kind === 'remove');
    if (key === shown) return;
    shown = key;
    if (!table.hidden) tell();
  } };
}

/** @type {(answer: Answer, words: Words) => string} */
const listed = ({ answers }, words) => answers?.join(', ') || words.none;
