// The shapes that the scripts share. This file holds types only; the records are those of kgdemo/events.py,
// as the server sends them to the page.

/**
 * All text that a visitor reads.
 * @typedef {typeof import('../../text.en.json')} PageText
 */

// the records of a run ----------------------------------------------------------------------------

/**
 * An entity that a mention may refer to.
 * @typedef {{entity: string, score: number, type: string}} Candidate
 */

/**
 * A span of the question, `question.slice(start, end)`, with its candidates, best first.
 * @typedef {{text: string, start: number, end: number, candidates: Candidate[]}} Mention
 */

/**
 * One token considered in a step: beam, parent beam, text, log-probability, total score,
 * fate (`k` kept, `f` finished, `p` pruned) and token id. Old traces have no token id.
 * @typedef {[id: number, parent: number, text: string, logProb: number, total: number, fate: 'k'|'f'|'p', token?: number]} Choice
 */

/**
 * What the graph did to one beam before its next token.
 * `top` holds allowed tokens `[text, probability before, probability after, token id]`,
 * `masked` holds forbidden ones `[text, probability, reason]`.
 * @typedef {object} Watch
 * @property {number} beam
 * @property {number} allowed number of allowed tokens
 * @property {number} paths_left number of graph paths that can still be reached
 * @property {number} forbidden_mass probability mass of all forbidden tokens, 0 to 1
 * @property {[text: string, prob: number, reason: string][]} [masked]
 * @property {[text: string, before: number, after: number, token?: number][]} [top]
 */

/**
 * A hop with its verdict; `restates` is the edge of the graph that a hop which does not hold says in other words.
 * @typedef {{head: string, relation: string, tail: string, verdict: string, restates?: [head: string, relation: string, tail: string]|null}} Hop
 */
/** @typedef {{faithful: boolean, hops: Hop[]}} Verdict */
/** @typedef {{entities: string[], relations: string[]}} GraphPath */

/**
 * One thing that a calculation works on; its key in the picture is `o` and its number.
 * @typedef {{number: number, entity: string, paths: GraphPath[], attribute: string, value: string, unit: string}} Operand
 */

/**
 * A node of the picture. `mute` hides its label, `named` keeps a neighbour's label.
 * @typedef {object} PictureNode
 * @property {string} id
 * @property {string} label
 * @property {string} group
 * @property {number} x
 * @property {number} y
 * @property {string} [title]
 * @property {boolean} [named]
 * @property {boolean} [mute]
 */

/**
 * An edge of the picture. `paths` are keys of the paths through it, see `pathKey`.
 * @typedef {object} PictureEdge
 * @property {string} id
 * @property {string} from
 * @property {string} to
 * @property {string} kind
 * @property {number} bend
 * @property {string[]} paths
 * @property {string} [label]
 * @property {string} [title]
 */

