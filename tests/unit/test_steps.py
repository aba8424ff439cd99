"""Questions that describe what they ask about: asked in two steps where that finds what the whole does not."""

from __future__ import annotations

from collections import Counter

import pytest

from kgdemo.events import AnswerFinal, Event, Operation, PathFound
from kgdemo.pipeline import Pipeline
from kgdemo.settings import Settings

SETTINGS = Settings(compare=False, explain=0)


def asked(pipeline: Pipeline, question: str) -> tuple[list[Event], AnswerFinal]:
    """The events of a run, and its answer."""
    events = list(pipeline.run(question, SETTINGS))
    (final,) = [event for event in events if isinstance(event, AnswerFinal)]
    assert all(event.verified for event in events if isinstance(event, Operation))
    return events, final


def searches(events: list[Event]) -> int:
    """How often paths were searched and shown."""
    found = Counter(event.index for event in events if isinstance(event, PathFound) and event.constrained)
    return max(found.values(), default=0)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where was the author of the book that Blade Runner is based on born?", "Chicago"),
        ("what is the currency of the country where the Taj Mahal is", "Indian rupee"),
        ("Who directed the movie in which Heath Ledger played the Joker?", "Christopher Nolan"),
        ("when was the wife of the 44th US president born", "17 January 1964"),
        ("who is the husband of the woman who discovered polonium", "Pierre Curie"),
    ],
)
def test_what_is_described_is_found_first(pipeline: Pipeline, question: str, answer: str) -> None:
    events, final = asked(pipeline, question)
    assert final.answers[0] == answer
    assert any(isinstance(event, Operation) and event.kind == "step" for event in events)


def test_a_value_is_asked_of_what_is_described_and_of_what_is_named(pipeline: Pipeline) -> None:
    _, described = asked(pipeline, "population of the capital of Denmark?")
    assert described.text.startswith("Copenhagen")
    events, named = asked(pipeline, "what is the height of the Statue of Liberty")
    assert named.text.startswith("Statue of Liberty")
    assert not any(isinstance(event, Operation) and event.kind == "step" for event in events)


def test_a_second_search_that_finds_nothing_is_not_shown(pipeline: Pipeline) -> None:
    events, final = asked(pipeline, "Which goddess was fed by a talking goose?")
    assert final.refusal
    assert searches(events) == 1
