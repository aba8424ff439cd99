// The state of a run after its first records: a fold over the trace, so that stepping back needs no server. Below it
// is everything that the views derive from a state.

/** @typedef {import('./types.js').RunState} RunState */
/** @typedef {import('./types.js').RunEvent} RunEvent */
/** @typedef {import('./types.js').Branch} Branch */
/** @typedef {import('./types.js').Beam} Beam */
/** @typedef {import('./types.js').FoundPath} FoundPath */

/**
 * Whether a hop is in the graph; a name may have been written otherwise than the graph spells it.
 * @param {string} verdict
 * @returns {boolean}
 */
export const holds = (verdict) => verdict === 'ok' || verdict === 'matched';

/**
 * Where a path stands: all of it in the graph, all of it there but some hops in other words, or something invented.
 * @param {import('./types.js').Verdict} verdict
 * @returns {'graph'|'reworded'|'invented'}
 */
export function standingOf({ faithful, hops }) {
  if (faithful) return 'graph';
  return hops.every((hop) => holds(hop.verdict) || hop.restates) ? 'reworded' : 'invented';
}

/**
 * The state before the first record.
 * @returns {RunState}
 */
export function emptyState() {
  return {
    run: null, linked: null, ready: null, count: 0,
    constrained: emptyBranch(), unconstrained: emptyBranch(),
    nodes: new Map(), edges: new Map(), leftOut: 0, pictures: 0,
    spent: { calls: 0, tokens: 0, cost: 0 }, waiting: null,
    answer: '', operation: null, answerability: null, final: null, next: [], notices: [], thoughts: new Map(), decisions: [], concluding: false, finished: null, failed: null,
  };
}

/** @returns {Branch} */
function emptyBranch() {
  return { beams: new Map([[0, { id: 0, parent: null, text: '', logProb: 0, score: 0, fate: 'k' }]]), steps: [], paths: [] };
}

/**
 * The state after all of these records.
 * @param {RunEvent[]} events
 * @returns {RunState}
 */
export function stateAfter(events) {
  const state = emptyState();
  for (const event of events) absorb(state, event);
  return state;
}

/**
 * Take in one more record; the state is changed in place.
 * @param {RunState} state
 * @param {RunEvent} event of a kind that is not known here changes nothing but the count
 * @returns {void}
 */
export function absorb(state, event) {
  state.count += 1;
  state.waiting = event.event === 'Waiting' ? event : null;
  switch (event.event) {
    case 'RunStarted': state.run = event; break;
    case 'EntitiesLinked': state.linked = event; break;
    case 'ConstraintReady': state.ready = event; break;
    case 'DecodeStep': takeStep(state, event); break;
    case 'PathFound': findPath(state, event); break;
    case 'PathVerified': changePath(state, event, (path) => { path.verdict = event.verdict; }); break;
    case 'HypothesisAnswer': changePath(state, event, (path) => { path.answer = event.text; }); break;
    case 'Thought': state.thoughts.set(event.id, event); state.concluding = false; break;
    case 'CandidatesScored':
    case 'DeductionChecked': state.decisions.push(event); state.concluding = false; break;
    case 'LMCall': state.concluding = allVerified(state); spend(state, event); break;
    case 'AnswerDelta': state.answer += event.text; break;
    case 'Operation': state.operation = event; break;
    case 'Answerability': state.answerability = event; break;
    case 'AnswerFinal': state.final = event; state.answer = event.text; break;
    case 'NextQuestions': state.next = event.questions; break;
    case 'Notice': state.notices.push(event.text); break;
    case 'RunFinished': state.finished = event; break;
    case 'RunFailed': state.failed = event; break;
    case 'Picture': takePicture(state, event); break;
    default:
  }
}

/**
 * A question may be asked in two steps or two ways; the paths of the last search are those that the answer cites.
 * @param {RunState} state
 * @param {import('./types.js').PathFound} event
 */
function findPath(state, event) {
  const branch = branchOf(state, event.constrained);
  if (branch.paths.some((path) => path.index === event.index)) branch.paths = [];
  branch.paths.push({ ...event, verdict: null, answer: '' });
}

/**
 * @param {RunState} state
 * @param {{constrained: boolean, index: number}} event
 * @param {(path: FoundPath) => void} change
 */
