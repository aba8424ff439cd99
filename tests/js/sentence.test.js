// An answer as a sentence: what the cited paths say, and never in the name of a model that wrote its own.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { predicate, sentencesOf } from '../../assets/js/views/sentence.js';

const path = (index, ...labels) => ({ index, path: { entities: labels.filter((_, i) => i % 2 === 0), relations: labels.filter((_, i) => i % 2) } });
const final = (text, answers, citations, refusal = '') => ({ text, answers, citations, refusal, by: 'm', completed: [] });
const said = (sentences) => sentences?.map(({ lead, answers }) => `${lead} ${answers.map(({ name, cites }) => `${name} [${cites}]`).join(', ')}.`);

test('two hops are one sentence, several answers share it', () => {
  assert.deepEqual(said(sentencesOf(final('Salzburg [1]', ['Salzburg'], [[1]]), [path(1, 'The Magic Flute', 'composed by', 'Mozart', 'born in', 'Salzburg')])),
    ['The Magic Flute was composed by Mozart, who was born in Salzburg [1].']);
  assert.deepEqual(said(sentencesOf(final('Italy [1], Hungary [2]', ['Italy', 'Hungary'], [[1], [2]]),
    [path(1, 'Austria', 'shares border with', 'Italy'), path(2, 'Austria', 'shares border with', 'Hungary')])),
  ['Austria shares a border with Italy [1], Hungary [2].']);
});

test('what was read from the graph besides has no path of its own, and does not spoil the sentence', () => {
  const told = { ...final('Rhine [1], Oder [1]', ['Rhine', 'Oder'], [[1], [1]]), completed: ['Oder'] };
  assert.deepEqual(said(sentencesOf(told, [path(1, 'Germany', 'crossed by river', 'Rhine')])), ['Germany is crossed by the Rhine [1].']);
});

test('what is no bare list, or rests on no path that ends there, stays as it was written', () => {
  const paths = [path(1, 'Vienna', 'capital of', 'Austria')];
  assert.equal(sentencesOf(final('It is Austria, surely [1].', ['Austria'], [[1]]), paths), null);
  assert.equal(sentencesOf(final('9', ['9'], [[]]), paths), null);
  assert.equal(sentencesOf(final('none', [], [], 'none'), paths), null);
  assert.equal(sentencesOf(final('Austria [1]', ['Austria'], [[1]]), [path(1, 'Vienna', '~capital', 'Austria')]), null);
});

for (const [relation, words] of [['capital', 'has the capital'], ['capital of', 'is the capital of'], ['composed by', 'was composed by'], ['owned by', 'is owned by'],
  ['founded in year', 'was founded in'], ['died in', 'died in'], ['located in', 'is located in'], ['composed', 'composed'], ['flows through', 'flows through'],
  ['official_language', 'has the official language'], ['birthplace of', 'is the birthplace of'], ['has country', 'has country'], ['constructor', 'has the constructor'],
  ['works at', 'works at'], ['knows', 'knows'], ['members', 'has the members'], ['boss', 'has the boss'], ['crossed by river', 'is crossed by the'], ['part of', 'is part of'],
  ['consists of', 'consists of']]) {
  test(`${relation}: ${words}`, () => assert.equal(predicate(relation), words));
}
