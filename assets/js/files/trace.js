// A run as a file: a header line, then exactly the records that the page was sent. Read back, it gives the same page.
// What `ask --json` prints is a trace too: whole events, which are made records here as the server makes them.

import { stateAfter } from '../core/state.js';

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
  const lines = text.split('\n').filter((line) => line.trim()).map(parsed).map(asRecord); // not by \r or U+2028: labels may hold those
  const header = /** @type {{trace?: unknown, version?: unknown}|null|undefined} */ (lines[0]);
  if (header?.trace === KIND && Number(header.version) > VERSION) throw new TraceError('newer');
  if (header?.trace === KIND) lines.shift();
  const wrong = lines.findIndex((line) => !isEvent(line));
  if (wrong >= 0) throw new TraceError('other', wrong + 1 + Number(header?.trace === KIND));
  if (lines.length < 2 || !lines.every(isEvent) || lines[0].event !== 'RunStarted') throw new TraceError('other');
  try {
    stateAfter(lines);
  } catch {
    throw new TraceError('other');
  }
  return lines;
}

/** A file is not a trace that can be shown; `reason` names the sentence to show, `line` the line that is wrong, 0 for none. */
export class TraceError extends Error {
  /**
   * @param {'large'|'newer'|'other'} reason
   * @param {number} [line] without the empty lines, from 1 on
   */
  constructor(reason, line = 0) {
    super(reason);
    this.reason = reason;
    this.line = line;
  }
}

/** @type {(line: string) => unknown} */
function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    throw new TraceError('other');
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

/** @type {(value: unknown) => boolean} */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** @type {(watch: any) => any} */
function watchRow(watch) {
  const rows = (/** @type {any} */ items, /** @type {string[]} */ names) => (Array.isArray(items) && items.every(isObject)
    ? items.slice(0, MAX_TOKENS).map((item) => names.map((name) => item[name])) : items);
  if (!isObject(watch)) return watch;
  return { ...watch, masked: rows(watch.masked, ['text', 'prob', 'reason']), top: rows(watch.top, ['text', 'prob', 'share', 'token']) };
}

// what a record must look like, so that every view can draw it ------------------------------------------

/** @typedef {(value: any) => boolean} Check */

/** @type {Check} */
const text = (value) => typeof value === 'string';
/** @type {Check} */
const number = (value) => typeof value === 'number';
/** @type {Check} */
const flag = (value) => typeof value === 'boolean';
/** @type {(item: Check) => Check} */
const list = (item) => (value) => Array.isArray(value) && value.every(item);
/** @type {(shape: Record<string, Check>) => Check} */
const record = (shape) => (value) => value !== null && typeof value === 'object' && !Array.isArray(value)
  && Object.entries(shape).every(([name, holds]) => holds(value[name]));
/** @type {(item: Check) => Check} */
const maybe = (item) => (value) => value === undefined || value === null || item(value);
/** @type {(...items: Check[]) => Check} */
const row = (...items) => (value) => Array.isArray(value) && value.length >= items.length && items.every((holds, i) => holds(value[i]));
/** @type {Check} */
const fate = (value) => ['k', 'f', 'p'].includes(value);

const candidate = record({ entity: text, score: number, type: text });
const mention = record({ text, start: number, end: number, candidates: list(candidate) });
const hop = record({ head: text, relation: text, tail: text, verdict: text });
const watch = record({ beam: number, allowed: number, paths_left: number, forbidden_mass: number,
  masked: maybe(list(row(text, number, text))), top: maybe(list(row(text, number, number, number))) });
const node = record({ id: text, label: text, group: text, x: number, y: number, title: maybe(text) });
const edge = record({ id: text, from: text, to: text, kind: text, label: maybe(text), title: maybe(text), paths: list(text), bend: maybe(number) });
const graphPath = record({ entities: list(text), relations: list(text) });
const operand = record({ number, entity: text, paths: list(graphPath), attribute: text, value: text, unit: text });
/** @type {Map<unknown, Check>} */
const SHAPES = new Map(Object.entries({
  RunStarted: record({ question: text, method: text, graph: text, model: text, beams: number, hops: number, triples: number }),
  EntitiesLinked: record({ mentions: list(mention), chosen: list(text), nearest: list(candidate) }),
  ConstraintReady: record({ kind: text, topics: list(text), hops: number, paths: number, ms: number }),
  DecodeStep: record({ constrained: flag, number, choices: list(row(number, number, text, number, number, fate)), watched: list(watch), paths_left: number }),
  PathFound: record({ constrained: flag, index: number, text, score: number, beam: number, path: maybe(graphPath), relation_score: maybe(number) }),
  PathVerified: record({ constrained: flag, index: number, verdict: record({ faithful: flag, hops: list(hop) }) }),
  HypothesisAnswer: record({ constrained: flag, index: number, text }),
  Thought: record({ kind: text, id: number, parents: list(number), text, entities: list(text), score: number, fate: text, reason: text }),
  CandidatesScored: record({ decision: text, options: list(text), scores: list(number), kept: list(flag), by: text }),
  DeductionChecked: record({ statement: text, premises: list(text), holds: flag, by: text }),
  AnswerDelta: record({ text }),
  Operation: record({ kind: text, text, operands: list(operand), result: list(text), argument: text, verified: flag, left_out: number }),
  AnswerFinal: record({ text, answers: list(text), citations: list(list(number)), by: text, completed: list(text), refusal: text, failed: maybe(flag), places: maybe(list(text)) }),
  NextQuestions: record({ questions: list(text) }),
  Notice: record({ text }),
  LMCall: record({ by: text, purpose: text, prompt: text, output: text, tokens_in: number, tokens_out: number, seconds: number }),
  RunFinished: record({ seconds: number, lm_calls: number, tokens_in: number, tokens_out: number }),
  RunFailed: record({ message: text }),
  Picture: record({ nodes: list(node), edges: list(edge), gone: list(text), left_out: number }),
}));

/**
 * Whether a record is of a known kind and has its shape.
 * @param {unknown} value
 * @returns {value is RunEvent}
 */
function isEvent(value) {
  if (!record({ event: text })(value)) return false;
  const { event } = /** @type {{event: string}} */ (value);
  return SHAPES.get(event)?.(value) ?? false;
}
