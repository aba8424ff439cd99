// The two columns of paths: what the model writes with the graph and without it, as a list or as the tree of beams.

import { arrows, h, refill, say, score, wordsFor } from '../core/dom.js';
import { branchOf, cut, divergence, holds, lineage, pathKey, ranked, searchScore, standing, standingCounts, verifiedCount } from '../core/state.js';
import { term, withTerms } from '../core/terms.js';
import { makeBeamTree } from './beam_tree.js';

/** @typedef {import('../core/types.js').PageText} PageText */
/** @typedef {import('../core/types.js').RunState} RunState */
/** @typedef {import('../core/types.js').Branch} Branch */
/** @typedef {import('../core/types.js').Beam} Beam */
/** @typedef {import('../core/types.js').FoundPath} FoundPath */
/** @typedef {import('../core/types.js').Verdict} Verdict */
/** @typedef {import('../core/types.js').Hop} Hop */
/** @typedef {import('../core/state.js').Mark} Mark */
/** @typedef {import('../core/dom.js').Child} Child */
/** @typedef {ReturnType<typeof divergence>} Divergence */

const SHOWN = 5;

/**
 * One column.
 * @param {boolean} constrained
 * @param {PageText} text
 * @param {(beam: number) => void} follow shows what the graph did to a beam, token by token
 * @param {() => void} told called when the visitor has chosen list or tree
 * @param {(state: RunState) => string} [model] the model of a run in words, for the column without the graph
 * @param {import('../core/types.js').View} [alone] what stands above that column's paths
 * @returns {import('../core/types.js').View & {isTree: () => boolean, look: (tree: boolean) => void}}
 */
export function makePaths(constrained, text, follow, told, model = () => '', alone = undefined) {
  const words = text.beams;
  const title = constrained ? words.with : words.without;
  const note = h('p', { class: 'note' });
  const ratio = h('span', { class: 'ratio' });
  const list = h('ol', { class: 'beams' });
  const foot = h('div', { class: 'foot' });
  const tree = makeBeamTree(text, title, constrained ? follow : () => {});
  let all = false;
  let asTree = false;
  let redraw = () => {};

  /** @type {(name: 'list'|'tree', wanted: boolean) => HTMLButtonElement} */
  const choice = (name, wanted) => h('button', { type: 'button', 'aria-pressed': String(!wanted), on: { click: () => { look(wanted); told(); } } }, words[name]);
  /** @param {boolean} wanted */
  function look(wanted) {
    asTree = wanted;
    for (const button of looks.children) button.setAttribute('aria-pressed', String(button === looks.children[wanted ? 1 : 0]));
    redraw();
  }
  const looks = h('div', { class: 'choice', role: 'group', 'aria-label': say(words.look, { title }) }, choice('list', false), choice('tree', true));

  /** @type {import('../core/types.js').View['draw']} */
  const draw = (state, player) => {
    redraw = () => draw(state, player);
    alone?.draw(state, player);
    const branch = branchOf(state, constrained);
    const paths = ranked(branch);
    const beams = paths.length ? [] : standing(branch);
    const rows = asTree ? 0 : paths.length || beams.length;
    const parting = divergence(state);
    list.hidden = asTree;
    tree.element.hidden = !asTree;
    drawNote(state, paths, parting);
    drawFoot(branch, rows);
    if (asTree) { tree.draw(branch, pathKeysOf(branch)); return; }
    const limit = all ? Infinity : SHOWN;
    refill(list, [paths, beams.map((beam) => beam.id), all, branch.steps.length, Boolean(state.run), Boolean(state.finished), parting], () => {
      if (!rows) return h('li', { class: 'empty' }, state.run && state.finished && !constrained ? words.off : words.waiting);
      const mark = markIn(parting);
      if (paths.length) return paths.slice(0, limit).map((path) => pathRow(branch, path, mark, text, constrained ? follow : null));
      return beams.slice(0, limit).map((beam, i) => beamRow(branch, beam, i + 1, constrained, mark, text));
    });
  };

  /** @type {(parting: Divergence) => Mark|null} */
  const markIn = (parting) => (parting ? parting[constrained ? 'constrained' : 'unconstrained'] : null);

  /** @type {(branch: Branch, rows: number) => void} */
  function drawFoot(branch, rows) {
    const { ok, n } = verifiedCount(branch);
    const three = standingCounts(branch);
    refill(ratio, [n, ok, three.reworded], () => (!n ? null : constrained || ok === n ? h('span', { class: ok === n ? 'all-ok' : 'not-ok' }, say(words.exist, { ok, n }))
      : term(say(words.three, three), words.three_why, { class: 'not-ok' })));
    foot.hidden = rows <= SHOWN;
    refill(foot, [rows, all], () => h('button', { type: 'button', class: 'plain', 'aria-expanded': String(all), on: { click: () => { all = !all; redraw(); } } },
      all ? words.fewer : say(words.more, { n: rows - SHOWN })));
  }

  /** @type {(state: RunState, paths: FoundPath[], parting: Divergence) => void} */
  function drawNote(state, paths, parting) {
    const same = paths.length && state.unconstrained.steps.length && !parting;
    const plain = !constrained ? say(same ? words.without_same : words.without_note, { model: model(state) })
      : paths.length ? say(words.with_done, { n: paths.length }) : say(words.with_note, { k: state.run?.beams ?? 10 });
    refill(note, [plain, parting], () => [withTerms(plain, text.terms),
      parting ? [' · ', say(words.parts, { i: parting.number }), ' ', h('span', { class: 'fork' }, markIn(parting)?.token)] : null]);
  }

  return { element: h('section', { class: `card ${constrained ? 'grounded' : 'invented'}` },
    h('div', { class: 'head' }, h('h2', {}, title), ratio, looks), note, alone?.element, list, tree.element, foot), draw, isTree: () => asTree, look };
}

