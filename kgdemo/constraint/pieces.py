"""From labels to token ids: the pieces that every reasoning path is spliced from.

A path is written ``<PATH> e0 -> r1 -> e1 … </PATH>`` (GCR section 4.1 and Figure 9). Labels are cut
*before* the space, never after it: tokenising ``" " + label`` and ``" ->"`` apart and splicing gives
what tokenising the whole string gives, for byte-level BPE and for WordPiece alike; ``Pieces.is_exact``
checks that for the tokeniser at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

PATH_START = "<PATH>"
PATH_END = "</PATH>"
ARROW = "->"


class Tokenizer(Protocol):
    """The part of a transformers tokeniser that we use."""

    def __call__(self, text, add_special_tokens: bool = ..., split_special_tokens: bool = ...): ...

    def decode(self, token_ids, skip_special_tokens: bool = ...) -> str: ...

    def convert_tokens_to_ids(self, tokens): ...


@dataclass(frozen=True, slots=True)
class TokenTable:
    """Token ids of many labels, ragged: label ``i`` is ``ids[offsets[i]:offsets[i + 1]]``."""

    offsets: NDArray[np.int64]  # (labels + 1,)
    ids: NDArray[np.int32]  # (tokens,)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def row(self, label: int) -> NDArray[np.int32]:
        """Token ids of one label."""
        return self.ids[self.offsets[label] : self.offsets[label + 1]]

    def joined(self, more: TokenTable) -> TokenTable:
        """These labels, with more of them behind."""
        offsets = np.concatenate([self.offsets, self.offsets[-1] + more.offsets[1:]])
        return TokenTable(offsets, np.concatenate([self.ids, more.ids]))


class Pieces:
    """Token ids of labels, arrow and path marks for one tokeniser.

    Special tokens inside labels are neutralised: a label ``</PATH>`` is spelled in ordinary tokens and
    can never be taken for the end of a path.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.start = self.special(PATH_START)
        self.end = self.special(PATH_END)
        self.arrow = tuple(self.plain(" " + ARROW))

    def special(self, mark: str) -> tuple[int, ...]:
        """Token ids of a path mark: its own token when the vocabulary has one, else its spelling."""
        return tuple(self.tokenizer(mark, add_special_tokens=False)["input_ids"])

    def plain(self, text: str) -> list[int]:
        """Token ids of untrusted text, special tokens spelled out."""
        return list(self.tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"])

    def encode(self, labels: Sequence[str]) -> TokenTable:
        """Token ids of ``" " + label`` for each label."""
        rows: list[list[int]] = []
        for start in range(0, len(labels), 20_000):
            rows += self._plain_batch([" " + label for label in labels[start : start + 20_000]])
        offsets = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        flat = np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=int(offsets[-1]))
        return TokenTable(offsets, flat)

    def _plain_batch(self, texts: list[str]) -> list[list[int]]:
        """``plain`` for many texts; past the first, the Rust tokeniser is asked without going through transformers."""
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        asked = texts if backend is None else texts[:1]
        # this call also sets the backend to neither pad nor cut and to spell out special tokens
        rows = list(self.tokenizer(asked, add_special_tokens=False, split_special_tokens=True)["input_ids"])
        if backend is not None:
            rows += [encoded.ids for encoded in backend.encode_batch_fast(texts[1:], add_special_tokens=False)]
        return rows

    def is_exact(self, labels: Sequence[str]) -> bool:
        """Whether splicing equals tokenising whole strings, tried on chains of the given labels."""
        for first, second in pairwise(labels):
            whole = self.plain(f" {first} {ARROW} {second}")
            if whole != [*self.plain(" " + first), *self.arrow, *self.plain(" " + second)]:
                return False
        return True
