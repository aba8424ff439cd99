// The calculation behind an answer: what was counted, compared or ordered, each operand with the paths and the stated
// value it stands on, and the result that the verifier has computed as well.

import { figure, h, refill, say, wordsFor } from '../core/dom.js';
import { pathKey } from '../core/state.js';
import { term } from '../core/terms.js';

/** @typedef {import('../core/types.js').PageText} PageText */
/** @typedef {import('../core/types.js').RunState} RunState */
/** @typedef {import('../core/types.js').Operand} Operand */
/** @typedef {import('../core/types.js').Operation} Operation */
/** @typedef {import('../core/types.js').GraphPath} GraphPath */

const SHOWN = 9; // operands before the rest is asked for
const IN_FORMULA = 3; // operands of the one-line formula
const WITH_BARS = ['greatest', 'least'];

/**
 * The part of the answer's card that shows how it was computed.
 * @param {PageText} text
 * @returns {{element: HTMLElement, draw: (state: RunState) => void}}
 */
export function makeCalculation(text) {
  const words = text.calculation;
  const element = h('section', { class: 'calculation', 'aria-label': words.title, hidden: true });
  /** @type {Operation|null} */
  let shown = null;
  let all = false;
  let open = 0; // number of the operand whose proof is shown
  let redraw = () => {};

  /** @param {RunState} state */
  const draw = (state) => {
    redraw = () => draw(state);
    const { operation } = state;
    if (operation !== shown) { [shown, all, open] = [operation, false, 0]; }
    element.hidden = !operation;
    if (!operation) return;
    const { paths } = state.constrained;
    refill(element, [operation, all, open, paths.length], () => {
      const rows = inOrder(operation);
      return [
        h('h3', {}, words.title, operation.verified ? term(words.verified, words.verified_why, { class: 'verdict ok' }) : null),
        h('p', { class: 'formula' }, formula(operation, words)),
        h('ul', { class: 'operands' }, rows.slice(0, all ? Infinity : SHOWN).map((operand) => operandRow(operand, operation, paths))),
        !all && rows.length > SHOWN
          ? h('button', { type: 'button', class: 'plain', on: { click: () => { all = true; redraw(); } } }, say(words.more, { n: rows.length - SHOWN })) : null,
        all && operation.left_out ? h('p', { class: 'note' }, say(words.left_out, { n: operation.left_out })) : null,
      ];
    });
  };

  /** @type {(operand: Operand, operation: Operation, found: import('../core/types.js').FoundPath[]) => HTMLElement} */
  function operandRow(operand, operation, found) {
    const taken = operation.result.includes(operand.entity);
    const value = shownValue(operand);
    const keys = [`o${operand.number}`, ...operand.paths.flatMap((path) => found.filter((one) => one.path && same(one.path, path)).map(pathKey))];
    const expanded = open === operand.number;
    return h('li', { class: taken ? 'taken' : '', keys },
      h('button', { type: 'button', class: 'operand', 'aria-expanded': String(expanded), title: words.proof,
        on: { click: () => { open = expanded ? 0 : operand.number; redraw(); } } },
      h('span', { class: 'name' }, operation.kind === 'difference' ? operand.attribute : operand.entity),
      value ? h('span', { class: 'value' }, value) : null),
      WITH_BARS.includes(operation.kind) ? h('i', { class: 'size', 'aria-hidden': 'true', style: `width: ${barWidth(operand, operation)}%` }) : null,
      expanded ? h('ul', { class: 'stands-on' }, operand.paths.map((path) => h('li', {}, written(path))),
        value ? h('li', {}, `${operand.entity} → ${operand.attribute} → ${value}`) : null,
        operand.paths.length || value ? null : h('li', {}, words.topic)) : null);
  }

  return { element, draw };
}

/**
 * The calculation in one line: `8,849 m > 8,611 m → Mount Everest`.
 * @param {Operation} operation
 * @param {PageText['calculation']} words
 * @returns {string}
 */
