// The beams of one branch as a tree, laid out: forced runs are one node, lines that died are one leaf.

const ROW = 27;
const GAP = 26;
const PAD = 9;
const LONGEST = 40; // characters of a node; the detail line has them all
const NAMED = 3; // pruned tokens that one leaf names

/**
 * Nodes in reading order, each `{id, ids, fate, text, label, score, steps, parent, row, x, width, level}`.
 * `fate`: kept, finished or pruned; `ids`: the beams that became this node; `steps`: `[token, log-probability]`.
 * @param {object} branch a branch of the state
 * @param {(text: string) => number} measure a label's width in pixels
 * @param {boolean} pruned whether dropped beams are shown
 */
export function treeOf(branch, measure, pruned) {
  const children = childrenOf(branch);
  const alive = survivors(branch);
  const nodes = [];
  let row = -1;

  function place(beams, parent, ownRow) {
    const node = describe(branch, beams, alive);
    node.parent = parent;
    node.level = parent ? parent.level + 1 : 1;
    node.x = parent ? parent.x + parent.width + GAP : 0;
    node.width = Math.ceil(measure(node.label)) + 2 * PAD;
    node.row = ownRow ?? (parent && parent.last === null ? parent.row : (row += 1));
    if (parent) parent.last = node;
    node.last = null;
    nodes.push(node);
    return node;
  }

  function grow(beam, parent, ownRow) {
    const run = [beam];
    let next = splitChildren(run.at(-1), children, alive);
    while (next.on.length === 1 && !(pruned && next.off.length)) {
      run.push(next.on[0]);
      next = splitChildren(run.at(-1), children, alive);
    }
    spread(next, place(run, parent, ownRow));
  }

  /** Children below one another; what was dropped keeps the row next to the one it left. */
  function spread({ on, off }, node) {
    const first = node ? node.row : (row += 1);
    const dropped = pruned && off.length ? (row += 1) : null;
    on.forEach((child, i) => grow(child, node, !node && i === 0 ? first : undefined));
    if (dropped !== null) place(off, node, dropped);
  }

  spread(splitChildren(branch.beams.get(0), children, alive), null);
  return { nodes, width: Math.max(0, ...nodes.map((node) => node.x + node.width)), height: (row + 1) * ROW };
}

/** Middle of a node's row. */
export function middle(node) { return node.row * ROW + ROW / 2; }

function childrenOf(branch) {
  const children = new Map();
  for (const beam of branch.beams.values()) {
    if (beam.id === 0) continue;
    if (!children.has(beam.parent)) children.set(beam.parent, []);
    children.get(beam.parent).push(beam);
  }
  return children;
}

/** Ids of the beams that a live or finished beam, or the newest token, rests on. */
function survivors(branch) {
  const alive = new Set([0]);
  const ends = [...(branch.steps.at(-1)?.kept ?? []), ...branch.steps.flatMap((step) => step.finished)];
  for (const end of ends) for (let id = end; id && !alive.has(id); id = branch.beams.get(id).parent) alive.add(id);
  return alive;
}

/** The children that lead on, and those that were dropped there or whose whole line died; best first. */
function splitChildren(beam, children, alive) {
  const all = [...(children.get(beam.id) ?? [])].sort((a, b) => b.score - a.score);
  return { on: all.filter((one) => alive.has(one.id)), off: all.filter((one) => !alive.has(one.id)) };
}

/** A run of beams, each the child of the one before, or the dropped children of one beam. */
function describe(branch, beams, alive) {
  const dead = !alive.has(beams[0].id);
  const end = beams.at(-1);
  const tokens = beams.map((beam) => beam.text.trim());
  const text = dead ? tokens.slice(0, NAMED).join(' · ') + (tokens.length > NAMED ? ` +${tokens.length - NAMED}` : '')
    : beams.map((beam) => beam.text).join('').trim();
  const fate = dead ? 'pruned' : end.fate === 'f' ? 'finished' : 'kept';
  return { id: dead ? beams[0].id : end.id, ids: beams.map((beam) => beam.id), fate, text, label: shorten(text), dead,
    score: dead ? beams[0].score : end.score, steps: beams.map((beam) => [beam.text.trim(), beam.logProb, beam.score]) };
}

function shorten(text) {
  const plain = text.replace(/\s*<\/PATH>$/, '').replaceAll('->', '→') || '→';
  return plain.length > LONGEST ? `… ${plain.slice(2 - LONGEST).replace(/^\S+ /, '')}` : plain;
}
