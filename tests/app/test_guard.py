"""What stands before every request: bodies are refused before they are read, and addresses cannot be chosen."""

from __future__ import annotations

import http.client
import json
import threading
import time
from contextlib import closing
from dataclasses import replace
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from kgdemo.settings import LOCAL, PUBLIC, Profile
from kgdemo.ui.assets import ASSETS
from kgdemo.ui.guard import HEADER, HEADERS, Guard, address_of
from tests.helpers.page import CLOSED, ENDLESS

read: list[int] = []


async def _told(request: Request) -> JSONResponse:
    body = await request.body()
    read.append(len(body))
    return JSONResponse({"address": address_of(request), "bytes": len(body)})


def client(profile: Profile, host: str = "203.0.113.9") -> TestClient:
    routes = [Route("/", _told, methods=["GET", "POST"])]
    return TestClient(Guard(Starlette(routes=routes), profile), client=(host, 5000))


def test_a_body_too_long_is_refused_by_its_length_and_while_it_comes():
    read.clear()
    small = client(replace(PUBLIC, body_bytes=1000))
    assert small.post("/", content=b"x" * 1000).json()["bytes"] == 1000
    taken: list[int] = []

    def chunks():
        for number in range(1000):
            taken.append(number)
            yield b"x" * 100

    for content in (b"x" * 1001, chunks()):
        refused = small.post("/", content=content)
        assert refused.status_code == 413
        assert "larger than 0.001 MB" in refused.json()["error"]
    assert read == [1000]


def test_the_address_is_that_of_the_connection_whatever_the_client_claims():
    claims = {"X-Forwarded-For": "1.2.3.4", HEADER: "1.2.3.4 guessed"}
    assert client(PUBLIC).get("/", headers=claims).json()["address"] == "203.0.113.9"
    assert client(PUBLIC, "127.0.0.1").get("/", headers=claims).json()["address"] == "127.0.0.1"


def test_a_proxy_named_by_the_operator_is_believed_in_what_it_adds_itself():
    behind = client(replace(PUBLIC, proxy_header="X-Forwarded-For"))
    told = behind.get("/", headers={"X-Forwarded-For": "1.2.3.4, 198.51.100.7"}).json()
    assert told["address"] == "198.51.100.7"


def test_a_call_that_the_server_makes_to_itself_carries_the_address_on():
    guard = Guard(Starlette(routes=[Route("/", _told)]), LOCAL)
    inner = TestClient(guard, client=("127.0.0.1", 5000))
    signed = {HEADER: f"198.51.100.7 {guard._signature}"}
    assert inner.get("/", headers=signed).json()["address"] == "198.51.100.7"


def test_page_assets_and_refusals_come_with_headers_against_foreign_code(address):
    script = f"/gradio_api/file={(ASSETS / 'js' / 'main.js').as_posix()}"
    for path, length in (("/", "0"), (script, "0"), ("/gradio_api/nothing", "0"), ("/", str(10 * LOCAL.body_bytes))):
        with closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)) as connection:
            connection.request("GET", path, headers={"Content-Length": length})
            with closing(connection.getresponse()) as answer:
                assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    policy = HEADERS["content-security-policy"]
    assert "connect-src 'self';" in policy
    assert "object-src 'none'" in policy
    assert "http" not in policy


def test_the_page_refuses_a_body_that_is_too_long(address):
    connection = http.client.HTTPConnection(urlsplit(address).netloc)
    connection.putrequest("POST", "/gradio_api/upload")
    connection.putheader("Content-Length", str(10 * LOCAL.body_bytes))
    connection.endheaders()
    answer = connection.getresponse()  # nothing of the body has been sent
    assert answer.status == 413
    assert b"larger than 200 MB" in answer.read()
    connection.close()


def test_a_call_ends_when_nobody_waits_for_it_any_more(address, server_log):
    host = urlsplit(address).netloc
    body = json.dumps({"data": [ENDLESS, "world", "gcr", 3, 2, ""]})
    with closing(http.client.HTTPConnection(host)) as asking:
        asking.request("POST", "/gradio_api/call/ask", body, {"Content-Type": "application/json"})
        event = json.loads(asking.getresponse().read())["event_id"]
    with closing(http.client.HTTPConnection(host, timeout=60)) as waiting:
        waiting.request("GET", f"/gradio_api/call/ask/{event}")
        with closing(waiting.getresponse()) as answer:
            answer.readline()
            before = server_log.read_text().count(CLOSED)
    deadline = time.monotonic() + 60
    while server_log.read_text().count(CLOSED) == before and time.monotonic() < deadline:
        threading.Event().wait(0.1)
    assert server_log.read_text().count(CLOSED) == before + 1
