// Where the two branches part: the first token in which their best beams differ, and its place in each text.

import { lineage, standing } from './state.js';

/**
 * `{number, true: mark, false: mark}` or null while nothing differs; a mark is `{beam, token, part, from, to}`:
 * characters `from` to `to` of the beam's part number `part`, its parts being what stands between arrows.
 */
export function divergence(state) {
  const [bound, free] = ['true', 'false'].map((side) => bestLine(state.branches[side]));
  const shorter = Math.min(bound.length, free.length);
  for (let i = 0; i < shorter; i += 1) {
    if (bound[i].text !== free[i].text) return { number: i + 1, true: markOf(bound, i), false: markOf(free, i) };
  }
  return null;
}

function bestLine(branch) {
  const path = branch.paths.find((one) => one.index === 1);
  const id = path && branch.beams.has(path.beam) ? path.beam : standing(branch)[0]?.id;
  return id === undefined ? [] : lineage(branch, id);
}

function markOf(line, i) {
  const before = line.slice(0, i).map((beam) => beam.text).join('').split('->');
  const last = before.at(-1).trimStart();
  const token = line[i].text;
  const from = last ? last.length + (token.length - token.trimStart().length) : 0;
  return { beam: line.at(-1).id, token: token.trim(), part: before.length - 1, from, to: from + token.trim().length };
}

/** A part's text in three pieces, the middle one marked; the whole where the place does not fit. */
export function cut(text, mark) {
  const fits = text.slice(mark.from, mark.to).toLowerCase() === mark.token.toLowerCase();
  return fits ? [text.slice(0, mark.from), text.slice(mark.from, mark.to), text.slice(mark.to)] : ['', text, ''];
}
