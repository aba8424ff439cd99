// The answer in one line right under the question, where a phone's visitor looks first; until then, what is being done.

import { cited } from './answer.js';
import { h, refill, say } from './dom.js';

const LONGEST = 220; // characters; the card below has all of it

/** @param {(state: object) => string} status what is being done now, in words */
export function makeBrief(text, status) {
  const words = text.answer;
  const element = h('section', { class: 'brief', 'aria-label': words.brief, hidden: true });

  const draw = (state, player) => {
    element.hidden = !state.run || Boolean(state.failed);
    if (element.hidden) return;
    const [ours, theirs] = [ratioOf(state.branches.true), ratioOf(state.branches.false)];
    refill(element, [state.final, state.final ? '' : status(state), ours, theirs, player.run], () => {
      if (!state.final) return h('p', { class: 'doing' }, status(state));
      const answer = state.final.text.length > LONGEST ? `${state.final.text.slice(0, LONGEST).replace(/\s*(\[[^\]]*)?$/, '')} …` : state.final.text;
      return [
        h('p', { class: state.final.refusal ? 'says refusal' : 'says' }, cited(answer, words, new Set(state.final.answers))),
        h('p', { class: 'proofs' }, ours || theirs ? `${words.faithful} ` : null, ours ? h('b', { class: 'yes' }, say(words.with, ours)) : null, ours && theirs ? ' · ' : '', theirs ? h('b', { class: 'no' }, say(words.without, theirs)) : null)];
    });
  };
  return { element, draw };
}

function ratioOf(branch) {
  const judged = branch.paths.filter((path) => path.verdict);
  return judged.length ? { ok: judged.filter((path) => path.verdict.faithful).length, n: judged.length } : null;
}
