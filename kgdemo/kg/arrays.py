"""The arrays of a graph: labels in a sorted table, edges in compressed sparse rows; flat, so they open memory-mapped.

A label's id is its rank among the UTF-8 encoded labels, so a look-up is a binary search over one block of bytes and a
table of a million labels opens without decoding any of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

_LAST = "\U0010ffff"  # behind all other letters
_READ = 50_000  # labels taken from the blob at once when all are gone through


@dataclass(frozen=True, slots=True)
class Adjacency:
    """Edges grouped by the entity they start from (compressed sparse rows).

    ``relations[offsets[e]:offsets[e + 1]]`` and the same slice of ``targets`` are the edges of ``e``.
    """

    offsets: NDArray[np.int64]  # (entities + 1,)
    relations: NDArray[np.int32]  # (edges,)
    targets: NDArray[np.int32]  # (edges,)

    @classmethod
    def build(
        cls,
        sources: NDArray[np.int32],
        relations: NDArray[np.int32],
        targets: NDArray[np.int32],
        entities: int,
    ) -> Adjacency:
        """Sort edges by source, relation, target and index them by source."""
        order = np.lexsort((targets, relations, sources))
        offsets = np.zeros(entities + 1, dtype=np.int64)
        np.cumsum(np.bincount(sources, minlength=entities), out=offsets[1:])
        return cls(offsets, relations[order], targets[order])

    def row(self, entity: int) -> slice:
        """The slice of the edge arrays that belongs to ``entity``."""
        return slice(int(self.offsets[entity]), int(self.offsets[entity + 1]))

    def ends(self, entity: int, relation: int) -> NDArray[np.int32]:
        """Where edges of a relation lead from an entity, in order."""
        row = self.row(entity)
        first, behind = np.searchsorted(self.relations[row], [relation, relation + 1])
        return self.targets[row][first:behind]

    def places(self, entities: NDArray[np.integer]) -> NDArray[np.int64]:
        """Where the edges of all these entities stand in the edge arrays, ``(edges of theirs,)``."""
        begins, counts = self.offsets[entities], self.offsets[entities + 1] - self.offsets[entities]
        # each row's begin, plus 0, 1, … within the row
        return np.repeat(begins - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())

    def follow(self, entities: NDArray[np.integer], relations: Collection[int]) -> NDArray[np.int32]:
        """Where edges of these relations lead from any of these entities, in the order of the edges."""
        if not relations:
            return np.empty(0, np.int32)
        places = self.places(entities)
        return self.targets[places[np.isin(self.relations[places], list(relations))]]


def encoded(label: str) -> bytes:
    """A label as the bytes that it is stored and ordered by."""
    return label.encode("utf-8", "surrogatepass")


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
        keys = [label.encode("utf-8", "surrogatepass") for label in labels]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        ids = np.empty(len(keys), dtype=np.int32)
        ids[order] = np.arange(len(keys), dtype=np.int32)
        in_order = [keys[place] for place in order]
        offsets = np.zeros(len(keys) + 1, dtype=np.int64)
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
        key = encoded(label)
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
            low = self._first_from(encoded(head), low, high)
            high = self._first_from(encoded(head + _LAST), low, high)
            if low == high:
                break
            made = {rest[1:], rest[1:2] + rest[:1] + rest[2:]} if rest else set()
            for letter in self._going_on(head, low, high):
                made |= {letter + rest, letter + rest[1:]} if rest else {letter}
            for ending in made - {rest}:
                for key in (encoded(head + ending), encoded(f"{head}{ending} (")):
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
            low = self._first_from(encoded(head + letter + _LAST), low, high)

    def known(self, labels: Iterable[str]) -> list[str]:
        """Those of some labels that the table has, in their order; a store is asked for all of them at once."""
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
