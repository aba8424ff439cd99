// Class mode, the teacher's side: a room that phones join by a link. The class guesses the tokens of the run on this page,
// and its choices stand beside model and graph.

import { copied, h, say, svg } from '../core/dom.js';
import { ranked } from '../core/state.js';
import { comparison, scoreOf, soFar, tokenName, turnsOf } from './guess.js';
import { sentencesOf } from './sentence.js';

/** @typedef {import('../core/types.js').PageText} PageText */
/** @typedef {import('../core/dom.js').Child} Child */
/** @typedef {import('./guess.js').Turn} Turn */
/** @typedef {{code: string, key: string, qr: string[], error?: string}} Room */
/** @typedef {{here: number, round: number, votes: number[], ended: boolean, error?: string}} Counts how many are here, and their choices of the round's token */

/**
 * The token that most have chosen; the first of several, none where nobody has chosen.
 * @param {Turn} turn
 * @param {number[]} votes one an option
 * @returns {string}
 */
export function favourite({ options }, votes) {
  const most = Math.max(0, ...votes);
  return most ? options[votes.indexOf(most)].token : '';
}

/**
 * A run's answer for a phone: its sentences without the citations, which lead nowhere there.
 * @param {import('../core/types.js').RunState} state
 * @returns {string}
 */
export function answerOf({ final, constrained }) {
  const sentences = final && sentencesOf(final, constrained.paths);
  if (sentences) return sentences.map(({ lead, answers }) => `${lead} ${answers.map(({ name }) => name).join(', ')}.`).join(' ');
  return (final?.text ?? '').replace(/ ?\[\d+(?:,\s*\d+)*\]/g, '');
}

/**
 * A QR code as a picture.
 * @param {string[]} rows texts of 0 and 1
 * @param {string} label
 * @returns {SVGElement}
 */
export function qrPicture(rows, label) {
  const side = rows.length + 8; // four quiet modules on each side, as the standard asks for
  const path = rows.flatMap((row, y) => [...row].flatMap((dark, x) => (dark === '1' ? [`M${x + 4} ${y + 4}h1v1h-1z`] : []))).join('');
  return svg('svg', { class: 'qr', viewBox: `0 0 ${side} ${side}`, role: 'img', 'aria-label': label, 'shape-rendering': 'crispEdges' },
    svg('rect', { width: side, height: side }), svg('path', { d: path }));
}

/**
 * @param {PageText} text
 * @param {import('../core/player.js').Player} player
 * @param {() => Promise<void>} begin puts a run that has ended on the page, if none is there
 * @returns {import('../core/types.js').View & {start: HTMLElement}}
 */
