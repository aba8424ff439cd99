"""No constraint at all: the comparison. Any token may follow until the end mark has been written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgdemo.constraint.base import PathIds, Successors


@dataclass(frozen=True, slots=True)
class FreeState:
    """The last tokens written, as many as the end mark is long."""

    end: tuple[int, ...]
    last: tuple[int, ...] = ()

    @property
    def complete(self) -> bool:
        """See ``base.State``."""
        return self.last == self.end

    @property
    def alive(self) -> bool:
        """See ``base.State``."""
        return not self.complete

    @property
    def paths(self) -> Sequence[PathIds]:
        """None: what was written is text, and whether it is a path is for ``verify`` to say."""
        return ()


class FreeText:
    """A ``Constraint`` that forbids nothing.

    Args:
        end: token ids of the end mark.
    """

    def __init__(self, end: tuple[int, ...]) -> None:
        self.end = end

    def start(self) -> FreeState:
        """See ``base.Constraint``."""
        return FreeState(self.end)

    def successors(self, state: FreeState) -> Successors:
        """See ``base.Constraint``."""
        return Successors(None, lambda token: FreeState(self.end, (*state.last, token)[-len(self.end) :]))

    def paths_left(self, state: FreeState) -> int:
        """Unknown without a graph; 0."""
        return 0
