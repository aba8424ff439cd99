// Puts the page together: one trace, one player, several views of it.

import { fillQuestion, h, refill, watchHover } from './core/dom.js';
import { EventStream } from './core/event_stream.js';
import { Inputs } from './core/inputs.js';
import { Player } from './core/player.js';
import { stageNow } from './core/state.js';
import { makeKeep, makeOwnRuns } from './files/keep.js';
import { makeGraph } from './graph/graph.js';
import { makeAllowed } from './views/allowed.js';
import { makeAnswer, makeBrief } from './views/answer.js';
import { makeEdits } from './views/edits.js';
import { makeForcing } from './views/forcing.js';
import { makeLinking } from './views/linking.js';
import { makeMethods } from './views/methods.js';
import { makeOwnGraph } from './views/own_graph.js';
import { makePaths, regionOf } from './views/paths.js';
import { makeProgram } from './views/program.js';
import { makeRail } from './views/rail.js';
import { makeThoughts } from './views/thoughts.js';
import { makeTour } from './views/tour.js';
import { introduction, makeGallery, makeHow, makeLoading, showChoices } from './views/welcome.js';

/** @typedef {import('./core/types.js').PageText} PageText */
/** @typedef {import('./core/types.js').RunEvent} RunEvent */
/** @typedef {import('./core/types.js').RunState} RunState */
/** @typedef {import('./core/types.js').RecordedRun} RecordedRun */
/** @typedef {import('./core/types.js').Asked} Asked */

/**
 * What gradio gives: the element, the server's functions, the value of the component and a way to watch it.
 * @typedef {object} Host
 * @property {HTMLElement & {asked?: () => string}} stage the page reads `asked` when a question is sent
 * @property {import('./core/types.js').Boot} boot
 * @property {import('./core/types.js').Server} server
 * @property {(name: string, changed: () => void) => void} watch
 * @property {() => unknown} value
 * @property {(asked: Asked) => void} again asks a question
 */

/**
 * Draw the page into its element and keep it up to date.
 * @param {Host} host
 * @returns {void}
 */
