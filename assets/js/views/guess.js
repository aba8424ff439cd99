// Guess first: before a token of the run is shown, the reader picks it among some that the graph allows and some that
// it forbids; then model, graph and guess stand side by side, and the end tells the score.

import { h, percent, say, shownAs } from '../core/dom.js';
import { followed, stateAfter, watchedAlong } from '../core/state.js';

/** @typedef {import('../core/types.js').RunEvent} RunEvent */
/** @typedef {import('../core/types.js').PageText['guess']} Words */
/** @typedef {import('../core/state.js').WatchPoint} WatchPoint */

/** @typedef {{token: string, before: number, after: number, why: string}} Option a token; `why` is empty where the graph allows it */
/**
 * One token to guess: `place` is the number of records before the step that writes it, `taken` the token of the best path.
 * @typedef {{place: number, after: string, options: Option[], taken: string}} Turn
 */
/** @typedef {Pick<Turn, 'options'|'taken'>} Told what is told of a token once it has been guessed */
/** @typedef {{right: number, model: number, forbidden: number, n: number}} Score guesses that were right, those of the model alone, guesses that the graph forbids */

const MOST_TURNS = 6;
const EACH = 3; // allowed tokens of a turn, and forbidden ones
const SMALLEST = 0.001; // probability from which a forbidden token is worth offering
const CERTAIN = 0.98; // a token that the model alone gives more is no question

/**
 * The tokens of a run's best path that are worth guessing, in their order.
 * @param {RunEvent[]} events of a run that has ended
 * @returns {Turn[]}
 */
export function turnsOf(events) {
  const state = stateAfter(events);
  const found = [];
  for (const point of watchedAlong(state, followed(state, []))) {
    const turn = turnAt(point, events);
    const taken = turn?.options.find((option) => option.token === turn.taken);
    if (turn && taken && turn.options.length > 2 && taken.before < CERTAIN) found.push({ turn, surprise: 1 - taken.before });
  }
  const kept = new Set([...found].sort((a, b) => b.surprise - a.surprise).slice(0, MOST_TURNS));
  return found.filter((one) => kept.has(one)).map(({ turn }) => turn);
}

/** @type {(point: WatchPoint, events: RunEvent[]) => Turn|null} */
function turnAt({ step, watch, after, taken }, events) {
  if (!taken || !watch.top || !after.includes('->') || taken.text.trim() === '->') return null; // the question has named where a path begins
  const place = events.findIndex((event) => event.event === 'DecodeStep' && event.constrained && event.number === step
    && event.choices.some(([id]) => id === taken.id));
  const [token, before] = [taken.text, Math.exp(taken.logProb)];
  const others = watch.top.filter(([text]) => text !== token).slice(0, EACH - 1);
  const own = watch.top.find(([text]) => text === token) ?? [token, before, before];
  const masked = (watch.masked ?? []).filter(([text, prob]) => prob >= SMALLEST && text.trim()).slice(0, EACH);
  const options = [
    ...[own, ...others].map(([text, prob, share]) => ({ token: text, before: prob, after: share, why: '' })),
    ...masked.map(([text, prob, why]) => ({ token: text, before: prob, after: 0, why })),
  ];
  options.sort((a, b) => (a.token.trim() < b.token.trim() ? -1 : 1)); // in an order that gives nothing away
  return place < 0 ? null : { place, after, options, taken: token };
}

/**
 * The score of a round.
 * @param {Turn[]} turns
 * @param {string[]} guesses one a turn that has been played
 * @returns {Score}
 */
export function scoreOf(turns, guesses) {
  const played = turns.slice(0, guesses.length);
  const likeliest = (/** @type {Turn} */ turn) => turn.options.reduce((best, option) => (option.before > best.before ? option : best)).token;
  return {
    n: played.length,
    right: played.filter((turn, i) => turn.taken === guesses[i]).length,
    model: played.filter((turn) => turn.taken === likeliest(turn)).length,
    forbidden: played.filter((turn, i) => turn.options.some((option) => option.why && option.token === guesses[i])).length,
  };
}

/**
 * The card, above the run that is guessed.
 * @param {import('../core/types.js').PageText} text
 * @param {import('../core/player.js').Player} player
 * @param {() => Promise<void>} begin puts a run that has ended on the page, if none is there
 * @returns {import('../core/types.js').View & {start: HTMLElement}}
 */
