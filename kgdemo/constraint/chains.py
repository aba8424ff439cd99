"""Graph-aware constrained decoding of a whole chain (DoG section 2.3), as a ``Constraint``.

Text is free until the mark that begins a triple has been written; then only triples of the query-centric
subgraph may be written; the mark that ends the triple lifts the constraint again, and the subgraph grows
by the triple (equation 1). The end of the text ends the chain.

It fails closed: a mark can be written with other tokens than its own, or hidden inside a longer token. So
free text is watched letter by letter, a token that would run over a mark is forbidden, and the mark itself
is forbidden once no triple is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kgdemo.constraint.base import PathIds, Successors
from kgdemo.constraint.pieces import PATH_START, Pieces
from kgdemo.constraint.query_graph import IdTriple, Link, QueryGraph
from kgdemo.constraint.tokenised import TokenisedGraph
from kgdemo.constraint.triples import Spelling, TripleState, TripleTrie


class MarkWatch:
    """Sees a mark in free text, however its letters are cut into tokens.

    Args:
        texts: the text of every token.
        mark: what to look for; printable ASCII without spaces.
    """

    def __init__(self, texts: Sequence[str], mark: str) -> None:
        self.texts = texts
        self.mark = mark
        self._hits: dict[int, tuple[NDArray[np.int32], NDArray[np.int32]]] = {}

    def after(self, matched: int, token: int) -> int:
        """How many letters of the mark stand at the end of the text; all of them: it has been written."""
        text = self.mark[:matched] + (self.texts[token] if token < len(self.texts) else "")
        longest = min(len(text), len(self.mark))
        return next((n for n in range(longest, 0, -1) if text.endswith(self.mark[:n])), 0)

    def hits(self, matched: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Tokens that would finish the mark, and tokens that would run over it."""
        if matched not in self._hits:
            begun, rest = self.mark[:matched], self.mark[matched:]
            near = [i for i, text in enumerate(self.texts) if rest in text or self.mark in text]
            full = [i for i in near if self.mark in begun + self.texts[i]]
            ends = {
                i
                for i in full
                if (begun + self.texts[i]).find(self.mark) + len(self.mark) == matched + len(self.texts[i])
            }
            over = [i for i in full if i not in ends]
            self._hits[matched] = np.array(sorted(ends), np.int32), np.array(over, np.int32)
        return self._hits[matched]


@lru_cache(maxsize=4)
def watch_for(pieces: Pieces, mark: str = PATH_START) -> MarkWatch:
    """The watch of a tokeniser; made once."""
    tokenizer = pieces.tokenizer
    names = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))  # type: ignore[arg-type]
    return MarkWatch([_text_of(name or "") for name in names], mark)


def _text_of(name: str) -> str:
    """A token's text as far as ASCII marks care: word starts of any tokeniser become a space."""
    return name[2:] if name.startswith("##") else name.replace("Ġ", " ").replace("▁", " ")


@dataclass(frozen=True, slots=True)
class FreeSpan:
    """Free text between two triples.

    Attributes:
        matched: letters of the mark at the end of the text so far.
        opened: the mark that begins a triple has been written.
        ended: a token that ends the text has been written.
    """

    matched: int = 0
    opened: bool = False
    ended: bool = False

    @property
    def complete(self) -> bool:
        """See ``base.State``: the span is over, one way or the other."""
        return self.opened or self.ended

    @property
    def alive(self) -> bool:
        """See ``base.State``."""
        return not self.complete

    @property
    def paths(self) -> Sequence[PathIds]:
        """See ``base.State``; free text holds none."""
        return ()


class FreeUntilMark:
    """Free text up to the mark that begins the next triple, or up to the end of the text.

    Args:
        watch: looks for the mark.
        stops: tokens that end the text.
        vocabulary: size of the model's vocabulary.
        closed: no triple is left, so the mark may not be written.
    """

    def __init__(self, watch: MarkWatch, stops: frozenset[int], vocabulary: int, closed: bool = False) -> None:
        self.watch, self.stops, self.vocabulary, self.closed = watch, stops, vocabulary, closed

    def start(self) -> FreeSpan:
        """See ``base.Constraint``."""
        return FreeSpan()

    def successors(self, state: FreeSpan) -> Successors:
        """See ``base.Constraint``."""
        finishing, over = self.watch.hits(state.matched)
        forbidden = np.union1d(finishing, over) if self.closed else over
        forbidden = np.setdiff1d(forbidden, np.array(sorted(self.stops), np.int32))
        if not len(forbidden):
            return Successors(None, lambda token: self._after(state, token))
        tokens = np.setdiff1d(np.arange(self.vocabulary, dtype=np.int32), forbidden)
        return Successors(tokens, lambda i: self._after(state, int(tokens[i])))

    def paths_left(self, state: FreeSpan) -> int:
        """See ``base.Constraint``; unknown."""
        return 0

    def _after(self, state: FreeSpan, token: int) -> FreeSpan:
        if token in self.stops:
            return FreeSpan(ended=True)
        matched = self.watch.after(state.matched, token)
        return FreeSpan(opened=True) if matched == len(self.watch.mark) else FreeSpan(matched)


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
    free: FreeSpan = FreeSpan()

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

    def successors(self, state: ChainState) -> Successors:
        """See ``base.Constraint``."""
        if state.inside is not None:
            within = state.inside.trie.successors(state.inside)
            return Successors(within.tokens, lambda i: self._within(state, within.take(i)))  # type: ignore[arg-type]
        between = self.free_text(state).successors(state.free)
        return Successors(between.tokens, lambda i: self._between(state, between.take(i)))  # type: ignore[arg-type]

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
