"""From what stands in the page's fields to a run; mistakes become one clear sentence, never an error box.

``Visits`` says how often one visitor may ask on a public server. Questions are counted for each session (a tab, or a
program's client), not for each address: a whole class may sit behind one. The queue bounds what all visitors use
together.

A question may go on from the one before, see ``query.follow_up``: *and where did she die?* is about what was asked or
answered last, if it names nothing itself; *what about Germany?* asks the last question of another thing, if the graph
has it. What was read so is said, and is the run's question.

``Loading`` is what is loaded while the first visitors read: a few stages, one after the other, and how far it has got.
``Server`` holds all that a served page works with.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import re
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from kgdemo.errors import UserError
from kgdemo.events import Event, Notice, RunFailed, RunStarted
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.models.causal import EMBEDDED
from kgdemo.pipeline import Pipeline
from kgdemo.query.follow_up import asked_of, meant_by, named_instead, pronoun_of
from kgdemo.settings import Settings
from kgdemo.ui.fields import Fields, settings_of
from kgdemo.ui.metrics import METRICS
from kgdemo.ui.runs import EventStream, Line, SharedRuns, lines_of
from kgdemo.ui.session_graphs import ClientGraph, SessionGraphs

logger = logging.getLogger(__name__)

WINDOW = 60.0  # seconds
_REMEMBERED = 10_000  # addresses


class Visits:
    """Counts questions.

    Args:
        limit: questions a minute from one address; 0 for no limit.
        clock: seconds, ever rising; tests give their own.
    """

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self._clock = clock
        self._questions_at: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def count(self, address: str) -> None:
        """One more question from this address.

        Raises:
            UserError: it has asked too often.
        """
        if not self.limit:
            return
        now = self._clock()
        with self._lock:
            times = self._questions_at.setdefault(address, deque())
            self._questions_at.move_to_end(address)
            while times and times[0] <= now - WINDOW:
                times.popleft()
            if len(times) >= self.limit:
                METRICS.count("kgdemo_refused_total", reason="rate")
                wait = max(1, round(times[0] + WINDOW - now))
                raise UserError(
                    f"This server takes {self.limit} questions a minute from one address; ask again in {wait} s."
                )
            times.append(now)
            while len(self._questions_at) > _REMEMBERED:
                self._questions_at.popitem(last=False)


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
        """``progress``, for a page, which is there now; so the loading begins."""
        self._seen.set()
        return self.progress()

    def progress(self) -> dict[str, object]:
        """Stages done, how many there are, the one under way (empty when none is), what went wrong."""
        going = self._done < len(self._stages) and not self._failed
        stage = self._stages[self._done][0] if going else ""
        return {"done": self._done, "stages": len(self._stages), "stage": stage, "failed": self._failed}

    def _run(self) -> None:
        gc.disable()  # what is loaded stays: it is not gone through for garbage, neither now nor again and again later
        try:
            for _, load in self._stages:
                load()
                self._done += 1
        except UserError as error:
            logger.warning("%s", error)
            self._failed = str(error)
        finally:
            gc.freeze()
            gc.enable()


class Server:
    """What serves one page: the pipeline, and what all visitors share.

    Args:
        pipeline: answers the questions.
        loading: how far it has been loaded.
        graphs: the visitors' graphs; made here unless given.
        visits: counts what visitors ask for; by default as the profile says.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        loading: Loading | None = None,
        graphs: SessionGraphs | None = None,
        visits: Visits | None = None,
    ) -> None:
        self.pipeline, self.loading = pipeline, loading or Loading()
        self.runs, self.stream = SharedRuns(pipeline), EventStream()
        self.graphs = graphs or SessionGraphs(pipeline)
        self.visits = visits or Visits(pipeline.profile.questions_a_minute)

    def settings(self, fields: Fields) -> Settings:
        """The settings that stand in the fields, with the graph as the visitor has changed it.

        Raises:
            UserError: a value is one that this server does not allow, or the visitor's graph has been forgotten.
        """
        settings = settings_of(fields.values, self.pipeline.profile)
        return replace(settings, graph=self.graphs.source(settings.graph, ClientGraph.read(fields.client_graph)))

    def graph(self, fields: Fields) -> KnowledgeGraph:
        """The graph that is asked."""
        return self.pipeline.graph(self.settings(fields).graph)


def ask(
    server: Server, fields: Fields, entities: Sequence[str] = (), forced: Sequence[int] = (), address: str = ""
) -> Iterator[Event]:
    """Run the pipeline on the fields.

    Args:
        server: answers the question.
        fields: what stands in the page's fields.
        entities: topic entities; linked from the question when empty.
        forced: token ids that every path begins with.
        address: the visitor's.
    """
    asked = _request(server, fields, entities, forced, address)
    if isinstance(asked, RunFailed):
        yield asked
        return
    events = server.runs.run(asked.question, asked.settings, asked.entities)
    yield from _with_notice(events, asked.notice) if asked.notice else events


def ask_for_page(
    server: Server, fields: Fields, entities: Sequence[str], forced: Sequence[int], address: str
) -> Iterator[Line]:
    """``ask`` as the page is sent it."""
    asked = _request(server, fields, entities, forced, address)
    if isinstance(asked, RunFailed):
        yield from lines_of([asked], lambda: server.graph(fields))
    elif asked.notice:
        events = server.runs.run(asked.question, asked.settings, asked.entities)
        yield from lines_of(_with_notice(events, asked.notice), lambda: server.graph(fields))
    else:
        yield from server.runs.lines(asked.question, asked.settings, asked.entities)


