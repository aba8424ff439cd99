"""What a run's decisions may cost, and what becomes of questions whose model could not be asked."""

from __future__ import annotations

import json

import pytest

from kgdemo.events import AnswerFinal, LMCall, Notice, PathFound
from kgdemo.lab.evaluation.runner import evaluate
from kgdemo.query.query import understand
from kgdemo.reasoners.chat import ChatReasoner, FallbackReasoner
from kgdemo.reasoners.embedded import EmbeddedReasoner
from kgdemo.settings import ChatSettings, Settings
from tests.helpers.endpoint import Endpoint, serve
from tests.helpers.page import SmallPipeline
from tests.helpers.reasoning import Clerk, SpellingEmbedder, ask, film_world, of

QUESTION = "Where was the director of Inception born?"
CLERK = {"wanted": ["born in", "directed by"], "enough": "born in -> London"}


def reasoner(clerk: Clerk, **limits) -> FallbackReasoner:
    return FallbackReasoner(ChatReasoner(clerk), EmbeddedReasoner(SpellingEmbedder()), ChatSettings("clerk", **limits))


@pytest.mark.parametrize("limits", [{"calls": 2}, {"tokens": 20}])
def test_a_run_ends_within_its_limit_with_paths_and_an_answer(limits):
    clerk = Clerk(**CLERK)
    events = ask("tog", QUESTION, ["Inception"], film_world(reasoner(clerk, **limits)), beams=3)
    assert len(clerk.prompts) == 3, "two decisions, and the answer"
    (notice,) = of(events, Notice)
    assert "used up their limit" in notice.text
    assert of(events, PathFound)
    assert isinstance(events[-1], AnswerFinal)
    assert events[-1].answers == ("London",)


def test_without_a_limit_everything_is_asked():
    clerk = Clerk(**CLERK)
    events = ask("tog", QUESTION, ["Inception"], film_world(reasoner(clerk)), beams=3)
    assert of(events, Notice) == []
    assert sum(call.calls for call in of(events, LMCall)) == len(clerk.prompts) > 3


def test_seconds_are_limited_too(monkeypatch):
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr("kgdemo.reasoners.chat.time.monotonic", lambda: next(clock))
    limited = reasoner(Clerk(**CLERK), seconds=15.0)
    query = understand("q", ["Inception"], film_world().kg)
    assert limited.plan(query, "").replaced == ""
    assert "15 seconds" in limited.plan(query, "").replaced


def test_a_question_that_failed_is_no_refusal_and_is_asked_again(tmp_path):
    file = tmp_path / "questions.jsonl"
    record = {"question": QUESTION, "q_entity": ["Inception"], "answer": ["London"]}
    file.write_text("".join(json.dumps({**record, "id": str(n)}) + "\n" for n in range(3)), "utf-8")
    asked, out = Settings(beams=2, compare=False, explain=0), tmp_path / "out"
    working = Endpoint(replies=["London [1]"], faults=lambda number: "error 500" if number == 2 else "")
    with serve(working) as endpoint:
        first = evaluate(SmallPipeline(endpoint=endpoint.url), file, asked, out)
        lines = [json.loads(line) for line in (out / "predictions.jsonl").read_text("utf-8").splitlines()]
        second = evaluate(SmallPipeline(endpoint=endpoint.url), file, asked, out)
    assert (first["failed"], first["refused"], first["hit"]) == (1, 0.0, pytest.approx(2 / 3))
    assert [bool(line["error"]) for line in lines] == [False, True, False]
    assert (second["failed"], second["refused"], second["hit"]) == (0, 0.0, 1.0)
    assert len(endpoint.prompts) == 4, "what went well is not asked again"
    assert len((out / "predictions.jsonl").read_text("utf-8").splitlines()) == 3
