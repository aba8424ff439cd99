"""Ragged tables of token ids, as two arrays."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


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

    def rows(self, labels: NDArray[np.integer]) -> TokenTable:
        """A table of these labels, in this order; each may come several times."""
        begins, lengths = self.offsets[labels], self.offsets[labels + 1] - self.offsets[labels]
        offsets = np.zeros(len(labels) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return TokenTable(offsets, self.ids[np.arange(offsets[-1]) + np.repeat(begins - offsets[:-1], lengths)])

    def joined(self, more: TokenTable) -> TokenTable:
        """These labels, with more of them behind."""
        offsets = np.concatenate([self.offsets, self.offsets[-1] + more.offsets[1:]])
        return TokenTable(offsets, np.concatenate([self.ids, more.ids]))


def ranks(table: TokenTable) -> NDArray[np.int64]:
    """Rank of each label in the lexicographic order of token sequences."""
    # big-endian bytes compare like the token sequences they hold, and bytes sort fast
    flat = table.ids.astype(">i4").tobytes()
    bounds = (table.offsets * 4).tolist()
    keys = [flat[a:b] for a, b in pairwise(bounds)]
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
    rank = np.empty(len(keys), dtype=np.int64)
    rank[order] = np.arange(len(keys))
    return rank
