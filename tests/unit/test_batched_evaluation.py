"""Questions answered at the same time get the predictions of one after another."""

from __future__ import annotations

import json

import pytest

from kgdemo.errors import UserError
from kgdemo.lab.evaluation.runner import evaluate
from kgdemo.settings import Settings
from tests.helpers.models import random_model
from tests.helpers.small import SmallPipeline

ASKED = [
    ("who directed Inception?", "Inception", "Christopher Nolan"),
    ("where was he born?", "Christopher Nolan", "London"),
    ("what of nobody?", "Nobody At All", "Nothing"),
    ("who made Inception?", "Inception", "Christopher Nolan"),
    ("what is London known for?", "London", "Inception"),
]


@pytest.fixture
def questions(tmp_path):
    file = tmp_path / "questions.jsonl"
    fields = ("question", "q_entity", "answer")
    lines = [{"id": str(n), **dict(zip(fields, (q, [e], [a]), strict=True))} for n, (q, e, a) in enumerate(ASKED)]
    lines[3]["graph"] = [["Inception", "made by", "Syncopy"], ["Syncopy", "based in", "London"]]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return file


def predictions(folder):
    """What was written, without the seconds."""
    lines = (folder / "predictions.jsonl").read_text("utf-8").splitlines()
    return [{**json.loads(line), "seconds": 0} for line in lines]


@pytest.mark.parametrize("family", ["bert", "qwen2"])  # read in one pass, and one after another
def test_together_equals_one_by_one(family, questions, tmp_path):
    pipeline = SmallPipeline()
    pipeline._small = random_model(family, seed=3)
    settings = Settings(beams=3, explain=0)
    for batched in (1, 3):
        metrics = evaluate(pipeline, questions, settings, tmp_path / str(batched), batched=batched)
        assert metrics["questions"] == len(ASKED)
    assert predictions(tmp_path / "3") == predictions(tmp_path / "1")
    assert [line["id"] for line in predictions(tmp_path / "3")] == ["0", "1", "2", "3", "4"]


def test_a_run_that_breaks_goes_on_where_it_stopped(questions, tmp_path):
    class Breaking(SmallPipeline):
        def run(self, question, settings, entities=()):
            if question == ASKED[2][0]:
                raise RuntimeError("the machine is switched off")
            yield from super().run(question, settings, entities)

    settings, out = Settings(beams=2, explain=0, compare=False), tmp_path / "out"
    with pytest.raises(RuntimeError, match="switched off"):
        evaluate(Breaking(), questions, settings, out, batched=2)
    assert [line["id"] for line in predictions(out)] == ["0", "1"]
    evaluate(SmallPipeline(), questions, settings, out, batched=2)
    assert [line["id"] for line in predictions(out)] == ["0", "1", "2", "3", "4"]


def test_no_questions_at_a_time_is_a_mistake(questions, tmp_path):
    with pytest.raises(UserError, match="give 1 or more"):
        evaluate(SmallPipeline(), questions, Settings(), tmp_path / "out", batched=0)
