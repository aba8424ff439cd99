// The two columns: what the model writes with the graph and without it, as a list or as the tree of beams.

import { divergence } from './diverge.js';
import { h, refill, say } from './dom.js';
import { pathKey } from './highlight.js';
import { beamRow, pathRow } from './pathrow.js';
import { lineage, standing } from './state.js';
import { makeTree } from './treeview.js';

const SHOWN = 5;

/**
 * @param {boolean} constrained
 * @param {object} text
 * @param {(beam: number) => void} follow shows what the graph did to a beam, token by token
 */
export function makeBeams(constrained, text, follow) {
  const words = text.beams;
  const title = constrained ? words.with : words.without;
  const note = h('p', { class: 'note' });
  const ratio = h('span', { class: 'ratio' });
  const list = h('ol', { class: 'beams' });
  const foot = h('div', { class: 'foot' });
  const tree = makeTree(text, title, constrained ? follow : () => {});
  let all = false;
  let asTree = false;
  let redraw = () => {};

  const choice = (name, wanted) => h('button', { type: 'button', 'aria-pressed': String(!wanted), on: { click: () => {
    asTree = wanted;
    for (const button of looks.children) button.setAttribute('aria-pressed', String(button === looks.children[wanted ? 1 : 0]));
    redraw();
  } } }, words[name]);
  const looks = h('div', { class: 'choice', role: 'group', 'aria-label': say(words.look, { title }) }, choice('list', false), choice('tree', true));

  const draw = (state) => {
    redraw = () => draw(state);
    const branch = state.branches[constrained];
    const paths = [...branch.paths].sort((a, b) => a.index - b.index);
    const beams = paths.length ? [] : standing(branch);
    const rows = asTree ? 0 : paths.length || beams.length;
    const parting = divergence(state);
    list.hidden = asTree;
    tree.element.hidden = !asTree;
    drawNote(state, paths, parting);
    drawFoot(paths, rows);
    if (asTree) { tree.draw(branch, keysIn(branch)); return; }
    const most = all ? Infinity : SHOWN;
    refill(list, [paths, beams.map((beam) => beam.id), all, branch.steps.length, Boolean(state.run), Boolean(state.finished), parting], () => {
      if (!rows) return h('li', { class: 'empty' }, state.run && state.finished && !constrained ? words.off : words.waiting);
      const mark = parting?.[constrained];
      if (paths.length) return paths.slice(0, most).map((path) => pathRow(path, mark, text, constrained ? follow : null));
      return beams.slice(0, most).map((beam, i) => beamRow(branch, beam, i + 1, constrained, mark, text));
    });
  };

  function drawFoot(paths, rows) {
    const judged = paths.filter((path) => path.verdict);
    const ok = judged.filter((path) => path.verdict.faithful).length;
    refill(ratio, [judged.length, ok], () => (judged.length
      ? h('span', { class: ok === judged.length ? 'all-ok' : 'not-ok' }, say(words.exist, { ok, n: judged.length })) : null));
    foot.hidden = rows <= SHOWN;
    refill(foot, [rows, all], () => h('button', { type: 'button', class: 'plain', 'aria-expanded': String(all), on: { click: () => { all = !all; redraw(); } } },
      all ? words.fewer : say(words.more, { n: rows - SHOWN })));
  }

  function drawNote(state, paths, parting) {
    const started = state.branches.false.steps.length > 0;
    const plain = constrained ? (paths.length ? say(words.with_done, { n: paths.length }) : say(words.with_note, { k: state.run?.beams ?? 10 }))
      : paths.length && started && !parting ? words.without_same : words.without_note;
    refill(note, [plain, parting], () => [plain, parting ? [' · ', say(words.parts, { i: parting.number }), ' ', h('span', { class: 'fork' }, parting[constrained].token)] : null]);
  }

  return { element: h('section', { class: `card ${constrained ? 'grounded' : 'invented'}` },
    h('div', { class: 'head' }, h('h2', {}, title), ratio, looks), note, list, tree.element, foot), draw };
}

/** Which paths run through some beams, as keys for hovering; a dropped line belongs to none. */
function keysIn(branch) {
  const through = new Map();
  for (const path of branch.paths) {
    for (const beam of lineage(branch, path.beam)) through.set(beam.id, [...(through.get(beam.id) ?? []), pathKey(path)]);
  }
  return (ids, dead) => (dead ? null : through.get(ids.at(-1)) ?? null);
}
