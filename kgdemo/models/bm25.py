"""How near texts are by their words: BM25, which stands wherever sentence embeddings do."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"[^\W_]+")
_K1, _B = 1.2, 0.75  # as usual


class Likeness(Protocol):
    """How near labels are to what is looked for."""

    def similarity(self, text: str, options: Sequence[str]) -> NDArray[np.float32]:
        """Of each option to the text."""
        ...

    def nearest(self, text: str, options: Sequence[str], limit: int) -> list[int]:
        """Indices of the options nearest to the text, best first."""
        ...


class Bm25:
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

    def nearest(self, text: str, options: Sequence[str], limit: int) -> list[int]:
        """See ``Likeness``."""
        order: list[int] = np.argsort(-self.similarity(text, options), kind="stable")[:limit].tolist()
        return order
