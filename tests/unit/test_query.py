"""A question understood once: its content words, its form, and the type of its answer."""

from __future__ import annotations

import pytest

from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.query.form import understand
from kgdemo.query.query import Form
from tests.helpers.reasoning import FILMS

KG = KnowledgeGraph.from_triples(FILMS, info={"Inception": EntityInfo("film", ("Dream Heist",))})


@pytest.mark.parametrize(
    ("text", "topics", "words"),
    [
        ("Who directed the film Inception?", ["Inception"], ("directed", "film")),
        ("who wrote the dream heist and when", ["Inception"], ("wrote",)),
        ("films with Tom Hardy's friend, films", ["Tom Hardy"], ("films", "friend")),
        ("what is Inception", ["Inception"], ("what", "is", "inception")),
        ("???", [], ("???",)),
    ],
)
def test_content_words_leave_out_function_words_and_every_name_of_a_topic(text, topics, words):
    assert understand(text, topics, KG).content_words == words


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("How many films did Nolan direct?", Form.COUNT),
        ("the number of films by Nolan", Form.COUNT),
        ("who counted the films", Form.ENTITY),
        ("How long is Inception?", Form.VALUE),
    ],
)
def test_a_number_of_entities_is_a_form_of_its_own(text, form):
    assert understand(text, [], KG).plan.form is form


def test_the_answer_type_is_one_of_the_graphs():
    assert understand("which film stars Tom Hardy", ["Tom Hardy"], KG).answer_type.types == {"film"}
    assert not understand("which river is in it", ["Inception"], KG).answer_type.types
