// Sentences, numbers, links, programs, tables and the browser's own runs.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { arrows, figure, percent, say, score, shownAs, wholeAt, wordsFor, xmlText } from '../../assets/js/core/dom.js';
import { asksByItself, linkQuery } from '../../assets/js/core/inputs.js';
import { addressQuery, placeOf } from '../../assets/js/files/address.js';
import { stateAfter } from '../../assets/js/core/state.js';
import { edgesCsv, nodesCsv, pathsCsv } from '../../assets/js/files/exports.js';
import { fileName, forgetRuns, remember, storedRuns } from '../../assets/js/files/keep.js';
import { summaryOf } from '../../assets/js/views/edits.js';
import { pythonProgram } from '../../assets/js/views/program.js';
import { RUNS, recordsOf, traceText } from './recorded.js';

test('numbers are written as people read them', () => {
  assert.deepEqual([figure(1234567), figure(0.25, 1), figure(1000, 2)], ['1,234,567', '0.3', '1,000.00']);
  assert.deepEqual([0, 0.0004, 0.001, 0.0512, 0.0996, 0.1, 0.994, 1].map(percent), ['0 %', '< 0.1 %', '0.1 %', '5.1 %', '10.0 %', '10 %', '99 %', '100 %']);
  assert.deepEqual([score(-1.239), score(0)], ['−1.24', '0.00']);
});

test('slots of a sentence are filled, and only those that have a value', () => {
  assert.equal(say('{n} of {m}, {n}', { n: 3 }), '3 of {m}, 3');
  assert.equal(say('{a}', { a: '{b}', b: 1 }), '{b}');
  assert.equal(wordsFor({ ok: 'fine' }, 'toString', '?'), '?');
});

test('a name is found where it stands whole, and not inside another word or number', () => {
  assert.equal(wholeAt('2 years, until 26 December', '2'), 0);
  assert.equal(wholeAt('until 26 December: 2 years', '2'), 19);
  assert.deepEqual([wholeAt('the Oslo fjord', 'slo'), wholeAt('born in 1922', '22'), wholeAt('Anna and Ann', 'Ann'), wholeAt('x', '')], [-1, -1, 9, -1]);
  assert.equal(wholeAt('costs $5 (about)', '$5'), 6);
});

test('tokens, arrows and text for XML', () => {
  assert.deepEqual([shownAs(' born'), shownAs(' \n')], ['born', '␣']);
  assert.equal(arrows('a -> b -> c->d'), 'a → b → c->d');
  assert.equal(xmlText('a\u0000b\ud800c\u0008😀\n'), 'abc😀\n');
});

// links and programs ------------------------------------------------------------------------------

const STANDARD = { question: '', graph: 'world', method: 'gcr', beams: 10, hops: 2, compare: true, options: '', model: 'embedded' };

test('a link holds what is not at its standard value, and the entities', () => {
  const values = { ...STANDARD, question: 'Who directed Dunkirk?', beams: 3, compare: false };
  assert.equal(linkQuery(values, STANDARD, ['Dunkirk', 'A&B']), 'question=Who+directed+Dunkirk%3F&beams=3&compare=false&entity=Dunkirk&entity=A%26B');
});

test('what an address says is read back, and what does not fit is left out', () => {
  const place = { entities: ['A&B'], forced: [1, 22], edits: [['remove', 'a "b"', 'r, s', 'c']], recorded: '', step: 7, trees: ['with', 'without'] };
  assert.deepEqual(placeOf(`?${addressQuery({ ...STANDARD, question: 'Who?' }, STANDARD, place)}`), place);
  const nothing = { entities: [], forced: [], edits: [], recorded: '', step: null, trees: [] };
  assert.deepEqual(placeOf('?edit=["remove","a","r"]&edit=["drop","a","r","b"]&edit=7&forced=x,1.5,-2&step=x&trees=svg'), nothing);
  assert.equal(placeOf(`?edit=${encodeURIComponent(JSON.stringify(['add', 'x'.repeat(301), 'r', 'b']))}`).edits.length, 0);
  assert.equal(addressQuery({}, STANDARD, { ...nothing, recorded: '1-flute' }), 'recorded=1-flute');
});

test('a link asks by itself only on an embedded graph with the model of the server', () => {
  const asks = (query) => asksByItself(new URLSearchParams(query), STANDARD, ['world', 'chemistry']);
  assert.deepEqual(['question=x', 'question=x&graph=chemistry', 'question=x&model=embedded'].map(asks), [true, true, true]);
  assert.deepEqual(['', 'graph=world', 'question=x&graph=/etc/passwd', 'question=x&model=evil/model'].map(asks), [false, false, false, false]);
});

