// The fold over a trace, and what the views derive from it.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as read from '../../assets/js/core/state.js';
import { RUNS } from './recorded.js';

/** A run in which the two branches write " a -> b" and " a -> c". */
function twoBranches() {
  const step = (constrained, number, choices) => ({ event: 'DecodeStep', constrained, number, choices, watched: [], paths_left: 0 });
  return read.stateAfter([
    { event: 'RunStarted', question: '?', method: 'gcr', graph: 'world', model: 'm', beams: 2, hops: 1, triples: 5 },
    step(true, 0, [[1, 0, ' Al', -1, -1, 'k', 7], [2, 0, ' Bo', -2, -2, 'p', 8]]),
    step(false, 0, [[1, 0, ' Al', -1, -1, 'k', 7]]),
    step(true, 1, [[3, 1, ' ->', 0, -1, 'k', 9]]),
    step(false, 1, [[3, 1, ' ->', 0, -1, 'k', 9]]),
    step(true, 2, [[4, 3, ' born in', -0.5, -1.5, 'k', 10], [5, 3, ' son of', -0.1, -1.1, 'f', 11]]),
    step(false, 2, [[4, 3, ' lives in', -0.5, -1.5, 'k', 12]]),
  ]);
}

test('every recorded run folds into a finished state in which each path is judged', () => {
  assert.ok(Object.keys(RUNS).length >= 10);
  for (const [name, events] of Object.entries(RUNS)) {
    const state = read.stateAfter(events);
    assert.equal(state.count, events.length, name);
    assert.equal(read.stageNow(state), 5, name);
    assert.equal(read.allPaths(state).length, events.filter((event) => event.event === 'PathFound').length, name);
    assert.ok(read.allPaths(state).every((path) => path.verdict), name);
    assert.equal(state.answer, events.find((event) => event.event === 'AnswerFinal').text, name);
    for (const edge of state.edges.values()) assert.ok(state.nodes.has(edge.from) && state.nodes.has(edge.to), `${name}: ${edge.id}`);
  }
});

test('the paths of a second search take the place of those of the first', () => {
  const found = (index, text) => ({ event: 'PathFound', constrained: true, index, text, score: 0, path: null, beam: -1 });
  const state = read.stateAfter([found(1, 'a'), found(2, 'b'), found(1, 'c')]);
  assert.deepEqual(read.allPaths(state).map((path) => path.text), ['c']);
});

test('the beam of a decoded path says what the path says', () => {
  for (const [name, events] of Object.entries(RUNS)) {
    const state = read.stateAfter(events);
    const plain = (text) => text.replace('</PATH>', '').replaceAll(/\W+/g, ' ').trim().toLowerCase();
    for (const path of state.constrained.paths.filter((one) => !one.read)) {
      assert.equal(plain(read.written(state.constrained, path.beam)), plain(path.text), name);
    }
  }
});

test('a stage never goes back while records arrive', () => {
  for (const [name, events] of Object.entries(RUNS)) {
    const state = read.emptyState();
    let last = -1;
    for (const event of events) {
      read.absorb(state, event);
      assert.ok(read.stageNow(state) >= last || event.event === 'Thought', `${name}: ${event.event}`);
      last = read.stageNow(state);
    }
    assert.deepEqual(new Set(read.stagesOf(state, false)), new Set(['done']), name);
  }
});

test('a stage is skipped, failed or stopped', () => {
  const started = { event: 'RunStarted', question: '?' };
  const thought = { event: 'Thought', kind: 'thought', id: 1, parents: [], text: 'x', entities: [], score: 0, fate: 'open', reason: '' };
  const answer = { event: 'AnswerFinal', text: 'x', answers: [], citations: [], completed: [], by: '', refusal: '' };
  const linked = { event: 'EntitiesLinked', mentions: [], chosen: ['a'], nearest: [] };
  assert.deepEqual(read.stagesOf(read.stateAfter([started, linked, thought, answer]), false), ['done', 'skipped', 'done', 'skipped', 'done']);
  assert.deepEqual(read.stagesOf(read.stateAfter([started, { event: 'RunFailed', message: 'no' }]), false), ['failed', 'todo', 'todo', 'todo', 'todo']);
  assert.deepEqual(read.stagesOf(read.stateAfter([started, linked]), true), ['done', 'halted', 'todo', 'todo', 'todo']);
});

