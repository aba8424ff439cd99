"""The constraint: its seam to the search, and the KG automaton behind it.

The search knows nothing of graphs. It asks a ``Constraint`` which tokens may follow a ``State``, moves on, and reads
the paths off a finished state as entity and step ids; nothing is ever parsed back from text.

The KG automaton is the KG-Trie of GCR section 4.2 without enumerating it. What may follow entity *e* depends on *e* and
the hops left, so each entity has one sub-trie over `` -> relation -> entity`` whose leaves lead to the next entity's
sub-trie or to ``</PATH>``. A sub-trie is never built as nodes either: its edges, sorted by the rank of their tokens,
hold every node as a range.

Labels may be token prefixes of one another, hold arrows or end marks, or be spelled alike. The
automaton is therefore non-deterministic inside: a state is a set of positions (subset construction),
nearly always of one.

``reason`` says in words why a token is forbidden, from the place the automaton is at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from kgdemo.constraint.label_tokens import FEW, Branching, Branchings, SubTrie, TokenTable, branching, starts_of_runs
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.kg.path import PathIds


class State(Protocol):
    """A point in the constraint's language; immutable."""

    __slots__ = ()

    @property
    def complete(self) -> bool:
        """Whether the tokens so far end with ``</PATH>``."""
        ...

    @property
    def paths(self) -> Sequence[PathIds]:
        """The paths that end here; several when labels are spelled with the same tokens, none in free text."""
        return ()

    @property
    def alive(self) -> bool:
        """Whether any token may follow; by default until the state is complete."""
        return not self.complete


Place = TypeVar("Place", bound=State)
Reached = TypeVar("Reached", bound=State, covariant=True)


@dataclass(frozen=True, slots=True)
class Successors(Generic[Reached]):
    """What may follow a state.

    Attributes:
        tokens: allowed token ids, sorted, each once; int64 (what torch indexes with) or int32, shape ``(n,)``.
            None: the whole vocabulary.
        take: index into ``tokens`` (a token id, when these are None) -> the state that token leads to.
        inside_entity: all of ``tokens`` go on with an entity's label, so which of them exists is for the
            graph to say, and none of them decides on a relation or on the path's end.
    """

    tokens: NDArray[np.integer] | None
    take: Callable[[int], Reached]
    inside_entity: bool = False


class Constraint(Protocol[Place]):
    """A set of reasoning paths, seen as a language of token sequences; each kind has states of its own."""

    def start(self) -> Place:
        """The state after ``<PATH>``."""
        ...

    def successors(self, state: Place) -> Successors[Place]:
        """The tokens that may follow ``state`` (GCR equation 7)."""
        ...

    def paths_left(self, state: Place) -> int:
        """How many paths can still be reached; counted, not enumerated."""
        ...


# the automaton ------------------------------------------------------------------------------------


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
class PathNode:
    """The hops taken so far, newest first."""

    entity: int
    step: int = -1
    before: PathNode | None = None
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
class Position:
    """A place inside a path: ``depth`` tokens into a segment, with rows ``low..high`` still possible.

    Attributes:
        unread: what may follow had not been read from a store when a path first came here.
    """

    segment: Segment
    path_node: PathNode | None
    low: int = 0
    high: int = 0
    depth: int = 0
    unread: bool = False

    @property
    def so_far(self) -> PathNode:
        """The trail, which every position behind the first entity has."""
        assert self.path_node is not None, "nothing has been walked yet"
        return self.path_node


