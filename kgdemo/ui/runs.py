"""The runs of a server: shared among those who ask the same, and sent to the page in small numbered batches.

A browser in the background may skip updates of a component; the page sees the gap by the numbers and asks
``EventStream.missed``, which remembers a little to fill it from.

Identical questions share one run (``SharedRuns``), and recent answers are kept: a class that asks the same question
pays for it once, for the text that its page is sent too. A run is pulled by whoever needs its next event first;
everyone who asked the same gets every event, from the first one on. It is closed when the last of them has gone. No
thread is started. Nothing here knows gradio.
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
from contextlib import closing
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeAlias, TypeVar

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
from kgdemo.ui.metrics import METRICS, SPARE_MEMORY
from kgdemo.view.escape import json_in_html
from kgdemo.view.next_questions import with_next
from kgdemo.view.page_records import Record, record
from kgdemo.view.picture import with_picture

INTERVAL = 0.1  # seconds between two updates of the page
REMEMBERED = 64  # runs
_AT_ONCE = (RunStarted, EntitiesLinked, ConstraintReady, AnswerFinal, Notice, RunFinished, RunFailed)


def records(events: Iterable[Event], graph: Callable[[], KnowledgeGraph]) -> Iterator[tuple[Record, bool]]:
    """Each event's record, those of picture and next questions included; with whether it should be shown at once."""
    before: Event | None = None
    for event in with_picture(with_next(events, graph), graph):
        at_once = isinstance(before, EntitiesLinked) if isinstance(event, Picture) else isinstance(event, _AT_ONCE)
        yield record(event), at_once
        before = event


class Line(NamedTuple):
    """A record as the page is sent it."""

    text: str  # JSON
    at_once: bool


def lines_of(events: Iterable[Event], graph: Callable[[], KnowledgeGraph]) -> Iterator[Line]:
    """The records of a run as text."""
    for item, at_once in records(events, graph):
        yield Line(json_in_html(item), at_once)


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

    def sent(self, lines: Iterable[Line], graph: Callable[[], KnowledgeGraph]) -> Iterator[str]:
        """JSON ``{"run", "from", "items"}``, at most one each ``INTERVAL`` seconds but for what cannot wait."""
        run = secrets.token_urlsafe(9)
        items: list[str] = []
        with self._lock:
            self._runs[run] = _Run(items, graph)
            while len(self._runs) > REMEMBERED:
                self._runs.popitem(last=False)
        sent, last = 0, self._clock()
        for line in lines:
            items.append(line.text)
            if line.at_once or self._clock() - last >= INTERVAL:
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
Item = TypeVar("Item")


class _Running(Generic[Item]):
    """A run under way, and how many follow it."""

    def __init__(self, source: Generator[Item, None, None]) -> None:
        self.followers = 0
        self.items: list[Item] = []
        self._source = source
        self._failure: BaseException | None = None
        self._pulling = threading.Lock()

    def item(self, number: int) -> Item | None:
        """The item of that number, made now where nobody has needed it yet; None after the last."""
        if number < len(self.items):
            return self.items[number]
        with self._pulling:
            if number >= len(self.items) and self._failure is None:
                try:
                    self.items.append(next(self._source))
                except BaseException as error:  # all who follow are told, not only the one who pulled
                    self._failure = error
                    if not isinstance(error, Exception):
                        raise
            if number < len(self.items):
                return self.items[number]
        if isinstance(self._failure, StopIteration):
            return None
        assert self._failure is not None
        raise self._failure

    def close(self) -> None:
        """End the run; nobody follows it any more."""
        with self._pulling:
            self._source.close()