export function makeGuess(text, player, begin) {
  const words = text.guess;
  const element = h('section', { class: 'card guess', hidden: true, 'aria-label': words.title });
  /** @type {Turn[]} */
  let turns = [];
  /** @type {string[]} */
  let guesses = [];
  /** @type {string|null} the run that is guessed */
  let run = null;

  const start = h('button', { type: 'button', class: 'example learn', on: { click: async () => {
    await begin();
    [turns, guesses, run] = [turnsOf(player.events), [], player.run];
    element.hidden = false;
    ask();
  } } }, h('span', { 'aria-hidden': 'true' }, '? '), words.start);

  /** Show the run up to some number of records. @param {number} place */
  const seek = (place) => player.seek(player.stops.filter((stop) => stop <= place).length);

  /** @type {(title: string, ...parts: (Node|string|null)[]) => void} */
  function show(title, ...parts) {
    const heading = h('h2', { tabindex: -1 }, title);
    element.replaceChildren(h('div', { class: 'head' }, heading, h('button', { type: 'button', class: 'plain', on: { click: leave } }, words.leave)),
      ...parts.filter((part) => part !== null));
    heading.focus({ preventScroll: true });
    element.scrollIntoView({ block: 'nearest' });
  }

  function ask() {
    const turn = turns[guesses.length];
    if (!turn) { end(); return; }
    seek(turn.place);
    show(say(words.count, { i: guesses.length + 1, n: turns.length }), soFar(turn, words),
      h('div', { class: 'options', role: 'group', 'aria-label': words.options }, turn.options.map((option) =>
        h('button', { type: 'button', class: 'soft', on: { click: () => reveal(turn, option.token) } }, h('code', {}, tokenName(option.token, words))))),
      h('p', { class: 'note' }, words.hint));
  }

  /** @type {(turn: Turn, guess: string) => void} */
  function reveal(turn, guess) {
    guesses.push(guess);
    seek(turn.place + 1);
    const last = guesses.length === turns.length;
    show(say(words.count, { i: guesses.length, n: turns.length }), soFar(turn, words), h('p', { role: 'status' }, judged(turn, guess, words)),
      comparison(turn, guess, words), h('button', { type: 'button', class: 'primary', on: { click: ask } }, last ? words.score : words.next));
  }

  function end() {
    player.seek(player.stops.length);
    const score = scoreOf(turns, guesses);
    show(words.over, turns.length ? h('p', { role: 'status', class: 'scored' }, h('b', {}, say(words.right, { ...score })), ' ', say(words.model, { ...score }), ' ',
      say(words.forbidden, { ...score })) : h('p', {}, words.nothing), turns.length ? h('p', { class: 'note' }, words.meaning) : null,
    turns.length ? h('button', { type: 'button', class: 'soft', on: { click: () => { guesses = []; ask(); } } }, words.again) : null);
  }

  function leave() {
    element.hidden = true;
    player.seek(player.stops.length);
    start.focus();
  }

  return { element, start, draw: (_, { run: shown }) => { if (shown !== run) element.hidden = true; } };
}

/**
 * The path so far, and a blank where the next token comes.
 * @param {{after: string}} turn
 * @param {Words} words
 * @returns {HTMLElement}
 */
export function soFar({ after }, words) {
  return h('p', { class: 'so-far' }, after ? `${after.replaceAll('->', '→')} ` : '', h('b', {}, words.blank));
}

/**
 * @param {string} token
 * @param {Words} words
 * @returns {string}
 */
export function tokenName(token, words) {
  const name = shownAs(token);
  return name === '</PATH>' ? words.ends : name.replaceAll('->', '→');
}

/**
 * What is to be said of a guess.
 * @param {Told} turn
 * @param {string} guess
 * @param {Words} words
 * @returns {string}
 */
export function judged(turn, guess, words) {
  const option = turn.options.find((one) => one.token === guess);
  const slots = { guess: tokenName(guess, words), taken: tokenName(turn.taken, words), why: option?.why };
  return say(guess === turn.taken ? words.hit : option?.why ? words.barred : words.miss, slots).replace('….', '…'); // a reason may end in the middle of a name
}

/**
 * Model, graph and guess, one row a token; with how many of a class have chosen it, where a class has guessed.
 * @param {Told} turn
 * @param {string} guess
 * @param {Words} words
 * @param {number[]|null} [votes] one an option
 * @returns {HTMLElement}
 */
export function comparison({ options, taken }, guess, words, votes = null) {
  const names = [words.token, votes ? words.class : '', words.alone, words.held, words.who].filter(Boolean);
  const all = Math.max(1, (votes ?? []).reduce((sum, n) => sum + n, 0));
  const rows = options.map((option, i) => ({ ...option, n: votes?.[i] ?? 0 })).sort((a, b) => b.before - a.before).map(({ token, before, after, why, n }) => {
    const marks = [token === guess ? words.yours : '', token === taken ? words.run : ''].filter(Boolean).join(', ');
    return h('tr', { class: `${why ? 'no' : 'yes'} ${token === taken ? 'taken' : ''}` }, h('th', { scope: 'row' }, h('code', {}, tokenName(token, words))),
      votes ? share(n / all, String(n)) : null, share(before, percent(before)), why ? h('td', {}, words.forbids) : share(after, percent(after)), h('td', {}, marks));
  });
  return h('table', { class: 'plain-table' }, h('thead', {}, h('tr', {}, names.map((name) => h('th', { scope: 'col' }, name)))), h('tbody', {}, rows));
}

/** A number with a bar. @type {(part: number, said: string) => HTMLElement} */
const share = (part, said) => h('td', {}, said, h('i', { class: 'share', style: `--share:${(100 * part).toFixed(1)}%` }));
