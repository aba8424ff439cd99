"""What an operator sees: health, counts for Prometheus, log lines without questions, and a stop that loses nothing."""

from __future__ import annotations

import http.client
import json
import logging
import re
import signal
import threading
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from gradio_client import Client

from kgdemo.events import Event, Notice, RunFailed, RunFinished
from kgdemo.settings import Settings
from kgdemo.ui.metrics import JsonLines, Metrics, SpareMemory, memory
from tests.app.test_contract import post
from tests.helpers.page import served, server_of
from tests.helpers.small import LONG, QUESTION

LINE = re.compile(r'([a-z_]+)(?:\{(?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)+\})? (\S+)')
SECRET = "Who is it that nobody may read of?"


def values(text: str) -> dict[str, float]:
    """Names with labels and their values; every line has to be of the format."""
    found = {}
    for line in text.splitlines():
        if not line.startswith("# "):
            assert LINE.fullmatch(line), line
            name, value = line.rsplit(" ", 1)
            found[name] = float(value)
    return found


def run(*events: Event) -> Generator[Event, None, None]:
    for event in events:
        if isinstance(event, Notice):
            raise ZeroDivisionError
        yield event


def test_runs_are_counted_by_how_they_ended_and_their_seconds_by_stage():
    metrics = Metrics()
    for seconds in (0.4, 3.0, 500.0):
        list(metrics.watched(run(RunFinished(seconds, 1, 2, 3, {"decode": 250.0})), "q", Settings()))
    list(metrics.watched(run(RunFailed("no")), "q", Settings(method="dog")))
    with closing(metrics.watched(run(RunFailed("no"), RunFailed("no")), "q", Settings())) as left:
        next(left)
    with pytest.raises(ZeroDivisionError):
        list(metrics.watched(run(Notice("x")), "q", Settings()))
    text = values(metrics.text(waiting=7))
    assert text['kgdemo_runs_total{method="gcr",ended="finished"}'] == 3
    assert text['kgdemo_runs_total{method="dog",ended="refused"}'] == 1
    assert text['kgdemo_runs_total{method="gcr",ended="failed"}'] == 1
    buckets = [text[f'kgdemo_run_seconds_bucket{{le="{bound}"}}'] for bound in (0.5, 2.5, 5.0, 120.0, "+Inf")]
    assert buckets == [1, 1, 2, 2, 3]
    assert text["kgdemo_run_seconds_count"] == 3
    assert text["kgdemo_run_seconds_sum"] == 503.4
    assert text['kgdemo_stage_seconds_total{stage="decode"}'] == 0.75
    assert text["kgdemo_waiting"] == 7
    assert text["kgdemo_runs_under_way"] == 0


def test_a_label_is_escaped_and_of_very_many_values_only_the_first_are_kept():
    metrics = Metrics()
    for number in range(1000):
        metrics.count("kgdemo_refused_total", reason=f'"\\\n{number}')
    text = values(metrics.text())
    assert sum(value for name, value in text.items() if name.startswith("kgdemo_refused")) == 1000
    assert len(text) < 100
    assert text['kgdemo_refused_total{reason="other"}'] > 900


def test_memory_is_what_this_process_holds():
    before = memory()
    held = bytearray(b"x" * 100_000_000)
    assert 50_000_000 < memory() - before < 300_000_000
    del held


def test_memory_is_given_back_now_and_then_and_at_once_where_much_is_held():
    given: list[float] = []
    now, held = 0.0, 900_000_000

    def give_back() -> None:
        nonlocal held
        given.append(now)
        held = 900_000_000

    spare = SpareMemory(give_back, lambda: held, lambda: now)
    for _ in range(100):
        now, held = now + 0.5, held + 1_000_000
        spare.run_ended()
    assert given == [10.0, 20.0, 30.0, 40.0, 50.0]
    held += 300_000_000
    spare.run_ended()
    assert given[-1] == now
    spare.run_ended()
    assert len(given) == 6


@pytest.mark.parametrize("told", [False, True])
def test_a_run_is_one_line_of_json_with_the_question_only_where_the_operator_says_so(told, caplog, monkeypatch):
    if told:
        monkeypatch.setenv("KGDEMO_LOG_QUESTIONS", "yes")
    with caplog.at_level(logging.INFO):
        list(Metrics().watched(run(RunFinished(0.5, 1, 2, 3)), SECRET, Settings(graph="own:a-token")))
    (line,) = (JsonLines().format(record) for record in caplog.records)
    assert "\n" not in line
    body = json.loads(line)
    assert (body["method"], body["ended"], body["seconds"], body["characters"]) == ("gcr", "finished", 0.5, len(SECRET))
    assert (SECRET in line) is told
    assert "a-token" not in line


def test_the_server_tells_its_health_and_counts(address: str, client: Client, server_log: Path):
    with urlopen(f"{address}/healthz", timeout=60) as answer:
        assert json.loads(answer.read()) == {"status": "ok", "loaded": 0, "to_load": 0, "waiting": 0}
    client.predict(QUESTION, api_name="/ask", beams=2)
    post(address, "/gradio_api/call/nothing", b'{"data": []}')
    with urlopen(f"{address}/metrics", timeout=60) as answer:
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        text = values(answer.read().decode())
    assert text['kgdemo_runs_total{method="gcr",ended="finished"}'] >= 1
    assert text['kgdemo_refused_total{reason="request"}'] >= 1
    assert 10**8 < text["process_resident_memory_bytes"] < 10**10
    assert QUESTION not in server_log.read_text()
    assert "run: gcr on world, finished after" in server_log.read_text()


def test_a_stop_lets_the_question_under_way_end_and_begins_nothing_new(tmp_path: Path):
    log = tmp_path / "server.log"
    with served(log) as address:
        server = server_of(address)
        host = urlsplit(address).netloc
        _, begun = post(
            address, "/gradio_api/call/ask", json.dumps({"data": [LONG, "world", "gcr", 2, 1, ""]}).encode()
        )
        with closing(http.client.HTTPConnection(host, timeout=60)) as asking:
            while b"kgdemo_runs_under_way 1.0" not in urlopen(f"{address}/metrics", timeout=60).read():
                threading.Event().wait(0.02)
            server.send_signal(signal.SIGTERM)
            while (state := health(host))[0] == 200:
                threading.Event().wait(0.02)
            assert state == (503, "stopping")
            status, refused = post(address, "/gradio_api/call/ask", b'{"data": []}')
            assert (status, refused["error"]) == (503, "This server is about to stop; ask again in a minute.")
            asking.request("GET", f"/gradio_api/call/ask/{begun['event_id']}")
            with closing(asking.getresponse()) as answer:
                assert answer.readline() == b"event: complete\n"
        assert server.wait(60) == 0
    assert "stopping; 1 questions under way" in log.read_text()
    assert "Traceback" not in log.read_text()


def health(host: str) -> tuple[int, str]:
    with closing(http.client.HTTPConnection(host, timeout=60)) as connection:
        connection.request("GET", "/healthz")
        with closing(connection.getresponse()) as answer:
            return answer.status, json.loads(answer.read())["status"]
