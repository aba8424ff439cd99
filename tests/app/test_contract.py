"""The contract with programs: whatever is sent, one clear sentence comes back and the log holds no traceback."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from kgdemo.settings import PUBLIC
from kgdemo.ui.page import launch_arguments
from tests.app.test_mcp import in_a_loop_of_its_own
from tests.helpers.small import QUESTION

GOOD: dict[str, dict[str, Any]] = {
    "ask": {"question": QUESTION, "graph": "world", "method": "gcr", "beams": 2, "hops": 1, "options": ""},
    "paths": {"question": QUESTION, "graph": "world", "beams": 2, "hops": 1},
    "verify_path": {"path": "Inception -> directed by -> Christopher Nolan", "graph": "world"},
    "link": {"question": QUESTION, "graph": "world"},
}
HUGE, BROKEN = "x" * 100_000, "\ud800"
DEEP: Any = []
for _ in range(200):
    DEEP = [DEEP]
WRONG = (7, True, ["world"], {"a": 1}, -1, 1e308, 10**400, DEEP, HUGE, BROKEN)
OPTIONAL = ("graph", "method", "options")  # a value of null leaves the default


def post(address: str, path: str, body: bytes, kind: type = dict) -> tuple[int, Any]:
    """Status and answer of a request; an answer is always JSON, and an object unless something else is said."""
    asked = urllib.request.Request(f"{address}{path}", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(asked, timeout=60) as answer:
            status, said = answer.status, json.loads(answer.read())
            assert isinstance(said, kind)
            return status, said
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def called(address: str, endpoint: str, values: list[Any]) -> tuple[str, Any]:
    """How a call ended, ``complete`` or ``error``, and with what."""
    path = f"/gradio_api/call/{endpoint}"
    _, begun = post(address, path, json.dumps({"data": values}).encode())
    with urllib.request.urlopen(f"{address}{path}/{begun['event_id']}", timeout=60) as stream:
        lines = stream.read().decode().splitlines()
    return lines[0].removeprefix("event: "), json.loads(lines[1].removeprefix("data: "))


def is_a_sentence(text: str) -> bool:
    """One line of words, as a person would say it: no name of a Python class, not all that was sent."""
    python = ("' object", "object at", "Error", "Traceback", "NoneType", "unhashable", "argument", "<class")
    return 15 < len(text) < 700 and "\n" not in text and not any(word in text for word in python)


@pytest.fixture
def no_traceback(server_log: Path):
    before = len(server_log.read_text())
    yield
    assert "Traceback" not in server_log.read_text()[before:]


@pytest.mark.usefixtures("no_traceback")
@pytest.mark.parametrize(("endpoint", "name"), [(one, name) for one, values in GOOD.items() for name in values])
def test_a_value_of_a_wrong_type_is_answered_with_a_sentence(address: str, endpoint: str, name: str):
    for wrong in (*WRONG, *(() if name in OPTIONAL else (None,))):
        if wrong == 7 and name == "beams":
            continue  # is a number of paths
        ended, said = called(address, endpoint, list({**GOOD[endpoint], name: wrong}.values()))
        if wrong == BROKEN and ended == "complete":
            continue  # half a character is a text, if of nothing that the graph knows
        assert ended == "error", (name, wrong)
        assert is_a_sentence(said["error"]), (name, wrong, said["error"])


@pytest.mark.usefixtures("no_traceback")
@pytest.mark.parametrize("endpoint", GOOD)
def test_missing_and_extra_values_are_counted(address: str, endpoint: str):
    values = list(GOOD[endpoint].values())
    assert called(address, endpoint, values)[0] == "complete"
    for number in (*range(len(values)), len(values) + 1):
        ended, said = called(address, endpoint, [*values, "extra"][:number])
        assert ended == "error"
        assert is_a_sentence(said["error"])
        assert f"takes {len(values)} values" in said["error"]
        assert f"{number} came" in said["error"]


@pytest.mark.usefixtures("no_traceback")
@pytest.mark.parametrize(
    ("path", "body"),
    [
        *(
            ("/gradio_api/call/ask", body)
            for body in (b"", b"{", b"\xff", b"[]", b"{}", b'{"data": 7}', b"7" * 100_000)
        ),
        ("/gradio_api/call/nothing", b'{"data": []}'),
        ("/gradio_api/queue/join", b'{"data": [], "fn_index": 999, "session_hash": "x"}'),
        ("/gradio_api/component_server", b"{"),
        ("/gradio_api/component_server", b"{}"),
        ("/gradio_api/component_server", b'{"session_hash": "x", "component_id": 999, "fn_name": "x", "data": 1}'),
    ],
)
def test_a_body_that_is_no_request_is_answered_with_a_sentence(address: str, path: str, body: bytes):
    status, said = post(address, path, body)
    assert 400 <= status < 500
    assert is_a_sentence(str(said.get("error") or said.get("detail"))), said


@pytest.mark.usefixtures("no_traceback")
def test_what_the_page_asks_may_be_anything(address: str):
    with urllib.request.urlopen(f"{address}/config", timeout=60) as answer:
        parts = json.loads(answer.read())["components"]
    serving = [(part["id"], name) for part in parts for name in part["props"].get("server_fns") or ()]
    assert len(serving) >= 9
    names = ("run", "have", "edits", "entity", "written", "text", "name", "base64", "graph", "question", "path")
    asked = (None, 7, [], {}, "x", HUGE, BROKEN, *(dict.fromkeys(names, wrong) for wrong in (*WRONG, None)))
    for part, name in serving:
        for data in asked:
            sent = {"session_hash": "x", "component_id": part, "fn_name": name, "data": data}
            status, _ = post(address, "/gradio_api/component_server", json.dumps(sent).encode(), object)
            assert status == 200, (name, str(data)[:100])


@pytest.mark.usefixtures("no_traceback")
def test_every_route_of_our_own_answers_with_a_sentence(address: str):
    routes = launch_arguments(Mock(profile=PUBLIC), threading.Event())["app_kwargs"]["routes"]
    taking = [route.path.replace("{code}", "NOPE") for route in routes if "POST" in route.methods]
    assert len(taking) >= 3
    sent = [b"", b"{", b"\xff", b"[]", b"7", b'"x"', b"[" * 100_000, b'{"a": ' * 5000, b"9" * 5000]
    named = ("key", "scene", "member", "round", "choice", "base")
    sent += [json.dumps(dict.fromkeys(named, wrong)).encode() for wrong in (*WRONG, None)]
    for path in taking:
        for body in sent:
            status, said = post(address, path, body)
            if status == 200:
                assert path == "/class", "a room is opened for whoever asks"
                continue
            assert 400 <= status < 500
            assert is_a_sentence(said["error"]), (path, body[:80], said)


def wrong_arguments(good: dict[str, Any]) -> list[dict[str, Any]]:
    """Arguments of a tool with one thing wrong: of a wrong type, missing, one too many, huge."""
    sendable = [value for value in (*WRONG, None) if value != BROKEN]  # the protocol's client sends no half characters
    wrong = [{**good, name: value} for name in good for value in sendable if not (value == 7 and name == "beams")]
    missing = {}, {name: value for name, value in good.items() if name not in ("question", "path")}
    extra = ({**good, name: 1} for name in ("extra", "request", "x" * 100_000, "a\nb", ""))
    return [*wrong, *missing, *extra]


@pytest.mark.usefixtures("no_traceback")
@pytest.mark.parametrize("endpoint", GOOD)
def test_a_tool_called_wrongly_answers_with_a_sentence(address: str, endpoint: str):
    async def told() -> list[tuple[dict[str, Any], bool, str]]:
        async with (
            streamable_http_client(f"{address}/gradio_api/mcp/") as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            offered = [tool.name for tool in (await session.list_tools()).tools]
            (tool,) = (name for name in offered if name in (endpoint, f"kgdemo_{endpoint}"))
            assert not (await session.call_tool(tool, GOOD[endpoint])).isError
            found = []
            for given in wrong_arguments(GOOD[endpoint]):
                answer = await session.call_tool(tool, given)
                found.append((given, answer.isError, answer.content[0].text))
            return found

    for given, failed, sentence in in_a_loop_of_its_own(told):
        shown = {name[:20]: str(value)[:40] for name, value in given.items()}
        assert failed, shown
        assert is_a_sentence(sentence), (shown, sentence)


@pytest.mark.usefixtures("no_traceback")
@pytest.mark.parametrize("name", ["nothing", "x" * 100_000, ""])
def test_a_tool_that_is_not_there_is_named_and_those_that_are(address: str, name: str):
    async def told() -> Any:
        async with (
            streamable_http_client(f"{address}/gradio_api/mcp/") as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            return await session.call_tool(name, {})

    answer = in_a_loop_of_its_own(told)
    assert answer.isError
    assert is_a_sentence(answer.content[0].text)
    assert "verify_path" in answer.content[0].text