@dataclass(frozen=True, slots=True)
class AutomatonState:
    """A set of positions reached by one token sequence."""

    positions: tuple[Position, ...]

    @property
    def complete(self) -> bool:
        """See ``State``."""
        return any(p.segment is Segment.DONE for p in self.positions)

    @property
    def paths(self) -> Sequence[PathIds]:
        """See ``State``."""
        return [p.so_far.path() for p in self.positions if p.segment is Segment.DONE]

    @property
    def alive(self) -> bool:
        """See ``State``."""
        return any(p.segment is not Segment.DONE for p in self.positions)

    @property
    def unread(self) -> bool:
        """Whether a store has to be waited for to know what may follow, as far as it was known here."""
        return any(p.unread for p in self.positions)


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
        starts = graph.kg.starts(sorted(set(topics)), hops, graph.directed)
        self.topics, self._heads = graph.heads(np.array(starts, np.int32))
        self._topic_nodes: Branchings = {}
        label_tokens = graph.label_tokens
        self._marks = {
            Segment.ARROW_BEFORE_STEP: _column(label_tokens.to_relation),
            Segment.ARROW_BEFORE_ENTITY: _column(label_tokens.to_entity),
            Segment.END: _column(label_tokens.end),
        }
        self._names_again = bool(label_tokens.path_format.again)
        self._named_again: dict[int, NDArray[np.int64]] = {}  # by entity, where the format names it once more
        self._met: dict[int, SubTrie] = {}

    def start(self) -> AutomatonState:
        """See ``Constraint``."""
        return AutomatonState((Position(Segment.TOPIC, None, 0, len(self.topics)),) if len(self.topics) else ())

    def successors(self, state: AutomatonState) -> Successors[AutomatonState]:
        """See ``Constraint``."""
        fans = [fan for position in state.positions for fan in self._fans(position) if len(fan.tokens)]
        if len(fans) == 1:
            fan = fans[0]
            inside = state.positions[0].segment in (Segment.TOPIC, Segment.ENTITY) and fan.in_label
            return Successors(fan.tokens, lambda i: AutomatonState((fan.take(i),)), inside)
        return _merge(fans)

    def paths_left(self, state: AutomatonState) -> int:
        """See ``Constraint``."""
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
            ended, fan = self._within(position, self.topics, self._topic_nodes, _all_read(self._heads, self.topics))
            return [fan, *(self._onward(PathNode(entity)) for entity in ended.tolist())]
        path_node = position.so_far
        if segment is Segment.STEP:
            trie = self.sub_trie(path_node.entity)
            if position.unread:
                position = replace(position, high=len(trie.steps), unread=False)
            ended, fan = self._within(position, trie.steps, trie.nodes, _all_read(graph.steps, trie.steps))
            first = position.low
            return [fan, *(self._mark(Segment.ARROW_BEFORE_ENTITY, path_node, first + i, 0) for i in range(len(ended)))]
        if segment is not Segment.ENTITY:
            return [self._mark(segment, path_node, position.low, position.depth)]
        trie = self.sub_trie(path_node.entity)
        if position.unread:
            place = int(trie.bounds.searchsorted(position.low, side="right")) - 1
            position = replace(position, high=graph.read_ends(trie, path_node.entity, place), unread=False)
        ended, fan = self._within(
            position, trie.targets, trie.nodes, lambda *node: graph.branching(trie, path_node.entity, *node)
        )
        if position.high - position.low <= FEW and path_node.hops + 1 < self.hops:
            graph.kg.expect(trie.targets[position.low : position.high])
        fans = [fan]
        if len(ended):
            step = int(trie.steps[trie.bounds.searchsorted(position.low, side="right") - 1])
            for entity in ended.tolist():
                longer = PathNode(entity, step, path_node, path_node.hops + 1)
                fans.append(self._mark(Segment.END, longer, 0, 0))
                if longer.hops < self.hops and graph.kg.has_steps(entity, graph.directed):
                    fans.append(self._onward(longer))
        return fans

    def _within(
        self,
        position: Position,
        rows: NDArray[np.int32],
        nodes: Branchings,
        branching_of: Callable[[int, int, int], Branching],
    ) -> tuple[NDArray[np.int32], _Fan]:
        """Labels complete at this depth, and the fan of those that go on.

        Args:
            position: within a label.
            rows: the labels that it may be.
            nodes: those visited so far.
            branching_of: what follows a node, by its first row, the row behind its last, and its depth.
        """
        segment, path_node, low, depth = position.segment, position.path_node, position.low, position.depth
        key = (segment, low, position.high, depth)
        node = nodes.get(key)
        if node is None:
            node = branching_of(low, position.high, depth)
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
        ids = self._mark_ids(segment, path_node)
        if depth + 1 == len(ids):
            return _Fan(ids[depth], lambda _: self._behind(segment, path_node, low))
        return _Fan(ids[depth], lambda _: Position(segment, path_node, low, 0, depth + 1))

    def _mark_ids(self, segment: Segment, path_node: PathNode) -> NDArray[np.int64]:
        """The tokens of a mark, each in a row of its own."""
        if segment is not Segment.ARROW_BEFORE_STEP or not path_node.hops or not self._names_again:
            return self._marks[segment]
        entity = path_node.entity
        if entity not in self._named_again:
            label = self.graph.kg.entities[entity]
            self._named_again[entity] = _column(self.graph.label_tokens.named_again(label))
        return self._named_again[entity]

    def _behind(self, segment: Segment, path_node: PathNode, low: int) -> Position:
        """The position after a complete mark."""
        if segment is Segment.END:
            return Position(Segment.DONE, path_node)
        if segment is Segment.ARROW_BEFORE_STEP:
            if path_node.entity not in self._met and not self.graph.has_read(path_node.entity):
                return Position(Segment.STEP, path_node, unread=True)
            return Position(Segment.STEP, path_node, 0, len(self.sub_trie(path_node.entity).steps))
        trie = self.sub_trie(path_node.entity)
        first, last = int(trie.bounds[low]), int(trie.bounds[low + 1])
        if not self.graph.has_read_ends(trie, path_node.entity, low):
            self.graph.expect_ends(path_node.entity, int(trie.steps[low]))
            return Position(Segment.ENTITY, path_node, first, last, unread=True)
        last = self.graph.read_ends(trie, path_node.entity, low)
        if path_node.hops + 1 < self.hops:
            ends = trie.targets[first:last]
            self.graph.kg.expect(ends[ends >= 0])
        return Position(Segment.ENTITY, path_node, first, last)

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
        if segment is Segment.STEP and position.unread:
            high = len(trie.steps)
        if segment is Segment.STEP:
            low, high = int(trie.bounds[low]), int(trie.bounds[high])
        elif segment is Segment.ARROW_BEFORE_ENTITY:
            low, high = int(trie.bounds[low]), int(trie.bounds[low + 1])
        return self.graph.paths_to(trie.targets[low:high], hops_left - 1)


