"""A question that goes on from the one before."""

from __future__ import annotations

import json

import pytest

from kgdemo.events import EntitiesLinked, Event, Notice
from kgdemo.ui.asking import about_of, ask, meant_by, pronoun_of
from kgdemo.ui.fields import Fields
from tests.helpers.page import SmallPipeline

NOLAN, INCEPTION = "Christopher Nolan", "Inception"


def asked(pipeline: SmallPipeline, question: str, *about: object) -> list[Event]:
    fields = Fields(question, {"graph": "world", "beams": 2, "hops": 1}, json.dumps({"about": about}))
    return list(ask(pipeline, fields))


def chosen(events: list[Event]) -> tuple[str, ...]:
    return next(event.chosen for event in events if isinstance(event, EntitiesLinked))


@pytest.mark.parametrize(
    ("question", "about", "topic"),
    [
        ("and where was he born?", (NOLAN, INCEPTION), NOLAN),
        ("and where was he born?", (INCEPTION, NOLAN), NOLAN),
        ("who starred in it?", (NOLAN, INCEPTION), INCEPTION),
        ("and their siblings?", (NOLAN, INCEPTION), NOLAN),
        ("and where was he born?", ("Nobody that is known", NOLAN), NOLAN),
    ],
)
def test_a_pronoun_stands_for_what_was_asked_or_answered_last(pipeline, question: str, about: tuple, topic: str):
    events = asked(pipeline, question, *about)
    assert chosen(events) == (topic,)
    notices = [event.text for event in events if isinstance(event, Notice)]
    assert f"“{pronoun_of(question)}” is taken for {topic}." in notices


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("Where was the director of Inception born, and his brother?", (NOLAN,)),  # it names something itself
        ("What is the colour of nothing at all?", (NOLAN,)),
        ("and where was she born?", ()),
        ("and where was she born?", ("Nobody that is known",)),
    ],
)
def test_any_other_question_is_taken_as_it_is(pipeline, question: str, about: tuple):
    events = asked(pipeline, question, *about)
    assert not [event for event in events if isinstance(event, Notice) and "taken for" in event.text]
    assert NOLAN not in chosen(events)


def test_it_is_a_person_or_a_thing(pipeline):
    kg = pipeline.graph("world")
    assert meant_by("it", [NOLAN], kg) == ""
    assert meant_by("she", [INCEPTION], kg) == ""
    assert meant_by("it", ["London"], kg) == "London"  # of no known kind


@pytest.mark.parametrize("written", ["", "{", "7", "[]", '{"about": 7}', '{"about": [1, {}]}', "[" * 100_000])
def test_what_the_browser_sends_may_be_anything(written: str):
    assert about_of(written) == []
