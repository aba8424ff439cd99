"""A run on its way to the page: numbered, gapless, seldom, and stopped when it is stopped."""

from __future__ import annotations

import json

from kgdemo.events import RunFailed, from_json
from kgdemo.ui import assets
from kgdemo.ui.asking import Fields, Server, ask
from kgdemo.ui.page import names_like
from kgdemo.ui.runs import INTERVAL, EventStream, lines_of
from tests.helpers.long_run import long_run
from tests.helpers.small import NASTY, QUESTION


def fields(**changed) -> Fields:
    given = {"graph": "world", "model": "embedded", "method": "gcr", "beams": 4, "hops": 2}
    values = {**given, "compare": True, "ranking": "relation", "options": "", **changed}
    return Fields(values.pop("question", QUESTION), values, values.pop("client_graph", ""))


def _batches(stream: EventStream, events, graph):
    return stream.sent(lines_of(events, graph), graph)


def batches(pipeline, asked: Fields, feed: EventStream | None = None, entities=()) -> list[dict]:
    feed = feed or EventStream()
    return [
        json.loads(one)
        for one in _batches(feed, ask(Server(pipeline), asked, entities), lambda: pipeline.graph("world"))
    ]


def test_batches_are_numbered_without_gaps(pipeline):
    got = batches(pipeline, fields())
    place = 0
    for batch in got:
        assert batch["from"] == place
        place += len(batch["items"])
    kinds = [item["event"] for batch in got for item in batch["items"]]
    assert kinds[0] == "RunStarted"
    assert kinds[-1] == "RunFinished"
    assert "Picture" in kinds


def test_updates_are_seldom_but_for_what_cannot_wait(pipeline):
    frozen = EventStream(clock=lambda: 0.0)
    got = batches(pipeline, fields(), frozen)
    important = {"RunStarted", "EntitiesLinked", "ConstraintReady", "AnswerFinal", "RunFinished", "Picture"}
    assert len(got) <= 8
    assert all(batch["items"][-1]["event"] in important for batch in got)


def test_a_gap_can_be_filled(pipeline):
    feed = EventStream()
    got = batches(pipeline, fields(), feed)
    items = [item for batch in got for item in batch["items"]]
    assert json.loads(feed.missed(got[0]["run"], 5))["items"] == items[5:]
    assert json.loads(feed.missed("unknown", 0))["items"] == []


def test_closing_the_stream_stops_the_run(pipeline):
    before = pipeline.closed_early
    stream = _batches(EventStream(), ask(Server(pipeline), fields()), lambda: pipeline.graph("world"))
    next(stream)
    stream.close()
    assert pipeline.closed_early == before + 1


def test_chosen_entities_overrule_the_linker(pipeline):
    got = batches(pipeline, fields(), entities=["London"])
    linked = next(i for b in got for i in b["items"] if i["event"] == "EntitiesLinked")
    assert linked["chosen"] == ["London"]


def test_mistakes_end_the_run_with_a_sentence(pipeline):
    dog = {"method": "dog"}
    for wrong in (
        {"beams": "many"},
        {"beams": 1000},
        {"question": " "},
        {"model": "/no/such/folder"},
        {**dog, "options": "width"},
        {**dog, "options": "width=0"},
    ):
        last = batches(pipeline, fields(**wrong))[-1]["items"][-1]
        assert last["event"] == "RunFailed", wrong
        assert last["message"][-1] in ".?", last["message"]
    failed = list(ask(Server(pipeline), fields(beams=None)))
    assert isinstance(failed[0], RunFailed)


def test_hostile_labels_are_sent_as_data(pipeline):
    got = batches(pipeline, fields(question="<script>alert(1)</script> </PATH>", beams=10), entities=["Nasty"])
    assert got[-1]["items"][-1]["event"] == "RunFinished"
    assert len(json.dumps(got)) < 600_000
    assert len(NASTY[-1]) == 10_000


def test_names_are_suggested_by_what_is_typed(pipeline):
    kg = pipeline.graph("world").entities
    assert names_like(kg, "chris") == ["Christopher Nolan"]
    assert names_like(kg, "nolan") == ["Christopher Nolan", "Jonathan Nolan"]
    assert names_like(kg, "x") == []


def test_every_recorded_example_reads_as_a_finished_run():
    assert len(assets.examples()) == 5
    for file in assets.TRACES.glob("*.jsonl"):
        lines = file.read_text("utf-8").splitlines()
        kinds = [json.loads(line)["event"] for line in lines]
        assert kinds[-1] == "RunFinished"
        assert "AnswerFinal" in kinds
        steps = [json.loads(line) for line, kind in zip(lines, kinds, strict=True) if kind == "DecodeStep"]
        assert all(isinstance(choice[6], int) for step in steps for choice in step["choices"])  # so it can be forced
        simple = [line for line, kind in zip(lines, kinds, strict=True) if kind not in ("Picture", "DecodeStep")]
        assert all(from_json(line).event == json.loads(line)["event"] for line in simple)
        faithful = [
            json.loads(x)["verdict"]["faithful"] for x in lines if '"event": "PathVerified", "constrained": true' in x
        ]
        assert faithful
        assert all(faithful)


def test_ten_beams_of_forty_tokens_stay_under_600_kb_and_seldom(pipeline):
    events = long_run()
    now = [0.0]

    def ticking():
        for event in events:
            now[0] += 0.03  # seconds that a step takes
            yield event

    got = list(_batches(EventStream(clock=lambda: now[0]), ticking(), lambda: pipeline.graph("world")))
    assert sum(len(one.encode()) for one in got) < 600_000
    assert len(got) <= now[0] / INTERVAL + 2  # the start and the end wait for nothing
    assert sum(len(json.loads(one)["items"]) for one in got) == len(events)
