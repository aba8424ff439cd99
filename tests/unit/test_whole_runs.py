"""Whole runs over hostile graphs and questions: each ends in an answer or in one sentence, in time."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import replace
from itertools import islice

import pytest

from kgdemo.cli import main
from kgdemo.events import AnswerFinal, Event, Notice, PathFound, PathVerified, RunFailed, RunFinished
from kgdemo.lab.benchmarks import product
from kgdemo.lab.benchmarks.product import WholeTally, draw, label, soak_whole
from kgdemo.pipeline import Pipeline
from kgdemo.settings import PUBLIC, ChatSettings, Settings
from kgdemo.verify import Hop, HopVerdict, Verdict


def test_eighty_runs_end_in_an_answer_or_a_sentence():
    tally = WholeTally()
    assert len(list(soak_whole(80, 1000, tally, main, seconds=60, shipped=0.02))) == tally.runs == 80
    assert tally.faults == []
    assert tally.answered > 20
    assert tally.refused > 10
    assert tally.paths > 10


def test_a_first_label_that_begins_as_a_file_may_is_kept_whole():
    tally = WholeTally()
    assert list(soak_whole(1, 30001190, tally, main, seconds=60))
    assert (tally.faults, tally.answered) == ([], 1)


def test_cases_follow_from_their_seed_and_are_of_all_kinds():
    cases = [draw(seed, 60) for seed in range(300)]
    assert cases == [draw(seed, 60) for seed in range(300)]
    assert {case.door for case in cases} == {"page", "program", "command"}
    assert len({case.values["method"] for case in cases}) > 12
    longest = max(len(part) for case in cases for triple in case.triples for part in triple)
    assert longest > 20_000
    assert max(len(case.triples) for case in cases) > 4000
    assert all(label(random.Random(seed), 60).strip() for seed in range(2000))


def test_a_run_that_breaks_off_or_claims_what_is_not_stated_is_a_fault(monkeypatch: pytest.MonkeyPatch):
    seed = next(seed for seed in range(100) if draw(seed, 60).door == "page" and seed % 5)
    lie = Verdict((Hop("x", "y", "z", HopVerdict.NO_EDGE),), False)
    done = RunFinished(1.0, 0, 0, 0)
    false = [PathFound(True, 1, "x -> y -> z", -1.0), PathVerified(True, 1, lie), done]
    endings: list[tuple[list[Event], str]] = [
        (false, "a path is not in the graph"),
        ([Notice("x")], "ended with Notice"),
        ([], "no event"),
        ([RunFailed("'NoneType' object has no attribute 'split'")], "said"),
        ([RunFailed("The question is empty; type one.")], ""),
        ([done], ""),
    ]
    for events, expected in endings:
        monkeypatch.setattr(product, "ask", lambda *_, events=events, **__: iter(events))
        tally = WholeTally()
        list(soak_whole(1, seed, tally, main))
        assert len(tally.faults) == bool(expected)
        assert all(expected in fault for fault in tally.faults), tally.faults


def test_a_run_is_ended_at_its_deadline(monkeypatch: pytest.MonkeyPatch):
    def forever(*_: object):
        while True:
            yield Notice("still at it")

    pipeline = Pipeline(replace(PUBLIC, seconds=1), ChatSettings())
    monkeypatch.setattr(pipeline, "_events", forever)
    last = deque(islice(pipeline.run("q", Settings()), 10**7), 1).pop()
    assert isinstance(last, RunFailed)
    assert last.message.startswith("This took longer than 1 s")


def test_half_a_character_in_a_question_is_none():
    pipeline = Pipeline(PUBLIC, ChatSettings())
    events = list(pipeline.run("Who is \ud800?", Settings(graph="chemistry")))
    (final,) = [event for event in events if isinstance(event, AnswerFinal)]
    assert "No entity" in final.refusal


def test_a_name_that_nothing_bears_is_refused_by_that_name():
    pipeline = Pipeline(PUBLIC, ChatSettings())
    events = list(pipeline.run("what is made of Zworblium?", Settings(graph="chemistry")))
    (final,) = [event for event in events if isinstance(event, AnswerFinal)]
    assert "knows nothing called Zworblium" in final.refusal
