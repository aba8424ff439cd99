// What stands in the page's fields right now, and the share link made from it.

/** @typedef {import('./types.js').FieldValue} FieldValue */
/** @typedef {Record<string, FieldValue>} Values values of the fields by name */

/** Gradio's event handlers put the fields' values here, see kgdemo/ui/page.py. */
const page = /** @type {{kgFields?: FieldValue[]}} */ (globalThis);

export class Inputs {
  /**
   * @param {string[]} names of the fields, in the order in which gradio hands them over
   * @param {Values} standard the values at first
   */
  constructor(names, standard) {
    this.standard = standard;
    /** @type {Values} */
    this.values = { ...standard };
    /** @type {(() => void)[]} */
    this.listeners = [];
    const take = () => {
      const given = page.kgFields ?? [];
      this.values = Object.fromEntries(names.map((name, i) => [name, given[i]]));
      this.changed();
    };
    window.addEventListener('kg-fields', take);
    if (page.kgFields) take();
  }

  /**
   * Tell everybody who listens that the inputs are other ones.
   * @returns {void}
   */
  changed() {
    for (const listener of this.listeners) listener();
  }

  /**
   * The page's address with these inputs.
   * @param {string[]} [entities] topic entities that the visitor has chosen
   * @param {Values} [values]
   * @returns {string}
   */
  link(entities = [], values = this.values) {
    return `${location.origin}${location.pathname}?${linkQuery(values, this.standard, entities)}`;
  }

  /**
   * Whether the page's address asks a question by itself, see `asksByItself`.
   * @param {string[]} graphs names of the embedded graphs
   * @returns {boolean}
   */
  asks(graphs) {
    return asksByItself(new URLSearchParams(location.search), this.standard, graphs);
  }
}

/**
 * The query of a share link; a value that is the standard one is left out.
 * @param {Values} values
 * @param {Values} standard the initial values of all fields, in the order in which the link names them
 * @param {string[]} entities
 * @returns {string}
 */
export function linkQuery(values, standard, entities) {
  const query = new URLSearchParams();
  for (const name of Object.keys(standard)) {
    const value = values[name];
    if (value === undefined || value === null || value === '' || (name !== 'question' && value === standard[name])) continue;
    query.set(name, String(value));
  }
  for (const entity of entities) query.append('entity', entity);
  return query.toString();
}

/**
 * Whether an address may ask its question without a click. Anyone can send a link, so it may only do so on an
 * embedded graph and with the server's own model.
 * @param {URLSearchParams} query
 * @param {Values} standard
 * @param {string[]} graphs names of the embedded graphs
 * @returns {boolean}
 */
export function asksByItself(query, standard, graphs) {
  const graph = query.get('graph') ?? standard.graph;
  return query.has('question') && graphs.includes(String(graph)) && (query.get('model') ?? standard.model) === standard.model;
}
