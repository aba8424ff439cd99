"""Decisions of the reasoner as events: what was weighed, what was kept, what a language model was asked.

Each function asks ``world.reasoner``, yields what came of it and returns the outcome, so that a method's
control flow reads like its paper's. Where there is nothing to decide nobody is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence

from kgdemo.events import CandidatesScored, DeductionChecked, Event
from kgdemo.reasoners.base import Decision, FailedDecisionError, Reasoner, Resources
from kgdemo.reasoners.embedded import EmbeddedReasoner


def writes_prose(reasoner: Reasoner) -> bool:
    """Whether a reasoner writes thoughts of its own; the embedded one only chooses among options.

    It compares options with the question, so it is shown them as paths alone, without the words around
    them that a language model needs.
    """
    return not isinstance(reasoner, EmbeddedReasoner)


def select(
    resources: Resources, decision: str, question: str, task: str, options: Sequence[str], limit: int
) -> Generator[Event, None, tuple[int, ...]]:
    """Choose at most ``limit`` options; indices, best first."""
    if len(options) <= 1:
        return tuple(range(len(options)))
    made = yield from _asked(lambda: resources.reasoner.select(question, task, options, limit))
    chosen = tuple(dict.fromkeys(i for i in made.chosen if 0 <= i < len(options)))[:limit]
    yield from emit_candidates(resources, decision, options, made, chosen)
    return chosen


def score(
    resources: Resources, decision: str, question: str, task: str, options: Sequence[str], limit: int
) -> Generator[Event, None, tuple[float, ...]]:
    """Rate every option; ``limit`` is how many the caller keeps, which the event says."""
    if not options:
        return ()
    made = yield from _asked(lambda: resources.reasoner.score(question, task, options))
    yield from emit_candidates(resources, decision, options, made, best(made.scores, limit))
    return made.scores


def compare(
    resources: Resources, decision: str, question: str, options: Sequence[Sequence[str]], limit: int
) -> Generator[Event, None, tuple[float, ...]]:
    """Rate paths without a language model.

    A path is rated by the mean over its steps, not by its text alone: the further ones hold the names of
    entities on the way, which are more or less like the question by chance.

    Args:
        resources: whose reasoner rates.
        decision: what the event is to call this.
        question: what was asked.
        options: for each path its beginnings, one step longer each, itself last.
        limit: how many the caller keeps, which the event says.
    """
    if not options:
        return ()
    texts = list(dict.fromkeys(text for steps in options for text in steps))
    rated = dict(zip(texts, resources.reasoner.score(question, "", texts).scores, strict=True))
    scores = tuple(sum(rated[text] for text in steps) / len(steps) for steps in options)
    yield from emit_candidates(
        resources, decision, [steps[-1] for steps in options], Decision(scores=scores), best(scores, limit)
    )
    return scores


def best(scores: Sequence[float], limit: int) -> list[int]:
    """Indices of the highest scores, best first; the first among equals."""
    return sorted(range(len(scores)), key=lambda i: -scores[i])[:limit]


def verify(
    resources: Resources, question: str, statement: str, premises: Sequence[str]
) -> Generator[Event, None, bool]:
    """Whether a statement follows from premises."""
    made = yield from _asked(lambda: resources.reasoner.verify(question, statement, premises))
    yield DeductionChecked(statement, tuple(premises), made.holds, resources.reasoner.name)
    return made.holds


def think(resources: Resources, question: str, task: str, context: Sequence[str]) -> Generator[Event, None, str]:
    """A sentence in the reasoner's own words."""
    made = yield from _asked(lambda: resources.reasoner.thought(question, task, context, ()))
    return made.text


def plan(resources: Resources, question: str, task: str) -> Generator[Event, None, str]:
    """A line in the form the task asks for."""
    made = yield from _asked(lambda: resources.reasoner.plan(question, task))
    return made.text


def emit_candidates(
    resources: Resources, decision: str, options: Sequence[str], made: Decision, chosen: Sequence[int]
) -> Iterator[Event]:
    scores = made.scores or (0.0,) * len(options)
    others = sorted((i for i in range(len(options)) if i not in chosen), key=lambda i: -scores[i])
    order = [*chosen, *others]
    yield CandidatesScored(
        decision,
        tuple(options[i] for i in order),
        tuple(scores[i] for i in order),
        tuple(i in chosen for i in order),
        resources.reasoner.name,
    )


def _asked(ask: Callable[[], Decision]) -> Generator[Event, None, Decision]:
    """A decision with its call told, also where it failed."""
    try:
        made = ask()
    except FailedDecisionError as failed:
        yield failed.call
        raise
    if made.call is not None:
        yield made.call
    return made
