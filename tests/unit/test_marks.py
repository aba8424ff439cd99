"""What is described instead of named: which part of a question describes it, what is taken for it, what is left."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kgdemo.answering import marks
from kgdemo.answering.marks import MEANT, MarkFeatures, Marks, probability
from kgdemo.answering.records import happenings_of
from kgdemo.events import AnswerFinal, Event, Operation
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.kg.labels import Literal
from kgdemo.lab.training.marks import NAMES, fit
from kgdemo.lab.training.marks import descriptions as descriptions_written
from kgdemo.models.embedding import sentence_embedder
from kgdemo.pipeline import Pipeline
from kgdemo.query.answer_type import ANYTHING
from kgdemo.query.nested import descriptions, when_asked
from kgdemo.settings import Settings


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "who directed the film about a shark",
            [
                ("who directed the film about a shark", "{}"),
                ("the film about a shark", "who directed {}"),
                ("a shark", "who directed the film about {}"),
            ][:2],
        ),
        ("which scientist saw an apple fall", [("the scientist saw an apple fall", "{}")]),
        (
            "in which country was the painter born who cut off his ear",
            [("the painter who cut off his ear", "in which country was {} born")],
        ),
        ("who was the painter who cut off his ear", [("the painter who cut off his ear", "{}")]),
        ("in which city was the man who lost an arm born", [("the man who lost an arm", "in which city was {} born")]),
    ],
)
def test_parts_of_a_question_that_describe(question: str, parts: list[tuple[str, str]]) -> None:
    assert list(descriptions(question))[: len(parts)] == parts


@pytest.mark.parametrize(
    ("question", "clause"),
    [
        ("when did somebody run a mile so fast", "somebody run a mile so fast"),
        ("in which year was the wall torn down", "the wall torn down"),
        ("what year did the war happen", "the war"),
        ("who ran a mile so fast", ""),
    ],
)
def test_the_clause_of_which_it_is_asked_when(question: str, clause: str) -> None:
    assert when_asked(question) == clause


def small() -> KnowledgeGraph:
    """Two films, each with a mark, a country that was the first to do something, and what happened once."""
    feats = {
        "Great white shark terrorises a beach town": ("Teeth", ("shark attacks the bathers of a resort",)),
        "Ocean liner sinks after hitting an iceberg": ("Cold Water", ("ship goes down in icy water",)),
        "First country to give women the vote": ("Elsewhere", ()),
        "Mother of the man who filmed a great white shark": ("Ann", ()),
    }
    info = {label: EntityInfo("feat", names) for label, (_, names) in feats.items()}
    info |= {"Teeth": EntityInfo("film"), "Cold Water": EntityInfo("film"), "Elsewhere": EntityInfo("country")}
    info["Ann"] = EntityInfo("person")
    info |= {"Fall of the Old Wall": EntityInfo("event", ("opening of the old wall",))}
    triples = [(label, "achieved by", holder) for label, (holder, _) in feats.items()]
    triples += [("Teeth", "set in", "Amity"), ("Fall of the Old Wall", "took place in", "Elsewhere")]
    literals = {"Fall of the Old Wall": {"happened": Literal("1989-11-09")}}
    return KnowledgeGraph.from_triples(triples, "small", {"achieved by": "achieved"}, info, literals)


@pytest.mark.parametrize(
    ("description", "holder"),
    [
        ("the film in which a great white shark attacks the bathers of a beach town", "Teeth"),
        ("the film in which a ship sinks after hitting an iceberg", "Cold Water"),
        ("the film in which an ocean liner sinks after hitting an iceberg in 1912", ""),  # no year stands beside it
        ("the country in which a great white shark attacks the bathers of a beach town", ""),  # it is no country
        ("the films in which a great white shark attacks the bathers of a beach town", ""),  # of one nothing is known
        ("the second country to give women the vote", ""),
        ("the first country to give women the vote", "Elsewhere"),
        ("the film about a talking lighthouse keeper", ""),
        ("the mother of the man who filmed a great white shark", "Ann"),
        ("the man who filmed a great white shark", ""),  # who filmed it is not his mother
    ],
)
def test_what_a_description_means(description: str, holder: str) -> None:
    found = Marks(small(), sentence_embedder()).meant(description)
    assert (found.holder if found else "") == holder


def test_a_question_of_many_articles_takes_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    known, looked_at = Marks(small(), sentence_embedder()), list[str]()
    monkeypatch.setattr(Marks, "meant", lambda _, part, asked: looked_at.append(part))
    assert known.of_question("who painted " + "the red dog of a blue house in " * 60, ANYTHING) == []
    assert 0 < len(looked_at) <= 8


def test_what_a_clause_says_to_have_happened() -> None:
    graph = small()
    known = Marks(graph, sentence_embedder(), happenings_of(graph))
    assert known.happened("the opening of the old wall") == "Fall of the Old Wall"
    assert known.happened("the building of the new bridge") == ""
    assert happenings_of(graph) is happenings_of(graph)


def final(events: list[Event]) -> AnswerFinal:
    return next(event for event in events if isinstance(event, AnswerFinal))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("In which country was the painter born who cut off part of his own ear?", "Netherlands"),
        ("Who composed the opera about a hunchbacked court jester in Mantua?", "Giuseppe Verdi"),
        ("Who was the wife of the US president who was shot in Dallas?", "Jacqueline Kennedy Onassis"),
    ],
)
def test_what_is_described_is_found_first(pipeline: Pipeline, question: str, answer: str) -> None:
    events = list(pipeline.run(question, Settings(compare=False, explain=0)))
    assert answer in final(events).answers
    step = next(event for event in events if isinstance(event, Operation) and event.kind == "step")
    assert step.verified


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("Did Einstein get his Nobel Prize for the theory of relativity?", "Nobel"),  # of which no path speaks
        ("Which country is the native home of the black and white bear that eats bamboo?", "giant panda"),
        ("Which actors won an Oscar for the role of the Joker?", ""),  # several, of whom one is known by it
    ],
)
def test_what_has_nothing_to_do_with_what_is_meant_is_refused(pipeline: Pipeline, question: str, says: str) -> None:
    answer = final(list(pipeline.run(question, Settings(compare=False, explain=0))))
    assert answer.refusal
    assert says in answer.text


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("what is the first man-made satellite to go round the earth?", "Sputnik 1"),  # and not what it goes round
        ("who does the voices of Woody and Buzz in Toy Story", "Tom Hanks"),  # and not his family
        ("Besides Bill Gates, who founded Microsoft?", "Paul Allen"),
    ],
)
def test_what_is_described_may_be_the_answer(pipeline: Pipeline, question: str, answer: str) -> None:
    assert final(list(pipeline.run(question, Settings(compare=False, explain=0)))).answers == (answer,)


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote The Saltbush Parrots of Wirrabeena Crossing?",  # of which no *The Crossing* is meant
        "What was the debut album by Gravel Monsignor and the Tuesday Ferrets?",
        "Which Irish playwright won both an Oscar and a Grammy?",
        "what colours are the shoelaces of the Olympic team?",
    ],
)
def test_what_only_shares_a_word_is_not_meant(pipeline: Pipeline, question: str) -> None:
    assert final(list(pipeline.run(question, Settings(compare=False, explain=0)))).refusal


def test_a_name_is_no_description(pipeline: Pipeline) -> None:
    question = "How many floors does the Empire State Building have?"  # which is no state
    assert final(list(pipeline.run(question, Settings(compare=False, explain=0)))).answers == ("102",)


def test_when_something_happened_that_is_told_in_a_clause(pipeline: Pipeline) -> None:
    events = list(pipeline.run("When did Nelson Mandela walk free from prison?", Settings(compare=False, explain=0)))
    assert final(events).answers == ("11 February 1990",) or "1990" in final(events).text


def test_weights_are_those_that_fit_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """On made-up features, of which a thing that is alike and told is right."""
    random = np.random.default_rng(0)
    rows: NDArray[np.float64] = random.random((400, len(NAMES)))
    right = rows[:, 0] + rows[:, 2] > 1.0
    weights, figures = fit(rows.tolist(), right.tolist(), [str(number) for number in range(400)])
    monkeypatch.setattr(marks, "_weights", lambda: weights)
    told = [probability(MarkFeatures(*row)) >= MEANT for row in rows.tolist()]
    assert np.mean(told == right) > 0.9
    assert figures["precision"] > 0.9


def test_each_description_is_of_one_thing_and_the_weights_are_of_these_features() -> None:
    every = descriptions_written()
    assert len({described for _, described in every}) == len(every)
    assert all(described.lower().startswith("the ") for _, described in every)
    kept = json.loads((Path(marks.__file__).parent / "marks.json").read_text("utf-8"))
    assert set(kept) == {"bias", *NAMES}
