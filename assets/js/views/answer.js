// The answer: a sentence with citations, two marks (does it exist, does it answer), the calculation behind it, and what
// it cost; and what can be asked next.

import { arrows, figure, h, percent, refill, say, wholeAt } from '../core/dom.js';
import { pathKey, verifiedCount } from '../core/state.js';
import { term, withTerms } from '../core/terms.js';
import { makeCalculation } from './calculation.js';
import { calibrated, makeDial, sureWords } from './dial.js';
import { writtenSoFar } from './paths.js';
import { sentencesOf } from './sentence.js';

/** @typedef {import('../core/types.js').PageText} PageText */
/** @typedef {import('../core/types.js').RunState} RunState */
/** @typedef {import('../core/types.js').FoundPath} FoundPath */
/** @typedef {import('../core/types.js').View} View */
/** @typedef {import('../core/dom.js').Child} Child */

const PROOFS = 8; // cited paths listed below the answer
const MONEY_DIGITS = 4;
const NAMES = 12; // listed of what was read from the graph besides, and in a sentence before the rest is asked for

/**
 * The card.
 * @param {import('../core/types.js').Boot} boot
 * @param {PageText} text
 * @param {HTMLElement} versus the control that asks another method, shown below the answer
 * @param {(state: RunState) => string} status what is being done now, in words
 * @param {(relation: string) => void} reveal shows what the graph knows of a relation
 * @param {() => void} turned called when the honesty dial has been turned
 * @returns {View & {reasons: HTMLElement|null}} `reasons`: what the answer rests on, where it does not stand in the card
 */
export function makeAnswer(boot, text, versus, status, reveal, turned) {
  const words = text.answer;
  const body = h('div', { class: 'text', 'aria-live': 'polite' });
  const clip = makeClip(body, words);
  const marks = h('dl', { class: 'marks' });
  const proof = h('ol', { class: 'proof', 'aria-label': words.proof });
  const foot = h('div', { class: 'by' });
  const calculation = makeCalculation(text);
  const hole = h('p', { class: 'hole' });
  const dial = makeDial(text, boot.reliability, turned);
  const narrow = innerWidth <= 760; // on a phone the picture comes before the reasons
  const why = h('details', { class: 'why', open: !narrow }, h('summary', {}, words.why), narrow ? calculation.element : null, proof, dial.element, foot, versus);
  let all = false;
  /** @type {import('../core/types.js').AnswerFinal|null} */
  let shown = null;
  let redraw = () => {};

  /** @param {RunState} state */
  const draw = (state) => {
    redraw = () => draw(state);
    const { final, finished } = state;
    const { paths } = state.constrained;
    if (final !== shown) { [shown, all] = [final, false]; clip.close(); }
    element.hidden = Boolean(state.failed) && !state.answer;
    dial.draw(state);
    const held = dial.withheld(state);
    const missing = final?.refusal ? state.answerability?.missing : '';
    hole.hidden = !missing;
    refill(hole, missing, () => (missing ? h('button', { type: 'button', class: 'plain', on: { click: () => reveal(missing) } }, say(words.hole, { relation: missing })) : null));
    refill(body, [state.answer, final, all, paths.length, held, state.answer ? '' : [status(state), state.constrained.steps.length], final ? null : [state.spent, state.waiting]], () => [
      held ? h('div', { class: 'says refusal' }, h('p', {}, held)) : state.answer ? h('div', { class: final?.refusal ? 'says refusal' : 'says' }, said(state)) : h('div', { class: 'doing' }, h('p', {}, status(state)), h('p', { class: 'so-far', 'aria-hidden': 'true' }, writtenSoFar(state.constrained, text))),
      !final && boot.chat && (state.spent.calls || state.waiting) ? h('p', { class: 'note spent' }, spentSoFar(state, boot.budget, words)) : null,
      ...misplaced(final, words).map((said) => h('p', { class: 'note misplaced' }, said)),
      final?.completed.length ? h('p', { class: 'note' }, say(words.completed, { list: shortList(final.completed, words) })) : null,
    ]);
    const facts = final ? markFacts(state, calibrated(boot.reliability, state), words) : null;
    refill(marks, facts, () => facts && ['exists', 'answers'].map((name) => {
      const fact = facts[/** @type {'exists'|'answers'} */ (name)];
      return h('div', { class: `mark ${name} ${fact.kind}` }, h('dt', {}, term(words.marks[/** @type {'exists'|'answers'} */ (name)], fact.why)),
        h('dd', {}, fact.says, fact.share === null ? null : h('i', { class: 'share', 'aria-hidden': 'true', style: `--share: ${Math.round(100 * fact.share)}%` })));
    }));
    calculation.draw(state);
    why.hidden = !final;
    refill(proof, [final?.citations, paths.map((path) => path.text)], () => {
      const numbers = new Set(final?.citations.flat() ?? []);
      const cited = paths.filter((path) => numbers.has(path.index));
      return [...cited.slice(0, PROOFS).map((path) =>
        h('li', { keys: [pathKey(path)] }, h('span', { class: 'number' }, path.index), h('span', {}, arrows(path.text)))),
      cited.length > PROOFS ? h('li', { class: 'note' }, say(words.proofs_more, { n: cited.length - PROOFS })) : null];
    });
    refill(foot, [final, finished, paths.length], () => (final ? [
      h('p', {}, state.operation ? words.computed : boot.chat ? say(words.by, { who: final.by }) : withTerms(final.refusal && !paths.length ? words.refused : words.alone, { 'large language model': words.connect })),
      paths.length || state.unconstrained.paths.length ? h('p', {}, words.faithful, ' ', paths.length ? ratio(state.constrained, words.with) : null,
        paths.length && state.unconstrained.paths.length ? ', ' : null, state.unconstrained.paths.length ? ratio(state.unconstrained, words.without) : null, '.') : null,
      finished ? h('p', {}, say(words.cost, { seconds: figure(finished.seconds, 1), tokens: figure(finished.tokens_out), calls: finished.lm_calls }),
        state.spent.cost ? [' · ', figure(state.spent.cost, MONEY_DIGITS)] : null) : null,
    ] : []));
  };

  /**
   * The answer as sentences where it is a list of paths' ends; else as it was written.
   * @param {RunState} state
   * @returns {Child}
   */
  function said({ answer, final, constrained }) {
    const sentences = final && sentencesOf(final, constrained.paths);
    if (!sentences) return h('p', {}, cited(answer, final?.answers ?? [], words));
    return sentences.map(({ lead, answers }) => {
      const names = all ? answers : answers.slice(0, NAMES);
      const rest = answers.length - names.length;
      const last = names.length - 1;
      return h('p', {}, lead, ' ', names.map(({ name, cites }, i) => [
        i ? (i === last && !rest ? words.and : ' ') : null, h('strong', { keys: [`e:${name}`] }, name),
        h('span', { class: 'together' }, cites.map((n) => citation(n, words)), i < (rest ? last : last - 1) ? ',' : i === last && !rest ? '.' : null)]),
      rest ? [' ', h('button', { type: 'button', class: 'plain', on: { click: () => { all = true; redraw(); } } }, say(words.more, { n: rest }))] : null);
    });
  }

  const element = h('section', { class: 'card answer' }, h('h2', {}, words.title), body, clip.control, hole, marks, narrow ? null : [calculation.element, why]);
  return { element, draw, reasons: narrow ? h('section', { class: 'card answer reasons' }, why) : null };
}

