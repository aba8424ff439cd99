"""The shipped model on questions it has never seen: a sample, so that a broken export cannot go unnoticed."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from kgdemo.events import AnswerFinal, Notice, Operation
from kgdemo.facts import StatedFacts
from kgdemo.lab.evaluation.runner import ask
from kgdemo.lab.questions import read_questions
from kgdemo.models.causal import EMBEDDED, EMBEDDED_FOLDER
from kgdemo.ranking.abstention import BIAS, AbstentionFeatures
from kgdemo.ranking.scorer import BACKOFF, FEATURES
from kgdemo.settings import Settings

FIXTURES = Path(__file__).parents[1] / "fixtures"
SETTINGS = Settings(compare=False, explain=0, hops=3)


def test_the_weights_are_small_enough_to_ship():
    assert sum(file.stat().st_size for file in EMBEDDED_FOLDER.iterdir()) < 48_000_000
    card = (EMBEDDED_FOLDER / "README.md").read_text("utf-8")
    for word in ("Data", "Licence", "Figures", "python -m kgdemo train"):
        assert word in card


def test_doubt_is_fitted_to_the_signs_there_are(pipeline):
    weights = pipeline.model(EMBEDDED).style.abstention
    assert weights is not None
    assert set(weights) <= {BIAS, *(field.name for field in fields(AbstentionFeatures))}


def test_what_stands_for_unknown_relations_is_fitted(pipeline):
    style = pipeline.model(EMBEDDED).style
    assert style.ranking is not None
    assert style.backoff is not None
    assert (set(style.ranking), set(style.backoff)) == (set(FEATURES), set(BACKOFF))


def test_a_graph_never_seen_is_read_by_its_words(pipeline):
    questions = read_questions(FIXTURES / "chemistry_test.jsonl")[:20]
    settings = Settings(graph="chemistry", compare=False, explain=0)
    predictions = [ask(pipeline, question, settings, link=False) for question in questions]
    assert all(p.faithful == len(p.paths) for p in predictions)
    assert sum(bool(set(p.ends[:1]) & set(p.gold)) for p in predictions) >= 15


def test_natural_questions_are_answered(pipeline):
    questions = read_questions(FIXTURES / "world_dev.jsonl")[:10]
    predictions = [ask(pipeline, question, SETTINGS, link=False) for question in questions]
    right = sum(bool(set(p.ends[:1]) & set(p.gold)) for p in predictions)
    assert all(p.faithful == len(p.paths) for p in predictions)
    assert not any(p.error for p in predictions)
    assert right >= 6, [(p.question, p.ends[:1], p.gold) for p in predictions]


def test_linked_from_the_text_alone(pipeline):
    events = list(pipeline.run("what is the capital of austria", SETTINGS))
    final = [event for event in events if isinstance(event, AnswerFinal)][-1]
    assert final.answers == ("Vienna",)


@pytest.mark.parametrize(
    ("question", "topic", "hops", "cut"),
    [
        ("birthplace of the director of Jaws", "Jaws (film)", 1, True),
        ("birthplace of the director of Jaws", "Jaws (film)", 2, False),
        ("capital of the country where the director of Jaws was born", "Jaws (film)", 2, False),  # three are searched
    ],
)
def test_a_path_that_is_cut_short_is_told(pipeline, question, topic, hops, cut):
    settings = Settings(compare=False, explain=0, hops=hops)
    notices = [e.text for e in pipeline.run(question, settings, [topic]) if isinstance(e, Notice)]
    assert any("rather have gone on" in text for text in notices) is cut


def test_an_edited_world_changes_the_answer(pipeline):
    kg = pipeline.graph("world")
    near = dict.fromkeys(["Austria", *(end for _, end in kg.neighbours("Austria"))])
    triples = [(one, *step) for one in near for step in kg.neighbours(one, directed=True)]
    triples.remove(("Austria", "capital", "Vienna"))
    triples.append(("Austria", "capital", "Graz"))
    pipeline.add_graph("edited", type(kg).from_triples(triples, "edited"), StatedFacts(triples))
    settings = Settings(graph="edited", compare=False, explain=0)
    events = list(pipeline.run("what is the capital of austria", settings, ["Austria"]))
    assert [event for event in events if isinstance(event, AnswerFinal)][-1].answers == ("Graz",)
    pipeline.forget_graph("edited")


def test_a_question_within_a_question_is_answered_first_and_verified(pipeline):
    events = list(pipeline.run("What is the capital of the country where Bob Marley was born?", SETTINGS))
    (step,) = [event for event in events if isinstance(event, Operation)]
    assert (step.kind, step.result, step.verified) == ("step", ("Jamaica",), True)
    assert [event for event in events if isinstance(event, AnswerFinal)][-1].answers == ("Kingston",)
