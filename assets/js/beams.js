// The two columns: what the model writes with the graph and without it, first as beams, then as judged paths.

import { h, refill, say, score } from './dom.js';
import { pathKey } from './highlight.js';
import { firstDifference, lineage, standing } from './state.js';

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
  const list = h('ol', { class: 'beams' });
  const foot = h('div', { class: 'foot' });
  let all = false;
  let redraw = () => {};

  const draw = (state, player) => {
    const branch = state.branches[constrained];
    const paths = [...branch.paths].sort((a, b) => a.index - b.index);
    const beams = paths.length ? [] : standing(branch);
    const rows = paths.length || beams.length;
    const most = all ? Infinity : SHOWN;
    note.textContent = noteFor(state, paths, beams);
    refill(list, [paths, beams.map((beam) => beam.id), all, branch.steps.length, Boolean(state.run)], () => {
      if (!rows) return h('li', { class: 'empty' }, state.run && state.finished && !constrained ? words.off : words.waiting);
      if (paths.length) return paths.slice(0, most).map((path) => pathRow(path, text, constrained ? follow : null));
      return beams.slice(0, most).map((beam, i) => beamRow(branch, beam, i + 1, words));
    });
    const judged = paths.filter((path) => path.verdict);
    const ok = judged.filter((path) => path.verdict.faithful).length;
    refill(foot, [rows, all, judged.length, ok], () => [
      rows > SHOWN ? h('button', { type: 'button', class: 'plain', 'aria-expanded': String(all), on: { click: () => { all = !all; redraw(); } } },
        all ? words.fewer : say(words.more, { n: rows - SHOWN })) : null,
      judged.length ? h('span', { class: ok === judged.length ? 'all-ok' : 'not-ok' }, say(words.exist, { ok, n: judged.length })) : null,
    ]);
    redraw = () => draw(state, player);
  };

  const noteFor = (state, paths, beams) => {
    if (constrained) return paths.length ? say(words.with_done, { n: paths.length }) : say(words.with_note, { k: state.run?.beams ?? 10 });
    if (!paths.length && !beams.length) return words.without_note;
    const at = firstDifference(state);
    return at ? say(words.without_diverge, { i: at }) : paths.length ? words.without_same : words.without_note;
  };

  return { element: h('section', { class: `card ${constrained ? 'grounded' : 'invented'}` }, h('h2', {}, title), note, list, foot), draw };
}

// a beam that is being written --------------------------------------------------------------------

function beamRow(branch, beam, rank, words) {
  const line = lineage(branch, beam.id);
  const done = beam.fate === 'f';
  const newest = line.at(-1);
  const before = line.slice(0, done ? line.length : -1).map((one) => one.text).join('').replace('</PATH>', '');
  return h('li', { class: done ? 'finished' : 'live' }, h('span', { class: 'rank' }, rank),
    h('span', { class: 'words' }, parts(before), done ? h('span', { class: 'tag' }, words.finished) : h('span', { class: 'token' }, newest?.text.trim() ?? '')),
    h('span', { class: 'score', title: say(words.score, { score: score(beam.score) }) }, score(beam.score)));
}

/** Written text as entities and relations in turn. */
function parts(text) {
  return text.split(/ ?-> ?/).flatMap((part, place) => [
    place ? h('span', { class: 'arrow' }, ' → ') : null,
    part.trim() ? h('span', { class: place % 2 ? 'relation' : 'entity' }, part.trim()) : null,
  ]).concat(' ');
}

// a path that has been judged ---------------------------------------------------------------------

function pathRow(path, text, follow) {
  const words = text.beams;
  const hops = path.verdict?.hops ?? [];
  const wrong = hops.find((hop) => hop.verdict !== 'ok');
  const verdict = path.verdict ? h('span', { class: `verdict ${wrong ? 'no' : 'ok'}` }, text.verdicts[wrong ? wrong.verdict : 'ok']) : null;
  const body = path.path ? hopParts(path.path, hops, text) : [h('span', { class: 'bad' }, path.text || '…'), ' '];
  return h('li', { class: 'path', keys: [pathKey(path)] }, h('span', { class: 'rank' }, path.index),
    h('span', { class: 'words' }, body,
      h('span', { class: 'judged' }, verdict, path.read ? h('span', { class: 'freely' }, words.read) : null, path.answer ? h('span', { class: 'freely' }, say(words.free_short, { text: path.answer })) : null)),
    follow && !path.read ? h('button', { type: 'button', class: 'score', title: words.follow, 'aria-label': `${words.follow}: ${path.text}`, on: { click: () => follow(path.beam) } }, score(path.score))
      : h('span', { class: 'score' }, score(path.score)));
}

function hopParts(path, hops, text) {
  const verdictAt = (place) => hops[place]?.verdict ?? 'ok';
  const unknown = new Set(hops.filter((hop) => hop.verdict === 'unknown entity').flatMap((hop) => [hop.head, hop.tail]));
  const known = new Set(hops.filter((hop) => hop.verdict !== 'unknown entity').flatMap((hop) => [hop.head, hop.tail]));
  const bad = (name) => unknown.has(name) && !known.has(name) && name !== path.entities[0];
  return path.entities.flatMap((name, place) => {
    const verdict = place ? verdictAt(place - 1) : 'ok';
    const title = verdict === 'ok' ? null : text.verdicts[verdict];
    return [
      place ? h('span', { class: `arrow ${verdict === 'ok' ? '' : 'bad'}`, title }, ' → ') : null,
      place ? h('span', { class: `relation ${verdict === 'ok' ? '' : 'bad'}`, title }, path.relations[place - 1]) : null,
      place ? h('span', { class: `arrow ${verdict === 'ok' ? '' : 'bad'}`, title }, ' → ') : null,
      h('span', { class: `entity ${bad(name) || (verdict !== 'ok' && place) ? 'bad' : ''}`, keys: [`e:${name}`] }, name),
    ];
  }).concat(' ');
}
