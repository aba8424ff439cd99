// What a question would be asked with, seen without opening the settings.

import { h, say } from './dom.js';

/**
 * The graph and the method in use, beside the title; a press opens the settings.
 * @param {() => string} brought the name of a graph that the visitor brought, or nothing
 */
export function showPicks(inputs, boot, text, brought) {
  const holder = document.querySelector('#kg-header h1')?.parentElement;
  const toggle = () => document.querySelector('#kg-settings button')?.click();
  const chips = h('span', { class: 'picks' });
  const fill = () => {
    const { graph, method, beams, hops } = inputs.values;
    const title = boot.methods.find((one) => one.name === method)?.title ?? method;
    const told = [say(text.picks.graph, { graph: brought() || String(graph).split('/').at(-1) }), title, say(text.picks.limits, { k: beams, l: hops })];
    chips.replaceChildren(...told.map((words) => h('button', { type: 'button', class: 'pick', title: text.picks.open, on: { click: toggle } }, words)));
  };
  const others = inputs.changed;
  inputs.changed = () => { others(); fill(); };
  fill();
  holder?.append(chips);
}
