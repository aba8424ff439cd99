// A run as a file: a header line, then exactly the records that the page was sent. Read back, it gives the same page.

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
  const lines = text.split('\n').filter((line) => line.trim()).map(parsed); // not by \r or U+2028: labels may hold those
  const header = /** @type {{trace?: unknown, version?: unknown}|null|undefined} */ (lines[0]);
  if (header?.trace === KIND && Number(header.version) > VERSION) throw new TraceError('newer');
  if (header?.trace === KIND) lines.shift();
  if (lines.length < 2 || !lines.every(isEvent) || lines[0].event !== 'RunStarted') throw new TraceError('other');
  try {
    stateAfter(lines);
  } catch {
    throw new TraceError('other');
  }
  return lines;
}

/** A file is not a trace that can be shown; `reason` names the sentence to show. */
export class TraceError extends Error {
  /** @param {'large'|'newer'|'other'} reason */
  constructor(reason) {
    super(reason);
    this.reason = reason;
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
/** @type {Map<unknown, Check>} */
const SHAPES = new Map(Object.entries({
  RunStarted: record({ question: text, method: text, graph: text, model: text, beams: number, hops: number, triples: number }),
  EntitiesLinked: record({ mentions: list(mention), chosen: list(text), nearest: list(candidate) }),
  ConstraintReady: record({ kind: text, topics: list(text), hops: number, paths: number, ms: number }),
  DecodeStep: record({ constrained: flag, number, choices: list(row(number, number, text, number, number, fate)), watched: list(watch), paths_left: number }),
  PathFound: record({ constrained: flag, index: number, text, score: number, beam: number, path: maybe(record({ entities: list(text), relations: list(text) })) }),
  PathVerified: record({ constrained: flag, index: number, verdict: record({ faithful: flag, hops: list(hop) }) }),
  HypothesisAnswer: record({ constrained: flag, index: number, text }),
  Thought: record({ kind: text, id: number, parents: list(number), text, entities: list(text), score: number, fate: text, reason: text }),
  CandidatesScored: record({ decision: text, options: list(text), scores: list(number), kept: list(flag), by: text }),
  DeductionChecked: record({ statement: text, premises: list(text), holds: flag, by: text }),
  AnswerDelta: record({ text }),
  AnswerFinal: record({ text, answers: list(text), citations: list(list(number)), by: text, completed: list(text), refusal: text }),
  Notice: record({ text }),
  RunFinished: record({ seconds: number, lm_calls: number, tokens_in: number, tokens_out: number }),
  RunFailed: record({ message: text }),
  Picture: record({ nodes: list(node), edges: list(edge), gone: list(text), left_out: number }),
}));

/**
 * Whether a record has the shape of its kind; records of other kinds are taken as they are.
 * @param {unknown} value
 * @returns {value is RunEvent}
 */
function isEvent(value) {
  if (!record({ event: text })(value)) return false;
  const { event } = /** @type {{event: string}} */ (value);
  return SHAPES.get(event)?.(value) ?? true;
}
