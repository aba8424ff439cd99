// The trace and the place in it: live, playing, paused, scrubbed. Rendering only ever asks for `state`.

import { absorb, emptyState } from './state.js';
import { Stops } from './stops.js';

const PACE = { DecodeStep: 130, PathFound: 0, HypothesisAnswer: 0, PathVerified: 60, Picture: 0, LMCall: 0 };
const OTHERWISE = 320; // milliseconds

export class Player {
  /** @param {() => void} changed called when what is shown has changed */
  constructor(changed) {
    this.changed = changed;
    this.speed = 1;
    this.calm = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.clear(null, 'idle');
  }

  /** Begin a new run. `origin`: idle, live or recorded. */
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

  /** More events of a live run. */
  add(events) {
    for (const event of events) this.events.push(event);
    this._stops.read(this.events);
    if (this.following) this.cursor = this.events.length;
    this.changed();
  }

  /** A whole recorded run, played from its start; shown at its end where motion is not wanted. */
  load(events, name) {
    this.clear(name, 'recorded');
    this.events = events;
    this._stops.read(events);
    this.following = false;
    if (this.calm) this.seek(this.stops.length);
    else this.play();
  }

  get state() {
    if (this._state.count > this.cursor) this._state = emptyState();
    while (this._state.count < this.cursor) absorb(this._state, this.events[this._state.count]);
    return this._state;
  }

  get over() { return this.ended && this.cursor === this.events.length; }
  get ended() { return this.stopped || ['RunFinished', 'RunFailed'].includes(this.events.at(-1)?.event); }
  /** Places worth stopping at: after each token of both branches, each verdict, each stage. */
  get stops() { return this._stops.list.map((stop) => stop.place); }
  get stop() { return this.stops.filter((place) => place <= this.cursor).length; }

  /** Show the run up to its nth stop. */
  seek(stop) {
    this.pause();
    const n = Math.max(0, Math.min(stop, this.stops.length));
    this.cursor = n === this.stops.length ? this.events.length : n ? this.stops[n - 1] : 0;
    this.following = n === this.stops.length && !this.ended;
    this.changed();
  }

  /** One step forth (1) or back (-1); `size` 0 is a token, 1 a hop, 2 a stage. */
  step(direction, size) { this.seek(this.stops.indexOf(this._stops.from(this.cursor, direction, size)) + 1); }

  play() {
    if (this.cursor >= this.events.length) this.cursor = 0;
    this.playing = true;
    this.following = false;
    this._tick();
  }

  pause() {
    clearTimeout(this.timer);
    this.playing = false;
    this.changed();
  }

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
    const wait = PACE[this.events[next - 1]?.event] ?? OTHERWISE;
    if (this.playing) this.timer = setTimeout(() => this._tick(), wait / this.speed);
  }
}
