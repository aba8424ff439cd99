// Building blocks for the page. Text enters the document here and only here, as text: never as markup.

const SVG = 'http://www.w3.org/2000/svg';

/** An element with attributes and children; `on` holds listeners, null children are left out. */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'on') for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (name === 'keys') { if (value) element.dataset.keys = JSON.stringify(value); }
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/** Replace what an element holds, unless `key` says that it would be the same again. */
export function refill(element, key, make) {
  const written = JSON.stringify(key);
  if (element.__key === written) return;
  element.__key = written;
  element.replaceChildren(...[make()].flat(3).filter(Boolean));
}

/** `{name}` slots of a sentence filled in. */
export function say(sentence, slots = {}) {
  return sentence.replace(/\{(\w+)\}/g, (whole, name) => (name in slots ? String(slots[name]) : whole));
}

/** A number as people write it. */
export function figure(value, digits = 0) {
  return Number(value).toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A token's text; one that is nothing but space gets a sign to see and to press. */
export function shownAs(token) {
  return token.trim() || '␣';
}

/** A log-probability with a true minus sign. */
export function score(value) {
  return value.toFixed(2).replace('-', '−');
}

/** A probability as percent, with one digit where it is small. */
export function percent(value) {
  const share = 100 * value;
  if (share > 0 && share < 0.1) return '< 0.1 %';
  return `${share >= 10 || share === 0 ? Math.round(share) : share.toFixed(1)} %`;
}

const SHAPES = {
  first: 'M3 3v10M13 3 6 8l7 5z', back: 'M11 3 4 8l7 5z', play: 'M4 2.5v11L13 8z', pause: 'M5 3v10M11 3v10', forward: 'M5 3l7 5-7 5z', last: 'M13 3v10M3 3l7 5-7 5z',
};

/** A small sign, drawn, since not every system has fonts for it. */
export function sign(name) {
  return svg('svg', { class: 'sign', viewBox: '0 0 16 16', width: 14, height: 14, 'aria-hidden': 'true' }, svg('path', { d: SHAPES[name] }));
}
