// What stands in the page's fields right now, as a share link and as calls from a program.

const SENT = ['question', 'graph', 'method', 'beams', 'hops', 'compare', 'ranking', 'options', 'model']; // in the order people read them

/** The endpoints: what each is given, first what it is about, and what a program would print of its result. */
export const CALLS = {
  ask: { about: 'question', takes: ['graph', 'method', 'beams', 'hops', 'options'], shows: 'print(result["answer"])\nfor path in result["paths"]:\n    print(path["text"], path["verified"])' },
  paths: { about: 'question', takes: ['graph', 'beams', 'hops'], shows: 'for path in result:\n    print(path["text"], path["score"])' },
  verify_path: { about: 'path', takes: ['graph'], shows: 'print(result["faithful"])\nfor hop in result["hops"]:\n    print(hop["head"], hop["relation"], hop["tail"], hop["verdict"])' },
  link: { about: 'question', takes: ['graph'], shows: 'print(result["chosen"])' },
};

export class Inputs {
  /** @param {string[]} names of the fields, in the order in which gradio hands them over */
  constructor(names, standard) {
    this.names = names;
    this.standard = standard;
    this.values = { ...standard };
    this.changed = () => {};
    const take = () => {
      this.values = Object.fromEntries(names.map((name, i) => [name, window.kgFields[i]]));
      this.changed();
    };
    window.addEventListener('kg-fields', take);
    if (window.kgFields) take();
  }

  /** The page's address with these inputs; what stands at its standard value is left out. */
  link(entities = [], values = this.values) {
    const query = new URLSearchParams();
    for (const name of SENT) {
      const value = values[name];
      if (value === undefined || value === null || value === '' || (name !== 'question' && value === this.standard[name])) continue;
      query.set(name, String(value));
    }
    for (const entity of entities) query.append('entity', entity);
    return `${location.origin}${location.pathname}?${query}`;
  }

  /** Whether the address asks something by itself: on an embedded graph, with the server's own model, for links come from anyone. */
  asks(graphs) {
    const query = new URLSearchParams(location.search);
    return query.has('question') && graphs.includes(query.get('graph') ?? this.standard.graph) && (query.get('model') ?? this.standard.model) === this.standard.model;
  }

  /**
   * A program for gradio's client that asks the same.
   * @param {string} endpoint a name of CALLS
   * @param {string} path a path to verify
   */
  python(endpoint, path) {
    const { about, takes, shows } = CALLS[endpoint];
    const given = takes.filter((name) => name in this.values && this.values[name] !== '' && this.values[name] !== null);
    const call = [literal(about === 'path' ? path : this.values.question ?? ''), ...given.map((name) => `${name}=${literal(this.values[name])}`), `api_name="/${endpoint}"`];
    return `from gradio_client import Client\n\nclient = Client(${literal(root())})\nresult = client.predict(\n${call.map((one) => `    ${one},\n`).join('')})\n${shows}\n`;
  }
}

/** Where the page is served, without a slash at its end. */
export function root() { return new URL('.', document.baseURI).href.replace(/\/$/, ''); }

/** A value as Python writes it: a JSON string is a Python string too, once it is plain ASCII. */
function literal(value) {
  if (typeof value !== 'string') return String(value);
  return JSON.stringify(value).replace(/[\u007f-\u{10ffff}]/gu, (one) => {
    const code = one.codePointAt(0).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
  });
}
