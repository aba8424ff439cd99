// What stands around a run: the choices beside the title, how far the server has loaded, the introduction, how it
// works, and the gallery of recorded failures.

import { figure, h, refill, say, svg, wordsFor } from '../core/dom.js';
import { term } from '../core/terms.js';

/** @typedef {import('../core/types.js').PageText} PageText */
/** @typedef {import('../core/types.js').Boot} Boot */
/** @typedef {import('../core/types.js').RecordedRun} RecordedRun */

/**
 * Before the first question: in plain words what this is, and a map of what the chosen graph can be asked about, above a
 * recorded run that plays by itself.
 * @param {Boot} boot
 * @param {PageText} text
 * @param {import('../core/inputs.js').Inputs} inputs
 * @param {(question: string) => void} ask
 * @param {() => boolean} brought whether questions are asked on a graph of the visitor's own, which has no themes
 * @returns {{element: HTMLElement, themes: HTMLElement, draw: (open: boolean) => void}}
 */
export function introduction(boot, text, inputs, ask, brought) {
  const words = text.start;
  const element = h('section', { class: 'intro' }, h('h2', {}, words.title), h('p', {}, words.says, ' ', h('span', { class: 'more-said' }, words.beside)));
  const themes = h('nav', { class: 'themes', 'aria-label': words.themes });
  return { element, themes, draw: (open) => {
    const graph = String(inputs.values.graph);
    element.hidden = !open;
    themes.hidden = !open || brought() || !Object.hasOwn(boot.themes, graph);
    if (!themes.hidden) refill(themes, graph, () => themeMap(boot.themes[graph], text, graph, ask));
  } };
}

const LARGEST_THEME = 58; // pixels across; the area of a theme's disc is in proportion to its facts

/**
 * A disc for each theme, the largest first, and below them the questions of the one that is chosen.
 * @param {Record<string, number>} sizes facts of each theme
 * @param {PageText} text
 * @param {string} graph
 * @param {(question: string) => void} ask
 * @returns {HTMLElement[]}
 */
function themeMap(sizes, text, graph, ask) {
  const words = text.start;
  /** @type {Record<string, Record<string, string[]>>} */
  const known = text.themes;
  const themes = Object.entries(sizes).sort(([, a], [, b]) => b - a);
  const [, most] = themes[0];
  const questions = h('ul', { class: 'theme-questions', 'aria-live': 'polite' });
  const discs = themes.map(([theme, facts]) => h('button', { type: 'button', class: 'theme', 'data-theme': theme, on: { click: () => choose(theme) } },
    h('i', { 'aria-hidden': 'true', style: `--across: ${(LARGEST_THEME * Math.sqrt(facts / most)).toFixed(1)}px` }), h('span', {}, theme),
    h('small', {}, figure(facts), h('span', { class: 'sr-only' }, ` ${words.unit}`))));

  /** @param {string} chosen */
  function choose(chosen) {
    for (const disc of discs) disc.setAttribute('aria-pressed', String(disc.dataset.theme === chosen));
    questions.setAttribute('aria-label', say(words.about, { theme: chosen }));
    questions.replaceChildren(...(known[graph]?.[chosen] ?? []).map((question) => h('li', {},
      h('button', { type: 'button', class: 'soft', on: { click: () => ask(question) } }, question))));
  }
  choose(themes[0][0]);
  const total = themes.reduce((sum, [, facts]) => sum + facts, 0);
  return [h('h2', {}, say(words.facts, { triples: figure(total), n: themes.length })),
    h('ul', { class: 'theme-map' }, discs.map((disc) => h('li', {}, disc))), questions];
}

/**
 * Says that the shown run is a recording of ours, and asks its question live.
 * @param {Boot} boot
 * @param {PageText} text
 * @param {(question: string) => void} ask
 * @returns {import('../core/types.js').View}
 */
