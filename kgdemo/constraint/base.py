"""The seam between a constraint and the search: states, successors, finished paths.

The search knows nothing of graphs. It asks a state which tokens may follow, moves on, and reads the
paths off a finished state as entity and step ids; nothing is ever parsed back from text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from kgdemo.kg.path import PathIds


class State(Protocol):
    """A point in the constraint's language; immutable."""

    @property
    def complete(self) -> bool:
        """Whether the tokens so far end with ``</PATH>``."""
        ...

    @property
    def paths(self) -> Sequence[PathIds]:
        """The paths that end here; several when labels are spelled with the same tokens, none in free text."""
        ...

    @property
    def alive(self) -> bool:
        """Whether any token may follow."""
        ...


Place = TypeVar("Place", bound=State)
Reached = TypeVar("Reached", bound=State, covariant=True)


@dataclass(frozen=True, slots=True)
class Successors(Generic[Reached]):
    """What may follow a state.

    Attributes:
        tokens: allowed token ids, sorted, each once; int64 (what torch indexes with) or int32, shape ``(n,)``.
            None: the whole vocabulary.
        take: index into ``tokens`` (a token id, when these are None) -> the state that token leads to.
        inside_entity: all of ``tokens`` go on with an entity's label, so which of them exists is for the
            graph to say, and none of them decides on a relation or on the path's end.
    """

    tokens: NDArray[np.integer] | None
    take: Callable[[int], Reached]
    inside_entity: bool = False


class Constraint(Protocol[Place]):
    """A set of reasoning paths, seen as a language of token sequences; each kind has states of its own."""

    def start(self) -> Place:
        """The state after ``<PATH>``."""
        ...

    def successors(self, state: Place) -> Successors[Place]:
        """The tokens that may follow ``state`` (GCR equation 7)."""
        ...

    def paths_left(self, state: Place) -> int:
        """How many paths can still be reached; counted, not enumerated."""
        ...
