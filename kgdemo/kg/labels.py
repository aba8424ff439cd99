"""Labels: a sorted, memory-mappable table of strings, and how a label reads as words.

A label's id is its rank among the UTF-8 encoded labels, so a look-up is a binary search over one block of bytes and a
table of a million labels opens without decoding any of them.

Everything that reads a relation as text uses ``spoken``: sentence embeddings for retrieval, ranking and linking,
prompts, and the names by which a model's training is recorded. Everything that looks for the content words of a
question or a relation leaves out ``FUNCTION_WORDS``. Names are compared loosely by what ``fold`` makes of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

_LAST = "\U0010ffff"  # behind all other letters
_READ = 50_000  # labels taken from the blob at once when all are gone through


class LabelTable(Sequence[str]):
    """An immutable sorted set of labels, ``id <-> label``.

    Args:
        blob: all labels, UTF-8 encoded and joined; uint8, shape ``(bytes,)``.
        offsets: where each label starts in ``blob``; int64, shape ``(labels + 1,)``.
    """

    def __init__(self, blob: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self.blob = blob
        self.offsets = offsets

    @classmethod
    def from_labels(cls, labels: Iterable[str]) -> LabelTable:
        """Build a table from labels in any order; duplicates collapse."""
        return cls.ranked(dict.fromkeys(labels))[0]

    @classmethod
    def ranked(cls, labels: Iterable[str]) -> tuple[LabelTable, NDArray[np.int32]]:
        """A table of labels that are all different, and the id of each, in the order given."""
        encoded = [label.encode("utf-8", "surrogatepass") for label in labels]
        order = sorted(range(len(encoded)), key=encoded.__getitem__)
        ids = np.empty(len(encoded), dtype=np.int32)
        ids[order] = np.arange(len(encoded), dtype=np.int32)
        in_order = [encoded[place] for place in order]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(item) for item in in_order], out=offsets[1:])
        return cls(np.frombuffer(b"".join(in_order), dtype=np.uint8), offsets), ids

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: SupportsIndex) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: SupportsIndex | slice) -> str | list[str]:
        """Return the label with id ``index``, or the labels of a slice of ids."""
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        return self._bytes(int(index)).decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _READ):
            bounds = self.offsets[first : first + _READ + 1].tolist()
            data = self.blob[bounds[0] : bounds[-1]].tobytes()
            for begin, end in pairwise(bounds):
                yield data[begin - bounds[0] : end - bounds[0]].decode("utf-8", "surrogatepass")

    def __contains__(self, label: object) -> bool:
        return isinstance(label, str) and self.find(label) is not None

    def find(self, label: str) -> int | None:
        """Return the id of ``label``, or None when the table has no such label."""
        key = label.encode("utf-8", "surrogatepass")
        place = self._first_from(key, 0, len(self))
        return place if place < len(self) and self._bytes(place) == key else None

    def _first_from(self, key: bytes, low: int, high: int) -> int:
        """The first of some places, ``low`` to ``high``, whose label is not before a key; ``high`` where all are."""
        text, offset = self.blob.data, self.offsets.item
        while low < high:
            middle = (low + high) // 2
            if text[offset(middle) : offset(middle + 1)].tobytes() < key:
                low = middle + 1
            else:
                high = middle
        return low

    def one_slip_from(self, text: str) -> list[int]:
        """The ids of labels that a text becomes by one letter more, less, other, or swapped with the next.

        What a label has in brackets at its end, to tell it from its namesakes, is not part of the name.
        Letters are tried only where a label goes on with them, so that a table of any size is searched by looking at a
        few thousand of its labels.
        """
        found: set[int] = set()
        low, high = 0, len(self)
        for place in range(len(text) + 1):
            head, rest = text[:place], text[place:]
            low = self._first_from(_encoded(head), low, high)
            high = self._first_from(_encoded(head + _LAST), low, high)
            if low == high:
                break
            made = {rest[1:], rest[1:2] + rest[:1] + rest[2:]} if rest else set()
            for letter in self._going_on(head, low, high):
                made |= {letter + rest, letter + rest[1:]} if rest else {letter}
            for ending in made - {rest}:
                for key in (_encoded(head + ending), _encoded(f"{head}{ending} (")):
                    first = self._first_from(key, low, high)
                    if (
                        first < high
                        and self._bytes(first).startswith(key)
                        and (key[-1:] == b"(" or self[first] == head + ending)
                    ):
                        found.add(first)
        return sorted(found)

    def _going_on(self, head: str, low: int, high: int) -> Iterator[str]:
        """The letters that stand behind a beginning in the labels of these places, all of which begin so."""
        while low < high:
            label = self[low]
            if label == head:
                low += 1
                continue
            letter = label[len(head)]
            yield letter
            low = self._first_from(_encoded(head + letter + _LAST), low, high)

    def known(self, labels: Iterable[str]) -> list[str]:
        """Those of some labels that the table has, in their order; asked for at once, where it has to be asked."""
        return [label for label in labels if label in self]

    def ids_of(self, labels: Iterable[str]) -> list[int]:
        """The ids of those of some labels that the table has, in their order."""
        return [place for label in labels if (place := self.find(label)) is not None]

    def _bytes(self, index: int) -> bytes:
        if not 0 <= index < len(self):
            raise IndexError(f"label id {index} is not in 0..{len(self) - 1}")
        return self.blob[self.offsets.item(index) : self.offsets.item(index + 1)].tobytes()

    def at(self, ids: NDArray[np.integer]) -> list[str]:
        """The labels with these ids; much quicker than one by one."""
        text, begins, ends = self.blob.data, self.offsets[ids].tolist(), self.offsets[ids + 1].tolist()
        return [str(text[begin:end], "utf-8", "surrogatepass") for begin, end in zip(begins, ends, strict=True)]


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class ExtendedLabelTable(LabelTable):
    """A table with a few labels more; the old ones keep their ids, the new ones come behind them.

    Args:
        base: the table to go on from.
        added: labels that it lacks, each once.
    """

    def __init__(self, base: LabelTable, added: Sequence[str]) -> None:
        encoded = [label.encode("utf-8", "surrogatepass") for label in added]
        ends = base.offsets[-1] + np.cumsum([len(item) for item in encoded], dtype=np.int64)
        blob = np.concatenate([base.blob, np.frombuffer(b"".join(encoded), dtype=np.uint8)])
        super().__init__(blob, np.concatenate([base.offsets, ends]))
        self.base = base
        self._added = {label: len(base) + place for place, label in enumerate(added)}

    def find(self, label: str) -> int | None:
        """Return the id of ``label``, or None when the table has no such label."""
        return self._added.get(label, self.base.find(label))


FUNCTION_WORDS = frozenset(
    "a an and are as at by did do does for from had has have how i in is it its many me much my name of on or please "
    "s tell that the their there these they this to was were what whats when where which who whom whose whos why will "
    "with you".split()
)


@lru_cache(maxsize=20_000)
def spoken(relation: str, parts: int = 4, separators: str = "/.") -> str:
    """A relation as words, without the mark of an inverse step; each word is said once.

    Args:
        relation: a plain label such as ``directed_by``, or a path of names such as Freebase's.
        parts: of a path of names, how many of the last ones are said. Four cover both relations of a collapsed
            mediator.
        separators: the marks between the names of such a path.

    >>> spoken("~directed_by")
    'directed by'
    >>> spoken("/film/film/directed_by")
    'film directed by'
    """
    names = [name.replace("_", " ") for name in re.split(f"[{re.escape(separators)}]", relation.lstrip("~"))]
    names = [name for name in names if name.strip()]
    return " ".join(dict.fromkeys(" ".join(names[-parts:]).split()))


def relation_name(relation: str) -> str:
    """The words by which a model's training knows a relation: its last name, in lower case.

    Dots separate nothing here. A model trained on ``/people/person/parents`` has not learnt to write
    ``people.person.parents``: where such relations counted as known, 4 of the 18 questions over WebQSP's subgraphs
    were answered, and 8 where they did not.

    >>> relation_name("/film/film/release_date_s./film/film_regional_release_date/film_release_region")
    'film release region'
    """
    return spoken(relation, parts=1, separators="/").casefold()


def fold(label: str) -> str:
    """A label without case, accents, punctuation and signs: how answers are scored and names in questions looked up.

    Looser than ``verify.spelling_key``: there a wrong match would let a false claim pass, here a missed one costs more.
    ``C++`` and ``C#`` both fold to ``c``.
    """
    plain = unicodedata.normalize("NFKD", label.casefold())
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    tilde = "~" if plain.lstrip().startswith("~") else ""  # it turns a relation round, so it is no punctuation
    return tilde + " ".join(re.sub(r"[^\w]|_", " ", plain).split())


def bare(label: str) -> str:
    """A label without what tells it from a namesake: *Dune* of *Dune (novel)*."""
    return _TOLD_APART.sub("", label)


_TOLD_APART = re.compile(r" \([^)]*\)$")


def with_article(noun: str) -> str:
    """A noun with *a* or *an*; a plural as it stands."""
    if noun.endswith("s") and not noun.endswith("ss"):
        return noun
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
