// The same question from a program: a call with the page's current inputs, and the address for MCP clients.

import { copied, h } from '../core/dom.js';

/** @typedef {import('../core/types.js').RunState} RunState */
/** @typedef {import('../core/inputs.js').Values} Values */

/**
 * The endpoints: what each is asked about, and what a program would print of its result.
 * @type {Record<'ask'|'paths'|'verify_path'|'link', {about: 'question'|'path', shows: string[]}>}
 */
const CALLS = {
  ask: {
    about: 'question',
    shows: ['print(result["answer"])', 'for path in result["paths"]:', '    print(path["text"], path["verified"])'],
  },
  paths: { about: 'question', shows: ['for path in result:', '    print(path["text"], path["score"])'] },
  verify_path: {
    about: 'path',
    shows: ['print(result["faithful"])', 'for hop in result["hops"]:', '    print(hop["head"], hop["relation"], hop["tail"], hop["verdict"])'],
  },
  link: { about: 'question', shows: ['print(result["chosen"])'] },
};
const ENDPOINTS = /** @type {(keyof typeof CALLS)[]} */ (Object.keys(CALLS));
const PATH = 'The Magic Flute -> composed by -> Wolfgang Amadeus Mozart'; // until a run has found one

/**
 * A program for gradio's Python client.
 * @param {keyof typeof CALLS} endpoint
 * @param {string[]} takes names of the settings that the endpoint takes
 * @param {Values} values of the page's fields
 * @param {string} path to verify
 * @param {string} root address of the page, without a slash at its end
 * @returns {string}
 */
export function pythonProgram(endpoint, takes, values, path, root) {
  const { about, shows } = CALLS[endpoint];
  const given = takes.filter((name) => name in values && values[name] !== '' && values[name] !== null);
  const call = [literal(about === 'path' ? path : values.question ?? ''), ...given.map((name) => `${name}=${literal(values[name])}`), `api_name="/${endpoint}"`];
  return ['from gradio_client import Client', '', `client = Client(${literal(root)})`, 'result = client.predict(',
    ...call.map((argument) => `    ${argument},`), ')', ...shows, ''].join('\n');
}

/**
 * A value as a Python literal. A JSON string is a Python string too, once everything in it is ASCII.
 * @param {import('../core/types.js').FieldValue} value
 */
function literal(value) {
  if (typeof value !== 'string') return String(value);
  return JSON.stringify(value).replace(/[\u007f-\u{10ffff}]/gu, (one) => {
    const code = (one.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
  });
}

/**
 * @param {import('../core/types.js').Boot} boot
 * @param {import('../core/types.js').PageText} text
 * @param {import('../core/inputs.js').Inputs} inputs
 * @returns {{element: HTMLElement, draw: (state: RunState) => void}}
 */
export function makeProgram(boot, text, inputs) {
  const words = text.program;
  const root = new URL('.', document.baseURI).href.replace(/\/$/, '');
  const address = `${root}/gradio_api/mcp/`;
  const python = h('code');
  const said = h('p', { class: 'note', role: 'status' });
  const endpoint = h('select', { 'aria-label': words.endpoint, on: { change: () => fill() } },
    ENDPOINTS.map((name) => h('option', { value: name }, `${name}: ${words.endpoints[name]}`)));
  /** @type {(name: string, content: () => string) => HTMLElement} */
  const button = (name, content) => h('button', { type: 'button', class: 'soft', on: { click: async () => {
    said.textContent = (await copied(content())) ? words.copied : words.select;
  } } }, name);
  let path = PATH;
  const fill = () => {
    const name = ENDPOINTS[endpoint.selectedIndex];
    python.textContent = pythonProgram(name, boot.endpoints[name], inputs.values, path, root);
  };
  inputs.listeners.push(fill);
  fill();
  const element = h('details', { class: 'card fold program' }, h('summary', {}, h('h2', {}, words.title)),
    h('p', { class: 'note' }, words.note), h('p', { class: 'row' }, endpoint), h('pre', { tabindex: 0, 'aria-label': words.title }, python),
    h('div', { class: 'softs' }, button(words.copy, () => python.textContent ?? '')),
    boot.mcp ? [h('p', { class: 'note' }, words.mcp), h('pre', { tabindex: 0, 'aria-label': words.mcp }, h('code', {}, address)),
      h('div', { class: 'softs' }, button(words.copy_mcp, () => address))] : null, said);
  /** @param {RunState} state */
  const draw = (state) => {
    const found = state.constrained.paths.find((one) => one.index === 1)?.text ?? PATH;
    if (found !== path) { path = found; fill(); }
  };
  return { element, draw };
}
