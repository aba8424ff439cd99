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
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from kgdemo.constraint.base import PathIds, Successors
from kgdemo.constraint.tables import TokenTable
from kgdemo.constraint.tokenised import TokenisedGraph


class Segment(IntEnum):
    """The part of a path that a position is in."""

    TOPIC = 0  # inside the label of e0
    ARROW_BEFORE_STEP = 1
    STEP = 2
    ARROW_BEFORE_ENTITY = 3
    ENTITY = 4
    END = 5  # inside the end mark
    DONE = 6


@dataclass(frozen=True, slots=True)
class Trail:
    """The hops taken so far, newest first."""

    entity: int
    step: int = -1
    before: Trail | None = None
    hops: int = 0

    def path(self) -> PathIds:
        """The trail as a path, oldest first."""
        entities, steps = [self.entity], []
        node = self
        while node.before is not None:
            steps.append(node.step)
            node = node.before
            entities.append(node.entity)
        return PathIds(tuple(reversed(entities)), tuple(reversed(steps)))


@dataclass(frozen=True, slots=True)
class Branching:
    """What follows one node inside a sorted run of labels; kept, since beams and questions come by again.

    Attributes:
        complete: how many labels end here; they sort before the longer ones.
        tokens: the tokens with which the others go on, sorted, int64 as torch indexes, ``(n,)``.
        edges: rows ``edges[i]:edges[i + 1]`` go on with ``tokens[i]``, ``(n + 1,)``.
    """

    complete: int
    tokens: NDArray[np.int64]
    edges: NDArray[np.int64]


Branchings = dict[tuple[Segment, int, int, int], Branching]  # by segment, low, high, depth


@dataclass(frozen=True, slots=True)
class SubTrie:
    """The steps from one entity. Rows are sorted by token rank: first by step, then by target.

    ``targets[bounds[i]:bounds[i + 1]]`` are the entities that ``steps[i]`` leads to; ``nodes`` are those that
    beams have visited.
    """

    steps: NDArray[np.int32]  # (distinct steps,)
    bounds: NDArray[np.int64]  # (distinct steps + 1,)
    targets: NDArray[np.int32]  # (edges,)
    nodes: Branchings = field(default_factory=dict, compare=False)

    @property
    def nbytes(self) -> int:
        """Size of its arrays, and about what their objects take."""
        return self.steps.nbytes + self.bounds.nbytes + self.targets.nbytes + 400


@dataclass(frozen=True, slots=True)
class Position:
    """A place inside a path: ``depth`` tokens into a segment, with rows ``low..high`` still possible."""

    segment: Segment
    trail: Trail | None
    low: int = 0
    high: int = 0
    depth: int = 0


@dataclass(frozen=True, slots=True)
class AutomatonState:
    """A set of positions reached by one token sequence."""

    positions: tuple[Position, ...]

    @property
    def complete(self) -> bool:
        """See ``base.State``."""
        return any(p.segment is Segment.DONE for p in self.positions)

    @property
    def paths(self) -> Sequence[PathIds]:
        """See ``base.State``."""
        return [p.trail.path() for p in self.positions if p.segment is Segment.DONE and p.trail]

    @property
    def alive(self) -> bool:
        """See ``base.State``."""
        return any(p.segment is not Segment.DONE for p in self.positions)


