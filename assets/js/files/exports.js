// Files made from what the page knows of a run: tables, GraphML, SVG, and one HTML page that plays it from a disk.

import { xmlText } from '../core/dom.js';
import { allPaths, branchOf, pictureOf, relationsOf, searchScore } from '../core/state.js';
import { drawGraph } from '../graph/drawing.js';
import { written } from '../views/calculation.js';

/** @typedef {import('../core/types.js').RunState} RunState */
/** @typedef {import('../core/types.js').RunEvent} RunEvent */

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

// the page as one file ----------------------------------------------------------------------------

const BOOT = /(<script type="application\/json" id="boot">)([\s\S]*?)(<\/script>)/;

/**
 * One HTML file that plays the run in all its views, with no server and no network: the page's own document, with the run
 * in the place of the recorded ones.
 * @param {string} source the document without any run, see kgdemo/ui/assets.py
 * @param {RunEvent[]} events of the run
 * @returns {string}
 */
export function offlinePage(source, events) {
  const [first] = events;
  const asked = first?.event === 'RunStarted' ? first : { question: '', graph: '' };
  const run = { id: 'run', question: asked.question, graph: asked.graph, url: '', events };
  return source.replace(BOOT, (_, begin, boot, end) => `${begin}${JSON.stringify({ ...JSON.parse(boot), examples: [run] }).replaceAll('<', '\\u003c')}${end}`);
}
