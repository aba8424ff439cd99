// The honesty dial: how sure must it be to answer? Below the chosen share the answer is held back, and a curve of the
// development questions tells what that costs: how many questions stay answered, and how many of these answers are wrong.

import { h, percent, refill, say, svg } from '../core/dom.js';

/** @typedef {import('../core/types.js').RunState} RunState */
/** @typedef {import('../core/types.js').Reliability} Reliability */

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [320, 150, 34, 22]; // pixels of the curve

/**
 * How probable it is that the best path answers, as measured on the development questions.
 * @param {Reliability|null} reliability
 * @param {RunState} state
 * @returns {number|null} null where it was not measured for this model, graph or method
 */
export function calibrated(reliability, { run, answerability }) {
  if (!reliability || !answerability || run?.model !== 'embedded' || run.graph !== reliability.graph) return null;
  return 1 / (1 + Math.exp(-(reliability.slope * answerability.log_odds + reliability.intercept)));
}

/**
 * A share for people: nothing is surer than it has been measured.
 * @param {number} sure
 * @returns {string}
 */
export function sureWords(sure) {
  return sure > 0.99 ? '> 99 %' : percent(sure);
}

/** @typedef {{coverage: number, risk: number, given: number, wrong: number}} Place */

/**
 * What comes of answering only from some sureness on.
 * @param {[sure: number, right: number][]} points of the development questions
 * @param {number} least
 * @returns {Place}
 */
export function placeAt(points, least) {
  const given = points.filter(([sure]) => sure >= least);
  const wrong = given.filter(([, right]) => !right).length;
  return { given: given.length, wrong, coverage: points.length ? given.length / points.length : 0, risk: given.length ? wrong / given.length : 0 };
}

/**
 * The curve: one place for each sureness that occurs, the surest first.
 * @param {[sure: number, right: number][]} points
 * @returns {Place[]}
 */
export function curveOf(points) {
  return [...new Set(points.map(([sure]) => sure))].sort((a, b) => b - a).map((sure) => placeAt(points, sure));
}

/**
 * @param {import('../core/types.js').PageText} text
 * @param {Reliability|null} reliability
 * @param {() => void} turned called when the dial has been turned
 * @returns {{element: HTMLElement, draw: (state: RunState) => void, withheld: (state: RunState) => string|null}} `withheld`: why the
 *   answer is held back, null where it is not
 */
export function makeDial(text, reliability, turned) {
  const words = text.dial;
  const points = reliability?.points ?? [];
  let least = 0;
  const said = h('output', { for: 'kg-dial' });
  const slider = h('input', { type: 'range', id: 'kg-dial', min: 0, max: 99, step: 1, value: 0, on: { input: () => { least = Number(slider.value) / 100; turned(); } } });
  const picture = h('div', { class: 'curve' });
  const told = h('p', { class: 'note', role: 'status' });
  const element = h('details', { class: 'dial', hidden: true }, h('summary', {}, words.title),
    h('div', { class: 'row' }, h('label', { for: 'kg-dial' }, words.label), slider, said), picture, told);

  return {
    element,
    draw(state) {
      const sure = calibrated(reliability, state);
      element.hidden = sure === null;
      if (sure === null) return;
      const here = placeAt(points, least);
      slider.style.setProperty('--done', `${(100 * least) / 0.99}%`);
      refill(said, [least], () => [least ? percent(least) : words.always]);
      refill(picture, [least, sure], () => curve(points, here, placeAt(points, sure), words));
      refill(told, [least, sure], () => [say(words.told, { n: points.length, given: here.given, coverage: percent(here.coverage), wrong: here.wrong, risk: percent(here.risk) }), ' ',
        say(sure >= least ? words.answers : words.withholds, { sure: sureWords(sure), least: percent(least) })]);
    },
    withheld(state) {
      const sure = calibrated(reliability, state);
      return sure !== null && sure < least && state.final && !state.final.refusal ? say(words.withheld, { sure: sureWords(sure), least: percent(least) }) : null;
    },
  };
}

/** @type {(points: [number, number][], here: Place, question: Place, words: import('../core/types.js').PageText['dial']) => SVGElement} */
function curve(points, here, question, words) {
  const places = curveOf(points);
  const top = Math.max(0.1, ...places.map(({ risk }) => risk));
  const x = (/** @type {Place} */ { coverage }) => LEFT + coverage * (WIDTH - LEFT - 8);
  const y = (/** @type {Place} */ { risk }) => 8 + (1 - risk / top) * (HEIGHT - BOTTOM - 8);
  const label = say(words.curve, { here: percent(here.coverage), risk: percent(here.risk), question: percent(question.coverage) });
  return svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': label },
    svg('line', { x1: LEFT, x2: WIDTH - 8, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM, class: 'axis' }), svg('line', { x1: LEFT, x2: LEFT, y1: 8, y2: HEIGHT - BOTTOM, class: 'axis' }),
    svg('polyline', { points: places.map((place) => `${x(place).toFixed(1)},${y(place).toFixed(1)}`).join(' ') }),
    svg('line', { x1: x(here), x2: x(here), y1: 8, y2: HEIGHT - BOTTOM, class: 'here' }), svg('circle', { cx: x(here), cy: y(here), r: 5, class: 'here' }),
    svg('path', { d: `M${x(question)} ${y(question) - 6}l6 6l-6 6l-6 -6z`, class: 'question' }),
    svg('text', { x: WIDTH - 8, y: HEIGHT - 6, 'text-anchor': 'end' }, words.coverage), svg('text', { x: LEFT + 5, y: 14 }, say(words.risk, { top: percent(top) })));
}
