"""A run as the page gets it: small numbered batches of records, and a short memory to fill gaps from.

A browser in the background may skip updates of a component; the page sees the gap by the numbers and asks
``EventStream.missed``. Nothing here knows gradio.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from kgdemo.events import (
    AnswerFinal,
    ConstraintReady,
    EntitiesLinked,
    Event,
    Notice,
    Picture,
    RunFailed,
    RunFinished,
    RunStarted,
)
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.view.escape import json_in_html
from kgdemo.view.next_questions import with_next
from kgdemo.view.page_records import Record, record
from kgdemo.view.picture import with_picture

INTERVAL = 0.08  # seconds between two updates of the page
REMEMBERED = 64  # runs
_AT_ONCE = (RunStarted, EntitiesLinked, ConstraintReady, AnswerFinal, Notice, RunFinished, RunFailed)


def records(events: Iterable[Event], graph: Callable[[], KnowledgeGraph]) -> Iterator[tuple[Record, bool]]:
    """Each event's record, those of picture and next questions included; with whether it should be shown at once."""
    before: Event | None = None
    for event in with_picture(with_next(events, graph), graph):
        at_once = isinstance(before, EntitiesLinked) if isinstance(event, Picture) else isinstance(event, _AT_ONCE)
        yield record(event), at_once
        before = event


@dataclass(frozen=True, slots=True)
class _Run:
    """What is remembered of a run: its records as JSON, and how to get at its graph."""

    items: list[str]
    graph: Callable[[], KnowledgeGraph]


class EventStream:
    """Batches for all visitors of one server.

    Args:
        clock: seconds, ever rising; tests give their own.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._runs: OrderedDict[str, _Run] = OrderedDict()
        self._lock = threading.Lock()

    def batches(self, events: Iterable[Event], graph: Callable[[], KnowledgeGraph]) -> Iterator[str]:
        """JSON ``{"run", "from", "items"}``, at most one each ``INTERVAL`` seconds but for what cannot wait."""
        run = secrets.token_urlsafe(9)
        items: list[str] = []
        with self._lock:
            self._runs[run] = _Run(items, graph)
            while len(self._runs) > REMEMBERED:
                self._runs.popitem(last=False)
        sent, last = 0, -INTERVAL
        for item, at_once in records(events, graph):
            items.append(json_in_html(item))
            if at_once or self._clock() - last >= INTERVAL:
                yield _batch(run, sent, items[sent:])
                sent, last = len(items), self._clock()
        if sent < len(items):
            yield _batch(run, sent, items[sent:])

    def missed(self, run: str, have: int) -> str:
        """The batch of all records of a run after the first ``have``; empty when the run is forgotten."""
        with self._lock:
            known = self._runs.get(run)
        return _batch(run, have, known.items[max(have, 0) :] if known else [])

    def graph(self, run: str) -> KnowledgeGraph | None:
        """The graph that a run was asked on; None when the run is forgotten."""
        with self._lock:
            known = self._runs.get(run)
        return known.graph() if known else None


def _batch(run: str, start: int, items: list[str]) -> str:
    return f'{{"run":{json.dumps(run)},"from":{start},"items":[{",".join(items)}]}}'
