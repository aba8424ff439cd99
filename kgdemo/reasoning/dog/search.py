"""DoG's triple-level beam search over the token-level one (section 2.4, Algorithm 1)."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

from kgdemo.constraint.chains import ChainConstraint, ChainState
from kgdemo.constraint.query_graph import IdTriple, QueryGraph
from kgdemo.decoding.beam import BeamSettings
from kgdemo.events import ConstraintReady, Event, Thought
from kgdemo.reasoning.base import World
from kgdemo.reasoning.dog.chain import Chain, Watching
from kgdemo.reasoning.dog.chain_script import ChainScript
from kgdemo.reasoning.dog.options import DogOptions, Visibility
from kgdemo.reasoning.dog.path_script import PathScript
from kgdemo.reasoning.dog.writing import Script
from kgdemo.reasoning.label_index import label_index
from kgdemo.reasoning.question_graph import MOST, question_graph
from kgdemo.reasoning.ranking import labelled
from kgdemo.settings import Settings


class Search:
    """Algorithm 1 for one question.

    Args:
        question, topics: what is asked, and the query entities' labels.
        world, settings, dog: the graph and the model, and what was chosen.
    """

    def __init__(self, question: str, topics: Sequence[str], world: World, settings: Settings, dog: DogOptions) -> None:
        self.began = time.perf_counter()
        self.question, self.topics, self.world, self.settings, self.dog = question, topics, world, settings, dog
        self.topic_ids = [i for topic in topics if (i := world.kg.entities.find(topic)) is not None]
        self.steps = dog.steps or settings.hops * max(1, min(2, len(self.topic_ids)))
        self.watching = Watching(world.model)
        self.query = QueryGraph(world.kg, settings.directed)
        self.trained = dog.script == "path" or (dog.script == "auto" and len(world.model.pieces.start) == 1)
        self._thoughts = 0
        self.script = self._script(self._pool())

    def chains(self) -> Generator[Event, None, list[Chain]]:
        """The best chains, best first (Algorithm 1; its line numbers in the comments)."""
        start = ChainState(tuple(self.topic_ids))  # 1, 2: the query-centric subgraph is what touches the topics
        reach = self.query.links(start.visited)
        ms = 1000 * (time.perf_counter() - self.began)
        yield ConstraintReady("query-centric subgraph", tuple(self.topics), self.settings.hops, len(reach), ms)
        chains, finished = [Chain(start)], []
        for step in range(self.steps):  # 3
            grown = yield from self._grown(chains)  # 5 to 13
            chains = yield from self._shown(grown, last=step + 1 == self.steps)  # 14
            if self.script.closes:
                finished = sorted([*finished, *(c.closed() for c in chains)], key=lambda c: -c.score)
                worst = finished[: self.dog.width][-1].score if len(finished) >= self.dog.width else -math.inf
                if not chains or chains[0].score <= worst:  # scores only fall
                    break
            elif all(chain.ended for chain in chains):
                break
        return (yield from self._concluded(finished)) if self.script.closes else [c for c in chains if c.written]

    def unconstrained(self) -> Iterator[Event]:
        """The same prompt without the constraint (the paper's CoT baseline)."""
        prompt = self.script.prompt(Chain(ChainState(tuple(self.topic_ids))))
        yield from self.script.unconstrained(prompt, self.dog.width)

    def _grown(self, chains: Sequence[Chain]) -> Generator[Event, None, list[Chain]]:
        """Every chain with each of its likeliest next triples; the same triples in another order count once."""
        grown: dict[frozenset[IdTriple], Chain] = {}
        for chain in chains:
            found = [] if chain.ended else (yield from self.script.triples(chain, self.dog.width))  # 8
            candidates = [chain.grown(triple) for triple in found]  # 9 to 12
            if not found and not self.script.closes:
                candidates = [chain]  # it has ended, or has nowhere to go
            for candidate in candidates:
                known = grown.get(candidate.state.used)
                if known is None or candidate.score > known.score:
                    grown[candidate.state.used] = candidate
        return sorted(grown.values(), key=lambda c: -c.score)

    def _shown(self, grown: Sequence[Chain], last: bool) -> Generator[Event, None, list[Chain]]:
        """Keep the best chains, write the text behind their new triples, and say what became of all."""
        kept = []
        for rank, chain in enumerate(grown):
            keep = rank < self.dog.width
            if chain.new:
                if keep and not self.script.closes:
                    note = yield from self.script.note(chain)
                    chain = replace(chain, notes=(*chain.notes, note))
                thought = self._thought(chain, keep)
                yield thought
                chain = replace(chain, thought=thought.id, shown=len(chain.written))
                if keep and not chain.ended and not last:
                    yield self._growth(chain)
            kept += [chain] if keep else []
        return kept

    def _concluded(self, finished: Sequence[Chain]) -> Generator[Event, None, list[Chain]]:
        """The finished chains; the best with the hypothesis answers behind them."""
        concluded = [chain for chain in finished if chain.score > -math.inf][: self.settings.beams]
        for place, chain in enumerate(concluded[: self.dog.width]):
            concluded[place] = replace(chain, notes=((yield from self.script.note(chain)),))
        return concluded

    def _thought(self, chain: Chain, kept: bool) -> Thought:
        self._thoughts += 1
        link, kg = chain.written[-1].link, self.world.kg
        path = labelled(self.world.tokenised, link.path)
        text, read = str(path), self.world.verifier.verify(path).faithful
        if kept and chain.notes and chain.notes[-1].text:
            text += f" — {chain.notes[-1].text}"
        return Thought(
            "thought",
            self._thoughts,
            (chain.thought,) if chain.thought else (),
            text,
            path.entities,
            tuple((kg.entities[h], kg.relations[r], kg.entities[t]) for h, r, t in link.triples if read),
            chain.score,
            "kept" if kept else "pruned",
            "" if kept else f"{self.dog.width} chains score higher",
        )

    def _growth(self, chain: Chain) -> Thought:
        """What the last triple brought into reach (equation 1)."""
        self._thoughts += 1
        last = chain.written[-1].link.last
        before = {*self.topic_ids, *(link.last for link in chain.state.links[:-1])}
        links = [] if last in before else self.query.links([last], chain.state.used)
        new = sum(link.last not in before for link in links)
        entity = self.world.kg.entities[last]
        text = f"{entity} brings {new} more triple{'s' * (new != 1)} within reach"
        return Thought("observation", self._thoughts, (chain.thought,), text, (entity,))

    def _pool(self) -> tuple[IdTriple, ...]:
        """The question's graph (section 3.1, appendix B); empty stands for the whole graph."""
        size = self.dog.triples
        if size is None:
            size = 0 if self.trained and self.dog.visibility in (Visibility.AUTO, Visibility.HIDDEN) else MOST
        if not size:
            return ()
        labels = label_index(self.world.embedder)
        pool = question_graph(self.question, self.topic_ids, self.query, labels, self.settings.hops, size)
        self.query = QueryGraph(self.world.kg, self.settings.directed, frozenset(pool))
        return pool

    def _script(self, pool: tuple[IdTriple, ...]) -> Script:
        dog, model = self.dog, self.world.model
        limits = BeamSettings(
            graph_normalised=self.settings.ranking != "path",
            masked=self.settings.explain,
            look_ahead=self.settings.tokens_ahead(model.on_gpu),
        )
        common = (self.world, self.question, self.query, self.watching, limits)
        if self.trained:
            return PathScript(
                *common,
                topics=self.topics,
                hops=self.settings.hops,
                steps=self.steps,
                visibility=Visibility.HIDDEN if dog.visibility is Visibility.AUTO else dog.visibility,
                pool=pool,
            )
        constraint = ChainConstraint(self.world.tokenised, self.query, self.topic_ids, model.stop_ids, model.vocabulary)
        return ChainScript(
            *common,
            constraint=constraint,
            visibility=dog.visibility,
            pool=pool,
            free_tokens=dog.free_tokens,
            steps=self.steps,
        )
