// Building blocks of the page: elements, numbers, sentences. Text enters the document only here, and only as text
// nodes and attribute values, never as markup.

const SVG = 'http://www.w3.org/2000/svg';

/**
 * What an element may hold; lists are flattened, empty values are left out. (A JSDoc type cannot name itself in an
 * array, so a list is spelled out as what it has: a length and places.)
 * @typedef {Node|string|number|boolean|null|undefined} Leaf
 * @typedef {Leaf|{readonly length: number, readonly [place: number]: Child}} Child
 */

/**
 * Attributes of an element. `on` holds event listeners. `keys` holds the keys of what the element shows, see
 * `watchHover`. `true` sets an empty attribute; `false`, `null` and `undefined` set none.
 * @typedef {Record<string, any> & {on?: Record<string, (event: any) => void>, keys?: string[]|null}} Attributes
 */

/**
 * An HTML element with attributes and children.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * An SVG element with attributes and children.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * @template {HTMLElement|SVGElement} E
 * @param {E} element
 * @param {Attributes} attributes
 * @param {Child[]} children
 * @returns {E}
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'on') for (const [event, listener] of Object.entries(value)) element.addEventListener(event, /** @type {EventListener} */ (listener));
    else if (name === 'keys') { if (value) element.dataset.keys = JSON.stringify(value); }
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  for (const child of flattened(children)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/** @type {(children: Child[]) => Leaf[]} */
const flattened = (children) => /** @type {Leaf[]} */ (children.flat(Infinity));

/** @type {WeakMap<Element, string>} */
const filledWith = new WeakMap();

/**
 * Replace what an element holds, unless `key` is the same as the last time.
 * @param {Element} element
 * @param {unknown} key everything that the content depends on; compared as JSON
 * @param {() => Child} make the new content
 * @returns {void}
 */
export function refill(element, key, make) {
  const written = JSON.stringify(key);
  if (filledWith.get(element) === written) return;
  filledWith.set(element, written);
  element.replaceChildren(.../** @type {(Node|string)[]} */ (flattened([make()]).filter(Boolean)));
}

// sentences and numbers ---------------------------------------------------------------------------

/**
 * Fill the `{name}` slots of a sentence; a slot without a value stays as it is.
 * @param {string} sentence
 * @param {Record<string, unknown>} [slots]
 * @returns {string}
 */
export function say(sentence, slots = {}) {
  return sentence.replace(/\{(\w+)\}/g, (whole, name) => (name in slots ? String(slots[name]) : whole));
}

/**
 * The words for a name that comes from a record, such as a verdict or a fate.
 * @param {Record<string, string>} table
 * @param {string} name
 * @param {string} [otherwise] for a name that the table lacks
 * @returns {string}
 */
export function wordsFor(table, name, otherwise = name) {
  return Object.hasOwn(table, name) ? table[name] : otherwise;
}

/**
 * A number with thousands separators and a fixed number of decimals.
 * @param {number} value
 * @param {number} [digits]
 * @returns {string}
 */
export function figure(value, digits = 0) {
  return Number(value).toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/**
 * A log-probability with two decimals and a true minus sign.
 * @param {number} value
 * @returns {string}
 */
export function score(value) {
  return value.toFixed(2).replace('-', '−');
}

/**
 * A probability (0 to 1) as percent; values below 10 % get one decimal.
 * @param {number} value
 * @returns {string}
 */
export function percent(value) {
  const share = 100 * value;
  if (share > 0 && share < 0.1) return '< 0.1 %';
  return `${share >= 10 || share === 0 ? Math.round(share) : share.toFixed(1)} %`;
}

/**
 * A token's text; a token of white space only is shown as a visible sign.
 * @param {string} token
 * @returns {string}
 */
export function shownAs(token) {
  return token.trim() || '␣';
}

/**
 * A written path with typographic arrows.
 * @param {string} written
 * @returns {string}
 */
export function arrows(written) {
  return written.replaceAll(' -> ', ' → ');
}

const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/**
 * Where a name stands in a text, not as a part of another word or number: *2* is not in *26*; -1 where it does not.
 * @type {(text: string, name: string) => number}
 */
export function wholeAt(text, name) {
  const word = /[\p{L}\p{N}]/u;
  for (let at = text.indexOf(name); name && at >= 0; at = text.indexOf(name, at + 1)) {
    const begins = !word.test(name.charAt(0)) || !word.test(text.charAt(at - 1));
    const ends = !word.test(name.charAt(name.length - 1)) || !word.test(text.charAt(at + name.length));
    if (begins && ends) return at;
  }
  return -1;
}

/**
 * Text without the characters that XML cannot hold.
 * @param {unknown} value
 * @returns {string}
 */
export function xmlText(value) {
  return String(value).replace(NOT_XML, '');
}

// measuring, signs, the clipboard -----------------------------------------------------------------

/** @type {CanvasRenderingContext2D|null} */
let ruler = null;

/**
 * The width of a text in pixels.
 * @param {string} words
 * @param {string} font as in CSS
 * @returns {number}
 */
export function textWidth(words, font) {
  ruler ??= /** @type {CanvasRenderingContext2D} */ (document.createElement('canvas').getContext('2d'));
  ruler.font = font;
  return ruler.measureText(words).width;
}

const SHAPES = {
  first: 'M3 3v10M13 3 6 8l7 5z',
  back: 'M11 3 4 8l7 5z',
  play: 'M4 2.5v11L13 8z',
  pause: 'M5 3v10M11 3v10',
  forward: 'M5 3l7 5-7 5z',
  last: 'M13 3v10M3 3l7 5-7 5z',
};

/**
 * A sign of the transport, drawn because not every system has a font for it.
 * @param {keyof typeof SHAPES} name
 * @returns {SVGElement}
 */
export function sign(name) {
  return svg('svg', { class: 'sign', viewBox: '0 0 16 16', width: 14, height: 14, 'aria-hidden': 'true' }, svg('path', { d: SHAPES[name] }));
}

/**
 * Put text on the clipboard.
 * @param {string} words
 * @returns {Promise<boolean>} false where the browser does not allow it
 */
export async function copied(words) {
  try {
    await navigator.clipboard.writeText(words);
    return true;
  } catch {
    return false;
  }
}

/**
 * Write a question into the page's field, as if the visitor had typed it.
 * @param {string} question
 * @returns {void}
 */
export function fillQuestion(question) {
  const box = /** @type {HTMLTextAreaElement|null} */ (document.querySelector('#kg-question textarea'));
  if (!box) return;
  box.value = question;
  box.dispatchEvent(new Event('input', { bubbles: true }));
}

// hovering ----------------------------------------------------------------------------------------

/**
 * Light up everything that shows the same thing as the element under the pointer. Elements carry keys:
 * `g3` and `x3` are the third path with and without the graph, `e:NAME` is an entity, `t4` a thought.
 * @param {HTMLElement} root
 * @param {(keys: string[]) => void} tell passes the keys on to the graph's frame
 * @returns {(keys: string[]) => void} lights up the keys that the frame reports
 */
export function watchHover(root, tell) {
  let current = '';
  /** @type {(keys: string[], fromFrame: boolean) => void} */
  const light = (keys, fromFrame) => {
    const written = keys.join('\u0000');
    if (written === current) return;
    current = written;
    const wanted = new Set(keys);
    for (const element of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll('[data-keys]'))) {
      element.classList.toggle('lit', keysOf(element).some((key) => wanted.has(key)));
    }
    if (!fromFrame) tell(keys);
  };
  /** @type {(event: Event) => void} */
  const enter = (event) => {
    const element = /** @type {HTMLElement|null} */ (closest(event, '[data-keys]'));
    light(element ? keysOf(element) : [], false);
  };
  root.addEventListener('pointerover', enter);
  root.addEventListener('focusin', enter);
  root.addEventListener('pointerleave', () => light([], false));
  return (keys) => light(keys, true);
}

/** @type {(element: HTMLElement) => string[]} */
const keysOf = (element) => JSON.parse(element.dataset.keys ?? '[]');

/**
 * The nearest element around an event's target that a selector matches.
 * @param {Event} event
 * @param {string} selector
 * @returns {Element|null}
 */
export function closest(event, selector) {
  return event.target instanceof Element ? event.target.closest(selector) : null;
}
