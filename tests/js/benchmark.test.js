// What the Benchmark tab counts and draws.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { barsOf, countOf, timeLeft } from '../../assets/js/views/benchmark.js';

const { benchmark: words } = JSON.parse(readFileSync(new URL('../../assets/text.en.json', import.meta.url), 'utf8'));

test('questions of variants that have not begun count as well', () => {
  const rows = [{ name: 'a', done: 10, of: 10, metrics: {} }, { name: 'b', done: 3, of: 10, metrics: {} }, { name: 'c', done: 0, of: null, metrics: {} }];
  assert.deepEqual(countOf(rows), { done: 13, of: 30 });
  assert.deepEqual(countOf([]), { done: 0, of: 0 });
});

test('time left is told in seconds, then in minutes, and not before it is known', () => {
  assert.equal(timeLeft(null, words), 'not known yet');
  assert.equal(timeLeft(0.2, words), '1 s');
  assert.equal(timeLeft(89, words), '89 s');
  assert.equal(timeLeft(150, words), '3 minutes');
});

test('a bar has its interval, and a variant without answers has none', () => {
  const metrics = { 'hits@1': 0.5, 'hits@1_low': 0.25, 'hits@1_high': 0.75, f1: 0.4 };
  const bars = barsOf([{ name: 'a', done: 0, of: 4, metrics: {} }, { name: 'b', done: 4, of: 4, metrics }]);
  assert.deepEqual(bars, [
    { figure: 'hits@1', variant: 'b', place: 1, value: 0.5, low: 0.25, high: 0.75 },
    { figure: 'f1', variant: 'b', place: 1, value: 0.4, low: 0.4, high: 0.4 },
  ]);
});
