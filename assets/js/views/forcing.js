// Forcing tokens: a search that begins with tokens of the visitor's choice. The searches of this line are kept, so
// that the visitor can come back and branch elsewhere.

import { h, refill, shownAs } from '../core/dom.js';
import { lineage, standing, written } from '../core/state.js';

/** @typedef {import('../core/types.js').RunState} RunState */
/** @typedef {import('../core/types.js').RunEvent} RunEvent */
/** @typedef {import('../core/types.js').Player} Player */

const KEPT_RUNS = 40;

/**
 * A search that has been seen. `forced` are its first tokens, `text` is what they say; `parent` is the search whose
 * tokens it extends, null for a free search.
 * @typedef {{run: string, parent: Seen|null, forced: number[], text: string, events: RunEvent[]}} Seen
 */

/**
 * @param {import('../core/types.js').Boot} boot
 * @param {import('../core/types.js').PageText} text
 * @param {(asked: import('../core/types.js').QuestionRequest) => void} again asks the question
 * @param {(events: RunEvent[], run: string) => void} revisit shows a run that has been seen, without a model
 * @returns {import('../core/types.js').View & {can: (beam: number) => boolean, force: (beam: number, token: number, tokenText: string) => void}}
 */
export function makeForcing(boot, text, again, revisit) {
  const words = text.drive;
  const element = h('nav', { class: 'crumbs', 'aria-label': words.nav });
  /** @type {Map<string, Seen>} */
  const seen = new Map();
  /** @type {Seen|null} the search that is shown */
  let here = null;
  /** @type {Seen|null} the end of the line that is shown */
  let lineEnd = null;
  /** @type {{forced: number[], text: string}|null} what was forced last */
  let asked = null;
  /** @type {RunState|null} */
  let state = null;
  /** @type {Player|null} */
  let player = null;

  /** @type {(stateNow: RunState, playerNow: Player) => void} */
  const draw = (stateNow, playerNow) => {
    [state, player] = [stateNow, playerNow];
    if (state.run && player.run) arrive(player.run, state.run.forced ?? [], player.events);
    if (here && !here.text) here.text = textOf(state, here.forced.length); // its tokens came with a link
    element.hidden = !here || (seen.size < 2 && !here.forced.length);
    refill(element, [here?.run, here?.text, lineEnd?.run, seen.size], () => (element.hidden ? [] : [lineOf(lineEnd).map(crumb), others()]));
  };

  /** @type {(run: string, forced: number[], events: RunEvent[]) => void} */
  function arrive(run, forced, events) {
    let arrived = seen.get(run);
    if (!arrived) {
      const extended = forced.length && asked && same(asked.forced, forced) ? asked : null;
      if (!extended) seen.clear();
      arrived = { run, forced, text: extended?.text ?? '', parent: extended ? nearest(forced) : null, events };
      seen.set(run, arrived);
      lineEnd = null;
    }
    arrived.events = events;
    if (here !== arrived || !lineEnd) {
      here = arrived;
      if (!lineOf(lineEnd).includes(here)) lineEnd = here;
      forget();
    }
  }

  /**
   * The seen search with the longest beginning of these tokens.
   * @type {(forced: number[]) => Seen|null}
   */
  function nearest(forced) {
    /** @type {Seen|null} */
    let best = null;
    for (const one of seen.values()) {
      const fits = one.forced.length < forced.length && same(one.forced, forced.slice(0, one.forced.length));
      if (fits && (!best || one.forced.length > best.forced.length)) best = one;
    }
    return best;
  }

  function forget() {
    for (const [run, one] of seen) {
      const needed = lineOf(lineEnd).includes(one) || [...seen.values()].some((other) => other.parent === one);
      if (seen.size > KEPT_RUNS && !needed) seen.delete(run);
    }
  }

  /** @param {Seen} one */
  const label = (one) => (one.forced.length ? shownAs(one.text.slice(one.parent?.text.length ?? 0)).replaceAll('->', '→') : words.free);
  /** @param {Seen} one */
  const button = (one) => h('button', { type: 'button', class: 'crumb', title: one.text.replaceAll('->', '→') || words.free,
    'aria-current': one === here ? 'step' : null, on: { click: () => { if (one !== here) revisit(one.events, one.run); } } }, label(one));
  /** @type {(one: Seen, place: number) => import('../core/dom.js').Child} */
  const crumb = (one, place) => [place ? h('span', { class: 'next', 'aria-hidden': 'true' }, '›') : null, button(one)];

  function others() {
    const line = lineOf(lineEnd);
    const side = [...seen.values()].filter((one) => one.parent === here && !line.includes(one));
    return side.length ? h('span', { class: 'side' }, words.others, side.map(button)) : null;
  }

  return {
    element,
    draw,
    /** Whether a token can be forced after this beam: the run is over, its token ids are known, and its method can do it. */
    can(beam) {
      return Boolean(player?.ended && state?.run && boot.drivable.includes(state.run.method) && tokensOf(state, beam));
    },
    /** Search again with this beam's tokens and one more. */
    force(beam, token, tokenText) {
      const before = state && tokensOf(state, beam);
      if (!state?.run || !before) return;
      const forced = [...before, token];
      asked = { forced, text: `${written(state.constrained, beam)}${tokenText}` };
      again({ question: state.run.question, entities: state.linked?.given ? state.linked.chosen : [], forced });
    },
  };
}

/**
 * A search and those that it extends, the free search first.
 * @type {(one: Seen|null) => Seen[]}
 */
function lineOf(one) {
  return one ? [...lineOf(one.parent), one] : [];
}

/**
 * What the first tokens of a search say, which are the same in all its beams.
 * @type {(state: RunState, tokens: number) => string}
 */
function textOf({ constrained }, tokens) {
  const line = lineage(constrained, standing(constrained)[0]?.id ?? 0).slice(0, tokens);
  return line.length < tokens ? '' : line.map((beam) => beam.text).join('').trim();
}

/**
 * Token ids of a beam; null where the trace does not hold them.
 * @type {(state: RunState, beam: number) => number[]|null}
 */
function tokensOf(state, beam) {
  const tokens = [];
  for (const { token } of lineage(state.constrained, beam)) {
    if (token === undefined || !Number.isInteger(token)) return null;
    tokens.push(token);
  }
  return tokens;
}

/** @type {(one: number[], other: number[]) => boolean} */
function same(one, other) {
  return one.length === other.length && one.every((token, place) => token === other[place]);
}
