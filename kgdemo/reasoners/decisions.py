"""Decisions as events: what was weighed, what was kept, and what a language model was asked.

Each function asks a reasoner, yields the events of the decision and returns its outcome, so that a method's control
flow reads like its paper's. Where there is only one option, no reasoner is asked.

Decisions are taken in threads of their own, so that a run can be stopped, and shows a sign of life, while a model
thinks. A run is a generator, and a generator can only be closed where it yields. A call to a language model may take
minutes. So the call is made by a thread, and the run yields ``Waiting`` once a second until it has ended. When the run
is closed there, the threads are told: ``stopped`` is true in them, and a stream that is being read is given up at its
next piece.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Protocol, TypeVar

from kgdemo.errors import EndpointError
from kgdemo.events import CandidatesScored, DeductionChecked, Event, Notice, Waiting
from kgdemo.models.embedding import embedding_cache
from kgdemo.query.query import Query
from kgdemo.reasoners.base import Decision, EmbeddedReasoner, FailedDecisionError, Resources

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


def select(
    resources: Resources, decision: str, query: Query, task: str, options: Sequence[str], limit: int
) -> Generator[Event, None, tuple[int, ...]]:
    """Choose at most ``limit`` options.

    Args:
        resources: whose reasoner is asked.
        decision: what the event is to call this.
        query: what is asked.
        task: what a language model is told; empty for the usual.
        options: to choose among.
        limit: how many to keep.

    Returns:
        indices of the options chosen, best first.
    """
    if len(options) <= 1:
        return tuple(range(len(options)))
    made = yield from _decided(resources, lambda: resources.reasoner.select(query.text, task, options, limit))
    chosen = tuple(dict.fromkeys(i for i in made.chosen if 0 <= i < len(options)))[:limit]
    yield from _scored(decision, options, made.scores, chosen, _by(made, resources))
    return chosen


def propose(
    resources: Resources,
    decision: str,
    query: Query,
    task: str,
    context: Sequence[str],
    options: Sequence[str],
    limit: int,
) -> Generator[Event, None, list[tuple[int, str, str]]]:
    """Choose at most ``limit`` next steps; arguments as for ``select``.

    Returns:
        the index of each option chosen, the thought that it follows from, and what was written behind its number;
        empty where nothing was. One option may be chosen twice with different texts.
    """
    if len(options) <= 1:
        return [(i, "", "") for i in range(len(options))]
    made = yield from _decided(resources, lambda: resources.reasoner.propose(query.text, task, context, options, limit))
    empty = ("",) * len(made.chosen)
    steps = list(zip(made.chosen, made.thoughts or empty, made.written or empty, strict=True))
    chosen = [step for step in steps if 0 <= step[0] < len(options)][:limit]
    yield from _scored(decision, options, made.scores, list(dict.fromkeys(i for i, *_ in chosen)), _by(made, resources))
    return chosen


def score(
    resources: Resources, decision: str, query: Query, task: str, options: Sequence[str], limit: int
) -> Generator[Event, None, tuple[float, ...]]:
    """Rate every option; arguments as for ``select``, of which ``limit`` only tells the event what will be kept."""
    if not options:
        return ()
    made = yield from _decided(resources, lambda: resources.reasoner.score(query.text, task, options))
    yield from _scored(decision, options, made.scores, best(made.scores, limit), _by(made, resources))
    return made.scores


def compare(
    resources: Resources, decision: str, query: Query, options: Sequence[Sequence[str]], limit: int
) -> Generator[Event, None, tuple[float, ...]]:
    """Rate paths by sentence embeddings, without a language model.

    A path is rated by the mean over its steps, not by its text alone: the later steps hold the names of
    entities on the way, which are more or less like the question by chance.

    Args:
        resources: for the embedder.
        decision: what the event is to call this.
        query: what is asked.
        options: for each path its beginnings, one step longer each, itself last.
        limit: how many the caller keeps, which the event says.
    """
    if not options:
        return ()
    texts = list(dict.fromkeys(text for steps in options for text in steps))
    rated = dict(zip(texts, embedding_cache(resources.embedder).similarity(query.text, texts).tolist(), strict=True))
    scores = tuple(sum(rated[text] for text in steps) / len(steps) for steps in options)
    yield from _scored(decision, [steps[-1] for steps in options], scores, best(scores, limit), EmbeddedReasoner.name)
    return scores


def best(scores: Sequence[float], limit: int) -> list[int]:
    """Indices of the highest scores, best first; the first among equals."""
    return sorted(range(len(scores)), key=lambda i: -scores[i])[:limit]


def verify(
    resources: Resources, query: Query, statement: str, premises: Sequence[str], task: str = ""
) -> Generator[Event, None, bool]:
    """Whether a statement follows from premises, or what else the task asks of it."""
    made = yield from _decided(resources, lambda: resources.reasoner.verify(query.text, statement, premises, task))
    yield DeductionChecked(statement, tuple(premises), made.holds, _by(made, resources))
    return made.holds


def think(resources: Resources, query: Query, task: str, context: Sequence[str]) -> Generator[Event, None, str]:
    """A sentence in the reasoner's own words, or what stands in for it where a language model failed."""
    made = yield from _decided(resources, lambda: resources.reasoner.thought(query.text, task, context))
    return made.text


