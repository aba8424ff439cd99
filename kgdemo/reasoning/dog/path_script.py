"""The path script: chains by a model that was trained to write reasoning paths.

Such a model has never seen a linearised graph or a triple that stands alone. For each entity that the chain
has visited it is shown the path that led there, in the form it was trained on, and what it writes next is the
triple (equation 3, with the path as the generation so far). Behind each triple it may go on with an arrow or end
the path; a chain is finished with the probability of the end, and goes on with that of the arrow. What it
writes behind the end is its hypothesis answer.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from kgdemo.constraint.free import FreeUntilMark, watch_for
from kgdemo.constraint.query_graph import IdTriple, Link, QueryGraph
from kgdemo.constraint.triples import Spelling, TripleTrie
from kgdemo.decoding.beam import BeamSettings
from kgdemo.events import WITHOUT_GRAPH, Event
from kgdemo.reasoning.base import World
from kgdemo.reasoning.branches import ANSWER_TOKENS, free_branch, room_for, ungrounded
from kgdemo.reasoning.dog.chain import Chain, Note, Watching, Written
from kgdemo.reasoning.dog.options import Visibility
from kgdemo.reasoning.dog.writing import TRIPLE_TOKENS, Writing, ends_of


class PathScript(Writing):
    """Chains by a model that was trained on reasoning paths.

    Args:
        world, question, query, watching, limits: see ``Writing``.
        topics: the query entities' labels.
        hops: the longest path from a query entity.
        steps: the most triples a chain may have (T).
        visibility: what of the graph to put behind the entities in the prompt.
        pool: the question's graph, nearest triples first.
    """

    closes = True

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
        steps: int,
        visibility: Visibility,
        pool: Sequence[IdTriple],
    ) -> None:
        super().__init__(world, question, query, watching, limits)
        self.topics, self.hops, self.steps, self.visibility, self.pool = topics, hops, steps, visibility, pool
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...]], list[Written]] = {}

    def triples(self, chain: Chain, most: int) -> Generator[Event, None, list[Written]]:
        """See ``Script``: behind the topics, and behind every path of the chain that may grow."""
        prompt = self.prompt(chain)
        found: dict[tuple[IdTriple, ...], Written] = {}
        for behind, heads, left in self._stems(chain):
            for triple in (yield from self._behind(prompt, behind, heads, left, most + self.steps - 1)):
                known = found.get(triple.link.triples)
                if chain.state.used.isdisjoint(triple.link.triples) and (known is None or triple.score > known.score):
                    found[triple.link.triples] = triple
        return sorted(found.values(), key=lambda w: -w.score)[:most]

    def note(self, chain: Chain) -> Generator[Event, None, Note]:
        """See ``Script``: the hypothesis answer behind the end of the path."""
        last = chain.written[-1]
        mark = self.pieces.special(self.model.style.answer_mark) if self.model.style.answer_mark else ()
        behind = (*last.tokens, *self.pieces.end, *mark)
        free = FreeUntilMark(watch_for(self.pieces), self.model.stop_ids, self.model.vocabulary, closed=True)
        tokens, _, _ = yield from self.write(last.prompt, behind, free, ANSWER_TOKENS)
        text = self.plain(tokens[len(behind) :])
        return Note(tokens, text, text, ended=True)

    def unconstrained(self, prompt: tuple[int, ...], width: int) -> Iterator[Event]:
        """See ``Script``: whole paths, as GCR's search without the constraint."""
        free = free_branch(self.model, prompt, width)
        while (step := free.advance()) is not None:
            yield step
        written = yield from ungrounded(free, self.world, width)
        yield free.call(WITHOUT_GRAPH, "\n".join(path.text for path in written))

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
        self, prompt: tuple[int, ...], behind: tuple[int, ...], heads: Sequence[int], left: int, most: int
    ) -> Generator[Event, None, list[Written]]:
        """Triples behind a text: the same for every chain that holds it, so they are searched for once.

        ``most`` has room for those that a chain holds already.
        """
        key = (prompt, behind)
        if key not in self._known:
            links = [link for link in self.query.links(heads) if len(link.path.steps) <= left]
            # the first mark ends the path, the second announces another triple
            ends = [self.pieces.end] if left <= 1 else [self.pieces.end, self.pieces.arrow]
            spelling = Spelling.ONWARD if behind else Spelling.WALKED
            trie = TripleTrie(self.world.tokenised, links, spelling, ends)
            self._known[key] = (yield from self.search(prompt, behind, trie, ends, most)) if links else []
        return self._known[key]

    def prompt(self, chain: Chain) -> tuple[int, ...]:
        """See ``Script``."""
        style, entities = self.model.style, list(self.topics)
        bare = style.encode(self.pieces, self.question, entities)
        room = room_for(self.model, bare, self.model.context) - TRIPLE_TOKENS
        links: list[Link] = []
        if self.visibility is Visibility.FULL:
            links = self.query.links(ends_of(self.pool))
        elif self.visibility is Visibility.LOCAL:
            links = self.query.links(chain.state.visited)
        if links and room > 0:
            entities.append(self.fitting(self.lines(links, self.pool), room))
        return tuple(style.encode(self.pieces, self.question, entities))
