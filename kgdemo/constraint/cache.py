"""The dynamic cache of GCR appendix B.1: what is asked for most stays, the rest is built on demand.

The paper keeps whole KG-Tries by question. Here sub-tries are kept by entity, so that questions about
different topics share what lies between them; an ``explicit.ExplicitTrie`` may be kept all the same.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar


class Sized(Protocol):
    """Something that knows how much memory it takes."""

    @property
    def nbytes(self) -> int:
        """Bytes."""
        ...


Kept = TypeVar("Kept", bound=Sized)


@dataclass(frozen=True, slots=True)
class CacheState:
    """What a cache has done so far: look-ups, those served from it, entries, and their size in bytes."""

    asked: int
    served: int
    entries: int
    size: int

    @property
    def hit_rate(self) -> float:
        """Share of look-ups served from the cache, 0..1; 0 before the first."""
        return self.served / self.asked if self.asked else 0.0


class Cache(Generic[Kept]):
    """Keeps values up to a size; the least frequently used goes first, of equals the least recently used.

    A value may grow while it is kept: it is measured again whenever it is asked for.

    Safe to use from several threads; two that miss the same key at once both build it, and one is kept.

    Args:
        most_bytes: size of all kept values together.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._uses: dict[Hashable, int] = {}
        self._sizes: dict[Hashable, int] = {}  # as last measured
        self._by_uses: dict[int, OrderedDict[Hashable, Kept]] = {}  # uses -> entries, oldest first
        self._fewest = 1
        self._asked = self._served = self._size = 0
        self._lock = threading.Lock()

    @property
    def state(self) -> CacheState:
        """What it has done so far."""
        with self._lock:
            return CacheState(self._asked, self._served, len(self._uses), self._size)

    def get(self, key: Hashable, build: Callable[[], Kept]) -> Kept:
        """The value kept under ``key``, else what ``build`` makes; a value larger than the cache is not kept."""
        with self._lock:
            self._asked += 1
            if key in self._uses:
                self._served += 1
                return self._touch(key)
        value = build()
        with self._lock:
            if key not in self._uses and value.nbytes <= self.most_bytes:
                self._make_room(value.nbytes)
                self._uses[key] = self._fewest = 1
                self._by_uses.setdefault(1, OrderedDict())[key] = value
                self._measure(key, value)
        return value

    def _touch(self, key: Hashable) -> Kept:
        uses = self._uses[key]
        value = self._take(key, uses)
        if uses == self._fewest and uses not in self._by_uses:
            self._fewest = uses + 1
        self._uses[key] = uses + 1
        self._by_uses.setdefault(uses + 1, OrderedDict())[key] = value
        self._measure(key, value)
        self._make_room(0)
        return value

    def _measure(self, key: Hashable, value: Kept) -> None:
        size = value.nbytes
        self._size += size - self._sizes.get(key, 0)
        self._sizes[key] = size

    def _make_room(self, size: int) -> None:
        """Let values go until one of this size fits."""
        while self._size + size > self.most_bytes:
            while self._fewest not in self._by_uses:
                self._fewest += 1
            key = next(iter(self._by_uses[self._fewest]))
            self._take(key, self._fewest)
            self._size -= self._sizes.pop(key)
            del self._uses[key]

    def _take(self, key: Hashable, uses: int) -> Kept:
        entries = self._by_uses[uses]
        value = entries.pop(key)
        if not entries:
            del self._by_uses[uses]
        return value
