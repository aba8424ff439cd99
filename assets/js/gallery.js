// When it goes wrong: recorded failures, each with what happened and what to look at.

import { h } from './dom.js';

/**
 * @param {object} boot
 * @param {object} text
 * @param {(run: object) => Promise<void>} replay shows a recorded run
 */
export function makeGallery(boot, text, replay) {
  const words = text.gallery;
  const told = boot.failures.filter((failure) => words.cases[failure.id]);
  const banner = h('section', { class: 'card banner', hidden: true, 'aria-live': 'polite' });

  const cards = told.map((failure) => h('li', {}, h('button', { type: 'button', class: 'failure', on: { click: () => replay(failure) } },
    h('b', {}, words.cases[failure.id].title), h('span', {}, failure.question))));
  const element = h('details', { class: 'card fold' }, h('summary', {}, h('h2', {}, words.title)), h('p', { class: 'note' }, words.note), h('ul', { class: 'failures' }, cards));

  let shown = '';
  const draw = (state, player) => {
    const id = player.origin === 'recorded' ? player.run : '';
    if (id === shown) return;
    shown = id;
    const said = words.cases[id];
    banner.hidden = !said;
    banner.replaceChildren(...(said ? [h('h2', {}, said.title), h('p', {}, said.wrong), h('p', { class: 'note' }, h('b', {}, words.look), ' ', said.look)] : []));
  };
  return { element, banner, draw };
}
