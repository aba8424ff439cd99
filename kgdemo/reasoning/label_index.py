"""Sentence embeddings of labels and triples, made when first asked for and kept: a nearest-neighbour index.

FiDeLiS (section 3.1) embeds every entity and relation of the graph beforehand. On a CPU that takes minutes
for twenty thousand entities and most of them are never looked at, so here a label is embedded when a search
first reaches it; the index is the same, filled from the question outwards.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kgdemo.linking.base import Embedder

_KEPT = 100_000  # texts; 150 MB of vectors


class LabelIndex:
    """Vectors of texts, each encoded once; safe to use from several threads.

    Args:
        embedder: sentence embeddings.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """L2-normalised rows, ``(len(texts), d)``."""
        with self._lock:
            missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
            if missing:
                self._vectors.update(zip(missing, self.embedder.encode(missing), strict=True))
            rows = np.stack([self._vectors[text] for text in texts]) if texts else np.empty((0, 1), np.float32)
            while len(self._vectors) > _KEPT:
                self._vectors.popitem(last=False)
        return rows

    def similarity(self, text: str, options: Sequence[str]) -> NDArray[np.float32]:
        """Cosine similarity of each option to the text."""
        if not options:
            return np.empty(0, np.float32)
        return self.vectors(options) @ self.vectors([text])[0]

    def nearest(self, text: str, options: Sequence[str], most: int) -> list[int]:
        """Indices of the options most similar to the text, best first."""
        return np.argsort(-self.similarity(text, options), kind="stable")[:most].tolist()


@lru_cache(maxsize=2)
def label_index(embedder: Embedder) -> LabelIndex:
    """The index that belongs to an embedder."""
    return LabelIndex(embedder)
