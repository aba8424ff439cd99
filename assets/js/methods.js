// The runs of this page, kept in memory: one question by several methods, as one table. A row shows its run again.

import { figure, h, refill, say } from './dom.js';
import { absorb, emptyState } from './state.js';

const KEPT = 12; // runs; a long one is a few hundred kilobytes

/**
 * @param {object} boot with `methods`, each `{name, title}`
 * @param {object} text
 * @param {(run: object) => void} show shows a kept run in the whole page
 * @param {(asked: object) => void} again asks a question again; `{question, method, entities}`
 */
export function makeMethods(boot, text, show, again) {
  const words = text.methods;
  const kept = [];
  const picker = h('select', { 'aria-label': words.with });
  const go = h('button', { type: 'button', class: 'primary', on: { click: () => ask() } }, words.go);
  const control = h('div', { class: 'versus', hidden: true }, h('span', {}, words.with), picker, go);
  const rows = h('tbody');
  const element = h('section', { class: 'card methods', hidden: true }, h('h2', {}, words.title), h('p', { class: 'note' }, words.note),
    h('div', { class: 'scroll' }, h('table', {}, h('thead', {}, h('tr', {}, ['method', 'paths', 'verified', 'calls', 'tokens', 'seconds', 'answer'].map((name) => h('th', { scope: 'col' }, words[name])))), rows)));
  let asked = null;
  const titleOf = (name) => boot.methods.find((one) => one.name === name)?.title ?? name;

  function ask() {
    again({ question: asked.run.question, method: picker.value, entities: asked.linked?.given ? asked.linked.chosen : [] });
  }

  function keep(player) {
    if (!player.run || !player.ended || player.stopped || kept.some((one) => one.run === player.run)) return;
    const state = emptyState();
    for (const event of player.events) absorb(state, event);
    if (!state.run || !state.finished) return;
    kept.push({ run: player.run, events: player.events, recorded: player.origin === 'recorded', state });
    if (kept.length > KEPT) kept.shift();
  }

  const draw = (state, player) => {
    keep(player);
    asked = state;
    control.hidden = !state.run || !(player.over && state.finished);
    const same = state.run ? kept.filter((one) => one.state.run.question === state.run.question) : [];
    const done = new Set(same.map((one) => one.state.run.method));
    refill(picker, [state.run?.question, [...done]], () => [...boot.methods].sort((a, b) => done.has(a.name) - done.has(b.name)).map((one) =>
      h('option', { value: one.name }, one.title)));
    element.hidden = same.length < 2;
    refill(rows, [same.map((one) => one.run), player.run], () => same.map((one) => row(one, one.run === player.run)));
  };

  function row(one, here) {
    const { run, branches, finished, final } = one.state;
    const branch = branches.true.paths.length ? branches.true : branches.false;
    const ok = branch.paths.filter((path) => path.verdict?.faithful).length;
    const told = [run.graph, say(words.limits, { k: run.beams, l: run.hops }), one.recorded ? words.recorded : null].filter(Boolean).join(' · ');
    return h('tr', { 'aria-current': here ? 'true' : null },
      h('th', { scope: 'row' }, h('button', { type: 'button', class: 'plain', title: words.show, on: { click: () => show(one) } }, titleOf(run.method)), h('small', {}, told)),
      h('td', {}, branch.paths.length), h('td', {}, branch.paths.length ? say(words.share, { ok, n: branch.paths.length }) : '–'),
      h('td', {}, figure(finished.lm_calls)), h('td', {}, say(words.in_out, { read: figure(finished.tokens_in), written: figure(finished.tokens_out) })), h('td', {}, figure(finished.seconds, 1)),
      h('td', { class: 'says' }, final?.answers.length ? final.answers.slice(0, 6).join(', ') + (final.answers.length > 6 ? ' …' : '') : final?.text ?? '–'));
  }

  return { element, control, draw };
}