test('a program holds the inputs as Python literals', () => {
  const program = pythonProgram('ask', ['graph', 'method', 'beams', 'hops', 'options'], { ...STANDARD, question: 'Who wrote "Dune" – 沙丘 😀?' }, '', 'http://localhost:1');
  assert.equal(program, `from gradio_client import Client

client = Client("http://localhost:1")
result = client.predict(
    "Who wrote \\"Dune\\" \\u2013 \\u6c99\\u4e18 \\U0001f600?",
    graph="world",
    method="gcr",
    beams=10,
    hops=2,
    api_name="/ask",
)
print(result["answer"])
for path in result["paths"]:
    print(path["text"], path["verified"])
`);
  assert.match(pythonProgram('verify_path', ['graph'], STANDARD, 'a -> r -> b', 'x'), /predict\(\n {4}"a -> r -> b",\n {4}graph="world",\n {4}api_name="\/verify_path"/);
});

// tables ------------------------------------------------------------------------------------------

/** CSV with every cell quoted, read back. */
function rowsOf(csv) {
  const lines = csv.match(/(?:"(?:[^"]|"")*"(?:,|\r\n))+?(?<=\r\n)/g);
  assert.equal(lines.join(''), csv);
  const [head, ...rows] = lines.map((line) => line.match(/"(?:[^"]|"")*"/g).map((cell) => cell.slice(1, -1).replaceAll('""', '"')));
  return rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i]])));
}

test('tables hold the picture, and no cell is a formula', () => {
  const evil = '=HYPERLINK("1")\r\n,x';
  const state = stateAfter(recordsOf(traceText('1-flute').replaceAll('Salzburg', JSON.stringify(evil).slice(1, -1))));
  const [paths, nodes, edges] = [pathsCsv(state), nodesCsv(state), edgesCsv(state)].map(rowsOf);
  assert.equal(paths.length, state.constrained.paths.length + state.unconstrained.paths.length);
  assert.ok(paths.filter((row) => row.with_graph === 'yes').every((row) => row.in_graph === 'yes'));
  assert.deepEqual(paths.map((row) => Number(row.path_log_probability)), [...state.constrained.paths, ...state.unconstrained.paths].map((path) => path.score));
  const ids = new Set(nodes.map((row) => row.id));
  assert.ok(ids.has(`'${evil}`));
  assert.ok(edges.length && edges.every((row) => ids.has(row.from) && ids.has(row.to)));
  assert.ok(edges.some((row) => row.relation === 'composed by'));
  for (const start of ['=', '+', '-', '@', '＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫', '\t', '\r', '\n', ' =', '\u200b=', '\ufeff＝']) {
    const label = `${start}1+1`;
    const [row] = rowsOf(nodesCsv({ ...state, nodes: new Map([[label, { id: label, group: 'entity' }]]), edges: new Map() }));
    assert.equal(row?.id, `'${label}`, JSON.stringify(start));
  }
  for (const row of [...paths, ...nodes, ...edges]) {
    for (const [name, cell] of Object.entries(row)) assert.ok(['search_score', 'path_log_probability'].includes(name) || !/^[=+\-@\t\r]/.test(cell), cell);
  }
});

test('a file is named after the question, whatever that holds', () => {
  assert.equal(fileName('Où est né Mozart?', 'csv'), 'ou-est-ne-mozart.csv');
  assert.equal(fileName('../../沙丘', 'svg'), 'run.svg');
  assert.ok(fileName('x'.repeat(900), 'html').length <= 60);
});

test('the summary of a run holds what is compared', () => {
  const summary = summaryOf(stateAfter(RUNS['1-flute']));
  assert.equal(summary.paths[0], 'The Magic Flute -> composed by -> Wolfgang Amadeus Mozart -> born in -> Salzburg');
  assert.equal(summary.answer, 'Salzburg');
  assert.ok(summary.triples > 1000 && summary.trie > 10);
});

// the browser's own runs --------------------------------------------------------------------------

beforeEach(() => {
  const kept = new Map();
  globalThis.localStorage = { getItem: (name) => kept.get(name) ?? null, setItem: (name, value) => kept.set(name, value) };
});

test('runs are stored newest first, bounded, and without the model', () => {
  for (let n = 0; n < 40; n += 1) remember({ question: `q${n} ${'x'.repeat(900)}`, graph: 'world', options: '', model: 'secret' }, 'a'.repeat(900));
  const runs = storedRuns();
  assert.equal(runs.length, 30);
  assert.deepEqual(JSON.parse(localStorage.getItem('kgdemo.runs')), runs);
  assert.ok(runs[0].question.startsWith('q39 ') && runs[0].question.length === 300 && runs[0].answer.length === 300);
  assert.deepEqual(Object.keys(runs[0]).sort(), ['answer', 'graph', 'question', 'time']);
  forgetRuns();
  assert.deepEqual(storedRuns(), []);
});

test('whatever stands in the store, and without a store, there is a list', () => {
  for (const junk of ['{', '7', 'null', '{"a":1}', '[1,null,{"question":1},{"question":"q","answer":2}]']) {
    localStorage.setItem('kgdemo.runs', junk);
    assert.deepEqual(storedRuns(), []);
  }
  globalThis.localStorage = { getItem() { throw new Error('denied'); }, setItem() { throw new Error('denied'); } };
  remember({ question: 'q' }, 'a');
  assert.deepEqual(storedRuns(), []);
});