/**
 * @typedef {{event: 'RunStarted', question: string, method: string, graph: string, model: string, beams: number,
 *   hops: number, triples: number, forced?: number[], t?: number}} RunStarted
 * @typedef {{event: 'EntitiesLinked', mentions: Mention[], chosen: string[], nearest: Candidate[], given?: boolean}} EntitiesLinked
 * @typedef {{event: 'ConstraintReady', kind: string, topics: string[], hops: number, paths: number, ms: number}} ConstraintReady
 * @typedef {{event: 'DecodeStep', constrained: boolean, number: number, choices: Choice[], watched: Watch[], paths_left: number}} DecodeStep
 * @typedef {{event: 'PathFound', constrained: boolean, index: number, text: string, score: number, beam: number,
 *   path?: GraphPath|null, read?: boolean, relation_score?: number, weighed?: [feature: string, adds: number][]}} PathFound
 * @typedef {{event: 'PathVerified', constrained: boolean, index: number, verdict: Verdict}} PathVerified
 * @typedef {{event: 'HypothesisAnswer', constrained: boolean, index: number, text: string}} HypothesisAnswer
 * @typedef {{event: 'Thought', kind: string, id: number, parents: number[], text: string, entities: string[], score: number,
 *   fate: string, reason: string}} Thought
 * @typedef {{event: 'CandidatesScored', decision: string, options: string[], scores: number[], kept: boolean[], by: string}} CandidatesScored
 * @typedef {{event: 'DeductionChecked', statement: string, premises: string[], holds: boolean, by: string}} DeductionChecked
 * @typedef {{event: 'LMCall', by: string, tokens_in: number, tokens_out: number, calls?: number, cost?: number}} LMCall
 * @typedef {{event: 'Waiting', by: string, seconds: number}} Waiting
 * @typedef {{event: 'AnswerDelta', text: string}} AnswerDelta
 * @typedef {{event: 'Operation', kind: string, text: string, operands: Operand[], result: string[], argument: string, verified: boolean,
 *   left_out: number}} Operation
 * @typedef {{event: 'Answerability', log_odds: number, missing: string}} Answerability
 * @typedef {{event: 'AnswerFinal', text: string, answers: string[], citations: number[][], by: string, completed: string[],
 *   refusal: string, places?: string[]}} AnswerFinal
 * @typedef {{event: 'NextQuestions', questions: string[]}} NextQuestions
 * @typedef {{event: 'Notice', text: string}} Notice
 * @typedef {{event: 'RunFinished', seconds: number, lm_calls: number, tokens_in: number, tokens_out: number}} RunFinished
 * @typedef {{event: 'RunFailed', message: string}} RunFailed
 * @typedef {{event: 'Picture', nodes: PictureNode[], edges: PictureEdge[], gone: string[], left_out: number}} Picture
 */

/**
 * Any record of a run, told apart by `event`.
 * @typedef {RunStarted|EntitiesLinked|ConstraintReady|DecodeStep|PathFound|PathVerified|HypothesisAnswer|Thought
 *   |CandidatesScored|DeductionChecked|LMCall|Waiting|AnswerDelta|Operation|Answerability|AnswerFinal|NextQuestions|Notice|RunFinished|RunFailed|Picture} RunEvent
 */

/** @typedef {{calls: number, tokens: number, seconds: number, money: number}} Budget */

// the state of a run ------------------------------------------------------------------------------

/**
 * A beam: one token and the beam it continues. Beam 0 is the empty one.
 * @typedef {{id: number, parent: number|null, text: string, logProb: number, score: number, fate: string, token?: number}} Beam
 */

/**
 * One step of a beam search: the beams it made, by fate, and what the graph did before it.
 * @typedef {{number: number, kept: number[], finished: number[], pruned: number[], watched: Watch[], left: number}} Step
 */

/** @typedef {PathFound & {verdict: Verdict|null, answer: string}} FoundPath */

/**
 * One beam search of a run, with or without the constraint.
 * @typedef {{beams: Map<number, Beam>, steps: Step[], paths: FoundPath[]}} Branch
 */

/**
 * What a run looks like after its first `count` records.
 * @typedef {object} RunState
 * @property {RunStarted|null} run
 * @property {EntitiesLinked|null} linked
 * @property {ConstraintReady|null} ready
 * @property {number} count
 * @property {Branch} constrained the search under the graph's constraint
 * @property {Branch} unconstrained the same search without it
 * @property {Map<string, PictureNode>} nodes
 * @property {Map<string, PictureEdge>} edges
 * @property {number} leftOut nodes that the picture has no room for
 * @property {number} pictures number of picture records so far
 * @property {string} answer the answer's text so far
 * @property {Operation|null} operation what the answer was computed by
 * @property {Answerability|null} answerability how likely the best path is to answer, as far as that was measured
 * @property {{calls: number, tokens: number, cost: number}} spent on language models so far
 * @property {Waiting|null} waiting a language model has been asked and says nothing yet
 * @property {AnswerFinal|null} final
 * @property {string[]} next questions that can be asked next
 * @property {string[]} notices
 * @property {Map<number, Thought>} thoughts
 * @property {(CandidatesScored|DeductionChecked)[]} decisions
 * @property {boolean} concluding the model is being asked for the answer
 * @property {RunFinished|null} finished
 * @property {RunFailed|null} failed
 */

// the page ----------------------------------------------------------------------------------------

