"""Decisions in threads of their own, so that a run can be stopped, and shows a sign of life, while a model thinks.

A run is a generator, and a generator can only be closed where it yields. A call to a language model may take minutes.
So the call is made by a thread, and the run yields ``Waiting`` once a second until it has ended. When the run is closed
there, the threads are told: ``stopped`` is true in them, and a stream that is being read is given up at its next piece.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

from kgdemo.events import Event, Waiting

Made = TypeVar("Made")
SIGN_OF_LIFE = 1.0  # seconds
_STOP: ContextVar[threading.Event | None] = ContextVar("stop", default=None)


class Submit(Protocol):
    """Begins some work in one of the threads."""

    def __call__(self, work: Callable[[], Made]) -> Future[Made]:
        """See the class."""
        ...


def stopped() -> bool:
    """Whether nobody waits any more for what this thread is at."""
    stop = _STOP.get()
    return stop is not None and stop.is_set()


def in_background() -> bool:
    """Whether this thread is one of those that somebody waits for."""
    return _STOP.get() is not None


@contextmanager
def threads(limit: int) -> Iterator[Submit]:
    """So many threads; when the block is left, what they are still at is stopped and not waited for."""
    stop, pool = threading.Event(), ThreadPoolExecutor(limit)

    def told(work: Callable[[], Made]) -> Made:
        _STOP.set(stop)
        return work()

    def submit(work: Callable[[], Made]) -> Future[Made]:
        return pool.submit(told, work)

    try:
        yield submit
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


def waited_for(future: Future[Made], by: str) -> Generator[Event, None, Made]:
    """The outcome of some work, with a sign of life while there is none.

    Args:
        future: the work.
        by: who is asked.
    """
    began = time.perf_counter()
    while wait([future], SIGN_OF_LIFE).not_done:
        yield Waiting(by, round(time.perf_counter() - began, 1))
    return future.result()
