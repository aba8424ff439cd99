// The same question from a program: the call with the page's current inputs, and the address for MCP clients.

import { h } from './dom.js';
import { CALLS, root } from './inputs.js';
import { copied } from './keep.js';

const PATH = 'The Magic Flute -> composed by -> Wolfgang Amadeus Mozart'; // until a run has found one

export function makeProgram(boot, text, inputs) {
  const words = text.program;
  const python = h('code');
  const address = `${root()}/gradio_api/mcp/`;
  const said = h('p', { class: 'note', role: 'status' });
  const endpoint = h('select', { 'aria-label': words.endpoint, on: { change: () => fill() } }, Object.keys(CALLS).map((name) => h('option', { value: name }, `${name}: ${words.endpoints[name]}`)));
  const button = (name, content) => h('button', { type: 'button', class: 'soft', on: { click: async () => { said.textContent = (await copied(content())) ? words.copied : words.select; } } }, name);
  let path = PATH;
  const fill = () => { python.textContent = inputs.python(endpoint.value, path); };
  inputs.changed = fill;
  fill();
  const element = h('details', { class: 'card fold program' }, h('summary', {}, h('h2', {}, words.title)),
    h('p', { class: 'note' }, words.note), h('p', { class: 'row' }, endpoint), h('pre', { tabindex: 0, 'aria-label': words.title }, python), h('div', { class: 'softs' }, button(words.copy, () => python.textContent)),
    boot.mcp ? [h('p', { class: 'note' }, words.mcp), h('pre', { tabindex: 0, 'aria-label': words.mcp }, h('code', {}, address)), h('div', { class: 'softs' }, button(words.copy_mcp, () => address))] : null, said);
  const draw = (state) => {
    const found = state.branches.true.paths.find((one) => one.index === 1)?.text ?? PATH;
    if (found !== path) { path = found; fill(); }
  };
  return { element, draw };
}
