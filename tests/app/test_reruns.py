"""A question asked again on a changed graph, for its answer alone."""

from __future__ import annotations

import json

import pytest

from kgdemo.ui.asking import Server
from kgdemo.ui.guard import Visits
from kgdemo.ui.page import Reruns
from tests.helpers.small import QUESTION, SmallPipeline


@pytest.fixture(scope="module")
def reruns() -> Reruns:
    return Reruns(Server(SmallPipeline()))


def changed(*edges: list[str]) -> str:
    return json.dumps({"own": "", "edits": [["remove", *edge] for edge in edges]})


def test_without_an_edge_it_is_cited_the_answer_rests_on_others(reruns: Reruns):
    asked = {"question": QUESTION, "values": {"graph": "world", "beams": 4, "hops": 2}, "changes": ""}
    before = reruns.answer(asked, "here")
    assert before["answers"]
    assert before["edges"]
    edge = before["edges"][0]
    after = reruns.answer({**asked, "changes": changed(edge)}, "here")
    assert edge not in after["edges"]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({}, "empty"),
        ({"question": QUESTION, "values": {"graph": "nowhere.tsv"}}, "nowhere"),
        ({"question": QUESTION, "values": 7, "changes": changed(["Inception", "directed by", "Nobody"])}, "no edge"),
        ({"question": QUESTION, "entities": "x", "changes": "{"}, "load the page anew"),
    ],
)
def test_what_cannot_be_asked_is_told_in_a_sentence(reruns: Reruns, asked: dict, says: str):
    assert says in reruns.answer(asked, "here")["error"]


def test_it_counts_as_a_question_of_its_visitor():
    reruns = Reruns(Server(SmallPipeline(), visits=Visits(1)))
    assert "answers" in reruns.answer({"question": QUESTION}, "here")
    assert "questions a minute" in reruns.answer({"question": QUESTION}, "here")["error"]
