"""The trie over the triples of a query-centric subgraph (DoG section 2.3 and appendix D), as a ``Constraint``.

The paper keeps a dictionary of dictionaries; here the spelled triples are sorted once, and a node of the
trie is a range of rows. Every row ends with an end mark, so a label that is the beginning of another
needs no special care, and triples spelled alike share their leaf.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from kgdemo.constraint.base import PathIds, Successors
from kgdemo.constraint.query_graph import Link
from kgdemo.constraint.tables import TokenTable, ranks
from kgdemo.constraint.tokenised import TokenisedGraph


class Spelling(str, Enum):
    """How a link is written."""

    STORED = "stored"  # head, relation, tail as the graph has them, whichever end was visited (the paper's)
    WALKED = "walked"  # from the visited end, an inverse step in its inverse reading
    ONWARD = "onward"  # the same without the visited end, which has been written already


@dataclass(frozen=True, slots=True)
class Spelled:
    """The tokens of a link: first entity (empty when it stands there already), relation with its arrows, last."""

    first: tuple[int, ...]
    relation: tuple[int, ...]
    last: tuple[int, ...]

    @property
    def tokens(self) -> tuple[int, ...]:
        """All of them; the end mark is not among them."""
        return (*self.first, *self.relation, *self.last)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A finished triple: the link, and which of the end marks was written behind it."""

    link: Link
    end: int


@dataclass(frozen=True, slots=True)
class TripleState:
    """A node of the trie: ``depth`` tokens written, rows ``low..high`` still possible."""

    trie: TripleTrie
    low: int
    high: int
    depth: int = 0

    @property
    def complete(self) -> bool:
        """See ``base.State``: an end mark has been written."""
        return self.trie.ended(self) > 0

    @property
    def alive(self) -> bool:
        """See ``base.State``."""
        return self.trie.ended(self) < self.high - self.low

    @property
    def leaves(self) -> list[Leaf]:
        """The triples that end here."""
        return [self.trie.leaf(row) for row in range(self.low, self.low + self.trie.ended(self))]

    @property
    def paths(self) -> Sequence[PathIds]:
        """See ``base.State``: each triple as a walk from its visited end."""
        return list(dict.fromkeys(leaf.link.path for leaf in self.leaves))


class TripleTrie:
    """The triples that may be written next.

    Args:
        graph: the tokenised graph.
        links: the triples, each from its visited end.
        spelling: how they are written.
        ends: token ids of the marks that may end a triple; one, unless the mark says how things go on.
    """

    def __init__(
        self, graph: TokenisedGraph, links: Sequence[Link], spelling: Spelling, ends: Sequence[tuple[int, ...]]
    ) -> None:
        self.graph = graph
        self.spelling = spelling
        spelled = [self.spelled(link) for link in links]
        rows = [(*text.tokens, *end) for text in spelled for end in ends]
        offsets = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        flat = np.fromiter((token for row in rows for token in row), dtype=np.int32, count=int(offsets[-1]))
        table = TokenTable(offsets, flat)
        order = np.argsort(ranks(table), kind="stable")
        lengths = np.array([(len(t.first), len(t.relation), len(t.last)) for t in spelled], np.int64).reshape(-1, 3)
        # per sorted row: where the first entity ends, where the last begins and ends
        self._parts = np.repeat(np.cumsum(lengths, axis=1), len(ends), axis=0)[order]
        self._begins, self._ends = table.offsets[order], table.offsets[order + 1]
        self._ids = table.ids
        self._leaves = [Leaf(link, number) for link in links for number in range(len(ends))]
        self._order, self._marks = order, len(ends)
        self.longest = int(self._parts[:, 2].max(initial=0)) + max(len(end) for end in ends)

    def start(self) -> TripleState:
        """See ``base.Constraint``: the state right behind the mark that begins a triple."""
        return TripleState(self, 0, len(self._leaves))

    def successors(self, state: TripleState) -> Successors[TripleState]:
        """See ``base.Constraint`` (DoG equation 2: the valid tokens)."""
        first = state.low + self.ended(state)
        depth, rows = state.depth, slice(first, state.high)
        tokens = self._ids[self._begins[rows] + depth]
        starts = np.flatnonzero(np.diff(tokens, prepend=-1))
        bounds = np.append(starts, len(tokens)) + first

        def take(i: int) -> TripleState:
            return TripleState(self, int(bounds[i]), int(bounds[i + 1]), depth + 1)

        parts = self._parts[rows]
        in_last = (parts[:, 1] <= depth) & (depth < parts[:, 2])
        return Successors(tokens[starts], take, bool((depth < parts[:, 0]).all() or in_last.all()))

    def paths_left(self, state: TripleState) -> int:
        """See ``base.Constraint``: how many triples can still be written."""
        return len(np.unique(self._order[state.low : state.high] // self._marks))

    def ended(self, state: TripleState) -> int:
        """How many of the state's rows are complete; they sort before the longer ones."""
        rows = slice(state.low, state.high)
        return int(np.count_nonzero(self._ends[rows] - self._begins[rows] == state.depth))

    def leaf(self, row: int) -> Leaf:
        """The triple of a sorted row."""
        return self._leaves[self._order[row]]

    def reason(self, state: TripleState, token_text: str) -> str:
        """Why a token may not follow, in words."""
        kg = self.graph.kg
        rows = range(state.low, state.high)
        around = " or ".join(dict.fromkeys(kg.entities[self.leaf(row).link.first] for row in rows[:50]))
        if not state.depth:
            return f"the next triple must touch {around}"
        begin = int(self._begins[state.low])
        written = self.graph.pieces.tokenizer.decode(self._ids[begin : begin + state.depth].tolist())
        if state.depth >= self._parts[state.low, 2]:
            return "the triple ends here"
        return f"no triple around {around} reads “{(written + token_text).strip()}…”"

    # spelling ----------------------------------------------------------------------------------

    def spelled(self, link: Link) -> Spelled:
        """How a link is written."""
        graph, path = self.graph, link.path
        arrow, label = graph.pieces.arrow, graph.entities.row
        if self.spelling is Spelling.STORED:
            head, steps, tail = link.stored(graph.kg)
            return Spelled(tuple(label(head)), (*arrow, *self._relation(steps), *arrow), tuple(label(tail)))
        middle = [*arrow, *graph.steps.row(path.steps[0]), *arrow]
        for mediator, step in zip(path.entities[1:-1], path.steps[1:], strict=True):
            middle += [*label(mediator), *arrow, *graph.steps.row(step), *arrow]
        first = label(path.entities[0]) if self.spelling is Spelling.WALKED else ()
        return Spelled(tuple(first), tuple(middle), tuple(label(path.entities[-1])))

    def _relation(self, steps: tuple[int, ...]) -> list[int]:
        """A relation's tokens; the labels around a mediator are joined by a hyphen (DoG appendix B)."""
        if len(steps) == 1:
            return self.graph.steps.row(steps[0]).tolist()
        return self.graph.pieces.plain(" " + "-".join(self.graph.kg.readings[step] for step in steps))