export function mount({ stage, boot, server, watch, value, again }) {
  const { text } = boot;
  let due = false; // a drawing is on its way
  const player = new Player(() => schedule());
  const stream = new EventStream(player, (gap) => server.missed(gap), () => begun());

  const stopButton = document.querySelector('#kg-stop');
  /** @type {(keys: string[]) => void} */
  let lightFromFrame = () => {};
  const inputs = new Inputs(boot.fields, boot.standard);
  const visitor = [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join('-'); // tells the graphs of a class apart
  const forcing = makeForcing(boot, text, again, revisit);
  const own = makeOwnGraph(boot, text, { bring: (sent) => server.bring({ ...sent, visitor }), again, changed: () => { edits.drop(); inputs.changed(); } });
  const edits = makeEdits(text, { server, again, revisit, own });
  const allowed = makeAllowed(text, forcing);
  const graph = makeGraph(boot, text, (keys) => lightFromFrame(keys), (asked) => server.near(asked));
  const rail = makeRail(player, text);
  const linking = makeLinking(text, (entities) => again({ entities }), (written) => server.entities({ run: player.run ?? '', written }));
  const methods = makeMethods(boot, text, revisit, again);
  const keep = makeKeep(text, inputs, graph.png);
  const ownRuns = makeOwnRuns(text, inputs, openRun);
  const program = makeProgram(boot, text, inputs);
  const gallery = makeGallery(boot, text, replay);
  const constrained = makePaths(true, text, allowed.follow);
  const unconstrained = makePaths(false, text, allowed.follow);
  const answer = makeAnswer(boot, text, methods.control);
  const thoughts = makeThoughts(text);
  const brief = makeBrief(text, statusOf);
  const views = [forcing, rail, linking, brief, constrained, unconstrained, allowed, graph, thoughts, answer, methods, edits, keep, ownRuns, gallery, program];

  const low = h('div', { class: 'two low' }, graph.element, thoughts.element, answer.element);
  const columns = h('div', { class: 'two' }, constrained.element, unconstrained.element);
  const legend = regionsLegend(text.beams);
  const status = h('p', { class: 'sr-only', role: 'status', 'aria-live': 'polite' });
  const messages = h('div', { class: 'messages', role: 'alert' });
  const board = h('div', { class: 'board' }, rail.element, messages, linking.element, brief.element, legend, columns,
    forcing.element, allowed.element, low, methods.element, edits.element, keep.element);
  const how = makeHow(text);
  const tour = makeTour(text, player, () => replay(boot.examples[0]), board);
  const more = h('div', { class: 'more' }, how, gallery.element, ownRuns.element, program.element);
  const intro = introduction(text);
  const examples = exampleRow();
  stage.replaceChildren(h('div', { class: 'kg' }, examples, makeLoading(text, () => server.loaded({})), own.element, intro,
    gallery.banner, board, more, tour.panel, status));
  lightFromFrame = watchHover(board, graph.tellKeys);

  /** A question is on its way: what was read or filled in before it is folded away. */
  function begun() {
    allowed.reset();
    how.open = false;
    own.fold();
  }

  // drawing ---------------------------------------------------------------------------------------

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
      state.failed ? h('p', { class: 'failed' }, state.failed.message) : null, state.notices.map((notice) => h('p', { class: 'notice' }, notice))]);
    refill(status, [statusOf(state)], () => [statusOf(state)]);
  }

  /**
   * Leave out the cards that a method has no use for, and put its thoughts before the paths that it ended with.
   * @param {RunState} state
   */
  function arrange(state) {
    const held = boot.methods.find((method) => method.name === state.run?.method)?.constrained ?? true;
    const { constrained: ours, unconstrained: theirs } = state;
    unconstrained.element.hidden = (!held || Boolean(state.finished)) && !theirs.paths.length && !theirs.steps.length;
    constrained.element.hidden = !held && !ours.paths.length;
    allowed.element.hidden = !held && !ours.steps.length;
    low.classList.toggle('thinking', !thoughts.element.hidden);
    legend.hidden = !held && !ours.steps.length && !theirs.paths.length;
    const alone = unconstrained.element.hidden || constrained.element.hidden;
    columns.classList.toggle('alone', alone);
    const home = alone ? columns : low;
    if (answer.element.parentElement !== home) home.append(answer.element);
    const thoughtFirst = !held && !thoughts.element.hidden;
    if (thoughtFirst !== (columns.previousElementSibling === low)) (thoughtFirst ? low : legend).after(columns);
  }

  /** @param {RunState} state */
  function statusOf(state) {
    const words = text.status;
    if (state.failed) return words.failed;
    if (player.stopped) return words.stopped;
    return ['', words.link, words.load, words.decode, words.verify, words.answer, words.done][stageNow(state) + 1];
  }

  function exampleRow() {
    const buttons = boot.examples.map((example) => h('button', { type: 'button', class: 'example', on: { click: () => replay(example) } },
      h('span', { 'aria-hidden': 'true' }, '▸ '), example.question));
    return h('nav', { class: 'examples', 'aria-label': text.ask.examples }, h('span', {}, text.ask.try), buttons, boot.examples.length ? tour.start : null);
  }

  // showing a run ---------------------------------------------------------------------------------

  /**
   * Show a run of this visit once more, at its end.
   * @param {RunEvent[]} events
   * @param {string} run
   */
  function revisit(events, run) {
    stream.drop();
    allowed.reset();
    player.load(events, run);
    player.seek(player.stops.length);
  }

  /** @param {RecordedRun} recorded */
  async function replay(recorded) {
    tour.leave();
    how.open = false;
    const written = await (await fetch(new URL(recorded.url, document.baseURI))).text();
    showRun(written.split('\n').filter(Boolean).map((line) => JSON.parse(line)), recorded.id, recorded.question);
  }

  /** @param {RunEvent[]} events of a trace that the visitor has opened */
  function openRun(events) {
    const [first] = events;
    showRun(events, 'opened', first.event === 'RunStarted' ? first.question : '');
  }

  /** @type {(events: RunEvent[], name: string, question: string) => void} */
  function showRun(events, name, question) {
    stream.drop();
    allowed.reset();
    fillQuestion(question);
    player.load(events, name);
  }

  showChoices(inputs, boot, text, own.title);
  stopButton?.addEventListener('click', () => stream.drop());
  stage.asked = () => edits.asked();
  const linked = () => { if (inputs.asks(boot.graphs)) followLink(again); };
  if (/** @type {{kgLinked?: boolean}} */ (globalThis).kgLinked) linked();
  else window.addEventListener('kg-linked', linked, { once: true });
  watch('value', () => stream.take(value()));
  schedule();
  stage.dataset.ready = 'true';
}

/**
 * Dim the button while there is nothing to stop. It stays focusable, so that the keyboard's place is not lost.
 * @param {Element|null} button
 * @param {boolean} running
 */
function markStop(button, running) {
  button?.classList.toggle('idle', !running);
  button?.setAttribute('aria-disabled', String(!running));
}

/**
 * What the two marks beside texts mean.
 * @param {PageText['beams']} words
 */
function regionsLegend(words) {
  return h('p', { class: 'regions' }, h('span', { class: regionOf(true) }, words.held), h('span', { class: regionOf(false) }, words.freely));
}

/**
 * The page's address named a question, which the fields hold now: ask it, with the entities of the link if it names any.
 * @param {(asked: Asked) => void} again
 */
function followLink(again) {
  const entities = new URLSearchParams(location.search).getAll('entity');
  if (entities.length) again({ entities });
  else /** @type {HTMLElement|null} */ (document.querySelector('#kg-go'))?.click();
}
