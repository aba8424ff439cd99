// Three lessons of ten minutes on recorded runs: what to look at, something to do, an exercise with its answer; notes for
// the teacher; and all of it as a sheet to print.

import { h, say } from '../core/dom.js';
import { makePanel } from './tour.js';

/** @typedef {import('../core/types.js').RunEvent} RunEvent */
/** @typedef {import('../core/types.js').PageText['lessons']} Words */
/** @typedef {Words['all'][number]} Lesson */

/** A step's place: the recorded run, where on the page it looks, and the record up to which the run is shown (null: all of it). */
/** @typedef {{run: string, at: string, until: ((event: RunEvent) => boolean)|null}} Place */

/** @type {(event: RunEvent) => boolean} */
const firstPicture = (event) => event.event === 'Picture';

/**
 * The places of each lesson's steps, by its name.
 * @type {Record<string, Place[]>}
 */
export const PLACES = {
  token: [
    { run: '1-flute', at: '.card.graph', until: firstPicture },
    { run: '1-flute', at: '.card.allowed', until: null },
    { run: '1-flute', at: '.rail', until: (event) => event.event === 'DecodeStep' && event.constrained && event.choices.length > 1 },
    { run: '1-flute', at: '.card.grounded', until: null },
  ],
  invent: [
    { run: '1-flute', at: '.card.invented', until: null },
    { run: '1-flute', at: '.card.allowed', until: null },
    { run: '3-ambiguous', at: '.card.invented', until: null },
    { run: '5-fails-open', at: '.card.grounded', until: null },
  ],
  wrong: [
    { run: '1-incomplete', at: '.card.grounded', until: null },
    { run: '2-wrong-entity', at: '.linking', until: null },
    { run: '3-ambiguous', at: '.card.grounded', until: null },
    { run: '4-irrelevant', at: '.card.answer', until: null },
  ],
};

/**
 * @param {import('../core/types.js').PageText} text
 * @param {import('../core/player.js').Player} player
 * @param {(run: string) => Promise<void>} replay puts a recorded run on the page
 * @param {HTMLElement} board
 * @returns {{element: HTMLElement, start: HTMLElement, panel: HTMLElement, leave: () => void}}
 */
export function makeLessons(text, player, replay, board) {
  const words = text.lessons;
  const { panel, show, leave, open } = makePanel(player, board, words.title, 'lesson');
  let moving = false; // between two steps another run may be put on the page, which does not end the lesson

  /** @type {(lesson: Lesson, number: number) => Promise<void>} */
  async function go(lesson, number) {
    const place = PLACES[lesson.name][number];
    const step = lesson.steps[number];
    const last = number === lesson.steps.length - 1;
    if (player.run !== place.run || player.origin !== 'recorded') {
      moving = true;
      await replay(place.run).finally(() => { moving = false; });
    }
    show({ ...place, said: [h('p', { class: 'count' }, say(words.count, { lesson: lesson.title, i: number + 1, n: lesson.steps.length })),
      h('h2', { tabindex: -1 }, step.title), h('p', {}, step.says), h('p', { class: 'task' }, step.do),
      h('p', {}, h('b', {}, words.exercise), ': ', step.exercise), h('details', { class: 'solution' }, h('summary', {}, words.solution), h('p', {}, step.solution)),
      h('div', { class: 'softs' },
        number ? h('button', { type: 'button', class: 'soft', on: { click: () => go(lesson, number - 1) } }, text.tour.back) : '',
        h('button', { type: 'button', class: 'primary', on: { click: () => (last ? leave() : go(lesson, number + 1)) } }, last ? words.end : text.tour.next),
        h('button', { type: 'button', class: 'soft', on: { click: leave } }, text.tour.leave))] });
  }

  const cards = words.all.map((lesson) => {
    const begin = h('button', { type: 'button', class: 'primary', on: { click: () => { open(begin); go(lesson, 0); } } }, say(words.begin, { title: lesson.title }));
    return h('li', {}, h('p', {}, lesson.aim), begin,
      h('details', { class: 'teacher' }, h('summary', {}, words.teacher), h('ul', {}, lesson.teacher.map((note) => h('li', {}, note)))));
  });
  const print = h('button', { type: 'button', class: 'soft', on: { click: () => onPaper(words) } }, words.print);
  const element = h('details', { class: 'card fold lessons' }, h('summary', {}, h('h2', {}, words.title)), h('p', { class: 'note' }, words.note),
    h('ul', { class: 'lesson-cards' }, cards), print);
  const start = h('button', { type: 'button', class: 'example learn', on: { click: () => {
    element.open = true;
    element.scrollIntoView({ block: 'start' });
    /** @type {HTMLElement|null} */ (element.querySelector('summary'))?.focus({ preventScroll: true });
  } } }, h('span', { 'aria-hidden': 'true' }, '▤ '), words.start);
  return { element, start, panel, leave: () => { if (!moving) leave(); } };
}

const PAPER = `@page { margin: 16mm 18mm; } body { font: 11.5pt/1.4 Georgia, serif; margin: 0; } article, section { break-after: page; } h1 { font-size: 18pt; margin: 0 0 4pt; }
  h2 { font-size: 12.5pt; margin: 0; break-after: avoid; } li { break-inside: avoid; margin-bottom: 8pt; } p { margin: 3pt 0; } .room { height: 62pt; border-bottom: 1px solid #999; }`;

/**
 * Print the lessons: in a frame of their own, so that nothing else of the page is on the paper. Each is a sheet with
 * room to write for the class, and one with answers and notes for the teacher, so that the first can be handed out.
 * @param {Words} words
 */
function onPaper(words) {
  // of no size, but there: a frame that is not displayed is printed empty by some browsers
  const frame = h('iframe', { class: 'paper', title: words.title, tabindex: -1, style: 'position: fixed; width: 0; height: 0; border: 0' });
  document.body.append(frame);
  const [paper, sheet] = [frame.contentWindow, frame.contentDocument];
  if (!paper || !sheet) return;
  sheet.title = words.title;
  sheet.head.append(h('style', {}, PAPER));
  sheet.body.append(...words.all.flatMap((lesson) => [forTheClass(lesson, words), forTheTeacher(lesson, words)]));
  paper.addEventListener('afterprint', () => frame.remove());
  paper.print();
}

/** @type {(lesson: Lesson, words: Words) => HTMLElement} */
function forTheClass(lesson, words) {
  return h('article', {}, h('h1', {}, lesson.title), h('p', {}, lesson.aim), h('ol', {}, lesson.steps.map((step) => h('li', {},
    h('h2', {}, step.title), h('p', {}, step.says), h('p', {}, h('i', {}, step.do)), h('p', {}, h('b', {}, words.exercise), ': ', step.exercise), h('p', { class: 'room' })))));
}

/** @type {(lesson: Lesson, words: Words) => HTMLElement} */
function forTheTeacher(lesson, words) {
  return h('section', {}, h('h1', {}, say(words.sheet, { title: lesson.title })), h('h2', {}, words.teacher), h('ul', {}, lesson.teacher.map((note) => h('li', {}, note))),
    h('h2', {}, words.solutions), h('ol', {}, lesson.steps.map((step) => h('li', {}, h('p', {}, h('i', {}, step.exercise)), h('p', {}, step.solution)))));
}
