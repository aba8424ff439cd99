"""What a run's decisions may cost, and what becomes of questions whose model could not be asked."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from kgdemo.events import AnswerFinal, LMCall, Notice, PathFound, Waiting
from kgdemo.lab.evaluation.runner import evaluate
from kgdemo.models.endpoint import OpenAIChat
from kgdemo.query.form import understand
from kgdemo.reasoners.base import EmbeddedReasoner
from kgdemo.reasoners.chat import ChatReasoner, FallbackReasoner
from kgdemo.settings import ChatSettings, Settings
from tests.helpers.endpoint import Endpoint, serve
from tests.helpers.reasoning import Clerk, SpellingEmbedder, ask, film_world, of, run, with_fallback
from tests.helpers.small import SmallPipeline

QUESTION = "Where was the director of Inception born?"
CLERK = {"wanted": ["born in", "directed by"], "enough": "born in -> London"}


def reasoner(clerk: Clerk, **limits) -> FallbackReasoner:
    return FallbackReasoner(ChatReasoner(clerk), EmbeddedReasoner(SpellingEmbedder()), ChatSettings("clerk", **limits))


@pytest.mark.parametrize("limits", [{"calls": 2}, {"tokens": 20}, {"money": 2.6e-5, "price_in": 1.0, "price_out": 1.0}])
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


def test_every_call_has_its_price():
    events = ask("tog", QUESTION, ["Inception"], film_world(reasoner(Clerk(**CLERK), price_in=2.0, price_out=10.0)))
    made = of(events, LMCall)
    assert [call.purpose for call in made][-1] == "answer"
    prices = [(call.tokens_in * 2 + call.tokens_out * 10) / 1e6 for call in made]
    assert [call.cost for call in made] == pytest.approx(prices)
    assert min(prices) > 0


@pytest.mark.parametrize(("method", "at_once"), [("tog", 1), ("fidelis", 4), ("cot", 1), ("kaping", 1)])
def test_a_run_can_be_stopped_while_a_model_is_silent(method, at_once):
    """At a decision, at several side by side, and at the answer; the call is then given up at the other end too."""
    with serve(Endpoint(mode="hang until left")) as endpoint:
        chat = OpenAIChat(ChatSettings("m", endpoint.url, "key", timeout=300, longest=300, at_once=at_once))
        resources, asked = with_fallback(ChatReasoner(chat)), Settings(beams=3, compare=False, explain=0)
        with closing(chat), closing(run(method, QUESTION, ["Inception"], resources, asked, waiting=True)) as events:
            waiting = next(event for event in events if isinstance(event, Waiting))
            assert (waiting.by, waiting.seconds > 0) == ("m", True)
            events.close()
            assert endpoint.left.wait(60)


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


@pytest.mark.parametrize("method", ["gcr", "tog", "direct", "direct-graph", "agent-cot"])
def test_a_chat_model_that_answers_every_question_right_has_a_hits_at_1_of_one(method, tmp_path):
    """Whatever the path model, a random one here, has put first."""
    gold = {"Where was Christopher Nolan born?": "London", "Who directed Dunkirk?": "Christopher Nolan"}
    topics = {"Where was Christopher Nolan born?": "Christopher Nolan", "Who directed Dunkirk?": "Dunkirk"}
    lines = [{"id": q, "question": q, "q_entity": [topics[q]], "answer": [a]} for q, a in gold.items()]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    asked = Settings(method=method, beams=2, compare=False, explain=0)
    with serve(Endpoint(reply=lambda prompt: next(a for q, a in gold.items() if q in prompt))) as endpoint:
        metrics = evaluate(SmallPipeline(endpoint=endpoint.url), tmp_path / "questions.jsonl", asked, tmp_path / "out")
    assert (metrics["questions"], metrics["hits@1"], metrics["hit"]) == (2, 1.0, 1.0)
