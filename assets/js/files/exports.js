// Files made from what the page knows of a run: tables, GraphML, SVG, and one HTML page that opens from a disk.

import { h, xmlText } from '../core/dom.js';
import { allPaths, branchOf, holds, pathKey, pictureOf, relationsOf, searchScore } from '../core/state.js';
import { drawGraph } from '../graph/drawing.js';
import { written } from '../views/calculation.js';
import { hopWords } from '../views/paths.js';

/** @typedef {import('../core/types.js').RunState} RunState */
/** @typedef {import('../core/types.js').PageText} PageText */

// tables ------------------------------------------------------------------------------------------

// A spreadsheet would run text that starts so, also after spaces; some read full-width and small forms as plain ones.
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠﹦﹢﹣﹫−]|^[\t\r\n]/u;

/**
 * One CSV cell: quoted, and harmless in a spreadsheet.
 * @param {unknown} value
 * @returns {string}
 */
function cell(value) {
  const written = String(value ?? '');
  const safe = typeof value !== 'number' && FORMULA.test(written) ? `'${written}` : written;
  return `"${safe.replaceAll('"', '""')}"`;
}

/** @type {(head: string[], rows: unknown[][]) => string} */
const table = (head, rows) => `${[head, ...rows].map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`;

/**
 * Every path of both branches with its verdict, one a line.
 * @param {RunState} state
 * @returns {string}
 */
export function pathsCsv(state) {
  return table(['with_graph', 'index', 'path', 'search_score', 'path_log_probability', 'in_graph', 'verdicts', 'hypothesis_answer'], allPaths(state).map((path) => [
    path.constrained ? 'yes' : 'no', path.index, path.text, searchScore(branchOf(state, path.constrained), path), path.score, path.verdict ? (path.verdict.faithful ? 'yes' : 'no') : '',
    path.verdict?.hops.map((hop) => hop.verdict).join('; ') ?? '', path.answer]));
}

/**
 * The calculation behind the answer, one operand a line.
 * @param {RunState} state
 * @returns {string} only the head where nothing was computed
 */
export function calculationCsv({ operation }) {
  return table(['kind', 'operand', 'attribute', 'value', 'unit', 'paths', 'in_result', 'result', 'verified'], (operation?.operands ?? []).map((operand) => [
    operation?.kind, operand.entity, operand.attribute, operand.value, operand.unit, operand.paths.map(written).join('; '),
    operation?.result.includes(operand.entity) ? 'yes' : 'no', operation?.result.join('; '), operation?.verified ? 'yes' : 'no']));
}

/**
 * @param {RunState} state
 * @returns {string}
 */
export function nodesCsv(state) {
  return table(['id', 'kind'], pictureOf(state).nodes.map((node) => [node.id, node.group]));
}

/**
 * @param {RunState} state
 * @returns {string}
 */
export function edgesCsv(state) {
  return table(['from', 'relation', 'to', 'kind', 'paths'],
    pictureOf(state).edges.map((edge) => [edge.from, relationsOf(edge).join('; '), edge.to, edge.kind, edge.paths.join(' ')]));
}

// documents: built as documents and written out by the browser, so that no label can become markup ---------------

const GRAPHML = 'http://graphml.graphdrawing.org/xmlns';
const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>';

/** @type {(document: Node) => string} */
const xmlFile = (document) => `${DECLARATION}\n${new XMLSerializer().serializeToString(document)}\n`;

/**
 * The picture as GraphML.
 * @param {RunState} state
 * @returns {string}
 */
export function graphml(state) {
  const xml = document.implementation.createDocument(GRAPHML, 'graphml');
  /** @type {(name: string, attributes: Record<string, string>, ...children: (Node|string)[]) => Element} */
  const make = (name, attributes, ...children) => {
    const element = xml.createElementNS(GRAPHML, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, xmlText(value));
    element.append(...children);
    return element;
  };
  const data = (/** @type {string} */ key, /** @type {string} */ value) => make('data', { key }, xmlText(value));
  const { nodes, edges } = pictureOf(state);
  const keys = [['label', 'node'], ['kind', 'node'], ['relation', 'edge'], ['kind_of_edge', 'edge'], ['paths', 'edge']];
  xml.documentElement.append(
    ...keys.map(([id, role]) => make('key', { id, for: role, 'attr.name': id, 'attr.type': 'string' })),
    make('graph', { edgedefault: 'directed' },
      ...nodes.map((node) => make('node', { id: node.id }, data('label', node.id), data('kind', node.group))),
      ...edges.map((edge) => make('edge', { source: edge.from, target: edge.to },
        data('relation', relationsOf(edge).join('; ')), data('kind_of_edge', edge.kind), data('paths', edge.paths.join(' '))))));
  return xmlFile(xml);
}

