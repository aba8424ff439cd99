// Layouts: labels of the picture, the tree of beams, the tree of thoughts, places for neighbours.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { lineage, stateAfter } from '../../assets/js/core/state.js';
import { freePlace } from '../../assets/js/graph/explore.js';
import { firstPaths, fitted } from '../../assets/js/graph/fitting.js';
import { controls, labelBox, placeLabels, pointOn } from '../../assets/js/graph/labels.js';
import { treeOf } from '../../assets/js/views/beam_tree.js';
import { thoughtTree } from '../../assets/js/views/thoughts.js';
import { RUNS } from './recorded.js';

/** A little wider than the average letter of the page's font. */
const measure = (words, font) => 0.6 * Number(/([\d.]+)px/.exec(font)[1]) * words.length;
const touch = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

// labels ------------------------------------------------------------------------------------------

test('no two labels of edges touch in any example', () => {
  for (const name of Object.keys(RUNS).filter((one) => /flute|austria|lennon|iphone|vienna/.test(one))) {
    const state = stateAfter(RUNS[name]);
    const { labels, box } = placeLabels([...state.nodes.values()], [...state.edges.values()], false, measure);
    const boxes = labels.filter((label) => label.edge).map((label) => ({ label, ...labelBox(label, measure) }));
    assert.ok(boxes.length > 1, name);
    boxes.forEach((one, i) => boxes.slice(i + 1).forEach((two) => assert.ok(!touch(one, two), `${name}: ${one.label.lines} and ${two.label.lines}`)));
    for (const one of boxes) assert.ok(one.left >= box.left && one.right <= box.right && one.top >= box.top && one.bottom <= box.bottom);
  }
});

/** All labels of a picture with their boxes. */
function placed(nodes, edges, narrow) {
  return placeLabels(nodes, edges, narrow, measure).labels.map((label) => ({ label, ...labelBox(label, measure) }));
}

/** Every two labels that touch. */
const touching = (boxes) => boxes.flatMap((one, i) => boxes.slice(i + 1).filter((two) => touch(one, two)).map((two) => [one.label.lines, two.label.lines]));

test('no two labels touch in any recorded run, on a phone neither', () => {
  for (const [name, events] of Object.entries(RUNS)) {
    const state = stateAfter(events);
    const nodes = [...state.nodes.values()];
    for (const narrow of [false, true]) assert.deepEqual(touching(placed(fitted(nodes, narrow ? 320 : 690, narrow), [...state.edges.values()], narrow)), [], `${name} ${narrow}`);
  }
});

/** Three columns of fifty rows with long names, as the server places them, and a path through each row. */
function largePicture() {
  const nodes = [{ id: 't', label: 'a topic with a long name', group: 'topic', x: 0, y: 0 }];
  const edges = [];
  for (let n = 1; n < 150; n += 1) {
    const [column, row] = [1 + ((n - 1) % 3), Math.floor((n - 1) / 3) - 25];
    nodes.push({ id: `n${n}`, label: `entity number ${n} of the Austro-Hungarian Empire`, group: column === 3 ? 'end' : 'entity', x: 280 * column, y: 46 * row });
    edges.push({ id: `e${n}`, from: column === 1 ? 't' : `n${n - 1}`, to: `n${n}`, kind: n % 5 ? 'grounded' : 'ghost', bend: 0, paths: [`g${Math.ceil(n / 3)}`], label: n % 7 ? 'shares border with' : 'one\ntwo\nthree\nfour' });
  }
  return { nodes, edges };
}

/** Pixels of the smallest letters on the page, where a picture is drawn in so much room. */
function smallestLetters({ nodes, edges }, [width, height], narrow) {
  const { labels, box } = placeLabels(fitted(nodes, width, narrow), edges, narrow, measure);
  const scale = Math.min(1, width / (box.right - box.left + 24), height / (box.bottom - box.top + 24));
  return scale * Math.min(...labels.map(({ size }) => size));
}

