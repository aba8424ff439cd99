"""Retrieval by words and sentence embeddings: nodes of a graph, and facts around them.

A whole graph is not embedded beforehand: on a CPU that takes minutes and most of it is never asked for.
Nodes are first found by the words of their names, then ranked by embeddings; facts around a hub are first
cut to those whose relations are near the question. What is returned is always read from the graph.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.kg.words import spoken
from kgdemo.linking.names import NameIndex, name_index
from kgdemo.linking.words import ordinary_words, words_of
from kgdemo.methods.hop_lists import nearest, openings, start
from kgdemo.models.embedding import embedding_cache
from kgdemo.query.query import Query
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings

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


def rank(query: Query, paths: Sequence[Path], resources: Resources, limit: int) -> list[tuple[Path, float]]:
    """The paths nearest to the question with their cosine similarity, each read as one sentence."""
    unique = list(dict.fromkeys(paths))
    likeness = embedding_cache(resources.embedder).similarity(query.text, [sentence(path) for path in unique])
    order = sorted(range(len(unique)), key=lambda i: -likeness[i])[:limit]
    return [(unique[i], float(likeness[i])) for i in order]


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
