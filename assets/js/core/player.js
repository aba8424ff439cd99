// The trace of a run and the place in it: live, playing, paused or scrubbed. Views only ever ask for `state`.

import { absorb, emptyState } from './state.js';

/** @typedef {import('./types.js').RunEvent} RunEvent */

/** @type {Partial<Record<RunEvent['event'], number>>} */
const PAUSES = { DecodeStep: 130, PathFound: 0, HypothesisAnswer: 0, PathVerified: 60, Picture: 0, LMCall: 0, Waiting: 0, Answerability: 0 };
const OTHER_PAUSE = 320; // milliseconds after any other record

export class Player {
  /** @param {() => void} changed called when what is shown has changed */
  constructor(changed) {
    this.changed = changed;
    this.speed = 1;
    this.calm = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
    /** @type {number|undefined} */
    this.timer = undefined;
    /** @type {string|null} */
    this.run = null;
    /** @type {'idle'|'live'|'recorded'} */
    this.origin = 'idle';
    /** @type {RunEvent[]} */
    this.events = [];
    this._stops = new Stops();
    this.cursor = 0;
    this.following = true;
    this.playing = false;
    this.stopped = false;
    this._state = emptyState();
    this.changed();
  }

  /**
   * Begin a new run.
   * @param {string|null} run
   * @param {'idle'|'live'|'recorded'} origin
   * @returns {void}
   */
  clear(run, origin) {
    clearTimeout(this.timer);
    this.run = run;
    this.origin = origin;
    this.events = [];
    this._stops = new Stops();
    this.cursor = 0;
    this.following = true;
    this.playing = false;
    this.stopped = false;
    this._state = emptyState();
    this.changed();
  }

  /**
   * Append records of a live run.
   * @param {RunEvent[]} events
   * @returns {void}
   */
  add(events) {
    for (const event of events) this.events.push(event);
    this._stops.read(this.events);
    if (this.following) this.cursor = this.events.length;
    this.changed();
  }

  /**
   * Show a whole recorded run: played from its start, or at its end where the visitor wants no motion.
   * @param {RunEvent[]} events
   * @param {string} name
   * @returns {void}
   */
  load(events, name) {
    this.clear(name, 'recorded');
    this.events = events;
    this._stops.read(events);
    this.following = false;
    if (this.calm) this.seek(this.stops.length);
    else this.play();
  }

  /** The state at the cursor. */
  get state() {
    if (this._state.count > this.cursor) this._state = emptyState();
    while (this._state.count < this.cursor) absorb(this._state, this.events[this._state.count]);
    return this._state;
  }

  /** Whether the run has ended and its end is shown. */
  get over() { return this.ended && this.cursor === this.events.length; }

  /** Whether no more records of the run will come. */
  get ended() { return this.stopped || ['RunFinished', 'RunFailed'].includes(this.events.at(-1)?.event ?? ''); }

  /** Places worth stopping at: after each token of both branches, each verdict, each stage. */
  get stops() { return this._stops.list.map((stop) => stop.place); }

  /** The number of stops up to the cursor. */
  get stop() { return this.stops.filter((place) => place <= this.cursor).length; }

  /**
   * Show the run up to its nth stop.
   * @param {number} stop
   * @returns {void}
   */
  seek(stop) {
    this.pause();
    const n = Math.max(0, Math.min(stop, this.stops.length));
    this.cursor = n === this.stops.length ? this.events.length : n ? this.stops[n - 1] : 0;
    this.following = n === this.stops.length && !this.ended;
    this.changed();
  }

  /**
   * One step.
   * @param {1|-1} direction
   * @param {number} size index into `SIZES`
   * @returns {void}
   */
  step(direction, size) { this.seek(this.stops.indexOf(this._stops.from(this.cursor, direction, size)) + 1); }

  /** @returns {void} */
  play() {
    if (this.cursor >= this.events.length) this.cursor = 0;
    this.playing = true;
    this.following = false;
    this._tick();
  }

  /** @returns {void} */
  pause() {
    clearTimeout(this.timer);
    this.playing = false;
    this.changed();
  }

  /**
   * The visitor has stopped the run.
   * @returns {void}
   */
  halt() {
    this.stopped = true;
    this.pause();
  }