function changePath(state, event, change) {
  const path = branchOf(state, event.constrained).paths.find((one) => one.index === event.index);
  if (path) change(path);
}

/**
 * What is spent on language models adds up.
 * @param {RunState} state
 * @param {import('./types.js').LMCall} call
 */
function spend(state, { calls = 1, tokens_in: read, tokens_out: written, cost = 0 }) {
  const { spent } = state;
  state.spent = { calls: spent.calls + calls, tokens: spent.tokens + read + written, cost: spent.cost + cost };
}

/**
 * Whether every path found has its verdict. A model that is asked afterwards is asked for the answer.
 * @param {RunState} state
 */
function allVerified(state) {
  const paths = allPaths(state);
  return paths.length > 0 && paths.every((path) => path.verdict);
}

/**
 * @param {RunState} state
 * @param {import('./types.js').DecodeStep} event
 */
function takeStep(state, event) {
  const branch = branchOf(state, event.constrained);
  state.concluding = false;
  /** @type {import('./types.js').Step} */
  const step = { number: event.number, kept: [], finished: [], pruned: [], watched: event.watched, left: event.paths_left };
  for (const [id, parent, text, logProb, total, fate, token] of event.choices) {
    branch.beams.set(id, { id, parent, text, logProb, score: total, fate, token });
    ({ k: step.kept, f: step.finished, p: step.pruned })[fate].push(id);
  }
  branch.steps.push(step);
}

/**
 * @param {RunState} state
 * @param {import('./types.js').Picture} event
 */
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

/**
 * What a run was about, for a question that goes on from it: its answer where there is one, then what was asked about.
 * @param {RunState} state
 * @returns {string[]}
 */
export function aboutOf({ linked, final }) {
  return [...(final?.answers.length === 1 ? final.answers : []), ...(linked?.chosen ?? [])];
}

/**
 * The question of a run and how it named what it was about, for a question that asks the same of another thing.
 * @param {RunState} state
 * @returns {{question: string, topic: string}|null} null where it named nothing, or more than one thing
 */
export function lastOf({ run, linked }) {
  const named = linked?.mentions.filter((mention) => mention.candidates.some(({ entity }) => linked.chosen.includes(entity))) ?? [];
  return run && named.length === 1 ? { question: run.question, topic: named[0].text } : null;
}

// paths -------------------------------------------------------------------------------------------

/**
 * The search with or without the constraint.
 * @param {RunState} state
 * @param {boolean} constrained
 * @returns {Branch}
 */
export function branchOf(state, constrained) {
  return constrained ? state.constrained : state.unconstrained;
}

/**
 * The paths of both branches, constrained ones first.
 * @param {RunState} state
 * @returns {FoundPath[]}
 */
export function allPaths(state) {
  return [...state.constrained.paths, ...state.unconstrained.paths];
}

/**
 * The paths of a branch in the order of their rank.
 * @param {Branch} branch
 * @returns {FoundPath[]}
 */
export function ranked(branch) {
  return [...branch.paths].sort((a, b) => a.index - b.index);
}

/**
 * The key of a path for hovering: `g3` with the graph, `x3` without it.
 * @param {{constrained: boolean, index: number}} path
 * @returns {string}
 */
export function pathKey(path) {
  return `${path.constrained ? 'g' : 'x'}${path.index}`;
}

/**
 * How many paths of a branch have been verified, `n`, and how many of these exist in the graph, `ok`.
 * @param {Branch} branch
 * @returns {{ok: number, n: number}}
 */
export function verifiedCount(branch) {
  const judged = branch.paths.filter((path) => path.verdict);
  return { ok: judged.filter((path) => path.verdict?.faithful).length, n: judged.length };
}

/**
 * How many verified paths of a branch stand where, see `standingOf`.
 * @param {Branch} branch
 * @returns {{graph: number, reworded: number, invented: number}}
 */
export function standingCounts(branch) {
  const counts = { graph: 0, reworded: 0, invented: 0 };
  for (const { verdict } of branch.paths) if (verdict) counts[standingOf(verdict)] += 1;
  return counts;
}

