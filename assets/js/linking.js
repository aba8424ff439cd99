// The question with the entities found in it, as chips that the visitor may overrule.

import { h, refill, say } from './dom.js';

/**
 * @param {object} text
 * @param {(entities: string[]) => void} again asks the question again with these entities
 * @param {(written: string) => Promise<string[]>} suggest names of the graph like what is written
 */
export function makeLinking(text, again, suggest) {
  const words = text.link;
  const element = h('section', { class: 'linking', 'aria-label': words.question });
  let shown = null; // the event that is shown
  let mine = null; // the visitor's own choice, null while it is the linker's
  let open = ''; // the chip whose candidates are shown
  let offers = [];

  const draw = (state) => {
    if (state.linked !== shown) { shown = state.linked; mine = null; open = ''; offers = []; }
    element.hidden = !shown;
    if (!shown) return;
    const names = mine ?? shown.chosen;
    refill(element, [shown, names, open, offers], () => [
      h('p', { class: 'asked' }, marked(state.run.question, shown.mentions, names)),
      h('div', { class: 'chips' }, names.map((name) => chip(name)), adder(),
        mine ? h('button', { type: 'button', class: 'primary', disabled: !names.length, on: { click: () => again(mine) } }, words.again) : null,
        mine ? h('button', { type: 'button', class: 'plain', on: { click: () => change(null) } }, words.undo) : null),
      names.length || !shown.nearest.length ? null : h('div', { class: 'offers' }, h('span', {}, words.nothing), shown.nearest.slice(0, 5).map((near) => offer(near.entity, near.type))),
      open ? h('div', { class: 'offers' }, candidatesFor(open).map((one) => offer(one.entity, one.type, open))) : null,
      offers.length ? h('div', { class: 'offers' }, offers.map((name) => offer(name, ''))) : null,
    ]);
  };
  let redraw = () => {};
  const change = (names) => { mine = names; open = ''; offers = []; redraw(); };
  const names = () => mine ?? shown.chosen;

  function chip(name) {
    const kind = shown.mentions.flatMap((mention) => mention.candidates).find((one) => one.entity === name)?.type;
    const others = candidatesFor(name).length > 0;
    return h('span', { class: 'chip', keys: [`e:${name}`] },
      h('button', { type: 'button', class: 'name', disabled: !others, 'aria-expanded': others ? String(open === name) : null,
        title: others ? say(words.change, { name }) : null, on: { click: () => { open = open === name ? '' : name; redraw(); } } },
      name, kind ? h('small', {}, kind) : null, others ? h('i', { 'aria-hidden': 'true' }, '▾') : null),
      h('button', { type: 'button', class: 'out', 'aria-label': say(words.remove, { name }), on: { click: () => change(names().filter((one) => one !== name)) } }, '×'));
  }

  function candidatesFor(name) {
    const mention = shown.mentions.find((one) => one.candidates.some((candidate) => candidate.entity === name));
    return mention ? mention.candidates.filter((one) => one.entity !== name && !names().includes(one.entity)).slice(0, 6) : [];
  }

  function offer(name, kind, instead) {
    const act = () => change(instead ? names().map((one) => (one === instead ? name : one)) : [...names(), name]);
    return h('button', { type: 'button', class: 'offer', on: { click: act } }, name, kind ? h('small', {}, kind) : null);
  }

  function adder() {
    const input = h('input', { type: 'text', class: 'add', 'aria-label': words.add, placeholder: `+ ${words.add}`, maxlength: 100, on: {
      input: async () => {
        const written = input.value;
        const found = written.trim().length < 2 ? [] : await suggest(written);
        if (input.value !== written) return;
        offers = found.filter((name) => !names().includes(name));
        const list = h('div', { class: 'offers' }, offers.map((name) => offer(name, '')));
        element.querySelector('.suggested')?.remove();
        list.classList.add('suggested');
        if (offers.length) element.append(list);
        offers = [];
      },
      keydown: (event) => { if (event.key === 'Enter') element.querySelector('.suggested button')?.click(); },
    } });
    return input;
  }

  return { element, draw: (state) => { redraw = () => draw(state); draw(state); } };
}

/** The question's text with its mentions marked. */
function marked(question, mentions, names) {
  const parts = [];
  let place = 0;
  for (const mention of [...mentions].sort((a, b) => a.start - b.start)) {
    const chosen = mention.candidates.find((one) => names.includes(one.entity));
    if (!chosen || mention.start < place) continue;
    parts.push(question.slice(place, mention.start), h('mark', { keys: [`e:${chosen.entity}`] }, question.slice(mention.start, mention.end)));
    place = mention.end;
  }
  return [...parts, question.slice(place)];
}
