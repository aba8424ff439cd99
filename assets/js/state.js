// What a run looks like after its first events: a fold over the trace, so stepping back costs nothing.

export function emptyState() {
  return {
    run: null, linked: null, ready: null, count: 0,
    branches: { true: emptyBranch(), false: emptyBranch() },
    nodes: new Map(), edges: new Map(), leftOut: 0, pictures: 0,
    answer: '', final: null, notices: [], thoughts: new Map(), decisions: [], concluding: false, finished: null, failed: null, last: '',
  };
}

function emptyBranch() {
  return { beams: new Map([[0, { id: 0, parent: null, text: '', score: 0, fate: 'k' }]]), steps: [], paths: [] };
}

/** Take in one more event. */
export function absorb(state, event) {
  state.count += 1;
  const take = TAKE[event.event];
  if (take) take(state, event);
  if (event.event !== 'Picture' && event.event !== 'LMCall') state.last = event.event;
}

const TAKE = {
  RunStarted: (state, event) => { state.run = event; },
  EntitiesLinked: (state, event) => { state.linked = event; },
  ConstraintReady: (state, event) => { state.ready = event; },
  DecodeStep: takeStep,
  PathFound: (state, event) => { branchOf(state, event).paths.push({ ...event, verdict: null, answer: '' }); },
  PathVerified: (state, event) => { withPath(state, event, (path) => { path.verdict = event.verdict; }); },
  HypothesisAnswer: (state, event) => { withPath(state, event, (path) => { path.answer = event.text; }); },
  AnswerDelta: (state, event) => { state.answer += event.text; },
  AnswerFinal: (state, event) => { state.final = event; state.answer = event.text; },
  Notice: (state, event) => { state.notices.push(event.text); },
  Thought: (state, event) => { state.thoughts.set(event.id, event); state.concluding = false; },
  CandidatesScored: (state, event) => { state.decisions.push(event); state.concluding = false; },
  DeductionChecked: (state, event) => { state.decisions.push(event); state.concluding = false; },
  LMCall: (state) => { state.concluding = allVerified(state); },
  RunFinished: (state, event) => { state.finished = event; },
  RunFailed: (state, event) => { state.failed = event; },
  Picture: takePicture,
};

function branchOf(state, event) { return state.branches[event.constrained]; }

function withPath(state, event, change) {
  const path = branchOf(state, event).paths.find((one) => one.index === event.index);
  if (path) change(path);
}

/** Every path found has its verdict: a model asked now is asked for the answer. */
function allVerified(state) {
  const paths = [...state.branches.true.paths, ...state.branches.false.paths];
  return paths.length > 0 && paths.every((path) => path.verdict);
}

function takeStep(state, event) {
  const branch = branchOf(state, event);
  state.concluding = false;
  const step = { number: event.number, kept: [], finished: [], pruned: [], watched: event.watched, left: event.paths_left };
  for (const [id, parent, text, logProb, total, fate, token] of event.choices) {
    branch.beams.set(id, { id, parent, text, logProb, score: total, fate, token });
    ({ k: step.kept, f: step.finished, p: step.pruned })[fate].push(id);
  }
  branch.steps.push(step);
}

function takePicture(state, event) {
  state.pictures += 1;
  for (const id of event.gone) {
    state.nodes.delete(id);
    for (const [key, edge] of state.edges) if (edge.from === id || edge.to === id) state.edges.delete(key);
  }
  for (const node of event.nodes) state.nodes.set(node.id, node);
  for (const edge of event.edges) state.edges.set(edge.id, edge);
  state.leftOut = event.left_out;
}

// reading a branch --------------------------------------------------------------------------------

/** A beam and its ancestors, oldest first, without the empty one. */
export function lineage(branch, id) {
  const line = [];
  for (let beam = branch.beams.get(id); beam && beam.id !== 0; beam = branch.beams.get(beam.parent)) line.unshift(beam);
  return line;
}

/** A beam's text. */
export function written(branch, id) {
  return lineage(branch, id).map((beam) => beam.text).join('').trim();
}

/** Live and finished beams after the newest step, best first. */
export function standing(branch) {
  const step = branch.steps.at(-1);
  if (!step) return [];
  const finished = branch.steps.flatMap((one) => one.finished);
  const ids = [...finished, ...step.kept];
  return ids.map((id) => branch.beams.get(id)).sort((a, b) => b.score - a.score);
}

/** The beam whose way is shown token by token: the chosen one, else the best path's, else the best live one. */
export function followed(state, chosen) {
  const branch = state.branches.true;
  if (chosen !== null && branch.beams.has(chosen)) return chosen;
  const best = branch.paths.find((path) => path.index === 1);
  if (best && branch.beams.has(best.beam)) return best.beam;
  return standing(branch)[0]?.id ?? 0;
}

/** What the graph did at each token of a beam: `{step, watch, after, taken}` in order. */
export function watchedAlong(state, id) {
  const branch = state.branches.true;
  const line = lineage(branch, id);
  const taken = new Map(line.map((beam) => [beam.parent, beam]));
  const ids = new Set([0, ...line.map((beam) => beam.id)]);
  const points = [];
  for (const step of branch.steps) {
    const watch = step.watched.find((one) => ids.has(one.beam));
    if (watch) points.push({ step: step.number, watch, after: written(branch, watch.beam), taken: taken.get(watch.beam) });
  }
  return points;
}
