"""A question that goes on from the one before."""

from __future__ import annotations

import json

import pytest

from kgdemo.events import EntitiesLinked, Event, Notice, RunStarted
from kgdemo.ui.asking import Fields, LastRun, Server, ask, meant_by, pronoun_of
from tests.helpers.small import SmallPipeline

NOLAN, INCEPTION = "Christopher Nolan", "Inception"


def asked(pipeline: SmallPipeline, question: str, *about: object, last: object = None) -> list[Event]:
    told = json.dumps({"about": about, "last": last})
    fields = Fields(question, {"graph": "world", "beams": 2, "hops": 1}, told)
    return list(ask(Server(pipeline), fields))


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


DIRECTED = {"question": "Who directed Inception?", "topic": "Inception"}


@pytest.mark.parametrize("question", ["What about Dunkirk?", "And of Dunkirk?", "and Dunkirk"])
def test_another_thing_is_asked_what_was_asked_last(pipeline, question: str):
    events = asked(pipeline, question, INCEPTION, last=DIRECTED)
    assert chosen(events) == ("Dunkirk",)
    read = "Who directed Dunkirk?"
    assert next(event.question for event in events if isinstance(event, RunStarted)) == read
    assert f"Read as: {read}" in [event.text for event in events if isinstance(event, Notice)]


@pytest.mark.parametrize(
    ("question", "last"),
    [
        ("What about Dunkirk?", None),
        ("What about Dunkirk?", {"question": "Who is it?", "topic": "Inception"}),
        (
            "What about Dunkirk?",
            {"question": "x" * 2000 + " Inception", "topic": "Inception"},
        ),  # longer than any question
        ("What about the year?", DIRECTED),  # no thing of the graph
        ("Who starred in Dunkirk?", DIRECTED),
    ],
)
def test_else_nothing_is_read_into_a_question(pipeline, question: str, last: object):
    events = asked(pipeline, question, last=last)
    assert next(event.question for event in events if isinstance(event, RunStarted)) == question


WRITTEN = ["", "{", "7", "[]", '{"about": 7, "last": 7}', '{"about": [1, {}], "last": {"question": 7}}', "[" * 100_000]


@pytest.mark.parametrize("written", WRITTEN)
def test_what_the_browser_sends_may_be_anything(written: str):
    assert LastRun.read(written) == LastRun()