/** @typedef {import('./player.js').Player} Player */

/**
 * A part of the page that is drawn again whenever the state changes.
 * @typedef {{element: HTMLElement, draw: (state: RunState, player: Player) => void}} View
 */

/** A recorded run; a page of one run has its events at hand. @typedef {{id: string, question: string, graph: string, url: string, events?: RunEvent[]}} RecordedRun */
/** @typedef {string|number|boolean|null|undefined} FieldValue */

/**
 * How sure an answer is: the probability that the best path answers, from the log-odds that it does not, and this
 * probability for each development question with whether it was right, the surest first.
 * @typedef {{graph: string, slope: number, intercept: number, points: [sure: number, right: number][]}} Reliability
 */

/**
 * What the server gives the page when it is made, see kgdemo/ui.
 * @typedef {object} Boot
 * @property {PageText} text
 * @property {string} frame the HTML document of the graph's frame
 * @property {RecordedRun[]} examples
 * @property {RecordedRun[]} failures
 * @property {string} chat name of the chat model, empty where there is none
 * @property {Budget} [budget] what its decisions on one question may cost, 0 for no limit
 * @property {{name: string, title: string, constrained: boolean}[]} methods
 * @property {string[]} drivable names of the methods that can start from forced tokens
 * @property {{triples: number, bytes: number, minutes: number, kept: number}} limits of a visitor's own graph
 * @property {string[]} fields names of the page's fields, in gradio's order
 * @property {Record<string, FieldValue>} standard initial values of the fields
 * @property {Record<string, string[]>} endpoints names of the settings that each endpoint takes
 * @property {boolean} mcp
 * @property {string[]} graphs names of the embedded graphs
 * @property {Record<string, Record<string, number>>} themes of each embedded graph: theme -> facts
 * @property {string} offline address of the page as one file without a run; empty where there is no server
 * @property {number} parameters of the model that the page starts with; 0 where they were not counted
 * @property {Reliability|null} reliability of the embedded model's abstention; null where it was not measured
 * @property {object|null} [xray] what the graph of the recorded runs knows, where no server can be asked
 * @property {boolean} studies whether this server runs benchmarks
 */

/**
 * A question to ask; what is missing is taken from the page's fields.
 * @typedef {{question?: string, method?: string, entities?: string[], forced?: number[]}} QuestionRequest
 */

/** @typedef {{id: string, label: string, relation: string}} Neighbour */
/** @typedef {[kind: 'add'|'remove', head: string, relation: string, tail: string]} Edit */

/**
 * What the server says of a graph that the visitor has brought.
 * @typedef {{own: string, title: string, triples: number, entities: number, relations: number, rows: string[][],
 *   starters: string[], left_out?: number, error?: string, faults?: string[], bad?: number, good?: number}} OwnGraph
 */

/**
 * The functions of the server that the page may call.
 * @typedef {object} Server
 * @property {(asked: {run: string|null, have: number}) => Promise<string>} missed
 * @property {(asked: {run: string, graph?: string, written: string}) => Promise<string[]>} entities
 * @property {(asked: {run: string, graph?: string, written: string}) => Promise<string[]>} relations
 * @property {(asked: {run: string, graph: string, entity: string}) => Promise<{near: Neighbour[], more: number}>} near
 * @property {(asked: {run: string|null, graph: string, edits: Edit[]}) => Promise<{triples?: number, error?: string}>} change
 * @property {(sent: {text?: string, name?: string, base64?: string, visitor?: string, lenient?: boolean}) => Promise<OwnGraph|{error: string, faults?: string[], bad?: number, good?: number}>} bring
 * @property {(asked: {question: string, values: object, changes: string, entities: string[]}) => Promise<import('../views/breaking.js').Answer>} rerun
 * @property {(asked: {graph: string, changes: string}) => Promise<import('../views/xray.js').Told>} xray
 * @property {(asked: import('../views/allowed.js').Asked) => Promise<import('../views/allowed.js').Layers>} layers
 * @property {(asked: object) => Promise<{done: number, stages: number, stage: string, failed: string}>} loaded
 */

export {};
