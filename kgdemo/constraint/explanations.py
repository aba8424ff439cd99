"""Why is this token forbidden? The graph's answer in words, from the place the automaton is at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.label_tokens import TokenTable
from kgdemo.constraint.sub_tries import AutomatonState, Position, Segment


def reason(automaton: KGAutomaton, state: AutomatonState, token: int, token_text: str) -> str:
    """One short sentence on why ``token`` may not follow ``state``."""
    position = state.positions[0]
    kg = automaton.graph.kg
    segment, path_node = position.segment, position.path_node
    if segment is Segment.TOPIC:
        names = [kg.entities[int(e)] for e in automaton.topics[:3]]
        return f"a path starts at {' or '.join(names)}"
    assert path_node is not None
    here = kg.entities[path_node.entity]
    done = _complete_label(automaton, position)
    if done:
        return f"after “{done}” " + (
            "only an arrow may follow" if segment is Segment.STEP else "the path ends or goes on with an arrow"
        )
    written = _written(automaton, position) + token_text
    if segment is Segment.STEP:
        return f"{here} has no relation “{written.strip()}…”"
    if segment is Segment.ENTITY:
        return _no_edge(automaton, position, token, written)
    if segment is Segment.END:
        return "the path ends here"
    return f"after “{_last_label(automaton, position)}” only an arrow may follow"


def _no_edge(automaton: KGAutomaton, position: Position, token: int, written: str) -> str:
    """Inside an entity label: say which edge is missing, and where the graph has that entity instead."""
    graph = automaton.graph
    kg = graph.kg
    path_node = position.path_node
    assert path_node is not None
    trie = automaton.sub_trie(path_node.entity)
    here, relation = kg.entities[path_node.entity], _last_label(automaton, position)
    if position.low < position.high:
        prefix = graph.entities.row(int(trie.targets[position.low]))[: position.depth]
        elsewhere = first_spelled(graph.entities, trie.targets, np.append(prefix, token))
        if elsewhere is not None:
            step = int(trie.steps[np.searchsorted(trie.bounds, elsewhere, side="right") - 1])
            name = kg.entities[int(trie.targets[elsewhere])]
            return f"the graph has {name} as “{kg.step_labels[step]}”, not “{relation}”"
    return f"no edge {here} → {relation} → {written.strip()}…"


def first_spelled(table: TokenTable, targets: NDArray[np.int32], prefix: NDArray[np.int32]) -> int | None:
    """Row of the first target whose label starts with these tokens; all targets of a hub are compared at once."""
    begins = table.offsets[targets]
    rows = np.flatnonzero(table.offsets[targets + 1] - begins >= len(prefix))
    for depth, token in enumerate(prefix):
        rows = rows[table.ids[begins[rows] + depth] == token]
    return int(rows[0]) if len(rows) else None


def _complete_label(automaton: KGAutomaton, position: Position) -> str:
    """The label that is complete at this position and that no sibling continues; else empty."""
    graph, path_node = automaton.graph, position.path_node
    if path_node is None or position.high - position.low != 1 or position.segment not in (Segment.STEP, Segment.ENTITY):
        return ""
    trie = automaton.sub_trie(path_node.entity)
    if position.segment is Segment.STEP:
        step = int(trie.steps[position.low])
        return graph.kg.step_labels[step] if len(graph.steps.row(step)) == position.depth else ""
    entity = int(trie.targets[position.low])
    return graph.kg.entities[entity] if len(graph.entities.row(entity)) == position.depth else ""


def _written(automaton: KGAutomaton, position: Position) -> str:
    """The part of the current label that has been written."""
    graph, depth = automaton.graph, position.depth
    if not depth or position.low >= position.high or position.path_node is None:
        return ""
    trie = automaton.sub_trie(position.path_node.entity)
    if position.segment is Segment.STEP:
        ids = graph.steps.row(int(trie.steps[position.low]))
    elif position.segment is Segment.ENTITY:
        ids = graph.entities.row(int(trie.targets[position.low]))
    else:
        return ""
    result: str = graph.label_tokens.tokenizer.decode(ids[:depth].tolist())
    return result


def _last_label(automaton: KGAutomaton, position: Position) -> str:
    """The label before the position: a relation inside an entity, else the last entity."""
    kg, path_node = automaton.graph.kg, position.path_node
    assert path_node is not None
    if position.segment is Segment.ENTITY and position.low < position.high:
        trie = automaton.sub_trie(path_node.entity)
        step = trie.steps[np.searchsorted(trie.bounds, position.low, side="right") - 1]
        return kg.step_labels[int(step)]
    if position.segment is Segment.ARROW_BEFORE_ENTITY:
        return kg.step_labels[int(automaton.sub_trie(path_node.entity).steps[position.low])]
    return kg.entities[path_node.entity]