/**
 * What the general language model that is connected answers by itself: asked once, when a live run has ended.
 * @param {import('../core/types.js').Boot} boot
 * @param {PageText} text
 * @param {(asked: {question: string, method: string}) => Promise<import('./breaking.js').Answer>} ask
 * @returns {import('../core/types.js').View}
 */
export function makeAlone(boot, text, ask) {
  const words = text.beams;
  const says = h('b');
  const element = h('p', { class: 'alone', hidden: true, role: 'status' }, say(words.alone, { name: boot.chat }), ' ', says);
  /** @type {Map<string, Promise<import('./breaking.js').Answer>>} */
  const asked = new Map();
  let shown = '';
  return { element, draw: ({ run, final, unconstrained }, player) => {
    element.hidden = !boot.chat || player.origin !== 'live' || !player.over || !run || !final || !unconstrained.steps.length;
    const key = player.run ?? '';
    if (element.hidden || !run || shown === key) return;
    shown = key;
    says.textContent = words.alone_asking;
    /** @type {Promise<import('./breaking.js').Answer>} */
    const answer = asked.get(key) ?? ask({ question: run.question, method: 'direct' }).catch(() => ({ error: words.alone_failed }));
    asked.set(key, answer);
    answer.then(({ text: told, error }) => { if (shown === key) says.textContent = arrows(told || error || words.alone_failed); });
  } };
}

/**
 * The class of text that the graph held token by token, or of text that was written freely.
 * @param {boolean} constrained
 * @returns {string}
 */
export function regionOf(constrained) {
  return `region ${constrained ? 'held' : 'free'}`;
}

/**
 * Tells the keys of the paths through a node of the tree; a dropped line belongs to no path.
 * @param {Branch} branch
 * @returns {(ids: number[], dead: boolean) => string[]|null}
 */
function pathKeysOf(branch) {
  /** @type {Map<number, string[]>} */
  const through = new Map();
  for (const path of branch.paths) {
    for (const beam of lineage(branch, path.beam)) through.set(beam.id, [...(through.get(beam.id) ?? []), pathKey(path)]);
  }
  return (ids, dead) => (dead ? null : through.get(ids[ids.length - 1]) ?? null);
}

