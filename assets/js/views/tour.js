// A guided tour of a recorded run: one idea at a time, with its place on the page marked, its formulas, and something
// to try.

import { closest, h, say } from '../core/dom.js';

/** @typedef {import('../core/types.js').RunEvent} RunEvent */
/** @typedef {keyof import('../core/types.js').PageText['tour']['steps']} StepName */

/**
 * A step: where it looks, the record up to which the run is shown (null: all of it), and the event on some element
 * that tells that the visitor has tried it.
 * @type {{name: StepName, at: string, until: ((event: RunEvent) => boolean)|null, act: [kind: string, selector: string]}[]}
 */
const STEPS = [
  { name: 'graph', at: '.card.graph', until: (event) => event.event === 'Picture', act: ['click', '.legend button'] },
  { name: 'linking', at: '.linking', until: (event) => event.event === 'Picture', act: ['click', '.chip .name'] },
  { name: 'step', at: '.card.grounded', until: (event) => event.event === 'DecodeStep' && event.constrained && event.choices.length > 4, act: ['click', '.transport button'] },
  { name: 'forbidden', at: '.card.allowed', until: null, act: ['pointerover', '.spark g'] },
  { name: 'contrast', at: '.card.invented', until: null, act: ['pointerover', '.card.invented .path'] },
  { name: 'verdict', at: '.card.graph', until: null, act: ['click', '.twin summary'] },
  { name: 'answer', at: '.card.answer', until: null, act: ['pointerover', '.answer .cite'] },
];

/**
 * What a step shows: its words, the place on the page that it is about, and the record up to which the run is shown
 * (null: all of it).
 * @typedef {{said: (Node|string)[], at: string, until: ((event: RunEvent) => boolean)|null}} Shown
 */

/**
 * A panel beside the run, for those who are led through it.
 * @param {import('../core/player.js').Player} player
 * @param {HTMLElement} board where the steps' places are
 * @param {string} label of the panel
 * @param {string} name its class
 * @returns {{panel: HTMLElement, show: (shown: Shown) => void, leave: () => void, open: (from: HTMLElement) => void, isOpen: () => boolean}}
 */
export function makePanel(player, board, label, name) {
  const panel = h('aside', { class: `led ${name}`, hidden: true, 'aria-label': label });
  /** @type {HTMLElement|null} what gets the focus back */
  let from = null;
  /** @type {Element|null} */
  let marked = null;

  /** @param {Shown} shown */
  function show({ said, at, until }) {
    const event = until ? player.events.findIndex(until) + 1 : player.events.length;
    const stop = player.stops.findIndex((one) => one >= event);
    player.seek(stop < 0 || !event ? player.stops.length : stop + 1);
    panel.replaceChildren(...said);
    panel.hidden = false;
    panel.scrollTop = 0;
    document.body.classList.add('kg-walking');
    mark(board.querySelector(at));
    panel.querySelector('h2')?.focus({ preventScroll: true });
  }

  /** @param {Element|null} element */
  function mark(element) {
    marked?.classList.remove('walked');
    marked = element;
    if (!element) return;
    element.classList.add('walked');
    // the page is drawn in the next frame; only after that has the element its final place
    requestAnimationFrame(() => requestAnimationFrame(() => element.scrollIntoView({ block: 'start', behavior: player.calm ? 'auto' : 'smooth' })));
  }

  function leave() {
    if (panel.hidden) return;
    mark(null);
    panel.hidden = true;
    document.body.classList.remove('kg-walking');
    from?.focus();
  }

  document.addEventListener('keydown', (event) => { if (event.key === 'Escape') leave(); });
  return { panel, show, leave, open: (element) => { from = element; }, isOpen: () => !panel.hidden };
}

/**
 * @param {import('../core/types.js').PageText} text
 * @param {import('../core/player.js').Player} player
 * @param {() => Promise<void>} begin puts the recorded run on the page
 * @param {HTMLElement} board where the steps' places are
 * @returns {{start: HTMLElement, panel: HTMLElement, leave: () => void}}
 */
