"""Where the nodes of a picture lie: one column a hop, topic entities on the left, and no place taken twice.

A node keeps its place once it has one, so a picture that grows while a question is answered never jumps.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count

COLUMN, ROW = 280, 46  # pixels at full size; a row has room for one line of text
APART = 8  # rows between two topic entities: their neighbours lie there


@dataclass(slots=True)
class Places:
    """Columns and rows of entities."""

    _of: dict[str, tuple[int, int]] = field(default_factory=dict)
    _taken: set[tuple[int, int]] = field(default_factory=set)

    def __contains__(self, entity: str) -> bool:
        return entity in self._of

    def column(self, entity: str) -> int:
        """The column of an entity that has a place."""
        return self._of[entity][0]

    def put_topic(self, entity: str) -> tuple[int, int]:
        """A place on the left, below the topics before it; ``(x, y)``."""
        return self._take(entity, (0, APART * len(self._of)))

    def put(self, entity: str, column: int, parent: str = "", up: bool = False) -> tuple[int, int]:
        """The free place of a column that is nearest to the parent's row; ``(x, y)``.

        Args:
            entity: has no place yet.
            column: number of hops from the topic.
            parent: the entity before it.
            up: above everything instead, which is where invented entities lie.
        """
        row = self._of.get(parent, (0, 0))[1]
        rows: Iterable[int]
        if up:
            top = min((y for x, y in self._taken if x == column), default=0)
            rows = count(min(row, top - 1, -2), -1)
        else:  # the parent's own row, then one below, one above, two below …: children lie around their parent
            rows = (row + (step + 1) // 2 * (1 if step % 2 else -1) for step in count())
        return self._take(entity, (column, next(y for y in rows if (column, y) not in self._taken)))

    def at(self, entity: str) -> tuple[int, int]:
        """``(x, y)`` in pixels."""
        column, row = self._of[entity]
        return column * COLUMN, row * ROW

    def _take(self, entity: str, place: tuple[int, int]) -> tuple[int, int]:
        self._of[entity] = place
        self._taken.add(place)
        return self.at(entity)