def _all_read(table: TokenTable, rows: NDArray[np.int32]) -> Callable[[int, int, int], Branching]:
    """What follows the nodes of a trie over labels that have all been read."""
    return lambda low, high, depth: branching(table, rows[low:high], low, depth)


def _column(tokens: Sequence[int]) -> NDArray[np.int64]:
    """Tokens that follow one another, each in a row of its own."""
    return np.array(tokens, np.int64).reshape(-1, 1)


def _merge(fans: Sequence[_Fan]) -> Successors[AutomatonState]:
    """Union of several fans; a token in more than one of them leads to a set of positions."""
    if not fans:
        return Successors(np.empty(0, dtype=np.int64), lambda _: AutomatonState(()))
    tokens, groups = np.unique(np.concatenate([fan.tokens for fan in fans]), return_inverse=True)
    sources = [(fan, i) for fan in fans for i in range(len(fan.tokens))]

    def take(i: int) -> AutomatonState:
        return AutomatonState(tuple(fan.take(j) for g in np.flatnonzero(groups == i) for fan, j in [sources[g]]))

    return Successors(tokens, take)


def reason(automaton: KGAutomaton, state: AutomatonState, token: int, token_text: str) -> str:
    """One short sentence on why ``token`` may not follow ``state``."""
    position = state.positions[0]
    kg = automaton.graph.kg
    segment = position.segment
    if segment is Segment.TOPIC:
        names = [kg.entities[int(e)] for e in automaton.topics[:3]]
        return f"a path starts at {' or '.join(names)}"
    here = kg.entities[position.so_far.entity]
    in_label = segment in (Segment.STEP, Segment.ENTITY) and position.depth > 0 and position.low < position.high
    label, tokens = _label_at(automaton, position) if in_label else ("", np.empty(0, np.int32))
    if in_label and position.high - position.low == 1 and len(tokens) == position.depth:
        return f"after “{label}” " + (
            "only an arrow may follow" if segment is Segment.STEP else "the path ends or goes on with an arrow"
        )
    begun = tokens[: position.depth]
    written = str(automaton.graph.label_tokens.tokenizer.decode(begun.tolist())) if in_label else ""
    written = (written + token_text).strip()
    if segment is Segment.STEP:
        return f"{here} has no relation “{written}…”"
    if segment is Segment.ENTITY:
        return _no_edge(automaton, position, np.append(begun, token), written)
    if segment is Segment.END:
        return "the path ends here"
    return f"after “{_last_label(automaton, position)}” only an arrow may follow"