/**
 * Keeps a long text from pushing what follows it out of the first screen: `body` is cut off where the style sheet gives
 * it a greatest height, which it does on a phone, until the visitor wants all of it.
 * @param {HTMLElement} body
 * @param {PageText['answer']} words
 * @returns {{control: HTMLElement, close: () => void}} `control` shows all, or less again; `close` shows less
 */
function makeClip(body, words) {
  /** @type {(element: Element|null) => number} */
  const bottom = (element) => element?.getBoundingClientRect().bottom ?? 0;
  const control = h('button', { type: 'button', class: 'plain clip', hidden: true, on: { click: () => set(!body.classList.contains('whole')) } });
  /** @param {boolean} whole */
  function set(whole) {
    body.classList.toggle('whole', whole);
    control.textContent = whole ? words.less : words.all;
    look();
  }
  function look() {
    const whole = body.classList.contains('whole');
    const cut = bottom(body.lastElementChild) > bottom(body) + 1;
    body.classList.toggle('cut', cut && !whole);
    control.hidden = !cut && !whole;
  }
  body.addEventListener('focusin', ({ target }) => { // what the keyboard has reached is seen
    if (bottom(/** @type {Element} */ (target)) > bottom(body)) set(true);
  });
  new MutationObserver(look).observe(body, { childList: true, subtree: true, characterData: true });
  new ResizeObserver(look).observe(body);
  set(false);
  return { control, close: () => set(false) };
}

/**
 * What language models have cost so far, beside what they may cost.
 * @type {(state: RunState, budget: import('../core/types.js').Budget|undefined, words: PageText['answer']) => string}
 */
function spentSoFar({ spent, waiting }, budget, words) {
  /** @type {(value: number, limit: number|undefined, digits?: number) => string} */
  const of = (value, limit, digits = 0) => (limit ? say(words.of, { n: figure(value, digits), limit: figure(limit, digits) }) : figure(value, digits));
  const parts = [say(words.spent, { calls: of(spent.calls, budget?.calls), tokens: of(spent.tokens, budget?.tokens) })];
  if (spent.cost) parts.push(say(words.money, { money: of(spent.cost, budget?.money, MONEY_DIGITS) }));
  if (waiting) parts.push(say(words.waiting, { who: waiting.by, seconds: figure(waiting.seconds) }));
  return parts.join(' · ');
}

/** @type {(names: string[], words: PageText['answer']) => string} */
function shortList(names, words) {
  return names.length > NAMES ? `${names.slice(0, NAMES).join(', ')} ${say(words.more, { n: names.length - NAMES })}` : names.join(', ');
}

