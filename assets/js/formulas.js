// The formulas of the walk, as MathML of our own. Numbers are those of the GCR paper (Luo et al., 2025).

const MATH = 'http://www.w3.org/1998/Math/MathML';

function m(tag, ...children) {
  const element = document.createElementNS(MATH, tag);
  for (const child of children.flat()) element.append(child);
  return element;
}

const i = (name) => m('mi', name);
const o = (sign) => m('mo', sign);
const row = (...parts) => m('mrow', ...parts);
const sub = (base, index) => m('msub', i(base), typeof index === 'string' ? i(index) : index);
const words = (text) => m('mtext', text);
const comma = () => o(',');
const before = () => sub('w', row(o('<'), i('i')));
const chance = (model, of, given) => row(sub('P', model), o('('), of, given ? [o('∣'), given] : [], o(')'));
const allowed = () => row(sub('C', 'G'), o('('), sub('w', 'i'), o('∣'), before(), o(')'));
const product = (index, ...of) => row(m('munderover', o('∏'), row(i(index), o('='), m('mn', '1')), i(index === 'i' ? 'n' : 'K')), ...of);

const FORMULAS = {
  graph: () => [row(i('G'), o('⊆'), i('E'), o('×'), i('R'), o('×'), i('E'))],
  linking: () => [row(sub('E', 'q'), o('⊆'), i('E'))],
  trie: () => [
    row(sub('W', 'z'), o('='), words('BFS'), o('('), i('G'), comma(), sub('E', 'q'), comma(), i('L'), o(')')),
    row(sub('T', 'z'), o('='), words('Tokenizer'), o('('), sub('W', 'z'), o(')')),
    row(sub('C', 'G'), o('='), words('Trie'), o('('), sub('T', 'z'), o(')'))],
  step: () => [ // two lines: one would be wider than the card
    row(chance('φ', row(i('a'), comma(), i('w')), i('q')), o('='), chance('φ', i('a'), row(i('q'), comma(), i('w')))),
    row(o('×'), product('i', chance('φ', sub('w', 'i'), row(i('q'), comma(), before())), allowed()))],
  forbidden: () => [
    row(allowed(), o('='), m('mn', '1'), words('\u00a0if a path starts so, else\u00a0'), m('mn', '0')),
    row(words('forbidden'), o('='), m('munder', o('∑'), row(i('w'), o(':'), sub('C', 'G'), o('='), m('mn', '0'))), chance('φ', i('w'), row(i('q'), comma(), before())))],
  contrast: () => [row(chance('θ', i('z'), i('q')), o('='), product('i', chance('θ', sub('z', 'i'), row(i('q'), comma(), sub('z', row(o('<'), i('i')))))))],
  several: () => [row(sub('Z', 'K'), o('='), words('arg top-'), i('K'), chance('φ', row(i('a'), comma(), i('w')), i('q')))],
  answer: () => [row(chance('θ', i('A'), row(i('q'), comma(), sub('Z', 'K'))), o('≃'), product('k', chance('θ', i('A'), row(i('q'), comma(), m('msup', i('a'), i('k')), comma(), m('msup', i('w'), i('k'))))))],
};

/** The formulas of a step of the walk, one an element; none where its stage is an algorithm in words. */
export function formulasOf(name) {
  return (FORMULAS[name]?.() ?? []).map((formula) => {
    const math = m('math', formula);
    math.setAttribute('display', 'block');
    return math;
  });
}