def _label_at(automaton: KGAutomaton, position: Position) -> tuple[str, NDArray[np.int32]]:
    """The first label that a position inside one may become, and its tokens."""
    graph, entity = automaton.graph, position.so_far.entity
    trie = automaton.sub_trie(entity)
    if position.segment is Segment.STEP:
        step = int(trie.steps[position.low])
        return graph.kg.step_labels[step], graph.steps.row(step)
    target = graph.target(trie, entity, position.low)
    return graph.kg.entities[target], graph.entities.row(target)


def _no_edge(automaton: KGAutomaton, position: Position, tokens: NDArray[np.int32], written: str) -> str:
    """Inside an entity label: say which edge is missing, and where the graph has that entity instead.

    Args:
        automaton, position: where the path stands.
        tokens: of the label, as far as it is written, with the forbidden one.
        written: the same as text.
    """
    graph, entity = automaton.graph, position.so_far.entity
    kg, trie = graph.kg, automaton.sub_trie(entity)
    here, relation = kg.entities[entity], _last_label(automaton, position)
    elsewhere = first_spelled(graph.entities, trie.targets, tokens) if position.low < position.high else None
    if elsewhere is None:
        return f"no edge {here} → {relation} → {written}…"
    step = int(trie.steps[np.searchsorted(trie.bounds, elsewhere, side="right") - 1])
    return f"the graph has {kg.entities[int(trie.targets[elsewhere])]} as “{kg.step_labels[step]}”, not “{relation}”"


def first_spelled(table: TokenTable, targets: NDArray[np.int32], prefix: NDArray[np.int32]) -> int | None:
    """Row of the first target whose label starts with these tokens; all targets of a hub are compared at once."""
    begins = table.offsets[targets]
    rows = np.flatnonzero(table.offsets[targets + 1] - begins >= len(prefix))
    for depth, token in enumerate(prefix):
        rows = rows[table.ids[begins[rows] + depth] == token]
    return int(rows[0]) if len(rows) else None


def _last_label(automaton: KGAutomaton, position: Position) -> str:
    """The label before the position: a relation inside an entity, else the last entity."""
    kg, path_node = automaton.graph.kg, position.so_far
    if position.segment is Segment.ENTITY and position.low < position.high:
        trie = automaton.sub_trie(path_node.entity)
        step = trie.steps[np.searchsorted(trie.bounds, position.low, side="right") - 1]
        return kg.step_labels[int(step)]
    if position.segment is Segment.ARROW_BEFORE_ENTITY:
        return kg.step_labels[int(automaton.sub_trie(path_node.entity).steps[position.low])]
    return kg.entities[path_node.entity]
