// Traces as files: what is written is read back, and nothing else is taken.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readTrace, TraceError, writeTrace } from '../../assets/js/files/trace.js';
import { RUNS, traceText } from './recorded.js';

const FLUTE = RUNS['1-flute'];
const lines = (records) => records.map((record) => JSON.stringify(record)).join('\n');
const refusedAs = (reason) => (error) => error instanceof TraceError && error.reason === reason;

test('every recorded run is read, with and without a header', () => {
  for (const [name, events] of Object.entries(RUNS)) assert.equal(lines(readTrace(writeTrace(events))), lines(events), name);
  assert.equal(lines(readTrace(traceText('1-flute'))), lines(FLUTE));
});

test('labels may hold any line separator', () => {
  const nasty = [FLUTE[0], { event: 'Notice', text: 'a\r\u2028\u0085\nb' }];
  assert.deepEqual(readTrace(writeTrace(nasty)), nasty);
});

for (const [text, reason] of [
  ['not json at all', 'other'],
  ['', 'other'],
  ['null', 'other'],
  ['{"hello": "world"}\n{"event": "RunFinished"}', 'other'],
  ['{"event": "RunStarted", "question": 7}\n{"event": "Notice", "text": "x"}', 'other'],
  ['{"trace": "kgdemo trace", "version": 99}\n{"event": "RunStarted"}', 'newer'],
  ['{"trace": "kgdemo trace", "version": 1}\n[1]\nnull', 'other'],
  [lines([FLUTE[0]]), 'other'],
  [lines([FLUTE[1], FLUTE[0]]), 'other'],
  [' '.repeat(30_000_001), 'large'],
]) {
  test(`refused as ${reason}: ${text.slice(0, 60)}`, () => assert.throws(() => readTrace(text), refusedAs(reason)));
}

test('a record with any field of a wrong type, or without it, is refused', () => {
  const optional = new Set(['t', 'schema', 'forced', 'given', 'ms', 'cache_hit_rate', 'relation_score', 'read', 'path', 'stage_ms', 'look_ahead', 'triples', 'event']);
  const others = [
    { event: 'Thought', kind: 'thought', id: 1, parents: [], text: 'x', entities: [], score: 0, fate: 'open', reason: '' },
    { event: 'CandidatesScored', decision: 'x', options: ['a'], scores: [1], kept: [true], by: 'm' },
    { event: 'DeductionChecked', statement: 'x', premises: ['y'], holds: true, by: 'm' },
    { event: 'Notice', text: 'x' }, { event: 'RunFailed', message: 'x' }];
  assert.equal(readTrace(lines([FLUTE[0], ...others])).length, 6);
  const kinds = new Map([...FLUTE, ...others].filter((event) => event.event !== 'LMCall').map((event) => [event.event, event]));
  assert.ok(kinds.size >= 15);
  for (const event of kinds.values()) {
    for (const field of Object.keys(event).filter((name) => !optional.has(name))) {
      for (const wrong of [{ ...event, [field]: { wrong: true } }, { ...event, [field]: undefined }]) {
        if (wrong[field] && field === 'verdict') continue; // an object is of the right type there
        assert.throws(() => readTrace(lines([FLUTE[0], wrong, FLUTE[0]])), refusedAs('other'), `${event.event}.${field}`);
      }
    }
  }
});

test('a record of a kind that is not known is taken as it is', () => {
  const events = [FLUTE[0], { event: 'SomethingNew', x: 1 }, { event: 'constructor' }];
  assert.deepEqual(readTrace(lines(events)), events);
});
