"""The edges of a graph in compressed sparse rows: three flat arrays, so that a saved graph opens memory-mapped."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
