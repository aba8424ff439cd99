"""The gallery of failures: recorded runs that do fail, and a broken decoder that is caught."""

from __future__ import annotations

import json

import pytest

from kgdemo.errors import UserError
from kgdemo.reasoning import METHODS
from kgdemo.settings import Settings
from kgdemo.ui import assets, broken
from kgdemo.ui.record_failures import FAILURES, Failure, answers_anyway, lets_through, misses, record_failure
from tests.helpers.page import QUESTION


def recorded(name: str) -> list[dict]:
    file = assets.FAILED / f"{name}.jsonl"
    return [json.loads(line) for line in file.read_text("utf-8").split("\n") if line]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda f: f.name)
def test_each_recorded_failure_fails_as_its_text_says(failure: Failure):
    run = recorded(failure.name)
    assert run[-1]["event"] == "RunFinished"
    assert failure.fails(run)
    assert lets_through(run) == failure.broken
    assert failure.name in assets.text()["gallery"]["cases"]
    notices = [r["text"] for r in run if r["event"] == "Notice"]
    assert (broken.WARNING in notices) == failure.broken


def test_the_broken_decoder_lets_through_what_the_sound_one_does_not(pipeline):
    settings = Settings(graph="world", model="embedded")
    invented = Failure("x", (QUESTION,), lets_through, hops=1, broken=True)
    run = record_failure(pipeline, invented, settings)
    refused = [r for r in run if r["event"] == "PathVerified" and not r["verdict"]["faithful"]]
    assert refused
    assert broken.NAME not in METHODS
    with pytest.raises(UserError, match="does not fail any more"):
        record_failure(pipeline, Failure("x", (QUESTION,), lets_through, hops=1), settings)


def test_a_fact_left_out_is_gone_from_the_copy_only(pipeline):
    fact = ("Christopher Nolan", "born in", "London")
    failure = Failure("x", (QUESTION,), misses("London"), without=fact)
    run = record_failure(pipeline, failure, Settings(graph="world", model="embedded"))
    assert "one fact left out" in run[0]["graph"]
    assert all(" -> born in -> London" not in r["text"] for r in run if r["event"] == "PathFound" and r["constrained"])
    assert pipeline.graph("world").has_triple(*fact)
    with pytest.raises(UserError, match="does not hold"):
        record_failure(pipeline, Failure("x", (QUESTION,), answers_anyway, without=("a", "b", "c")), Settings())
