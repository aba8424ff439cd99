"""Chains of triples as DoG writes them (Li et al. 2025, section 2.3): free text with triples under a constraint.

The *query-centric subgraph* says what a chain may go on with. It starts as all triples around the query entities and
grows by all triples around each entity that the chain reaches (equation 1), so it is a function of the entities
visited so far and is never stored. A triple can be used from either end (section 2.2, property 2): it is kept as a
*link*, a walk that starts at the visited end.

``TripleTrie`` is the trie over those triples (appendix D). The paper keeps a dictionary of dictionaries; here the
spelled triples are sorted once, and a node of the trie is a range of rows. Every row ends with an end mark, so a label
that is the beginning of another needs no special care, and triples spelled alike share their leaf.

In a whole chain, text is free until the mark that begins a triple has been written; then only triples of the subgraph
may be written; the mark that ends the triple lifts the constraint again, and the subgraph grows by the triple. The end
of the text ends the chain. ``FreeUntilMark``, the text between triples, fails closed: a mark can be written with other
tokens than its own, or hidden inside a longer token, so the text is watched letter by letter, and a token that would
run over a mark is forbidden. The mark itself is forbidden once no triple is left.

``FreeText`` is the comparison, text under no constraint at all.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kgdemo.constraint.automaton import State, Successors
from kgdemo.constraint.label_tokens import PATH_START, LabelTokens, TokenTable, branching, ranks
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.kg.graph import IdTriple, KnowledgeGraph
from kgdemo.kg.path import PathIds

_UNNAMED = re.compile(r"[mg]\.[0-9a-z_]+")  # Freebase's ids of things without a name
_MEDIATOR = "mediator"  # the entity type that says so in graphs of other origin


def is_mediator(kg: KnowledgeGraph, entity: int) -> bool:
    """Whether an entity only ties others together (a compound value of Freebase) and means nothing by itself."""
    label = kg.entities[entity]
    info = kg.info.get(label)
    return info.type == _MEDIATOR if info and info.type else _UNNAMED.fullmatch(label) is not None


@dataclass(frozen=True, slots=True)
class Link:
    """A triple seen from a visited end: a walk of one step, or of two over a collapsed mediator.

    Attributes:
        path: the walk; its first entity has been visited.
        triples: the stored triples it walks.
    """

    path: PathIds
    triples: tuple[IdTriple, ...]

    @property
    def first(self) -> int:
        """The visited end."""
        return self.path.entities[0]

    @property
    def last(self) -> int:
        """The end that the link leads to."""
        return self.path.entities[-1]

    def stored(self, kg: KnowledgeGraph) -> tuple[int, tuple[int, ...], int]:
        """Head, step or steps, and tail in the direction the graph stores them.

        Over a mediator the two triples may point in different directions; then the link stays as walked.
        """
        relations, path = len(kg.relations), self.path
        if all(step >= relations for step in path.steps):
            return path.entities[-1], tuple(step - relations for step in reversed(path.steps)), path.entities[0]
        return path.entities[0], path.steps, path.entities[-1]

    def labels(self, kg: KnowledgeGraph) -> tuple[str, str, str]:
        """The same as labels, a collapsed mediator's relations joined by a hyphen (DoG appendix B)."""
        head, steps, tail = self.stored(kg)
        return kg.entities[head], "-".join(kg.step_labels[step] for step in steps), kg.entities[tail]


