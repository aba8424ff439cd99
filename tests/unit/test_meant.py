"""Plain questions that are meant in other words: found, answered, and left alone where that is unsure."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdemo.answering.meant import _in_a_clause
from kgdemo.events import AnswerFinal, Notice, Operation
from kgdemo.kg.io.catalogue import open_graph
from kgdemo.models.embedding import sentence_embedder
from kgdemo.pipeline import Pipeline
from kgdemo.query.intents import COMPARE, MOST, STEP, VALUE, Intent, Intents, intent_of, intents, masked, says_greater
from kgdemo.settings import Settings


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return Pipeline()


def final_of(pipeline: Pipeline, question: str) -> tuple[AnswerFinal, list[Operation], list[str]]:
    events = list(pipeline.run(question, Settings(graph="world", compare=False)))
    final = next(event for event in events if isinstance(event, AnswerFinal))
    operations = [event for event in events if isinstance(event, Operation)]
    return final, operations, [event.text for event in events if isinstance(event, Notice)]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What was the launch date of Sputnik 1?", "4 October 1957"),
        ("so what's Mongolia's capital city called?", "Ulaanbaatar"),
        ("Who's the artist behind the painting Guernica?", "Pablo Picasso"),
        ("How long does an elephant carry her baby? In months, please.", "22 months"),
        ("What age did Queen Victoria reach?", "81"),
        ("Dracula and Moby-Dick: tell me which of the two books is older.", "Moby-Dick (novel)"),
        ("Of these two rivers, the Rhine and the Danube, tell me which has the greater length.", "Danube"),
        ("Which lake on Earth goes down the deepest?", "Lake Baikal"),
        ("Which skyscraper is taller than every other building in the world?", "Burj Khalifa"),
    ],
)
def test_a_paraphrase_is_answered_as_the_plain_question(pipeline: Pipeline, question: str, answer: str) -> None:
    final, operations, notices = final_of(pipeline, question)
    assert final.answers[0] == answer
    assert operations
    assert all(operation.verified for operation in operations)
    assert any(notice.startswith("Understood as: ") for notice in notices)


@pytest.mark.parametrize(
    "question",
    [
        "why did the roman empire collapse in the end",  # a reason is asked for, not the date
        "How tall is the iron tower that was put up in Paris for the world's fair of 1889?",  # not Paris
        "Which joined the European Union first, Poland or Bulgaria?",  # three things, no two of which are compared
        "What animals lay eggs and are mammals and live in Australia?",  # more than where they live
    ],
)
def test_more_than_a_plain_question_is_not_taken_for_one(pipeline: Pipeline, question: str) -> None:
    final, _, notices = final_of(pipeline, question)
    assert final.refusal
    assert not any(notice.startswith("Understood as: ") for notice in notices)


@pytest.mark.parametrize(
    ("text", "operations", "meant"),
    [
        ("how many metres does X measure from bottom to top", (VALUE, STEP), Intent(VALUE, "height")),
        ("X saw the light of day when?", (VALUE, STEP), Intent(VALUE, "born")),
        ("whose brush did X come from", (VALUE, STEP), Intent(STEP, "painted by", "forward")),
        ("X or Y, who is the heavier of the two?", (COMPARE,), Intent(COMPARE, "weight")),
        ("which river stretches over more kilometres than any other", (MOST,), Intent(MOST, "length")),
    ],
)
def test_the_likeliest_plain_question(text: str, operations: tuple[str, ...], meant: Intent) -> None:
    (vector,) = sentence_embedder().encode([text])
    likely = intents().likely(vector, operations)
    assert next(iter(likely)) == meant
    assert sum(likely.values()) == pytest.approx(1, abs=1e-3)
    assert list(likely.values()) == sorted(likely.values(), reverse=True)


def test_vectors_of_another_embedder_mean_nothing() -> None:
    assert intents().likely(np.zeros(7, np.float32), (VALUE,)) == {}


@given(st.integers(1, 6), st.integers(2, 5), st.randoms(use_true_random=False))
def test_likely_is_a_softmax_over_the_possible_ones(known: int, width: int, random: object) -> None:
    rng = np.random.default_rng(random.randint(0, 10**6))  # type: ignore[attr-defined]
    every = tuple(Intent(VALUE if i % 2 else STEP, f"a{i}", "" if i % 2 else "forward") for i in range(known))
    weights, bias = rng.normal(size=(known, width)), rng.normal(size=known)
    vector = rng.normal(size=width)
    likely = Intents(every, weights.astype(np.float32), bias.astype(np.float32)).likely(
        vector.astype(np.float32), (STEP,)
    )
    odds = {one: float(np.exp(weights[i] @ vector + bias[i])) for i, one in enumerate(every) if one.operation == STEP}
    for one, share in likely.items():
        assert share == pytest.approx(odds[one] / sum(odds.values()), rel=1e-3)
    assert set(likely) == set(odds)


@pytest.mark.parametrize(
    ("text", "attribute", "greater"),
    [
        ("which is longer, X or Y", "length", True),
        ("which of the two is the shorter one", "length", False),
        ("which came first", "released", False),
        ("who is the younger one", "born", True),
        ("who got older", "age", True),
        ("which lies further north", "latitude", True),
        ("which is less far south", "latitude", True),
        ("which costs less", "price", False),
        ("no. 1 among mountains by height", "height", True),
        ("which has which height", "height", None),
        ("which is longer and which is shorter", "length", None),
    ],
)
def test_the_end_of_an_order_that_is_said(text: str, attribute: str, greater: bool | None) -> None:
    assert says_greater(text, attribute) is greater


def test_names_are_masked_whole() -> None:
    kg = open_graph("world")
    assert masked("how high is Mont Blanc?", ["Mont Blanc"], kg) == "how high is X?"
    assert masked("how high is it?", ["Mont Blanc"], kg) == "how high is it?"


def test_a_step_stands_for_a_plain_question() -> None:
    kg = open_graph("world")
    assert intent_of("painted by", kg) == Intent(STEP, "painted by", "forward")
    assert intent_of("painted", kg) == Intent(STEP, "painted by", "inverse")
    assert intent_of("born in year", kg) == Intent(VALUE, "born")


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("how tall is the tower that was put up in X", True),
        ("tell me who painted X", False),
        ("do you know which river flows through X", False),
        ("who painted X", False),
    ],
)
def test_what_only_describes_something_else(text: str, inside: bool) -> None:
    assert _in_a_clause(text) is inside
