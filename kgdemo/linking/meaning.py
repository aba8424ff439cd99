"""Which of several candidates a question means, by sentence embeddings; only asked when names do not settle it.

A question is likened to the relations of each candidate: *where was Lincoln shot* is near relations that
a president has and a city lacks. Embedding relations, not entities, keeps this small: a graph has few,
and they are cached. Namesakes that even then are level are likened by their type and description.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.linking.base import Embedder
from kgdemo.linking.context import Context
from kgdemo.linking.names import bracket_of, without_bracket

_FORWARD, _BACKWARD, _TEXT = 1.9, 2.5, 2.0  # fitted beside the weights of ``scoring``
_MOST_AT_ONCE = 512  # relations; of a graph with more only those that are asked for are embedded


class Meaning:
    """Likeness of questions to the entities of one graph."""

    def __init__(self, kg: KnowledgeGraph, context: Context, embedder: Embedder) -> None:
        self.kg = kg
        self._context = context
        self._embedder = embedder
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def question(self, text: str, namesakes: Sequence[int] = ()) -> NDArray[np.float32]:
        """A question's vector, ``(d,)``; entities that may have to be told apart are embedded in the same go."""
        new = [told for told in dict.fromkeys(map(self.text, namesakes)) if told not in self._vectors]
        vectors = self._embedder.encode([text, *new])
        self._vectors.update(zip(new, vectors[1:], strict=True))
        return vectors[0]

    def by_relations(self, asked: NDArray[np.float32], entities: Sequence[int]) -> NDArray[np.float32]:
        """Log-odds for each entity from its relations, as head and as tail; on average 0."""
        count = len(self.kg.relations)
        steps = [self._context.steps(entity) for entity in entities]
        used = sorted({int(step) % count for own in steps for step in own})
        likeness = np.zeros(count, dtype=np.float32)
        if count <= _MOST_AT_ONCE:  # the first question pays, the others look them up
            self._embed([relation_text(relation) for relation in self.kg.relations])
        texts = [relation_text(self.kg.relations[relation]) for relation in used]
        likeness[used] = self._embed(texts) @ asked
        odds = [
            _FORWARD * likeness[own[own < count]].max(initial=0.0)
            + _BACKWARD * likeness[own[own >= count] - count].max(initial=0.0)
            for own in steps
        ]
        return np.asarray(odds, dtype=np.float32) - np.float32(np.mean(odds))

    def by_text(self, asked: NDArray[np.float32], entities: Sequence[int]) -> NDArray[np.float32]:
        """Log-odds for each entity from its label, type and description; on average 0."""
        odds = _TEXT * (self._embed([self.text(entity) for entity in entities]) @ asked)
        return odds - odds.mean()

    def text(self, entity: int) -> str:
        """An entity in words: label, type or bracket, description."""
        label = self.kg.entities[entity]
        info = self.kg.info.get(label)
        told = [info.type, info.description] if info else []
        about = ", ".join(dict.fromkeys(filter(None, [bracket_of(label), *told])))
        return f"{without_bracket(label)}: {about}" if about else without_bracket(label)

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts, each only once; ``(len(texts), d)``."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, self._embedder.encode(new), strict=True))
        return np.stack([self._vectors[text] for text in texts])


def relation_text(relation: str) -> str:
    """A relation in words; of a path of names the last three different parts: ``people person birthplace``."""
    parts = [part.replace("_", " ") for part in re.split(r"[/.~]+", relation) if part]
    if "/" not in relation:
        return " ".join(parts)
    return " ".join(list(dict.fromkeys(parts[1:] or parts))[-3:])