// a beam that is being written --------------------------------------------------------------------

/**
 * @param {Branch} branch
 * @param {Beam} beam
 * @param {number} rank
 * @param {boolean} constrained
 * @param {Mark|null} mark where the branches diverge, if that is in this beam
 * @param {PageText} text
 */
function beamRow(branch, beam, rank, constrained, mark, text) {
  const words = text.beams;
  const line = lineage(branch, beam.id);
  const done = beam.fate === 'f';
  const newest = line.at(-1);
  const before = line.slice(0, done ? line.length : -1).map((one) => one.text).join('').replace('</PATH>', '');
  const here = mark?.beam === beam.id ? mark : null;
  const parts = before.split('->');
  const fresh = here && !done && parts.length - 1 === here.part && parts[parts.length - 1].trim().length <= here.from;
  return h('li', { class: done ? 'finished' : 'live' }, h('span', { class: 'rank' }, rank),
    h('span', { class: `words ${regionOf(constrained)}` }, beamParts(before, fresh ? null : here, text),
      done ? h('span', { class: 'tag' }, words.finished)
        : h('span', { class: `token ${fresh ? 'fork' : ''}`, title: fresh ? words.fork : null }, newest?.text.trim() ?? '')),
    h('span', { class: 'score', title: say(words.score, { score: score(beam.score) }) }, score(beam.score)));
}

/**
 * Written text as entities and relations in turn.
 * @type {(written: string, mark: Mark|null, text: PageText) => Child[]}
 */
function beamParts(written, mark, text) {
  return [...written.split(/ ?-> ?/).map((part, place) => [
    place ? h('span', { class: 'arrow' }, ' → ') : null,
    part.trim() ? h('span', { class: place % 2 ? 'relation' : 'entity' }, marked(part.trim(), mark, place, text)) : null,
  ]), ' '];
}

/** @type {(part: string, mark: Mark|null, place: number, text: PageText) => Child} */
function marked(part, mark, place, text) {
  if (mark?.part !== place) return part;
  const [before, token, after] = cut(part, mark);
  return [before, h('span', { class: 'fork', title: text.beams.fork }, token), after];
}

/**
 * The likeliest attempt as far as it is written, its newest token marked; nothing before the first token.
 * @type {(branch: Branch, text: PageText) => Child}
 */
export function writtenSoFar(branch, text) {
  const [best] = standing(branch);
  if (!best || !branch.steps.length) return null;
  const line = lineage(branch, best.id);
  const done = best.fate === 'f';
  const before = line.slice(0, done ? line.length : -1).map((one) => one.text).join('').replace('</PATH>', '');
  return [beamParts(before, null, text), done ? null : h('span', { class: 'token' }, line.at(-1)?.text.trim() ?? '')];
}

// a finished path ---------------------------------------------------------------------------------

/**
 * @param {Branch} branch
 * @param {FoundPath} path
 * @param {Mark|null} mark where the branches diverge, if that is in this path
 * @param {PageText} text
 * @param {((beam: number) => void)|null} follow
 */
function pathRow(branch, path, mark, text, follow) {
  const found = score(searchScore(branch, path));
  const why = say(text.beams.score_why, { score: found, whole: score(path.score) });
  const words = text.beams;
  const hops = path.verdict?.hops ?? [];
  const here = mark?.beam === path.beam ? mark : null;
  const body = path.path ? hopParts(path.path, hops, here, text) : [h('span', { class: 'bad' }, path.text || '…'), ' '];
  const canFollow = follow && !path.read;
  return h('li', { class: 'path', keys: [pathKey(path)] }, h('span', { class: 'rank' }, path.index),
    h('span', { class: 'words' }, h('span', { class: regionOf(path.constrained) }, body),
      h('span', { class: 'judged' }, verdicts(path.verdict, text), weighing(path, branch.paths, text), path.read ? h('span', { class: 'freely' }, words.read) : null,
        path.answer ? h('span', { class: `freely ${regionOf(false)}` }, say(words.free_short, { text: path.answer })) : null)),
    canFollow ? h('button', { type: 'button', class: 'score', title: `${words.follow}. ${why}`, 'aria-label': `${words.follow}: ${path.text}`,
      on: { click: () => follow(path.beam) } }, found)
      : h('span', { class: 'score', title: why }, found));
}

