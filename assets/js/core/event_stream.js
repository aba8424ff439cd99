// Receives a live run in numbered batches and fills gaps: a tab in the background may miss updates.

/** @typedef {import('./types.js').RunEvent} RunEvent */

/**
 * Records `items` of a run, of which the first is record number `from`.
 * @typedef {{run: string, from: number, items: RunEvent[]}} Batch
 */

export class EventStream {
  /**
   * @param {import('./player.js').Player} player
   * @param {(asked: {run: string, have: number}) => Promise<string>} missed asks the server for what did not arrive
   * @param {() => void} begun called when a new run begins
   */
  constructor(player, missed, begun) {
    this.player = player;
    this.missed = missed;
    this.begun = begun;
    /** @type {Set<string>} */
    this.known = new Set();
    /** @type {Set<string>} runs that the visitor has stopped or left */
    this.dropped = new Set();
  }

  /**
   * Take one value of the gradio component.
   * @param {unknown} value a batch as JSON; anything else is ignored
   * @returns {Promise<void>}
   */
  async take(value) {
    const batch = parsed(value);
    if (!batch || this.dropped.has(batch.run)) return;
    if (this.player.run !== batch.run) {
      if (this.known.has(batch.run)) return; // the visitor looks at another run now; gradio may repeat this one
      this.known.add(batch.run);
      this.begun();
      if (this.player.origin === 'live' && this.player.run) this.dropped.add(this.player.run);
      this.player.clear(batch.run, 'live');
    }
    if (batch.from > this.player.events.length) {
      const whole = parsed(await this.missed({ run: batch.run, have: this.player.events.length }));
      if (whole) this._append(whole);
      return;
    }
    this._append(batch);
  }

  /**
   * The visitor leaves the live run; records of it that still arrive are ignored.
   * @returns {void}
   */
  drop() {
    if (this.player.origin === 'live' && this.player.run && !this.player.ended) {
      this.dropped.add(this.player.run);
      this.player.halt();
    }
  }

  /** @param {Batch} batch */
  _append(batch) {
    if (this.player.run !== batch.run) return;
    const fresh = batch.items.slice(this.player.events.length - batch.from);
    if (fresh.length) this.player.add(fresh);
  }
}

/**
 * @param {unknown} value
 * @returns {Batch|null}
 */
function parsed(value) {
  if (typeof value !== 'string' || !value.startsWith('{"run"')) return null;
  return JSON.parse(value);
}
