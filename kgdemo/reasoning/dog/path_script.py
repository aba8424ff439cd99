"""The path script: chains by a model that was trained to write reasoning paths.

Such a model has never seen a linearised graph or a triple that stands alone. For each entity that the chain
has visited it is shown the path that led there, in the form it was trained on, and what it writes next is the
triple (equation 3, with the path as the generation so far). Its own choice between an arrow and the end of
the path says whether another triple follows, and what it writes behind the end is its hypothesis answer.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from kgdemo.constraint.chains import FreeUntilMark, watch_for
from kgdemo.constraint.query_graph import IdTriple, Link, QueryGraph
from kgdemo.constraint.triples import Spelling, TripleTrie
from kgdemo.decoding.beam import BeamSettings
from kgdemo.events import Event
from kgdemo.reasoning.base import World
from kgdemo.reasoning.dog.chain import Chain, Note, Watching, Written
from kgdemo.reasoning.dog.writing import TRIPLE_TOKENS, Visibility, Writing, ends_of

_ANSWER_TOKENS = 16


class PathScript(Writing):
    """Chains by a model that was trained on reasoning paths.

    Args:
        world, question, query, watching, limits: see ``Writing``.
        topics: the query entities' labels.
        hops: the longest path from a query entity.
        visibility: what of the graph to put behind the entities in the prompt.
        pool: the question's graph, nearest triples first.
    """

    def __init__(
        self,
        world: World,
        question: str,
        query: QueryGraph,
        watching: Watching,
        limits: BeamSettings,
        *,
        topics: Sequence[str],
        hops: int,
        visibility: Visibility,
        pool: Sequence[IdTriple],
    ) -> None:
        super().__init__(world, question, query, watching, limits)
        self.topics, self.hops, self.visibility, self.pool = topics, hops, visibility, pool
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...], frozenset[IdTriple]], list[Written]] = {}

    def triples(self, chain: Chain, most: int) -> Generator[Event, None, list[Written]]:
        """See ``Script``: behind the topics, and behind every path of the chain that may grow."""
        prompt = self.prompt(chain)
        found: dict[tuple[IdTriple, ...], Written] = {}
        for behind, heads, left in self._stems(chain):
            for triple in (yield from self._behind(prompt, behind, heads, left, chain.state.used, most)):
                known = found.get(triple.link.triples)
                if known is None or triple.score > known.score:
                    found[triple.link.triples] = triple
        return sorted(found.values(), key=lambda w: -w.score)[:most]

    def note(self, chain: Chain) -> Generator[Event, None, Note]:
        """See ``Script``: nothing before an arrow, the hypothesis answer behind the end of a path."""
        last = chain.written[-1]
        if last.goes_on:
            return Note(last.tokens, "", "", ended=False)
        mark = self.pieces.special(self.model.style.answer_mark) if self.model.style.answer_mark else ()
        free = FreeUntilMark(watch_for(self.pieces), self.model.stop_ids, self.model.vocabulary, True, _ANSWER_TOKENS)
        tokens, text, _ = yield from self.write(last.prompt, (*last.tokens, *self.pieces.end, *mark), free)
        return Note(tokens, text, text, ended=True)

    def _stems(self, chain: Chain) -> list[tuple[tuple[int, ...], list[int], int]]:
        """Texts that a triple may be written behind: (text, entities it may start from, hops left there)."""
        topics = [i for t in self.topics if (i := self.query.kg.entities.find(t)) is not None]
        left = dict.fromkeys(topics, self.hops)
        stems: list[tuple[tuple[int, ...], list[int], int]] = [((), topics, self.hops)]
        for triple in chain.written:
            link = triple.link
            if link.last not in left:
                left[link.last] = left[link.first] - len(link.path.steps)
                if left[link.last] > 0:
                    stems.append((triple.tokens, [link.last], left[link.last]))
        return stems

    def _behind(
        self,
        prompt: tuple[int, ...],
        behind: tuple[int, ...],
        heads: Sequence[int],
        left: int,
        used: frozenset[IdTriple],
        most: int,
    ) -> Generator[Event, None, list[Written]]:
        touching = frozenset(t for t in used if t[0] in heads or t[2] in heads)
        key = (prompt, behind, touching)
        if key not in self._known:
            links = [link for link in self.query.links(heads, touching) if len(link.path.steps) <= left]
            # mark 0 ends the path, mark 1 announces another triple
            ends = [self.pieces.end] if left <= 1 else [self.pieces.end, self.pieces.arrow]
            spelling = Spelling.ONWARD if behind else Spelling.WALKED
            trie = TripleTrie(self.world.tokenised, links, spelling, ends)
            self._known[key] = []
            if links:
                self._known[key] = yield from self.search(prompt, behind, trie, ends, most)
        return self._known[key]

    def prompt(self, chain: Chain) -> tuple[int, ...]:
        """See ``Script``."""
        style, entities = self.model.style, list(self.topics)
        links: list[Link] = []
        if self.visibility is Visibility.FULL:
            links = self.query.links(ends_of(self.pool))
        elif self.visibility is Visibility.LOCAL:
            links = self.query.links(chain.state.visited)
        if links:
            bare = len(style.encode(self.pieces, self.question, entities))
            room = self.model.context - bare - TRIPLE_TOKENS - _ANSWER_TOKENS
            entities.append(self.fitting(self.lines(links, self.pool), room))
        return tuple(style.encode(self.pieces, self.question, entities))