test('a model that is asked while paths are not yet judged is not asked for the answer', () => {
  const [started, call] = [{ event: 'RunStarted', question: '?' }, { event: 'LMCall' }];
  const found = { event: 'PathFound', constrained: true, index: 1, text: 'a', score: 0, beam: 1 };
  const judged = { event: 'PathVerified', constrained: true, index: 1, verdict: { faithful: true, hops: [] } };
  const stages = [[started, call], [started, found, call], [started, found, judged, call]].map((events) => read.stageNow(read.stateAfter(events)));
  assert.deepEqual(stages, [0, 3, 4]);
});

test('beams: lineage, text, and those that stand, best first', () => {
  const { constrained } = twoBranches();
  assert.deepEqual(read.lineage(constrained, 4).map((beam) => beam.id), [1, 3, 4]);
  assert.equal(read.written(constrained, 4), 'Al -> born in');
  assert.deepEqual(read.standing(constrained).map((beam) => beam.id), [5, 4]);
  assert.deepEqual(read.standing(read.emptyState().constrained), []);
});

test('the followed beam is the chosen one, else that of the best path, else the best live one', () => {
  const state = twoBranches();
  assert.equal(read.followed(state, [2]), 2);
  assert.equal(read.followed(state, [99]), 5);
  state.constrained.paths.push({ index: 1, beam: 4, constrained: true, text: '', score: 0, verdict: null, answer: '' });
  assert.equal(read.followed(state, []), 4);
});

test('stepping stays with one beam, and a live search with what goes on from the beam before', () => {
  const events = RUNS['1-flute'];
  const whole = read.stateAfter(events);
  const best = whole.constrained.paths.find((path) => path.index === 1).beam;
  const line = read.lineage(whole.constrained, best).map((beam) => beam.id);
  let before = 0;
  for (let n = 1; n <= events.length; n += 1) {
    const state = read.stateAfter(events.slice(0, n));
    const walked = read.followed(state, line);
    if (walked) assert.ok(line.includes(walked), `record ${n}`);
    const live = read.followed(state, [], before);
    if (before && !state.constrained.paths.length && read.standing(state.constrained).some((beam) => read.lineage(state.constrained, beam.id).some((one) => one.id === before))) {
      assert.ok(read.lineage(state.constrained, live).some((beam) => beam.id === before), `record ${n}`);
    }
    before = live;
  }
  assert.equal(read.followed(whole, line), best);
});

test('only edges of the graph are offered to be taken out', () => {
  const state = read.stateAfter(RUNS['5-fails-open']);
  const real = state.constrained.paths.flatMap((path) => path.verdict.hops.filter((hop) => read.holds(hop.verdict)).map((hop) => hop.tail));
  const offered = read.hopsOf(state).map(([, , tail]) => tail);
  assert.ok(offered.length > 0 && offered.length < state.constrained.paths.length);
  assert.ok(offered.every((tail) => real.includes(tail)));
});

test('what the graph did is told for each token of a beam', () => {
  const state = read.stateAfter(RUNS['1-flute']);
  const points = read.watchedAlong(state, read.followed(state, []));
  assert.ok(points.length > 3);
  assert.equal(points[0].after, '');
  for (const [i, point] of points.entries()) {
    assert.ok(point.watch.forbidden_mass >= 0 && point.watch.forbidden_mass <= 1);
    if (i) assert.ok(point.after.startsWith(points[i - 1].after));
    if (i) assert.ok(point.watch.paths_left <= points[i - 1].watch.paths_left);
  }
});

test('the branches diverge at the first token that differs, which is found in both texts', () => {
  const found = read.divergence(twoBranches());
  assert.equal(found.number, 3);
  assert.deepEqual(found.constrained, { beam: 5, token: 'son of', part: 1, from: 0, to: 6 });
  assert.deepEqual(read.cut('son of', found.constrained), ['', 'son of', '']);
  assert.deepEqual(read.cut('Son of god', found.constrained), ['', 'Son of', ' god']);
  assert.deepEqual(read.cut('father', found.constrained), ['', 'father', '']);
  assert.equal(read.divergence(read.emptyState()), null);
});

test('hops of the constrained paths come once, those of the best path first', () => {
  const state = read.stateAfter(RUNS['1-flute']);
  const hops = read.hopsOf(state);
  assert.deepEqual(hops[0], ['The Magic Flute', 'composed by', 'Wolfgang Amadeus Mozart']);
  assert.equal(new Set(hops.map(String)).size, hops.length);
});

