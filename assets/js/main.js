// Puts the page together: one trace, one player, several views of it.

import { makeAllowed } from './allowed.js';
import { makeAnswer } from './answer.js';
import { makeBeams } from './beams.js';
import { h, refill } from './dom.js';
import { makeDrive } from './drive.js';
import { Feed } from './feed.js';
import { makeGraph } from './graph.js';
import { watchHover } from './highlight.js';
import { makeLinking } from './linking.js';
import { makeMethods } from './methods.js';
import { makeOwn } from './own.js';
import { regionOf } from './pathrow.js';
import { Player } from './player.js';
import { makeRail } from './rail.js';
import { stageNow } from './stages.js';
import { makeWorld } from './world.js';

/**
 * @param {object} host what gradio gives: the element, the server's functions, the component's value
 */
export function mount({ stage, boot, server, watch, value, again }) {
  const { text } = boot;
  let due = false; // a drawing is on its way
  const player = new Player(() => schedule());
  const feed = new Feed(player, (gap) => server.missed(gap), () => allowed.reset());

  const stopButton = document.querySelector('#kg-stop');
  let fromFrame = () => {};
  const drive = makeDrive(boot, text, again, revisit);
  const own = makeOwn(boot, text, { bring: server.bring, again, changed: () => world.drop() });
  const world = makeWorld(boot, text, { server, again, revisit, own });
  const allowed = makeAllowed(text, drive);
  const graph = makeGraph(boot, text, (keys) => fromFrame(keys), (asked) => server.near(asked));
  const rail = makeRail(player, text);
  const linking = makeLinking(text, (entities) => again({ entities }), (written) => server.entities({ run: player.run ?? '', written }));
  const methods = makeMethods(boot, text, (run) => revisit(run.events, run.run), again);
  const views = [rail, linking, makeBeams(true, text, allowed.follow), makeBeams(false, text, allowed.follow), allowed, graph, makeAnswer(boot, text, methods.control), methods];
  const [, , bound, free, , , answer] = views;
  const status = h('p', { class: 'sr-only', role: 'status', 'aria-live': 'polite' });
  const messages = h('div', { class: 'messages', role: 'alert' });
  const board = h('div', { class: 'board' }, rail.element, messages, linking.element, regionsLegend(text.beams),
    h('div', { class: 'two' }, bound.element, free.element),
    drive.element, allowed.element, h('div', { class: 'two low' }, graph.element, answer.element), methods.element, world.element);
  const intro = introduction(text);
  stage.replaceChildren(h('div', { class: 'kg' }, exampleRow(), own.element, intro, board, status));
  fromFrame = watchHover(board, graph.tellKeys);

  function schedule() {
    if (due) return;
    due = true;
    requestAnimationFrame(() => { due = false; draw(); });
  }

  function draw() {
    const { state } = player;
    board.hidden = player.origin === 'idle';
    intro.hidden = !board.hidden;
    board.dataset.run = player.run ?? '';
    board.dataset.origin = player.origin;
    board.dataset.over = String(player.over);
    stopButton?.classList.toggle('idle', player.origin !== 'live' || player.ended);
    for (const view of [drive, ...views, world]) view.draw(state, player);
    refill(messages, [state.failed?.message, state.notices], () => [
      state.failed ? h('p', { class: 'failed' }, state.failed.message) : null, ...state.notices.map((notice) => h('p', { class: 'notice' }, notice))]);
    refill(status, [statusOf(state)], () => [statusOf(state)]);
  }

  function statusOf(state) {
    if (state.failed) return text.status.failed;
    if (player.stopped) return text.status.stopped;
    return ({ '-1': '', 0: text.status.link, 1: text.status.load, 2: text.status.decode, 3: text.status.verify, 4: text.status.answer, 5: text.status.done })[stageNow(state)];
  }

  function exampleRow() {
    const links = boot.examples.map((example) => h('button', { type: 'button', class: 'example', on: { click: () => replay(example) } }, h('span', { 'aria-hidden': 'true' }, '▸ '), example.question));
    return h('nav', { class: 'examples', 'aria-label': text.ask.examples }, h('span', {}, text.ask.try), links);
  }

  /** A run of this visit once more, at its end. */
  function revisit(events, run) {
    feed.drop();
    allowed.reset();
    player.load(events, run);
    player.seek(player.stops.length);
  }

  async function replay(example) {
    feed.drop();
    allowed.reset();
    const answerText = await (await fetch(new URL(example.url, document.baseURI))).text();
    const box = document.querySelector('#kg-question textarea');
    if (box) { box.value = example.question; box.dispatchEvent(new Event('input', { bubbles: true })); }
    player.load(answerText.split('\n').filter(Boolean).map((line) => JSON.parse(line)), example.id);
  }

  stopButton?.addEventListener('click', () => feed.drop());
  stage.asked = () => world.asked();
  watch('value', () => feed.take(value()));
  schedule();
  stage.dataset.ready = 'true';
}

/** What the two marks beside texts mean. */
function regionsLegend(words) {
  return h('p', { class: 'regions' }, h('span', { class: regionOf(true) }, words.held), h('span', { class: regionOf(false) }, words.freely));
}

function introduction(text) {
  return h('section', { class: 'intro' }, h('h2', {}, text.start.title), h('ol', {}, text.start.lines.map((line) => h('li', {}, line))));
}
