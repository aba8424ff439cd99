"""A real HTTP server that speaks the chat-completions protocol, well or badly."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Endpoint:
    """How the server behaves and what it was asked.

    Attributes:
        replies: what to answer, one a call; the last one is repeated.
        reply: what to answer a prompt, in place of ``replies``.
        message: the message that holds the reply, in place of one with the text alone.
        mode: ``stream``, ``whole`` (no stream), ``cut`` (by the limit of tokens), ``error``, ``nonsense``, ``reset``,
            ``hang``, ``hang until left`` or ``slow headers``; ``breaks off``, ``stalls``, ``endless`` and
            ``keeps alive`` begin well.
        faults: the mode of a call by its number from 1; ``mode`` where it has none.
        refuses: parameters that it answers with status 400.
        headers: of an error.
        error: the body of an error.
        status: of an error.
        works: how many calls are answered well before ``mode`` sets in.
    """

    replies: list[str] = field(default_factory=lambda: ["Vienna [1]"])
    reply: Callable[[str], str] | None = None
    message: dict | None = None
    mode: str = "stream"
    status: int = 401
    works: int = 0
    faults: Callable[[int], str] | None = None
    refuses: tuple[str, ...] = ()
    headers: dict[str, str] = field(default_factory=dict)
    error: bytes = b'{"error": {"message": "bad key"}}'
    bodies: list[dict] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    prompts: list[str] = field(default_factory=list)
    release: threading.Event = field(default_factory=threading.Event)
    left: threading.Event = field(default_factory=threading.Event)
    url: str = ""


_USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def _chunk(text: str | dict, usage: dict | None = None, finish: str | None = None) -> bytes:
    """A piece of a reply, or the count at its end, as the protocol has it."""
    delta = text if isinstance(text, dict) else {"role": "assistant", "content": text}
    choices = [] if usage else [{"index": 0, "delta": delta, "finish_reason": finish}]
    record = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": choices}
    return f"data: {json.dumps({**record, 'usage': usage})}\n\n".encode()


@contextmanager
def serve(endpoint: Endpoint) -> Iterator[Endpoint]:
    """Run the server on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with endpoint.lock:
                endpoint.bodies.append(body)
                endpoint.prompts.append(body["messages"][-1]["content"])
                number, prompt = len(endpoint.prompts), endpoint.prompts[-1]
            mode = endpoint.mode if number > endpoint.works else "stream"
            if endpoint.faults:
                mode = endpoint.faults(number) or mode
            place = min(number, len(endpoint.replies)) - 1
            text = endpoint.reply(prompt) if endpoint.reply else endpoint.replies[place]
            refused = next((name for name in endpoint.refuses if name in body), "")
            if refused:
                said = {"error": {"message": f"Unsupported parameter: '{refused}'"}}
                self._send(400, "application/json", json.dumps(said).encode())
            elif mode.startswith("error"):
                status = int(mode.partition(" ")[2] or endpoint.status)
                self._send(status, "application/json", endpoint.error, endpoint.headers)
            elif mode == "nonsense":
                self._send(200, "text/html", b"<html>this is a wiki</html>")
            elif mode == "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True
                self.connection.close()
            elif mode == "hang":
                endpoint.release.wait(30)
                self.close_connection = True
            elif mode == "hang until left":
                self.close_connection = True
                if not self.connection.recv(1):
                    endpoint.left.set()
            elif mode == "slow headers":
                self._drip()
            elif mode in ("breaks off", "stalls", "endless", "keeps alive"):
                self._begin_well(mode)
            elif mode == "whole" or not body.get("stream"):
                message = endpoint.message or {"role": "assistant", "content": text}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                self._send(200, "application/json", json.dumps({"choices": [choice], "usage": _USAGE}).encode())
            else:
                parts = [endpoint.message] if endpoint.message else text.splitlines(keepends=True)
                self._send(200, "text/event-stream", self._stream(parts, "length" if mode == "cut" else "stop"))

        def _drip(self) -> None:
            """A response whose headers never end."""
            self.close_connection = True
            with suppress(OSError):
                self.wfile.write(b"HTTP/1.1 200 OK\r\n")
                while not endpoint.release.wait(0.02):
                    self.wfile.write(b"X-More: yes\r\n")

        def _stream(self, parts: list, finish: str) -> bytes:
            return b"".join([*map(_chunk, parts), _chunk("", finish=finish), _chunk("", _USAGE), b"data: [DONE]\n\n"])

        def _begin_well(self, mode: str) -> None:
            """One piece of a reply of unknown length; then nothing, or the same for ever, or the line is cut."""
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            piece = _chunk("Vienna ")
            frame = f"{len(piece):x}\r\n".encode() + piece + b"\r\n"
            self.close_connection = True
            with suppress(ConnectionError):  # the client hangs up
                self.wfile.write(frame)
                while mode == "endless" and not endpoint.release.wait(0.01):
                    self.wfile.write(frame)
                while mode == "keeps alive" and not endpoint.release.wait(0.02):
                    self.wfile.write(b"d\r\n: processing\n\r\n")
            if mode == "stalls":
                endpoint.release.wait(30)

        def _send(self, status: int, kind: str, body: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep the test's output quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.release.set()
        server.shutdown()
        server.server_close()
        thread.join()
