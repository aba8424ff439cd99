// Guessing: which tokens are asked for, what is offered, and the score.

import assert from 'node:assert/strict';
import test from 'node:test';

import { scoreOf, turnsOf } from '../../assets/js/views/guess.js';
import { RUNS } from './recorded.js';

for (const [name, events] of Object.entries(RUNS)) {
  test(`${name}: each turn offers the token that was taken, unseen until then`, () => {
    const turns = turnsOf(events);
    assert.ok(turns.length >= 1);
    turns.forEach((turn, i) => {
      assert.ok(i === 0 || turn.place > turns[i - 1].place);
      const tokens = turn.options.map((option) => option.token);
      assert.equal(new Set(tokens).size, tokens.length);
      assert.ok(tokens.includes(turn.taken));
      const taken = turn.options.find((option) => option.token === turn.taken);
      assert.equal(taken.why, ''); // the best path was allowed all along
      const step = events[turn.place];
      assert.equal(step.event, 'DecodeStep');
      assert.ok(step.constrained && step.choices.some(([, , text]) => text === turn.taken));
    });
  });
}

test('the score counts guesses, the model alone, and what the graph forbids', () => {
  const option = (token, before, why = '') => ({ token, before, after: why ? 0 : 1, why });
  const turns = [
    { place: 1, after: 'a ->', options: [option('x', 0.2), option('y', 0.7, 'no edge')], taken: 'x' },
    { place: 2, after: 'a -> x', options: [option('p', 0.9), option('q', 0.1)], taken: 'p' },
    { place: 3, after: 'a -> x p', options: [option('r', 0.9), option('s', 0.1)], taken: 'r' },
  ];
  assert.deepEqual(scoreOf(turns, ['y', 'p']), { n: 2, right: 1, model: 1, forbidden: 1 });
  assert.deepEqual(scoreOf(turns, []), { n: 0, right: 0, model: 0, forbidden: 0 });
});

test('a run without a search has nothing to guess', () => {
  assert.deepEqual(turnsOf(RUNS['1-flute'].filter((event) => event.event !== 'DecodeStep')), []);
});