test('nor in a picture of 150 nodes with long names, in which every entity has its name', () => {
  const { nodes, edges } = largePicture();
  for (const narrow of [false, true]) {
    const boxes = placed(fitted(nodes, narrow ? 312 : 690, narrow), edges, narrow);
    assert.deepEqual(touching(boxes), []);
    assert.equal(boxes.filter(({ label }) => label.node).length, 150);
    const said = boxes.filter(({ label }) => label.edge).length;
    assert.ok(narrow || said > 75, `${said} edges say what they are`); // on a phone there is room for names alone
  }
});

test('its letters can be read: on a phone the first paths are shown, and all of it where the page is scrolled', () => {
  const large = largePicture();
  const first = firstPaths(large);
  assert.equal(first.nodes.length, 13); // the topic and four paths of three things
  assert.ok(['t', 'n1', 'n2', 'n3'].every((id) => first.nodes.some((node) => node.id === id)), 'the best path is among them');
  assert.equal(first.edges.length, 12);
  assert.ok(smallestLetters(first, [312, 280], true) >= 9);
  assert.ok(smallestLetters(large, [312, Infinity], true) >= 8.5);
  assert.ok(smallestLetters(large, [684, Infinity], false) >= 8.5);
  assert.deepEqual(touching(placed(fitted(first.nodes, 312, true), first.edges, true)), []);
});

test('on a phone two topics are not made small by nameless neighbours, and their names have room', () => {
  const around = (topic, from) => Array.from({ length: 9 }, (_, i) => ({ id: `${topic}${i}`, label: 'n', group: 'neighbour', x: -150, y: 46 * (from + i) }));
  const nodes = [{ id: 'Mont Blanc', label: 'Mont Blanc', group: 'topic', x: 0, y: 184 }, { id: 'h', label: '4,806 m', group: 'value', x: 300, y: 184 }, ...around('a', 0),
    { id: 'K2', label: 'K2', group: 'topic', x: 0, y: 690 }, { id: 'i', label: '8,611 m', group: 'value', x: 300, y: 690 }, ...around('b', 11)];
  const edges = [['Mont Blanc', 'h', 'o1'], ['K2', 'i', 'o2']].map(([from, to, path]) => ({ id: path, from, to, kind: 'grounded', bend: 0, paths: [path], label: 'height' }));
  const first = firstPaths({ nodes, edges });
  assert.deepEqual(first.nodes.map(({ id }) => id), ['Mont Blanc', 'h', 'K2', 'i']);
  assert.ok(smallestLetters(first, [312, 280], true) >= 10);
  assert.ok(smallestLetters({ nodes, edges }, [312, 280], true) < 7);
  const bodies = first.nodes.map(({ y }) => y);
  assert.equal(bodies[2] - bodies[0], 92);
});

test('a small picture is shown whole, and what a visitor has added stays', () => {
  const { nodes, edges } = largePicture();
  const small = { nodes: nodes.slice(0, 10), edges: edges.slice(0, 9) };
  assert.deepEqual(firstPaths(small), small);
  nodes.push({ id: 'added', label: 'added', group: 'neighbour', named: true, x: 500, y: 0 }, { id: 'faded', label: 'faded', group: 'neighbour', x: -150, y: 0 });
  const shown = new Set(firstPaths({ nodes, edges }).nodes.map(({ id }) => id));
  assert.ok(shown.has('added') && !shown.has('faded'));
});

test('nor where neighbours have been added around many nodes: a name without room is left out', () => {
  const state = stateAfter(RUNS['1-flute']);
  const nodes = [...state.nodes.values()];
  for (const from of [...nodes]) {
    for (let n = 0; n < 9; n += 1) {
      const id = `neighbour ${n} of ${from.id}, the Austro-Hungarian Empire`;
      nodes.push({ id, label: id, group: 'neighbour', named: true, ...freePlace(from, nodes) });
    }
  }
  assert.ok(nodes.length >= 100);
  for (const narrow of [false, true]) {
    const boxes = placed(fitted(nodes, narrow ? 320 : 690, narrow), [...state.edges.values()], narrow);
    assert.deepEqual(touching(boxes), []);
    const names = new Set(boxes.map(({ label }) => label.node));
    const mayGo = ({ id, group }) => group === 'neighbour' || id.startsWith('more:'); // how many more neighbours there are
    for (const node of state.nodes.values()) assert.ok(names.has(node.id) || mayGo(node), node.id);
  }
});