class _Shared(Generic[Item]):
    """Runs by what was asked: one for all who ask it at the same time, and kept compressed for those who come later.

    Args:
        limit: bytes that are kept; what was unused longest goes first.
        pack: the items of a run as bytes; empty bytes where it is not to be kept.
        unpack: the items again.
    """

    def __init__(
        self, limit: int, pack: Callable[[list[Item]], bytes], unpack: Callable[[bytes], Iterable[Item]]
    ) -> None:
        self.held = 0  # bytes
        self.kept: OrderedDict[Key, bytes] = OrderedDict()
        self._limit, self._pack, self._unpack = limit, pack, unpack
        self._running: dict[Key, _Running[Item]] = {}
        self._lock = threading.Lock()  # of these three, never held while a run is pulled

    def get(self, key: Key, begin: Callable[[], Generator[Item, None, None]]) -> tuple[Iterable[Item], str]:
        """The items, and where they come from: ``kept``, ``shared``, or a ``run`` of one's own."""
        with self._lock:
            packed = self.kept.get(key)
            if packed is not None:
                self.kept.move_to_end(key)
                return self._unpack(zlib.decompress(packed)), "kept"
            running = self._running.get(key) or _Running(begin())
            self._running[key] = running
            running.followers += 1
            return self._followed(key, running), "run" if running.followers == 1 else "shared"

    def forget(self, graph: str) -> None:
        """Drop what was answered on a graph, and share no run on it that is under way."""
        with self._lock:
            for key in [key for key in self.kept if key[1].graph == graph]:
                self.held -= len(self.kept.pop(key))
            for key in [key for key in self._running if key[1].graph == graph]:
                del self._running[key]

    def _followed(self, key: Key, running: _Running[Item]) -> Iterator[Item]:
        number = 0
        try:
            while (item := running.item(number)) is not None:
                yield item
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

    def _keep(self, key: Key, running: _Running[Item]) -> None:
        """Keep a run that has ended; before it is given up, so that nobody begins it anew."""
        with self._lock:
            if key in self.kept or self._running.get(key) is not running:
                return  # another follower has kept it, or its graph has been forgotten
        packed = self._pack(running.items)
        if not packed:
            return
        packed = zlib.compress(packed, 1)
        with self._lock:
            if key in self.kept or self._running.get(key) is not running:
                return
            self.kept[key] = packed
            self.held += len(packed)
            while self.held > self._limit:
                self.held -= len(self.kept.popitem(last=False)[1])


class SharedRuns:
    """All runs of one server; safe to use from several threads.

    Of ``Profile.answer_bytes`` events and pages have a half each. What a general model has a part in is shared while it
    runs but not kept: asked again, it may say something else, or be reachable again.

    Args:
        pipeline: answers the questions; a graph that it forgets takes its answers along.
        run: how a question is answered; tests give their own.
    """

    def __init__(self, pipeline: Pipeline, run: Run = zero.run) -> None:
        self.pipeline = pipeline
        self._run = run
        half = pipeline.profile.answer_bytes // 2
        self._events: _Shared[Event] = _Shared(half, self._events_packed, pickle.loads)
        self._lines: _Shared[Line] = _Shared(half, self._lines_packed, _lines_unpacked)
        pipeline.when_forgotten.append(self.forget)

    def run(self, question: str, settings: Settings, entities: Sequence[str] = ()) -> Generator[Event, None, None]:
        """``Pipeline.run``, or its events as they were made for somebody else."""
        if zero.borrows(self.pipeline, settings):  # each visitor on an account of their own
            yield from self._begun(question, settings, entities)
            return
        events, how = self._events.get(
            _key(question, settings, entities), lambda: self._begun(question, settings, entities)
        )
        METRICS.count("kgdemo_questions_total", answer=how)
        yield from events

    def lines(self, question: str, settings: Settings, entities: Sequence[str] = ()) -> Generator[Line, None, None]:
        """``run`` as the page is sent it, made once for all who ask the same; a kept page comes in one piece."""

        def graph() -> KnowledgeGraph:
            return self.pipeline.graph(settings.graph)

        if zero.borrows(self.pipeline, settings):
            yield from lines_of(self._begun(question, settings, entities), graph)
            return

        def begin() -> Generator[Line, None, None]:
            with closing(self.run(question, settings, entities)) as events:
                yield from lines_of(events, graph)

        lines, how = self._lines.get(_key(question, settings, entities), begin)
        if how != "run":  # which is counted where it begins
            METRICS.count("kgdemo_questions_total", answer=how)
        yield from lines

    def forget(self, graph: str) -> None:
        """Drop what was answered on a graph, and share no run on it that is under way."""
        for shared in (self._events, self._lines):
            shared.forget(graph)

    def _begun(self, question: str, settings: Settings, entities: Sequence[str]) -> Generator[Event, None, None]:
        try:
            yield from METRICS.watched(self._run(self.pipeline, question, settings, entities), question, settings)
        finally:
            SPARE_MEMORY.run_ended()

    def _events_packed(self, events: list[Event]) -> bytes:
        if not (events and isinstance(events[-1], RunFinished)) or self.pipeline.chat.model:
            return b""
        return pickle.dumps(events, pickle.HIGHEST_PROTOCOL)

    def _lines_packed(self, lines: list[Line]) -> bytes:
        ended_well = bool(lines) and lines[-1].text.startswith('{"event":"RunFinished"')
        return (
            _BETWEEN.join(line.text for line in lines).encode() if ended_well and not self.pipeline.chat.model else b""
        )


_BETWEEN = "\n"  # JSON holds no line break


def _lines_unpacked(packed: bytes) -> list[Line]:
    return [Line(text, False) for text in packed.decode().split(_BETWEEN)]


def _key(question: str, settings: Settings, entities: Sequence[str]) -> Key:
    return " ".join(question.split()), settings, tuple(entities)
