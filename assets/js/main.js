// Puts the page together: one trace, one player, several views of it.

import { figure, fillQuestion, h, refill, say, watchHover } from './core/dom.js';
import { EventStream } from './core/event_stream.js';
import { Inputs } from './core/inputs.js';
import { Player } from './core/player.js';
import { aboutOf, lastOf, stageNow } from './core/state.js';
import { explainTerms, withTerms } from './core/terms.js';
import { makeAddress, placeOf } from './files/address.js';
import { makeKeep, makeOwnRuns } from './files/keep.js';
import { makeGraph } from './graph/graph.js';
import { makeAllowed, makeLayers } from './views/allowed.js';
import { makeAnswer, makeNext } from './views/answer.js';
import { makeBenchmark } from './views/benchmark.js';
import { makeClassroom } from './views/classroom.js';
import { makeEdits } from './views/edits.js';
import { makeForcing } from './views/forcing.js';
import { makeGuess } from './views/guess.js';
import { makeLessons } from './views/lessons.js';
import { makeLinking } from './views/linking.js';
import { makeMethods } from './views/methods.js';
import { makeOwnGraph } from './views/own_graph.js';
import { makePanes } from './views/panes.js';
import { makeAlone, makePaths, regionOf } from './views/paths.js';
import { makeProgram } from './views/program.js';
import { makeRail } from './views/rail.js';
import { makeThoughts } from './views/thoughts.js';
import { makeTour } from './views/tour.js';
import { makeXray } from './views/xray.js';
import { introduction, makeGallery, makeHow, makeLoading, makeRecording, showChoices } from './views/welcome.js';

/** @typedef {import('./core/types.js').PageText} PageText */
/** @typedef {import('./core/types.js').RunEvent} RunEvent */
/** @typedef {import('./core/types.js').RunState} RunState */
/** @typedef {import('./core/types.js').RecordedRun} RecordedRun */
/** @typedef {import('./core/types.js').QuestionRequest} QuestionRequest */

/**
 * What gradio gives: the element, the server's functions, the value of the component and a way to watch it.
 * @typedef {object} Host
 * @property {HTMLElement & {asked?: () => string}} stage the page reads `asked` when a question is sent
 * @property {import('./core/types.js').Boot} boot
 * @property {import('./core/types.js').Server} server
 * @property {(name: string, changed: () => void) => void} watch
 * @property {() => unknown} value
 * @property {(asked: QuestionRequest) => void} again asks a question
 * @property {() => void} settle puts `kgSettled` into the fields, see kgdemo/ui/page.py
 */

/**
 * Draw the page into its element and keep it up to date.
 * @param {Host} host
 * @returns {void}
 */
