// A phone in a class room: it follows the room by server-sent events, chooses a token, and shows what all have chosen.

import { arrows, h, say } from './core/dom.js';
import { comparison, judged, soFar, tokenName } from './views/guess.js';

/** @typedef {import('./core/types.js').PageText} PageText */
/** @typedef {import('./core/dom.js').Child} Child */
/** @typedef {import('./views/guess.js').Option} Option */

/** @typedef {{question: string, number: number, of: number, after: string}} About the token of a run that is guessed */
/**
 * @typedef {{kind: 'waiting', question: string} | About & {kind: 'guess', tokens: string[]} | About & {kind: 'shown', options: Option[], taken: string}
 *   | {kind: 'over', question: string, answer: string, path: string, n: number, right: number, model: number} | {kind: 'ended'}} Scene
 */
/** @typedef {{round: number, scene: Scene, votes: number[]|null}} News */

const boot = /** @type {Pick<PageText, 'classroom'|'guess'>} */ (JSON.parse(document.getElementById('boot')?.textContent ?? ''));
const room = /** @type {HTMLElement} */ (document.getElementById('room'));
const words = boot.classroom;
const code = decodeURIComponent(location.pathname.replace(/\/$/, '').split('/').at(-1) ?? '');
const heading = h('h1', { tabindex: -1 }, words.title);
const said = h('p', { role: 'status' });
const body = h('div', { class: 'turn' });

let member = '';
let chosen = ''; // in the round that is under way
let round = 0;
/** @type {boolean[]} whether the choices so far were the run's tokens, by the token's place */
let right = [];

document.body.classList.toggle('dark', matchMedia('(prefers-color-scheme: dark)').matches);
room.append(h('section', { class: 'card classroom' }, heading, body, said));
if (code === 'class') enter('');
else follow();

/** Where a code is typed in. @param {string} why */
function enter(why) {
  const field = h('input', { type: 'text', class: 'code', autocomplete: 'off', autocapitalize: 'characters', maxlength: 12, required: true, 'aria-label': words.code, placeholder: words.code });
  body.replaceChildren(h('form', { on: { submit: (event) => {
    event.preventDefault();
    location.assign(new URL(`class/${encodeURIComponent(field.value.trim())}`, document.baseURI));
  } } }, field, ' ', h('button', { class: 'primary' }, words.enter)));
  said.textContent = why;
}

function follow() {
  const address = new URL(`class/${encodeURIComponent(code)}/events`, document.baseURI);
  const stream = new EventSource(address);
  stream.addEventListener('member', ({ data }) => { member = JSON.parse(data); });
  stream.onmessage = ({ data }) => {
    const news = /** @type {News} */ (JSON.parse(data));
    draw(news);
    if (news.scene.kind === 'ended') stream.close();
  };
  stream.onerror = async () => {
    if (stream.readyState !== EventSource.CLOSED) said.textContent = words.lost; // the browser tries again by itself
    else enter(await fetch(address).then(async (answer) => { const { error } = await answer.json(); return error; }, () => words.failed));
  };
}

/** @param {News} news */
function draw({ round: number, scene, votes }) {
  if (number !== round) [round, chosen] = [number, ''];
  said.textContent = '';
  const { kind } = scene;
  heading.textContent = kind === 'guess' || kind === 'shown' ? say(words.count, { i: scene.number, n: scene.of }) : words.title;
  if (kind === 'waiting') show(h('p', {}, scene.question && right.length ? words.pause : words.wait), asked(scene.question));
  else if (kind === 'guess') guess(scene);
  else if (kind === 'shown') told(scene, votes ?? []);
  else if (kind === 'over') over(scene);
  else show(h('p', {}, words.ended));
}

/** @type {(...parts: Child[]) => void} */
function show(...parts) {
  const hadFocus = body.contains(document.activeElement);
  body.replaceChildren(...h('div', {}, ...parts).childNodes);
  if (hadFocus) heading.focus();
}

/** @type {(question: string) => HTMLElement|null} */
const asked = (question) => (question ? h('p', { class: 'asked' }, question) : null);

/** @param {Scene & {kind: 'guess'}} scene */
function guess(scene) {
  const buttons = scene.tokens.map((token, choice) => h('button', { type: 'button', class: 'soft', 'aria-pressed': String(token === chosen), on: { click: () => choose(token, choice) } },
    h('code', {}, tokenName(token, boot.guess))));
  show(asked(scene.question), soFar(scene, boot.guess), h('div', { class: 'options', role: 'group', 'aria-label': words.what }, buttons));
  said.textContent = chosen ? say(words.chosen, { token: tokenName(chosen, boot.guess) }) : words.what;
}

/** @type {(token: string, choice: number) => Promise<void>} */
async function choose(token, choice) {
  const answer = await fetch(new URL(`class/${encodeURIComponent(code)}/vote`, document.baseURI), { method: 'POST', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ member, round, choice }) }).then((got) => got.json(), () => ({ error: words.failed }));
  if (answer.error) { said.textContent = answer.error; return; }
  chosen = token;
  for (const [place, button] of body.querySelectorAll('.options button').entries()) button.setAttribute('aria-pressed', String(place === choice));
  said.textContent = say(words.chosen, { token: tokenName(token, boot.guess) });
}

/** @type {(scene: Scene & {kind: 'shown'}, votes: number[]) => void} */
function told(scene, votes) {
  if (scene.number === 1) right = [];
  right[scene.number - 1] = chosen === scene.taken;
  show(asked(scene.question), soFar(scene, boot.guess), comparison(scene, chosen, boot.guess, votes));
  said.textContent = chosen ? judged(scene, chosen, boot.guess) : say(words.missed, { taken: tokenName(scene.taken, boot.guess) });
}

/** @param {Scene & {kind: 'over'}} scene */
function over({ question, answer, path, n, right: favourites, model }) {
  show(asked(question), answer ? h('p', { class: 'says' }, arrows(answer)) : null, path ? h('p', { class: 'note' }, words.path, ': ', arrows(path)) : null,
    h('p', {}, h('b', {}, say(words.own, { right: right.filter(Boolean).length, n })), ' ', say(words.right, { right: favourites, n }), ' ', say(words.model, { model, n })));
}
