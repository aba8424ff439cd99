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
  const optional = new Set(['t', 'schema', 'forced', 'given', 'ms', 'cache_hit_rate', 'relation_score', 'read', 'path', 'stage_ms', 'look_ahead', 'triples', 'calls', 'passes', 'left_out', 'failed', 'places', 'event']);
  const others = [
    { event: 'Thought', kind: 'thought', id: 1, parents: [], text: 'x', entities: [], score: 0, fate: 'open', reason: '' },
    { event: 'CandidatesScored', decision: 'x', options: ['a'], scores: [1], kept: [true], by: 'm' },
    { event: 'DeductionChecked', statement: 'x', premises: ['y'], holds: true, by: 'm' },
    { event: 'Notice', text: 'x' }, { event: 'RunFailed', message: 'x' }];
  assert.equal(readTrace(lines([FLUTE[0], ...others])).length, 6);
  const kinds = new Map([...FLUTE, ...others].map((event) => [event.event, event]));
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

test('the line that is wrong is named, counted with the header', () => {
  const lineOf = (text) => { try { readTrace(text); } catch (error) { return error.line; } return null; };
  assert.equal(lineOf(lines([FLUTE[0], { event: 'SomethingNew' }])), 2);
  assert.equal(lineOf(writeTrace([FLUTE[0], FLUTE[1], { event: 'Notice', text: 7 }])), 4);
});

test('a record of a kind that is not known is refused', () => {
  for (const event of ['SomethingNew', 'constructor']) {
    assert.throws(() => readTrace(lines([FLUTE[0], { event, x: 1 }, FLUTE[0]])), refusedAs('other'));
  }
});

test('whole events become the records that the page is sent', () => {
  const choice = (beam, fate) => ({ beam, parent: 0, token: 7, text: 'x', log_prob: -1, score: -2, fate });
  const watch = { beam: 0, text: 'x', allowed: 2, paths_left: 3, forbidden_mass: 0.5,
    masked: [{ text: 'y', prob: 0.5, reason: 'no edge' }], top: [{ token: 7, text: 'x', prob: 0.5, share: 1 }] };
  const step = { event: 'DecodeStep', constrained: true, number: 1, paths_left: 3, watched: [watch],
    choices: [...Array(6).keys()].map((beam) => choice(beam, 'pruned')).concat(choice(9, 'kept')) };
  const scored = { event: 'CandidatesScored', decision: 'd', by: 'm', options: Array(20).fill('a'), scores: Array(20).fill(1), kept: Array(20).fill(true) };
  const [, read, few] = readTrace(lines([FLUTE[0], step, scored]));
  assert.deepEqual(read.choices.map((c) => [c[0], c[5]]), [[9, 'k'], [0, 'p'], [1, 'p'], [2, 'p'], [3, 'p']]);
  assert.deepEqual(read.watched[0].masked, [['y', 0.5, 'no edge']]);
  assert.deepEqual(read.watched[0].top, [['x', 0.5, 1, 7]]);
  assert.deepEqual([few.options.length, few.left_out], [16, 4]);
});
