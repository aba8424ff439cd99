"""A question is read once: entities found or given, mistyped words put right, and what names nothing is said."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from kgdemo.errors import UserError
from kgdemo.events import AnswerFinal, EntitiesLinked, Event, Notice
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.opened import OpenedGraph
from kgdemo.reading import Reading, read

TRIPLES = [
    ("Paris", "capital of", "France"),
    ("Lyon", "located in", "France"),
    ("First World War", "fought in", "France"),
    ("Madrid", "capital of", "Spain"),
]
INFO = {name: EntityInfo("city") for name in ("Paris", "Lyon", "Madrid")}


@pytest.fixture(scope="module")
def graph() -> OpenedGraph:
    kg = KnowledgeGraph.from_triples(TRIPLES, "small", info=INFO)
    return OpenedGraph(kg, lambda: StatedFacts(TRIPLES))


def _read(question: str, graph: OpenedGraph, entities: Sequence[str] = ()) -> tuple[list[Event], Reading | None]:
    events, steps = [], read(question, entities, graph)
    while True:
        try:
            events.append(next(steps))
        except StopIteration as stop:
            return events, stop.value


def test_a_question_has_its_topics_and_its_plan(graph: OpenedGraph) -> None:
    events, reading = _read("How many cities are located in France?", graph)
    assert reading is not None
    assert reading.query.topics == ("France",)
    assert reading.query.plan.form.name == "COUNT"
    assert [type(event) for event in events] == [EntitiesLinked]


def test_mistyped_words_are_put_right_and_names_are_left(graph: OpenedGraph) -> None:
    events, reading = _read("whta is the capital of France", graph)
    assert reading is not None
    assert reading.query.text == "what is the capital of France"
    assert Notice("Read as: what is the capital of France") in events


def test_entities_that_are_given_are_not_searched_for(graph: OpenedGraph) -> None:
    _, reading = _read("what is the capital of France", graph, ["Spain"])
    assert reading is not None
    assert reading.linked.given
    assert reading.query.topics == ("Spain",)
    with pytest.raises(UserError, match="no entity 'Spane'; did you mean Spain"):
        _read("what is the capital of it", graph, ["Spane"])


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("who founded Qwertzuiop", "knows nothing called Qwertzuiop"),
        ("which cities are large", r"holds 3 cities \(Paris, Lyon, Madrid\)"),
    ],
)
def test_what_names_nothing_is_said(graph: OpenedGraph, question: str, says: str) -> None:
    events, reading = _read(question, graph)
    assert reading is not None
    assert reading.refused is not None
    assert not any(isinstance(event, AnswerFinal) for event in events)  # a description may fit something still
    assert not reading.refused.answers
    assert re.search(says, reading.refused.refusal)


def test_a_name_may_have_a_place_in_an_order_within_it(graph: OpenedGraph) -> None:
    for question, named in (("where was the First World War fought", True), ("where is Lyon", False)):
        _, reading = _read(question, graph)
        assert reading is not None
        assert reading.names("who is the first") is named


def test_what_is_made_of_a_graph_is_made_once(graph: OpenedGraph) -> None:
    assert graph.linker is graph.linker
    assert graph.verifier is graph.verifier
    assert graph.verifier.facts is graph.facts
