"""How threads share the interpreter: long work in Python pauses while others read with a model.

Python code of all threads takes turns at one interpreter. A forward pass gives it up a hundred times, and each time a
thread that is busy with Python alone, as one that indexes a visitor's graph, keeps it for as long as it may. Such a
thread pauses now and then while others read (``Courtesy``).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_STRETCH = 0.005  # seconds of work between two pauses
_LONGEST = 0.02  # seconds of a pause
_RECENT = 0.1  # seconds since a forward pass in which its question is taken to go on


class Courtesy:
    """Lets long work in Python pause for as long as it has worked, while other threads read with a model.

    Args:
        clock: seconds, ever rising.
        sleep: gives up the interpreter for so many seconds; tests give their own.
    """

    def __init__(
        self, clock: Callable[[], float] = time.perf_counter, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._clock, self._sleep = clock, sleep
        self._read_at = -_RECENT  # when a forward pass ended last
        self._own = threading.local()  # .since: when this thread's present stretch of work began

    def has_read(self) -> None:
        """A forward pass has ended."""
        self._read_at = self._clock()

    def pause(self) -> None:
        """Called often by long work that itself reads nothing: rest, where it is time to."""
        now = self._clock()
        since = getattr(self._own, "since", None)
        if since is not None and now - since < _STRETCH:
            return
        if since is not None and now - self._read_at < _RECENT:
            self._sleep(min(now - since, _LONGEST))
        self._own.since = self._clock()


COURTESY = Courtesy()  # of this process, whose threads share one interpreter