export function makeTour(text, player, begin, board) {
  const words = text.tour;
  const { panel, show, leave, open, isOpen } = makePanel(player, board, words.title, 'tour');
  let place = 0;

  const start = h('button', { type: 'button', class: 'example walk', on: { click: async () => { await begin(); open(start); go(0); } } },
    h('span', { 'aria-hidden': 'true' }, '✦ '), words.start);

  /** @param {number} number */
  function go(number) {
    place = number;
    const step = STEPS[number];
    const said = words.steps[step.name];
    const last = number === STEPS.length - 1;
    show({ at: step.at, until: step.until, said: [
      h('p', { class: 'count' }, say(words.count, { i: number + 1, n: STEPS.length }), ' · ', said.source), h('h2', { tabindex: -1 }, said.title),
      h('p', {}, said.idea), formulas(step.name),
      'algorithm' in said ? h('ol', { class: 'algorithm' }, said.algorithm.map((line) => h('li', {}, line))) : '', h('p', { class: 'act' }, said.act),
      h('div', { class: 'softs' },
        number ? h('button', { type: 'button', class: 'soft', on: { click: () => go(number - 1) } }, words.back) : '',
        h('button', { type: 'button', class: 'primary', on: { click: () => (last ? leave() : go(number + 1)) } }, last ? words.end : words.next),
        h('button', { type: 'button', class: 'soft', on: { click: leave } }, words.leave))] });
  }

  /** @param {string} name of the step */
  function formulas(name) {
    const found = formulasOf(name);
    return found.length ? h('details', {}, h('summary', {}, words.formulas), ...found) : '';
  }

  for (const kind of ['click', 'pointerover', 'focusin']) {
    board.addEventListener(kind, (event) => {
      if (!isOpen()) return;
      const [wanted, selector] = STEPS[place].act;
      const same = wanted === kind || (wanted === 'pointerover' && kind === 'focusin');
      if (same && closest(event, selector)) panel.querySelector('.act')?.classList.add('done');
    });
  }
  return { start, panel, leave };
}

// formulas, as MathML; equation numbers of the text are those of the GCR paper (Luo et al., 2025) ---------------

const MATH = 'http://www.w3.org/1998/Math/MathML';

/** @type {(tag: string, ...children: (Element|string|(Element|string)[])[]) => Element} */
function m(tag, ...children) {
  const element = document.createElementNS(MATH, tag);
  for (const child of children.flat()) element.append(child);
  return element;
}

const i = (/** @type {string} */ name) => m('mi', name);
const o = (/** @type {string} */ operator) => m('mo', operator);
/** @type {(...parts: (Element|Element[])[]) => Element} */
const row = (...parts) => m('mrow', ...parts);
/** @type {(base: string, index: string|Element) => Element} */
const sub = (base, index) => m('msub', i(base), typeof index === 'string' ? i(index) : index);
const words = (/** @type {string} */ text) => m('mtext', text);
const comma = () => o(',');
const before = () => sub('w', row(o('<'), i('i')));
/** @type {(model: string, of: Element, given?: Element) => Element} */
const chance = (model, of, given) => row(sub('P', model), o('('), of, given ? [o('∣'), given] : [], o(')'));
const allowed = () => row(sub('C', 'G'), o('('), sub('w', 'i'), o('∣'), before(), o(')'));
/** @type {(index: string, ...of: Element[]) => Element} */
const product = (index, ...of) => row(m('munderover', o('∏'), row(i(index), o('='), m('mn', '1')), i(index === 'i' ? 'n' : 'K')), ...of);

/** @type {Record<string, () => Element[]>} */
const FORMULAS = {
  graph: () => [row(i('G'), o('⊆'), i('E'), o('×'), i('R'), o('×'), i('E'))],
  linking: () => [row(sub('E', 'q'), o('⊆'), i('E'))],
  step: () => [
    row(sub('W', 'z'), o('='), words('BFS'), o('('), i('G'), comma(), sub('E', 'q'), comma(), i('L'), o(')')),
    row(sub('T', 'z'), o('='), words('Tokenizer'), o('('), sub('W', 'z'), o(')')),
    row(sub('C', 'G'), o('='), words('Trie'), o('('), sub('T', 'z'), o(')')),
    row(chance('φ', row(i('a'), comma(), i('w')), i('q')), o('='), chance('φ', i('a'), row(i('q'), comma(), i('w')))),
    row(o('×'), product('i', chance('φ', sub('w', 'i'), row(i('q'), comma(), before())), allowed()))], // a line of its own, because one would be wider than the card
  forbidden: () => [
    row(allowed(), o('='), m('mn', '1'), words('\u00a0if a path starts so, else\u00a0'), m('mn', '0')),
    row(words('forbidden'), o('='), m('munder', o('∑'), row(i('w'), o(':'), sub('C', 'G'), o('='), m('mn', '0'))),
      chance('φ', i('w'), row(i('q'), comma(), before())))],
  contrast: () => [row(chance('θ', i('z'), i('q')), o('='), product('i', chance('θ', sub('z', 'i'), row(i('q'), comma(), sub('z', row(o('<'), i('i')))))))],
  answer: () => [row(sub('Z', 'K'), o('='), words('arg top-'), i('K'), chance('φ', row(i('a'), comma(), i('w')), i('q'))), row(chance('θ', i('A'), row(i('q'), comma(), sub('Z', 'K'))), o('≃'),
    product('k', chance('θ', i('A'), row(i('q'), comma(), m('msup', i('a'), i('k')), comma(), m('msup', i('w'), i('k'))))))],
};

/**
 * The formulas of a step; none where its stage is an algorithm in words.
 * @param {string} name
 * @returns {Element[]}
 */
function formulasOf(name) {
  return (FORMULAS[name]?.() ?? []).map((formula) => {
    const math = m('math', formula);
    math.setAttribute('display', 'block');
    return math;
  });
}
