"""Where a path stands inside the KG automaton, and the sub-tries of entities that it stands in.

A sub-trie is a sorted run of labels. No node is ever stored as such: in rows sorted by the rank of their tokens, a
node is a range of rows that agree so far.

``Cache`` is the dynamic cache of GCR appendix B.1: what is asked for most stays, the rest is built on demand. The
paper keeps whole KG-Tries by question. Here sub-tries are kept by entity, so that questions about different topics
share what lies between them; a ``trie.EnumeratedTrie`` may be kept all the same.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from kgdemo.constraint.label_tokens import TokenTable
from kgdemo.kg.path import PathIds

FEW = 8  # names that a node may still become, from which on they are looked at one by one


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
class PathNode:
    """The hops taken so far, newest first."""

    entity: int
    step: int = -1
    before: PathNode | None = None
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
    """A place inside a path: ``depth`` tokens into a segment, with rows ``low..high`` still possible.

    Attributes:
        unread: what may follow had not been read from a store when a path first came here.
    """

    segment: Segment
    path_node: PathNode | None
    low: int = 0
    high: int = 0
    depth: int = 0
    unread: bool = False

    @property
    def so_far(self) -> PathNode:
        """The trail, which every position behind the first entity has."""
        assert self.path_node is not None, "nothing has been walked yet"
        return self.path_node


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

    @property
    def unread(self) -> bool:
        """Whether a store has to be waited for to know what may follow, as far as it was known here."""
        return any(p.unread for p in self.positions)


class Sized(Protocol):
    """Something that knows how much memory it takes."""

    @property
    def nbytes(self) -> int:
        """Bytes."""
        ...


CacheEntry = TypeVar("CacheEntry", bound=Sized)


@dataclass(frozen=True, slots=True)
class CacheState:
    """What a cache has done so far: look-ups, those served from it, entries, and their size in bytes."""

    lookups: int
    served: int
    entries: int
    size: int

    @property
    def hit_rate(self) -> float:
        """Share of look-ups served from the cache, 0..1; 0 before the first."""
        return self.served / self.lookups if self.lookups else 0.0


class Cache(Generic[CacheEntry]):
    """Keeps values up to a size; the least frequently used goes first, of equals the least recently used.

    A value may grow while it is kept: it is measured again whenever it is asked for.

    Safe to use from several threads; two that miss the same key at once both build it, and one is kept.

    Args:
        max_bytes: size of all kept values together.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._uses: dict[Hashable, int] = {}
        self._sizes: dict[Hashable, int] = {}  # as last measured
        self._by_uses: dict[int, OrderedDict[Hashable, CacheEntry]] = {}  # uses -> entries, oldest first
        self._fewest = 1
        self._lookups = self._served = self._size = 0
        self._lock = threading.Lock()

    @property
    def state(self) -> CacheState:
        """What it has done so far."""
        with self._lock:
            return CacheState(self._lookups, self._served, len(self._uses), self._size)

    def get(self, key: Hashable, build: Callable[[], CacheEntry]) -> CacheEntry:
        """The value kept under ``key``, else what ``build`` makes; a value larger than the cache is not kept."""
        with self._lock:
            self._lookups += 1
            if key in self._uses:
                self._served += 1
                return self._touch(key)
        value = build()
        with self._lock:
            if key not in self._uses and value.nbytes <= self.max_bytes:
                self._make_room(value.nbytes)
                self._uses[key] = self._fewest = 1
                self._by_uses.setdefault(1, OrderedDict())[key] = value
                self._measure(key, value)
        return value

    def _touch(self, key: Hashable) -> CacheEntry:
        uses = self._uses[key]
        value = self._take(key, uses)
        if uses == self._fewest and uses not in self._by_uses:
            self._fewest = uses + 1
        self._uses[key] = uses + 1
        self._by_uses.setdefault(uses + 1, OrderedDict())[key] = value
        self._measure(key, value)
        self._make_room(0)
        return value

    def _measure(self, key: Hashable, value: CacheEntry) -> None:
        size = value.nbytes
        self._size += size - self._sizes.get(key, 0)
        self._sizes[key] = size

    def _make_room(self, size: int) -> None:
        """Let values go until one of this size fits."""
        while self._size + size > self.max_bytes:
            while self._fewest not in self._by_uses:
                self._fewest += 1
            key = next(iter(self._by_uses[self._fewest]))
            self._take(key, self._fewest)
            self._size -= self._sizes.pop(key)
            del self._uses[key]

    def _take(self, key: Hashable, uses: int) -> CacheEntry:
        entries = self._by_uses[uses]
        value = entries.pop(key)
        if not entries:
            del self._by_uses[uses]
        return value


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

    ``targets[bounds[i]:bounds[i + 1]]`` are the entities that ``steps[i]`` leads to, -1 those that have not been read;
    ``nodes`` are those that beams have visited.
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