test('relations of an edge come from its title, whatever the names hold, else from its label', () => {
  const edge = { id: 'e', from: 'a → b', to: 'c', kind: 'grounded', bend: 0, paths: [], label: 'x\ny' };
  assert.deepEqual(read.relationsOf({ ...edge, title: 'a → b → part → of → c (exists)\na → b → near → c' }), ['part → of', 'near']);
  assert.deepEqual(read.relationsOf({ ...edge, title: 'a → b → close to → c → d → c' }), ['close to → c → d']);
  assert.deepEqual(read.relationsOf(edge), ['x', 'y']);
});

test('a picture record takes nodes away with their edges', () => {
  const node = (id, group = 'entity') => ({ id, label: id, group, x: 0, y: 0 });
  const edge = (id, from, to) => ({ id, from, to, kind: 'grounded', bend: 0, paths: [] });
  const state = read.stateAfter([
    { event: 'Picture', nodes: [node('a'), node('b'), node('more:a', 'more')], edges: [edge('e0', 'a', 'b'), edge('e1', 'a', 'more:a')], gone: [], left_out: 3 },
  ]);
  assert.deepEqual(read.pictureOf(state).edges.map((one) => one.id), ['e0']);
  assert.equal(state.leftOut, 3);
  read.absorb(state, { event: 'Picture', nodes: [], edges: [], gone: ['b'], left_out: 0 });
  assert.deepEqual([...state.edges.keys()], ['e1']);
});

test('a path is in the graph, there in other words, or invented; one invented hop is enough', () => {
  const hop = (verdict, restates = null) => ({ head: 'a', relation: 'r', tail: 'b', verdict, restates });
  const verdict = (...hops) => ({ faithful: hops.every((one) => read.holds(one.verdict)), hops });
  const reworded = hop('unknown relation', ['b', 's', 'a']);
  assert.equal(read.standingOf(verdict(hop('ok'), hop('matched'))), 'graph');
  assert.equal(read.standingOf(verdict(hop('ok'), reworded)), 'reworded');
  assert.equal(read.standingOf(verdict(reworded, hop('no such edge'))), 'invented');
  const branch = { beams: new Map(), steps: [], paths: [verdict(hop('ok')), verdict(reworded), verdict(hop('malformed')), null].map((one) => ({ verdict: one })) };
  assert.deepEqual(read.standingCounts(branch), { graph: 1, reworded: 1, invented: 1 });
});

test('recorded verdicts name the edge that a hop restates', () => {
  const state = read.stateAfter(RUNS['3-ambiguous']);
  assert.ok(read.standingCounts(state.unconstrained).reworded > 0);
  assert.deepEqual(read.standingCounts(state.constrained), { graph: state.constrained.paths.length, reworded: 0, invented: 0 });
});

test('what language models cost adds up while a run goes on, and a sign of life lasts until the next record', () => {
  const call = { event: 'LMCall', by: 'm', tokens_in: 100, tokens_out: 10, calls: 2, cost: 0.25 };
  const waiting = { event: 'Waiting', by: 'm', seconds: 3 };
  const state = read.stateAfter([call, call, waiting]);
  assert.deepEqual(state.spent, { calls: 4, tokens: 220, cost: 0.5 });
  assert.equal(state.waiting, waiting);
  assert.equal(read.stateAfter([waiting, call]).waiting, null);
});

test('a question that goes on from a run is told what the run was about, and how it named the one thing it asked of', () => {
  const flute = read.stateAfter(RUNS['1-flute']);
  assert.deepEqual(read.aboutOf(flute), ['Salzburg', 'The Magic Flute']);
  assert.deepEqual(read.lastOf(flute), { question: 'Where was the composer of The Magic Flute born?', topic: 'The Magic Flute' });
  const linked = flute.linked;
  assert.equal(read.lastOf({ ...flute, linked: { ...linked, mentions: [] } }), null);
  const other = { text: 'Egypt', start: 0, end: 5, candidates: [{ entity: 'Egypt', score: 1, type: '', description: '' }] };
  assert.equal(read.lastOf({ ...flute, linked: { ...linked, mentions: [...linked.mentions, other], chosen: [...linked.chosen, 'Egypt'] } }), null);
});
