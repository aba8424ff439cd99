// Bringing a graph of one's own: pasted or from a file, looked at, and then asked until the visitor leaves it.

import { figure, h, refill, say } from './dom.js';

/**
 * @param {object} boot
 * @param {object} text
 * @param {{bring: (sent: object) => Promise<object>, again: (asked: object) => void, changed: () => void}} act
 */
export function makeOwn(boot, text, { bring, again, changed }) {
  const words = text.own;
  const { limits } = boot;
  let own = null; // what the server said of the graph in use
  let error = '';
  let busy = false;

  const paste = h('textarea', { id: 'kg-paste', rows: 4, placeholder: words.placeholder, spellcheck: 'false' });
  const take = h('button', { type: 'button', class: 'primary', on: { click: () => send({ text: paste.value }) } }, words.take);
  const file = h('input', { type: 'file', 'aria-label': words.file, accept: '.tsv,.txt,.csv,.jsonl,.nt,.ttl,.gz', on: { change: () => choose(file.files[0]) } });
  const said = h('div', { class: 'said', role: 'alert' });
  const shown = h('div', { class: 'brought' });
  const body = h('details', { class: 'own' }, h('summary', {}, words.title),
    h('p', { class: 'note' }, say(words.limits, { triples: figure(limits.triples), bytes: size(limits.bytes), minutes: limits.minutes, kept: limits.kept })),
    h('label', { for: 'kg-paste' }, words.paste), paste, h('div', { class: 'row' }, take, h('label', { class: 'file' }, words.file, ' ', file)), said, shown);
  const banner = h('p', { class: 'asked-on' });
  const element = h('section', { class: 'bring' }, banner, body);
  draw();

  async function choose(chosen) {
    if (!chosen) return;
    if (chosen.size > limits.bytes) {
      say_(say(words.large, { name: chosen.name, size: size(chosen.size), most: size(limits.bytes) }));
      return;
    }
    const address = await new Promise((done) => {
      const reader = new FileReader();
      reader.onload = () => done(String(reader.result));
      reader.readAsDataURL(chosen);
    });
    await send({ name: chosen.name, base64: address.slice(address.indexOf(',') + 1) });
    file.value = '';
  }

  async function send(sent) {
    if (busy) return;
    busy = true;
    say_(words.reading);
    let answer = { error: words.failed };
    try { answer = await bring(sent); } finally { busy = false; say_(answer.error ?? ''); }
    if (answer.error) return;
    own = answer;
    changed();
    draw();
  }

  function say_(sentence) { error = sentence; draw(); }

  function leave() {
    own = null;
    changed();
    draw();
  }

  function ask(question) {
    const box = document.querySelector('#kg-question textarea');
    if (box) { box.value = question; box.dispatchEvent(new Event('input', { bubbles: true })); }
    again({ question });
  }

  function draw() {
    refill(said, error, () => (error ? h('p', {}, error) : []));
    refill(banner, own, () => (own ? [say(words.now, { title: own.title }), ' ', h('button', { type: 'button', class: 'plain', on: { click: leave } }, words.leave)] : []));
    banner.hidden = !own;
    refill(shown, own, () => (own ? [
      h('p', { class: 'counts' }, h('b', {}, own.title), ' · ', say(words.counts, { triples: figure(own.triples), entities: figure(own.entities), relations: figure(own.relations) })),
      h('table', { 'aria-label': words.rows }, h('tbody', {}, own.rows.map((row) => h('tr', {}, row.map((label) => h('td', {}, short(label))))))),
      own.starters.length ? h('p', { class: 'note' }, words.how) : null,
      h('p', { class: 'starters' }, own.starters.map((question) => h('button', { type: 'button', class: 'plain', on: { click: () => ask(question) } }, question))),
    ] : []));
  }

  return { element, name: () => own?.own ?? '', title: () => own?.title ?? '', fold: () => { body.open = false; } };
}

function short(label) {
  return label.length > 80 ? `${label.slice(0, 79)}…` : label;
}

function size(bytes) {
  return bytes < 100_000 ? `${figure(bytes)} bytes` : `${figure(bytes / 1_000_000, bytes % 1_000_000 ? 1 : 0)} MB`;
}
