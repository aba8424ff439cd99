// What a visitor may take along, made from what the page knows of the run: tables and GraphML as text.

const FORMULA = /^[=+\-@\t\r]/; // a spreadsheet would run a cell that starts so

/** One CSV cell: quoted, and harmless in a spreadsheet. */
export function cell(value) {
  const written = String(value ?? '');
  const safe = typeof value !== 'number' && FORMULA.test(written) ? `'${written}` : written;
  return `"${safe.replaceAll('"', '""')}"`;
}

const table = (head, rows) => [head, ...rows].map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n';

/** Every path of both branches with its verdict, a path a line. */
export function pathsCsv(state) {
  const paths = [...state.branches.true.paths, ...state.branches.false.paths];
  return table(['with_graph', 'index', 'path', 'log_probability', 'in_graph', 'verdicts', 'hypothesis_answer'], paths.map((path) => [
    path.constrained ? 'yes' : 'no', path.index, path.text, path.score, path.verdict ? (path.verdict.faithful ? 'yes' : 'no') : '',
    path.verdict?.hops.map((hop) => hop.verdict).join('; ') ?? '', path.answer]));
}

export function nodesCsv(state) {
  return table(['id', 'kind'], real(state).nodes.map((node) => [node.id, node.group]));
}

export function edgesCsv(state) {
  return table(['from', 'relation', 'to', 'kind', 'paths'], real(state).edges.map((edge) => [edge.from, relations(edge).join('; '), edge.to, edge.kind, edge.paths.join(' ')]));
}

/** The picture without its “+37 more” signs, which are no entities. */
export function real(state) {
  const nodes = [...state.nodes.values()].filter((node) => node.group !== 'more');
  const ids = new Set(nodes.map((node) => node.id));
  return { nodes, edges: [...state.edges.values()].filter((edge) => ids.has(edge.from) && ids.has(edge.to)) };
}

/** Relations of an edge, from the lines it says of itself: `head → relation → tail (verdict)`. */
export function relations(edge) {
  const found = (edge.title ?? '').split('\n').map((line) => {
    const start = `${edge.from} → `;
    const end = line.lastIndexOf(` → ${edge.to}`);
    return line.startsWith(start) && end >= start.length ? line.slice(start.length, end) : '';
  }).filter(Boolean);
  return found.length ? [...new Set(found)] : (edge.label ?? '').split('\n').filter(Boolean);
}

// GraphML -----------------------------------------------------------------------------------------

const GRAPHML = 'http://graphml.graphdrawing.org/xmlns';
const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** The graph as GraphML; the document is built as a document, so no label can become markup. */
export function graphml(state) {
  const xml = document.implementation.createDocument(GRAPHML, 'graphml');
  const make = (name, attributes, ...children) => {
    const element = xml.createElementNS(GRAPHML, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, plain(value));
    element.append(...children);
    return element;
  };
  const data = (key, value) => make('data', { key }, plain(value));
  const { nodes, edges } = real(state);
  const keys = [['label', 'node'], ['kind', 'node'], ['relation', 'edge'], ['kind_of_edge', 'edge'], ['paths', 'edge']];
  xml.documentElement.append(
    ...keys.map(([id, role]) => make('key', { id, for: role, 'attr.name': id, 'attr.type': 'string' })),
    make('graph', { edgedefault: 'directed' },
      ...nodes.map((node) => make('node', { id: node.id }, data('label', node.id), data('kind', node.group))),
      ...edges.map((edge) => make('edge', { source: edge.from, target: edge.to }, data('relation', relations(edge).join('; ')), data('kind_of_edge', edge.kind), data('paths', edge.paths.join(' '))))));
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(xml)}\n`;
}

/** Text without characters that XML cannot hold. */
export function plain(value) { return String(value).replace(NOT_XML, ''); }

/** Hand a file to the visitor. */
export function save(name, content, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
