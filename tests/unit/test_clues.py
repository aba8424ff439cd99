"""What a whole question describes: which of its words do, what else it may ask, and when a thing is taken for it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.answering.clues import Clue, Clues, described_in, probabilities
from kgdemo.events import AnswerFinal, Event, Operation
from kgdemo.lab.training.clues import QUESTIONS, figures, fit
from kgdemo.models.embedding import sentence_embedder
from kgdemo.pipeline import Pipeline
from kgdemo.query.form import understand
from kgdemo.settings import Settings


@pytest.mark.parametrize(
    ("question", "described"),
    [
        ("What's that fish which blows itself up?", "fish which blows itself up"),
        ("That big red rock in the desert, what is it called?", "big red rock in the desert"),
        ("what do you call the tool that drives nails in", "tool that drives nails in"),
        ("lady with the lamp. name?", "lady with the lamp"),
        ("That tower which leans, where is it built?", ""),
        ("The knight with the windmills, what's his horse called", ""),
        ("what does the black and white bear eat", ""),
        ("what fruit is that green dip made of", ""),
        ("where was the man with the lamp born", ""),
        ("what is it called?", ""),
    ],
)
def test_the_words_that_describe(question: str, described: str) -> None:
    assert described_in(question) == described


fractions = st.floats(0.0, 1.0)


@settings(deadline=None)
@given(st.lists(st.builds(Clue, fractions, fractions, fractions, fractions), max_size=6))
def test_probabilities_leave_room_for_none(clues: list[Clue]) -> None:
    likely = probabilities(clues)
    assert len(likely) == len(clues)
    assert all(0 <= one <= 1 for one in likely)
    assert sum(likely) < 1 + 1e-9


def test_what_is_nearer_and_more_of_which_is_told_is_likelier() -> None:
    near, far = Clue(0.9, 0.9, 1.0, 0.1), Clue(0.5, 0.3, 0.0, 0.1)
    likely = probabilities([far, near])
    assert likely[1] > 0.5 > likely[0]
    assert probabilities([near])[0] > probabilities([Clue(0.9, 0.9, 1.0, 0.5)])[0]  # two words may say anything


def _answer(question: str) -> tuple[AnswerFinal, list[Event]]:
    events = list(Pipeline().run(question, Settings()))
    return next(event for event in events if isinstance(event, AnswerFinal)), events


def test_a_question_that_nothing_else_answers_is_answered_by_what_it_describes() -> None:
    final, events = _answer("The big flat topped mountain that looks down on Cape Town, what do they call it?")
    assert final.answers == ("Table Mountain",)
    assert "% sure" in final.text
    steps = [event for event in events if isinstance(event, Operation)]
    assert steps[-1].verified
    assert steps[-1].operands[0].paths[0].end == "Table Mountain"


@pytest.mark.parametrize(
    "question",
    [
        "Which metals are strongly magnetic?",  # more things than one
        "Who was prime minister when the king who wanted to marry Mrs Simpson gave up the throne?",
        "Titan is a moon of which planet?",  # and no other planet has moons with such names
        "Who founded Microsoft together with Bill Gates?",  # he who took it over did not
        "What's the largest living species of fish?",  # the largest that hunts is another
    ],
)
def test_what_asks_for_something_else_describes_nothing(question: str) -> None:
    kg = Pipeline().opened("world").kg
    found = Clues(kg, sentence_embedder()).meant(question, understand(question, (), kg).answer_type)
    assert found is None or found[0].holder not in (
        "Neodymium", "Edward VIII", "Uranus (planet)", "Steve Ballmer", "great white shark"
    )  # fmt: skip


def test_weights_are_fitted_to_what_is_meant() -> None:
    random = np.random.default_rng(0)
    given = []
    for place in range(60):
        rows = random.random((3, 5))
        meant = rows[:, 0] > 0.7
        given.append((rows, meant & (rows[:, 0] == rows[:, 0].max()) if place % 2 else meant & False))
    weights = fit(given)
    assert weights.shape == (6,)
    assert figures(given).keys() == {"precision", "recall"}


def test_the_questions_that_it_learns_from_are_well_formed() -> None:
    lines = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    assert len({line["question"] for line in lines}) == len(lines)
    assert all(isinstance(line["answer"], list) for line in lines)
