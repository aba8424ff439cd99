// One HTML file of a run that opens from a disk: question, answer, picture and a table that can be searched.

import { h } from './dom.js';
import { drawGraph } from './drawing.js';
import { plain } from './files.js';

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:1100px;margin:32px auto;padding:0 20px;color:#1c1d21;background:#fbfaf7}
figure{margin:20px 0;background:#fff;border:1px solid #e5e2da;border-radius:12px;overflow:auto}svg{max-width:100%;height:auto;display:block}
table{border-collapse:collapse;width:100%;font-size:14px}th,td{text-align:left;padding:5px 10px 5px 0;border-top:1px solid #e5e2da;overflow-wrap:anywhere}
input{font:inherit;padding:6px 10px;margin:0 0 10px 8px;border:1px solid #62656d;border-radius:8px}.no{color:#b84600}.ok{color:#00795a}
g[data-paths]{transition:opacity .15s}.dim{opacity:.15}small{color:#62656d}`;

// Constant: nothing of the run is in it. It filters the rows, and shows a row's path in the picture.
const SCRIPT = `const rows=[...document.querySelectorAll('tbody tr')],lines=[...document.querySelectorAll('g[data-paths]')];
document.querySelector('input').addEventListener('input',(e)=>{const w=e.target.value.toLowerCase();for(const r of rows)r.hidden=!r.textContent.toLowerCase().includes(w)});
for(const r of rows){r.addEventListener('pointerenter',()=>{for(const l of lines)l.classList.toggle('dim',!l.dataset.paths.split(' ').includes(r.dataset.path))});
r.addEventListener('pointerleave',()=>{for(const l of lines)l.classList.remove('dim')})}`;

/** The file's text. It is built as a document and written out by the browser, so no text of the run is markup. */
export function offlinePage(state, text) {
  const words = text.keep.offline;
  const nonce = [...crypto.getRandomValues(new Uint8Array(16))].map((one) => one.toString(16).padStart(2, '0')).join('');
  const page = document.implementation.createHTMLDocument(plain(state.run.question));
  page.documentElement.lang = 'en';
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-${nonce}'`;
  page.head.prepend(h('meta', { charset: 'utf-8' }), h('meta', { 'http-equiv': 'Content-Security-Policy', content: policy }), h('meta', { name: 'viewport', content: 'width=device-width' }));
  page.head.append(h('style', {}, STYLE));
  const paths = [...state.branches.true.paths, ...state.branches.false.paths].filter((path) => path.verdict);
  page.body.append(h('main', {},
    h('h1', {}, plain(state.run.question)), h('p', {}, plain(state.answer)),
    h('p', {}, h('small', {}, plain(`${state.run.method} · ${state.run.graph} · ${state.run.model} · K ${state.run.beams} · L ${state.run.hops}`))),
    h('figure', {}, drawGraph(state, text.graph.title)),
    h('p', {}, h('label', {}, words.find, h('input', { type: 'search' }))),
    h('table', {}, h('thead', {}, h('tr', {}, [text.graph.path, text.graph.from, text.graph.relation, text.graph.to, text.graph.verdict].map((name) => h('th', { scope: 'col' }, name)))),
      h('tbody', {}, paths.flatMap((path) => path.verdict.hops.map((hop) => hopRow(path, hop, text)))))));
  page.body.append(h('script', { nonce }, SCRIPT));
  return `<!doctype html>\n${page.documentElement.outerHTML}\n`;
}

function hopRow(path, hop, text) {
  return h('tr', { 'data-path': `${path.constrained ? 'g' : 'x'}${path.index}` }, h('td', {}, `${path.constrained ? '' : '~'}${path.index}`), h('td', {}, plain(hop.head)), h('td', {}, plain(hop.relation)),
    h('td', {}, plain(hop.tail)), h('td', { class: hop.verdict === 'ok' ? 'ok' : 'no' }, text.verdicts[hop.verdict] ?? plain(hop.verdict)));
}
