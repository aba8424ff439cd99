// Traces as files: what is written is read back, and nothing else is taken.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { SCHEMA } from '../../assets/js/files/schema.js';
import { readTrace, TraceError, writeTrace } from '../../assets/js/files/trace.js';
import { RUNS, traceText } from './recorded.js';

const FLUTE = RUNS['1-flute'];
const lines = (records) => records.map((record) => JSON.stringify(record)).join('\n');
const refusedAs = (reason) => (error) => error instanceof TraceError && error.reason === reason;

/** All that was written is read; fields that were left out may have been added. */
function assertHolds(read, written, name) {
  assert.equal(read.length, written.length, name);
  written.forEach((record, i) => assert.equal(JSON.stringify({ ...record, ...read[i] }), JSON.stringify({ ...record, ...read[i], ...record }), name));
}

test('every recorded run is read, with and without a header', () => {
  for (const [name, events] of Object.entries(RUNS)) assertHolds(readTrace(writeTrace(events)), events, name);
  assertHolds(readTrace(traceText('1-flute')), FLUTE);
});

test('labels may hold any line separator', () => {
  const nasty = [FLUTE[0], { event: 'Notice', text: 'a\r\u2028\u0085\nb' }];
  assertHolds(readTrace(writeTrace(nasty)), nasty);
});

for (const [text, reason] of [
  ['not json at all', 'json'],
  ['', 'other'],
  ['null', 'kind'],
  ['{"hello": "world"}\n{"event": "RunFinished"}', 'kind'],
  ['{"event": "RunStarted", "question": 7}\n{"event": "Notice", "text": "x"}', 'field'],
  ['{"trace": "kgdemo trace", "version": 99}\n{"event": "RunStarted"}', 'newer'],
  ['{"trace": "kgdemo trace", "version": 1}\n[1]\nnull', 'kind'],
  [lines([FLUTE[0]]), 'other'],
  [lines([FLUTE[1], FLUTE[0]]), 'other'],
  [' '.repeat(30_000_001), 'large'],
]) {
  test(`refused as ${reason}: ${text.slice(0, 60)}`, () => assert.throws(() => readTrace(text), refusedAs(reason)));
}

const OTHERS = [
  { event: 'Thought', kind: 'thought', id: 1, parents: [], text: 'x' },
  { event: 'CandidatesScored', decision: 'x', options: ['a'], scores: [1], kept: [true], by: 'm' },
  { event: 'DeductionChecked', statement: 'x', premises: ['y'], holds: true, by: 'm' },
  { event: 'Notice', text: 'x' }, { event: 'RunFailed', message: 'x' }];

/** Why a run with this record in its second line is refused. */
function refusal(record) {
  try {
    readTrace(lines([FLUTE[0], record, FLUTE[0]]));
  } catch (error) {
    return `${error.reason} ${Object.values(error.slots).join(' ')}`;
  }
  return '';
}

test('a field of a wrong type is named, and one that is missing where it has no default', () => {
  const kinds = new Map([...FLUTE, ...OTHERS].map((event) => [event.event, event]));
  assert.ok(kinds.size >= 15);
  for (const event of kinds.values()) {
    const { properties, required = [] } = SCHEMA.$defs[SCHEMA.kinds[event.event].split('/').at(-1)];
    for (const field of Object.keys(properties).filter((name) => name !== 'event')) {
      const wrong = properties[field].type === 'object' ? 7 : { wrong: true };
      assert.ok(refusal({ ...event, [field]: wrong }).startsWith(`field 2 ${event.event}.${field}`), `${event.event}.${field}`);
      assert.equal(refusal({ ...event, [field]: undefined }) !== '', required.includes(field), `${event.event}.${field}`);
    }
  }
});

test('faults inside lists, rows and choices of words are named with their place', () => {
  const step = FLUTE.find((event) => event.event === 'DecodeStep');
  const [first] = step.choices;
  assert.equal(refusal({ ...step, choices: [first, first.with(0, '1')] }), 'field 2 DecodeStep.choices[1][0] integer');
  assert.equal(refusal({ ...step, choices: [first.slice(0, 3)] }), 'field 2 DecodeStep.choices[0] array[7]');
  assert.equal(refusal({ ...step, choices: [first.with(5, 'x')] }), 'field 2 DecodeStep.choices[0][5] k | p | f');
});

test('fields that were left out get their defaults', () => {
  const [, thought] = readTrace(lines([FLUTE[0], OTHERS[0]]));
  assert.deepEqual([thought.entities, thought.score, thought.fate], [[], 0, 'open']);
});

test('the line that is wrong is counted with the header', () => {
  const read = () => readTrace(writeTrace([FLUTE[0], FLUTE[1], { event: 'Notice', text: 7 }]));
  assert.throws(read, (error) => error.slots.line === 4);
});

test('a record of a kind that is not known is refused', () => {
  for (const event of ['SomethingNew', 'constructor']) assert.equal(refusal({ event, x: 1 }), 'kind 2');
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
