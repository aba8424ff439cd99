"""Questions that go on from the one before: what they name instead, and the last question asked of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdemo.ui.asking import asked_of, named_instead, pronoun_of

CAPITAL = "What is the capital of France?"


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What about Germany?", "Germany"),
        ("and what about the Netherlands", "the Netherlands"),
        ("How about Marie Curie ?", "Marie Curie"),
        ("And of Berlin?", "Berlin"),
        ("and in South Korea?", "South Korea"),
        ("And Germany’s?", "Germany"),
        ("And, for Ringo Starr?", "Ringo Starr"),
        ("And Carmen?", "Carmen"),
        ("What about K2?", "K2"),
        # these ask something themselves, or go on with a pronoun
        ("And where did she die?", ""),
        ("And who directed it?", ""),
        ("And its population?", ""),
        ("What about him?", ""),
        ("What is the capital of Germany?", ""),
        ("Andorra?", ""),
        ("Oregon?", ""),
        ("Berlin", ""),
        ("and?", ""),
        ("What about?", ""),
        ("", ""),
    ],
)
def test_what_a_question_names_instead(question: str, name: str):
    assert named_instead(question) == name


@pytest.mark.parametrize(
    ("name", "last", "topic", "asked"),
    [
        ("Germany", CAPITAL, "France", "What is the capital of Germany?"),
        (
            "Carmen",
            "Where was the composer of The Magic Flute born?",
            "Magic Flute",
            "Where was the composer of Carmen born?",
        ),
        ("the Amazon", "How long is the Nile?", "Nile", "How long is the Amazon?"),
        ("Spain", "What is France's capital?", "France", "What is Spain's capital?"),
        ("Spain", "Is Paris in France or near France?", "France", ""),  # which of them is meant?
        ("Spain", CAPITAL, "", ""),
        ("Spain", CAPITAL, "Italy", ""),
        ("Spain", "Who is France Gall-Francé?", "Franc", ""),  # a part of a word is no name
        (r"\1 of (", "Who wrote C++?", "C++", r"Who wrote \1 of (?"),
    ],
)
def test_the_last_question_is_asked_of_it(name: str, last: str, topic: str, asked: str):
    assert asked_of(name, last, topic) == asked


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=20))
def test_any_text_is_taken(question: str, last: str, topic: str):
    name = named_instead(question)
    assert name in " ".join(question.split())
    assert not pronoun_of(name)
    asked = asked_of(name, last, topic)
    assert not asked or name in asked