test('what edges from a node to itself say stands below the node, one below the other', () => {
  const nodes = [{ id: 'Singapore', label: 'Singapore', group: 'topic', x: 0, y: 0 }];
  const loop = { from: 'Singapore', to: 'Singapore', paths: [] };
  const edges = [{ ...loop, id: 'e0', kind: 'grounded', bend: 0, label: 'capital' },
    { ...loop, id: 'e1', kind: 'ghost', bend: 1, label: 'capital of\ncapital city of' }];
  const [one, two] = placeLabels(nodes, edges, false, measure).labels.filter((label) => label.edge).map((label) => labelBox(label, measure));
  assert.ok(one.top > 9, 'the node ends at 9');
  assert.ok(one.bottom <= two.top);
});

test('an edge that says very much says the first of it, and how much more', () => {
  const nodes = [{ id: 'a', label: 'a', group: 'topic', x: 0, y: 0 }, { id: 'b', label: 'b', group: 'ghost', x: 280, y: 0 }];
  const edge = (label) => [{ id: 'e0', from: 'a', to: 'b', kind: 'ghost', bend: 0, paths: [], label }];
  const linesOf = (label, narrow) => placeLabels(nodes, edge(label), narrow, measure).labels.find((one) => one.edge).lines;
  assert.deepEqual(linesOf('one\ntwo\nthree\nfour', false), ['one', 'two', '+2']);
  assert.deepEqual(linesOf('one\ntwo\nthree\nfour', true), ['one', '+3']);
  assert.deepEqual(linesOf('one\ntwo\nthree', false), ['one', 'two', 'three']);
  assert.deepEqual(linesOf('one\ntwo', true), ['one', 'two']);
});

test('on a phone long names are cut short, and the topic is wrapped', () => {
  const nodes = [{ id: 't', label: 'The Magic Flute of Wolfgang', group: 'topic', x: 0, y: 0 }, { id: 'n', label: 'x'.repeat(50), group: 'entity', x: 90, y: 0 }];
  const { labels } = placeLabels(nodes, [], true, measure);
  assert.ok(labels[0].lines.length > 1);
  assert.equal(labels[1].lines[0].length, 18);
  assert.deepEqual(placeLabels([], [], true, measure), { labels: [], box: { left: 0, right: 0, top: 0, bottom: 0 } });
});

test('a curve begins and ends at its nodes', () => {
  const [from, to] = [{ x: 3, y: 4 }, { x: 90, y: -20 }];
  for (const bend of [0, 1, 2]) {
    const edge = { id: 'e', from: 'a', to: 'b', kind: 'grounded', bend, paths: [] };
    assert.equal(controls(edge, from, to).length, bend ? 1 : 2);
    for (const [t, end] of [[0, from], [1, to]]) {
      const point = pointOn(edge, from, to, t);
      assert.ok(Math.hypot(point.x - end.x, point.y - end.y) < 1e-9);
    }
    const loop = pointOn({ ...edge, to: 'a' }, from, from, 0.5);
    assert.ok(Math.abs(loop.x - from.x) < 1e-9 && loop.y > from.y + 30, 'a loop hangs below its node');
  }
});

test('neighbours find places that no label touches', () => {
  const taken = [{ x: 0, y: 0 }];
  for (let n = 0; n < 60; n += 1) taken.push(freePlace(taken[0], taken));
  taken.forEach((one, i) => taken.slice(i + 1).forEach((two) => assert.ok(Math.abs(one.x - two.x) >= 130 || Math.abs(one.y - two.y) >= 34)));
  assert.ok(taken[1].x > 0, 'the first stands to the right');
});

// trees -------------------------------------------------------------------------------------------

/** Ids of the beams that finished beams and those of the last step continue, and their own. */
function aliveIn(branch) {
  const ends = [...branch.steps.flatMap((step) => step.finished), ...(branch.steps.at(-1)?.kept ?? [])];
  return new Set(ends.flatMap((id) => lineage(branch, id).map((beam) => beam.id)));
}

