"""Questions about somebody who is described by a deed: the deed's place in the question is a gap for whoever did it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdemo.query.nested import with_a_gap_for


def gap(question: str, deed: str) -> str:
    start = question.index(deed)
    return with_a_gap_for(question, start, start + len(deed))


@pytest.mark.parametrize(
    ("question", "deed", "asked"),
    [
        ("where did the emperor who lost a battle die?", "lost a battle", "where did {} die?"),
        ("highest peak in the mountains between two seas", "mountains between two seas", "highest peak in {}"),
        ("who wrote the book about a white whale, and when?", "about a white whale", "who wrote {}, and when?"),
        ("the man who drank hemlock was born where?", "drank hemlock", "{} was born where?"),
        (
            "what is the name of the wife of the man who drank hemlock?",
            "drank hemlock",
            "what is the name of the wife of {}?",
        ),
    ],
)
def test_a_description_by_a_deed_is_a_gap(question: str, deed: str, asked: str) -> None:
    assert gap(question, deed) == asked


@pytest.mark.parametrize(
    ("question", "deed"),
    [
        ("who is the philosopher who drank hemlock?", "drank hemlock"),  # that is all that is asked
        ("the philosopher who drank hemlock", "drank hemlock"),
        ("which philosopher drank hemlock?", "drank hemlock"),
        ("what is the name of the man who drank hemlock", "drank hemlock"),
    ],
)
def test_who_that_is_leaves_nothing_to_ask_of_him(question: str, deed: str) -> None:
    assert gap(question, deed) == ""


@given(st.text(max_size=30), st.text(min_size=1, max_size=20), st.text(max_size=30))
def test_what_stands_around_it_stays(before: str, deed: str, behind: str) -> None:
    asked = with_a_gap_for(before + deed + behind, len(before), len(before) + len(deed))
    if asked:
        assert asked.count("{}") == 1
        assert asked.endswith(behind.replace("{", "").replace("}", ""))
