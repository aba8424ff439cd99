"""Sorted runs of labels: the sub-trie of an entity, and what follows each node inside it.

No node is ever stored as such: in rows sorted by the rank of their tokens, a node is a range of rows that agree
so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kgdemo.constraint.positions import Segment
from kgdemo.constraint.tables import TokenTable


@dataclass(frozen=True, slots=True)
class Branching:
    """What follows one node inside a sorted run of labels.

    Attributes:
        complete: how many labels end here; they sort before the longer ones.
        tokens: the tokens with which the others go on, sorted, ``(n,)``; int64 as torch indexes, but int32 of a
            single label.
        edges: rows ``edges[i]:edges[i + 1]`` go on with ``tokens[i]``, ``(n + 1,)``.
    """

    complete: int
    tokens: NDArray[np.integer]
    edges: Sequence[int] | NDArray[np.int64]


Branchings = dict[tuple[Segment, int, int, int], Branching]  # by segment, low, high, depth


@dataclass(frozen=True, slots=True)
class SubTrie:
    """The steps from one entity. Rows are sorted by token rank: first by step, then by target.

    ``targets[bounds[i]:bounds[i + 1]]`` are the entities that ``steps[i]`` leads to; ``nodes`` are those that
    beams have visited.
    """

    steps: NDArray[np.int32]  # (distinct steps,)
    bounds: NDArray[np.int64]  # (distinct steps + 1,)
    targets: NDArray[np.int32]  # (edges,)
    nodes: Branchings = field(default_factory=dict, compare=False)

    @property
    def nbytes(self) -> int:
        """Size of its arrays, and about what their objects and the visited nodes take."""
        return self.steps.nbytes + self.bounds.nbytes + self.targets.nbytes + 400 + 600 * len(self.nodes)


def branching(table: TokenTable, labels: NDArray[np.int32], low: int, depth: int) -> Branching:
    """Group sorted labels that agree in ``depth`` tokens by the token that comes next.

    Args:
        table: the labels' token ids.
        labels: rows of a sub-trie, from row ``low`` on.
        low: the row that the first of them stands in.
        depth: how many tokens they agree in.
    """
    if len(labels) == 1:  # most nodes lie behind the last fork, on one label
        label = labels[0]
        here, end = table.offsets[label] + depth, table.offsets[label + 1]
        return Branching(int(here >= end), table.ids[here : min(here + 1, end)], (low, low + 1))
    begins = table.offsets[labels]
    # complete labels share all tokens so far and nothing more, so they sort before the longer ones
    complete = int(np.count_nonzero(table.offsets[labels + 1] - begins <= depth))
    tokens = table.ids[begins[complete:] + depth].astype(np.int64)
    bounds = starts_of_runs(tokens)
    return Branching(complete, tokens[bounds[:-1]], bounds + (low + complete))


def starts_of_runs(values: NDArray[np.integer]) -> NDArray[np.int64]:
    """Where each run of equal values starts, and at last how many values there are; ``(runs + 1,)``."""
    starts = np.ones(len(values) + 1, np.bool_)
    np.not_equal(values[1:], values[:-1], out=starts[1:-1])
    return starts.nonzero()[0]