/**
 * What is to be said of answers that are not on the paths they cite.
 * @type {(final: import('../core/types.js').AnswerFinal|null|undefined, words: PageText['answer']) => string[]}
 */
function misplaced(final, words) {
  const places = /** @type {Record<string, string>} */ (words.places);
  return (final?.places ?? []).flatMap((place, i) => (places[place] && final ? [say(places[place], { name: final.answers[i] })] : []));
}

/** @type {(branch: import('../core/types.js').Branch, sentence: string) => HTMLElement} */
function ratio(branch, sentence) {
  return h('b', {}, say(sentence, { ok: verifiedCount(branch).ok, n: branch.paths.length }));
}

// the two marks: that a path is in the graph says nothing about whether it answers ------------------

/** @typedef {{says: string, kind: string, why: string, share: number|null}} Fact */

/**
 * What the two marks say of an answer.
 * @param {RunState} state
 * @param {number|null} odds how probable it is that the best path answers, where that was measured
 * @param {PageText['answer']} words
 * @returns {{exists: Fact, answers: Fact}}
 */
function markFacts({ final, operation, constrained, unconstrained }, odds, words) {
  const { says } = words.marks;
  const numbers = new Set(final?.citations.flat() ?? []);
  const cited = constrained.paths.filter((path) => numbers.has(path.index));
  const shown = cited.length ? cited : constrained.paths;
  const ok = shown.filter((path) => path.verdict?.faithful).length;
  /** @type {(sentence: string, kind: string, slots?: object, share?: number|null) => Fact} */
  const fact = (sentence, kind, slots = {}, share = null) => ({ says: say(sentence, { ...slots }), kind, why: words.marks.why, share });
  const stated = operation && !cited.length;
  const operands = operation ? operation.operands.length + operation.left_out : 0;
  const exists = stated ? fact(operands === 1 ? says.stated_one : says.stated, 'yes', { n: figure(operands) })
    : shown.length ? fact(!cited.length ? says.found : cited.length === 1 && ok ? says.cited_one : says.cited, ok === shown.length ? 'yes' : 'no', { ok, n: shown.length })
      : fact(unconstrained.paths.length ? says.ungrounded : says.nothing, 'unknown');
  if (final?.refusal || !final?.answers.length) return { exists, answers: fact(says.refused, 'unknown') };
  if (operation) return { exists, answers: fact(operation.verified ? says.computed : says.unchecked, 'yes') };
  if (odds !== null) return { exists, answers: { ...fact(says.sure, 'measured', { share: sureWords(odds) }, odds), why: words.marks.measured } };
  const sure = surenessOf(cited);
  return { exists, answers: sure === null ? fact(says.unmeasured, 'unknown') : fact(says.alone, 'measured', { share: percent(sure) }, sure) };
}

/**
 * How probable the model finds the relations of the cited paths, before the graph forbade any others.
 * @param {FoundPath[]} cited
 * @returns {number|null} null where the method measures none
 */
export function surenessOf(cited) {
  const scores = cited.map((path) => path.relation_score ?? 0).filter((score) => score < 0);
  return scores.length ? Math.exp(Math.max(...scores)) : null;
}

// the text ----------------------------------------------------------------------------------------

/** @type {(n: number|string, words: PageText['answer']) => HTMLElement} */
function citation(n, words) {
  return h('button', { type: 'button', class: 'cite', 'aria-label': say(words.cite, { n }), keys: [`g${n}`] }, n);
}

/**
 * The answer's words. A citation `[3]` becomes a button that lights up path 3; the answers themselves are emphasised.
 * @type {(answer: string, answers: string[], words: PageText['answer']) => Child[]}
 */
function cited(answer, answers, words) {
  const longestFirst = [...new Set(answers)].sort((a, b) => b.length - a.length);
  return answer.split(/(\[\d+(?:,\s*\d+)*\])/).flatMap((part) => {
    const numbers = /^\[\d/.test(part) ? part.match(/\d+/g) : null;
    return numbers ? numbers.map((n) => citation(n, words)) : emphasised(arrows(part), longestFirst);
  });
}

/** @type {(part: string, names: string[]) => Child[]} */
function emphasised(part, names) {
  const name = names.find((one) => wholeAt(part, one) >= 0);
  if (!name) return [part];
  const place = wholeAt(part, name);
  return [...emphasised(part.slice(0, place), names), h('strong', { keys: [`e:${name}`] }, name), ...emphasised(part.slice(place + name.length), names)];
}

// what can be asked next --------------------------------------------------------------------------

/**
 * Questions that the graph can answer, below every answer and every refusal.
 * @param {PageText} text
 * @param {(question: string) => void} ask
 * @returns {View}
 */
export function makeNext(text, ask) {
  const words = text.answer;
  const list = h('ul', {});
  const element = h('nav', { class: 'next-questions', 'aria-label': words.next, hidden: true }, h('h2', {}, words.next), list);
  return { element, draw: ({ next }) => {
    element.hidden = !next.length;
    refill(list, next, () => next.map((question) => h('li', {}, h('button', { type: 'button', class: 'soft', on: { click: () => ask(question) } }, question))));
  } };
}
