// Driving the search: force a token, go on from there, come back along the line of forced tokens and branch.

import { h, percent, refill, say, shownAs } from './dom.js';
import { lineage, written } from './state.js';

const MOST = 40; // runs remembered

/**
 * @param {object} boot
 * @param {object} text
 * @param {(asked: object) => void} again asks the question again
 * @param {(events: object[], run: string) => void} revisit shows a run that has been seen, without a model
 */
export function makeDrive(boot, text, again, revisit) {
  const words = text.drive;
  const element = h('nav', { class: 'crumbs', 'aria-label': words.nav });
  const seen = new Map(); // run -> { run, parent, forced, text, events }
  let here = null; // the run that is shown
  let far = null; // the end of the line that is shown
  let asked = null; // what was forced last: { forced, text }
  let state = null;
  let player = null;

  const draw = (stateNow, playerNow) => {
    state = stateNow;
    player = playerNow;
    if (state.run && player.run) arrive();
    element.hidden = seen.size < 2 || !here;
    refill(element, [here?.run, far?.run, seen.size], () => (element.hidden ? [] : [lineOf(far).map(crumb), others()]));
  };

  function arrive() {
    const forced = state.run.forced ?? [];
    if (!seen.has(player.run)) {
      const mine = forced.length && asked && same(asked.forced, forced);
      if (!mine) seen.clear();
      seen.set(player.run, { run: player.run, forced, text: mine ? asked.text : '', parent: mine ? nearest(forced) : null });
      far = null;
    }
    const arrived = seen.get(player.run);
    arrived.events = player.events;
    if (here !== arrived || !far) {
      here = arrived;
      if (!lineOf(far).includes(here)) far = here;
      forget();
    }
  }

  /** The seen run with the longest beginning of these tokens. */
  function nearest(forced) {
    const fits = [...seen.values()].filter((one) => one.forced.length < forced.length && same(one.forced, forced.slice(0, one.forced.length)));
    return fits.reduce((best, one) => (!best || one.forced.length > best.forced.length ? one : best), null);
  }

  function forget() {
    for (const [run, one] of seen) {
      const needed = lineOf(far).includes(one) || [...seen.values()].some((other) => other.parent === one);
      if (seen.size > MOST && !needed) seen.delete(run);
    }
  }

  const label = (one) => (one.parent ? shownAs(one.text.slice(one.parent.text.length)).replaceAll('->', '→') : words.free);
  const go = (one, class_) => h('button', { type: 'button', class: class_, title: one.text.replaceAll('->', '→') || words.free, 'aria-current': one === here ? 'step' : null,
    on: { click: () => { if (one !== here) revisit(one.events, one.run); } } }, label(one));
  const crumb = (one, place) => [place ? h('span', { class: 'next', 'aria-hidden': 'true' }, '›') : null, go(one, 'crumb')];

  function others() {
    const line = lineOf(far);
    const side = [...seen.values()].filter((one) => one.parent === here && !line.includes(one));
    return side.length ? h('span', { class: 'side' }, words.others, side.map((one) => go(one, 'crumb'))) : null;
  }

  return {
    element,
    draw,
    /** Whether a token behind this beam can be forced: a run whose tokens are known, over, by a method that can. */
    can(beam) {
      return Boolean(player?.ended && boot.drivable.includes(state.run?.method) && tokensOf(state, beam));
    },
    force(beam, token, tokenText) {
      const forced = [...tokensOf(state, beam), token];
      asked = { forced, text: `${written(state.branches.true, beam)}${tokenText}` };
      again({ question: state.run.question, entities: state.linked.given ? state.linked.chosen : [], forced });
    },
    /** The sentence that says why a token may not follow. */
    refusal: (token, before, why) => say(words.refused, { token: shownAs(token), why, share: percent(before) }),
    words,
  };
}

/** A run and those before it in the line, the free search first. */
function lineOf(one) {
  return one ? [...lineOf(one.parent), one] : [];
}

/** Token ids of a beam; null where the trace does not tell them. */
function tokensOf(state, beam) {
  const tokens = lineage(state.branches.true, beam).map((one) => one.token);
  return tokens.every(Number.isInteger) ? tokens : null;
}

function same(one, other) {
  return one.length === other.length && one.every((token, place) => token === other[place]);
}
