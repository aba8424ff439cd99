// The Benchmark tab: a table or figure of the papers run on this server, watched while it runs, and its runs compared.

import { figure, h, refill, say, svg } from '../core/dom.js';

/** @typedef {import('../core/types.js').PageText} PageText */
/** @typedef {{name: string, after: string, reports: string, compares: string, variants: Record<string, string>}} Recipe */
/** @typedef {{name: string, graph: string, questions: number}} QuestionSet */
/** @typedef {{recipes: Recipe[], sets: QuestionSet[], studies: string[], running: string, error?: string}} Listed */
/** @typedef {{recipe: string, questions: string, size: number, graph: string, beams: number, hops: number}} Choice */
/** @typedef {{name: string, done: number, of: number|null, metrics: Record<string, number>}} Row one variant */
/** @typedef {{name: string, choice: Choice, rows: Row[], state: 'running'|'stopped'|'done'|'failed', seconds_left: number|null, complaint: string}} Study */
/** @typedef {{question: string, topics: string[], answers: string[], gold: string[], right: boolean}} Answered */
/** @typedef {{name: string, first: number, second: number, low: number, high: number, p: number}} Difference */

const FIGURES = ['hits@1', 'hit', 'f1', 'path_hits@1', 'path_hit@k', 'faithful_ratio', 'lm_calls', 'seconds_per_question'];
const PLOTTED = ['hits@1', 'hit', 'f1', 'path_hits@1'];
const EVERY = 1000; // milliseconds between two looks at a study that runs

/**
 * Questions answered and all there are; those of variants that have not begun count as those of the first.
 * @param {Row[]} rows
 * @returns {{done: number, of: number}}
 */
export function countOf(rows) {
  const each = rows[0]?.of ?? 0;
  return { done: rows.reduce((sum, row) => sum + row.done, 0), of: rows.reduce((sum, row) => sum + (row.of ?? each), 0) };
}

/**
 * How long it will take, in words.
 * @param {number|null} seconds
 * @param {PageText['benchmark']} words
 * @returns {string}
 */
export function timeLeft(seconds, words) {
  if (seconds === null) return words.unknown;
  return seconds < 90 ? say(words.seconds, { n: Math.max(1, Math.round(seconds)) }) : say(words.minutes, { n: Math.round(seconds / 60) });
}

/**
 * The bars of the plot: a group a figure, in it a bar a variant, with its 95 % interval.
 * @param {Row[]} rows
 * @returns {{figure: string, variant: string, place: number, value: number, low: number, high: number}[]}
 */
export function barsOf(rows) {
  return PLOTTED.flatMap((name) => rows.flatMap((row, place) => (name in row.metrics
    ? [{ figure: name, variant: row.name, place, value: row.metrics[name], low: row.metrics[`${name}_low`] ?? row.metrics[name], high: row.metrics[`${name}_high`] ?? row.metrics[name] }]
    : [])));
}

/**
 * @param {PageText} text
 * @param {import('../core/inputs.js').Inputs} inputs
 * @param {(question: string, topics: string[], values: {method: string, graph: string, beams: number, hops: number}) => void} open asks a question in the main view
 * @returns {{element: HTMLElement}}
 */
