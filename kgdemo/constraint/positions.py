"""Where a path stands inside the KG automaton: trails, positions and the states made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from kgdemo.constraint.base import PathIds


class Segment(IntEnum):
    """The part of a path that a position is in."""

    TOPIC = 0  # inside the label of e0
    ARROW_BEFORE_STEP = 1
    STEP = 2
    ARROW_BEFORE_ENTITY = 3
    ENTITY = 4
    END = 5  # inside the end mark
    DONE = 6


@dataclass(frozen=True, slots=True)
class Trail:
    """The hops taken so far, newest first."""

    entity: int
    step: int = -1
    before: Trail | None = None
    hops: int = 0

    def path(self) -> PathIds:
        """The trail as a path, oldest first."""
        entities, steps = [self.entity], []
        node = self
        while node.before is not None:
            steps.append(node.step)
            node = node.before
            entities.append(node.entity)
        return PathIds(tuple(reversed(entities)), tuple(reversed(steps)))


@dataclass(frozen=True, slots=True)
class Position:
    """A place inside a path: ``depth`` tokens into a segment, with rows ``low..high`` still possible."""

    segment: Segment
    trail: Trail | None
    low: int = 0
    high: int = 0
    depth: int = 0

    @property
    def so_far(self) -> Trail:
        """The trail, which every position behind the first entity has."""
        assert self.trail is not None, "nothing has been walked yet"
        return self.trail


@dataclass(frozen=True, slots=True)
class AutomatonState:
    """A set of positions reached by one token sequence."""

    positions: tuple[Position, ...]

    @property
    def complete(self) -> bool:
        """See ``base.State``."""
        return any(p.segment is Segment.DONE for p in self.positions)

    @property
    def paths(self) -> Sequence[PathIds]:
        """See ``base.State``."""
        return [p.so_far.path() for p in self.positions if p.segment is Segment.DONE]

    @property
    def alive(self) -> bool:
        """See ``base.State``."""
        return any(p.segment is not Segment.DONE for p in self.positions)