def reply(resources: Resources, query: Query, task: str, context: Sequence[str]) -> Generator[Event, None, Decision]:
    """As ``think``, of a sentence that only the language model can write; the decision also says whether it was cut.

    Raises:
        EndpointError: the language model failed.
    """
    return (yield from _decided(resources, lambda: resources.reasoner.thought(query.text, task, context), own=True))


def plan(
    resources: Resources, query: Query, task: str, own: bool = False, temperature: float = 0.0
) -> Generator[Event, None, str]:
    """Text in the form that the task asks for, at a temperature a sample of it.

    Raises:
        EndpointError: the language model failed, and ``own`` says that nobody else can write this.
    """
    made = yield from _decided(resources, lambda: resources.reasoner.plan(query, task, temperature), own)
    return made.text


def concurrently(
    resources: Resources, decisions: Sequence[Generator[Event, None, Made]]
) -> Generator[Event, None, list[Made]]:
    """Take decisions that do not depend on each other side by side, as many as the reasoner bears.

    Args:
        resources: whose reasoner is asked.
        decisions: decisions under way, which share nothing.

    Returns:
        their outcomes, in the same order, as the events are.
    """
    limit = min(resources.reasoner.at_once, len(decisions))
    if limit <= 1:
        outcomes = []
        for one in decisions:
            outcomes.append((yield from one))
        return outcomes
    outcomes = []
    with threads(limit) as submit:
        for pending in [submit(partial(_to_its_end, decision)) for decision in decisions]:
            events, outcome = yield from waited_for(pending, resources.reasoner.name)
            yield from events
            outcomes.append(outcome)
    return outcomes


def _to_its_end(decision: Generator[Event, None, Made]) -> tuple[list[Event], Made]:
    """All events of a decision, and its outcome."""
    events = []
    while True:
        try:
            events.append(next(decision))
        except StopIteration as end:
            return events, end.value


def _by(made: Decision, resources: Resources) -> str:
    """Who took a decision."""
    return EmbeddedReasoner.name if made.replaced else resources.reasoner.name


def _scored(
    decision: str, options: Sequence[str], scores: Sequence[float], chosen: Sequence[int], by: str
) -> Iterator[Event]:
    """The options as an event: those chosen first, then the others by their scores."""
    scores = scores or (0.0,) * len(options)
    others = sorted((i for i in range(len(options)) if i not in chosen), key=lambda i: -scores[i])
    order = [*chosen, *others]
    yield CandidatesScored(
        decision,
        tuple(options[i] for i in order),
        tuple(scores[i] for i in order),
        tuple(i in chosen for i in order),
        by,
    )


def _decided(resources: Resources, ask: Callable[[], Decision], own: bool = False) -> Generator[Event, None, Decision]:
    """A decision with its language-model call as an event, also where the call failed, and what there is to say of it.

    A language model is asked in a thread of its own; sentence embeddings have decided before one has begun.

    Raises:
        EndpointError: the model failed and nobody may decide in its place.
    """
    try:
        if resources.reasoner.is_language_model and not in_background():
            with threads(1) as submit:
                made = yield from waited_for(submit(ask), resources.reasoner.name)
        else:
            made = ask()
    except FailedDecisionError as failed:
        yield failed.call
        raise
    if made.call is not None:
        yield made.call
    if own and made.replaced:
        raise EndpointError(made.replaced)
    yield from map(Notice, made.notices)
    return made