@dataclass(frozen=True, slots=True)
class _Fan:
    """Tokens that may follow one position, and the position behind each."""

    tokens: NDArray[np.int64]
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

    def __init__(self, graph: TokenisedGraph, topics: Sequence[int], hops: int) -> None:
        self.graph = graph
        self.hops = hops
        with_edges = {t for t in topics if graph.kg.degree(t, graph.directed)}
        self.topics = np.array(sorted(with_edges, key=lambda t: graph.entity_rank[t]), dtype=np.int32)
        self._topic_nodes: Branchings = {}
        marks = {True: graph.pieces.end, False: graph.pieces.arrow}
        self._marks = {ends: np.array(ids, np.int64).reshape(-1, 1) for ends, ids in marks.items()}
        self._met: dict[int, SubTrie] = {}

    def start(self) -> AutomatonState:
        """See ``base.Constraint``."""
        return AutomatonState((Position(Segment.TOPIC, None, 0, len(self.topics)),) if len(self.topics) else ())

    def successors(self, state: AutomatonState) -> Successors:
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
        firsts = np.flatnonzero(np.diff(steps, prepend=-1))
        return SubTrie(steps[firsts], np.append(firsts, len(steps)), targets)

    # positions ---------------------------------------------------------------------------------

    def _fans(self, position: Position) -> list[_Fan]:
        """The tokens that may follow a position: within its label, and where a label is complete, past it."""
        graph, segment, trail = self.graph, position.segment, position.trail
        if segment is Segment.TOPIC:
            ended, fan = self._within(position, graph.entities, self.topics, self._topic_nodes)
            return [fan, *(self._onward(Trail(int(e))) for e in ended)]
        if segment is Segment.STEP:
            trie = self.sub_trie(trail.entity)  # type: ignore[union-attr]
            ended, fan = self._within(position, graph.steps, trie.steps, trie.nodes)
            first = position.low
            return [fan, *(self._mark(Segment.ARROW_BEFORE_ENTITY, trail, first + i, 0) for i in range(len(ended)))]
        if segment is Segment.ENTITY:
            trie = self.sub_trie(trail.entity)  # type: ignore[union-attr]
            ended, fan = self._within(position, graph.entities, trie.targets, trie.nodes)
            step = int(trie.steps[np.searchsorted(trie.bounds, position.low, side="right") - 1])
            fans = [fan]
            for entity in ended:
                grown = Trail(int(entity), step, trail, trail.hops + 1)  # type: ignore[union-attr]
                fans.append(self._mark(Segment.END, grown, 0, 0))
                if grown.hops < self.hops and graph.kg.degree(grown.entity, graph.directed):
                    fans.append(self._onward(grown))
            return fans
        if segment is Segment.DONE:
            return []
        return [self._mark(segment, trail, position.low, position.depth)]

    def _within(
        self, position: Position, table: TokenTable, rows: NDArray[np.int32], nodes: Branchings
    ) -> tuple[NDArray[np.int32], _Fan]:
        """Labels complete at this depth, and the fan of those that go on."""
        segment, trail, low, depth = position.segment, position.trail, position.low, position.depth
        key = (segment, low, position.high, depth)
        node = nodes.get(key)
        if node is None:
            node = nodes[key] = _branching(table, rows[low : position.high], low, depth)
        edges = node.edges

        def take(i: int) -> Position:
            return Position(segment, trail, int(edges[i]), int(edges[i + 1]), depth + 1)

        return rows[low : low + node.complete], _Fan(node.tokens, take, in_label=True)

    def _onward(self, trail: Trail) -> _Fan:
        """The arrow into the sub-trie of the trail's last entity."""
        return self._mark(Segment.ARROW_BEFORE_STEP, trail, 0, 0)

    def _mark(self, segment: Segment, trail: Trail | None, low: int, depth: int) -> _Fan:
        """One forced token of an arrow or end mark."""
        ids = self._marks[segment is Segment.END]
        after = self._behind(segment, trail, low) if depth + 1 == len(ids) else None
        here = after or Position(segment, trail, low, 0, depth + 1)
        return _Fan(ids[depth], lambda _: here)

    def _behind(self, segment: Segment, trail: Trail | None, low: int) -> Position:
        """The position after a complete mark."""
        if segment is Segment.END:
            return Position(Segment.DONE, trail)
        trie = self.sub_trie(trail.entity)  # type: ignore[union-attr]
        if segment is Segment.ARROW_BEFORE_STEP:
            return Position(Segment.STEP, trail, 0, len(trie.steps))
        return Position(Segment.ENTITY, trail, int(trie.bounds[low]), int(trie.bounds[low + 1]))

    # counting ----------------------------------------------------------------------------------

    def _left(self, position: Position) -> int:
        segment, trail = position.segment, position.trail
        if segment is Segment.TOPIC:
            return int(self.graph.walks(self.hops)[self.topics[position.low : position.high]].sum())
        if segment in (Segment.END, Segment.DONE):
            return 1
        assert trail is not None
        hops_left = self.hops - trail.hops
        if segment is Segment.ARROW_BEFORE_STEP:
            return int(self.graph.walks(hops_left)[trail.entity])
        trie = self.sub_trie(trail.entity)
        low, high = position.low, position.high
        if segment is Segment.STEP:
            low, high = int(trie.bounds[low]), int(trie.bounds[high])
        elif segment is Segment.ARROW_BEFORE_ENTITY:
            low, high = int(trie.bounds[low]), int(trie.bounds[low + 1])
        return int((self.graph.walks(hops_left - 1)[trie.targets[low:high]] + 1).sum())


def _branching(table: TokenTable, labels: NDArray[np.int32], low: int, depth: int) -> Branching:
    """Group sorted labels that agree in ``depth`` tokens by the token that comes next."""
    begins = table.offsets[labels]
    # complete labels share all tokens so far and nothing more, so they sort before the longer ones
    complete = int(np.count_nonzero(table.offsets[labels + 1] - begins <= depth))
    tokens = table.ids[begins[complete:] + depth].astype(np.int64)
    firsts = np.flatnonzero(np.diff(tokens, prepend=-1))
    return Branching(complete, tokens[firsts], np.append(firsts, len(tokens)) + (low + complete))


def _merge(fans: Sequence[_Fan]) -> Successors:
    """Union of several fans; a token in more than one of them leads to a set of positions."""
    if not fans:
        return Successors(np.empty(0, dtype=np.int64), lambda _: AutomatonState(()))
    tokens, groups = np.unique(np.concatenate([fan.tokens for fan in fans]), return_inverse=True)
    sources = [(fan, i) for fan in fans for i in range(len(fan.tokens))]

    def take(i: int) -> AutomatonState:
        return AutomatonState(tuple(fan.take(j) for g in np.flatnonzero(groups == i) for fan, j in [sources[g]]))

    return Successors(tokens, take)
