"""A cache in which every value is built once, and the building of one value never holds up another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar, cast

Value = TypeVar("Value")


@dataclass(slots=True, eq=False)
class _Entry:
    """A value, or the place where one is being built."""

    building: threading.Lock = field(default_factory=threading.Lock)
    ready: bool = False
    value: object = None


class OncePerKey:
    """Values by key; safe to use from several threads.

    Callers of one key wait for the one who builds its value; callers of other keys do not. A builder may ask for
    other keys, as long as these never ask for its own.
    """

    def __init__(self) -> None:
        self._entries: dict[Hashable, _Entry] = {}
        self._lock = threading.Lock()  # of the dictionary, never held while a value is built

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of a key; made with the first call.

        A failure is its caller's alone: the next caller tries anew. A value whose key was dropped or set while it was
        built goes to the caller who built it and is not kept.
        """
        while True:
            with self._lock:
                entry = self._entries.setdefault(key, _Entry())
            if entry.ready:
                return cast(Value, entry.value)
            with entry.building:
                if entry.ready:
                    return cast(Value, entry.value)
                with self._lock:
                    if self._entries.get(key) is not entry:
                        continue  # it failed or was dropped while this caller waited
                try:
                    value = make()
                except BaseException:
                    with self._lock:
                        if self._entries.get(key) is entry:
                            del self._entries[key]
                    raise
                entry.value, entry.ready = value, True
                return value

    def put(self, key: Hashable, value: object) -> None:
        """Set a value, whatever was there or is being built."""
        with self._lock:
            self._entries[key] = _Entry(ready=True, value=value)

    def peek(self, key: Hashable) -> object | None:
        """The value of a key that is there by now; else None."""
        with self._lock:
            entry = self._entries.get(key)
        return entry.value if entry is not None and entry.ready else None

    def drop(self, unwanted: Callable[[Hashable], bool]) -> None:
        """Forget all keys of which this holds."""
        with self._lock:
            for key in [key for key in self._entries if unwanted(key)]:
                del self._entries[key]

    def __iter__(self) -> Iterator[Hashable]:
        """The keys of all values that are there or being built."""
        with self._lock:
            return iter(list(self._entries))