export function formula(operation, words) {
  const { kind, argument, result } = operation;
  const operands = inOrder(operation);
  const n = operands.length + operation.left_out;
  const outcome = result.join(', ');
  if (WITH_BARS.includes(kind) && n <= IN_FORMULA) {
    const sign = result.length > 1 ? ' = ' : kind === 'greatest' ? ' > ' : ' < ';
    return `${operands.map(shownValue).join(sign)} → ${outcome}`;
  }
  if (kind === 'difference') return `${shownValue(operands[1])} − ${shownValue(operands[0])} = ${say(words.years, { n: outcome })}`;
  if (kind === 'value') return `${operands[0].attribute} = ${shownValue(operands[0])}`;
  const place = Number(argument);
  const backwards = (kind === 'nth' || kind === 'chain') && place < 0;
  const descending = kind === 'nth' && operands[0] && !isDate(operands[0]);
  const name = backwards ? (descending ? 'top' : place === -1 ? 'last' : 'late') : kind;
  const sentence = wordsFor(words.kinds, name, '{result}');
  const bound = kind === 'filter' ? boundSaid(argument, operands.every(isDate), words) : argument;
  return say(sentence, { n: figure(n), k: result.length, i: Math.abs(place), bound, result: outcome, attribute: operands[0]?.attribute ?? '' });
}

/**
 * A bound of values in words: `>= 1601 and <= 1700` is since 1601 and until 1700.
 * @param {string} bound
 * @param {boolean} ofTime
 * @param {PageText['calculation']} words
 * @returns {string}
 */
export function boundSaid(bound, ofTime, words) {
  const parts = bound.split(' and ').map((part) => part.split(' '));
  if (parts.some(([sign, n]) => !(sign in words.bounds) || !Number.isFinite(Number(n)))) return bound;
  const said = parts.map(([sign, n]) => say(wordsFor(ofTime ? words.times : words.bounds, sign, '{n}'), { n: ofTime ? n : figure(Number(n), Number.isInteger(Number(n)) ? 0 : 1) }));
  return said.join(' and ');
}

/**
 * Operands in the order in which they are read: the largest first, the smallest first, or as they were given; those that
 * meet a condition before those that do not.
 * @param {Operation} operation
 * @returns {Operand[]}
 */
export function inOrder({ kind, operands, argument, result }) {
  const ordered = [...operands];
  const down = kind === 'nth' && Number(argument) < 0 && operands[0] && !isDate(operands[0]);
  if (kind === 'greatest' || down) ordered.sort((a, b) => order(b) - order(a));
  else if (kind === 'least' || kind === 'nth') ordered.sort((a, b) => order(a) - order(b));
  else if (kind === 'filter') ordered.sort((a, b) => Number(result.includes(b.entity)) - Number(result.includes(a.entity)) || order(a) - order(b));
  return ordered;
}

// values ------------------------------------------------------------------------------------------

const DATE = /^(-?)(\d{1,4})(?:-(\d\d))?(?:-(\d\d))?$/;
const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];

/** @param {Operand} operand */
const isDate = ({ unit, value }) => (unit === '' || unit === 'year') && DATE.test(value);

/**
 * The value of an operand as people write it: `8,849 m`, `22 November 1963`, `44 BC`; empty where it has none.
 * @param {Operand} operand
 * @returns {string}
 */
export function shownValue(operand) {
  const { value, unit } = operand;
  if (isDate(operand)) {
    const [, before, year, month, day] = /** @type {string[]} */ (DATE.exec(value));
    return [day && Number(day), month && MONTHS[Number(month) - 1], `${Number(year)}${before ? ' BC' : ''}`].filter(Boolean).join(' ');
  }
  const [whole, part] = value.split('.');
  return /^-?\d+$/.test(whole) ? `${figure(Number(whole))}${part ? `.${part}` : ''} ${unit}`.trim() : value;
}

/**
 * By which values are ordered: the number, or the date in years.
 * @param {Operand} operand
 * @returns {number}
 */
function order(operand) {
  if (!isDate(operand)) return Number(operand.value);
  const [, before, year, month, day] = /** @type {string[]} */ (DATE.exec(operand.value));
  return Number(year) * (before ? -1 : 1) + (Number(month ?? 1) - 1) / 12 + (Number(day ?? 1) - 1) / 372;
}

/** @type {(operand: Operand, operation: Operation) => number} */
function barWidth(operand, { operands }) {
  const most = Math.max(...operands.map(order));
  return most > 0 ? Math.max(1, Math.round((100 * order(operand)) / most)) : 0;
}

/** @type {(path: GraphPath) => string} */
export const written = ({ entities, relations }) => entities.map((entity, i) => (i ? `${relations[i - 1]} → ${entity}` : entity)).join(' → ');

/** @type {(one: GraphPath, other: GraphPath) => boolean} */
const same = (one, other) => written(one) === written(other);