export function makeRecording(boot, text, ask) {
  const words = text.recording;
  const ids = new Set([...boot.examples, ...boot.failures].map((one) => one.id));
  let question = '';
  const element = h('p', { class: 'recording', hidden: true }, h('b', {}, term(words.label, words.says)),
    h('button', { type: 'button', class: 'plain', on: { click: () => ask(question) } }, words.live));
  return { element, draw: ({ run }, player) => {
    element.hidden = player.origin !== 'recorded' || !ids.has(player.run ?? '');
    question = run?.question ?? question;
  } };
}

/**
 * The graph, the method and the limits in use, beside the title; a click opens the settings.
 * @param {import('../core/inputs.js').Inputs} inputs
 * @param {Boot} boot
 * @param {PageText} text
 * @param {() => string} ownTitle the name of a graph that the visitor has brought, or nothing
 * @returns {void}
 */
export function showChoices(inputs, boot, text, ownTitle) {
  const holder = document.querySelector('#kg-header h1')?.parentElement;
  const toggle = () => /** @type {HTMLElement|null} */ (document.querySelector('#kg-settings button'))?.click();
  const chips = h('span', { class: 'picks' });
  // on a phone this button stands for the settings, which take no room there while they are closed
  const opens = () => h('span', { class: 'opens' }, h('span', { 'aria-hidden': 'true' }, '⚙ '), h('span', { class: 'sr-only' }, `${text.settings.title}, `));
  const fill = () => {
    const { graph, method, beams, hops } = inputs.values;
    const title = boot.methods.find((one) => one.name === method)?.title ?? method;
    /** @type {[words: string, why: string][]} */
    const told = [[say(text.picks.graph, { graph: ownTitle() || String(graph).split('/').at(-1) }), text.picks.open], [String(title), text.picks.open],
      [say(text.picks.limits, { k: beams, l: hops }), text.picks.limits_why]];
    const settings = document.querySelector('#kg-settings'); // a page without a server has none
    chips.replaceChildren(...told.map(([words, why], i) => (settings ? h('button', { type: 'button', class: 'pick', 'data-why': why, on: { click: toggle } }, i ? null : opens(), words)
      : h('span', { class: 'pick' }, words))));
  };
  inputs.listeners.push(fill);
  fill();
  holder?.append(chips);
}

const ASK_EVERY = 1500; // milliseconds

/**
 * Says how far the server has loaded graph and model; recorded runs need neither.
 * @param {PageText} text
 * @param {() => ReturnType<import('../core/types.js').Server['loaded']>} ask
 * @returns {HTMLElement}
 */
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
    const line = state.failed || (state.stage ? say(words.now, { what: wordsFor(words.stages, state.stage) }) : '');
    if (said.textContent !== line) said.textContent = line;
    if (state.stage) setTimeout(look, ASK_EVERY);
  }
  look();
  return element;
}

/**
 * The gallery: recorded failures, each with what went wrong and what to look at. The banner stands above a shown one.
 * @param {Boot} boot
 * @param {PageText} text
 * @param {(run: RecordedRun) => Promise<void>} replay shows a recorded run
 * @returns {import('../core/types.js').View & {banner: HTMLElement}}
 */
export function makeGallery(boot, text, replay) {
  const words = text.gallery;
  /** @type {Record<string, {title: string, wrong: string, look: string}>} */
  const cases = words.cases;
  const banner = h('section', { class: 'card banner', hidden: true, 'aria-live': 'polite' });
  const cards = boot.failures.filter((failure) => Object.hasOwn(cases, failure.id)).map((failure) => h('li', {},
    h('button', { type: 'button', class: 'failure', on: { click: () => replay(failure) } }, h('b', {}, cases[failure.id].title), h('span', {}, failure.question))));
  const element = h('details', { class: 'card fold failures-fold' }, h('summary', {}, h('h2', {}, words.title)), h('p', { class: 'note' }, words.note), h('ul', { class: 'failures' }, cards));

  let shown = '';
  /** @type {import('../core/types.js').View['draw']} */
  const draw = (_, player) => {
    const id = (player.origin === 'recorded' && player.run) || '';
    if (id === shown) return;
    shown = id;
    const said = Object.hasOwn(cases, id) ? cases[id] : null;
    banner.hidden = !said;
    banner.replaceChildren(...(said ? [h('h2', {}, said.title), h('p', {}, said.wrong), h('p', { class: 'note' }, h('b', {}, words.look), ' ', said.look)] : []));
  };
  return { element, banner, draw };
}

