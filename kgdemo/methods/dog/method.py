"""DoG: decoding on graphs (Li et al. 2025, section 2).

A language model writes a chain of triples. Each triple must touch what the chain has reached, and the query-centric
subgraph grows by all triples around what has been written (section 2.3, equation 1). A triple-level beam search over
the token-level one keeps the chains with the highest scores (section 2.4, Algorithm 1). A chain hangs together as
trees, and each branch is a path from a topic: these paths are verified and answered from. Beside it runs the same
prompt without the constraint, the paper's CoT baseline.

Where the graph stands in the prompt it is cut to the question (section 3.1 and appendix B): from the neighbourhood of
the query entities the triples most similar to the question are taken one after another, each with the triples that lead
to it from a query entity, until 120 are together (``question_graph``).
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

import numpy as np

from kgdemo.answering.answer_sets import conclude
from kgdemo.constraint.triple_chains import ChainConstraint, ChainState, Link, QueryGraph
from kgdemo.events import AnswerFinal, ConstraintReady, Event, HypothesisAnswer, PathFound, PathVerified, Thought
from kgdemo.kg.graph import IdTriple, KnowledgeGraph
from kgdemo.kg.labels import spoken
from kgdemo.kg.path import Path, PathIds
from kgdemo.methods.dog.chains import DogOptions, Script, TripleChain, Visibility, Watching
from kgdemo.methods.dog.scripts import ChainScript, PathScript
from kgdemo.methods.registry import register
from kgdemo.methods.search_branch import limits_of
from kgdemo.models.embedding import EmbeddingCache, embedding_cache
from kgdemo.query.query import Query
from kgdemo.ranking.abstention import abstained
from kgdemo.reasoners.base import Evidence, Resources
from kgdemo.settings import Settings, chosen

MAX_TRIPLES = 120  # DoG section 3.1
# A hub has tens of thousands of triples and an embedder reads some hundreds a second. At each hop only this many times
# the triples wanted are read, chosen by the similarity of their relations, which are few.
_READ_FACTOR = 2


@register(
    "dog",
    "Decoding on graphs",
    "Li et al. 2025 (DoG), section 2",
    "Writes a chain of triples: each must touch what the chain has reached, and the graph in reach grows with it.",
    constrained=True,
    options=DogOptions,
)
def run(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """Algorithm 1, its chains as verified paths, and an answer from them."""
    dog = chosen(DogOptions, settings.options)
    dog = replace(dog, width=min(dog.width, settings.beams))
    search = Search(query, resources, settings, dog)
    chains = yield from search.chains()
    evidence = yield from grounded(chains, search.topic_ids, resources)
    if settings.compare:
        yield from search.unconstrained()
    for event in abstained(query, evidence, resources):
        yield event
        if isinstance(event, AnswerFinal):
            return
    yield from conclude(query, evidence, resources, directed=settings.directed, whole=settings.complete)


class Search:
    """Algorithm 1 for one question.

    Args:
        query: what is asked; its topics are the query entities.
        resources, settings, dog: the graph and the model, and what was chosen.
    """

    def __init__(self, query: Query, resources: Resources, settings: Settings, dog: DogOptions) -> None:
        self.began = time.perf_counter()
        self.query, self.resources, self.settings, self.dog = query, resources, settings, dog
        self.topic_ids = resources.kg.entities.ids_of(query.topics)
        self.steps = dog.steps or settings.hops * max(1, min(2, len(self.topic_ids)))
        self.watching = Watching(resources.model)
        self.subgraph = QueryGraph(resources.kg, settings.directed)
        self.trained = dog.script == "path" or (dog.script == "auto" and len(resources.model.label_tokens.start) == 1)
        self._thoughts = 0
        self.script = self._script(self._pool())

    def chains(self) -> Generator[Event, None, list[TripleChain]]:
        """The best chains, best first (Algorithm 1; its line numbers in the comments)."""
        start = ChainState(tuple(self.topic_ids))  # 1, 2: the query-centric subgraph is what touches the topics
        reach = self.subgraph.links(start.visited)
        ms = 1000 * (time.perf_counter() - self.began)
        yield ConstraintReady("query-centric subgraph", self.query.topics, self.settings.hops, len(reach), ms)
        chains = [TripleChain(start)]
        finished: list[TripleChain] = []
        for step in range(self.steps):  # 3
            extended = yield from self._extended(chains)  # 5 to 13
            chains = yield from self._shown(extended, last=step + 1 == self.steps)  # 14
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
        prompt = self.script.prompt(TripleChain(ChainState(tuple(self.topic_ids))))
        yield from self.script.unconstrained(prompt, self.dog.width)

    def _extended(self, chains: Sequence[TripleChain]) -> Generator[Event, None, list[TripleChain]]:
        """Every chain with each of its likeliest next triples; the same triples in another order count once."""
        extended: dict[frozenset[IdTriple], TripleChain] = {}
        for chain in chains:
            found = [] if chain.ended else (yield from self.script.triples(chain, self.dog.width))  # 8
            candidates = [chain.extended(triple) for triple in found]  # 9 to 12
            if not found and not self.script.closes:
                candidates = [chain]  # it has ended, or has nowhere to go
            for candidate in candidates:
                known = extended.get(candidate.state.used)
                if known is None or candidate.score > known.score:
                    extended[candidate.state.used] = candidate
        return sorted(extended.values(), key=lambda c: -c.score)

    def _shown(self, extended: Sequence[TripleChain], last: bool) -> Generator[Event, None, list[TripleChain]]:
        """Keep the best chains, write the text behind their new triples, and say what became of all."""
        selected = []
        for rank, chain in enumerate(extended):
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
            selected += [chain] if keep else []
        return selected

    def _concluded(self, finished: Sequence[TripleChain]) -> Generator[Event, None, list[TripleChain]]:
        """The finished chains; the best with the hypothesis answers behind them."""
        concluded = [chain for chain in finished if chain.score > -math.inf][: self.settings.beams]
        for place, chain in enumerate(concluded[: self.dog.width]):
            concluded[place] = replace(chain, notes=((yield from self.script.note(chain)),))
        return concluded

    def _thought(self, chain: TripleChain, selected: bool) -> Thought:
        self._thoughts += 1
        link, kg = chain.written[-1].link, self.resources.kg
        path = self.resources.kg.labelled(link.path)
        text, read = str(path), self.resources.verifier.verify(path).faithful
        if selected and chain.notes and chain.notes[-1].text:
            text += f" — {chain.notes[-1].text}"
        return Thought(
            "thought",
            self._thoughts,
            (chain.thought,) if chain.thought else (),
            text,
            path.entities,
            tuple((kg.entities[h], kg.relations[r], kg.entities[t]) for h, r, t in link.triples if read),
            chain.score,
            "kept" if selected else "pruned",
            "" if selected else f"{self.dog.width} chains score higher",
        )

    def _growth(self, chain: TripleChain) -> Thought:
        """What the last triple brought into reach (equation 1)."""
        self._thoughts += 1
        last = chain.written[-1].link.last
        before = {*self.topic_ids, *(link.last for link in chain.state.links[:-1])}
        links = [] if last in before else self.subgraph.links([last], chain.state.used)
        new = sum(link.last not in before for link in links)
        entity = self.resources.kg.entities[last]
        text = f"{entity} brings {new} more triple{'s' * (new != 1)} within reach"
        return Thought("observation", self._thoughts, (chain.thought,), text, (entity,))

    def _pool(self) -> tuple[IdTriple, ...]:
        """The question's graph (section 3.1, appendix B); empty stands for the whole graph."""
        size = self.dog.triples
        if size is None:
            size = 0 if self.trained and self.dog.visibility in (Visibility.AUTO, Visibility.HIDDEN) else MAX_TRIPLES
        if not size:
            return ()
        labels = embedding_cache(self.resources.embedder)
        pool = question_graph(self.query.text, self.topic_ids, self.subgraph, labels, self.settings.hops, size)
        self.subgraph = QueryGraph(self.resources.kg, self.settings.directed, frozenset(pool))
        return pool

    def _script(self, pool: tuple[IdTriple, ...]) -> Script:
        dog, model = self.dog, self.resources.model
        limits = limits_of(self.settings, model)
        common = (self.resources, self.query, self.subgraph, self.watching, limits)
        if self.trained:
            return PathScript(
                *common,
                hops=self.settings.hops,
                steps=self.steps,
                visibility=Visibility.HIDDEN if dog.visibility is Visibility.AUTO else dog.visibility,
                pool=pool,
            )
        constraint = ChainConstraint(self.resources.token_graph, self.subgraph, model.stop_ids, model.vocabulary)
        return ChainScript(
            *common,
            constraint=constraint,
            visibility=dog.visibility,
            pool=pool,
            free_tokens=dog.free_tokens,
            steps=self.steps,
        )


