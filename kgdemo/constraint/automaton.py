"""The KG automaton: the KG-Trie of GCR section 4.2 without enumerating it.

What may follow entity *e* depends on *e* and the hops left, so each entity has one sub-trie over
`` -> relation -> entity`` whose leaves lead to the next entity's sub-trie or to ``</PATH>``. A sub-trie is
never built as nodes either: its edges, sorted by the rank of their tokens, hold every node as a range.

Labels may be token prefixes of one another, hold arrows or end marks, or be spelled alike. The
automaton is therefore non-deterministic inside: a state is a set of positions (subset construction),
nearly always of one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgdemo.constraint.base import Successors
from kgdemo.constraint.label_tokens import TokenTable
from kgdemo.constraint.sub_tries import (
    AutomatonState,
    Branchings,
    PathNode,
    Position,
    Segment,
    SubTrie,
    branching,
    starts_of_runs,
)
from kgdemo.constraint.token_graph import TokenGraph


@dataclass(frozen=True, slots=True)
class _Fan:
    """Tokens that may follow one position, and the position behind each."""

    tokens: NDArray[np.integer]
    take: Callable[[int], Position]
    in_label: bool = False


class KGAutomaton:
    """All walks of one to ``hops`` hops from the topic entities, as a ``Constraint``.

    Args:
        graph: the tokenised graph.
        topics: topic entity ids; those without edges are left out.
        hops: the longest path (L).

    Sub-tries are kept in ``graph.sub_tries``, so the questions put to a graph share them; each question asks
    there once for an entity.
    """

    def __init__(self, graph: TokenGraph, topics: Sequence[int], hops: int) -> None:
        self.graph = graph
        self.hops = hops
        with_edges = {t for t in topics if graph.kg.degree(t, graph.directed)}
        self.topics = np.array(sorted(with_edges, key=lambda t: graph.entity_rank[t]), dtype=np.int32)
        self._topic_nodes: Branchings = {}
        marks = {True: graph.label_tokens.end, False: graph.label_tokens.arrow}
        self._marks = {ends: np.array(ids, np.int64).reshape(-1, 1) for ends, ids in marks.items()}
        self._met: dict[int, SubTrie] = {}

    def start(self) -> AutomatonState:
        """See ``base.Constraint``."""
        return AutomatonState((Position(Segment.TOPIC, None, 0, len(self.topics)),) if len(self.topics) else ())

    def successors(self, state: AutomatonState) -> Successors[AutomatonState]:
        """See ``base.Constraint``."""
        fans = [fan for position in state.positions for fan in self._fans(position) if len(fan.tokens)]
        if len(fans) == 1:
            fan = fans[0]
            inside = state.positions[0].segment in (Segment.TOPIC, Segment.ENTITY) and fan.in_label
            return Successors(fan.tokens, lambda i: AutomatonState((fan.take(i),)), inside)
        return _merge(fans)

    def paths_left(self, state: AutomatonState) -> int:
        """See ``base.Constraint``."""
        return sum(self._left(position) for position in state.positions)

    def sub_trie(self, entity: int) -> SubTrie:
        """The sorted steps of an entity, built when a beam first arrives."""
        if entity not in self._met:
            self._met[entity] = self.graph.sub_tries.get(entity, lambda: self._build_sub_trie(entity))
        return self._met[entity]

    def _build_sub_trie(self, entity: int) -> SubTrie:
        steps, targets = self.graph.sorted_steps(entity)
        bounds = starts_of_runs(steps)
        return SubTrie(steps[bounds[:-1]], bounds, targets)

    # positions ---------------------------------------------------------------------------------

    def _fans(self, position: Position) -> list[_Fan]:
        """The tokens that may follow a position: within its label, and where a label is complete, past it."""
        graph, segment = self.graph, position.segment
        if segment is Segment.DONE:
            return []
        if segment is Segment.TOPIC:
            ended, fan = self._within(position, graph.entities, self.topics, self._topic_nodes)
            return [fan, *(self._onward(PathNode(entity)) for entity in ended.tolist())]
        path_node = position.so_far
        if segment is Segment.STEP:
            trie = self.sub_trie(path_node.entity)
            ended, fan = self._within(position, graph.steps, trie.steps, trie.nodes)
            first = position.low
            return [fan, *(self._mark(Segment.ARROW_BEFORE_ENTITY, path_node, first + i, 0) for i in range(len(ended)))]
        if segment is not Segment.ENTITY:
            return [self._mark(segment, path_node, position.low, position.depth)]
        trie = self.sub_trie(path_node.entity)
        ended, fan = self._within(position, graph.entities, trie.targets, trie.nodes)
        fans = [fan]
        if len(ended):
            step = int(trie.steps[trie.bounds.searchsorted(position.low, side="right") - 1])
            for entity in ended.tolist():
                longer = PathNode(entity, step, path_node, path_node.hops + 1)
                fans.append(self._mark(Segment.END, longer, 0, 0))
                if longer.hops < self.hops and graph.kg.degree(entity, graph.directed):
                    fans.append(self._onward(longer))
        return fans

    def _within(
        self, position: Position, table: TokenTable, rows: NDArray[np.int32], nodes: Branchings
    ) -> tuple[NDArray[np.int32], _Fan]:
        """Labels complete at this depth, and the fan of those that go on."""
        segment, path_node, low, depth = position.segment, position.path_node, position.low, position.depth
        key = (segment, low, position.high, depth)
        node = nodes.get(key)
        if node is None:
            node = branching(table, rows[low : position.high], low, depth)
            if position.high - low > 1:  # one label is as soon read as looked up
                nodes[key] = node
        edges = node.edges

        def take(i: int) -> Position:
            return Position(segment, path_node, int(edges[i]), int(edges[i + 1]), depth + 1)

        return rows[low : low + node.complete], _Fan(node.tokens, take, in_label=True)

    def _onward(self, path_node: PathNode) -> _Fan:
        """The arrow into the sub-trie of the trail's last entity."""
        return self._mark(Segment.ARROW_BEFORE_STEP, path_node, 0, 0)

    def _mark(self, segment: Segment, path_node: PathNode, low: int, depth: int) -> _Fan:
        """One forced token of an arrow or end mark."""
        ids = self._marks[segment is Segment.END]
        if depth + 1 == len(ids):
            return _Fan(ids[depth], lambda _: self._behind(segment, path_node, low))
        return _Fan(ids[depth], lambda _: Position(segment, path_node, low, 0, depth + 1))

    def _behind(self, segment: Segment, path_node: PathNode, low: int) -> Position:
        """The position after a complete mark."""
        if segment is Segment.END:
            return Position(Segment.DONE, path_node)
        trie = self.sub_trie(path_node.entity)
        if segment is Segment.ARROW_BEFORE_STEP:
            return Position(Segment.STEP, path_node, 0, len(trie.steps))
        return Position(Segment.ENTITY, path_node, int(trie.bounds[low]), int(trie.bounds[low + 1]))

    # counting ----------------------------------------------------------------------------------

    def _left(self, position: Position) -> int:
        segment = position.segment
        if segment is Segment.TOPIC:
            return int(self.graph.walks(self.hops)[self.topics[position.low : position.high]].sum())
        if segment in (Segment.END, Segment.DONE):
            return 1
        path_node = position.so_far
        hops_left = self.hops - path_node.hops
        if segment is Segment.ARROW_BEFORE_STEP:
            return int(self.graph.walks(hops_left)[path_node.entity])
        trie = self.sub_trie(path_node.entity)
        low, high = position.low, position.high
        if segment is Segment.STEP:
            low, high = int(trie.bounds[low]), int(trie.bounds[high])
        elif segment is Segment.ARROW_BEFORE_ENTITY:
            low, high = int(trie.bounds[low]), int(trie.bounds[low + 1])
        return int((self.graph.walks(hops_left - 1)[trie.targets[low:high]] + 1).sum())


def _merge(fans: Sequence[_Fan]) -> Successors[AutomatonState]:
    """Union of several fans; a token in more than one of them leads to a set of positions."""
    if not fans:
        return Successors(np.empty(0, dtype=np.int64), lambda _: AutomatonState(()))
    tokens, groups = np.unique(np.concatenate([fan.tokens for fan in fans]), return_inverse=True)
    sources = [(fan, i) for fan in fans for i in range(len(fan.tokens))]

    def take(i: int) -> AutomatonState:
        return AutomatonState(tuple(fan.take(j) for g in np.flatnonzero(groups == i) for fan, j in [sources[g]]))

    return Successors(tokens, take)
