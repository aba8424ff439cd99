"""Token ids of very many labels by way of their words, of which a graph has far fewer than its labels have.

Byte-level BPE and WordPiece cut a text into pre-tokens and spell each on its own. Where every space begins a
pre-token, a label's tokens are those of its words. Whether it does depends on the characters that meet there,
so that is looked up for one label of every such pair, whose spelling is compared as well; a tokeniser that
sees across spaces is found out, and all labels are spelled as a whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from kgdemo.constraint.tables import TokenTable

Spell = Callable[[list[str]], list[list[int]]]  # texts -> the token ids of each
Cut = Callable[[str], list[str]]  # a text -> its pre-tokens
_BATCH = 20_000  # texts spelled at once
_SPACE, _LINE_END = ord(" "), ord("\n")
_SPACES = frozenset(" Ġ▁")  # a space, and how byte-level and SentencePiece pre-tokenisers write it


def spell_all(labels: Sequence[str], spell: Spell) -> TokenTable:
    """Token ids of ``" " + label`` for each label, every label as a whole."""
    rows: list[list[int]] = []
    for start in range(0, len(labels), _BATCH):
        rows += spell([" " + label for label in labels[start : start + _BATCH]])
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    flat = np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=int(offsets[-1]))
    return TokenTable(offsets, flat)


def spell_by_words(labels: Sequence[str], spell: Spell, cut: Cut) -> TokenTable:
    """The same token ids as ``spell_all`` gives; each word is spelled once, however many labels hold it.

    Args:
        labels: any text.
        spell: the tokeniser, special tokens spelled out.
        cut: its pre-tokeniser.
    """
    simple = np.fromiter(map(_is_simple, labels), np.bool_, len(labels))
    whole = [label for label, by_words in zip(labels, simple.tolist(), strict=True) if not by_words]
    lines = "\n".join(label for label, by_words in zip(labels, simple.tolist(), strict=True) if by_words)
    if not lines:
        return spell_all(labels, spell)
    letters = np.frombuffer(lines.encode("ascii"), np.uint8)
    words = lines.replace("\n", " ").split(" ")
    ids: defaultdict[str, int] = defaultdict()
    ids.default_factory = ids.__len__
    used = np.fromiter(map(ids.__getitem__, words), np.int64, len(words))
    in_words = spell_all(list(ids), spell).rows(used)
    gaps = np.flatnonzero((letters == _SPACE) | (letters == _LINE_END))
    ends = np.append(np.flatnonzero(letters[gaps] == _LINE_END) + 1, len(words))  # of labels, counted in words
    by_words = TokenTable(in_words.offsets[np.concatenate([[0], ends])], in_words.ids)
    if not _agrees(by_words, lines, letters, spell, cut):
        return spell_all(labels, spell)
    if not whole:
        return by_words
    places = np.empty(len(labels), np.int64)
    places[simple] = np.arange(len(by_words))
    places[~simple] = len(by_words) + np.arange(len(whole))
    return by_words.joined(spell_all(whole, spell)).rows(places)


def _is_simple(label: str) -> bool:
    """Whether a label is words of ASCII letters, digits and marks with one space between them."""
    return label.isascii() and label.isprintable() and "  " not in f" {label} "


def _agrees(by_words: TokenTable, lines: str, letters: NDArray[np.uint8], spell: Spell, cut: Cut) -> bool:
    """Whether labels are spelled as their words are, tried for every pair of characters that meet at a space."""
    spaces = np.flatnonzero(letters == _SPACE)
    _, firsts = np.unique(letters[spaces - 1].astype(np.int64) * 256 + letters[spaces + 1], return_index=True)
    line_ends = np.flatnonzero(letters == _LINE_END)
    tried = np.unique(np.searchsorted(line_ends, spaces[firsts])).tolist()
    if not tried:
        return True
    every = lines.split("\n")
    texts = [" " + every[label] for label in tried]
    if any(_SPACES.intersection(part[1:]) for text in texts for part in cut(text)):
        return False
    return all(row == by_words.row(label).tolist() for label, row in zip(tried, spell(texts), strict=True))
