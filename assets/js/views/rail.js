// The bar of stages, with the transport controls beside it and the keys that do the same.

import { closest, figure, h, refill, say, sign } from '../core/dom.js';
import { SIZES } from '../core/player.js';
import { stagesOf, verifiedCount } from '../core/state.js';
import { term } from '../core/terms.js';

/** @typedef {import('../core/types.js').PageText} PageText */
/** @typedef {import('../core/types.js').RunState} RunState */
/** @typedef {import('../core/types.js').Player} Player */

/** @typedef {ReturnType<typeof stagesOf>[number]} Fate */

/** @type {Partial<Record<Fate, string>>} */
const SIGNS = { done: '✓', failed: '✕', halted: '–', skipped: '·' };
const STAGES = /** @type {const} */ (['link', 'index', 'decode', 'verify', 'answer']);
/** @type {Record<number, number>} */
const NEXT_SPEED = { 0.5: 1, 1: 2, 2: 0.5 };

/**
 * @param {Player} player
 * @param {PageText} text
 * @returns {{element: HTMLElement, draw: (state: RunState) => void}}
 */
export function makeRail(player, text) {
  const stages = STAGES.map((name) => makeStage(name, text.stages));
  const words = text.transport;
  /** @type {(name: 'first'|'back'|'forward'|'last', act: () => void) => HTMLElement} */
  const button = (name, act) => h('button', { type: 'button', class: 'step', 'aria-label': words[name], title: words[name], on: { click: act } }, sign(name));
  const play = h('button', { type: 'button', class: 'step play', on: { click: () => (player.playing ? player.pause() : player.play()) } });
  const range = h('input', { type: 'range', min: 0, step: 1, 'aria-label': words.scrub, on: { input: () => player.seek(Number(range.value)) } });
  const size = h('select', { class: 'size', 'aria-label': words.size, title: words.keys }, SIZES.map((name) => h('option', {}, words[name])));
  const where = h('span', { class: 'where' });
  const speed = h('button', { type: 'button', class: 'step speed', 'aria-label': words.speed, title: words.speed, on: { click: () => {
    player.speed = NEXT_SPEED[player.speed];
    player.changed();
  } } });
  const transport = h('div', { class: 'transport', role: 'group', 'aria-label': words.scrub },
    button('first', () => player.seek(0)),
    button('back', () => player.step(-1, size.selectedIndex)), play,
    button('forward', () => player.step(1, size.selectedIndex)),
    button('last', () => player.seek(player.stops.length)), size, range, where, speed);
  const hint = h('p', { class: 'keys' }, words.keys);
  listenToKeys(player, () => size.selectedIndex);

  /** @param {RunState} state */
  function draw(state) {
    const fates = stagesOf(state, player.stopped && player.over);
    const facts = stageFacts(state, text.stages);
    for (const [place, stage] of stages.entries()) stage.draw(fates[place], facts[place]);
    transport.hidden = hint.hidden = !player.events.length;
    refill(play, player.playing, () => sign(player.playing ? 'pause' : 'play'));
    play.setAttribute('aria-label', player.playing ? words.pause : words.play);
    play.title = player.playing ? words.pause : words.play;
    const stops = player.stops.length;
    range.max = String(stops);
    range.value = String(player.stop);
    range.style.setProperty('--done', `${stops ? (100 * player.stop) / stops : 0}%`);
    where.textContent = say(words.step, { i: player.stop, n: stops });
    speed.textContent = `${player.speed}×`;
  }

  return { element: h('div', { class: 'rail' }, h('ol', { class: 'stages', 'aria-label': text.stages.nav }, stages.map((stage) => stage.element)), transport, hint), draw };
}

/**
 * One stage: its sign, its name, which is explained on the spot, and a short fact.
 * @type {(name: typeof STAGES[number], words: PageText['stages']) => {element: HTMLElement, draw: (fate: Fate, fact: string) => void}}
 */
function makeStage(name, words) {
  const mark = h('b', { 'aria-hidden': 'true' });
  const said = h('span', { class: 'sr-only' });
  const told = h('small', {});
  const element = h('li', {}, mark, term(words[name], words.about[name]), said, told);
  return { element, draw: (fate, fact) => {
    element.className = fate;
    if (fate === 'now') element.setAttribute('aria-current', 'step');
    else element.removeAttribute('aria-current');
    mark.textContent = SIGNS[fate] ?? String(STAGES.indexOf(name) + 1);
    said.textContent = fate === 'todo' || fate === 'now' ? '' : words[fate];
    told.textContent = fact;
  } };
}

/**
 * One short fact below each stage, empty where there is none.
 * @type {(state: RunState, words: PageText['stages']) => string[]}
 */
function stageFacts(state, words) {
  const { ok, n } = verifiedCount(state.constrained);
  const { ready, constrained: { steps } } = state;
  return [
    '',
    ready ? say(words.paths, { n: figure(ready.paths), ms: figure(ready.ms, 1) }) : '',
    steps.length ? say(words.steps, { n: steps.length }) : '',
    n ? say(words.verified, { ok, n }) : '',
    '',
  ];
}

// keys --------------------------------------------------------------------------------------------

const FIELDS = 'input, textarea, select, [contenteditable="true"], [role="listbox"], [role="tree"], dialog';
const PRESSED_BY_SPACE = 'button, summary, a, [role="button"]';

/**
 * Keys of the transport. No key is taken from a field, from a dialog, or from a control that has its own use for it.
 * @param {Player} player
 * @param {() => number} size of a step
 */
function listenToKeys(player, size) {
  /** @type {Record<string, () => void>} */
  const acts = {
    ' ': () => (player.playing ? player.pause() : player.play()),
    ArrowLeft: () => player.step(-1, size()),
    ArrowRight: () => player.step(1, size()),
    Home: () => player.seek(0),
    End: () => player.seek(player.stops.length),
  };
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (!acts[event.key] || !player.events.length || closest(event, FIELDS)) return;
    if (event.key === ' ' && closest(event, PRESSED_BY_SPACE)) return;
    event.preventDefault();
    acts[event.key]();
  });
}
