// Puts the page together: one trace, one player, several views of it.

import { makeAllowed } from './allowed.js';
import { makeAnswer } from './answer.js';
import { makeBrief } from './brief.js';
import { makeBeams } from './beams.js';
import { h, refill } from './dom.js';
import { makeDrive } from './drive.js';
import { Feed } from './feed.js';
import { makeGallery } from './gallery.js';
import { makeGraph } from './graph.js';
import { watchHover } from './highlight.js';
import { makeHow } from './how.js';
import { Inputs } from './inputs.js';
import { makeKeep } from './keep.js';
import { makeLinking } from './linking.js';
import { makeLoading } from './loading.js';
import { makeMethods } from './methods.js';
import { makeOwn } from './own.js';
import { regionOf } from './pathrow.js';
import { showPicks } from './picks.js';
import { Player } from './player.js';
import { makeProgram } from './program.js';
import { makeRail } from './rail.js';
import { stageNow } from './stages.js';
import { makeThoughts } from './thoughtview.js';
import { makeTour } from './tour.js';
import { makeWorld } from './world.js';

/**
 * @param {object} host what gradio gives: the element, the server's functions, the component's value
 */
export function mount({ stage, boot, server, watch, value, again }) {
  const { text } = boot;
  let due = false; // a drawing is on its way
  const player = new Player(() => schedule());
  const feed = new Feed(player, (gap) => server.missed(gap), () => begun());

  const stopButton = document.querySelector('#kg-stop');
  let fromFrame = () => {};
  const drive = makeDrive(boot, text, again, revisit);
  const own = makeOwn(boot, text, { bring: server.bring, again, changed: () => { world.drop(); inputs.changed(); } });
  const world = makeWorld(boot, text, { server, again, revisit, own });
  const allowed = makeAllowed(text, drive);
  const graph = makeGraph(boot, text, (keys) => fromFrame(keys), (asked) => server.near(asked));
  const rail = makeRail(player, text);
  const linking = makeLinking(text, (entities) => again({ entities }), (written) => server.entities({ run: player.run ?? '', written }));
  const methods = makeMethods(boot, text, (run) => revisit(run.events, run.run), again);
  const inputs = new Inputs(boot.fields, boot.standard);
  const keep = makeKeep(text, inputs, graph.png, (events) => showRun(events, 'opened', events[0].question));
  const program = makeProgram(boot, text, inputs);
  const gallery = makeGallery(boot, text, (failure) => replay(failure));
  const bound = makeBeams(true, text, allowed.follow);
  const free = makeBeams(false, text, allowed.follow);
  const answer = makeAnswer(boot, text, methods.control);
  const thoughts = makeThoughts(text);
  const low = h('div', { class: 'two low' }, graph.element, thoughts.element, answer.element);
  const columns = h('div', { class: 'two' }, bound.element, free.element);
  const brief = makeBrief(text, statusOf);
  const views = [drive, rail, linking, brief, bound, free, allowed, graph, thoughts, answer, methods, world, keep, gallery, program];
  const legend = regionsLegend(text.beams);
  const status = h('p', { class: 'sr-only', role: 'status', 'aria-live': 'polite' });
  const messages = h('div', { class: 'messages', role: 'alert' });
  const board = h('div', { class: 'board' }, rail.element, messages, linking.element, brief.element, legend, columns,
    drive.element, allowed.element, low,
    methods.element, world.element, keep.element);
  const how = makeHow(text);
  const tour = makeTour(text, player, () => replay(boot.examples[0]), board);
  const more = h('div', { class: 'more' }, how, gallery.element, keep.own, program.element);
  const intro = introduction(text);
  const examples = exampleRow();
  stage.replaceChildren(h('div', { class: 'kg' }, examples, makeLoading(text, () => server.loaded({})), own.element, intro,
    gallery.banner, board, more, tour.panel, status));
  fromFrame = watchHover(board, graph.tellKeys);

  /** A question is on its way: what was read or filled in before it makes room. */
  function begun() {
    allowed.reset();
    how.open = false;
    own.fold();
  }

  function schedule() {
    if (due) return;
    due = true;
    requestAnimationFrame(() => { due = false; draw(); });
  }

  function draw() {
    const { state } = player;
    board.hidden = player.origin === 'idle';
    intro.hidden = !board.hidden;
    examples.classList.toggle('one-line', intro.hidden);
    board.dataset.run = player.run ?? '';
    board.dataset.origin = player.origin;
    board.dataset.over = String(player.over);
    markStop(stopButton, player.origin === 'live' && !player.ended);
    for (const view of views) view.draw(state, player);
    arrange(state);
    refill(messages, [state.failed?.message, state.notices], () => [
      state.failed ? h('p', { class: 'failed' }, state.failed.message) : null, ...state.notices.map((notice) => h('p', { class: 'notice' }, notice))]);
    refill(status, [statusOf(state)], () => [statusOf(state)]);
  }

  /** Cards that a method has no use for are left out; what a method thought comes before the paths it ended with. */
  function arrange(state) {
    const held = boot.methods.find((method) => method.name === state.run?.method)?.constrained ?? true;
    const { true: ours, false: theirs } = state.branches;
    free.element.hidden = (!held || Boolean(state.finished)) && !theirs.paths.length && !theirs.steps.length;
    bound.element.hidden = !held && !ours.paths.length;
    allowed.element.hidden = !held && !ours.steps.length;
    low.classList.toggle('thinking', !thoughts.element.hidden);
    legend.hidden = !held && !ours.steps.length && !theirs.paths.length;
    const alone = free.element.hidden || bound.element.hidden;
    columns.classList.toggle('alone', alone);
    if (answer.element.parentElement !== (alone ? columns : low)) (alone ? columns : low).append(answer.element);
    const thoughtFirst = !held && !thoughts.element.hidden;
    if (thoughtFirst !== (columns.previousElementSibling === low)) (thoughtFirst ? low : legend).after(columns);
  }

  function statusOf(state) {
    if (state.failed) return text.status.failed;
    if (player.stopped) return text.status.stopped;
    return ({ '-1': '', 0: text.status.link, 1: text.status.load, 2: text.status.decode, 3: text.status.verify, 4: text.status.answer, 5: text.status.done })[stageNow(state)];
  }

  function exampleRow() {
    const links = boot.examples.map((example) => h('button', { type: 'button', class: 'example', on: { click: () => replay(example) } }, h('span', { 'aria-hidden': 'true' }, '▸ '), example.question));
    return h('nav', { class: 'examples', 'aria-label': text.ask.examples }, h('span', {}, text.ask.try), links, boot.examples.length ? tour.start : null);
  }

  /** A run of this visit once more, at its end. */
  function revisit(events, run) {
    feed.drop();
    allowed.reset();
    player.load(events, run);
    player.seek(player.stops.length);
  }

  async function replay(example) {
    tour.leave();
    how.open = false;
    const answerText = await (await fetch(new URL(example.url, document.baseURI))).text();
    showRun(answerText.split('\n').filter(Boolean).map((line) => JSON.parse(line)), example.id, example.question);
  }

  function showRun(events, name, question) {
    feed.drop();
    allowed.reset();
    const box = document.querySelector('#kg-question textarea');
    if (box) { box.value = question; box.dispatchEvent(new Event('input', { bubbles: true })); }
    player.load(events, name);
  }

  showPicks(inputs, boot, text, own.title);
  stopButton?.addEventListener('click', () => feed.drop());
  stage.asked = () => world.asked();
  const linked = () => { if (inputs.asks(boot.graphs)) followLink(again); };
  if (window.kgLinked) linked();
  else window.addEventListener('kg-linked', linked, { once: true });
  watch('value', () => feed.take(value()));
  schedule();
  stage.dataset.ready = 'true';
}

/** Dim while there is nothing to stop; it stays focusable, so that the keyboard is not thrown elsewhere. */
function markStop(button, running) {
  button?.classList.toggle('idle', !running);
  button?.setAttribute('aria-disabled', String(!running));
}

/** What the two marks beside texts mean. */
function regionsLegend(words) {
  return h('p', { class: 'regions' }, h('span', { class: regionOf(true) }, words.held), h('span', { class: regionOf(false) }, words.freely));
}

/** The address named a run: the fields hold it now, so ask, with the link's own entities where it names some. */
function followLink(again) {
  const entities = new URLSearchParams(location.search).getAll('entity');
  if (entities.length) again({ entities });
  else document.querySelector('#kg-go')?.click();
}

function introduction(text) {
  return h('section', { class: 'intro' }, h('h2', {}, text.start.title), h('ol', {}, text.start.lines.map((line) => h('li', {}, line))));
}