/**
 * Each hop of the constrained paths that is in the graph, once, those of the best paths first.
 * @param {RunState} state
 * @returns {[head: string, relation: string, tail: string][]}
 */
export function hopsOf(state) {
  /** @type {Map<string, [string, string, string]>} */
  const seen = new Map();
  for (const { path, verdict } of ranked(state.constrained)) {
    path?.relations.forEach((relation, place) => {
      if (!holds(verdict?.hops[place]?.verdict ?? '')) return; // written by a decoder that fails open
      /** @type {[string, string, string]} */
      const hop = [path.entities[place], relation, path.entities[place + 1]];
      seen.set(hop.join('\u0000'), hop);
    });
  }
  return [...seen.values()];
}

/**
 * The number by which the search kept a path and dropped others: the score of its last beam. A path that was read from
 * the graph has no beam; there it is the score of its relations.
 * @param {Branch} branch
 * @param {FoundPath} path
 * @returns {number}
 */
export function searchScore(branch, path) {
  return branch.beams.get(path.beam)?.score ?? (path.relation_score || path.score);
}

// beams -------------------------------------------------------------------------------------------

/**
 * A beam and its ancestors, oldest first, without the empty beam.
 * @param {Branch} branch
 * @param {number} id
 * @returns {Beam[]}
 */
export function lineage(branch, id) {
  const line = [];
  for (let beam = branch.beams.get(id); beam && beam.id !== 0; beam = branch.beams.get(beam.parent ?? 0)) line.unshift(beam);
  return line;
}

/**
 * The whole text of a beam.
 * @param {Branch} branch
 * @param {number} id
 * @returns {string}
 */
export function written(branch, id) {
  return lineage(branch, id).map((beam) => beam.text).join('').trim();
}

/**
 * Live and finished beams after the newest step, best first.
 * @param {Branch} branch
 * @returns {Beam[]}
 */
export function standing(branch) {
  const step = branch.steps.at(-1);
  if (!step) return [];
  const ids = [...branch.steps.flatMap((one) => one.finished), ...step.kept];
  return ids.map((id) => /** @type {Beam} */ (branch.beams.get(id))).sort((a, b) => b.score - a.score);
}

/**
 * The beam that is shown token by token: as much of the given line as has been written, so that stepping stays with one
 * beam; else that of the best path; else the best live one, of those that go on from the beam shown before if there are any.
 * @param {RunState} state
 * @param {number[]} line ids of a beam and its ancestors, oldest first
 * @param {number} [before] id of the beam that was shown before
 * @returns {number} its id; 0 before the first step
 */
export function followed({ constrained }, line, before = 0) {
  const known = line.filter((id) => constrained.beams.has(id)).at(-1);
  if (known !== undefined) return known;
  const best = constrained.paths.find((path) => path.index === 1);
  if (best && constrained.beams.has(best.beam)) return best.beam;
  const live = standing(constrained);
  const heir = before ? live.find((beam) => lineage(constrained, beam.id).some((one) => one.id === before)) : undefined;
  return (heir ?? live[0])?.id ?? 0;
}

/**
 * What the graph did before one token of a beam: `after` is the text so far, `taken` the beam that the token made.
 * @typedef {{step: number, watch: import('./types.js').Watch, after: string, taken: Beam|undefined}} WatchPoint
 */

/**
 * What the graph did at each token of a beam, in order.
 * @param {RunState} state
 * @param {number} id of the beam
 * @returns {WatchPoint[]}
 */
