"""Graph-aware constrained decoding of a whole chain (DoG section 2.3), as a ``Constraint``.

Text is free until the mark that begins a triple has been written; then only triples of the query-centric
subgraph may be written; the mark that ends the triple lifts the constraint again, and the subgraph grows
by the triple (equation 1). The end of the text ends the chain.

It fails closed (see ``free``): a mark is seen however it is spelled, and is forbidden once no triple is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kgdemo.constraint.base import PathIds, Successors
from kgdemo.constraint.free import FreeSpan, FreeUntilMark, watch_for
from kgdemo.constraint.query_graph import IdTriple, Link, QueryGraph
from kgdemo.constraint.tokenised import TokenisedGraph
from kgdemo.constraint.triples import Spelling, TripleState, TripleTrie

_NOTHING_WRITTEN = FreeSpan()


@dataclass(frozen=True, slots=True)
class ChainState:
    """A point in a chain.

    Attributes:
        visited: entities that the next triple may touch, query entities first.
        links: the triples written so far.
        inside: the place in the triple being written; None in free text.
        free: the place in free text.
    """

    visited: tuple[int, ...]
    links: tuple[Link, ...] = ()
    inside: TripleState | None = None
    free: FreeSpan = _NOTHING_WRITTEN

    @property
    def used(self) -> frozenset[IdTriple]:
        """The stored triples of the chain."""
        return frozenset(triple for link in self.links for triple in link.triples)

    def grown(self, link: Link) -> ChainState:
        """The chain with one more triple, in the free text behind it; its subgraph has grown (equation 1)."""
        return ChainState(tuple(dict.fromkeys((*self.visited, link.last))), (*self.links, link))

    @property
    def complete(self) -> bool:
        """See ``base.State``: the text has ended."""
        return self.free.ended

    @property
    def alive(self) -> bool:
        """See ``base.State``."""
        return self.free.alive if self.inside is None else self.inside.alive

    @property
    def paths(self) -> Sequence[PathIds]:
        """See ``base.State``: every triple, from its visited end."""
        return [link.path for link in self.links] if self.complete else []


class ChainConstraint:
    """All well-formed chains (DoG section 2.2), with free text between their triples.

    Args:
        graph: the tokenised graph.
        query: what the subgraph grows from.
        topics: the query entities' ids.
        stops: tokens that end the text.
        vocabulary: size of the model's vocabulary.
        spelling: how triples are written.
    """

    def __init__(
        self,
        graph: TokenisedGraph,
        query: QueryGraph,
        topics: Sequence[int],
        stops: frozenset[int],
        vocabulary: int,
        spelling: Spelling = Spelling.STORED,
    ) -> None:
        self.graph, self.query, self.spelling = graph, query, spelling
        self.topics = tuple(dict.fromkeys(topics))
        self.stops, self.vocabulary = stops, vocabulary
        self.watch = watch_for(graph.pieces)
        self._tries: dict[tuple[frozenset[int], frozenset[IdTriple]], TripleTrie] = {}

    def start(self) -> ChainState:
        """See ``base.Constraint``: the first triple has been begun by the prompt."""
        empty = ChainState(self.topics)
        return replace(empty, inside=self.trie(empty).start())

    def trie(self, state: ChainState) -> TripleTrie:
        """The triples that may be written after the chain so far."""
        key = (frozenset(state.visited), state.used)
        if key not in self._tries:
            links = self.query.links(state.visited, state.used)
            self._tries[key] = TripleTrie(self.graph, links, self.spelling, [self.graph.pieces.end])
        return self._tries[key]

    def free_text(self, state: ChainState) -> FreeUntilMark:
        """What may be written between this triple and the next."""
        closed = not self.trie(state).start().alive
        return FreeUntilMark(self.watch, self.stops, self.vocabulary, closed)

    def successors(self, state: ChainState) -> Successors[ChainState]:
        """See ``base.Constraint``."""
        if state.inside is not None:
            within = state.inside.trie.successors(state.inside)
            return Successors(within.tokens, lambda i: self._within(state, within.take(i)))
        between = self.free_text(state).successors(state.free)
        return Successors(between.tokens, lambda i: self._between(state, between.take(i)))

    def paths_left(self, state: ChainState) -> int:
        """How many triples may be written next; chains are without end."""
        trie = self.trie(state)
        return trie.paths_left(state.inside or trie.start())

    def _within(self, state: ChainState, inside: TripleState) -> ChainState:
        # a mark spelled in plain letters may also go on as part of a longer label: the triple is taken
        # at its first end, and the longer label is then out of reach
        return state.grown(inside.leaves[0].link) if inside.complete else replace(state, inside=inside)

    def _between(self, state: ChainState, free: FreeSpan) -> ChainState:
        if free.opened:
            return replace(state, inside=self.trie(state).start(), free=FreeSpan())
        return replace(state, free=free)