class QueryGraph:
    """Gives the links that a chain may take next.

    Args:
        kg: the graph.
        directed: use triples from their head only.
        pool: the stored triples that may be used (DoG appendix B keeps 120); None for all of the graph.
        collapse: step over mediators, as if the two triples around one were one (appendix B).
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        directed: bool = False,
        pool: AbstractSet[IdTriple] | None = None,
        collapse: bool = True,
    ) -> None:
        self.kg = kg
        self.directed = directed
        self.pool = pool
        self.collapse = collapse
        self._mediators: dict[int, bool] = {}  # of the entities met so far

    def links(self, visited: Sequence[int], used: AbstractSet[IdTriple] = frozenset()) -> list[Link]:
        """All links from the visited entities; triples that the chain holds already are left out."""
        found: dict[PathIds, Link] = {}
        for entity in dict.fromkeys(visited):
            for path, triple in self._steps(entity, used):
                if not (self.collapse and self._is_mediator(path.entities[1])):
                    found.setdefault(path, Link(path, (triple,)))
                    continue
                for onward, second in self._steps(path.entities[1], used):
                    if second != triple:
                        whole = PathIds((entity, *onward.entities), (*path.steps, *onward.steps))
                        found.setdefault(whole, Link(whole, (triple, second)))
        return list(found.values())

    def links_to(self, entity: int, ends: Collection[int]) -> list[Link]:
        """The links of one step from an entity to one of these; of a hub's thousands no others are made."""
        kg = self.kg
        steps, targets = kg.steps(entity, self.directed)
        there = np.isin(targets, list(ends))
        return [
            Link(PathIds((entity, target), (step,)), (kg.stored(entity, step, target),))
            for step, target in zip(steps[there].tolist(), targets[there].tolist(), strict=True)
        ]

    def _is_mediator(self, entity: int) -> bool:
        known = self._mediators.get(entity)
        if known is None:
            known = self._mediators[entity] = is_mediator(self.kg, entity)
        return known

    def _steps(self, entity: int, used: AbstractSet[IdTriple]) -> Iterator[tuple[PathIds, IdTriple]]:
        steps, targets = self.kg.steps(entity, self.directed)
        stored = self.kg.stored
        for step, target in zip(steps.tolist(), targets.tolist(), strict=True):
            triple = stored(entity, step, target)
            if triple not in used and (self.pool is None or triple in self.pool):
                yield PathIds((entity, target), (step,)), triple


class TripleTokens(str, Enum):
    """How a link is written."""

    STORED = "stored"  # head, relation, tail as the graph has them, whichever end was visited (the paper's)
    WALKED = "walked"  # from the visited end, an inverse step in its inverse reading
    ONWARD = "onward"  # the same without the visited end, which has been written already


@dataclass(frozen=True, slots=True)
class TokenisedTriple:
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
        """See ``State``: an end mark has been written."""
        return self.trie.ended(self) > 0

    @property
    def alive(self) -> bool:
        """See ``State``."""
        return self.trie.ended(self) < self.high - self.low

    @property
    def leaves(self) -> list[Leaf]:
        """The triples that end here."""
        return [self.trie.leaf(row) for row in range(self.low, self.low + self.trie.ended(self))]

    @property
    def paths(self) -> Sequence[PathIds]:
        """See ``State``: each triple as a walk from its visited end."""
        return list(dict.fromkeys(leaf.link.path for leaf in self.leaves))