# From chains to verified paths -------------------------------------------------------------------


def paths_of(chain: TripleChain, topics: Sequence[int]) -> list[PathIds]:
    """A chain as paths from the topics: its triples hang together as trees, and each leaf is a path's end.

    The path of the last triple comes first: it is the one the model concluded with.
    """
    by_entity = {topic: PathIds((topic,), ()) for topic in topics}
    leaves: dict[PathIds, None] = {}
    for link in chain.state.links:
        before = by_entity[link.first]
        path = PathIds((*before.entities, *link.path.entities[1:]), (*before.steps, *link.path.steps))
        leaves.pop(before, None)
        leaves[path] = None
        by_entity.setdefault(link.last, path)
    return list(reversed(leaves))


def grounded(
    chains: Sequence[TripleChain], topics: Sequence[int], resources: Resources
) -> Generator[Event, None, list[Evidence]]:
    """Report and verify the chains' paths, best chain first."""
    found: dict[Path, tuple[TripleChain, str]] = {}
    for chain in chains:
        for place, ids in enumerate(paths_of(chain, topics)):
            answer = chain.notes[-1].answer if chain.notes and not place else ""
            found.setdefault(resources.kg.labelled(ids), (chain, answer))
    evidence = []
    for index, (path, (chain, answer)) in enumerate(found.items(), 1):
        beam = chain.written[-1].beam
        verdict = resources.verifier.verify(path, answer or None)  # first, for a store may fail here
        yield PathFound(True, index, str(path), chain.score, path, beam, chain.relation_score)
        if answer:
            yield HypothesisAnswer(True, index, answer)
        yield PathVerified(True, index, verdict)
        detour = resources.kg.is_detour(path)
        evidence.append(Evidence(index, path, answer, chain.score, chain.relation_score, detour=detour))
    return evidence


