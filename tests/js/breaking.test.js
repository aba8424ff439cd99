// Breaking the world: the smallest cut against every subset of the edges, and which recorded answers may change.

import assert from 'node:assert/strict';
import test from 'node:test';

import { exampleOf, sameAnswers, smallestCut, touched } from '../../assets/js/views/breaking.js';
import { RUNS } from './recorded.js';

const edge = (head, tail) => [head, 'r', tail];

/** A world in which an answer stands as long as one of its paths does. */
function world(answers) {
  const key = (one) => one.join('>');
  return async (cut) => {
    const gone = new Set(cut.map(key));
    const found = answers.map(({ name, paths }) => ({ name, path: paths.find((path) => !path.some((one) => gone.has(key(one)))) })).find(({ path }) => path);
    return { answers: found ? [found.name] : [], edges: found ? found.path : [] };
  };
}

/** The least number of edges whose removal changes the answer, by trying all subsets. */
async function least(run, edges) {
  const { answers } = await run([]);
  const subsets = Array.from({ length: 2 ** edges.length }, (_, n) => edges.filter((__, i) => (n >> i) % 2));
  const sizes = await Promise.all(subsets.map(async (cut) => (sameAnswers((await run(cut)).answers, answers) ? Infinity : cut.length)));
  return Math.min(...sizes);
}

const [ab, bc, ac, ad, dc, ce] = [edge('a', 'b'), edge('b', 'c'), edge('a', 'c'), edge('a', 'd'), edge('d', 'c'), edge('c', 'e')];
const WORLDS = {
  'one path': [{ name: 'c', paths: [[ab, bc]] }, { name: 'd', paths: [[ad]] }],
  'three disjoint paths': [{ name: 'c', paths: [[ab, bc], [ac], [ad, dc]] }],
  'paths that meet in one edge': [{ name: 'e', paths: [[ab, bc, ce], [ac, ce]] }, { name: 'b', paths: [[ab]] }],
};

for (const [name, answers] of Object.entries(WORLDS)) {
  test(`no cut is smaller than the one found: ${name}`, async () => {
    const run = world(answers);
    const found = await smallestCut(run, 200);
    assert.equal(found.cut.length, await least(run, [ab, bc, ac, ad, dc, ce]));
    assert.ok(!sameAnswers(found.before.answers, found.after.answers));
  });
}

test('the search ends at its limit, and at once where nothing is cited', async () => {
  const told = [];
  const found = await smallestCut(world(WORLDS['three disjoint paths']), 3, (tried) => told.push(tried));
  assert.deepEqual([found.cut, found.tried, told], [null, 3, [1, 2, 3]]);
  assert.equal((await smallestCut(async () => ({ answers: ['7'], edges: [] }), 9)).tried, 1);
  assert.equal((await smallestCut(async () => ({ error: 'busy' }), 9)).before.error, 'busy');
});

test('an edge touches the recorded answers on whose paths its two ends meet, from either side', () => {
  const examples = ['1-flute', '2-austria', '5-vienna'].map((name) => exampleOf(RUNS[name]));
  const questions = (gone) => touched(examples, gone).map(({ question }) => question);
  assert.deepEqual(questions([['Salzburg', 'birthplace of', 'Wolfgang Amadeus Mozart']]), [examples[0].question]);
  assert.deepEqual(questions([['Austria', 'capital', 'Vienna']]).at(-1), examples[2].question);
  assert.deepEqual(questions([['Rome', 'capital of', 'Italy']]), []);
});
