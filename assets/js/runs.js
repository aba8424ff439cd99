// This browser's own runs: what was asked and answered, kept on this machine only. Text, never keys.

const NAME = 'kgdemo.runs';
const MOST = 30;
const LONGEST = 300;
const KEPT = ['question', 'graph', 'method', 'beams', 'hops', 'compare', 'ranking']; // no model, endpoint or key

/** The runs, newest first; none where the browser keeps nothing. */
export function storedRuns() {
  try {
    const found = JSON.parse(localStorage.getItem(NAME) ?? '[]');
    return Array.isArray(found) ? found.filter((run) => typeof run?.question === 'string' && typeof run.answer === 'string').slice(0, MOST) : [];
  } catch {
    return []; // what stands there is not ours, or storage is switched off
  }
}

/** Add a run that has ended. */
export function remember(values, answer) {
  const run = { time: new Date().toISOString(), answer: String(answer).slice(0, LONGEST) };
  for (const name of KEPT) {
    const value = values[name];
    if (value !== undefined && value !== null) run[name] = typeof value === 'string' ? value.slice(0, LONGEST) : value;
  }
  write([run, ...storedRuns()].slice(0, MOST));
}

export function forgetRuns() { write([]); }

function write(runs) {
  try {
    localStorage.setItem(NAME, JSON.stringify(runs));
  } catch {
    // storage is full or switched off: the page works without a memory
  }
}
