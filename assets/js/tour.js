// A walk through a recorded run: one idea at a time, its place on the page marked, something to do, then on.

import { h, say } from './dom.js';
import { formulasOf } from './formulas.js';

// where each step looks, the moment of the run it shows, and what the visitor does there
const STEPS = [
  { name: 'graph', at: '.card.graph', until: (event) => event.event === 'Picture', act: ['click', '.legend button'] },
  { name: 'linking', at: '.linking', until: (event) => event.event === 'Picture', act: ['click', '.chip .name'] },
  { name: 'trie', at: '.rail', until: (event) => event.event === 'ConstraintReady', act: ['click', '.transport button'] },
  { name: 'step', at: '.card.grounded', until: (event) => event.event === 'DecodeStep' && event.constrained && event.choices.length > 4, act: ['click', '.transport button'] },
  { name: 'forbidden', at: '.card.allowed', until: null, act: ['pointerover', '.spark g'] },
  { name: 'contrast', at: '.card.invented', until: null, act: ['pointerover', '.card.invented .path'] },
  { name: 'verdict', at: '.card.graph', until: null, act: ['click', '.twin summary'] },
  { name: 'several', at: '.card.grounded', until: null, act: ['click', '.card.grounded button'] },
  { name: 'answer', at: '.card.answer', until: null, act: ['pointerover', '.answer .cite'] },
];

/**
 * @param {object} text
 * @param {import('./player.js').Player} player
 * @param {() => Promise<void>} begin puts the recorded run on the page
 * @param {HTMLElement} board where the steps' places are
 */
export function makeTour(text, player, begin, board) {
  const words = text.tour;
  const panel = h('aside', { class: 'tour', hidden: true, 'aria-label': words.title });
  let place = -1;
  let from = null; // what had the focus before
  let marked = null;

  const start = h('button', { type: 'button', class: 'example walk', on: { click: async () => { from = start; await begin(); go(0); } } }, h('span', { 'aria-hidden': 'true' }, '✦ '), words.start);

  function go(number) {
    place = number;
    const step = STEPS[number];
    const { [step.name]: said } = words.steps;
    moveTo(step);
    const heading = h('h2', { tabindex: -1 }, said.title);
    const done = h('p', { class: 'act' }, said.act);
    const last = number === STEPS.length - 1;
    panel.replaceChildren(
      h('p', { class: 'count' }, say(words.count, { i: number + 1, n: STEPS.length }), ' · ', said.source), heading,
      h('p', {}, said.idea), ...formulasOf(step.name), said.algorithm ? h('ol', { class: 'algorithm' }, said.algorithm.map((line) => h('li', {}, line))) : '', done,
      h('div', { class: 'softs' },
        number ? h('button', { type: 'button', class: 'soft', on: { click: () => go(number - 1) } }, words.back) : '',
        h('button', { type: 'button', class: 'primary', on: { click: () => (last ? leave() : go(number + 1)) } }, last ? words.end : words.next),
        h('button', { type: 'button', class: 'soft', on: { click: leave } }, words.leave)));
    panel.hidden = false;
    document.body.classList.add('kg-walking');
    mark(board.querySelector(step.at));
    heading.focus({ preventScroll: true });
  }

  /** The moment of the run that a step is about. */
  function moveTo(step) {
    const event = step.until ? player.events.findIndex(step.until) + 1 : player.events.length;
    const stop = player.stops.findIndex((one) => one >= event);
    player.seek(stop < 0 ? player.stops.length : stop + 1);
  }

  function mark(element) {
    marked?.classList.remove('walked');
    marked = element;
    if (!element) return;
    element.classList.add('walked');
    // the page is drawn in the next frame, and only then is the place where it will stay
    requestAnimationFrame(() => requestAnimationFrame(() => element.scrollIntoView({ block: 'start', behavior: player.calm ? 'auto' : 'smooth' })));
  }

  function leave() {
    if (place < 0) return;
    place = -1;
    mark(null);
    panel.hidden = true;
    document.body.classList.remove('kg-walking');
    from?.focus();
  }

  document.addEventListener('keydown', (event) => { if (event.key === 'Escape') leave(); });
  for (const kind of ['click', 'pointerover', 'focusin']) {
    board.addEventListener(kind, (event) => {
      const act = STEPS[place]?.act;
      const same = act && (act[0] === kind || (act[0] === 'pointerover' && kind === 'focusin'));
      if (same && event.target.closest?.(act[1])) panel.querySelector('.act')?.classList.add('done');
    });
  }
  return { start, panel, leave };
}
