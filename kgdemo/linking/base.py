"""The seams of linking: what it needs of a sentence embedder, what it gives to a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kgdemo.events import Candidate, Mention


class Embedder(Protocol):
    """Turns texts into vectors whose dot product is their likeness."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts; float32, shape ``(len(texts), d)``, every row of length 1."""
        ...


@dataclass(frozen=True, slots=True)
class Linking:
    """The entities of one question.

    Attributes:
        mentions: stretches of the question that may name entities, in the question's order.
        chosen: the topic entities: the first candidate of each confident mention, surest first, each once.
        nearest: where nothing was chosen, the names most like the question's words; only ever suggestions.
    """

    mentions: tuple[Mention, ...] = ()
    chosen: tuple[str, ...] = ()
    nearest: tuple[Candidate, ...] = ()
