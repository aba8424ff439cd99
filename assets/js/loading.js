// Until graph and model are loaded, the page says how far they have got; recorded runs need neither.

import { h, say } from './dom.js';

const EVERY = 1500; // milliseconds

/** @param {() => Promise<{done: number, stages: number, stage: string, failed: string}>} ask */
export function makeLoading(text, ask) {
  const words = text.loading;
  const bar = h('progress', { max: 1, value: 0, 'aria-label': words.label });
  const said = h('span', { role: 'status' });
  const element = h('p', { class: 'loading', hidden: true }, bar, said);

  async function look() {
    const state = await ask();
    element.hidden = !state.stage && !state.failed;
    bar.hidden = Boolean(state.failed);
    bar.max = state.stages || 1;
    bar.value = state.done;
    const line = state.failed || (state.stage ? say(words.now, { what: words.stages[state.stage] ?? state.stage }) : '');
    if (said.textContent !== line) said.textContent = line;
    if (state.stage) setTimeout(look, EVERY);
  }
  look();
  return element;
}
