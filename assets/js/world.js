// Changing the world: edges taken out or put in, the question asked again, before and after side by side.
// The list of changes lives here and is sent with every question; the server makes the changed graph from it.

import { makeCompared } from './compared.js';
import { h, refill, say } from './dom.js';

const SHOWN = 6;

/**
 * @param {object} boot
 * @param {object} text
 * @param {{server: object, again: (asked: object) => void, revisit: Function, own: object}} page
 */
export function makeWorld(boot, text, { server, again, revisit, own }) {
  const words = text.world;
  const hops = h('ul', { class: 'hops', 'aria-label': words.hops });
  const list = h('ul', { class: 'edits', 'aria-label': words.edits });
  const said = h('p', { class: 'said', role: 'alert' });
  const buttons = h('div', { class: 'row' });
  const compared = makeCompared(words);
  const element = h('section', { class: 'card world' }, h('h2', {}, words.title), h('p', { class: 'note' }, words.note),
    h('div', { class: 'sides' }, h('div', {}, hops), h('div', {}, form(), said, list, buttons)), compared.element);
  const runs = new Map(); // run -> { run, own, question, edits, driven, events, summary }
  let edits = []; // [kind, head, relation, tail]
  let sent = { own: '', edits: [] };
  let here = null;
  let all = false;
  let state = null;
  let player = null;

  const draw = (stateNow, playerNow) => {
    state = stateNow;
    player = playerNow;
    if (state.run && player.run) arrive();
    element.hidden = !here || !state.run || here.own !== own.name();
    if (element.hidden) return;
    const walked = hopsOf(state);
    const cut = edits.map((edit) => edit.join('\u0000'));
    refill(hops, [walked, cut, all], () => [...walked.slice(0, all ? Infinity : SHOWN).map((hop) => hopRow(hop, cut)),
      !all && walked.length > SHOWN ? h('li', {}, h('button', { type: 'button', class: 'plain', on: { click: () => { all = true; redraw(); } } }, say(words.more, { n: walked.length - SHOWN }))) : null]);
    refill(list, edits, () => edits.map(editRow));
    refill(buttons, [edits, here.edits, player.ended], () => [
      edits.length ? h('button', { type: 'button', class: 'primary', on: { click: askAgain } }, words.again) : null,
      edits.length || here.edits.length ? h('button', { type: 'button', class: 'plain', on: { click: back } }, words.back) : null]);
    compared.draw(here.edits.length ? original() : null, here);
  };
  const redraw = () => { if (state) draw(state, player); };

  /** The run that is shown is another one, or has gone on. */
  function arrive() {
    if (!runs.has(player.run)) {
      const asked = player.origin === 'live' ? sent : { own: '', edits: [] };
      runs.set(player.run, { run: player.run, ...asked, question: state.run.question, driven: (state.run.forced ?? []).length > 0 });
      if (runs.size > 60) runs.delete(runs.keys().next().value);
    }
    const run = runs.get(player.run);
    run.events = player.events;
    if (state.finished || state.failed) run.summary = summaryOf(state);
    if (run !== here) { here = run; edits = [...run.edits]; say_(''); all = false; }
  }

  /** The same question on the graph as it was. */
  function original() {
    return [...runs.values()].find((run) => !run.edits.length && !run.driven && run.summary && run.question === here.question && run.own === here.own) ?? null;
  }

  async function change(kind, hop) {
    const edit = [kind, ...hop];
    const begins = here.edits.every((one, place) => String(one) === String(edits[place]));
    const run = player.run;
    const answer = begins ? await server.change({ run, graph: state.run.graph, edits: [...edits.slice(here.edits.length), edit] }) : {};
    if (player.run !== run) return;
    say_(answer.error ?? '');
    if (!answer.error) edits = [...edits, edit];
    redraw();
  }

  function askAgain() { again({ question: here.question, entities: state.linked?.given ? state.linked.chosen : [] }); }

  function back() {
    edits = [];
    const before = original();
    if (before) revisit(before.events, before.run);
    else askAgain();
    redraw();
  }

  function say_(sentence) { refill(said, sentence, () => [sentence]); }

  // what is shown -----------------------------------------------------------------------------------

  function hopRow(hop, cut) {
    const gone = cut.includes(['remove', ...hop].join('\u0000'));
    return h('li', { class: gone ? 'gone' : '' }, h('span', {}, ...edge(hop)),
      h('button', { type: 'button', class: 'cut', disabled: gone, title: say(words.cut, { edge: hop.join(' → ') }), 'aria-label': say(words.cut, { edge: hop.join(' → ') }), on: { click: () => change('remove', hop) } }, '✂\uFE0E'));
  }

  function editRow([kind, ...hop], place) {
    return h('li', { class: kind }, h('small', {}, kind === 'add' ? words.added : words.removed), h('span', {}, ...edge(hop)),
      h('button', { type: 'button', class: 'out', 'aria-label': say(words.undo, { edge: hop.join(' → ') }), on: { click: () => { edits = edits.filter((_, i) => i !== place); redraw(); } } }, '×'));
  }

  function form() {
    const inputs = ['head', 'relation', 'tail'].map((part) => field(part));
    const hop = () => inputs.map((input) => input.value.trim());
    const act = (kind) => h('button', { type: 'button', class: 'plain', on: { click: () => change(kind, hop()) } }, kind === 'add' ? words.add : words.remove);
    return h('div', { class: 'typed' }, inputs.map((input) => [h('label', {}, input.words, input, input.names)]), h('div', { class: 'row' }, act('add'), act('remove')));
  }

  function field(part) {
    const names = h('datalist', { id: `kg-${part}-names` });
    const input = h('input', { type: 'text', list: names.id, maxlength: 300, autocomplete: 'off', on: { input: async () => {
      const written = input.value;
      const asked = { run: player?.run ?? '', graph: state?.run?.graph ?? '', written };
      const found = written.trim().length < 2 ? [] : await server[part === 'relation' ? 'relations' : 'entities'](asked);
      if (input.value === written) names.replaceChildren(...found.map((name) => h('option', { value: name })));
    } } });
    return Object.assign(input, { names, words: words[part] });
  }

  return {
    element,
    draw,
    /** What is sent with a question. */
    asked() {
      sent = { own: own.name(), edits: here && here.own !== own.name() ? [] : edits };
      return JSON.stringify(sent);
    },
    /** Another graph is asked from now on. */
    drop() { edits = []; redraw(); },
  };
}

function edge([head, relation, tail]) {
  return [h('b', {}, head), h('span', { class: 'relation' }, ` → ${relation} → `), h('b', {}, tail)];
}

/** Each hop of the grounded paths once, best paths first. */
function hopsOf(state) {
  const seen = new Map();
  for (const { path } of [...state.branches.true.paths].sort((a, b) => a.index - b.index)) {
    path?.relations.forEach((relation, place) => {
      const hop = [path.entities[place], relation, path.entities[place + 1]];
      seen.set(hop.join('\u0000'), hop);
    });
  }
  return [...seen.values()];
}

function summaryOf(state) {
  return {
    triples: state.run.triples, trie: state.ready?.paths ?? 0,
    paths: [...state.branches.true.paths].sort((a, b) => a.index - b.index).map((path) => path.text),
    answer: state.final?.answers.join(', ') || state.failed?.message || state.answer,
  };
}
