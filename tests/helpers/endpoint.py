"""A real HTTP server that speaks the chat-completions protocol, well or badly."""

from __future__ import annotations

import json
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
        mode: ``stream``, ``error``, ``nonsense`` or ``hang``; ``breaks off``, ``stalls`` and ``endless`` begin well.
        status: of an error.
        works: how many calls are answered well before ``mode`` sets in.
    """

    replies: list[str] = field(default_factory=lambda: ["Vienna [1]"])
    reply: Callable[[str], str] | None = None
    mode: str = "stream"
    status: int = 401
    works: int = 0
    prompts: list[str] = field(default_factory=list)
    release: threading.Event = field(default_factory=threading.Event)
    url: str = ""


def _chunk(text: str, usage: dict | None = None) -> bytes:
    """A piece of a reply, or the count at its end, as the protocol has it."""
    delta = {"role": "assistant", "content": text}
    choices = [] if usage else [{"index": 0, "delta": delta, "finish_reason": None}]
    record = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": choices}
    return f"data: {json.dumps({**record, 'usage': usage})}\n\n".encode()


@contextmanager
def serve(endpoint: Endpoint) -> Iterator[Endpoint]:
    """Run the server on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            endpoint.prompts.append(body["messages"][-1]["content"])
            mode = endpoint.mode if len(endpoint.prompts) > endpoint.works else "stream"
            if mode == "error":
                self._send(endpoint.status, "application/json", b'{"error": {"message": "bad key"}}')
            elif mode == "nonsense":
                self._send(200, "text/html", b"<html>this is a wiki</html>")
            elif mode == "hang":
                endpoint.release.wait(30)
                self.close_connection = True
            elif mode in ("breaks off", "stalls", "endless"):
                self._begin_well(mode)
            else:
                number = min(len(endpoint.prompts), len(endpoint.replies)) - 1
                text = endpoint.reply(endpoint.prompts[-1]) if endpoint.reply else endpoint.replies[number]
                self._send(200, "text/event-stream", self._stream(text))

        def _stream(self, reply: str) -> bytes:
            parts = [_chunk(piece) for piece in reply.splitlines(keepends=True)]
            usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
            return b"".join([*parts, _chunk("", usage), b"data: [DONE]\n\n"])

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
                while mode == "endless" and not endpoint.release.is_set():
                    self.wfile.write(frame)
            if mode == "stalls":
                endpoint.release.wait(30)

        def _send(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
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
