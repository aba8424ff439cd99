"""Runs killed at any moment and run by several processes end in the predictions of one run in one process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from kgdemo.errors import UserError
from kgdemo.lab.evaluation.metrics import Prediction
from kgdemo.lab.evaluation.predictions import Records, read_predictions
from kgdemo.lab.evaluation.runner import evaluate
from kgdemo.lab.evaluation.workers import Processes, lost, opened_workers
from kgdemo.lab.questions import Question
from kgdemo.settings import Settings

ROOT = Path(__file__).parents[2]
TOPICS = ("Inception", "Christopher Nolan", "London", "Dunkirk")


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    rows = [
        {"id": str(n), "question": f"What of it, number {n}?", "q_entity": [TOPICS[n % 4]], "answer": ["London"]}
        for n in range(14)
    ]
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return tmp_path / "questions.jsonl"


def test_a_run_killed_twenty_times_ends_in_the_same_file(questions: Path, tmp_path: Path):
    """With one process and with two."""
    whole, killed = tmp_path / "whole", {workers: tmp_path / str(workers) for workers in (1, 2)}
    runs = [(whole, 1, 0), *((out, workers, 20) for workers, out in killed.items())]
    command = [sys.executable, "-m", "tests.helpers.killed_runs", questions, 7, *(told for one in runs for told in one)]
    done = subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0", "20", "20"]
    expected = (whole / "predictions.jsonl").read_bytes()
    assert [json.loads(line)["id"] for line in expected.splitlines()] == [str(n) for n in range(14)]
    for out in killed.values():
        assert (out / "predictions.jsonl").read_bytes() == expected
        assert all(prediction.seconds > 0 for prediction in read_predictions(out).values())


# what the workers do, without a model ---------------------------------------------------------------

ASKED = [Question(str(n), f"q{n}", (), (), ("a",)) for n in range(9)]


def predicted(question: Question) -> Prediction:
    return Prediction(question.id, question.text, (), question.answers, (), (), (), 0, 0, 0, False, 1.0, 0, 0, 0)


def made(_: Path, fault: str = "") -> object:
    if fault:
        raise UserError(fault)
    return object()


def asked(folder: Path, _: object, question: Question) -> Prediction:
    """Dies once at question 2, always at question 4, and meets an error at one called broken."""
    if question.text == "broken":
        raise ZeroDivisionError("a mistake of ours")
    once = folder / question.id
    if question.id == "4" or (question.id == "2" and not once.exists()):
        once.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return predicted(question)


def opened(folder: Path, fault: str = "") -> closing[Processes]:
    return closing(Processes(partial(made, folder, fault), 2, "fork"))


def test_a_worker_that_is_killed_is_replaced_and_its_question_asked_again(tmp_path: Path):
    """And the same workers answer the next run."""
    with opened(tmp_path) as workers:
        found = list(workers.answered(partial(asked, tmp_path), ASKED, lost))
        assert [prediction.id for prediction in found] == [question.id for question in ASKED]
        assert [prediction.id for prediction in found if prediction.error] == ["4"]
        assert found[4].error == "its process ended 3 times without an answer"
        assert found[4].gold == ("a",)
        again = workers.answered(partial(asked, tmp_path), ASKED[5:], lost)
        assert [prediction.id for prediction in again] == ["5", "6", "7", "8"]
        assert list(workers.answered(partial(asked, tmp_path), [], lost)) == []


def test_errors_of_workers_are_told(tmp_path: Path):
    with opened(tmp_path, "no such graph") as workers, pytest.raises(UserError, match="no such graph"):
        list(workers.answered(partial(asked, tmp_path), ASKED, lost))
    broken = [*ASKED[:2], Question("x", "broken")]
    with opened(tmp_path) as workers, pytest.raises(RuntimeError, match="ZeroDivisionError: a mistake of ours"):
        list(workers.answered(partial(asked, tmp_path), broken, lost))


def test_a_run_broken_off_leaves_no_answers_behind_for_the_next(tmp_path: Path):
    with opened(tmp_path) as workers:
        begun = workers.answered(partial(asked, tmp_path), ASKED[5:], lost)
        assert next(begun).id == "5"
        begun.close()
        assert [p.id for p in workers.answered(partial(asked, tmp_path), ASKED[:2], lost)] == ["0", "1"]


@pytest.mark.parametrize("wanted", [0, -1])
def test_workers_that_are_none_are_told(wanted: int):
    with pytest.raises(UserError, match=r"--workers is .*; give a number"), opened_workers(wanted, object):  # type: ignore[arg-type]
        pass


def test_workers_and_batches_do_not_go_together(questions: Path, tmp_path: Path):
    with opened(tmp_path) as workers, pytest.raises(UserError, match="give only one of"):
        evaluate(None, questions, Settings(), tmp_path / "out", workers=workers, batched=2)  # type: ignore[arg-type]


# records --------------------------------------------------------------------------------------------


def test_questions_asked_again_come_back_to_their_place(tmp_path: Path):
    records = Records(tmp_path)
    for question in ASKED[:3]:
        one = predicted(question)
        records.write(replace(one, error="x") if question.id == "1" else one)
    again = Records(tmp_path)
    assert list(again.done) == ["0", "2"]
    again.write(predicted(ASKED[1]))
    again.arrange(["0", "1"])  # fewer questions than before: the others stay behind them
    assert list(read_predictions(tmp_path)) == ["0", "1", "2"]
    assert "seconds" not in (tmp_path / "predictions.jsonl").read_text("utf-8")
    assert read_predictions(tmp_path)["1"].seconds == 1.0


def test_damaged_records_are_named(tmp_path: Path):
    (tmp_path / "predictions.jsonl").write_text('{"id": "1"}\n', "utf-8")
    with pytest.raises(UserError, match=r"predictions\.jsonl is damaged"):
        Records(tmp_path)
