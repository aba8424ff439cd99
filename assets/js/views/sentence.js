// An answer as a sentence: the cited paths in words, each answer with its citations. The words are those of the
// graph's relations, so the sentence says what the paths say and nothing else.

/** @typedef {import('../core/types.js').AnswerFinal} AnswerFinal */
/** @typedef {import('../core/types.js').FoundPath} FoundPath */

/** One sentence: what stands before its answers, and these with the numbers of their paths. @typedef {{lead: string, answers: {name: string, cites: number[]}[]}} Sentence */

const MOST_SENTENCES = 3;

/** Relations whose words alone make no good predicate. @type {Record<string, string>} */
const PREDICATES = {
  'born in': 'was born in', 'born in year': 'was born in', 'died in year': 'died in', 'citizen of': 'was a citizen of', spouse: 'was married to',
  'child of': 'is a child of', sibling: 'is a sibling of', 'educated at': 'studied at', 'award received': 'received', 'position held': 'held the office of',
  'plays instrument': 'plays the', 'field of work': 'worked in', occupation: 'was by occupation', author: 'was written by', starring: 'stars',
  'shares border with': 'shares a border with', 'member of organization': 'is a member of', 'member of party': 'is a member of', 'member of band': 'is a member of',
  'part of war': 'is part of', 'part of series': 'is part of', 'part of album': 'is part of', 'based on': 'is based on', 'set in': 'is set in', 'named after': 'is named after',
  genre: 'is of the genre', sport: 'does the sport', 'deity of': 'is a deity of', 'symbol of': 'is a symbol of', counterpart: 'has the counterpart',
  'part of': 'is part of', 'instance of': 'is an instance of', 'consists of': 'consists of', 'crossed by river': 'is crossed by the', 'had player': 'had the player',
  'home to': 'is home to', 'music by': 'has music by', 'screenplay by': 'has a screenplay by', 'released music by': 'released music by', 'sacred text': 'has the sacred text',
  'sacred text of': 'is the sacred text of', 'adapted as': 'was adapted as', 'awarded to': 'was awarded to', 'starred in': 'starred in', 'used as currency in': 'is used as currency in',
  'was the scene of': 'was the scene of', 'receives river': 'receives the river', 'plays in league': 'plays in the league',
  'held by': 'has been held by', 'began in year': 'began in', 'ended in year': 'ended in', 'happened in year': 'happened in', 'notable work of': 'is a notable work of',
  'doctoral student': 'had the doctoral student', continent: 'lies in', 'highest point': 'has the highest point', industry: 'works in the industry', destination: 'went to',
};
const PRESENT_BY = /^(owned|made|played|measured|eaten|orbited|crossed|used) by$/; // still so today
const PLURAL = /^(members|works|species|series|politics|physics|news)$/; // words in -s that are no verbs
const VERB = /^(has|is|makes|eats|measures|orbits|owns|follows|houses|contains|includes|lives|flows|originates|appears|receives|released|took|gave|won|wrote|flew|died|[a-z]+ed)\b/;
const PERSONS = new Set(['spouse', 'child', 'child of', 'sibling', 'author', 'starring', 'band member', 'doctoral advisor', 'doctoral student', 'crew member', 'influenced']);
const THINGS_BY = /^(owned|hosted|launched|made|visited|measured|orbited|crossed) by$/;

/**
 * A relation as the predicate of a sentence: `composed by` is `was composed by`, `capital` is `has the capital`.
 * @param {string} relation
 * @returns {string}
 */
export function predicate(relation) {
  const words = relation.replaceAll('_', ' ');
  if (Object.hasOwn(PREDICATES, words)) return PREDICATES[words];
  if (words.endsWith(' in year')) return `was ${words.slice(0, -5)}`;
  if (words.endsWith(' by')) return `${PRESENT_BY.test(words) ? 'is' : 'was'} ${words}`;
  if (/^[a-z]+ed (in|at)$/.test(words) && words !== 'died in') return `is ${words}`;
  if (VERB.test(words) || isVerb(words)) return words;
  return words.endsWith(' of') ? `is the ${words}` : `has the ${words}`;
}

/**
 * Whether a relation begins with a verb in the third person, as those of visitors' graphs often do: `works at`, `knows`.
 * @type {(words: string) => boolean}
 */
const isVerb = (words) => /^[a-z]+[^s]s( (about|at|by|for|from|in|into|on|to|under|with)\b.*)?$/.test(words) && !PLURAL.test(words);

/** @type {(relation: string) => string} */
const pronoun = (relation) => (PERSONS.has(relation) || (relation.endsWith(' by') && !THINGS_BY.test(relation)) ? 'who' : 'which');

/**
 * What an answer says as sentences; null where it is not a bare list of the ends of its cited paths, for what a
 * language model has written is shown as it was written.
 * @param {AnswerFinal} final
 * @param {FoundPath[]} paths the grounded ones
 * @returns {Sentence[]|null}
 */
export function sentencesOf(final, paths) {
  if (final.refusal || !final.answers.length || !isBareList(final)) return null;
  /** @type {Map<string, Sentence>} */
  const found = new Map();
  for (const [place, name] of final.answers.entries()) {
    if (final.completed.includes(name)) continue; // read from the graph besides; said below the sentences
    const cites = final.citations[place] ?? [];
    const path = paths.find((one) => cites.includes(one.index) && one.path?.entities.at(-1) === name)?.path;
    if (!path || path.relations.some((relation) => relation.startsWith('~'))) return null;
    const lead = path.relations.map((relation, hop) => `${hop ? `, ${pronoun(path.relations[hop - 1])}` : ''} ${predicate(relation)}${hop < path.relations.length - 1 ? ` ${path.entities[hop + 1]}` : ''}`).join('');
    const key = `${path.entities[0]}${lead}`;
    const sentence = found.get(key) ?? { lead: key, answers: [] };
    sentence.answers.push({ name, cites });
    found.set(key, sentence);
  }
  return !found.size || found.size > MOST_SENTENCES ? null : [...found.values()];
}

/** @type {(final: AnswerFinal) => boolean} */
function isBareList({ text, answers }) {
  let rest = text.replace(/\[\d+(?:,\s*\d+)*\]/g, '');
  for (const name of [...answers].sort((a, b) => b.length - a.length)) rest = rest.replace(name, '');
  return !/[\p{L}\p{N}]/u.test(rest.replace(/\band \d+ more\b|\band\b/g, ''));
}
