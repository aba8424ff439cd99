// The visitor's own graph: pasted or from a file, looked at, and then asked until the visitor leaves it.

import { figure, fillQuestion, h, refill, say } from '../core/dom.js';

/** @typedef {import('../core/types.js').OwnGraph} OwnGraph */
/** @typedef {import('../core/types.js').Server} Server */

const LABEL_LENGTH = 80; // characters of a label in the first rows

/**
 * @param {import('../core/types.js').Boot} boot
 * @param {import('../core/types.js').PageText} text
 * @param {object} page
 * @param {Server['bring']} page.bring sends a graph to the server
 * @param {(asked: import('../core/types.js').QuestionRequest) => void} page.again asks a question
 * @param {() => void} page.changed called when another graph is asked from now on
 * @returns {{element: HTMLElement, name: () => string, title: () => string, fold: () => void}} `name` and `title` are
 *   empty while the visitor has no graph
 */
export function makeOwnGraph(boot, text, { bring, again, changed }) {
  const words = text.own;
  const { limits } = boot;
  /** @type {OwnGraph|null} what the server said of the graph in use */
  let own = null;
  let sentence = ''; // what is wrong, or under way
  /** @type {{faults: string[], bad: number, good: number, again: () => void}|null} the lines that are no triples, where others are */
  let partly = null;
  let busy = false;

  const paste = h('textarea', { id: 'kg-paste', rows: 4, placeholder: words.placeholder, spellcheck: 'false' });
  const take = h('button', { type: 'button', class: 'primary', on: { click: () => send({ text: paste.value }) } }, words.take);
  const file = h('input', { type: 'file', 'aria-label': words.file, accept: '.tsv,.txt,.csv,.jsonl,.nt,.ttl,.gz', on: { change: () => choose(file.files?.[0]) } });
  const said = h('div', { class: 'said', role: 'alert' });
  const shown = h('div', { class: 'brought' });
  const body = h('details', { class: 'own' }, h('summary', {}, words.title),
    h('p', { class: 'note' }, say(words.limits, { triples: figure(limits.triples), bytes: size(limits.bytes), minutes: limits.minutes, kept: limits.kept })),
    h('label', { for: 'kg-paste' }, words.paste), paste, h('div', { class: 'row' }, take, h('label', { class: 'file' }, words.file, ' ', file)), said, shown);
  const banner = h('p', { class: 'asked-on' });
  const element = h('section', { class: 'bring' }, banner, body);
  draw();

  /** @param {File|undefined} chosen */
  async function choose(chosen) {
    if (!chosen) return;
    if (chosen.size > limits.bytes) {
      show(say(words.large, { name: chosen.name, size: size(chosen.size), most: size(limits.bytes) }));
      return;
    }
    /** @type {string} */
    const address = await new Promise((done) => {
      const reader = new FileReader();
      reader.onload = () => done(String(reader.result));
      reader.readAsDataURL(chosen);
    });
    await send({ name: chosen.name, base64: address.slice(address.indexOf(',') + 1) });
    file.value = '';
  }

  /** @param {Parameters<Server['bring']>[0]} sent */
  async function send(sent) {
    if (busy) return;
    busy = true;
    partly = null;
    show(words.reading);
    /** @type {Awaited<ReturnType<Server['bring']>>} */
    let answer = { error: words.failed };
    try { answer = await bring(sent); } finally {
      busy = false;
      const { faults = [], bad = 0, good = 0 } = answer;
      partly = answer.error && good ? { faults, bad, good, again: () => send({ ...sent, lenient: true }) } : null;
      show(answer.error ?? '');
    }
    if ('own' in answer && !answer.error) use(answer);
  }

  /** @param {OwnGraph|null} graph */
  function use(graph) {
    own = graph;
    changed();
    draw();
  }

  /** @param {string} words */
  function show(words) { sentence = words; draw(); }

  /** @param {string} question */
  function ask(question) {
    fillQuestion(question);
    again({ question });
  }

  function draw() {
    const graph = own;
    refill(said, [sentence, partly], () => (partly ? [
      h('p', {}, say(words.partly, { bad: figure(partly.bad) })),
      h('ul', { class: 'faults' }, partly.faults.map((fault) => h('li', {}, fault)), partly.bad > partly.faults.length ? h('li', {}, say(words.faults_more, { n: figure(partly.bad - partly.faults.length) })) : null),
      h('button', { type: 'button', class: 'primary', on: { click: partly.again } }, say(words.lenient, { good: figure(partly.good) }))]
      : sentence ? h('p', {}, sentence) : []));
    refill(banner, graph, () => (graph ? [say(words.now, { title: graph.title }), ' ',
      h('button', { type: 'button', class: 'plain', on: { click: () => use(null) } }, words.leave)] : []));
    banner.hidden = !graph;
    refill(shown, graph, () => (graph ? [
      h('p', { class: 'counts' }, h('b', {}, graph.title), ' · ',
        say(words.counts, { triples: figure(graph.triples), entities: figure(graph.entities), relations: figure(graph.relations) }), graph.left_out ? say(words.left_out, { n: figure(graph.left_out) }) : null),
      h('table', { 'aria-label': words.rows }, h('tbody', {}, graph.rows.map((row) => h('tr', {}, row.map((label) => h('td', {}, short(label))))))),
      graph.starters.length ? h('p', { class: 'note' }, words.how) : null,
      h('p', { class: 'starters' }, graph.starters.map((question) => h('button', { type: 'button', class: 'plain', on: { click: () => ask(question) } }, question))),
    ] : []));
  }

  return { element, name: () => own?.own ?? '', title: () => own?.title ?? '', fold: () => { body.open = false; } };
}

/** @param {string} label */
function short(label) {
  return label.length > LABEL_LENGTH ? `${label.slice(0, LABEL_LENGTH - 1)}…` : label;
}

/** @param {number} bytes */
function size(bytes) {
  return bytes < 100_000 ? `${figure(bytes)} bytes` : `${figure(bytes / 1_000_000, bytes % 1_000_000 ? 1 : 0)} MB`;
}