export function makeBenchmark(text, inputs, open) {
  const words = text.benchmark;
  /** @type {Listed} */
  let listed = { recipes: [], sets: [], studies: [], running: '' };
  /** @type {Study|null} */
  let study = null;
  let variant = '';
  let looking = false; // a look is on its way or due

  const recipe = h('select', { on: { change: drawRecipe } });
  const set = h('select', { on: { change: drawRecipe } });
  const file = h('input', { type: 'text', class: 'file', spellcheck: 'false', placeholder: words.path });
  const size = h('input', { type: 'number', min: 1, max: 5000, value: 20 });
  const earlier = h('select', { on: { change: () => show(earlier.value) } });
  const start = h('button', { type: 'button', class: 'primary', on: { click: begin } }, words.start);
  const stop = h('button', { type: 'button', class: 'soft', on: { click: end } }, words.stop);
  const about = h('p', { class: 'note' });
  const status = h('p', { class: 'progress', role: 'status' });
  const complaint = h('div', {});
  const table = h('div', { class: 'scrolled figures', tabindex: 0, role: 'region', 'aria-label': words.table });
  const drawing = h('div', { class: 'scrolled plot', tabindex: 0, role: 'region', 'aria-label': words.plot });
  const questions = h('div', { class: 'scrolled questions', tabindex: 0, role: 'region', 'aria-label': words.questions });
  const [first, second] = [words.first, words.second].map((label) => h('select', { 'aria-label': label }));
  const differences = h('div', { class: 'scrolled differences', tabindex: 0, role: 'region', 'aria-label': words.differences });
  const beside = h('div', { class: 'row' }, first, second, h('button', { type: 'button', class: 'soft', on: { click: compare } }, words.compare));
  /** @type {(name: string, field: HTMLElement) => HTMLElement} */
  const labelled = (name, field) => h('label', {}, h('span', {}, name), field);
  const earlierField = labelled(words.earlier, earlier);
  const fileField = labelled(words.file, file);
  const result = h('div', {}, table, drawing, questions, h('h3', {}, words.compare_title), beside, differences);
  const element = h('details', { class: 'card fold benchmark', on: { toggle: () => { if (element.open) refresh(); } } },
    h('summary', {}, h('h2', {}, words.title)), h('p', { class: 'note' }, words.note),
    h('div', { class: 'row' }, labelled(words.recipe, recipe), labelled(words.set, set), fileField, labelled(words.size, size), start, stop, earlierField),
    about, status, complaint, result);
  result.hidden = true;

  /**
   * @param {string} path
   * @param {object} [sent]
   * @returns {Promise<any>} what the server answers; its complaint is shown, and nothing returned
   */
  async function asked(path, sent) {
    const request = sent === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(sent) };
    const answer = await fetch(new URL(path, document.baseURI), request).then((got) => got.json()).catch(() => ({ error: words.away }));
    refill(complaint, answer.error ?? '', () => (answer.error ? h('p', { class: 'failed', role: 'alert' }, answer.error) : null));
    return answer.error ? null : answer;
  }

  async function refresh() {
    status.textContent = study ? status.textContent : words.loading;
    const got = await asked('benchmark');
    if (!got) { status.textContent = ''; return; }
    listed = got;
    const chosen = { recipe: recipe.value, set: set.value };
    recipe.replaceChildren(...listed.recipes.map((one) => h('option', { value: one.name }, `${one.name} (${one.after})`)));
    set.replaceChildren(...listed.sets.map((one) => h('option', { value: one.name }, say(words.of, { name: one.name, n: one.questions }))), h('option', { value: '' }, words.own));
    if (chosen.recipe) [recipe.value, set.value] = [chosen.recipe, chosen.set];
    drawEarlier();
    drawRecipe();
    if (listed.running || study) await show(listed.running || study?.name || '');
    else status.textContent = '';
  }

  function drawEarlier() {
    earlierField.hidden = !listed.studies.length;
    earlier.replaceChildren(h('option', { value: '' }, words.choose), ...listed.studies.map((name) => h('option', { value: name }, name)));
    earlier.value = study?.name ?? '';
  }

  function drawRecipe() {
    const one = listed.recipes.find(({ name }) => name === recipe.value);
    about.textContent = one ? `${one.reports} ${one.compares}` : '';
    fileField.hidden = set.value !== '';
  }

  async function begin() {
    const { graph, beams, hops } = inputs.values;
    const started = await asked('benchmark', { recipe: recipe.value, questions: set.value || file.value.trim(), size: Number(size.value), graph: String(graph), beams: Number(beams), hops: Number(hops) });
    if (!started) return;
    if (!listed.studies.includes(started.name)) listed.studies = [started.name, ...listed.studies];
    await show(started.name);
    drawEarlier();
  }

  async function end() {
    if (await asked('benchmark/stop', {}) && study) await show(study.name);
  }

  /** @param {string} name of a study, whose state is shown, and looked at again while it runs */
  async function show(name) {
    if (!name) return;
    const got = /** @type {Study|null} */ (await asked(`benchmark/${name}`));
    if (!got) return;
    if (study?.name !== got.name) variant = '';
    study = got;
    draw(got);
    if (variant) await showQuestions(variant);
    if (got.state !== 'running' || looking) return;
    looking = true;
    setTimeout(() => { looking = false; if (element.open && study?.name === name) show(name); }, EVERY);
  }

  /** @param {Study} now */
  function draw(now) {
    const { done, of } = countOf(now.rows);
    const left = now.state === 'running' ? say(words.left, { time: timeLeft(now.seconds_left, words) }) : '';
    status.textContent = now.state === 'running' && !of ? words.starting : say(words.states[now.state], { done, of, left });
    element.dataset.state = now.state;
    element.dataset.done = String(done);
    stop.disabled = now.state !== 'running';
    start.textContent = now.state === 'stopped' && done ? words.resume : words.start;
    if (now.state === 'failed') refill(complaint, now.complaint, () => h('p', { class: 'failed', role: 'alert' }, now.complaint));
    result.hidden = !done;
    refill(table, now.rows, () => figuresTable(now.rows));
    refill(drawing, now.rows, () => plot(now.rows));
    const runs = now.rows.filter((row) => row.done).map((row) => row.name);
    for (const [place, field] of [first, second].entries()) {
      const chosen = field.value;
      refill(field, [now.name, runs], () => runs.map((name) => h('option', { value: name }, name)));
      field.value = runs.includes(chosen) ? chosen : runs[Math.min(place, runs.length - 1)] ?? '';
    }
  }

  /** @param {Row[]} rows */
  function figuresTable(rows) {
    const shown = FIGURES.filter((name) => rows.some((row) => name in row.metrics));
    return h('table', { class: 'plain-table' },
      h('thead', {}, h('tr', {}, h('th', {}, words.variant), h('th', {}, words.answered), shown.map((name) => h('th', {}, words.figures[/** @type {keyof typeof words.figures} */ (name)] ?? name)))),
      h('tbody', {}, rows.map((row) => h('tr', {},
        h('th', { scope: 'row' }, h('button', { type: 'button', class: 'linked', disabled: !row.done, on: { click: () => showQuestions(row.name) } }, row.name)),
        h('td', {}, row.of === null ? '–' : `${row.done} / ${row.of}`),
        shown.map((name) => h('td', {}, name in row.metrics ? figure(row.metrics[name], 3) : '–'))))));
  }

  /** @param {Row[]} rows */
  function plot(rows) {
    const wide = 18; const high = 120; const group = wide * rows.length + 40;
    const bars = barsOf(rows).map((bar) => {
      const x = PLOTTED.indexOf(bar.figure) * group + bar.place * wide + 30;
      const y = (/** @type {number} */ value) => high * (1 - value) + 8;
      return svg('g', { class: `bar v${bar.place % 6}` }, svg('title', {}, say(words.bar, { ...bar, value: figure(bar.value, 3), low: figure(bar.low, 3), high: figure(bar.high, 3) })),
        svg('rect', { x, y: y(bar.value), width: wide - 4, height: high * bar.value }),
        svg('line', { x1: x + wide / 2 - 2, x2: x + wide / 2 - 2, y1: y(bar.low), y2: y(bar.high) }));
    });
    const labels = PLOTTED.map((name, place) => svg('text', { x: place * group + 30, y: high + 26 }, words.figures[/** @type {keyof typeof words.figures} */ (name)]));
    const ticks = [0, 0.5, 1].map((value) => svg('text', { x: 0, y: high * (1 - value) + 12 }, figure(value, 1)));
    return [svg('svg', { role: 'img', 'aria-label': words.plot, width: PLOTTED.length * group + 30, height: high + 34 }, bars, labels, ticks),
      h('p', { class: 'legend' }, rows.map((row, place) => h('span', { class: `v${place % 6}` }, row.name)))];
  }

  /** @param {string} name of the variant whose questions are listed */
  async function showQuestions(name) {
    if (!study) return;
    const got = await asked(`benchmark/${study.name}/${name}`);
    if (!got) return;
    variant = name;
    const { graph, beams, hops } = study.choice;
    const listedSet = listed.sets.find((one) => one.name === study?.choice.questions);
    const values = { method: got.method, graph: listedSet?.graph ?? graph, beams, hops };
    refill(questions, [study.name, name, got], () => [h('h3', {}, say(words.asked, { variant: name })), h('table', { class: 'plain-table' },
      h('thead', {}, h('tr', {}, [words.question, words.answer, words.gold, ''].map((head) => h('th', {}, head)))),
      h('tbody', {}, got.questions.map((/** @type {Answered} */ one) => h('tr', {},
        h('td', {}, h('button', { type: 'button', class: 'linked', title: words.open, on: { click: () => open(one.question, one.topics, values) } }, one.question)),
        h('td', {}, one.answers.join(', ') || '–'), h('td', {}, one.gold.join(', ') || '–'),
        h('td', { class: one.right ? 'right' : 'wrong' }, one.right ? words.right : words.wrong)))))]);
  }

  async function compare() {
    if (!study) return;
    const got = await asked('benchmark/compare', { first: [study.name, first.value], second: [study.name, second.value] });
    if (!got) return;
    refill(differences, got, () => h('table', { class: 'plain-table' },
      h('thead', {}, h('tr', {}, ['', first.value, second.value, words.difference, words.interval, 'p'].map((head) => h('th', {}, head)))),
      h('tbody', {}, got.rows.map((/** @type {Difference} */ row) => h('tr', {}, h('th', { scope: 'row' }, row.name),
        [figure(row.first, 3), figure(row.second, 3), figure(row.second - row.first, 3), `${figure(row.low, 3)} – ${figure(row.high, 3)}`, figure(row.p, 4)].map((cell) => h('td', {}, cell)))))));
  }

  return { element };
}
