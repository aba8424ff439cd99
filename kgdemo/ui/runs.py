"""The runs of a server: shared among those who ask the same, and sent to the page in small numbered batches.

A browser in the background may skip updates of a component; the page sees the gap by the numbers and asks
``EventStream.missed``, which remembers a little to fill it from.

Identical questions share one run (``SharedRuns``), and recent answers are kept: a class that asks the same question
pays for it once. A run is pulled by whoever needs its next event first; everyone who asked the same gets every event,
from the first one on. It is closed when the last of them has gone. No thread is started. Nothing here knows gradio.
"""

from __future__ import annotations

import json
import pickle
import secrets
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

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
from kgdemo.pipeline import Pipeline
from kgdemo.settings import Settings
from kgdemo.ui import zero
from kgdemo.ui.metrics import METRICS, give_back_memory
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


Key: TypeAlias = tuple[str, Settings, tuple[str, ...]]
Run: TypeAlias = Callable[[Pipeline, str, Settings, Sequence[str]], Generator[Event, None, None]]


class _Running:
    """A run under way, and how many follow it."""

    def __init__(self, source: Generator[Event, None, None]) -> None:
        self.followers = 0
        self.events: list[Event] = []
        self._source = source
        self._failure: BaseException | None = None
        self._pulling = threading.Lock()

    def event(self, number: int) -> Event | None:
        """The event of that number, made now where nobody has needed it yet; None after the last."""
        if number < len(self.events):
            return self.events[number]
        with self._pulling:
            if number >= len(self.events) and self._failure is None:
                try:
                    self.events.append(next(self._source))
                except BaseException as error:  # all who follow are told, not only the one who pulled
                    self._failure = error
                    if not isinstance(error, Exception):
                        raise
            if number < len(self.events):
                return self.events[number]
        if isinstance(self._failure, StopIteration):
            return None
        assert self._failure is not None
        raise self._failure

    def close(self) -> None:
        """End the run; nobody follows it any more."""
        with self._pulling:
            self._source.close()


class SharedRuns:
    """All runs of one server; safe to use from several threads.

    Answers are kept compressed, up to ``Profile.answer_bytes``; the one unused longest goes first. What a general model
    has a part in is shared while it runs but not kept: asked again, it may say something else, or be reachable again.

    Args:
        pipeline: answers the questions; a graph that it forgets takes its answers along.
        run: how a question is answered; tests give their own.
    """

    def __init__(self, pipeline: Pipeline, run: Run = zero.run) -> None:
        self.pipeline = pipeline
        self._run = run
        self._running: dict[Key, _Running] = {}
        self._answers: OrderedDict[Key, bytes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()  # of these three, never held while a run is pulled
        pipeline.when_forgotten.append(self.forget)

    def run(self, question: str, settings: Settings, entities: Sequence[str] = ()) -> Generator[Event, None, None]:
        """``Pipeline.run``, or its events as they were made for somebody else."""
        if zero.borrows(self.pipeline, settings):  # each visitor on an account of their own
            yield from self._begun(question, settings, entities)
            return
        key = (" ".join(question.split()), settings, tuple(entities))
        with self._lock:
            answer = self._answers.get(key)
            if answer is None:
                running = self._running.get(key) or _Running(self._begun(question, settings, entities))
                self._running[key] = running
                running.followers += 1
            else:
                self._answers.move_to_end(key)
        METRICS.count(
            "kgdemo_questions_total", answer="kept" if answer else "run" if running.followers == 1 else "shared"
        )
        yield from pickle.loads(zlib.decompress(answer)) if answer is not None else self._followed(key, running)

    def forget(self, graph: str) -> None:
        """Drop what was answered on a graph, and share no run on it that is under way."""
        with self._lock:
            for key in [key for key in self._answers if key[1].graph == graph]:
                self._bytes -= len(self._answers.pop(key))
            for key in [key for key in self._running if key[1].graph == graph]:
                del self._running[key]

    def _begun(self, question: str, settings: Settings, entities: Sequence[str]) -> Generator[Event, None, None]:
        try:
            yield from METRICS.watched(self._run(self.pipeline, question, settings, entities), question, settings)
        finally:
            give_back_memory()

    def _followed(self, key: Key, running: _Running) -> Iterator[Event]:
        number = 0
        try:
            while (event := running.event(number)) is not None:
                yield event
                number += 1
            self._keep(key, running)
        finally:
            with self._lock:
                running.followers -= 1
                last = running.followers == 0
                if last and self._running.get(key) is running:
                    del self._running[key]
            if last:
                running.close()

    def _keep(self, key: Key, running: _Running) -> None:
        """Keep the answer of a run that has ended well; before it is given up, so that nobody begins it anew."""
        if not (running.events and isinstance(running.events[-1], RunFinished)) or self.pipeline.chat.model:
            return
        answer = zlib.compress(pickle.dumps(running.events, pickle.HIGHEST_PROTOCOL), 1)
        with self._lock:
            if key in self._answers or self._running.get(key) is not running:
                return  # another follower has kept it, or its graph has been forgotten
            self._answers[key] = answer
            self._bytes += len(answer)
            while self._bytes > self.pipeline.profile.answer_bytes:
                self._bytes -= len(self._answers.popitem(last=False)[1])
