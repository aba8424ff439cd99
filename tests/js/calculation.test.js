// The calculation behind an answer: its order, its one line, and values as people write them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { stateAfter } from '../../assets/js/core/state.js';
import { calculationCsv } from '../../assets/js/files/exports.js';
import { readTrace } from '../../assets/js/files/trace.js';
import { boundSaid, formula, inOrder, shownValue } from '../../assets/js/views/calculation.js';
import { RUNS } from './recorded.js';

const words = JSON.parse(readFileSync(new URL('../../assets/text.en.json', import.meta.url), 'utf-8')).calculation;
const operand = (number, entity, value = '', unit = '', attribute = value ? 'height' : '', paths = []) => ({ number, entity, paths, attribute, value, unit });
const operation = (kind, operands, result, argument = '') => ({ event: 'Operation', kind, text: '', operands, result, argument, verified: true, left_out: 0 });

test('values are written as people write them', () => {
  for (const [value, unit, shown] of [['8849', 'm', '8,849 m'], ['0.5', 'km', '0.5 km'], ['1963-11-22', '', '22 November 1963'], ['-0044-03-15', '', '15 March 44 BC'],
    ['1756', 'year', '1756'], ['country', '', 'country'], ['-89.2', '°C', '-89.2 °C'], ['', '', '']]) {
    assert.equal(shownValue(operand(1, 'x', value, unit)), shown);
  }
});

test('a comparison reads as one line, the winner first', () => {
  const [low, high] = [operand(1, 'K2', '8611', 'm'), operand(2, 'Mount Everest', '8849', 'm')];
  assert.equal(formula(operation('greatest', [low, high], ['Mount Everest']), words), '8,849 m > 8,611 m → Mount Everest');
  assert.equal(formula(operation('least', [high, low], ['K2']), words), '8,611 m < 8,849 m → K2');
  assert.equal(formula(operation('greatest', [low, { ...low, number: 2 }], ['K2', 'K2']), words), '8,611 m = 8,611 m → K2, K2');
});

test('a bound is said in words, years as they are written', () => {
  assert.equal(boundSaid('>= 1601 and <= 1700', true, words), 'since 1601 and until 1700');
  assert.equal(boundSaid('> 1000', false, words), 'more than 1,000');
});

test('of many things under a condition those that meet it come first', () => {
  const rivers = [['Amstel', '31'], ['Nile', '6650'], ['Volga', '3530'], ['Thames', '346']].map(([name, km], i) => operand(i + 1, name, km, 'km'));
  assert.deepEqual(inOrder(operation('filter', rivers, ['Nile', 'Volga'], '> 3000')).map((one) => one.entity), ['Volga', 'Nile', 'Amstel', 'Thames']);
});

test('every kind has words of its own, and dates are ordered across the turn of eras', () => {
  const [caesar, paul] = [operand(1, 'Paul', '0064', '', 'died'), operand(2, 'Caesar', '-0044-03-15', '', 'died')];
  assert.deepEqual(inOrder(operation('nth', [caesar, paul], ['Caesar'], '1')).map((one) => one.entity), ['Caesar', 'Paul']);
  for (const kind of ['count', 'holds', 'greatest', 'least', 'nth', 'chain', 'filter', 'both', 'without', 'step', 'age', 'difference', 'value']) {
    const line = formula(operation(kind, Array(4).fill(caesar), ['7'], '1'), words);
    assert.ok(line && !line.includes('{'), `${kind}: ${line}`);
  }
  assert.equal(formula(operation('chain', [caesar, paul], ['Paul'], '-1'), words), 'the last of 2 → Paul');
  const [k2, everest] = [operand(1, 'K2', '8611', 'm'), operand(2, 'Mount Everest', '8849', 'm')];
  const second = operation('nth', [k2, everest], ['K2'], '-2');
  assert.equal(formula(second, words), 'number 2 of 2 by height, the greatest first → K2');
  assert.deepEqual(inOrder(second).map((one) => one.entity), ['Mount Everest', 'K2']);
});

test('a whole event of many operands becomes the record that the page is sent, the result among them', () => {
  const operands = [...Array(150).keys()].map((i) => ({ entity: `E${i}`, paths: [], attribute: 'height', value: String(i), unit: 'm' }));
  const whole = { event: 'Operation', kind: 'greatest', text: '', operands, result: ['E149'], argument: '', verified: true };
  const [, read] = readTrace([RUNS['1-flute'][0], whole].map((one) => JSON.stringify(one)).join('\n'));
  assert.deepEqual([read.operands.length, read.left_out, read.operands.at(-1).number], [100, 50, 150]);
  const lines = calculationCsv(stateAfter([RUNS['1-flute'][0], read])).trim().split('\r\n');
  assert.equal(lines.length, 101);
  assert.equal(lines.at(-1), '"greatest","E149","height","149","m","","yes","E149","yes"');
});