/**
 * The picture as SVG.
 * @param {RunState} state
 * @param {string} title
 * @returns {string}
 */
export function svgText(state, title) {
  return xmlFile(drawGraph(state, title));
}

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:1100px;margin:32px auto;padding:0 20px;color:#1c1d21;background:#fbfaf7}
figure{margin:20px 0;background:#fff;border:1px solid #e5e2da;border-radius:12px;overflow:auto}svg{max-width:100%;height:auto;display:block}
table{border-collapse:collapse;width:100%;font-size:14px}th,td{text-align:left;padding:5px 10px 5px 0;border-top:1px solid #e5e2da;overflow-wrap:anywhere}
input{font:inherit;padding:6px 10px;margin:0 0 10px 8px;border:1px solid #62656d;border-radius:8px}.no{color:#b84600}.ok{color:#00795a}
g[data-paths]{transition:opacity .15s}.dim{opacity:.15}small{color:#62656d}`;

// This script is constant; nothing of the run enters it. It filters the rows, and shows a row's path in the picture.
const SCRIPT = `const rows=[...document.querySelectorAll('tbody tr')],lines=[...document.querySelectorAll('g[data-paths]')];
document.querySelector('input').addEventListener('input',(e)=>{const w=e.target.value.toLowerCase();for(const r of rows)r.hidden=!r.textContent.toLowerCase().includes(w)});
for(const r of rows){r.addEventListener('pointerenter',()=>{for(const l of lines)l.classList.toggle('dim',!l.dataset.paths.split(' ').includes(r.dataset.path))});
r.addEventListener('pointerleave',()=>{for(const l of lines)l.classList.remove('dim')})}`;

/**
 * One HTML file: question, answer, picture, and a table that can be searched.
 * @param {RunState} state
 * @param {PageText} text
 * @returns {string}
 */
export function offlinePage(state, text) {
  const { run, answer } = state;
  const words = text.keep.offline;
  const nonce = [...crypto.getRandomValues(new Uint8Array(16))].map((one) => one.toString(16).padStart(2, '0')).join('');
  const page = document.implementation.createHTMLDocument(xmlText(run?.question));
  page.documentElement.lang = 'en';
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-${nonce}'`;
  page.head.prepend(h('meta', { charset: 'utf-8' }), h('meta', { 'http-equiv': 'Content-Security-Policy', content: policy }),
    h('meta', { name: 'viewport', content: 'width=device-width' }));
  page.head.append(h('style', {}, STYLE));
  const columns = [text.graph.path, text.graph.from, text.graph.relation, text.graph.to, text.graph.verdict];
  page.body.append(h('main', {},
    h('h1', {}, xmlText(run?.question)), h('p', {}, xmlText(answer)),
    h('p', {}, h('small', {}, xmlText(`${run?.method} · ${run?.graph} · ${run?.model} · K ${run?.beams} · L ${run?.hops}`))),
    h('figure', {}, drawGraph(state, text.graph.title)),
    h('p', {}, h('label', {}, words.find, h('input', { type: 'search' }))),
    h('table', {}, h('thead', {}, h('tr', {}, columns.map((name) => h('th', { scope: 'col' }, name)))),
      h('tbody', {}, allPaths(state).flatMap((path) => (path.verdict?.hops ?? []).map((hop) => hopRow(path, hop, text)))))));
  page.body.append(h('script', { nonce }, SCRIPT));
  return `<!doctype html>\n${page.documentElement.outerHTML}\n`;
}

/** @type {(path: import('../core/types.js').FoundPath, hop: import('../core/types.js').Hop, text: PageText) => HTMLElement} */
function hopRow(path, hop, text) {
  return h('tr', { 'data-path': pathKey(path) }, h('td', {}, `${path.constrained ? '' : '~'}${path.index}`),
    h('td', {}, xmlText(hop.head)), h('td', {}, xmlText(hop.relation)), h('td', {}, xmlText(hop.tail)),
    h('td', { class: holds(hop.verdict) ? 'ok' : 'no' }, xmlText(hopWords(hop, text))));
}
