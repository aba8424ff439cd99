"""How threads share interpreter and processors.

Python code of all threads takes turns at one interpreter. A forward pass gives it up a hundred times, and each time a
thread that is busy with Python alone, as one that indexes a visitor's graph, keeps it for as long as it may. Such a
thread pauses now and then while others read (``Courtesy``).

A forward pass is also a hundred parallel regions, each of which waits for its slowest thread. Where every thread has a
processor to itself they wait for each other in a loop, and two read in 10 ms the 20 rows that take one 16 ms; beside
four busy processes the same two take 97 ms, and one takes 58. So a pass takes all processors when nobody else wants
one as it begins (``IdleProcessors``).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

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


Result = TypeVar("Result")
_LOAD = Path("/proc/loadavg")  # Linux: three averages, threads that run or could / all threads, the newest process


def running_threads() -> int | None:
    """How many threads of the whole machine have or want a processor, the caller's among them; None: not known."""
    try:
        return int(_LOAD.read_text("ascii").split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        return None


class IdleProcessors:
    """Does arithmetic on all processors while nobody else wants one, and on those of its thread at other times.

    All processors are used from one thread alone: OpenMP keeps a team of threads for each thread that asks for one,
    and when the teams together have more threads than there are processors it lets none wait in a loop any more.

    Args:
        running: threads of the machine that have or want a processor, the caller's among them.
    """

    def __init__(self, running: Callable[[], int | None] = running_threads) -> None:
        self._running = running
        self._team: ThreadPoolExecutor | None = None
        self._taken = threading.Lock()

    def may_be_used(self, processors: int, own: int) -> None:
        """Allow it; to be called once, before there are threads that compute.

        Args:
            processors: that there are.
            own: how many of them each thread computes on by itself.
        """
        import torch  # not at the top: how many threads it has is settled before it is imported

        if processors > own:
            team = ThreadPoolExecutor(1, "team", initializer=torch.set_num_threads, initargs=(processors,))
            team.submit(torch.get_num_threads).result()
            torch.set_num_threads(own)  # PyTorch takes the number set last for all threads to come
            self._team = team

    def run(self, work: Callable[[], Result]) -> Result:
        """Do ``work``, which computes with PyTorch; what it returns or raises."""
        if self._team is None or self._running() != 1 or not self._taken.acquire(blocking=False):
            return work()
        try:
            return self._team.submit(work).result()
        finally:
            self._taken.release()


IDLE_PROCESSORS = IdleProcessors()  # of this process
