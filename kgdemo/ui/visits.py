"""How often one visitor may ask on a public server.

Counted for each session (a tab, or a program's client), not for each address: a whole class may sit behind
one. What all visitors may use together is bounded by the queue.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable

from kgdemo.errors import UserError

WINDOW = 60.0  # seconds
_REMEMBERED = 10_000  # sessions


class Visits:
    """Counts questions.

    Args:
        most: questions that a session may ask in a minute; 0 for no limit.
        clock: seconds, ever rising; tests give their own.
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self._clock = clock
        self._asked: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def count(self, session: str) -> None:
        """One more question of this session.

        Raises:
            UserError: it has asked too often.
        """
        if not self.most:
            return
        now = self._clock()
        with self._lock:
            times = self._asked.setdefault(session, deque())
            self._asked.move_to_end(session)
            while times and times[0] <= now - WINDOW:
                times.popleft()
            if len(times) >= self.most:
                wait = max(1, round(times[0] + WINDOW - now))
                raise UserError(
                    f"This server takes {self.most} questions a minute from one visitor; ask again in {wait} s."
                )
            times.append(now)
            while len(self._asked) > _REMEMBERED:
                self._asked.popitem(last=False)
