// The answer: in full, with citations, cost and the model that wrote it; and in one line right below the question,
// where a visitor with a phone looks first.

import { arrows, figure, h, refill, say } from '../core/dom.js';
import { pathKey, verifiedCount } from '../core/state.js';

/** @typedef {import('../core/types.js').PageText} PageText */
/** @typedef {import('../core/types.js').RunState} RunState */
/** @typedef {import('../core/types.js').Player} Player */
/** @typedef {import('../core/types.js').View} View */
/** @typedef {import('../core/dom.js').Child} Child */

const BRIEF_LENGTH = 220; // characters
const PROOFS = 8; // cited paths listed below the answer
const COMPLETED = 12; // names listed

/**
 * The card.
 * @param {import('../core/types.js').Boot} boot
 * @param {PageText} text
 * @param {HTMLElement} versus the control that asks another method, shown below the answer
 * @returns {View}
 */
export function makeAnswer(boot, text, versus) {
  const words = text.answer;
  const note = h('p', { class: 'note' });
  const body = h('div', { class: 'text', 'aria-live': 'polite' });
  const proof = h('ol', { class: 'proof', 'aria-label': words.proof });
  const foot = h('div', { class: 'by' });

  /** @param {RunState} state */
  const draw = (state) => {
    const { final, finished } = state;
    const { paths } = state.constrained;
    const { ok } = verifiedCount(state.constrained); // fewer than all only where a broken decoder was recorded
    note.textContent = state.answer ? say(ok < paths.length ? words.from_some : words.from, { n: paths.length, ok }) : words.waiting;
    refill(body, [state.answer, final], () => [
      h('p', { class: final?.refusal ? 'refusal' : '' }, state.answer ? cited(state.answer, final?.answers ?? [], words) : ''),
      final?.completed.length ? h('p', { class: 'note' }, say(words.completed, { list: shortList(final.completed, words) })) : null,
    ]);
    refill(proof, [final?.citations, paths.length], () => {
      const numbers = new Set(final?.citations.flat() ?? []);
      return paths.filter((path) => numbers.has(path.index)).slice(0, PROOFS).map((path) =>
        h('li', { keys: [pathKey(path)] }, h('span', { class: 'number' }, path.index), h('span', {}, arrows(path.text))));
    });
    refill(foot, [final, finished], () => (final ? [
      h('p', {}, say(words.by, { who: final.by }), ' ', boot.chat ? null : words.connect),
      h('p', {}, words.faithful, ' ', ratio(state.constrained, words.with, 'yes'),
        state.unconstrained.paths.length ? [', ', ratio(state.unconstrained, words.without, 'no')] : null, '.'),
      finished ? h('p', {}, say(words.cost, { seconds: figure(finished.seconds, 1), tokens: figure(finished.tokens_out), calls: finished.lm_calls })) : null,
    ] : []));
  };
  return { element: h('section', { class: 'card answer' }, h('h2', {}, words.title), note, body, proof, foot, versus), draw };
}

/** @type {(names: string[], words: PageText['answer']) => string} */
function shortList(names, words) {
  return names.length > COMPLETED ? `${names.slice(0, COMPLETED).join(', ')} ${say(words.more, { n: names.length - COMPLETED })}` : names.join(', ');
}

/** @type {(branch: import('../core/types.js').Branch, sentence: string, kind: string) => HTMLElement} */
function ratio(branch, sentence, kind) {
  return h('b', { class: kind }, say(sentence, { ok: verifiedCount(branch).ok, n: branch.paths.length }));
}

// the line below the question ---------------------------------------------------------------------

/**
 * The answer in one line; until there is one, what is being done.
 * @param {PageText} text
 * @param {(state: RunState) => string} status what is being done now, in words
 * @returns {View}
 */
export function makeBrief(text, status) {
  const words = text.answer;
  const element = h('section', { class: 'brief', 'aria-label': words.brief, hidden: true });

  /** @type {(state: RunState, player: Player) => void} */
  const draw = (state, player) => {
    const { final } = state;
    element.hidden = !state.run || Boolean(state.failed);
    if (element.hidden) return;
    const [ours, theirs] = [verifiedCount(state.constrained), verifiedCount(state.unconstrained)];
    refill(element, [final, final ? '' : status(state), ours, theirs, player.run], () => {
      if (!final) return h('p', { class: 'doing' }, status(state));
      const answer = final.text.length > BRIEF_LENGTH ? `${final.text.slice(0, BRIEF_LENGTH).replace(/\s*(\[[^\]]*)?$/, '')} …` : final.text;
      return [
        h('p', { class: final.refusal ? 'says refusal' : 'says' }, cited(answer, final.answers, words)),
        h('p', { class: 'proofs' }, ours.n || theirs.n ? `${words.faithful} ` : null, ours.n ? h('b', { class: 'yes' }, say(words.with, ours)) : null,
          ours.n && theirs.n ? ' · ' : '', theirs.n ? h('b', { class: 'no' }, say(words.without, theirs)) : null)];
    });
  };
  return { element, draw };
}

// the text ----------------------------------------------------------------------------------------

/**
 * The answer's words. A citation `[3]` becomes a button that lights up path 3; the answers themselves are emphasised.
 * @type {(answer: string, answers: string[], words: PageText['answer']) => Child[]}
 */
function cited(answer, answers, words) {
  const longestFirst = [...new Set(answers)].sort((a, b) => b.length - a.length);
  return answer.split(/(\[\d+(?:,\s*\d+)*\])/).flatMap((part) => {
    const numbers = /^\[\d/.test(part) ? part.match(/\d+/g) : null;
    if (!numbers) return emphasised(part, longestFirst);
    return numbers.map((n) => h('button', { type: 'button', class: 'cite', 'aria-label': say(words.cite, { n }), keys: [`g${n}`] }, n));
  });
}

/** @type {(part: string, names: string[]) => Child[]} */
function emphasised(part, names) {
  const name = names.find((one) => one && part.includes(one));
  if (!name) return [part];
  const place = part.indexOf(name);
  return [part.slice(0, place), h('strong', { keys: [`e:${name}`] }, name), ...emphasised(part.slice(place + name.length), names)];
}
