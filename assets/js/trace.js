// A run as a file: a header line, then exactly the records that the page was sent. Read back, it is the same page.

import { absorb, emptyState } from './state.js';

export const KIND = 'kgdemo trace';
export const VERSION = 1;
const LARGEST = 30_000_000; // characters

/** The file's text. */
export function writeTrace(events) {
  const header = { trace: KIND, version: VERSION, saved: new Date().toISOString() };
  return [header, ...events].map((line) => JSON.stringify(line)).join('\n') + '\n';
}

/**
 * The records of a file.
 * @throws {TraceError} whose `reason` names the sentence to show
 */
export function readTrace(text) {
  if (text.length > LARGEST) throw new TraceError('large');
  const lines = text.split('\n').filter((line) => line.trim()).map(parsed); // not by \r or U+2028: labels may hold those
  const header = lines[0];
  if (header?.trace === KIND && Number(header.version) > VERSION) throw new TraceError('newer');
  if (header?.trace === KIND) lines.shift();
  const known = lines.length > 1 && lines[0]?.event === 'RunStarted' && lines.every(sound);
  if (!known) throw new TraceError('other');
  try {
    const state = emptyState();
    for (const event of lines) absorb(state, event);
  } catch {
    throw new TraceError('other');
  }
  return lines;
}

export class TraceError extends Error {
  constructor(reason) {
    super(reason);
    this.reason = reason;
  }
}

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    throw new TraceError('other');
  }
}

// what a record must look like, so that no view stumbles over it ------------------------------------

const text = (value) => typeof value === 'string';
const number = (value) => typeof value === 'number';
const flag = (value) => typeof value === 'boolean';
const list = (item) => (value) => Array.isArray(value) && value.every(item);
const record = (shape) => (value) => value !== null && typeof value === 'object' && !Array.isArray(value)
  && Object.entries(shape).every(([name, holds]) => holds(value[name]));
const maybe = (item) => (value) => value === undefined || value === null || item(value);
const row = (...items) => (value) => Array.isArray(value) && value.length >= items.length && items.every((holds, i) => holds(value[i]));

const candidate = record({ entity: text, score: number, type: text });
const mention = record({ text, start: number, end: number, candidates: list(candidate) });
const hop = record({ head: text, relation: text, tail: text, verdict: text });
const watch = record({ beam: number, allowed: number, paths_left: number, forbidden_mass: number,
  masked: maybe(list(row(text, number, text))), top: maybe(list(row(text, number, number, number))) });
const node = record({ id: text, label: text, group: text, x: number, y: number, title: maybe(text) });
const edge = record({ id: text, from: text, to: text, kind: text, label: maybe(text), title: maybe(text), paths: list(text), bend: maybe(number) });
const SHAPES = {
  RunStarted: record({ question: text, method: text, graph: text, model: text, beams: number, hops: number, triples: number }),
  EntitiesLinked: record({ mentions: list(mention), chosen: list(text), nearest: list(candidate) }),
  ConstraintReady: record({ kind: text, topics: list(text), hops: number, paths: number, ms: number }),
  DecodeStep: record({ constrained: flag, number, choices: list(row(number, number, text, number, number, (fate) => ['k', 'f', 'p'].includes(fate))), watched: list(watch), paths_left: number }),
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
};

/** Whether a record is one of ours; kinds that other methods add are taken as they come. */
function sound(event) {
  if (!record({ event: text })(event)) return false;
  const shape = Object.hasOwn(SHAPES, event.event) ? SHAPES[event.event] : null;
  return shape ? shape(event) : true;
}