  _tick() {
    if (!this.playing) return;
    const next = this.stops.find((place) => place > this.cursor) ?? this.events.length;
    this.cursor = next;
    if (this.cursor >= this.events.length) this.playing = false;
    this.changed();
    const pause = PAUSES[this.events[next - 1]?.event] ?? OTHER_PAUSE;
    if (this.playing) this.timer = setTimeout(() => this._tick(), pause / this.speed);
  }
}

// stops -------------------------------------------------------------------------------------------

/** Sizes of a step. */
export const SIZES = /** @type {const} */ (['token', 'hop', 'stage']);
const [TOKEN, HOP, STAGE] = [0, 1, 2];
const SILENT = new Set(['PathFound', 'HypothesisAnswer', 'LMCall', 'Waiting', 'AnswerDelta', 'Answerability', 'NextQuestions']);
/** @type {Partial<Record<RunEvent['event'], number>>} */
const STAGE_OF = {
  EntitiesLinked: 0, ConstraintReady: 1, DecodeStep: 2, Thought: 2, CandidatesScored: 2, DeductionChecked: 2,
  PathFound: 3, PathVerified: 3, AnswerDelta: 4, Operation: 4, AnswerFinal: 4, RunFinished: 5, RunFailed: 5,
};

/** Places of a trace worth stopping at, each with the size of the step that ends there. */
export class Stops {
  constructor() {
    /**
     * `place` is the number of records shown, `size` an index into `SIZES`.
     * @type {{place: number, size: number}[]}
     */
    this.list = [];
    this.seen = 0;
    this.stage = 0;
    /** @type {RunEvent|null} */
    this.before = null;
    this.constrained = { texts: new Map([[0, '']]), hops: 0 };
    this.unconstrained = { texts: new Map([[0, '']]), hops: 0 };
  }

  /**
   * Read the records that came since the last call.
   * @param {RunEvent[]} events all records of the run
   * @returns {void}
   */
  read(events) {
    for (; this.seen < events.length; this.seen += 1) this._take(events[this.seen], this.seen + 1);
  }

  /**
   * @param {RunEvent} event
   * @param {number} place
   */
  _take(event, place) {
    const stage = STAGE_OF[event.event] ?? this.stage;
    const last = this.list.at(-1);
    if (stage > this.stage) { // the record before ended a stage
      if (last) last.size = STAGE;
      this.stage = stage;
    }
    // a step of the other branch and the picture belong to the stop before them
    const sameStep = event.event === 'DecodeStep' && this.before?.event === 'DecodeStep' && this.before.number === event.number;
    const goesOn = event.event === 'Picture' || sameStep;
    const size = event.event === 'DecodeStep' && this._endsHop(event) ? HOP : ['RunFinished', 'RunFailed'].includes(event.event) ? STAGE : TOKEN;
    if (goesOn && last?.place === place - 1) {
      last.place = place;
      last.size = Math.max(last.size, size);
    } else if (!SILENT.has(event.event)) this.list.push({ place, size });
    this.before = event;
  }

  /**
   * Whether the best beam of a branch has just completed one more hop.
   * @param {import('./types.js').DecodeStep} step
   */
  _endsHop(step) {
    const branch = step.constrained ? this.constrained : this.unconstrained;
    let best = null;
    for (const [id, parent, text, , total, fate] of step.choices) {
      if (fate === 'p') continue;
      branch.texts.set(id, (branch.texts.get(parent) ?? '') + text);
      if (!best || total > best.total) best = { id, total, fate };
    }
    if (!best) return false;
    const arrows = (branch.texts.get(best.id) ?? '').split('->').length - 1;
    const whole = Math.floor((arrows - (best.fate === 'f' ? 0 : 1)) / 2);
    if (whole <= branch.hops) return false;
    branch.hops = whole;
    return true;
  }

  /**
   * The stop that one step leads to.
   * @param {number} place where the step starts
   * @param {1|-1} direction
   * @param {number} size index into `SIZES`
   * @returns {number} the place of the stop
   */
  from(place, direction, size) {
    const fits = this.list.filter((stop) => stop.size >= size).map((stop) => stop.place);
    return direction > 0 ? fits.find((one) => one > place) ?? this.list.at(-1)?.place ?? 0 : fits.findLast((one) => one < place) ?? 0;
  }
}
