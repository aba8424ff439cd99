// Which of the five stages (link, index, decode, verify, answer) are done, under way, or were never needed.

/** The stage under way (0..4); 5 when all are done, -1 before the start. */
export function stageNow(state) {
  if (!state.run) return -1;
  if (state.finished || state.final) return 5;
  if (state.answer || state.concluding) return 4;
  const { true: bound, false: free } = state.branches;
  if (bound.paths.length + free.paths.length) return 3;
  if (bound.steps.length + free.steps.length + state.thoughts.size + state.decisions.length || state.ready) return 2;
  return state.linked?.chosen.length ? 1 : 0;
}

/** `done`, `now`, `todo`, `failed`, `halted` or `skipped` for each stage. */
export function stagesOf(state, stopped) {
  const now = stageNow(state);
  const happened = evidence(state);
  return happened.map((seen, place) => {
    if (place < now) return seen ? 'done' : 'skipped';
    if (place > now) return 'todo';
    return state.failed ? 'failed' : stopped ? 'halted' : 'now';
  });
}

/** Whether each stage has left a trace: a method that builds no index or decodes no path skips that stage. */
function evidence(state) {
  const { true: bound, false: free } = state.branches;
  const judged = [...bound.paths, ...free.paths].some((path) => path.verdict);
  const searched = bound.steps.length + free.steps.length + state.thoughts.size + state.decisions.length > 0;
  return [Boolean(state.linked), Boolean(state.ready), searched, judged, Boolean(state.final || state.answer)];
}
