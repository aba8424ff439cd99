// Thoughts as a tree or graph: an action and what came of it are told with the thought that led to them.

/**
 * Nodes in reading order, each `{id, level, parents, above, text, then, fate, reason, score, entities}`.
 * `parents`: ids of nodes; `above`: the one it hangs below; `then`: its actions and observations.
 * @param {Map<number, object>} thoughts by id, in the order in which they were first told
 */
export function thoughtTree(thoughts) {
  const home = new Map(); // id of an event -> id of the node that tells it
  const nodes = new Map();
  for (const event of thoughts.values()) {
    const parents = [...new Set(event.parents.map((id) => home.get(id)).filter((id) => id !== undefined))];
    if (event.kind !== 'thought' && parents.length === 1) {
      const node = nodes.get(parents[0]);
      home.set(event.id, node.id);
      node.then.push({ kind: event.kind, text: event.text });
      node.entities.push(...event.entities);
      node.ids.push(event.id);
      continue;
    }
    home.set(event.id, event.id);
    nodes.set(event.id, { id: event.id, ids: [event.id], parents, above: parents.at(-1) ?? null, text: event.text, then: [],
      fate: event.fate, reason: event.reason, score: event.score, entities: [...event.entities] });
  }
  return inOrder(nodes);
}

/** Every node right below what it hangs on, with its level. */
function inOrder(nodes) {
  const below = new Map();
  for (const node of nodes.values()) below.set(node.above, [...(below.get(node.above) ?? []), node]);
  const order = [];
  const stack = (below.get(null) ?? []).map((node) => [node, 0]).reverse();
  while (stack.length) {
    const [node, level] = stack.pop();
    order.push({ ...node, level });
    stack.push(...(below.get(node.id) ?? []).map((child) => [child, level + 1]).reverse());
  }
  return order;
}
