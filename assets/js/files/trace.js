// A run as a file: a header line, then exactly the records that the page was sent. Read back, it gives the same page.
// What `ask --json` prints is a trace too: whole events, which are made records here as the server makes them.

import { stateAfter } from '../core/state.js';
import { SCHEMA } from './schema.js';

/** @typedef {import('../core/types.js').RunEvent} RunEvent */

const KIND = 'kgdemo trace';
const VERSION = 1;
const MAX_LENGTH = 30_000_000; // characters

/**
 * The file's text.
 * @param {RunEvent[]} events
 * @returns {string}
 */
export function writeTrace(events) {
  const header = { trace: KIND, version: VERSION, saved: new Date().toISOString() };
  return `${[header, ...events].map((line) => JSON.stringify(line)).join('\n')}\n`;
}

/**
 * The records of a file; the header is optional.
 * @param {string} text
 * @returns {RunEvent[]}
 * @throws {TraceError} the text is too long, of a newer version, or no trace at all
 */
export function readTrace(text) {
  if (text.length > MAX_LENGTH) throw new TraceError('large');
  const lines = text.split('\n').filter((line) => line.trim()).map(parsed); // not by \r or U+2028: labels may hold those
  const header = /** @type {{trace?: unknown, version?: unknown}|null|undefined} */ (lines[0]);
  const headed = header?.trace === KIND;
  if (headed && Number(header.version) > VERSION) throw new TraceError('newer');
  const records = (headed ? lines.slice(1) : lines).map((line, i) => checked(asRecord(line), i + 1 + Number(headed)));
  if (records.length < 2 || records[0].event !== 'RunStarted') throw new TraceError('other');
  try {
    stateAfter(records);
  } catch {
    throw new TraceError('other');
  }
  return records;
}

/** A file is not a trace that can be shown; `reason` names the sentence to show, `slots` what stands in it. */
export class TraceError extends Error {
  /**
   * @param {'large'|'newer'|'json'|'kind'|'field'|'other'} reason
   * @param {{line?: number, field?: string, wanted?: string}} [slots] `line` from 1 on, without the empty lines
   */
  constructor(reason, slots = {}) {
    super(reason);
    this.reason = reason;
    this.slots = slots;
  }
}

/** @type {(line: string, index: number) => unknown} */
function parsed(line, index) {
  try {
    return JSON.parse(line);
  } catch {
    throw new TraceError('json', { line: index + 1 });
  }
}

// whole events as records, see kgdemo/view/page_records.py ------------------------------------------------

const MAX_PRUNED = 4; // discarded tokens of a step
const MAX_TOKENS = 4; // forbidden or allowed tokens of a beam
const MAX_OPTIONS = 16; // of a decision
const MAX_OPERANDS = 100; // of a calculation

/**
 * A whole event as the record that the page is sent of it; a record stays as it is.
 * @param {unknown} line
 * @returns {unknown}
 */
export function asRecord(line) {
  const event = /** @type {any} */ (line);
  if (event?.event === 'DecodeStep' && [event.choices, event.watched].every(Array.isArray)) {
    const whole = event.choices.filter(isObject);
    if (whole.length !== event.choices.length) return line;
    const pruned = whole.filter((/** @type {any} */ c) => c.fate === 'pruned').slice(0, MAX_PRUNED);
    const choices = [...whole.filter((/** @type {any} */ c) => c.fate !== 'pruned'), ...pruned]
      .map((c) => [c.beam, c.parent, c.text, c.log_prob, c.score, String(c.fate)[0], c.token]);
    return { ...event, choices, watched: event.watched.map(watchRow) };
  }
  if (event?.event === 'CandidatesScored' && event.left_out === undefined && Array.isArray(event.options)) {
    const first = (/** @type {any} */ values) => (Array.isArray(values) ? values.slice(0, MAX_OPTIONS) : values);
    const leftOut = Math.max(0, event.options.length - MAX_OPTIONS);
    return { ...event, options: first(event.options), scores: first(event.scores), kept: first(event.kept), left_out: leftOut };
  }
  if (event?.event === 'Operation' && event.left_out === undefined && [event.operands, event.result].every(Array.isArray)) {
    if (!event.operands.every(isObject)) return line;
    const numbered = event.operands.map((/** @type {any} */ operand, /** @type {number} */ i) => ({ number: i + 1, ...operand }));
    const last = (/** @type {any} */ operand) => Number(!event.result.includes(operand.entity));
    const operands = [...numbered].sort((a, b) => last(a) - last(b)).slice(0, MAX_OPERANDS).sort((a, b) => a.number - b.number);
    return { ...event, operands, left_out: numbered.length - operands.length };
  }
  return line;
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, any>}
 */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @type {(watch: any) => any} */