export function makeClassroom(text, player, begin) {
  const words = text.classroom;
  const here = h('p', { class: 'here' });
  const failed = h('p', { class: 'failed', role: 'alert' });
  const main = h('div', { class: 'turn' });
  const door = h('div', { class: 'door' });
  const element = h('section', { class: 'card classroom', hidden: true, 'aria-label': words.title });
  /** @type {Room|null} */
  let room = null;
  /** @type {EventSource|null} */
  let stream = null;
  /** @type {Counts} */
  let counts = { here: 0, round: 0, votes: [], ended: false };
  /** @type {Turn[]} */
  let turns = [];
  /** @type {string[]} the class's favourites so far */
  let guesses = [];
  /** @type {string|null} the run that is guessed, or that could be */
  let run = null;
  let guessing = false; // votes are open
  let waiting = false; // no turn is shown: the class can begin

  const start = h('button', { type: 'button', class: 'example learn with-class', on: { click: open } }, h('span', { 'aria-hidden': 'true' }, '⚇ '), words.start);

  /** @type {(path: string, sent: object) => Promise<any>} */
  async function post(path, sent) {
    const answer = await fetch(new URL(path, document.baseURI), { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(sent) })
      .then((got) => got.json(), () => ({ error: words.failed }));
    failed.textContent = answer.error ?? '';
    return answer;
  }

  /** Show something to all phones; null where that failed. @type {(scene: object) => Promise<Counts|null>} */
  async function tell(scene) {
    /** @type {Counts} */
    const told = room ? await post(`class/${room.code}/scene`, { key: room.key, scene }) : { ...counts, error: words.failed };
    return told.error ? null : take(told);
  }

  /** Counts come by two ways; those of an older round are passed over. @type {(told: Counts) => Counts} */
  function take(told) {
    if (told.round >= counts.round) counts = told;
    return counts;
  }

  async function open() {
    if (!room) {
      await begin();
      const base = new URL('class/', document.baseURI).href;
      const opened = await post('class', { base });
      element.hidden = false;
      if (opened.error) { element.replaceChildren(h('h2', {}, words.title), failed, button('soft', words.close, close)); return; }
      room = opened;
      counts = { here: 0, round: 0, votes: [], ended: false };
      const link = `${base}${opened.code}`;
      listen(opened);
      element.replaceChildren(h('div', { class: 'head' }, h('h2', { tabindex: -1 }, say(words.open, { code: opened.code })), button('plain', words.end, end)),
        failed, h('div', { class: 'halves' }, h('div', {}, here, main), door));
      door.replaceChildren(...doorSigns(opened, base, link));
      lobby();
    }
    element.scrollIntoView({ block: 'start' });
    element.querySelector('h2')?.focus({ preventScroll: true });
  }

  /** @type {(opened: Room, base: string, link: string) => HTMLElement[]} */
  function doorSigns({ code, qr }, base, link) {
    const said = h('span', { role: 'status' });
    const local = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname);
    return [...(qr.length ? [h('div', {}, qrPicture(qr, say(words.qr, { link })))] : []), h('p', { class: 'code' }, code),
      h('p', { class: 'note' }, say(words.join, { address: base.replace(/\/$/, '') })),
      h('p', {}, button('soft', words.copy, async () => { if (await copied(link)) said.textContent = words.copied; }), ' ', said),
      ...(local ? [h('p', { class: 'note' }, words.local)] : [])];
  }

  /** @type {(kind: string, name: string, act: () => void) => HTMLButtonElement} */
  const button = (kind, name, act) => h('button', { type: 'button', class: kind, on: { click: act } }, name);

  /** @param {Room} opened */
  function listen(opened) {
    stream = new EventSource(new URL(`class/${opened.code}/events?key=${encodeURIComponent(opened.key)}`, document.baseURI));
    stream.onmessage = ({ data }) => {
      if (take(JSON.parse(data)).ended) gone();
      else count();
    };
    stream.onerror = () => { if (stream?.readyState === EventSource.CLOSED) gone(); };
  }

  function count() {
    const voted = counts.votes.reduce((sum, n) => sum + n, 0);
    here.textContent = guessing ? say(words.voted, { voted, here: counts.here }) : say(words.here, { here: counts.here });
  }

  // the class's turns -------------------------------------------------------------------------------

  /** @type {(...parts: Child[]) => void} */
  function show(...parts) {
    const hadFocus = main.contains(document.activeElement);
    main.replaceChildren(...h('div', {}, ...parts).childNodes);
    if (hadFocus) element.querySelector('h2')?.focus({ preventScroll: true });
    count();
  }

  function lobby() {
    [run, waiting, guessing] = [player.run, true, false];
    door.classList.remove('small');
    const first = player.events[0];
    const question = first?.event === 'RunStarted' ? first.question : '';
    const over = player.ended;
    turns = over ? turnsOf(player.events) : [];
    tell({ kind: 'waiting', question });
    show(h('p', {}, words.promise), turns.length ? button('primary', say(words.begin_with, { question }), () => { guesses = []; ask(); })
      : h('p', { class: 'note' }, over ? words.nothing : words.running));
  }

  /** Show the run up to some number of records. @param {number} place */
  const seek = (place) => player.seek(player.stops.filter((stop) => stop <= place).length);

  /** @param {Turn} turn */
  const about = (turn) => ({ question: questionOf(), number: guesses.length + 1, of: turns.length, after: turn.after });
  const questionOf = () => { const [first] = player.events; return first?.event === 'RunStarted' ? first.question : ''; };

  async function ask() {
    const turn = turns[guesses.length];
    if (!turn) { finish(); return; }
    if (!await tell({ kind: 'guess', ...about(turn), tokens: turn.options.map((option) => option.token) })) return;
    [waiting, guessing] = [false, true];
    door.classList.add('small');
    seek(turn.place);
    show(h('h3', {}, say(words.count, { i: guesses.length + 1, n: turns.length })), soFar(turn, text.guess),
      h('ul', { class: 'offered' }, turn.options.map(({ token }) => h('li', {}, h('code', {}, tokenName(token, text.guess))))), button('primary', words.tell, reveal));
  }

  async function reveal() {
    const turn = turns[guesses.length];
    const told = await tell({ kind: 'shown', ...about(turn), taken: turn.taken, options: turn.options });
    if (!told) return;
    guessing = false;
    const { votes } = told;
    const number = guesses.push(favourite(turn, votes));
    seek(turn.place + 1);
    show(h('h3', {}, say(words.count, { i: number, n: turns.length })), soFar(turn, text.guess), comparison(turn, '', text.guess, votes),
      button('primary', number === turns.length ? words.last : words.next, ask));
  }

  function finish() {
    const { n, right, model } = scoreOf(turns, guesses);
    player.seek(player.stops.length);
    waiting = true;
    tell({ kind: 'over', question: questionOf(), answer: answerOf(player.state), path: ranked(player.state.constrained)[0]?.text ?? '', n, right, model });
    show(h('h3', {}, words.over), h('p', { class: 'scored' }, h('b', {}, say(words.right, { right, n })), ' ', say(words.model, { model, n })), h('p', {}, words.another));
  }

  // the end ---------------------------------------------------------------------------------------

  async function end() {
    await tell({ kind: 'ended' });
    close();
  }

  function close() {
    stream?.close();
    [room, stream] = [null, null];
    element.hidden = true;
    player.seek(player.stops.length);
    start.focus();
  }

  function gone() {
    if (!room) return;
    stream?.close();
    [room, stream] = [null, null];
    element.replaceChildren(h('p', { role: 'status' }, words.ended), button('soft', words.close, close));
  }

  let ended = false; // the run that is shown
  return { element, start, draw: () => {
    if (!room) return;
    const changed = player.run !== run || (waiting && player.ended !== ended);
    ended = player.ended;
    if (changed) lobby();
  } };
}
