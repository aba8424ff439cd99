// The answer with its citations, who spoke, and what it cost.

import { figure, h, refill, say } from './dom.js';
import { pathKey } from './highlight.js';

/** @param {HTMLElement} versus the control that asks another method, shown below the answer */
export function makeAnswer(boot, text, versus) {
  const words = text.answer;
  const note = h('p', { class: 'note' });
  const body = h('div', { class: 'text', 'aria-live': 'polite' });
  const proof = h('ol', { class: 'proof', 'aria-label': words.proof });
  const foot = h('div', { class: 'by' });

  const draw = (state) => {
    const paths = state.branches.true.paths;
    const ends = new Set(state.final?.answers ?? []);
    const grounded = paths.filter((path) => path.verdict?.faithful).length; // fewer only where a broken decoder was recorded
    note.textContent = state.answer ? say(grounded < paths.length ? words.from_some : words.from, { n: paths.length, ok: grounded }) : words.waiting;
    refill(body, [state.answer, state.final], () => [
      h('p', { class: state.final?.refusal ? 'refusal' : '' }, state.answer ? cited(state.answer, words, ends) : ''),
      state.final?.completed.length ? h('p', { class: 'note' }, say(words.completed, { list: shortList(state.final.completed, words) })) : null,
    ]);
    refill(proof, [state.final?.citations, paths.length], () => {
      const cited = new Set(state.final?.citations.flat() ?? []);
      return paths.filter((path) => cited.has(path.index)).slice(0, 8).map((path) =>
        h('li', { keys: [pathKey(path)] }, h('span', { class: 'number' }, path.index), h('span', {}, path.text.replaceAll(' -> ', ' → '))));
    });
    refill(foot, [state.final, state.finished], () => (state.final ? [
      h('p', {}, say(words.by, { who: state.final.by }), ' ', boot.chat ? null : words.connect),
      h('p', {}, words.faithful, ' ', ratio(state.branches.true, words.with, 'yes'), state.branches.false.paths.length ? [', ', ratio(state.branches.false, words.without, 'no')] : null, '.'),
      state.finished ? h('p', {}, say(words.cost, { seconds: figure(state.finished.seconds, 1), tokens: figure(state.finished.tokens_out), calls: state.finished.lm_calls })) : null,
    ] : []));
  };
  return { element: h('section', { class: 'card answer' }, h('h2', {}, words.title), note, body, proof, foot, versus), draw };
}

function shortList(names, words) {
  return names.length > 12 ? `${names.slice(0, 12).join(', ')} ${say(words.more, { n: names.length - 12 })}` : names.join(', ');
}

function ratio(branch, sentence, kind) {
  const ok = branch.paths.filter((path) => path.verdict?.faithful).length;
  return h('b', { class: kind }, say(sentence, { ok, n: branch.paths.length }));
}

/** The answer's words; `[3]` becomes a button that lights up path 3, the answers themselves stand out. */
export function cited(answer, words, ends) {
  return answer.split(/(\[\d+(?:,\s*\d+)*\])/).flatMap((part) => {
    const numbers = /^\[\d/.test(part) ? part.match(/\d+/g) : null;
    if (numbers) return numbers.map((n) => h('button', { type: 'button', class: 'cite', 'aria-label': say(words.cite, { n }), keys: [`g${n}`] }, n));
    return emphasised(part, ends);
  });
}

function emphasised(part, ends) {
  const name = [...ends].filter((end) => end && part.includes(end)).sort((a, b) => b.length - a.length)[0];
  if (!name) return [part];
  const place = part.indexOf(name);
  return [part.slice(0, place), h('strong', { keys: [`e:${name}`] }, name), ...emphasised(part.slice(place + name.length), ends)];
}