function watchRow(watch) {
  const rows = (/** @type {any} */ items, /** @type {string[]} */ names) => (Array.isArray(items) && items.every(isObject)
    ? items.slice(0, MAX_TOKENS).map((item) => names.map((name) => item[name])) : items);
  if (!isObject(watch)) return watch;
  return { ...watch, masked: rows(watch.masked, ['text', 'prob', 'reason']), top: rows(watch.top, ['text', 'prob', 'share', 'token']) };
}

// a record against the schema of its kind ----------------------------------------------------------------

/** @typedef {{field: string, wanted: string}} Fault a field and the type or the values that it should have */

const { kinds, $defs: definitions } = /** @type {{kinds: Record<string, string>, $defs: any}} */ (SCHEMA);

/** @type {Record<string, (value: any) => boolean>} */
const TYPES = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isObject,
};

/**
 * The record, with the defaults of fields that it lacks.
 * @param {unknown} value
 * @param {number} line
 * @returns {RunEvent}
 * @throws {TraceError} it is of no known kind, or has not the shape of its kind
 */
function checked(value, line) {
  const { event } = /** @type {{event?: unknown}} */ (isObject(value) ? value : {});
  if (typeof event !== 'string' || !Object.hasOwn(kinds, event)) throw new TraceError('kind', { line });
  const fault = faultOf(value, { $ref: kinds[event] }, event);
  if (fault) throw new TraceError('field', { line, ...fault });
  return /** @type {RunEvent} */ (value);
}

/**
 * The first fault of a value, null where it has none.
 * @param {any} value
 * @param {any} schema of what pydantic writes for dataclasses, lists, rows and texts
 * @param {string} field
 * @returns {Fault|null}
 */
function faultOf(value, schema, field) {
  if (schema.$ref) return faultOf(value, definitions[schema.$ref.split('/').at(-1)], field);
  if (schema.anyOf) {
    const faults = schema.anyOf.map((/** @type {any} */ one) => faultOf(value, one, field));
    return faults.every(Boolean) ? faults[0] : null;
  }
  if (schema.enum && !schema.enum.includes(value)) return { field, wanted: schema.enum.join(' | ') };
  if (schema.type && !TYPES[schema.type](value)) return { field, wanted: schema.type };
  if (schema.type === 'array') return faultInList(value, schema, field);
  return schema.properties ? faultInObject(value, schema, field) : null;
}

/** @type {(value: any[], schema: any, field: string) => Fault|null} */
function faultInList(value, schema, field) {
  const rows = schema.prefixItems;
  if (rows && value.length !== rows.length) return { field, wanted: `array[${rows.length}]` };
  return firstOf(value.entries(), ([i, item]) => faultOf(item, rows ? rows[i] : schema.items, `${field}[${i}]`));
}

/** @type {(value: any, schema: any, field: string) => Fault|null} */
function faultInObject(value, schema, field) {
  const missing = (schema.required ?? []).find((/** @type {string} */ name) => value[name] === undefined);
  if (missing) return faultOf(undefined, schema.properties[missing], `${field}.${missing}`);
  return firstOf(Object.entries(schema.properties), ([name, part]) => {
    if (value[name] === undefined) {
      if ((part.default ?? null) !== null) value[name] = structuredClone(part.default);
      return null;
    }
    return faultOf(value[name], part, `${field}.${name}`);
  });
}

/** @type {(items: Iterable<any>, faultOfOne: (item: any) => Fault|null) => Fault|null} */
function firstOf(items, faultOfOne) {
  for (const item of items) {
    const fault = faultOfOne(item);
    if (fault) return fault;
  }
  return null;
}