@dataclass(frozen=True, slots=True)
class _Request:
    """A question as it is run; ``notice`` says how it was read, where that needs saying."""

    question: str
    settings: Settings
    entities: Sequence[str]
    notice: str


def _request(
    server: Server, fields: Fields, entities: Sequence[str], forced: Sequence[int], address: str
) -> _Request | RunFailed:
    """What stands in the fields, read; or why it is refused."""
    try:
        server.visits.count(address)
    except UserError as error:
        return RunFailed(str(error))
    try:
        settings = replace(server.settings(fields), forced=tuple(forced))
    except UserError as error:
        METRICS.count("kgdemo_refused_total", reason="settings")
        return RunFailed(str(error))
    question, notice = str(fields.question or ""), ""
    if not entities:
        question, entities, notice = _completed(server.pipeline, question, settings, LastRun.read(fields.client_graph))
    return _Request(question, settings, entities, notice)


def _with_notice(events: Generator[Event, None, None], text: str) -> Iterator[Event]:
    with closing(events):
        for event in events:
            yield event
            if isinstance(event, RunStarted):
                yield Notice(text)


# a question that goes on from the one before ----------------------------------------------------------

_MOST = 20  # things of the last run that are looked at


@dataclass(frozen=True, slots=True)
class LastRun:
    """What the page has shown last, from what the browser sends with a question; anything may come.

    Attributes:
        about: what was answered and asked about, the likeliest first.
        question: its question.
        topic: how that question named the one thing it was about; empty where it named none or several.
    """

    about: tuple[str, ...] = ()
    question: str = ""
    topic: str = ""

    @classmethod
    def read(cls, written: str) -> LastRun:
        """From JSON ``{"about": […], "last": {"question": …, "topic": …}}``; what does not fit is left out."""
        try:
            told = json.loads(written or "{}")
            about, last = told.get("about"), told.get("last")
        except (ValueError, AttributeError, RecursionError):
            return cls()
        names = [name for name in about if isinstance(name, str)][:_MOST] if isinstance(about, list) else []
        question, topic = (last.get("question"), last.get("topic")) if isinstance(last, dict) else ("", "")
        said = (question, topic) if isinstance(question, str) and isinstance(topic, str) else ("", "")
        return cls(tuple(names), *said)


def _completed(pipeline: Pipeline, question: str, settings: Settings, last: LastRun) -> tuple[str, list[str], str]:
    """A question as it is meant after the last one.

    Returns:
        the question, its topic where a pronoun stands for it, and what is told of that; for a question that stands by
        itself itself, nothing, and nothing.
    """
    by_itself = question, list[str](), ""
    pronoun, name = pronoun_of(question), named_instead(question)
    if not (pronoun and last.about) and not (name and last.topic):
        return by_itself
    try:
        linker = pipeline.linker(settings.graph)
        if name:
            asked = asked_of(name, last.question, last.topic)
            known = 0 < len(asked) <= pipeline.profile.question and linker.link(name).chosen
            return (asked, [], f"Read as: {asked}") if known else by_itself
        meant = "" if linker.link(question).chosen else meant_by(pronoun, last.about, pipeline.graph(settings.graph))
        return (question, [meant], f"“{pronoun}” is taken for {meant}.") if meant else by_itself
    except UserError:  # told by the run itself
        return by_itself


def changed_question(fields: Fields, changed: Mapping[str, Any]) -> tuple[Fields, list[str], list[int]]:
    """A question asked again with something changed on the page itself.

    Args:
        fields: what stands in the fields.
        changed: ``entities``, the topic entities to start from, none to have them linked; ``forced``, token
            ids that every path begins with; ``question`` and ``method``, where they are not those of the fields.

    Returns:
        the fields to run with, the entities, the forced tokens.

    Raises:
        UserError: ``changed`` does not have that form.
    """
    tokens = changed.get("forced") or () if isinstance(changed, Mapping) else None
    named = changed.get("entities") or () if isinstance(changed, Mapping) else None
    if not isinstance(named, Sequence) or not isinstance(tokens, Sequence) or not all(map(_is_token, tokens)):
        raise UserError("What was asked for cannot be read; load the page anew.")
    question = str(changed.get("question") or fields.question)
    method = str(changed.get("method") or fields.values["method"])
    entities = [str(name) for name in named][:20]
    again = replace(fields, question=question, values={**fields.values, "method": method})
    return again, entities, [int(token) for token in tokens][:500]


def _is_token(written: object) -> bool:
    return isinstance(written, int) or (isinstance(written, str) and re.fullmatch("[0-9]{1,9}", written) is not None)


def default_model() -> str:
    """The path model that the page starts with; ``KGDEMO_MODEL`` names another than the embedded one."""
    return os.environ.get("KGDEMO_MODEL") or EMBEDDED


def warming(pipeline: Pipeline, settings: Settings) -> Loading:
    """What to load while the first visitor still reads; the examples need none of it."""
    return Loading(
        (
            ("graph", lambda: pipeline.graph(settings.graph)),
            ("linker", lambda: pipeline.linker(settings.graph)),
            ("model", lambda: pipeline.model(settings.model)),
            ("index", lambda: pipeline.resources(settings).embedder.encode(["loaded with its first text"])),
        )
    )
