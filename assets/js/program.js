// The same question from a program: the call with the page's current inputs, and the address for MCP clients.

import { h } from './dom.js';
import { root } from './inputs.js';
import { copied } from './keep.js';

export function makeProgram(boot, text, inputs) {
  const words = text.program;
  const python = h('code');
  const address = `${root()}/gradio_api/mcp/`;
  const said = h('p', { class: 'note', role: 'status' });
  const button = (name, content) => h('button', { type: 'button', class: 'soft', on: { click: async () => { said.textContent = (await copied(content())) ? words.copied : words.select; } } }, name);
  const fill = () => { python.textContent = inputs.python(); };
  inputs.changed = fill;
  fill();
  return h('details', { class: 'card fold program' }, h('summary', {}, h('h2', {}, words.title)),
    h('p', { class: 'note' }, words.note), h('pre', { tabindex: 0, 'aria-label': words.title }, python), h('div', { class: 'softs' }, button(words.copy, () => python.textContent)),
    boot.mcp ? [h('p', { class: 'note' }, words.mcp), h('pre', { tabindex: 0, 'aria-label': words.mcp }, h('code', {}, address)), h('div', { class: 'softs' }, button(words.copy_mcp, () => address))] : null, said);
}
