"""What is loaded while the first visitors read: a few stages, one after the other, and how far it has got."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from kgdemo.errors import UserError

logger = logging.getLogger(__name__)
Stage = tuple[str, Callable[[], object]]


class Loading:
    """Runs stages in a thread of its own.

    Args:
        stages: name (a key of the page's text) and what to do.
    """

    def __init__(self, stages: Sequence[Stage] = ()) -> None:
        self._stages = stages
        self._done = 0
        self._failed = ""
        self._seen = threading.Event()

    def start(self, within: float = 0.0) -> threading.Thread:
        """Begin once a page stands and asks how far this has got; the thread ends by itself.

        Args:
            within: seconds after which to begin in any case. Until then a page that is being opened has the
                processor to itself.
        """

        def begin() -> None:
            self._seen.wait(within)
            self._run()

        thread = threading.Thread(target=begin, name="warm-up", daemon=True)
        thread.start()
        return thread

    def finish(self) -> None:
        """Do it all here and now."""
        self._run()

    def state(self) -> dict[str, object]:
        """For the page: stages done, how many there are, the one under way (empty when none is), what went wrong."""
        self._seen.set()
        going = self._done < len(self._stages) and not self._failed
        stage = self._stages[self._done][0] if going else ""
        return {"done": self._done, "stages": len(self._stages), "stage": stage, "failed": self._failed}

    def _run(self) -> None:
        for _, load in self._stages:
            try:
                load()
            except UserError as error:
                logger.warning("%s", error)
                self._failed = str(error)
                return
            self._done += 1
