// The player, its stops, and the stream of live batches.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import { EventStream } from '../../assets/js/core/event_stream.js';
import { Player, SIZES, Stops } from '../../assets/js/core/player.js';
import { stateAfter } from '../../assets/js/core/state.js';
import { RUNS } from './recorded.js';

before(() => { globalThis.window = { matchMedia: () => ({ matches: true }) }; });

const FLUTE = RUNS['1-flute'];

test('stops are in order, end with the run, and are fewer the larger the step', () => {
  for (const [name, events] of Object.entries(RUNS)) {
    const stops = new Stops();
    stops.read(events);
    const places = stops.list.map((stop) => stop.place);
    assert.deepEqual(places, [...new Set(places)].sort((a, b) => a - b), name);
    assert.equal(places.at(-1), events.length, name);
    const counts = SIZES.map((_, size) => stops.list.filter((stop) => stop.size >= size).length);
    assert.ok(counts[0] > counts[1] && counts[1] > counts[2] && counts[2] >= 5, `${name}: ${counts}`);
  }
});

test('stops are the same whether the records come at once or one by one', () => {
  const [whole, slow] = [new Stops(), new Stops()];
  whole.read(FLUTE);
  for (let n = 1; n <= FLUTE.length; n += 1) slow.read(FLUTE.slice(0, n));
  assert.deepEqual(slow.list, whole.list);
});

test('a hop ends where the best beam has written its arrow, relation, arrow and the next arrow, or is finished', () => {
  const step = (number, text, fate = 'k') => ({ event: 'DecodeStep', constrained: true, number, choices: [[number + 1, number, text, 0, 0, fate]], watched: [], paths_left: 0 });
  const stops = new Stops();
  stops.read([' a', ' ->', ' r', ' ->', ' b', ' ->', ' s', ' ->'].map((text, i) => step(i, text)).concat(step(8, ' c</PATH>', 'f')));
  assert.deepEqual(stops.list.map((stop) => stop.size), [0, 0, 0, 0, 0, 1, 0, 0, 1]);
});

test('a step forward and one back lead to the same stop', () => {
  const stops = new Stops();
  stops.read(FLUTE);
  for (const size of [0, 1, 2]) {
    const first = stops.from(0, 1, size);
    const second = stops.from(first, 1, size);
    assert.ok(second > first);
    assert.equal(stops.from(second, -1, size), first);
    assert.equal(stops.from(first, -1, size), 0);
  }
});

test('the state at any place is that of the records before it, in whatever order places are visited', () => {
  const player = new Player(() => {});
  player.load(FLUTE, 'flute');
  assert.ok(player.over);
  for (const stop of [9, 3, 40, 0, 17]) {
    player.seek(stop);
    assert.equal(player.stop, stop);
    assert.deepEqual(player.state, stateAfter(FLUTE.slice(0, player.cursor)));
    assert.equal(player.over, false);
  }
  player.seek(10_000);
  assert.ok(player.over);
});

test('a live run is followed at its end, and not where the visitor has gone back', () => {
  const player = new Player(() => {});
  player.clear('r', 'live');
  player.add(FLUTE.slice(0, 30));
  assert.equal(player.cursor, 30);
  player.seek(2);
  const { cursor } = player;
  player.add(FLUTE.slice(30, 60));
  assert.equal(player.cursor, cursor);
  player.halt();
  assert.ok(player.ended);
});

// the stream --------------------------------------------------------------------------------------

function stream(missed = async () => '') {
  const player = new Player(() => {});
  const begun = [];
  return { player, begun, feed: new EventStream(player, missed, () => begun.push(player.run)) };
}

const batch = (run, from, items) => JSON.stringify({ run, from, items });
const notices = (from, to) => Array.from({ length: to - from }, (_, i) => ({ event: 'Notice', text: String(from + i) }));
const texts = (player) => player.events.map((event) => event.text);

test('batches are appended once, also where they overlap', async () => {
  const { player, feed, begun } = stream();
  await feed.take(batch('r', 0, notices(0, 3)));
  await feed.take(batch('r', 1, notices(1, 5)));
  await feed.take(batch('r', 0, notices(0, 2)));
  await feed.take('no batch');
  await feed.take(null);
  assert.deepEqual(texts(player), ['0', '1', '2', '3', '4']);
  assert.equal(begun.length, 1);
});

test('a gap is filled by the server', async () => {
  const asked = [];
  const { player, feed } = stream(async (gap) => { asked.push(gap); return batch(gap.run, gap.have, notices(gap.have, 6)); });
  await feed.take(batch('r', 0, notices(0, 2)));
  await feed.take(batch('r', 4, notices(4, 6)));
  assert.deepEqual(asked, [{ run: 'r', have: 2 }]);
  assert.deepEqual(texts(player), ['0', '1', '2', '3', '4', '5']);
});

test('records of a run that was stopped or left are ignored', async () => {
  const { player, feed } = stream();
  await feed.take(batch('one', 0, notices(0, 1)));
  feed.drop();
  await feed.take(batch('one', 1, notices(1, 2)));
  assert.deepEqual(texts(player), ['0']);
  await feed.take(batch('two', 0, notices(0, 1)));
  await feed.take(batch('one', 0, notices(0, 3)));
  assert.equal(player.run, 'two');
  player.load(FLUTE, 'flute');
  await feed.take(batch('two', 0, notices(0, 3)));
  assert.equal(player.run, 'flute');
});
