// The recorded runs that are shipped with the page, for the tests.

import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../../assets/', import.meta.url);

/** The text of a recorded run. */
export function traceText(name) {
  return readFileSync(new URL(`traces/${name}.jsonl`, FOLDER), 'utf-8');
}

/** The records of a text, one a line. */
export function recordsOf(text) {
  return text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
}

/** All recorded runs, examples and failures, by name. */
export const RUNS = Object.fromEntries(['traces', 'failures'].flatMap((kind) => {
  const folder = new URL(`${kind}/`, FOLDER);
  return readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
    .map((name) => [name.replace('.jsonl', ''), recordsOf(readFileSync(new URL(name, folder), 'utf-8'))]);
}));
