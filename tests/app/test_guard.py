"""What stands before every request: bodies are refused before they are read, and addresses cannot be chosen."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from gradio.utils import get_upload_folder
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send
from uvicorn.server import ServerState

from kgdemo.settings import LOCAL, PUBLIC, Profile
from kgdemo.ui.assets import ASSETS
from kgdemo.ui.guard import HEADER, HEADERS, Guard, address_of, impatient
from tests.helpers.small import CLOSED, ENDLESS

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


def test_a_body_that_does_not_arrive_is_given_up_and_one_that_has_may_be_answered_for_hours():
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def asked(body: list[Message], seconds: int) -> None:
        coming = iter(body)

        async def receive() -> Message:
            return next(coming, None) or await asyncio.Event().wait()

        scope = {"type": "http", "method": "POST", "path": "/", "headers": [], "query_string": b""}
        await Guard(Starlette(routes=routes), replace(PUBLIC, body_seconds=seconds))(scope, receive, send)

    routes = [Route("/", _told, methods=["POST"])]
    part = {"type": "http.request", "body": b"x", "more_body": True}
    asyncio.run(asked([part, part], 0))
    assert sent[0]["status"] == 408
    assert "has not arrived whole within 0 s" in json.loads(sent[1]["body"])["error"]
    sent.clear()
    asyncio.run(asked([part, {**part, "more_body": False}], 60))
    assert sent[0]["status"] == 200


def test_behind_the_body_nobody_hurries():
    heard: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        heard.extend([await receive(), await receive()])

    async def send(_: Message) -> None:
        raise AssertionError("nothing is refused")

    async def asked() -> None:
        coming = iter([{"type": "http.request", "body": b""}])
        gone = asyncio.Event()

        async def receive() -> Message:
            if (message := next(coming, None)) is not None:
                return message
            asyncio.get_running_loop().call_later(0.1, gone.set)
            await gone.wait()
            return {"type": "http.disconnect"}

        scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
        await Guard(app, replace(PUBLIC, body_seconds=0.05))(scope, receive, send)

    asyncio.run(asked())
    assert [message["type"] for message in heard] == ["http.request", "http.disconnect"]


def test_headers_that_do_not_arrive_end_the_connection_and_an_answer_under_way_does_not():
    async def talk() -> list[bytes]:
        begun, slow = asyncio.Event(), asyncio.Event()

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            begun.set()
            await slow.wait()
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
            await send({"type": "http.response.body", "body": b"ok"})

        config = uvicorn.Config(app, lifespan="off", log_config=None)
        config.load()
        made, state = impatient(config.http_protocol_class, 0.05), ServerState()
        loop = asyncio.get_running_loop()
        async with await loop.create_server(lambda: made(config, state, {}), "127.0.0.1") as server:
            address = server.sockets[0].getsockname()
            dripping, letters = await asyncio.open_connection(*address)
            letters.write(b"GET / HTTP/1.1\r\nHost: x\r\nX-A: y")
            asking, line = await asyncio.open_connection(*address)
            line.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            await begun.wait()
            given_up = await dripping.read()  # ends when the server ends it
            slow.set()
            answered = await asking.readuntil(b"ok")
            line.write(b"GET / HTTP/1.1\r\nHost: x\r\nX-A")  # again on a connection that is kept
            again = await asking.read()
            for writer in (letters, line):
                writer.close()
        return [given_up, answered[:15], again]

    assert asyncio.run(talk()) == [b"", b"HTTP/1.1 200 OK", b""]


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


def test_no_file_is_written_for_a_client(address):
    before = sum(1 for _ in Path(get_upload_folder()).rglob("*"))
    body = b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nabc\r\n--b--\r\n'
    for path in ("/gradio_api/upload", "/gradio_api/upload/", "/upload", "/gradio_api/upload?upload_id=1"):
        with closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)) as connection:
            connection.request("POST", path, body, {"Content-Type": "multipart/form-data; boundary=b"})
            with closing(connection.getresponse()) as answer:
                assert answer.status == 403
                assert json.loads(answer.read())["error"].startswith("This server keeps no files")
    assert sum(1 for _ in Path(get_upload_folder()).rglob("*")) == before


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
