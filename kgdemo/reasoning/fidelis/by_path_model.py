"""FiDeLiS's beam decisions by the model that was trained to write reasoning paths (appendix B's small model).

It decodes its choice under the constraint of the candidates, so that it cannot choose what is not there; where
it would end the path, it takes the question to be answered (table 5's logit-based verification).
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import replace

from kgdemo.constraint.query_graph import Link, QueryGraph
from kgdemo.constraint.triples import Spelling, TripleTrie
from kgdemo.decoding.beam import BeamSettings
from kgdemo.events import DeductionChecked, Event
from kgdemo.kg.path import Path
from kgdemo.reasoning.base import World
from kgdemo.reasoning.dog.chain import Watching
from kgdemo.reasoning.dog.writing import Writing
from kgdemo.reasoning.fidelis.decisions import Grown, sentences
from kgdemo.reasoning.fidelis.path_rag import Candidate
from kgdemo.reasoning.fidelis.plan import Plan
from kgdemo.settings import Settings


class ByPathModel:
    """Beam decisions by the model that was trained to write reasoning paths.

    Args:
        world, question, topics, plan: what to decide on.
        settings: for how scores are taken and what is told of forbidden tokens.
    """

    halts = False

    def __init__(self, world: World, question: str, topics: Sequence[str], plan: Plan, settings: Settings) -> None:
        self.world, self.plan, self.hops = world, plan, settings.hops
        self.query = QueryGraph(world.kg, settings.directed, collapse=False)
        limits = BeamSettings(
            graph_normalised=settings.ranking != "path",
            masked=settings.explain,
            look_ahead=settings.tokens_ahead(world.model.on_gpu),
        )
        self.writing = Writing(world, question, self.query, Watching(world.model), limits)
        self.prompt = tuple(world.model.style.encode(world.model.pieces, question, topics))

    def select(self, grown: Grown, candidates: Sequence[Candidate], width: int) -> Generator[Event, None, list[Grown]]:
        """See ``Decisions``: beam search over the trie of the candidates."""
        by_link = self._links(grown.path, candidates)
        pieces = self.world.model.pieces
        last = len(grown.path.relations) + 1 >= self.hops
        ends = [pieces.end] if last else [pieces.end, pieces.arrow]  # the second announces another step
        spelling = Spelling.ONWARD if grown.tokens else Spelling.WALKED
        trie = TripleTrie(self.world.tokenised, list(by_link), spelling, ends)
        written = yield from self.writing.search(self.prompt, grown.tokens, trie, ends, width)
        found = []
        for triple in written:
            candidate = by_link[triple.link]
            total = grown.likelihood + triple.score
            steps = (*grown.steps, triple.score)
            found.append(Grown(candidate.path, total, steps, triple.tokens, triple.ending))
        return found

    def follows(self, before: Grown, grown: Grown) -> Generator[Event, None, bool]:
        """See ``Decisions``; that the step begins where the path ends is all there is to it."""
        yield from ()
        return before.path.end == grown.path.entities[-2]

    def deduced(self, kept: Sequence[Grown]) -> Generator[Event, None, list[Grown]]:
        """See ``Decisions``: every path may end here, each with its probability; what is likely is said."""
        for grown in kept:
            holds = grown.ending > math.log(0.5)
            premises = tuple(sentences(grown.path))
            yield DeductionChecked(self.plan.filled(grown.path), premises, holds, self.world.model.name)
        ended = [grown for grown in kept if grown.ending > -math.inf]
        return [replace(grown, likelihood=grown.likelihood + grown.ending) for grown in ended]

    def _links(self, path: Path, candidates: Sequence[Candidate]) -> dict[Link, Candidate]:
        """The candidates as the constraint knows them."""
        kg = self.world.kg
        wanted = {(c.path.relations[-1], c.path.end): c for c in candidates}
        links = self.query.links([kg.entities.find(path.end)])  # type: ignore[list-item]
        steps = [(link, (kg.readings[link.path.steps[0]], kg.entities[link.last])) for link in links]
        return {link: wanted[step] for link, step in steps if step in wanted}
