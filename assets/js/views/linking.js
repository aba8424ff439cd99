// The question with the entities found in it, as chips that the visitor may remove, replace or add to.

import { h, refill, say } from '../core/dom.js';

/** @typedef {import('../core/types.js').RunState} RunState */
/** @typedef {import('../core/types.js').Mention} Mention */
/** @typedef {import('../core/dom.js').Child} Child */

const NEAREST = 5; // suggestions where nothing was found
const CANDIDATES = 6; // other candidates of a mention

/**
 * @param {import('../core/types.js').PageText} text
 * @param {(entities: string[]) => void} again asks the question again with these entities
 * @param {(written: string) => Promise<string[]>} suggest names of the graph that resemble what is written
 * @returns {{element: HTMLElement, draw: (state: RunState) => void}}
 */
export function makeLinking(text, again, suggest) {
  const words = text.link;
  const element = h('section', { class: 'linking', 'aria-label': words.question });
  /** @type {import('../core/types.js').EntitiesLinked|null} */
  let linked = null;
  /** @type {string[]|null} the visitor's own choice; null while it is the linker's */
  let mine = null;
  let open = ''; // the chip whose candidates are shown
  let redraw = () => {};

  const names = () => mine ?? linked?.chosen ?? [];
  /** @param {string[]|null} chosen */
  const change = (chosen) => { mine = chosen; open = ''; redraw(); };

  /** @param {RunState} state */
  const draw = (state) => {
    redraw = () => draw(state);
    if (state.linked !== linked) { linked = state.linked; mine = null; open = ''; }
    element.hidden = !state.run;
    const { mentions, nearest } = linked ?? { mentions: [], nearest: [] };
    const chosen = names();
    refill(element, [linked, chosen, open, Boolean(mine), state.run?.question], () => [
      h('p', { class: 'asked' }, withMarks(state.run?.question ?? '', mentions, chosen)),
      h('div', { class: 'chips' }, chosen.map(chip), adder(),
        mine ? h('button', { type: 'button', class: 'primary', disabled: !chosen.length, on: { click: () => again(names()) } }, words.again) : null,
        mine ? h('button', { type: 'button', class: 'plain', on: { click: () => change(null) } }, words.undo) : null),
      chosen.length || !nearest.length ? null
        : h('div', { class: 'offers' }, h('span', {}, words.nothing), nearest.slice(0, NEAREST).map((near) => offer(near.entity, near.type))),
      open ? h('div', { class: 'offers' }, candidatesFor(open).map((one) => offer(one.entity, one.type, open))) : null,
    ]);
  };

  /** @param {string} name */
  function chip(name) {
    const kind = linked?.mentions.flatMap((mention) => mention.candidates).find((one) => one.entity === name)?.type;
    const others = candidatesFor(name).length > 0;
    return h('span', { class: 'chip', keys: [`e:${name}`] },
      h('button', { type: 'button', class: 'name', disabled: !others, 'aria-expanded': others ? String(open === name) : null,
        title: others ? say(words.change, { name }) : null, on: { click: () => { open = open === name ? '' : name; redraw(); } } },
      name, kind ? h('small', {}, kind) : null, others ? h('i', { 'aria-hidden': 'true' }, '▾') : null),
      h('button', { type: 'button', class: 'out', 'aria-label': say(words.remove, { name }), on: { click: () => change(names().filter((one) => one !== name)) } }, '×'));
  }

  /** @param {string} name */
  function candidatesFor(name) {
    const mention = linked?.mentions.find((one) => one.candidates.some((candidate) => candidate.entity === name));
    return mention ? mention.candidates.filter((one) => one.entity !== name && !names().includes(one.entity)).slice(0, CANDIDATES) : [];
  }

  /**
   * A button that adds an entity, or takes it instead of another.
   * @type {(name: string, kind: string, instead?: string) => HTMLElement}
   */
  function offer(name, kind, instead) {
    const act = () => change(instead ? names().map((one) => (one === instead ? name : one)) : [...names(), name]);
    return h('button', { type: 'button', class: 'offer', on: { click: act } }, name, kind ? h('small', {}, kind) : null);
  }

  /** The field for one more entity, with suggestions below it. */
  function adder() {
    const input = h('input', { type: 'text', class: 'add', 'aria-label': words.add, placeholder: `+ ${innerWidth > 760 ? words.add : words.add_short}`, maxlength: 100, on: {
      input: async () => {
        const written = input.value;
        const found = written.trim().length < 2 ? [] : await suggest(written);
        if (input.value !== written) return;
        const offers = found.filter((name) => !names().includes(name)).map((name) => offer(name, ''));
        element.querySelector('.suggested')?.remove();
        if (offers.length) element.append(h('div', { class: 'offers suggested' }, offers));
      },
      keydown: (event) => {
        if (event.key === 'Enter') /** @type {HTMLElement|null} */ (element.querySelector('.suggested button'))?.click();
      },
    } });
    return input;
  }

  return { element, draw };
}

/**
 * Where a mention stands in the question as it was typed, since it was found in the question as it was put right;
 * a mistyped name where whole words stand in its place, and (-1, -1) elsewhere.
 * @param {string} question
 * @param {Mention} mention
 * @returns {[number, number]}
 */
export function placeOf(question, mention) {
  if (question.slice(mention.start, mention.end) === mention.text) return [mention.start, mention.end];
  const start = question.indexOf(mention.text);
  if (start >= 0) return [start, start + mention.text.length];
  const around = ` ${question} `.slice(mention.start, mention.end + 2); // with the letter before and the one behind
  return /^[^\p{L}\p{N}][\p{L}\p{N}].*[\p{L}\p{N}][^\p{L}\p{N}]$/u.test(around) ? [mention.start, mention.end] : [-1, -1];
}

/**
 * The question's text with its mentions marked.
 * @type {(question: string, mentions: Mention[], names: string[]) => Child[]}
 */
function withMarks(question, mentions, names) {
  /** @type {Child[]} */
  const parts = [];
  let place = 0;
  for (const mention of [...mentions].sort((a, b) => a.start - b.start)) {
    const chosen = mention.candidates.find((one) => names.includes(one.entity));
    const [start, end] = placeOf(question, mention);
    if (!chosen || start < place) continue;
    parts.push(question.slice(place, start), h('mark', { keys: [`e:${chosen.entity}`] }, question.slice(start, end)));
    place = end;
  }
  return [...parts, question.slice(place)];
}
