"""How sure an answer is: a probability from log-odds, and the questions in its order."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from kgdemo.errors import UserError
from kgdemo.lab.training.calibration import (
    CUT,
    LabelledFeatures,
    Odds,
    collect_odds,
    odds_of,
    reliability,
    save_reliability,
)
from kgdemo.pipeline import Pipeline
from kgdemo.ranking.abstention import RELIABILITY_FILE, AbstentionFeatures
from kgdemo.settings import Settings

WEIGHTS = {"bias": 1.0}


def made_up(slope: float, intercept: float) -> list[Odds]:
    """Questions that are answered rightly with the probability that these two give."""
    rng = np.random.default_rng(5)
    odds = rng.normal(0.0, 3.0, 4000)
    right = rng.random(4000) < 1 / (1 + np.exp(-(slope * odds + intercept)))
    return [Odds(str(n), float(o), bool(r)) for n, (o, r) in enumerate(zip(odds, right, strict=True))]


def test_the_probability_is_the_one_that_the_questions_were_made_with():
    told = reliability(made_up(-1.3, 0.4), WEIGHTS, "world")
    assert told["slope"] == pytest.approx(-1.3, abs=0.15)
    assert told["intercept"] == pytest.approx(0.4, abs=0.15)
    sure = [point[0] for point in told["points"]]
    assert sure == sorted(sure, reverse=True)
    assert len(sure) == 4000
    top = told["points"][:1000]
    assert np.mean([right for _, right in top]) == pytest.approx(np.mean([p for p, _ in top]), abs=0.05)
    first = min(made_up(-1.3, 0.4), key=lambda one: one.log_odds)
    expected = 1 / (1 + math.exp(-(told["slope"] * first.log_odds + told["intercept"])))
    assert sure[0] == pytest.approx(expected, abs=1e-3)


def test_too_few_of_either_kind_are_no_measure():
    with pytest.raises(UserError, match="at least 16"):
        reliability([Odds(str(n), 0.0, True) for n in range(90)], WEIGHTS, "world")


def test_questions_without_an_edge_are_left_out():
    features = AbstentionFeatures(0.0, 0.0, 0.0, 0.0, 0.0)
    found = odds_of([LabelledFeatures("a", True, features), LabelledFeatures("a" + CUT, False, features)], WEIGHTS)
    assert found == [Odds("a", 1.0, True)]


def test_what_was_measured_is_not_asked_again(tmp_path, monkeypatch):
    questions = tmp_path / "questions.jsonl"
    questions.write_text(
        json.dumps({"id": "q", "question": "Who?", "q_entity": [], "a_entity": [], "answer": []}) + "\n"
    )
    (tmp_path / "reliability.jsonl").write_text(json.dumps({"id": "q", "log_odds": -1.5, "right": True}) + "\n")
    monkeypatch.setattr(Pipeline, "run", lambda *_: pytest.fail("asked again"))
    assert collect_odds(Pipeline(), [questions], Settings(), tmp_path, None) == [Odds("q", -1.5, True)]


def test_it_is_saved_beside_the_weights(tmp_path):
    save_reliability({"slope": 1.0}, tmp_path)
    assert json.loads((tmp_path / RELIABILITY_FILE).read_text()) == {"slope": 1.0}
