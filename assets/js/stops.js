// Places of a trace worth stopping at, each with how big a step it ends: a token, a hop, a stage.

export const SIZES = ['token', 'hop', 'stage'];
const SILENT = new Set(['PathFound', 'HypothesisAnswer', 'LMCall', 'AnswerDelta']);
const STAGE = { EntitiesLinked: 0, ConstraintReady: 1, DecodeStep: 2, Thought: 2, CandidatesScored: 2, DeductionChecked: 2,
  PathFound: 3, PathVerified: 3, AnswerDelta: 4, AnswerFinal: 4, RunFinished: 5, RunFailed: 5 };

export class Stops {
  constructor() {
    this.list = []; // {place, size}: how many events are shown, index into SIZES
    this.seen = 0;
    this.stage = 0;
    this.before = null;
    this.branches = { true: { texts: new Map([[0, '']]), hops: 0 }, false: { texts: new Map([[0, '']]), hops: 0 } };
  }

  /** Read the events that came since the last call. */
  read(events) {
    for (; this.seen < events.length; this.seen += 1) this._take(events[this.seen], this.seen + 1);
  }

  _take(event, place) {
    const stage = STAGE[event.event] ?? this.stage;
    if (stage > this.stage) { // what came before was the end of a stage
      if (this.list.length) this.list.at(-1).size = 2;
      this.stage = stage;
    }
    const goesOn = event.event === 'Picture' || (event.event === 'DecodeStep' && this.before?.event === 'DecodeStep' && this.before.number === event.number);
    const size = event.event === 'DecodeStep' && this._endsHop(event) ? 1 : ['RunFinished', 'RunFailed'].includes(event.event) ? 2 : 0;
    if (goesOn && this.list.at(-1)?.place === place - 1) {
      this.list.at(-1).place = place;
      this.list.at(-1).size = Math.max(this.list.at(-1).size, size);
    } else if (!SILENT.has(event.event)) this.list.push({ place, size });
    this.before = event;
  }

  /** Whether a branch's best beam has now, for the first time, written one more whole hop. */
  _endsHop(step) {
    const branch = this.branches[step.constrained];
    let best = null;
    for (const [id, parent, text, , total, fate] of step.choices) {
      if (fate === 'p') continue;
      branch.texts.set(id, (branch.texts.get(parent) ?? '') + text);
      if (!best || total > best.total) best = { id, total, fate };
    }
    if (!best) return false;
    const arrows = branch.texts.get(best.id).split('->').length - 1;
    const whole = Math.floor((arrows - (best.fate === 'f' ? 0 : 1)) / 2);
    if (whole <= branch.hops) return false;
    branch.hops = whole;
    return true;
  }

  /** The stop that a step of some size leads to from a place; back is direction -1. */
  from(place, direction, size) {
    const fits = this.list.filter((stop) => stop.size >= size).map((stop) => stop.place);
    return direction > 0 ? fits.find((one) => one > place) ?? this.list.at(-1)?.place ?? 0 : fits.findLast((one) => one < place) ?? 0;
  }
}
