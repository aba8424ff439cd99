"""Retrieve, then answer: Text-RAG and Graph-RAG (Grounding section 5, Baselines) and KAPING (Baek et al. 2023).

They differ in what they may retrieve: sentences of the whole graph's text, the neighbours of what was found as
well, or the triples around the question's own entities. One look, no reasoning on the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgdemo.answering.answer_sets import conclude, show
from kgdemo.events import CandidatesScored, Event
from kgdemo.kg.path import Path
from kgdemo.methods import retrieval
from kgdemo.methods.registry import register
from kgdemo.query.query import Query
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings

_NODES = 5  # nodes whose sentences are read
_EXTENDED = 5  # facts whose neighbours Graph-RAG adds


@register(
    "text-rag",
    "Text-RAG",
    "Amayuelas et al. 2025 (Grounding), section 5",
    "Searches the graph's facts as plain sentences by words and embeddings, and answers from the nearest.",
)
def text_rag(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """The graph as text: no entity linking, no following of edges. The topics are not used."""
    yield from _answer_from(query, _sentences(query, resources, settings), resources, settings)


@register(
    "graph-rag",
    "Graph-RAG",
    "Amayuelas et al. 2025 (Grounding), section 5",
    "As Text-RAG, with the neighbours of what was found, one hop further.",
)
def graph_rag(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """Text-RAG's facts, and the facts around the entities that the best of them lead to."""
    found = _sentences(query, resources, settings)
    near = [path for path, _ in retrieval.rank(query, found, resources, _EXTENDED)]
    further = retrieval.facts(query, near, resources, settings)
    yield from _answer_from(query, [*found, *further], resources, settings)


@register(
    "kaping",
    "KAPING",
    "Baek et al. 2023 (KAPING), section 3",
    "Takes the K triples around the question's entities that are nearest to it by embeddings.",
)
def kaping(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """Triples of the linked entities, one hop, ranked by embeddings; K is the number of paths."""
    known = [topic for topic in query.topics if topic in resources.kg.entities]
    found = retrieval.facts(query, retrieval.starts_at(known), resources, settings)
    yield from _answer_from(query, found, resources, settings)


def _sentences(query: Query, resources: Resources, settings: Settings) -> list[Path]:
    """Facts around the nodes whose text is nearest to the question."""
    nodes = retrieval.nodes(query.text, resources, _NODES)
    return retrieval.facts(query, retrieval.starts_at(nodes), resources, settings)


def _answer_from(query: Query, found: Sequence[Path], resources: Resources, settings: Settings) -> Iterator[Event]:
    """The K nearest paths, verified, and the reasoner's answer from them."""
    ranked = retrieval.rank(query, found, resources, settings.beams)
    scores = tuple(score for _, score in ranked)
    texts = tuple(str(path) for path, _ in ranked)
    yield CandidatesScored("retrieval", texts, scores, (True,) * len(ranked), "sentence embeddings")
    evidence = yield from show(ranked, resources, settings.beams)
    yield from conclude(query, evidence, resources, directed=settings.directed, whole=settings.complete)