export function mount({ stage, boot, server, watch, value, again, settle }) {
  const { text } = boot;
  let due = false; // a drawing is on its way
  let settled = false; // it is known whether a recorded run plays first; until then nothing stands where it will be
  let opening = false; // nothing has been asked yet: a recorded run plays by itself
  let onTheWay = false; // a question has been sent, and its run has not begun
  const player = new Player(() => schedule());
  const stream = new EventStream(player, (gap) => server.missed(gap), () => begun());

  const stopButton = document.querySelector('#kg-stop');
  /** @type {(keys: string[]) => void} */
  let lightFromFrame = () => {};
  const inputs = new Inputs(boot.fields, boot.standard);
  const visitor = [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join('-'); // tells the graphs of a class apart
  const forcing = makeForcing(boot, text, again, revisit);
  const own = makeOwnGraph(boot, text, { bring: (sent) => server.bring({ ...sent, visitor }), again, changed: () => { edits.drop(); inputs.changed(); } });
  const edits = makeEdits(text, { server, again, revisit, own, gone: () => goTo(),
    broken: { values: () => inputs.values, recorded: () => Promise.all(boot.examples.map(recorded)) } });
  const layers = makeLayers(text, String(boot.standard.model), (asked) => server.layers(asked));
  const allowed = makeAllowed(text, forcing, layers);
  const graph = makeGraph(boot, text, (keys) => lightFromFrame(keys), (asked) => server.near(asked), () => { xray.reveal(''); });
  const rail = makeRail(player, text);
  const linking = makeLinking(text, (entities) => again({ entities }), (written) => server.entities({ run: player.run ?? '', written }));
  const methods = makeMethods(boot, text, (events, run) => { revisit(events, run); goTo(); }, (asked) => { again(asked); goTo(); }, edits.of, inputs);
  const ownRuns = makeOwnRuns(text, inputs, openRun);
  const program = makeProgram(boot, text, inputs);
  const gallery = makeGallery(boot, text, replay);
  const benchmark = boot.studies ? makeBenchmark(text, inputs, askWith).element : null;
  const constrained = makePaths(true, text, allowed.follow, schedule);
  const alone = makeAlone(boot, text, ({ question, method }) => server.rerun({ question, entities: [], changes: '', values: { ...inputs.values, method } }));
  const unconstrained = makePaths(false, text, allowed.follow, schedule, modelOf, alone);
  const address = makeAddress({
    inputs, editsOf: edits.of, own: () => own.name() !== '', revisit, arrange: putBack, settle: settleOn, reopen: () => begin(true),
    recordings: new Set([...boot.examples, ...boot.failures].map((one) => one.id)),
    trees: () => [constrained.isTree() ? 'with' : '', unconstrained.isTree() ? 'without' : ''].filter(Boolean),
  });
  const keep = makeKeep(text, graph.png, address.link, boot.offline);
  const answer = makeAnswer(boot, text, methods.control, statusOf, (relation) => { xray.reveal(relation); }, schedule);
  const xray = makeXray(text, () => server.xray({ graph: String(inputs.values.graph), changes: edits.changes() }));
  const next = makeNext(text, askThis);
  const recording = makeRecording(boot, text, askThis);
  const thoughts = makeThoughts(text);
  const views = [forcing, rail, linking, recording, next, constrained, unconstrained, allowed, graph, thoughts, answer, methods, edits, keep, ownRuns, gallery, program];

  const intro = introduction(boot, text, inputs, askThis, () => own.name() !== '');
  const narrow = innerWidth <= 760; // on a phone the run comes first, and its views are swiped
  const columns = h('div', { class: 'two' }, constrained.element, unconstrained.element);
  const legend = regionsLegend(text);
  const panes = narrow ? makePanes(text, { picture: [graph.element], reasons: [answer.reasons ?? columns, thoughts.element], paths: [legend, columns] }) : null;
  const low = h('div', { class: 'two low' }, answer.element, panes ? panes.element : [graph.element, thoughts.element]);
  const status = h('p', { class: 'sr-only', role: 'status', 'aria-live': 'polite' });
  const messages = h('div', { class: 'messages', role: 'alert' });
  const notices = h('div', { class: 'notices', role: 'status' });
  const board = h('div', { class: 'board' }, messages, h('div', { class: 'opened' }, recording.element, linking.element), notices, edits.compared, low, next.element, rail.element, narrow ? null : [legend, columns],
    forcing.element, allowed.element, methods.element, edits.element, keep.element);
  const how = makeHow(text);
  const tour = makeTour(text, player, () => replay(boot.examples[0]), board);
  const guess = makeGuess(text, player, anEndedRun);
  const classroom = makeClassroom(text, player, anEndedRun);
  views.push(guess, classroom);
  board.prepend(classroom.element, guess.element);
  const lessons = makeLessons(text, player, async (id) => {
    const run = [...boot.examples, ...boot.failures].find((one) => one.id === id);
    if (run) await replay(run);
  }, board);
  const more = h('div', { class: 'more' }, how, lessons.element, xray.element, gallery.element, ownRuns.element, program.element, benchmark);
  const examples = exampleRow();
  const others = h('div', { class: 'others' }, examples, own.element);
  const below = h('div', {}, narrow ? others : null, more);
  const all = h('div', { class: 'kg' }, makeLoading(text, () => server.loaded({})), intro.element, intro.themes, narrow ? null : others,
    gallery.banner, board, below, tour.panel, lessons.panel, status);
  all.append(explainTerms(document.body));
  stage.replaceChildren(all);
  lightFromFrame = watchHover(board, graph.tellKeys);

  /** A question is on its way: what was read or filled in before it is folded away. */
  function begun() {
    opening = onTheWay = false;
    allowed.reset();
    how.open = false;
    own.fold();
  }

  /** A question is sent: what only introduces goes now, not when the run begins, so that nothing jumps while one waits. */
  function sent() {
    onTheWay = true;
    schedule();
  }

  /** @param {RunState} state */
  function modelOf({ run }) {
    return run?.model === boot.standard.model && boot.parameters ? say(text.beams.sized, { size: figure(boot.parameters / 1e6, 1) }) : text.beams.model;
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
    below.hidden = !settled;
    /** @type {HTMLElement|null} */ (document.querySelector('footer'))?.style.setProperty('display', settled ? '' : 'none');
    intro.draw((opening && !onTheWay) || board.hidden);
    board.classList.toggle('asked-anew', onTheWay);
    board.dataset.run = player.run ?? '';
    board.dataset.origin = opening ? 'opening' : player.origin;
    board.dataset.over = String(player.over && !opening);
    markStop(stopButton, player.origin === 'live' && !player.ended);
    for (const view of views) view.draw(state, player);
    arrange(state);
    panes?.draw(player.run ?? '');
    if (!opening) address.draw(state, player);
    waitFor(player.over);
    refill(messages, state.failed?.message, () => (state.failed ? h('p', { class: 'failed' }, state.failed.message) : null));
    refill(notices, state.notices, () => state.notices.map((notice) => h('p', { class: 'notice' }, notice)));
    refill(status, [statusOf(state)], () => [statusOf(state)]);
  }

  /**
   * Leave out the cards that a method has no use for.
   * @param {RunState} state
   */
  function arrange(state) {
    const held = boot.methods.find((method) => method.name === state.run?.method)?.constrained ?? true;
    const { constrained: ours, unconstrained: theirs } = state;
    unconstrained.element.hidden = (!held || Boolean(state.finished)) && !theirs.paths.length && !theirs.steps.length;
    constrained.element.hidden = (!held || Boolean(state.finished)) && !ours.paths.length;
    allowed.element.hidden = (!held || Boolean(state.finished)) && !ours.steps.length;
    low.classList.toggle('thinking', !thoughts.element.hidden);
    legend.hidden = (!held || Boolean(state.finished)) && !ours.steps.length && !theirs.paths.length;
    const alone = unconstrained.element.hidden !== constrained.element.hidden;
    columns.classList.toggle('alone', alone);
    // beside an answer without a picture its place is kept, so that nothing jumps when a question is refused
    graph.element.hidden = (narrow || !state.final) && (Boolean(state.finished) || Boolean(state.failed)) && !state.nodes.size;
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
    const label = h('span', {}, text.ask.try);
    const fit = () => { // recordings of the graph that is asked
      for (const [place, button] of buttons.entries()) button.hidden = own.name() !== '' || boot.examples[place].graph !== inputs.values.graph;
      label.hidden = buttons.every((button) => button.hidden);
    };
    inputs.listeners.push(fit);
    fit();
    return h('nav', { class: 'examples', 'aria-label': text.ask.examples }, boot.examples.length ? [tour.start, guess.start, classroom.start, lessons.start] : null, label, buttons);
  }

  // showing a run ---------------------------------------------------------------------------------

  /** Where a run begins comes into sight, if the visitor has started it from further below. */
  function goTo() {
    const top = gallery.banner.hidden ? board : gallery.banner;
    if (top.getBoundingClientRect().top < 0) top.scrollIntoView({ block: 'start', behavior: player.calm ? 'auto' : 'smooth' });
  }

  /**
   * Show a run of this visit once more, at its end.
   * @param {RunEvent[]} events
   * @param {string} run
   */
  function revisit(events, run) {
    opening = onTheWay = false;
    stream.drop();
    allowed.reset();
    player.load(events, run);
    player.seek(player.stops.length);
  }

  /** The run that plays by itself at first is from now on one that the visitor looks at. */
  function leaveOpening() {
    const [first] = player.events;
    if (opening && first?.event === 'RunStarted') fillQuestion(first.question);
    opening = false;
    schedule();
  }

  /** Put a run that has ended on the page, if none is there: its tokens can be guessed. */
  async function anEndedRun() {
    tour.leave();
    const [first] = boot.examples;
    if (player.ended) { leaveOpening(); player.pause(); } else showRun(await recorded(first), first.id, first.question);
  }

  /** @param {RecordedRun} run */
  async function replay(run) {
    tour.leave();
    lessons.leave();
    how.open = false;
    showRun(await recorded(run), run.id, run.question);
    draw();
    goTo();
  }

  /** @type {(run: RecordedRun) => Promise<RunEvent[]>} */
  async function recorded(run) {
    if (run.events) return run.events;
    const written = await (await fetch(new URL(run.url, document.baseURI))).text();
    return written.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  }

  // links -----------------------------------------------------------------------------------------

  /** @type {import('./files/address.js').Place|null} what is to be put back once the run of a link has ended */
  let wanted = null;

  /**
   * Show what the page's address says, now that the fields hold what it says of them.
   * @param {import('./files/address.js').Place} place
   */
  async function follow(place) {
    const known = [...boot.examples, ...boot.failures].find((one) => one.id === place.recorded);
    if (known) {
      await replay(known);
      putBack(place);
    } else if (inputs.asks(boot.graphs)) {
      wanted = place;
      edits.restore(place.edits);
      if (place.entities.length || place.forced.length) again({ entities: place.entities, forced: place.forced });
      else /** @type {HTMLElement|null} */ (document.querySelector('#kg-go'))?.click();
    }
  }

  /** @param {boolean} over the shown run has ended */
  function waitFor(over) {
    if (!wanted || !over || player.origin !== 'live') return;
    const place = wanted;
    wanted = null;
    putBack(place);
  }

  /** @param {import('./files/address.js').Place} place */
  function putBack(place) {
    constrained.look(place.trees.includes('with'));
    unconstrained.look(place.trees.includes('without'));
    const first = player.events[0];
    if (first?.event === 'RunStarted') fillQuestion(first.question);
    player.seek(place.step ?? player.stops.length);
  }

  /** @param {import('./core/inputs.js').Values} values of the fields when the run was asked */
  function settleOn(values) {
    /** @type {{kgSettled?: object}} */ (globalThis).kgSettled = boot.fields.map((name) => values[name]);
    settle();
  }

  /** @param {RunEvent[]} events of a trace that the visitor has opened */
  function openRun(events) {
    const [first] = events;
    showRun(events, 'opened', first.event === 'RunStarted' ? first.question : '');
    goTo();
  }

  /** The page has been opened and its address asks nothing: play a recorded run, so that there is something to see. */
  async function begin(reopened = false) {
    const [first] = boot.examples;
    const asked = new URLSearchParams(location.search);
    const alone = !asked.has('question') && !asked.has('recorded');
    const events = first && alone ? await recorded(first).catch(() => []) : [];
    settled = true;
    schedule();
    if ((player.origin !== 'idle' && !reopened) || !events.length) return;
    stream.drop();
    opening = boot.examples.length > 1; // else this is the page of one run, which is what is looked at
    player.load(events, first.id);
  }

  /** @param {string} question */
  function askThis(question) {
    fillQuestion(question);
    sent();
    again({ question });
    goTo();
  }

  /**
   * Ask a question as a benchmark has asked it: the fields are filled first.
   * @param {string} question
   * @param {string[]} entities
   * @param {import('./core/inputs.js').Values} asked values of fields
   */
  function askWith(question, entities, asked) {
    const filled = () => Object.entries(asked).every(([name, value]) => String(inputs.values[name]) === String(value));
    const ask = () => { fillQuestion(question); sent(); again({ question, entities }); stage.scrollIntoView(); };
    if (filled()) { ask(); return; }
    const once = () => {
      if (!filled()) return;
      inputs.listeners = inputs.listeners.filter((listener) => listener !== once);
      ask();
    };
    inputs.listeners.push(once);
    settleOn({ ...inputs.values, ...asked, question });
  }

  /** @type {(events: RunEvent[], name: string, question: string) => void} */
  function showRun(events, name, question) {
    opening = onTheWay = false;
    stream.drop();
    allowed.reset();
    fillQuestion(question);
    player.load(events, name);
  }

  showChoices(inputs, boot, text, own.title);
  stopButton?.addEventListener('click', () => stream.drop());
  document.querySelector('#kg-go')?.addEventListener('click', sent);
  document.querySelector('#kg-question')?.addEventListener('keydown', (event) => {
    if (/** @type {KeyboardEvent} */ (event).key === 'Enter' && !(/** @type {KeyboardEvent} */ (event).shiftKey)) sent();
  });
  stage.asked = () => JSON.stringify({ ...JSON.parse(edits.asked()), ...(opening ? {} : { about: aboutOf(player.state), last: lastOf(player.state) }) });
  const linked = () => follow(placeOf(location.search));
  if (/** @type {{kgLinked?: boolean}} */ (globalThis).kgLinked) linked();
  else window.addEventListener('kg-linked', linked, { once: true });
  watch('value', () => stream.take(value()));
  inputs.listeners.push(schedule);
  let graphAsked = '';
  inputs.listeners.push(() => {
    const now = `${inputs.values.graph} ${own.name()}`;
    if (now !== graphAsked) xray.changed();
    graphAsked = now;
  });
  schedule();
  begin();
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
 * @param {PageText} text
 */
function regionsLegend({ beams, terms }) {
  return h('p', { class: 'regions' }, h('span', { class: regionOf(true) }, withTerms(beams.held, terms)), h('span', { class: regionOf(false) }, beams.freely));
}
