"""Identical questions share a run, recent answers are kept within bounds, and nothing outlives its graph."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from itertools import islice

import pytest

from kgdemo.events import Event, Notice, RunFailed, RunFinished
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.pipeline import Pipeline
from kgdemo.settings import PUBLIC, ChatSettings, Settings
from kgdemo.ui.runs import EventStream, SharedRuns
from kgdemo.view.page_records import record

LENGTH = 50
DONE = RunFinished(1.0, 2, 3, 4, {})


class Source:
    """Runs of numbered notices; what begun and how each ended is counted."""

    def __init__(self, last: Event = DONE) -> None:
        self.begun: list[str] = []
        self.closed: list[str] = []
        self.last = last

    def __call__(self, _: Pipeline, question: str, settings: Settings, entities: object) -> Iterator[Event]:
        self.begun.append(question)
        try:
            yield from (Notice(f"{question} {number}") for number in range(LENGTH))
            if question == "broken":
                raise ZeroDivisionError
            yield self.last
        except GeneratorExit:
            self.closed.append(question)
            raise


def shared(source: Source, answer_bytes: int = 10**6, chat: str = "") -> SharedRuns:
    return SharedRuns(Pipeline(replace(PUBLIC, answer_bytes=answer_bytes), ChatSettings(chat)), source)


def test_twenty_who_ask_the_same_at_once_get_all_events_of_one_run():
    source = Source()
    runs, together = shared(source), threading.Barrier(20)

    def ask(_: int) -> list[Event]:
        together.wait(60)
        return list(runs.run("same", Settings()))

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(ask, range(20)))
    assert source.begun == ["same"]
    assert all(events == [*(Notice(f"same {n}") for n in range(LENGTH)), DONE] for events in answers)


def test_a_recent_answer_is_kept_for_the_same_question_settings_and_entities_only():
    source = Source()
    runs = shared(source)
    first = list(runs.run("a  question ", Settings()))
    assert list(runs.run("a question", Settings())) == first
    assert len(source.begun) == 1
    for question, settings, entities in (
        ("another question", Settings(), ()),
        ("a question", Settings(beams=3), ()),
        ("a question", Settings(), ("London",)),
    ):
        list(runs.run(question, settings, entities))
    assert len(source.begun) == 4


def test_a_run_goes_on_while_anyone_follows_and_is_closed_with_the_last():
    source = Source()
    runs = shared(source)
    one, two = runs.run("same", Settings()), runs.run("same", Settings())
    assert (len(list(islice(one, 10))), len(list(islice(two, 5)))) == (10, 5)
    with closing(one):
        pass
    assert source.closed == []
    assert len(list(islice(two, 20))) == 20
    with closing(two):
        pass
    assert source.closed == source.begun == ["same"]
    assert list(runs.run("same", Settings()))[-1] == DONE  # a run that was given up is not kept
    assert source.begun == ["same"] * 2


def test_every_run_lets_its_memory_be_given_back_once_it_is_over_or_given_up(monkeypatch: pytest.MonkeyPatch):
    given: list[str] = []
    monkeypatch.setattr("kgdemo.ui.runs.SPARE_MEMORY.run_ended", lambda: given.append("back"))
    runs = shared(Source())
    one, two = runs.run("q", Settings()), runs.run("q", Settings())
    list(one)
    list(two)
    list(runs.run("q", Settings()))  # kept
    assert given == ["back"]
    with closing(runs.run("another", Settings())) as given_up:
        next(given_up)
    assert given == ["back"] * 2


def test_kept_answers_stay_within_their_bytes():
    source = Source()
    list(shared(source).run("question 00", Settings()))
    runs = shared(source, answer_bytes=2000)
    for number in range(40):
        list(runs.run(f"question {number:02}", Settings()))
    assert 0 < runs._events.held == sum(map(len, runs._events.kept.values())) <= 1000
    source.begun.clear()
    list(runs.run("question 39", Settings()))
    assert source.begun == []
    list(runs.run("question 00", Settings()))
    assert source.begun == ["question 00"]


@pytest.mark.parametrize(("source", "chat"), [(Source(RunFailed("no")), ""), (Source(), "a general model")])
def test_failures_and_what_a_general_model_said_are_not_kept(source: Source, chat: str):
    runs = shared(source, chat=chat)
    assert list(runs.run("q", Settings())) == list(runs.run("q", Settings()))
    assert len(source.begun) == 2


def test_a_mistake_of_ours_reaches_everyone_who_follows():
    runs = shared(Source())
    one, two = runs.run("broken", Settings()), runs.run("broken", Settings())
    for run in (one, two):
        assert len(list(islice(run, LENGTH))) == LENGTH
    for run in (one, two):
        with pytest.raises(ZeroDivisionError):
            next(run)


def test_a_graph_takes_its_answers_along():
    source = Source()
    runs = shared(source)
    triples = [("a", "r", "b")]
    for _ in range(2):
        runs.pipeline.add_graph("mine", KnowledgeGraph.from_triples(triples, "mine"), StatedFacts(triples))
        under_way = runs.run("early", Settings(graph="mine"))
        next(under_way)
        for _ in range(2):
            list(runs.run("q", Settings(graph="mine")))
        runs.pipeline.forget_graph("mine")
        list(under_way)
    assert source.begun == ["early", "q", "early", "q"]
    assert not runs._events.kept
    assert runs._events.held == 0


def test_a_page_is_made_once_for_all_who_ask_the_same_and_once_kept_comes_as_it_was(monkeypatch: pytest.MonkeyPatch):
    made: list[Event] = []
    monkeypatch.setattr("kgdemo.ui.runs.record", lambda event: made.append(event) or record(event))
    source = Source()
    runs, together = shared(source), threading.Barrier(8)

    def ask(_: int) -> list[str]:
        together.wait(60)
        return [line.text for line in runs.lines("same", Settings())]

    with ThreadPoolExecutor(8) as pool:
        pages = list(pool.map(ask, range(8)))
    pages.append([line.text for line in runs.lines("same ", Settings())])
    assert source.begun == ["same"]
    assert len(made) == LENGTH + 1
    assert all(page == [json.dumps(record(event), separators=(",", ":")) for event in made] for page in pages)


def test_a_kept_page_is_sent_in_one_piece_and_goes_with_its_graph():
    source, triples = Source(), [("a", "r", "b")]
    runs, stream = shared(source), EventStream()
    runs.pipeline.add_graph("mine", KnowledgeGraph.from_triples(triples, "mine"), StatedFacts(triples))
    asked = "q", Settings(graph="mine")

    def sent() -> list[dict]:
        return [json.loads(one) for one in stream.sent(runs.lines(*asked), lambda: runs.pipeline.graph("mine"))]

    first, again = sent(), sent()
    assert source.begun == ["q"]
    assert len(again) == 1
    assert again[0]["items"] == [item for batch in first for item in batch["items"]]
    runs.pipeline.forget_graph("mine")
    assert not runs._lines.kept
    assert runs._lines.held == 0


@pytest.mark.parametrize(("source", "chat"), [(Source(RunFailed("no")), ""), (Source(), "a general model")])
def test_no_page_of_what_is_not_kept_is_kept(source: Source, chat: str):
    runs = shared(source, chat=chat)
    assert list(runs.lines("q", Settings())) == list(runs.lines("q", Settings()))
    assert len(source.begun) == 2


def test_a_page_that_is_left_closes_its_run():
    source = Source()
    runs = shared(source)
    with closing(runs.lines("q", Settings())) as lines:
        next(lines)
    assert source.closed == ["q"]
