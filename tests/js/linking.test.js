// Where a mention is marked in the question as it was typed, though it was found in the question as it was put right.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { placeOf } from '../../assets/js/views/linking.js';

const mention = (text, start) => ({ text, start, end: start + text.length, candidates: [] });

test('a mention is marked where its words stand, whatever was put in front of them', () => {
  assert.deepEqual(placeOf('Who wrote Emma?', mention('Emma', 10)), [10, 14]);
  assert.deepEqual(placeOf('Who wrote Emma? And when did she die?', mention('Emma', 29)), [10, 14]);
});

test('a mistyped name is marked where whole words stand in its place, and no half of a word is', () => {
  assert.deepEqual(placeOf('Where was Mozrt born?', { ...mention('Mozart', 10), end: 15 }), [10, 15]);
  assert.deepEqual(placeOf('Who wrote it? And where was he born?', mention('Rhapsody', 20)), [-1, -1]);
});
