"""The cache of sentence embeddings: every text once, no more than its limit, from however many threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from kgdemo.models.embedding import EmbeddingCache
from tests.helpers.reasoning import SpellingEmbedder


class Counting(SpellingEmbedder):
    """Remembers what it was given to encode."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def encode(self, texts):
        self.texts += texts
        return super().encode(texts)


def test_texts_are_embedded_once():
    embedder = Counting()
    index = EmbeddingCache(embedder)
    assert index.nearest("director", ["born in", "directed by", "directed by"], 1) == [1]
    index.similarity("director", ["born in"])
    assert sorted(embedder.texts) == ["born in", "directed by", "director"]
    assert index.similarity("director", []).shape == (0,)


def test_the_cache_stays_within_its_limit_whoever_asks():
    plain = SpellingEmbedder()
    cache = EmbeddingCache(plain, limit=3)
    texts = [f"text {number}" for number in range(12)]

    def ask(first: int) -> bool:
        asked = [texts[(first + step) % len(texts)] for step in (0, 1, 0, 5)]
        return bool(np.array_equal(cache.vectors(asked), plain.encode(asked)))

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(ask, range(200)))
    assert len(cache) == 3


def test_the_cache_lets_go_first_what_was_asked_for_longest_ago():
    embedder = Counting()
    cache = EmbeddingCache(embedder, limit=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        cache.vectors([text])
    assert embedder.texts == ["a", "b", "c", "b"]
    assert len(cache.vectors(["a", "b", "c"])) == 3, "more than are kept can be asked for at once"
