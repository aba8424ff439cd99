"""Natural questions asked of other entities than their own."""

from __future__ import annotations

from random import Random

import pytest

from kgdemo.lab.questions import Question
from kgdemo.lab.training.examples import wordings_of
from kgdemo.lab.training.run import HELD_OUT_FILE, Recipe, run_recipe
from kgdemo.lab.training.templates import ChainSource
from tests.helpers.training import film_graph, write_recipe

KG = film_graph()


def question(text: str, topics: tuple[str, ...], answers: tuple[str, ...]) -> Question:
    """With topic entities and answers."""
    return Question(text, text, topics, answers, answers)


def test_the_name_gives_way_to_a_slot():
    asked = [
        question("who directed jaws?", ("Jaws",), ("Steven Spielberg",)),
        question("Tenet was made by whom", ("Tenet",), ("Christopher Nolan",)),
        question("what city is nolan from", ("Christopher Nolan",), ("London",)),  # by an alias
    ]
    assert wordings_of(KG, asked) == {
        ("directed by",): ["who directed {e}?", "{e} was made by whom"],
        ("born in",): ["what city is {e} from"],
    }


def test_what_says_nothing_of_a_relation_is_passed_over():
    asked = [
        question("who made Jaws and Tenet", ("Jaws", "Tenet"), ("Steven Spielberg",)),
        question("who made that shark film", ("Jaws",), ("Steven Spielberg",)),  # names nothing
        question("who made Jaws {e}", ("Jaws",), ("Steven Spielberg",)),
        question("what has Jaws to do with Tom Hardy", ("Jaws",), ("Tom Hardy",)),  # no path
    ]
    assert wordings_of(KG, asked) == {}


def test_a_path_that_reaches_the_answer_by_accident_is_not_meant():
    hub = [("Hub", "made", f"thing {i}") for i in range(20)]
    kg = type(KG).from_triples([*hub, ("Hub", "best", "thing 1"), ("Hub", "also best", "thing 1")], "hub")
    found = wordings_of(kg, [question("best of Hub", ("Hub",), ("thing 1",))])
    assert found == {("best",): ["best of {e}"], ("also best",): ["best of {e}"]}
    assert wordings_of(kg, [question("best of Hub", ("Hub",), ("thing 1",))], {"best"}) == {}  # not by the other alone
    assert wordings_of(kg, [question("some of Hub", ("Hub",), ("thing 3",))]) == {}  # one of twenty


def test_others_are_asked_for_as_well():
    wordings = wordings_of(KG, [question("who directed jaws?", ("Jaws",), ("Steven Spielberg",))])
    drawn = [ChainSource(KG, wordings)(Random(seed)) for seed in range(60)]
    assert {(e.path[0], e.path[-1]) for e in drawn} == {
        ("Jaws", "Steven Spielberg"),
        ("Inception", "Christopher Nolan"),
        ("Tenet", "Christopher Nolan"),
    }
    assert all(e.topic_entities == (e.path[0],) and "{e}" not in e.question for e in drawn)


def test_a_recipe_may_swap_the_entities_of_its_questions_and_teach_similarity(tmp_path, caplog):
    sources = [{"graph": "films.tsv", "questions": "questions.jsonl", "swapped": True, "share": 1.0}]
    similarity = {"examples": 8, "epochs": 1, "batch_size": 4}
    recipe = write_recipe(tmp_path, sources=sources, similarity=similarity)
    assert Recipe.load(str(tmp_path / "recipe.json")) == recipe
    assert recipe.sources[0].swapped
    with caplog.at_level("INFO"):
        run_recipe(recipe, tmp_path, tmp_path / "out", steps=2, export=tmp_path / "model")
    assert not (tmp_path / "out" / HELD_OUT_FILE).exists()
    assert (tmp_path / "model" / "similarity.safetensors").is_file()
    learned = [
        message for message in caplog.messages if message.startswith("the similarity is learnt from 8 questions")
    ]
    assert len(learned) == 1
    caplog.clear()
    with caplog.at_level("INFO"):  # gone on with, it is not learnt anew
        run_recipe(recipe, tmp_path, tmp_path / "out", steps=3, export=tmp_path / "model")
    assert learned[0] not in caplog.messages


def test_walks_are_drawn_as_often_as_they_are_asked_for_unless_levelled():
    chains = {("directed by",): ["who directed {e}"] * 9, ("starring",): ["who is in {e}"]}
    share = {}
    for levelled in (True, False):
        source = ChainSource(KG, chains, levelled=levelled)
        drawn = [source(Random(seed)).path[1] for seed in range(400)]
        share[levelled] = drawn.count("directed by") / 400
    assert share == {True: pytest.approx(3 / 4, abs=0.08), False: pytest.approx(9 / 10, abs=0.06)}
