// Lessons: every step has words and a place, its run is shipped, and the record up to which it is shown occurs in it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { PLACES } from '../../assets/js/views/lessons.js';
import { RUNS } from './recorded.js';

const { all } = JSON.parse(readFileSync(new URL('../../assets/text.en.json', import.meta.url), 'utf-8')).lessons;

test('each lesson has a place for each step', () => {
  assert.deepEqual(Object.fromEntries(all.map(({ name, steps }) => [name, steps.length])), Object.fromEntries(Object.entries(PLACES).map(([name, places]) => [name, places.length])));
});

for (const [name, places] of Object.entries(PLACES)) {
  test(`the runs of the lesson “${name}” are shipped and reach the record that is looked at`, () => {
    for (const { run, until } of places) {
      assert.ok(RUNS[run], run);
      if (until) assert.ok(RUNS[run].some(until));
    }
  });
}