// how it works ------------------------------------------------------------------------------------

/** @typedef {'retrieval'|'agent'|'constrained'} Way a way in which a language model can use a graph (GCR, Figure 2) */
/** @typedef {[x: number, y: number]} Point */

/** @type {Record<'graph'|'model'|'answer', Point>} middles of the boxes */
const BOX = { graph: [50, 66], model: [184, 66], answer: [294, 66] };

/**
 * Three small pictures, one a way.
 * @param {PageText} text
 * @returns {HTMLDetailsElement}
 */
export function makeHow(text) {
  const words = text.how;
  const cards = /** @type {Way[]} */ (['retrieval', 'agent', 'constrained']).map((way) => h('figure', { class: `way ${way}` }, picture(way, words),
    h('figcaption', {}, h('b', {}, words.ways[way].title), h('span', {}, words.ways[way].says))));
  return h('details', { class: 'card fold', open: true }, h('summary', {}, h('h2', {}, words.title)), h('div', { class: 'ways' }, cards), h('p', { class: 'note' }, words.source));
}

/** @type {(way: Way, words: PageText['how']) => SVGElement} */
function picture(way, words) {
  const { labels } = words;
  const inside = way === 'constrained';
  return svg('svg', { viewBox: '0 0 340 132', role: 'img', 'aria-label': words.ways[way].picture },
    net(BOX.graph), label(BOX.graph[0], 118, labels.graph),
    box(BOX.model, inside ? '' : labels.model), inside ? mask(BOX.model) : null, inside ? label(BOX.model[0], 118, labels.masked) : null,
    svg('circle', { cx: BOX.answer[0], cy: BOX.answer[1], r: 17, class: 'to' }), label(BOX.answer[0], 118, labels.answer),
    way === 'agent'
      ? [arrow('M150 50C128 34 108 34 88 50', [88, 50], 142), label(119, 30, labels.asks), arrow('M88 82C108 98 128 98 150 82', [150, 82], -38), label(119, 110, labels.again)]
      : [arrow('M86 66H146', [148, 66]), label(115, 56, labels[inside ? 'allows' : 'facts'])],
    arrow('M220 66H272', [275, 66]));
}

/**
 * A small graph: three nodes and their edges.
 * @param {Point} middle
 */
function net([x, y]) {
  const points = [[x - 26, y + 18], [x, y - 24], [x + 26, y + 12]];
  return svg('g', { class: 'net' }, svg('path', { d: `M${points.map((point) => point.join(' ')).join('L')}Z` }), points.map(([cx, cy]) => svg('circle', { cx, cy, r: 7 })));
}

/** @type {(middle: Point, words: string) => SVGElement} */
function box([x, y], words) {
  return svg('g', {}, svg('rect', { x: x - 34, y: y - 26, width: 68, height: 52, rx: 10, class: 'box' }), words ? label(x, y + 4, words) : null);
}

/**
 * The inside of the model: rows of tokens, of which the graph allows one.
 * @param {Point} middle
 */
function mask([x, y]) {
  return [-14, 0, 14].map((down, row) => svg('rect', { x: x - 22, y: y + down - 4, width: [30, 44, 24][row], height: 8, rx: 3, class: row === 1 ? 'token yes' : 'token no' }));
}

/**
 * A line with an arrowhead at its end, turned by `angle` degrees.
 * @type {(d: string, end: Point, angle?: number) => SVGElement}
 */
function arrow(d, [x, y], angle = 0) {
  return svg('g', { class: 'arrow' }, svg('path', { d }), svg('path', { d: 'M0 0L-8 -4V4Z', class: 'head', transform: `translate(${x} ${y}) rotate(${angle})` }));
}

/** @type {(x: number, y: number, words: string) => SVGElement} */
function label(x, y, words) { return svg('text', { x, y, 'text-anchor': 'middle' }, words); }
