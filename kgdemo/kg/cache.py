"""What is made once and kept: arrays on disk, values in memory up to a size, and one value for each graph.

``ArrayCache``: what follows from a large graph is made once, not once a start. A file is found by what it was made
from, so nothing is ever out of date. A damaged file is made anew (the zip format carries checksums), and so is one that
was made for another name. Where the folder cannot be written to, nothing is kept. The least recently used files go when
the folder holds more than it may.

``LFUCache`` is the dynamic cache of GCR appendix B.1: what is asked for most stays, the rest is built on demand. The
paper keeps whole KG-Tries by question; the automaton keeps sub-tries by entity, so that questions about different
topics share what lies between them.
"""

from __future__ import annotations

import logging
import os
import tempfile
import threading
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kgdemo.kg.graph import KnowledgeGraph

logger = logging.getLogger(__name__)
Arrays = Mapping[str, NDArray[Any]]
MIN_LABELS = 20_000  # what is made of fewer is there in a quarter of a second
MAX_BYTES = 1_000_000_000
_KEY = "made for"  # in each file, what it is called


class ArrayCache:
    """A folder of files of named arrays of one dimension.

    Args:
        folder: made when something is kept.
        min_labels: what is made of a table of fewer labels is not worth a file.
        max_bytes: size of all files together.
    """

    def __init__(self, folder: Path, min_labels: int = MIN_LABELS, max_bytes: int = MAX_BYTES) -> None:
        self.folder = folder
        self.min_labels = min_labels
        self.max_bytes = max_bytes

    def get(self, key: str, build: Callable[[], Arrays]) -> Arrays:
        """The arrays from their file, else what ``build`` makes, which is kept from then on.

        Args:
            key: says what they follow from, see ``key_of``.
            build: makes them.
        """
        file = self.folder / f"{key}.npz"
        found = read_arrays(file)
        if found is None:
            found = build()
            self._write(file, found)
        return found

    def _write(self, file: Path, arrays: Arrays) -> None:
        """Keep a file; it is written beside its place first, so that half a file is never found there."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.folder, suffix=".npz.part", delete=False) as stream:
                try:
                    named: dict[str, Any] = {_KEY: np.array(file.stem), **arrays}
                    np.savez(stream, **named)
                    stream.close()
                    os.replace(stream.name, file)
                finally:
                    Path(stream.name).unlink(missing_ok=True)
            self._make_room()
        except OSError as error:
            logger.warning("Nothing is kept in %s (%s); set KGDEMO_CACHE to another folder.", self.folder, error)

    def _make_room(self) -> None:
        """Delete what was used longest ago until the rest is within bounds."""
        files = [(file.stat(), file) for file in self.folder.glob("*.npz*")]
        size = sum(stat.st_size for stat, _ in files)
        for stat, file in sorted(files, key=lambda entry: entry[0].st_mtime_ns):
            if size <= self.max_bytes:
                return
            file.unlink(missing_ok=True)
            size -= stat.st_size


def key_of(*parts: str | bytes | NDArray[Any]) -> str:
    """What a file is called: all that its content follows from."""
    digest = blake2b(digest_size=20)
    for part in parts:
        data = part.tobytes() if isinstance(part, np.ndarray) else part.encode() if isinstance(part, str) else part
        digest.update(b"%d " % len(data))
        digest.update(data)
    return digest.hexdigest()


def read_arrays(file: Path) -> Arrays | None:
    """The content of a file that is whole and is what its name says; else None."""
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            found: dict[str, NDArray[Any]] = dict(stored.items())
        if str(found.pop(_KEY)) != file.stem:
            raise ValueError("it was made for another name")
        os.utime(file)  # most recently used now
        return found
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, EOFError, RuntimeError, MemoryError, zipfile.BadZipFile) as error:
        logger.warning("%s is damaged (%s); it is made anew.", file, error)
        return None


# in memory ---------------------------------------------------------------------------------------


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


class LFUCache(Generic[CacheEntry]):
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


Made = TypeVar("Made")


class PerGraph(Generic[Made]):
    """What ``make`` makes of each graph; safe to use from several threads, and no graph waits for another.

    Args:
        make: called once for a graph.
    """

    def __init__(self, make: Callable[[KnowledgeGraph], Made]) -> None:
        self._make = make
        self._made: WeakKeyDictionary[KnowledgeGraph, Made] = WeakKeyDictionary()
        self._making: WeakKeyDictionary[KnowledgeGraph, threading.Lock] = WeakKeyDictionary()
        self._tables = threading.Lock()  # of these two; nothing is made under it

    def of(self, kg: KnowledgeGraph, make: Callable[[KnowledgeGraph], Made] | None = None) -> Made:
        """What was made of a graph.

        Args:
            kg: the graph.
            make: in place of the usual, for who asks first.
        """
        with self._tables:
            making = self._making.setdefault(kg, threading.Lock())
        with making:
            with self._tables:
                known = self._made.get(kg)
            if known is None:
                known = (make or self._make)(kg)
                with self._tables:
                    self._made[kg] = known
            return known
