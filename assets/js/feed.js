// Receives a live run in numbered batches and fills gaps: a tab in the background may miss updates.

export class Feed {
  /**
   * @param {import('./player.js').Player} player
   * @param {(asked: object) => Promise<string>} missed asks the server for what did not arrive
   * @param {() => void} begun called when a new run begins
   */
  constructor(player, missed, begun) {
    this.player = player;
    this.missed = missed;
    this.begun = begun;
    this.known = new Set();
    this.dropped = new Set(); // runs that the visitor has stopped or left
  }

  /** One value of the component. */
  async take(value) {
    const batch = read(value);
    if (!batch || this.dropped.has(batch.run)) return;
    if (this.player.run !== batch.run) {
      if (this.known.has(batch.run)) return; // left for another run; it may be told once more
      this.known.add(batch.run);
      this.begun();
      if (this.player.origin === 'live' && this.player.run) this.dropped.add(this.player.run);
      this.player.clear(batch.run, 'live');
    }
    if (batch.from > this.player.events.length) {
      const whole = read(await this.missed({ run: batch.run, have: this.player.events.length }));
      if (whole) this._append(whole);
      return;
    }
    this._append(batch);
  }

  /** The visitor pressed Stop: whatever still arrives of this run is late. */
  drop() {
    if (this.player.origin === 'live' && this.player.run && !this.player.ended) {
      this.dropped.add(this.player.run);
      this.player.halt();
    }
  }

  _append(batch) {
    if (this.player.run !== batch.run) return;
    const fresh = batch.items.slice(this.player.events.length - batch.from);
    if (fresh.length) this.player.add(fresh);
  }
}

function read(value) {
  if (typeof value !== 'string' || !value.startsWith('{"run"')) return null;
  return JSON.parse(value);
}
