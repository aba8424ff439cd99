"""The seam between a constraint and the search, and the constraints that need no graph.

The search knows nothing of graphs. It asks a state which tokens may follow, moves on, and reads the paths off a
finished state as entity and step ids; nothing is ever parsed back from text.

``FreeText`` is the comparison, no constraint at all. ``ChoiceTrie`` lets a model write one of some given texts and
nothing else.
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

    __slots__ = ()

    @property
    def complete(self) -> bool:
        """Whether the tokens so far end with ``</PATH>``."""
        ...

    @property
    def paths(self) -> Sequence[PathIds]:
        """The paths that end here; several when labels are spelled with the same tokens, none in free text."""
        return ()

    @property
    def alive(self) -> bool:
        """Whether any token may follow; by default until the state is complete."""
        return not self.complete


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


@dataclass(frozen=True, slots=True)
class FreeState(State):
    """The last tokens written, as many as the end mark is long."""

    end: tuple[int, ...]
    last: tuple[int, ...] = ()

    @property
    def complete(self) -> bool:
        """See ``base.State``."""
        return self.last == self.end


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

    def successors(self, state: FreeState) -> Successors[FreeState]:
        """See ``base.Constraint``."""
        return Successors(None, lambda token: FreeState(self.end, (*state.last, token)[-len(self.end) :]))

    def paths_left(self, state: FreeState) -> int:
        """Unknown without a graph; 0."""
        return 0


@dataclass(frozen=True, slots=True)
class ChoiceState(State):
    """A node of the trie: ``depth`` tokens written, rows ``low..high`` of the sorted options still possible."""

    trie: ChoiceTrie
    low: int
    high: int
    depth: int = 0

    @property
    def complete(self) -> bool:
        """See ``base.State``: the options left are spelled alike, so the choice has been made."""
        return self.trie.rows[self.low][0] == self.trie.rows[self.high - 1][0]

    @property
    def options(self) -> tuple[int, ...]:
        """Indices of the options left."""
        return tuple(index for _, index in self.trie.rows[self.low : self.high])


class ChoiceTrie:
    """A ``Constraint`` of given texts.

    A choice is complete as soon as no other option begins as what was written: the rest of it is forced, and
    its tokens would tell nothing. The scores that matter are therefore those among the allowed tokens, which
    ``inside_entity`` asks the search for; with them the options' probabilities add up to 1, long or short.

    Args:
        options: token ids of each, at least one; one may begin as another does.
        end: a token that is part of none, put behind each.
    """

    def __init__(self, options: Sequence[Sequence[int]], end: int) -> None:
        self.rows = sorted(((*option, end), index) for index, option in enumerate(options))
        self.longest = max(len(tokens) for tokens, _ in self.rows)

    def start(self) -> ChoiceState:
        """See ``base.Constraint``."""
        return ChoiceState(self, 0, len(self.rows))

    def successors(self, state: ChoiceState) -> Successors[ChoiceState]:
        """See ``base.Constraint``."""
        next_tokens = np.array([tokens[state.depth] for tokens, _ in self.rows[state.low : state.high]], np.int32)
        starts = np.flatnonzero(np.diff(next_tokens, prepend=-1))
        bounds = np.append(starts, len(next_tokens)) + state.low

        def take(i: int) -> ChoiceState:
            return ChoiceState(self, int(bounds[i]), int(bounds[i + 1]), state.depth + 1)

        return Successors(next_tokens[starts], take, inside_entity=True)

    def paths_left(self, state: ChoiceState) -> int:
        """See ``base.Constraint``: how many options are left."""
        return state.high - state.low