/**
 * What the order of the paths weighs, as one small bar a feature: the longest of a feature's bars is that of the path for
 * which it speaks most.
 * @type {(path: FoundPath, others: FoundPath[], text: PageText) => Child}
 */
function weighing({ weighed = [] }, others, text) {
  if (!weighed.length) return null;
  const names = text.beams.features;
  const told = weighed.map(([feature, adds]) => `${wordsFor(names, feature)} ${score(adds)}`).join(', ');
  const label = say(text.beams.weighed, { list: told, sum: score(weighed.reduce((sum, [, adds]) => sum + adds, 0)) });
  return h('span', { class: 'weighed', role: 'img', 'aria-label': label, title: label }, weighed.map(([, adds], place) => {
    const all = others.map((other) => other.weighed?.[place]?.[1] ?? adds);
    const [least, most] = [Math.min(...all), Math.max(...all)];
    return h('i', { style: `--share:${most > least ? Math.round((100 * (adds - least)) / (most - least)) : 100}%` });
  }));
}

/**
 * One sign where every hop exists; else one for each hop, so that the wrong hop is seen.
 * @type {(verdict: Verdict|null, text: PageText) => Child}
 */
function verdicts(verdict, text) {
  if (!verdict) return null;
  const wrong = verdict.hops.some((hop) => !holds(hop.verdict));
  if (!wrong || verdict.hops.length < 2) {
    const [hop] = verdict.hops;
    const kind = verdict.faithful ? 'ok' : hop?.restates ? 'reworded' : 'no';
    return h('span', { class: `verdict ${kind}` }, hop ? hopWords(hop, text) : text.verdicts.malformed);
  }
  return verdict.hops.map((hop, i) => h('span', { class: `verdict ${holds(hop.verdict) ? 'ok' : hop.restates ? 'reworded' : 'no'}` },
    say(text.beams.hop, { i: i + 1, verdict: hopWords(hop, text) })));
}

/**
 * The verdict of a hop; of one that is true in other words, the edge that says it.
 * @param {Hop} hop
 * @param {PageText} text
 * @returns {string}
 */
export function hopWords({ verdict, restates }, text) {
  return restates ? say(text.beams.reworded, { edge: restates.join(' → ') }) : wordsFor(text.verdicts, verdict);
}

/**
 * Entities and relations of a path, with what is wrong marked.
 * @type {(path: import('../core/types.js').GraphPath, hops: Hop[], mark: Mark|null, text: PageText) => Child[]}
 */
function hopParts(path, hops, mark, text) {
  const named = (/** @type {boolean} */ wanted) =>
    new Set(hops.filter((hop) => (hop.verdict === 'unknown entity') === wanted).flatMap((hop) => [hop.head, hop.tail]));
  const [unknown, known] = [named(true), named(false)];
  const isUnknown = (/** @type {string} */ name) => unknown.has(name) && !known.has(name) && name !== path.entities[0];
  return [...path.entities.map((name, place) => {
    const hop = place ? hops[place - 1] : null;
    const title = !hop || hop.verdict === 'ok' ? null : hopWords(hop, text);
    const wrong = !hop || holds(hop.verdict) || hop.restates ? '' : 'bad';
    const arrow = () => h('span', { class: `arrow ${wrong}`, title }, ' → ');
    return [
      place ? [arrow(), h('span', { class: `relation ${wrong}`, title }, marked(path.relations[place - 1], mark, 2 * place - 1, text)), arrow()] : null,
      h('span', { class: `entity ${isUnknown(name) || (wrong && place) ? 'bad' : ''}`, keys: [`e:${name}`] }, marked(name, mark, 2 * place, text)),
    ];
  }), ' '];
}
