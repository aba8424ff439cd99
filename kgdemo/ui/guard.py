"""What stands before every request: a limit on its body, and the address of the visitor who sent it.

And after it: headers that keep the page from asking anyone but its own server for anything.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kgdemo.settings import Profile
from kgdemo.ui.metrics import METRICS

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "x-kgdemo-visitor"
_LOOPBACK = ("127.0.0.1", "::1")

# Gradio starts its page with scripts in the document and makes functions of templates, so these two are allowed; code
# that got into the page all the same could send nothing elsewhere. Who may show the page in a frame stays open.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
    "frame-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'"
)
HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
}


class Guard:
    """An ASGI middleware.

    A body is refused by the length it declares, or as soon as more has arrived, before anything is made of it. The
    visitor's address is written into a header of our own, where all parts of the server find it. Calls of MCP tools
    reach the endpoints by way of the server itself; these carry the header on, signed with a secret of this process.

    Args:
        app: what is guarded.
        profile: its ``body_bytes`` and ``proxy_header``.
        stopping: set once the server is to stop; from then on nothing new is begun.
    """

    def __init__(self, app: ASGIApp, profile: Profile, stopping: threading.Event | None = None) -> None:
        self.app = app
        self.stopping = stopping or threading.Event()
        self.profile = profile
        self._signature = secrets.token_hex(16)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        send = _with_headers(send)
        if self.stopping.is_set() and scope["method"] == "POST":
            await _refuse(send, 503, "stopping", "This server is about to stop; ask again in a minute.")
            return
        sent = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        declared = sent.get("content-length", "0")
        if not (declared.isascii() and declared.isdecimal() and len(declared) < 16):
            declared = "0"  # the server's own parser refuses it
        if int(declared) > self.profile.body_bytes:
            await _refuse(send, 413, "body", self._too_large())
            return
        signed = f"{self._address(scope, sent)} {self._signature}"
        headers = [pair for pair in scope["headers"] if pair[0].lower() != HEADER.encode()]
        scope = {**scope, "headers": [*headers, (HEADER.encode(), signed.encode("latin-1", "replace"))]}
        await self._limited(scope, receive, send)

    def _too_large(self) -> str:
        limit = f"{self.profile.body_bytes / 1_000_000:g} MB"
        return f"The request is larger than {limit}, the most this server takes; send less."

    def _address(self, scope: Scope, sent: Mapping[str, str]) -> str:
        """The visitor's address: from the trusted header where the operator names one, else that of the connection."""
        host = str((scope.get("client") or ("",))[0])
        carried, _, signature = sent.get(HEADER, "").rpartition(" ")
        if host in _LOOPBACK and secrets.compare_digest(signature.encode(), self._signature.encode()):
            return carried
        if self.profile.proxy_header:
            # a proxy appends the address that it sees; what stands before may come from the client
            forwarded = sent.get(self.profile.proxy_header.lower(), "").split(",")[-1].strip()
            return forwarded[:100] or host
        return host

    async def _limited(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; its body is cut off, and the request refused, once it is longer than allowed."""
        arrived, too_long, begun = 0, False, False

        async def counted() -> Message:
            nonlocal arrived, too_long
            message = await receive()
            arrived += len(message.get("body", b""))
            if arrived > self.profile.body_bytes:
                too_long = True
                return {"type": "http.disconnect"}
            return message

        async def answered(message: Message) -> None:
            nonlocal begun
            if not too_long or begun:
                begun = True
                await send(message)

        try:
            await self.app(scope, counted, answered)
        except Exception:
            if not too_long:
                raise
        if too_long and not begun:
            await _refuse(send, 413, "body", self._too_large())


async def _refuse(send: Send, status: int, reason: str, sentence: str) -> None:
    METRICS.count("kgdemo_refused_total", reason=reason)
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"error": sentence}).encode()})


def _with_headers(send: Send) -> Send:
    """Answers with ``HEADERS``, those that a part of the server has set itself left as they are."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", ()))
            names = {name.lower() for name, _ in given}
            more = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in names]
            message = {**message, "headers": [*given, *more]}
        await send(message)

    return sending


def address_of(request: Any) -> str:
    """The address of the visitor behind a request of gradio or starlette; empty where no guard has seen it."""
    headers = getattr(request, "headers", None) or {}
    return str(headers.get(HEADER, "")).rpartition(" ")[0]
