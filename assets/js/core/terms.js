// Words that are explained on the spot: point at one, tap it, or reach it with the Tab key. One box, shared by all of
// them, shows the explanation; Escape closes it.

import { h } from './dom.js';

const GAP = 8; // pixels between a word and its explanation, and between this and the window's edge

/**
 * A word with an explanation.
 * @param {import('./dom.js').Child} words
 * @param {string} why
 * @param {import('./dom.js').Attributes} [attributes]
 * @returns {HTMLButtonElement}
 */
export function term(words, why, attributes = {}) {
  return h('button', { ...attributes, type: 'button', class: `term ${attributes.class ?? ''}`.trim(), 'data-why': why }, words);
}

/**
 * A sentence in which each word of a glossary is explained where it stands first, in the singular or the plural.
 * @param {string} sentence
 * @param {Record<string, string>} glossary
 * @returns {(string|HTMLElement)[]}
 */
export function withTerms(sentence, glossary) {
  const told = new Set();
  return sentence.split(new RegExp(`\\b((?:${Object.keys(glossary).join('|')})s?)\\b`)).filter(Boolean).map((part) => {
    const word = Object.keys(glossary).find((one) => part === one || part === `${one}s`);
    if (!word || told.has(word)) return part;
    told.add(word);
    return term(part, glossary[word]);
  });
}

/**
 * Show the explanation of the word that is pointed at, tapped or focused.
 * @param {HTMLElement} root holds the words
 * @returns {HTMLElement} the box, to be put into the page
 */
export function explainTerms(root) {
  const box = h('div', { class: 'explained', role: 'tooltip', id: 'kg-explained', hidden: true });
  /** @type {HTMLElement|null} */
  let shown = null;

  /** @param {HTMLElement|null} word */
  function show(word) {
    if (word === shown) return;
    shown?.removeAttribute('aria-describedby');
    shown = word;
    box.hidden = !word;
    if (!word) return;
    word.setAttribute('aria-describedby', box.id);
    box.textContent = word.dataset.why ?? '';
    place();
  }

  function place() {
    if (!shown) return;
    const [at, size] = [shown.getBoundingClientRect(), box.getBoundingClientRect()];
    const below = at.bottom + GAP + size.height <= innerHeight;
    box.style.left = `${Math.max(GAP, Math.min(at.left, innerWidth - size.width - GAP))}px`;
    box.style.top = `${below ? at.bottom + GAP : Math.max(GAP, at.top - size.height - GAP)}px`;
  }

  /** @type {(event: Event) => HTMLElement|null} */
  const wordOf = ({ target }) => (target instanceof Element ? target.closest('[data-why]') : null);
  root.addEventListener('pointerover', (event) => {
    const word = wordOf(event);
    if (word || shown !== document.activeElement) show(word); // a page that is scrolled under the pointer takes nothing from the keyboard
  });
  for (const kind of ['focusin', 'click']) root.addEventListener(kind, (event) => show(wordOf(event)));
  root.addEventListener('focusout', () => show(null));
  document.addEventListener('keydown', (event) => { if (event.key === 'Escape') show(null); });
  document.addEventListener('scroll', place, { capture: true, passive: true }); // a word that gets the focus is scrolled to
  return box;
}
