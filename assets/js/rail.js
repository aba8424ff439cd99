// The bar of stages with the transport controls beside it.

import { figure, h, refill, say, sign } from './dom.js';
import { stageNow } from './state.js';

const STAGES = ['link', 'index', 'decode', 'verify', 'answer'];

export function makeRail(player, text) {
  const stages = h('ol', { class: 'stages', 'aria-label': text.stages.nav });
  const words = text.transport;
  const button = (name, act) => h('button', { type: 'button', class: 'step', 'aria-label': words[name], title: words[name], on: { click: act } }, sign(name));
  const play = h('button', { type: 'button', class: 'step play', on: { click: () => (player.playing ? player.pause() : player.play()) } });
  const range = h('input', { type: 'range', min: 0, step: 1, 'aria-label': words.scrub, on: { input: () => player.seek(Number(range.value)) } });
  const where = h('span', { class: 'where' });
  const speed = h('button', { type: 'button', class: 'step speed', 'aria-label': words.speed, title: words.speed, on: { click: () => {
    player.speed = { 0.5: 1, 1: 2, 2: 0.5 }[player.speed];
    player.changed();
  } } });
  const transport = h('div', { class: 'transport', role: 'group', 'aria-label': words.scrub },
    button('first', () => player.seek(0)),
    button('back', () => player.seek(player.stop - 1)), play,
    button('forward', () => player.seek(player.stop + 1)),
    button('last', () => player.seek(player.stops.length)), range, where, speed);

  return {
    element: h('div', { class: 'rail' }, stages, transport),
    draw(state) {
      const now = stageNow(state);
      const facts = stageFacts(state, text.stages);
      refill(stages, [now, facts, Boolean(state.failed), player.stopped], () => STAGES.map((name, place) => {
        const fate = place < now ? 'done' : place === now && !state.failed && !player.stopped ? 'now' : '';
        return h('li', { class: fate, 'aria-current': fate === 'now' ? 'step' : null },
          h('b', { 'aria-hidden': 'true' }, fate === 'done' ? '✓' : place + 1), h('span', {}, text.stages[name]),
          facts[place] ? h('small', {}, facts[place]) : null);
      }));
      transport.hidden = !player.events.length;
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
