// One row of a column: a beam that is being written, or a path with the verifier's verdict on every hop.

import { cut } from './diverge.js';
import { h, say, score } from './dom.js';
import { pathKey } from './highlight.js';
import { lineage } from './state.js';

/** A beam that is being written; `mark` is the place where the branches part, if it is in this beam. */
export function beamRow(branch, beam, rank, bound, mark, text) {
  const words = text.beams;
  const line = lineage(branch, beam.id);
  const done = beam.fate === 'f';
  const newest = line.at(-1);
  const before = line.slice(0, done ? line.length : -1).map((one) => one.text).join('').replace('</PATH>', '');
  const here = mark?.beam === beam.id ? mark : null;
  const fresh = here && !done && before.split('->').length - 1 === here.part && before.split('->').at(-1).trim().length <= here.from;
  return h('li', { class: done ? 'finished' : 'live' }, h('span', { class: 'rank' }, rank),
    h('span', { class: `words ${regionOf(bound)}` }, parts(before, fresh ? null : here, words),
      done ? h('span', { class: 'tag' }, words.finished) : h('span', { class: `token ${fresh ? 'fork' : ''}`, title: fresh ? words.fork : null }, newest?.text.trim() ?? '')),
    h('span', { class: 'score', title: say(words.score, { score: score(beam.score) }) }, score(beam.score)));
}

/** Written text as entities and relations in turn. */
function parts(text, mark, words) {
  return text.split(/ ?-> ?/).flatMap((part, place) => [
    place ? h('span', { class: 'arrow' }, ' → ') : null,
    part.trim() ? h('span', { class: place % 2 ? 'relation' : 'entity' }, marked(part.trim(), mark, place, words)) : null,
  ]).concat(' ');
}

function marked(part, mark, place, words) {
  if (mark?.part !== place) return part;
  const [before, token, after] = cut(part, mark);
  return [before, h('span', { class: 'fork', title: words.fork }, token), after];
}

/** Text that the graph held token by token, or text that was written freely: told apart by one mark everywhere. */
export function regionOf(bound) { return `region ${bound ? 'held' : 'free'}`; }

// a path that has been judged ---------------------------------------------------------------------

export function pathRow(path, mark, text, follow) {
  const words = text.beams;
  const hops = path.verdict?.hops ?? [];
  const here = mark?.beam === path.beam ? mark : null;
  const body = path.path ? hopParts(path.path, hops, here, text) : [h('span', { class: 'bad' }, path.text || '…'), ' '];
  return h('li', { class: 'path', keys: [pathKey(path)] }, h('span', { class: 'rank' }, path.index),
    h('span', { class: 'words' }, h('span', { class: regionOf(path.constrained) }, body),
      h('span', { class: 'judged' }, verdicts(path.verdict, text), path.read ? h('span', { class: 'freely' }, words.read) : null,
        path.answer ? h('span', { class: `freely ${regionOf(false)}` }, say(words.free_short, { text: path.answer })) : null)),
    follow && !path.read ? h('button', { type: 'button', class: 'score', title: words.follow, 'aria-label': `${words.follow}: ${path.text}`, on: { click: () => follow(path.beam) } }, score(path.score))
      : h('span', { class: 'score' }, score(path.score)));
}

/** One sign where every hop holds; else one for each hop, so that the wrong one is seen. */
function verdicts(verdict, text) {
  if (!verdict) return null;
  const wrong = verdict.hops.some((hop) => hop.verdict !== 'ok');
  if (!wrong || verdict.hops.length < 2) {
    const kind = verdict.hops[0]?.verdict ?? 'malformed';
    return h('span', { class: `verdict ${verdict.faithful ? 'ok' : 'no'}` }, text.verdicts[kind]);
  }
  return verdict.hops.map((hop, i) => h('span', { class: `verdict ${hop.verdict === 'ok' ? 'ok' : 'no'}` },
    say(text.beams.hop, { i: i + 1, verdict: text.verdicts[hop.verdict] })));
}

function hopParts(path, hops, mark, text) {
  const verdictAt = (place) => hops[place]?.verdict ?? 'ok';
  const named = (wanted) => new Set(hops.filter((hop) => (hop.verdict === 'unknown entity') === wanted).flatMap((hop) => [hop.head, hop.tail]));
  const [unknown, known] = [named(true), named(false)];
  const bad = (name) => unknown.has(name) && !known.has(name) && name !== path.entities[0];
  return path.entities.flatMap((name, place) => {
    const verdict = place ? verdictAt(place - 1) : 'ok';
    const title = verdict === 'ok' ? null : text.verdicts[verdict];
    const wrong = verdict === 'ok' ? '' : 'bad';
    const arrow = () => h('span', { class: `arrow ${wrong}`, title }, ' → ');
    return [
      place ? [arrow(), h('span', { class: `relation ${wrong}`, title }, marked(path.relations[place - 1], mark, 2 * place - 1, text.beams)), arrow()] : null,
      h('span', { class: `entity ${bad(name) || (wrong && place) ? 'bad' : ''}`, keys: [`e:${name}`] }, marked(name, mark, 2 * place, text.beams)),
    ];
  }).concat(' ');
}
