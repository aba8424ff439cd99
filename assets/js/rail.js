// The bar of stages with the transport controls beside it.

import { figure, h, refill, say, sign } from './dom.js';
import { SIZES } from './stops.js';
import { listenToKeys } from './keyboard.js';
import { stagesOf } from './stages.js';

const SIGNS = { done: '✓', failed: '✕', halted: '–', skipped: '·' };
const STAGES = ['link', 'index', 'decode', 'verify', 'answer'];

export function makeRail(player, text) {
  const stages = h('ol', { class: 'stages', 'aria-label': text.stages.nav });
  const words = text.transport;
  const button = (name, act) => h('button', { type: 'button', class: 'step', 'aria-label': words[name], title: words[name], on: { click: act } }, sign(name));
  const play = h('button', { type: 'button', class: 'step play', on: { click: () => (player.playing ? player.pause() : player.play()) } });
  const range = h('input', { type: 'range', min: 0, step: 1, 'aria-label': words.scrub, on: { input: () => player.seek(Number(range.value)) } });
  const size = h('select', { class: 'size', 'aria-label': words.size, title: words.keys }, SIZES.map((name) => h('option', {}, words[name])));
  const where = h('span', { class: 'where' });
  const speed = h('button', { type: 'button', class: 'step speed', 'aria-label': words.speed, title: words.speed, on: { click: () => {
    player.speed = { 0.5: 1, 1: 2, 2: 0.5 }[player.speed];
    player.changed();
  } } });
  const transport = h('div', { class: 'transport', role: 'group', 'aria-label': words.scrub },
    button('first', () => player.seek(0)),
    button('back', () => player.step(-1, size.selectedIndex)), play,
    button('forward', () => player.step(1, size.selectedIndex)),
    button('last', () => player.seek(player.stops.length)), size, range, where, speed);
  listenToKeys(player, () => size.selectedIndex);

  const hint = h('p', { class: 'keys' }, words.keys);

  return {
    element: h('div', { class: 'rail' }, stages, transport, hint),
    draw(state) {
      const fates = stagesOf(state, player.stopped && player.over);
      const facts = stageFacts(state, text.stages);
      refill(stages, [fates, facts], () => STAGES.map((name, place) => {
        const fate = fates[place];
        return h('li', { class: fate, 'aria-current': fate === 'now' ? 'step' : null },
          h('b', { 'aria-hidden': 'true' }, SIGNS[fate] ?? place + 1), h('span', {}, text.stages[name]),
          fate === 'todo' || fate === 'now' ? null : h('span', { class: 'sr-only' }, text.stages[fate]), facts[place] ? h('small', {}, facts[place]) : null);
      }));
      transport.hidden = hint.hidden = !player.events.length;
      refill(play, player.playing, () => sign(player.playing ? 'pause' : 'play'));
      play.setAttribute('aria-label', player.playing ? words.pause : words.play);
      play.title = player.playing ? words.pause : words.play;
      range.max = String(player.stops.length);
      range.value = String(player.stop);
      range.style.setProperty('--done', `${player.stops.length ? (100 * player.stop) / player.stops.length : 0}%`);
      where.textContent = say(words.step, { i: player.stop, n: player.stops.length });
      speed.textContent = `${player.speed}×`;
    },
  };
}

function stageFacts(state, words) {
  const paths = [...state.branches.true.paths].filter((path) => path.verdict);
  return [
    '',
    state.ready ? say(words.paths, { n: figure(state.ready.paths), ms: figure(state.ready.ms, 1) }) : '',
    state.branches.true.steps.length ? say(words.steps, { n: state.branches.true.steps.length }) : '',
    paths.length ? say(words.verified, { ok: paths.filter((path) => path.verdict.faithful).length, n: paths.length }) : '',
    '',
  ];
}