export function watchedAlong(state, id) {
  const branch = state.constrained;
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

// where the two branches diverge ------------------------------------------------------------------

/**
 * A token in a beam: characters `from` to `to` of the beam's part number `part`, where parts are what stands between
 * arrows.
 * @typedef {{beam: number, token: string, part: number, from: number, to: number}} Mark
 */

/**
 * The first token in which the best beams of both branches differ, and its place in each of them.
 * @param {RunState} state
 * @returns {{number: number, constrained: Mark, unconstrained: Mark}|null} null while nothing differs
 */
export function divergence(state) {
  const [constrained, unconstrained] = [bestLine(state.constrained), bestLine(state.unconstrained)];
  const shorter = Math.min(constrained.length, unconstrained.length);
  for (let i = 0; i < shorter; i += 1) {
    if (constrained[i].text !== unconstrained[i].text) {
      return { number: i + 1, constrained: markOf(constrained, i), unconstrained: markOf(unconstrained, i) };
    }
  }
  return null;
}

/**
 * @param {Branch} branch
 * @returns {Beam[]}
 */
function bestLine(branch) {
  const path = branch.paths.find((one) => one.index === 1);
  const id = path && branch.beams.has(path.beam) ? path.beam : standing(branch)[0]?.id;
  return id === undefined ? [] : lineage(branch, id);
}

/**
 * @param {Beam[]} line
 * @param {number} i place of the token
 * @returns {Mark}
 */
function markOf(line, i) {
  const before = line.slice(0, i).map((beam) => beam.text).join('').split('->');
  const last = before[before.length - 1].trimStart();
  const token = line[i].text;
  const from = last ? last.length + (token.length - token.trimStart().length) : 0;
  return { beam: line[line.length - 1].id, token: token.trim(), part: before.length - 1, from, to: from + token.trim().length };
}

/**
 * A part's text in three pieces, the middle one being the marked token; the whole part where the mark does not fit.
 * @param {string} text
 * @param {Mark} mark
 * @returns {[before: string, token: string, after: string]}
 */
export function cut(text, mark) {
  const fits = text.slice(mark.from, mark.to).toLowerCase() === mark.token.toLowerCase();
  return fits ? [text.slice(0, mark.from), text.slice(mark.from, mark.to), text.slice(mark.to)] : ['', text, ''];
}

// the picture -------------------------------------------------------------------------------------

/**
 * The picture of a run without its “+37 more” signs, which are no entities.
 * @param {RunState} state
 * @returns {{nodes: import('./types.js').PictureNode[], edges: import('./types.js').PictureEdge[]}}
 */
export function pictureOf(state) {
  const nodes = [...state.nodes.values()].filter((node) => node.group !== 'more');
  const ids = new Set(nodes.map((node) => node.id));
  return { nodes, edges: [...state.edges.values()].filter((edge) => ids.has(edge.from) && ids.has(edge.to)) };
}

/**
 * The relations of an edge, read from its title: lines `head → relation → tail (verdict)`; else from its label.
 * @param {import('./types.js').PictureEdge} edge
 * @returns {string[]}
 */
export function relationsOf(edge) {
  const found = (edge.title ?? '').split('\n').map((line) => {
    const start = `${edge.from} → `;
    const end = line.lastIndexOf(` → ${edge.to}`);
    return line.startsWith(start) && end >= start.length ? line.slice(start.length, end) : '';
  }).filter(Boolean);
  return found.length ? [...new Set(found)] : (edge.label ?? '').split('\n').filter(Boolean);
}

// stages: link, index, decode, verify, answer -----------------------------------------------------

/**
 * The stage under way.
 * @param {RunState} state
 * @returns {number} 0 to 4; 5 when all are done, -1 before the start
 */
export function stageNow(state) {
  if (!state.run) return -1;
  if (state.finished || state.final) return 5;
  if (state.answer || state.operation || state.concluding) return 4;
  if (allPaths(state).length) return 3;
  if (hasSearched(state) || state.ready) return 2;
  return state.linked?.chosen.length ? 1 : 0;
}

/**
 * The fate of each stage. A stage is skipped when a method has no use for it: it builds no index or decodes no path.
 * @param {RunState} state
 * @param {boolean} stopped the visitor has stopped the run
 * @returns {('done'|'now'|'todo'|'failed'|'halted'|'skipped')[]}
 */
export function stagesOf(state, stopped) {
  const now = stageNow(state);
  const judged = allPaths(state).some((path) => path.verdict);
  const evidence = [Boolean(state.linked), Boolean(state.ready), hasSearched(state), judged, Boolean(state.final || state.answer)];
  return evidence.map((seen, place) => {
    if (place < now) return seen ? 'done' : 'skipped';
    if (place > now) return 'todo';
    return state.failed ? 'failed' : stopped ? 'halted' : 'now';
  });
}

/** @param {RunState} state */
function hasSearched(state) {
  return state.constrained.steps.length + state.unconstrained.steps.length + state.thoughts.size + state.decisions.length > 0;
}
