// The honesty dial and the x-ray: shares, places on the curve, and the order of relations.

import assert from 'node:assert/strict';
import test from 'node:test';

import { calibrated, curveOf, placeAt, sureWords } from '../../assets/js/views/dial.js';
import { relationsShown } from '../../assets/js/views/xray.js';

const points = [[0.9, 1], [0.8, 1], [0.8, 0], [0.4, 1], [0.1, 0]];

test('a place on the curve counts what is answered and what of it is wrong', () => {
  assert.deepEqual(placeAt(points, 0), { given: 5, wrong: 2, coverage: 1, risk: 0.4 });
  assert.deepEqual(placeAt(points, 0.8), { given: 3, wrong: 1, coverage: 0.6, risk: 1 / 3 });
  assert.deepEqual(placeAt(points, 1), { given: 0, wrong: 0, coverage: 0, risk: 0 });
  assert.deepEqual(placeAt([], 0.5), { given: 0, wrong: 0, coverage: 0, risk: 0 });
});

test('the curve goes from the surest question to all of them, equal ones in one step', () => {
  assert.deepEqual(curveOf(points).map(({ given }) => given), [1, 3, 4, 5]);
});

test('the share is told only for the graph and the model that it was measured with', () => {
  const reliability = { graph: 'world', slope: -1, intercept: 0, points };
  const state = { run: { model: 'embedded', graph: 'world' }, answerability: { log_odds: 0, missing: '' } };
  assert.equal(calibrated(reliability, state), 0.5);
  assert.ok(calibrated(reliability, { ...state, answerability: { log_odds: -3 } }) > 0.9); // the odds are those of no answer
  for (const other of [{ run: { model: 'other', graph: 'world' } }, { run: { model: 'embedded', graph: 'mine' } }, { answerability: null }]) {
    assert.equal(calibrated(reliability, { ...state, ...other }), null);
  }
  assert.equal(calibrated(null, state), null);
  assert.deepEqual([sureWords(0.9987), sureWords(0.5)], ['> 99 %', '50 %']);
});

test('relations are found by name or kind, and the largest holes come first when asked for', () => {
  const relation = (name, known, of, kind = 'person') => ({ relation: name, facts: known, kind, known, of });
  const all = [relation('born in', 90, 100), relation('capital', 20, 20, 'country'), relation('spouse', 5, 100)];
  assert.deepEqual(relationsShown(all, 'holes', '').map((one) => one.relation), ['spouse', 'born in', 'capital']);
  assert.deepEqual(relationsShown(all, 'facts', 'Country').map((one) => one.relation), ['capital']);
  assert.deepEqual(relationsShown(all, 'facts', ' bor').map((one) => one.relation), ['born in']);
});
