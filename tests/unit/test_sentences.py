"""Questions in two sentences, and statements with a tag, read as one question."""

from __future__ import annotations

import pytest

from kgdemo.query.sentences import referring


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("Napoleon lost at Waterloo, didn't he?", "did Napoleon lose at Waterloo?"),
        ("the mona lisa hangs in the louvre, doesn't it?", "does the mona lisa hang in the louvre?"),
        ("Pluto's still a planet, right?", "is Pluto a planet?"),
        (
            "There's an element named after the Russian who made the table. What is its atomic number?",
            "What is the atomic number of the element named after the Russian who made the table?",
        ),
        ("Louis XVI of France had a wife. Who was her mum?", "Who was the mum of the wife of Louis XVI of France?"),
        (
            "Hercule Poirot is Belgian, but what nationality was his creator?",
            "what nationality was the creator of Hercule Poirot?",
        ),
        (
            "The man who sang Purple Rain: what was his home town?",
            "what was the home town of The man who sang Purple Rain?",
        ),
        ("Who painted the Mona Lisa?", "Who painted the Mona Lisa?"),
        ("What is right?", "What is right?"),
        ("Rome. What is its population?", "Rome. What is its population?"),
    ],
)
def test_two_sentences_are_one_question(typed: str, read: str) -> None:
    assert referring(typed) == read


def test_there_is_one_of_a_kind() -> None:
    read = referring("There's a metal that isn't solid at room temperature but liquid. What's it called?")
    assert read.lower().startswith(("which metal", "what's the metal"))
    assert "liquid" in read
