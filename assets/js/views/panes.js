// On a phone: the views of a run side by side, to be swiped, with a button for each. On a wider window they stand on the
// page itself, and there are no panes.

import { h } from '../core/dom.js';

/**
 * @param {import('../core/types.js').PageText} text
 * @param {Record<keyof import('../core/types.js').PageText['panes']['names'], HTMLElement[]>} views what each pane holds; a
 *   pane of which nothing is shown has no button
 * @returns {{element: HTMLElement, draw: (run?: string) => void, reveal: (view: Element) => void}} `reveal` goes to the pane that holds
 *   an element
 */
export function makePanes(text, views) {
  const words = text.panes;
  const names = /** @type {(keyof typeof views)[]} */ (Object.keys(views));
  const panes = names.map((name) => h('div', { class: `pane ${name}` }, views[name]));
  const track = h('div', { class: 'track' }, panes);
  const buttons = names.map((name, place) => h('button', { type: 'button', on: { click: () => go(panes[place]) } }, words.names[name]));
  const calm = matchMedia('(prefers-reduced-motion: reduce)');
  let here = 0;
  let drawn = ''; // the run

  /** @param {HTMLElement} pane */
  function go(pane) { track.scrollTo({ left: pane.offsetLeft - track.offsetLeft, behavior: calm.matches ? 'auto' : 'smooth' }); }

  /** @param {string} [run] another one is looked at from its first pane */
  function draw(run = drawn) {
    for (const pane of panes) pane.hidden = [...pane.children].every((child) => /** @type {HTMLElement} */ (child).hidden);
    if (run !== drawn) track.scrollLeft = 0;
    drawn = run;
    here = seen();
    for (const [place, pane] of panes.entries()) {
      buttons[place].hidden = pane.hidden;
      buttons[place].setAttribute('aria-pressed', String(place === here));
    }
    // the track is as high as the pane that is seen, so that a short one leaves no hole in the page
    const height = `${panes[here].offsetHeight}px`;
    if (panes[here].offsetHeight && track.style.height !== height) track.style.height = height;
  }

  /** The place of the pane that is seen. */
  function seen() {
    const middle = track.scrollLeft + track.clientWidth / 2;
    return Math.max(0, panes.findIndex((pane) => !pane.hidden && pane.offsetLeft - track.offsetLeft + pane.offsetWidth > middle));
  }

  track.addEventListener('scroll', () => { if (seen() !== here) draw(); }, { passive: true });
  const sizes = new ResizeObserver(() => draw());
  for (const pane of panes) sizes.observe(pane);

  return { element: h('div', { class: 'panes' }, h('div', { class: 'choice', role: 'group', 'aria-label': words.label }, buttons), track), draw,
    reveal: (view) => { const pane = panes.find((one) => one.contains(view)); if (pane) go(pane); } };
}