class TripleTrie:
    """The triples that may be written next.

    Args:
        graph: the tokenised graph.
        links: the triples, each from its visited end.
        triple_tokens: how they are written.
        ends: token ids of the marks that may end a triple; one, unless the mark says how things go on.
    """

    def __init__(
        self, graph: TokenGraph, links: Sequence[Link], triple_tokens: TripleTokens, ends: Sequence[tuple[int, ...]]
    ) -> None:
        self.graph = graph
        self.triple_tokens = triple_tokens
        spelled = [self.spelled(link) for link in links]
        rows = [(*text.tokens, *end) for text in spelled for end in ends]
        offsets = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        flat = np.fromiter((token for row in rows for token in row), dtype=np.int32, count=int(offsets[-1]))
        table = TokenTable(offsets, flat)
        order = np.argsort(ranks(table), kind="stable")
        self._table = table.rows(order)
        lengths = np.array([(len(t.first), len(t.relation), len(t.last)) for t in spelled], np.int64).reshape(-1, 3)
        # per sorted row: where the first entity ends, where the last begins and ends
        self._parts = np.repeat(np.cumsum(lengths, axis=1), len(ends), axis=0)[order]
        self._leaves = [Leaf(link, number) for link in links for number in range(len(ends))]
        self._order, self._marks = order, len(ends)
        self.longest = int(self._parts[:, 2].max(initial=0)) + max(len(end) for end in ends)

    def start(self) -> TripleState:
        """See ``Constraint``: the state right behind the mark that begins a triple."""
        return TripleState(self, 0, len(self._leaves))

    def successors(self, state: TripleState) -> Successors[TripleState]:
        """See ``Constraint`` (DoG equation 2: the valid tokens)."""
        first, depth = state.low + self.ended(state), state.depth
        node = branching(self._table, np.arange(first, state.high, dtype=np.int32), first, depth)

        def take(i: int) -> TripleState:
            return TripleState(self, int(node.edges[i]), int(node.edges[i + 1]), depth + 1)

        parts = self._parts[first : state.high]
        in_last = (parts[:, 1] <= depth) & (depth < parts[:, 2])
        return Successors(node.tokens, take, bool((depth < parts[:, 0]).all() or in_last.all()))

    def paths_left(self, state: TripleState) -> int:
        """See ``Constraint``: how many triples can still be written."""
        return len(np.unique(self._order[state.low : state.high] // self._marks))

    def ended(self, state: TripleState) -> int:
        """How many of the state's rows are complete; they sort before the longer ones."""
        lengths = np.diff(self._table.offsets[state.low : state.high + 1])
        return int(np.count_nonzero(lengths == state.depth))

    def leaf(self, row: int) -> Leaf:
        """The triple of a sorted row."""
        result: Leaf = self._leaves[self._order[row]]
        return result

    def reason(self, state: TripleState, token_text: str) -> str:
        """Why a token may not follow, in words."""
        kg = self.graph.kg
        rows = range(state.low, state.high)
        around = " or ".join(dict.fromkeys(kg.entities[self.leaf(row).link.first] for row in rows[:50]))
        if not state.depth:
            return f"the next triple must touch {around}"
        written = self.graph.label_tokens.tokenizer.decode(self._table.row(state.low)[: state.depth].tolist())
        if state.depth >= self._parts[state.low, 2]:
            return "the triple ends here"
        return f"no triple around {around} reads “{(written + token_text).strip()}…”"

    # spelling ----------------------------------------------------------------------------------

    def spelled(self, link: Link) -> TokenisedTriple:
        """How a link is written."""
        graph, path = self.graph, link.path
        arrow, label = graph.label_tokens.arrow, graph.entities.row
        if self.triple_tokens is TripleTokens.STORED:
            head, steps, tail = link.stored(graph.kg)
            return TokenisedTriple(tuple(label(head)), (*arrow, *self._relation(steps), *arrow), tuple(label(tail)))
        middle = [*arrow, *graph.steps.row(path.steps[0]), *arrow]
        for mediator, step in zip(path.entities[1:-1], path.steps[1:], strict=True):
            middle += [*label(mediator), *arrow, *graph.steps.row(step), *arrow]
        first = label(path.entities[0]) if self.triple_tokens is TripleTokens.WALKED else ()
        return TokenisedTriple(tuple(first), tuple(middle), tuple(label(path.entities[-1])))

    def _relation(self, steps: tuple[int, ...]) -> list[int]:
        """A relation's tokens; the labels around a mediator are joined by a hyphen (DoG appendix B)."""
        if len(steps) == 1:
            result: list[int] = self.graph.steps.row(steps[0]).tolist()
            return result
        return self.graph.label_tokens.plain(" " + "-".join(self.graph.kg.step_labels[step] for step in steps))


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
def watch_for(label_tokens: LabelTokens) -> MarkWatch:
    """The watch of a tokeniser for the mark that begins a path; made once."""
    tokenizer = label_tokens.tokenizer
    names = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    return MarkWatch([_text_of(name or "") for name in names], PATH_START)


def _text_of(name: str) -> str:
    """A token's text as far as ASCII marks care: word starts of any tokeniser become a space."""
    return name[2:] if name.startswith("##") else name.replace("Ġ", " ").replace("▁", " ")


@dataclass(frozen=True, slots=True)
class FreeSpan(State):
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
        """See ``State``: the span is over, one way or the other."""
        return self.opened or self.ended


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
        """See ``Constraint``."""
        return FreeSpan()

    def successors(self, state: FreeSpan) -> Successors[FreeSpan]:
        """See ``Constraint``."""
        finishing, over = self.watch.hits(state.matched)
        forbidden = np.union1d(finishing, over) if self.closed else over
        forbidden = np.setdiff1d(forbidden, np.array(sorted(self.stops), np.int32))
        if not len(forbidden):
            return Successors(None, lambda token: self._after(state, token))
        tokens = np.setdiff1d(np.arange(self.vocabulary, dtype=np.int32), forbidden)
        return Successors(tokens, lambda i: self._after(state, int(tokens[i])))

    def paths_left(self, state: FreeSpan) -> int:
        """See ``Constraint``; unknown."""
        return 0

    def _after(self, state: FreeSpan, token: int) -> FreeSpan:
        if token in self.stops:
            return FreeSpan(ended=True)
        matched = self.watch.after(state.matched, token)
        return FreeSpan(opened=True) if matched == len(self.watch.mark) else FreeSpan(matched)


@dataclass(frozen=True, slots=True)
class FreeState(State):
    """The last tokens written, as many as the end mark is long."""

    end: tuple[int, ...]
    last: tuple[int, ...] = ()

    @property
    def complete(self) -> bool:
        """See ``State``."""
        return self.last == self.end


class FreeText:
    """A ``Constraint`` that forbids nothing.

    Args:
        end: token ids of the end mark.
    """

    def __init__(self, end: tuple[int, ...]) -> None:
        self.end = end

    def start(self) -> FreeState:
        """See ``Constraint``."""
        return FreeState(self.end)

    def successors(self, state: FreeState) -> Successors[FreeState]:
        """See ``Constraint``."""
        return Successors(None, lambda token: FreeState(self.end, (*state.last, token)[-len(self.end) :]))

    def paths_left(self, state: FreeState) -> int:
        """Unknown without a graph; 0."""
        return 0


@dataclass(frozen=True, slots=True)
class ChainState:
    """A point in a chain.

    Attributes:
        visited: entities that the next triple may touch, query entities first.
        links: the triples written so far.
    """

    visited: tuple[int, ...]
    links: tuple[Link, ...] = ()

    @property
    def used(self) -> frozenset[IdTriple]:
        """The stored triples of the chain."""
        return frozenset(triple for link in self.links for triple in link.triples)

    def extended(self, link: Link) -> ChainState:
        """The chain with one more triple; its subgraph has grown (equation 1)."""
        return ChainState(tuple(dict.fromkeys((*self.visited, link.last))), (*self.links, link))


class ChainConstraint:
    """What may be written in well-formed chains (DoG section 2.2): their triples, and free text between these.

    Args:
        graph: the tokenised graph.
        query: what the subgraph grows from.
        stops: tokens that end the text.
        vocabulary: size of the model's vocabulary.
    """

    def __init__(self, graph: TokenGraph, query: QueryGraph, stops: frozenset[int], vocabulary: int) -> None:
        self.graph, self.query = graph, query
        self.stops, self.vocabulary = stops, vocabulary
        self.watch = watch_for(graph.label_tokens)
        self._tries: dict[tuple[frozenset[int], frozenset[IdTriple]], TripleTrie] = {}

    def trie(self, state: ChainState) -> TripleTrie:
        """The triples that may be written after the chain so far."""
        key = (frozenset(state.visited), state.used)
        if key not in self._tries:
            links = self.query.links(state.visited, state.used)
            self._tries[key] = TripleTrie(self.graph, links, TripleTokens.STORED, [self.graph.label_tokens.end])
        return self._tries[key]

    def free_text(self, state: ChainState) -> FreeUntilMark:
        """What may be written between this triple and the next."""
        closed = not self.trie(state).start().alive
        return FreeUntilMark(self.watch, self.stops, self.vocabulary, closed)
