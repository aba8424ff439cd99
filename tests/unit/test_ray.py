"""Workers on a Ray cluster, which here is one of this machine; where Ray is not installed, what is said instead."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest

from kgdemo.errors import UserError
from kgdemo.lab.evaluation.workers import LOCAL, RayWorkers, lost, opened_workers
from kgdemo.lab.questions import Question
from tests.unit.test_workers import ASKED, asked, made


def test_without_ray_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UserError, match=r"pip install 'kgdemo\[ray\]', or leave --ray out"):
        RayWorkers(object, 2, LOCAL)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="Ray is not installed"), opened_workers(1, object, LOCAL):  # type: ignore[arg-type]
        pass


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pytest.importorskip("ray", reason="Ray is an optional extra")
    return tmp_path


def test_a_worker_that_is_killed_is_replaced_and_its_question_asked_again(folder: Path):
    """And the same workers answer the next run, in the order of its questions."""
    with opened_workers(2, partial(made, folder), LOCAL) as workers:
        assert workers is not None
        found = list(workers.answered(partial(asked, folder), ASKED, lost))
        assert [prediction.id for prediction in found] == [question.id for question in ASKED]
        assert [prediction.id for prediction in found if prediction.error] == ["4"]
        begun = workers.answered(partial(asked, folder), ASKED[5:], lost)
        assert next(begun).id == "5"
        begun.close()
        again = workers.answered(partial(asked, folder), ASKED[:2], lost)
        assert [prediction.id for prediction in again] == ["0", "1"]
        assert list(workers.answered(partial(asked, folder), [], lost)) == []


def test_errors_of_workers_are_told(folder: Path):
    with opened_workers(1, partial(made, folder, "no such graph"), LOCAL) as workers:
        assert workers is not None
        with pytest.raises(UserError, match="no such graph"):
            list(workers.answered(partial(asked, folder), ASKED, lost))
    with opened_workers(1, partial(made, folder), LOCAL) as workers:
        assert workers is not None
        with pytest.raises(RuntimeError, match="ZeroDivisionError: a mistake of ours"):
            list(workers.answered(partial(asked, folder), [Question("x", "broken")], lost))


def test_a_cluster_that_does_not_answer_is_told(folder: Path):
    with (
        pytest.raises(UserError, match=r"No Ray cluster answers at auto .*ray start --head"),
        opened_workers(2, partial(made, folder), "auto"),
    ):
        pass
