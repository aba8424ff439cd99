"""A constraint that lets a model write one of some given texts and nothing else: options as a trie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgdemo.constraint.base import PathIds, Successors


@dataclass(frozen=True, slots=True)
class ChoiceState:
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
    def alive(self) -> bool:
        """See ``base.State``."""
        return not self.complete

    @property
    def options(self) -> tuple[int, ...]:
        """Indices of the options left."""
        return tuple(index for _, index in self.trie.rows[self.low : self.high])

    @property
    def paths(self) -> Sequence[PathIds]:
        """See ``base.State``; options are no paths."""
        return ()


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