# The graph of one question -----------------------------------------------------------------------


def question_graph(
    question: str,
    topics: Sequence[int],
    subgraph: QueryGraph,
    labels: EmbeddingCache,
    hops: int,
    limit: int = MAX_TRIPLES,
) -> tuple[IdTriple, ...]:
    """The stored triples that a chain may use, nearest first.

    Args:
        question: what was asked.
        topics: the query entities' ids.
        subgraph: the whole graph, as links.
        labels: embeddings.
        hops: how far from the query entities to look.
        limit: how many triples to keep.
    """
    reached_by: dict[int, Link | None] = dict.fromkeys(topics)
    frontier = list(reached_by)
    near: list[Link] = []
    for _ in range(hops):
        links = _likeliest(question, subgraph.links(frontier), subgraph.kg, labels, _READ_FACTOR * limit)
        near += links
        frontier = []
        for link in links:
            if link.last not in reached_by:
                reached_by[link.last] = link
                frontier.append(link.last)
    return _connected(_ranked(question, near, subgraph.kg, labels, _READ_FACTOR * limit), reached_by, limit)


def text_of(kg: KnowledgeGraph, link: Link) -> str:
    """A link as the embedder reads it: ``(head, relation, tail)`` in the direction it is walked."""
    steps = "-".join(spoken(kg.step_labels[step]) for step in link.path.steps)
    return f"({kg.entities[link.first]}, {steps}, {kg.entities[link.last]})"


def _likeliest(
    question: str, links: Sequence[Link], kg: KnowledgeGraph, labels: EmbeddingCache, limit: int
) -> list[Link]:
    """The links whose relations are most similar to the question; a fair share of each relation first."""
    if len(links) <= limit:
        return list(links)
    walked = dict.fromkeys(link.path.steps for link in links)
    said = {steps: " ".join(spoken(kg.step_labels[step]) for step in steps) for steps in walked}
    relations = [said[link.path.steps] for link in links]
    names = list(dict.fromkeys(relations))
    score = dict(zip(names, labels.similarity(question, names).tolist(), strict=True))
    seen: dict[str, int] = {}
    turns = []
    for relation in relations:
        seen[relation] = seen.get(relation, 0) + 1
        turns.append(seen[relation] // max(limit // 4, 1))  # no relation takes more than a quarter at first
    order = sorted(range(len(links)), key=lambda i: (turns[i], -score[relations[i]]))
    return [links[i] for i in order[:limit]]


def _ranked(question: str, links: Sequence[Link], kg: KnowledgeGraph, labels: EmbeddingCache, limit: int) -> list[Link]:
    """Links by the similarity of the whole triple, best first."""
    read = _likeliest(question, links, kg, labels, limit)
    order = np.argsort(-labels.similarity(question, [text_of(kg, link) for link in read]), kind="stable")
    return [read[i] for i in order]


def _connected(ranked: Sequence[Link], reached_by: dict[int, Link | None], limit: int) -> tuple[IdTriple, ...]:
    """Take links in order, each with those that lead to it, until ``limit`` triples are together."""
    taken: dict[IdTriple, None] = {}
    for link in ranked:
        chain, back = list(link.triples), reached_by[link.first]
        while back is not None:
            chain += back.triples
            back = reached_by[back.first]
        new = [triple for triple in chain if triple not in taken]
        if len(taken) + len(new) <= limit:
            taken.update(dict.fromkeys(new))
    return tuple(taken)