test('the tree of beams holds every live beam once, and no two of its nodes overlap', () => {
  for (const [name, events] of Object.entries(RUNS)) {
    const { constrained, unconstrained } = stateAfter(events);
    for (const branch of [constrained, unconstrained]) {
      const { nodes, width, height } = treeOf(branch, (text) => 7 * text.length, true);
      const ids = nodes.flatMap((node) => node.ids);
      assert.equal(new Set(ids).size, ids.length, name);
      assert.deepEqual(new Set(nodes.filter((node) => !node.dead).flatMap((node) => node.ids)), aliveIn(branch), name);
      const rows = new Map();
      for (const node of nodes) rows.set(node.row, [...(rows.get(node.row) ?? []), node]);
      for (const row of rows.values()) {
        const sorted = [...row].sort((a, b) => a.x - b.x);
        sorted.forEach((node, i) => { if (i) assert.ok(sorted[i - 1].x + sorted[i - 1].width <= node.x, `${name}: ${node.label}`); });
      }
      for (const node of nodes) {
        assert.ok(node.x + node.width <= width && (node.row + 1) * 27 <= height);
        if (node.parent) assert.ok(node.parent.x < node.x && node.parent.level === node.level - 1 && node.parent.row <= node.row);
      }
    }
  }
});

test('finished paths are leaves of the tree, and dropped beams can be left out', () => {
  const { constrained } = stateAfter(RUNS['1-flute']);
  const shown = treeOf(constrained, (text) => text.length, true).nodes;
  const lean = treeOf(constrained, (text) => text.length, false).nodes;
  assert.ok(shown.some((node) => node.dead));
  assert.ok(lean.every((node) => !node.dead) && lean.length < shown.length);
  const leaves = lean.filter((node) => !node.last);
  assert.ok(leaves.every((node) => node.fate === 'finished'));
  for (const path of constrained.paths.filter((one) => !one.read)) assert.equal(leaves.filter((node) => node.id === path.beam).length, 1, path.text);
});

const thought = (id, parents, more = {}) => ({ event: 'Thought', kind: 'thought', id, parents, text: `t${id}`, entities: [], score: 0, fate: 'open', reason: '', ...more });

test('thoughts stand below what they follow from, with their actions and observations', () => {
  const told = [thought(1, []), thought(2, [1], { kind: 'action' }), thought(3, [2], { kind: 'observation', entities: ['E'] }), thought(4, []),
    thought(5, [3]), thought(6, [3, 4], { fate: 'merged' }), thought(7, [1])];
  const nodes = thoughtTree(new Map(told.map((one) => [one.id, one])));
  assert.deepEqual(nodes.map((node) => [node.id, node.level, node.above]), [[1, 0, null], [5, 1, 1], [7, 1, 1], [4, 0, null], [6, 1, 4]]);
  assert.deepEqual(nodes[0].then.map((one) => one.kind), ['action', 'observation']);
  assert.deepEqual([nodes[0].ids, nodes[0].entities], [[1, 2, 3], ['E']]);
  assert.deepEqual(nodes[4].parents, [1, 4]);
});

test('an observation of two thoughts is a node of its own, and an unknown parent is no parent', () => {
  const told = [thought(1, []), thought(2, [9]), thought(3, [1, 2], { kind: 'observation' })];
  const nodes = thoughtTree(new Map(told.map((one) => [one.id, one])));
  assert.deepEqual(nodes.map((node) => [node.id, node.parents]), [[1, []], [2, []], [3, [1, 2]]]);
});

test('on a phone a large calculation shows what was drawn first, whatever its number', () => {
  const operands = Array.from({ length: 30 }, (_, place) => 30 - place); // the result comes first
  const nodes = operands.flatMap((n, row) => [{ id: `E${n}`, label: `E${n}`, group: 'end', x: 0, y: 46 * row }, { id: `${n} m`, label: `${n} m`, group: 'value', x: 280, y: 46 * row }]);
  const edges = operands.map((n) => ({ id: `e${n}`, from: `E${n}`, to: `${n} m`, kind: 'grounded', bend: 0, paths: [`o${n}`], label: 'height' }));
  const shown = firstPaths({ nodes, edges }).nodes.map(({ id }) => id);
  assert.ok(shown.length < nodes.length);
  assert.ok(shown.includes('E30') && !shown.includes('E1'));
});
