// Class mode: the favourite of a class, and an answer as a phone is told it.

import assert from 'node:assert/strict';
import test from 'node:test';

import { stateAfter } from '../../assets/js/core/state.js';
import { answerOf, favourite } from '../../assets/js/views/classroom.js';
import { RUNS } from './recorded.js';

test('the favourite is the token that most have chosen, and nothing where nobody has', () => {
  const turn = { options: [{ token: 'a' }, { token: 'b' }, { token: 'c' }] };
  assert.equal(favourite(turn, [1, 3, 2]), 'b');
  assert.equal(favourite(turn, [2, 0, 2]), 'a');
  assert.equal(favourite(turn, [0, 0, 0]), '');
  assert.equal(favourite(turn, []), '');
});

test('a phone is told the sentence of the answer card, without citations', () => {
  assert.match(answerOf(stateAfter(RUNS['1-flute'])), /^The Magic Flute was composed by .* was born in Salzburg\.$/);
  for (const events of Object.values(RUNS)) assert.doesNotMatch(answerOf(stateAfter(events)), /\[\d/);
  assert.equal(answerOf(stateAfter([])), '');
});
