"""Interned labels: a sorted, memory-mappable table of strings.

A label's id is its rank among the UTF-8 encoded labels, so a look-up is a binary search over one
block of bytes and a table of a million labels opens without decoding any of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

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
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self._bytes(middle) < key:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and self._bytes(low) == key else None

    def _bytes(self, index: int) -> bytes:
        if not 0 <= index < len(self):
            raise IndexError(f"label id {index} is not in 0..{len(self) - 1}")
        return self.blob[self.offsets[index] : self.offsets[index + 1]].tobytes()


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
