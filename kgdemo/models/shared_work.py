"""How threads share processors and interpreter: a second thread for one question, fair turns for several.

A single question uses one processor of two, since a parallel region of the arithmetic library waits for its slowest
thread, and beside busy processes that is long. ``SecondThread`` does parts of one piece of work where a processor is
free. Nobody waits for a thread that has not begun: both take parts as they come to them, and whoever is late takes
fewer.

Python code of all threads takes turns at one interpreter. A forward pass gives it up a hundred times, and each time a
thread that is busy with Python alone, as one that indexes a visitor's graph, keeps it for as long as it may. Such a
thread pauses now and then while others read (``Courtesy``).
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import torch
from torch import Tensor

Part: TypeAlias = Callable[[], Tensor]
Share: TypeAlias = Callable[[Sequence[Part]], list[Tensor]]  # what the parts make, in their order


def one_after_another(parts: Sequence[Part]) -> list[Tensor]:
    """A ``Share`` without a second thread."""
    return [part() for part in parts]


class SecondThread:
    """Helps whoever needs it most recently; it is one thread, and ends with its owner.

    Args:
        turns: one is taken while the thread helps, so that no more threads work than there are processors.
    """

    def __init__(self, turns: threading.Semaphore) -> None:
        self._turns = turns
        self._thread = ThreadPoolExecutor(1, "shared-work")

    def share(self, parts: Sequence[Part]) -> list[Tensor]:
        """A ``Share``, with the second thread where a turn is free; no gradient is made.

        Raises:
            Exception: whatever a part raised.
        """
        if not self._turns.acquire(blocking=False):
            return one_after_another(parts)
        found: dict[int, Tensor] = {}
        left = deque(enumerate(parts))

        def work() -> None:
            with torch.inference_mode():
                while left:
                    try:
                        place, part = left.popleft()
                    except IndexError:  # the other thread has just taken the last one
                        return
                    found[place] = part()

        helped = self._thread.submit(work)
        try:
            work()
        finally:
            try:
                if not helped.cancel():
                    helped.result()
            finally:
                self._turns.release()
        return [found[place] for place in range(len(parts))]


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
