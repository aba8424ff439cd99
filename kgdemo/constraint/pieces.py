"""From labels to token ids: the pieces that every reasoning path is spliced from.

A path is written ``<PATH> e0 -> r1 -> e1 … </PATH>`` (GCR section 4.1 and Figure 9). Labels are cut
*before* the space, never after it: tokenising ``" " + label`` and ``" ->"`` apart and splicing gives
what tokenising the whole string gives, for byte-level BPE and for WordPiece alike; ``Pieces.is_exact``
checks that for the tokeniser at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Protocol

import tokenizers

from kgdemo.constraint.tables import TokenTable
from kgdemo.constraint.words import spell_all, spell_by_words

PATH_START = "<PATH>"
PATH_END = "</PATH>"
ARROW = "->"
_MANY = 5_000  # labels from which on it pays to spell them word by word


class Tokenizer(Protocol):
    """The part of a transformers tokeniser that we use."""

    def __call__(self, text: Any, add_special_tokens: bool = ..., split_special_tokens: bool = ...) -> Any: ...

    def __len__(self) -> int: ...

    def decode(self, token_ids: list[int], skip_special_tokens: bool = ...) -> Any: ...

    def convert_tokens_to_ids(self, tokens: str) -> Any: ...

    def convert_ids_to_tokens(self, ids: list[int]) -> Any: ...


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
        if len(labels) < _MANY or not self._keeps_to_words():
            return spell_all(labels, self._plain_batch)
        return spell_by_words(labels, self._plain_batch, self._pre_tokens)

    def fingerprint(self) -> str:
        """A digest of all that decides on how labels are spelled; empty for a tokeniser that does not tell."""
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        if backend is None:
            return ""
        self.plain("")  # sets the backend as for labels: neither padding nor cutting is part of the digest
        return blake2b(f"{tokenizers.__version__} {backend.to_str()}".encode(), digest_size=20).hexdigest()

    def _plain_batch(self, texts: list[str]) -> list[list[int]]:
        """``plain`` for many texts; past the first, the Rust tokeniser is asked without going through transformers."""
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        asked = texts if backend is None else texts[:1]
        # this call also sets the backend to neither pad nor cut and to spell out special tokens
        rows = list(self.tokenizer(asked, add_special_tokens=False, split_special_tokens=True)["input_ids"])
        if backend is not None:
            rows += [encoded.ids for encoded in backend.encode_batch_fast(texts[1:], add_special_tokens=False)]
        return rows

    def _keeps_to_words(self) -> bool:
        """Whether the tokeniser may be asked word by word: it pre-tokenises, and no added token takes in a space."""
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        if backend is None or backend.pre_tokenizer is None:
            return False
        added = backend.get_added_tokens_decoder().values()
        return not any(token.lstrip or token.rstrip or " " in token.content for token in added if not token.special)

    def _pre_tokens(self, text: str) -> list[str]:
        """The stretches of a text that the tokeniser looks at one by one."""
        backend = self.tokenizer.backend_tokenizer  # type: ignore[attr-defined]  # of fast tokenisers, see _keeps_to_words
        normalised = text if backend.normalizer is None else backend.normalizer.normalize_str(text)
        return [part for part, _ in backend.pre_tokenizer.pre_tokenize_str(normalised)]

    def is_exact(self, labels: Sequence[str]) -> bool:
        """Whether splicing equals tokenising whole strings, tried on chains of the given labels."""
        for first, second in pairwise(labels):
            whole = self.plain(f" {first} {ARROW} {second}")
            if whole != [*self.plain(" " + first), *self.arrow, *self.plain(" " + second)]:
                return False
        return True
