"""Questions about relations that a model has not been trained on, told apart from the others."""

from __future__ import annotations

import json

import pytest

from kgdemo.errors import UserError
from kgdemo.facts import StatedFacts
from kgdemo.lab.evaluation.runner import evaluate
from kgdemo.lab.questions import Question
from kgdemo.lab.training.examples import HELD_OUT, SEEN, UNCLEAR, read_held_out, relation_group
from kgdemo.pipeline import Pipeline
from kgdemo.settings import ChatSettings, Settings
from tests.helpers.models import random_model
from tests.helpers.training import film_graph


@pytest.mark.parametrize(
    ("topic", "answers", "expected"),
    [
        ("Jaws", ("Steven Spielberg",), SEEN),
        ("Steven Spielberg", ("Jaws",), SEEN),  # the same relation, walked backwards
        ("Tom Hardy", ("London",), HELD_OUT),
        ("Jaws", ("Cincinnati",), HELD_OUT),  # directed by, then born in
        ("Inception", ("London",), HELD_OUT),
        ("Jaws", ("Rembrandt",), UNCLEAR),
        ("Cincinnati", ("Tenet",), UNCLEAR),
    ],
)
def test_a_question_is_grouped_by_the_relations_that_answer_it(topic: str, answers: tuple[str, ...], expected: str):
    assert relation_group(film_graph(), Question("1", "?", (topic,), answers), {"born in"}) == expected


def test_where_only_one_of_two_paths_is_held_out_the_group_is_unclear():
    question = Question("1", "who made Inception", ("Inception",), ("Christopher Nolan", "Tom Hardy"))
    assert relation_group(film_graph(), question, {"starring"}) == UNCLEAR
    assert relation_group(film_graph(), question, {"starring", "directed by"}) == HELD_OUT


def test_evaluate_measures_the_groups_apart(tmp_path):
    rows = [
        ("1", "who directed Jaws", "Jaws", "Steven Spielberg"),
        ("2", "where was Tom Hardy born", "Tom Hardy", "London"),
        ("3", "who painted Jaws", "Jaws", "Rembrandt"),
    ]
    lines = [json.dumps({"id": i, "question": q, "q_entity": [t], "a_entity": [a]}) for i, q, t, a in rows]
    (tmp_path / "questions.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    pipeline = Pipeline(chat=ChatSettings())
    pipeline.add_graph("films", film_graph(), StatedFacts(film_graph().triples()))
    pipeline.add_model("random", random_model("qwen2"))
    settings = Settings(graph="films", model="random", beams=3, hops=1, directed=True, compare=False, explain=0)
    metrics = evaluate(pipeline, tmp_path / "questions.jsonl", settings, tmp_path / "out", held_out={"born in"})
    assert (metrics["seen_questions"], metrics["held_out_questions"], metrics["unclear_questions"]) == (1, 1, 1)
    assert (metrics["seen_hits@1"], metrics["held_out_hits@1"]) == (1.0, 1.0)  # one edge leads away from each
    assert json.loads((tmp_path / "out" / "metrics.json").read_text("utf-8")) == metrics


def test_the_list_of_held_out_relations_is_read_or_refused(tmp_path):
    file = tmp_path / "held_out.json"
    file.write_text('{"world": ["born in"], "films.tsv": ["starring"]}', "utf-8")
    assert read_held_out(file) == {"born in", "starring"}
    for content in ("[]", "{", '{"world": 3}'):
        file.write_text(content, "utf-8")
        with pytest.raises(UserError, match=r"held_out\.json"):
            read_held_out(file)
    with pytest.raises(UserError, match="cannot be read"):
        read_held_out(tmp_path / "nowhere.json")
