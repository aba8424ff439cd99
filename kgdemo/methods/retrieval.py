"""Retrieve, then answer: Text-RAG and Graph-RAG (Grounding section 5, Baselines), KAPING (Baek et al. 2023), BM25, and
the direct answer with the graph in the prompt (DoG section 3.3).

They differ in what they may retrieve: sentences of the whole graph's text, by embeddings or by their words, the
neighbours of what was found as well, the triples around the question's own entities, or all that lies around these up
to L hops. One look, no reasoning on the way.

A whole graph is not embedded beforehand: on a CPU that takes minutes and most of it is never asked for. Nodes are
first found by the words of their names, then ranked by embeddings; facts around a hub are first cut to those whose
relations are near the question. What is returned is always read from the graph.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kgdemo.answering.answer_sets import conclude, show
from kgdemo.events import CandidatesScored, Event
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import spoken
from kgdemo.kg.path import Path
from kgdemo.linking.names import NameIndex, name_index
from kgdemo.linking.words import ordinary_words, words_of
from kgdemo.methods.hop_lists import nearest, openings, start
from kgdemo.methods.registry import register
from kgdemo.models.embedding import Bm25, Likeness, embedding_cache
from kgdemo.query.query import Query
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings, chosen, option

MAX_READ = 160  # facts embedded for one question
_BY_WORD = 200  # names looked at for one word
_RANKED = 32  # nodes embedded for one text


def nodes(text: str, resources: Resources, limit: int) -> list[str]:
    """The entities whose text is nearest to ``text`` (RetrieveNode; Text-RAG's retriever)."""
    labels = resources.kg.entities
    if text in labels and limit == 1:
        return [text]
    found = [labels[i] for i in _by_words(text, name_index(resources.kg), _RANKED)]
    order = embedding_cache(resources.embedder).nearest(
        text, [node_text(label, resources.kg) for label in found], limit
    )
    return [found[i] for i in order]


def node_text(label: str, kg: KnowledgeGraph) -> str:
    """What a graph says of a node besides its edges."""
    info = kg.info.get(label)
    if info is None:
        return label
    attributes = (f"{name}: {value}" for name, value in info.attributes.items())
    return "; ".join(filter(None, [label, info.type, ", ".join(info.aliases), info.description, *attributes]))


def facts(
    query: Query, starts: Iterable[Path], resources: Resources, settings: Settings, limit: int = MAX_READ
) -> list[Path]:
    """Paths one hop longer than ``starts``: those whose relations are nearest to the question first.

    Args:
        query: decides which relations come first where there are too many facts.
        starts: paths to go on from; of no hops for the facts around an entity.
        resources, settings: the graph, and how it is walked.
        limit: how many to return.
    """
    found = [opening for path in starts for opening in openings(path, resources, settings)]
    longer: list[Path] = []
    for opening in nearest(query, found, resources, len(found)):
        longer += opening.follow().paths
        if len(longer) >= limit:
            break
    return longer[:limit]


def rank(query: Query, paths: Sequence[Path], likeness: Likeness, limit: int) -> list[tuple[Path, float]]:
    """The paths nearest to the question with their likeness to it, each read as one sentence."""
    unique = list(dict.fromkeys(paths))
    near = likeness.similarity(query.text, [sentence(path) for path in unique])
    order = sorted(range(len(unique)), key=lambda i: -near[i])[:limit]
    return [(unique[i], float(near[i])) for i in order]


def sentence(path: Path) -> str:
    """A path as words: ``Inception directed by Christopher Nolan``."""
    words = [path.entities[0]]
    for _, relation, tail in path.hops:
        words += [spoken(relation), tail]
    return " ".join(words)


def starts_at(entities: Iterable[str]) -> list[Path]:
    """Paths of no hops."""
    return [start(entity) for entity in entities]


def _by_words(text: str, index: NameIndex, limit: int) -> list[int]:
    """Entities whose names share telling words with a text; a name that is covered whole counts most."""
    words = words_of(text)
    score: dict[int, float] = defaultdict(float)
    for word in words:
        for key in word.keys:
            weight = 0.0 if key in ordinary_words() else index.rarity(key)
            for name in index.whole(key):
                score[name.entity] = max(score[name.entity], weight)
            for number in index.holding(key, _BY_WORD):
                name = index.names[number]
                score[name.entity] += weight / math.sqrt(len(name.words))
    for first in range(len(words)):
        for last in range(first + 2, min(len(words), first + index.longest) + 1):
            for name in index.whole("".join(word.key for word in words[first:last])):
                score[name.entity] += last - first
    return sorted(score, key=lambda entity: -score[entity])[:limit]


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
    near = [path for path, _ in rank(query, found, embedding_cache(resources.embedder), _EXTENDED)]
    further = facts(query, near, resources, settings)
    yield from _answer_from(query, [*found, *further], resources, settings)


@register(
    "kaping",
    "KAPING",
    "Baek et al. 2023 (KAPING)",
    "Takes the K triples around the question's entities that are nearest to it by embeddings.",
)
def kaping(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """Triples of the linked entities, one hop, ranked by embeddings; K is the number of paths."""
    known = [topic for topic in query.topics if topic in resources.kg.entities]
    found = facts(query, starts_at(known), resources, settings)
    yield from _answer_from(query, found, resources, settings)


@register(
    "bm25",
    "BM25",
    "Robertson and Zaragoza 2009 (BM25)",
    "As Text-RAG, with the facts ranked by the words that they share with the question.",
)
def bm25(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """Sparse retrieval. Rarity is counted among the facts around the nodes found, not in the whole graph."""
    yield from _answer_from(query, _sentences(query, resources, settings), resources, settings, Bm25())


@dataclass(frozen=True, slots=True)
class GraphInPrompt:
    """How much of the graph is put into the prompt."""

    triples: int = option(60, "facts in the prompt, those likest the question first", minimum=1, maximum=400, public=60)


@register(
    "direct-graph",
    "Direct answer from the graph",
    "Li et al. 2025 (DoG), section 3.3",
    "Puts the graph around the question's entities into the prompt as triples, and asks for the answer at once.",
    options=GraphInPrompt,
)
def direct_graph(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """The baseline Direct Answering: the graph is visible, but no chain of triples is written on the way."""
    limit = chosen(GraphInPrompt, settings.options).triples
    frontier, triples = starts_at(topic for topic in query.topics if topic in resources.kg.entities), []
    for _ in range(settings.hops):
        frontier = facts(query, frontier, resources, settings)
        triples += [Path((head, tail), (relation,)) for path in frontier for head, relation, tail in path.hops[-1:]]
    yield from _answer_from(query, triples, resources, replace(settings, beams=limit))


def _sentences(query: Query, resources: Resources, settings: Settings) -> list[Path]:
    """Facts around the nodes whose text is nearest to the question."""
    return facts(query, starts_at(nodes(query.text, resources, _NODES)), resources, settings)


def _answer_from(
    query: Query, found: Sequence[Path], resources: Resources, settings: Settings, words: Bm25 | None = None
) -> Iterator[Event]:
    """The reasoner's answer from the K paths nearest to the question, by embeddings or by the words shared with it."""
    ranked = rank(query, found, words or embedding_cache(resources.embedder), settings.beams)
    if words:
        ranked = [(path, score) for path, score in ranked if score > 0]  # the others share no word
    texts, scores = tuple(str(path) for path, _ in ranked), tuple(score for _, score in ranked)
    by = "BM25" if words else "sentence embeddings"
    yield CandidatesScored("retrieval", texts, scores, (True,) * len(ranked), by)
    evidence = yield from show(ranked, resources, settings.beams)
    yield from conclude(query, evidence, resources, directed=settings.directed, whole=settings.complete)
