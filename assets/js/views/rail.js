// The bar of stages, with the transport controls beside it and the keys that do the same.

import { closest, figure, h, refill, say, sign } from '../core/dom.js';
import { SIZES } from '../core/player.js';
import { stagesOf, verifiedCount } from '../core/state.js';

/** @typedef {import('../core/types.js').PageText} PageText */
/** @typedef {import('../core/types.js').RunState} RunState */
/** @typedef {import('../core/types.js').Player} Player */

/** @type {Partial<Record<ReturnType<typeof stagesOf>[number], string>>} */
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
  const stages = h('ol', { class: 'stages', 'aria-label': text.stages.nav });
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
    refill(stages, [fates, facts], () => STAGES.map((name, place) => {
      const fate = fates[place];
      return h('li', { class: fate, title: text.stages.about[name], 'aria-current': fate === 'now' ? 'step' : null },
        h('b', { 'aria-hidden': 'true' }, SIGNS[fate] ?? place + 1), h('span', {}, text.stages[name]),
        fate === 'todo' || fate === 'now' ? null : h('span', { class: 'sr-only' }, text.stages[fate]), facts[place] ? h('small', {}, facts[place]) : null);
    }));
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

  return { element: h('div', { class: 'rail' }, stages, transport, hint), draw };
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
