"""What stands before every request, and how a client's mistake ends.

Before it: a limit on its body, the address of the visitor who sent it, and how often one may ask (``Visits``). After
it: headers that keep the page from asking anyone but its own server for anything. What a client gets wrong ends in one
sentence, sent to it, and no traceback in the log: a traceback there then always means a mistake of ours. Last come the
MCP tools, whose arguments are refused in the same way.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Mapping
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any

import gradio as gr
from fastapi.exceptions import RequestValidationError
from gradio.components.api_component import Api
from gradio.route_utils import FnIndexInferError
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from kgdemo.errors import UserError
from kgdemo.settings import Profile
from kgdemo.ui.metrics import METRICS, Loading
from kgdemo.view.escape import visible

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "x-kgdemo-visitor"
_UPLOAD = "/upload"  # gradio's own, which writes each file to the disk and limits neither their number nor their stay
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

    A body is refused by the length it declares, or as soon as more has arrived, before anything is made of it; and once
    it has taken too long to arrive, as that of a client that sends a letter now and then. Files are not taken. The
    visitor's address is written into a header of our own, where all parts of the server find it. Calls of MCP tools
    reach the endpoints by way of the server itself; these carry the header on, signed with a secret of this process.

    Args:
        app: what is guarded.
        profile: its ``body_bytes``, ``body_seconds`` and ``proxy_header``.
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
        if scope["path"].rstrip("/").endswith(_UPLOAD):
            await _refuse(send, 403, "upload", "This server keeps no files; bring a graph on its page.")
            return
        signed = f"{self._address(scope, sent)} {self._signature}"
        headers = [pair for pair in scope["headers"] if pair[0].lower() != HEADER.encode()]
        scope = {**scope, "headers": [*headers, (HEADER.encode(), signed.encode("latin-1", "replace"))]}
        await self._limited(scope, receive, send)

    def _too_large(self) -> str:
        limit = f"{self.profile.body_bytes / 1_000_000:g} MB"
        return f"The request is larger than {limit}, the most this server takes; send less."

    def _too_slow(self) -> str:
        return f"The request has not arrived whole within {self.profile.body_seconds} s; send it anew, or less."

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
        """Pass a request on; its body is cut off, and the request refused, once it is too long or too slow."""
        arrived, whole, begun = 0, False, False
        refusal: tuple[int, str, str] | None = None
        ends = asyncio.get_running_loop().time() + self.profile.body_seconds

        async def counted() -> Message:
            nonlocal arrived, whole, refusal
            try:
                # what comes behind the body is told when the client goes, be that in hours
                left = None if whole else max(ends - asyncio.get_running_loop().time(), 0.0)
                message = await asyncio.wait_for(receive(), left)
            except asyncio.TimeoutError:
                refusal = 408, "slow", self._too_slow()
                return {"type": "http.disconnect"}
            whole = not message.get("more_body", False)
            arrived += len(message.get("body", b""))
            if arrived > self.profile.body_bytes:
                refusal = 413, "body", self._too_large()
                return {"type": "http.disconnect"}
            return message

        async def answered(message: Message) -> None:
            nonlocal begun
            if refusal is None or begun:
                begun = True
                await send(message)

        try:
            await self.app(scope, counted, answered)
        except Exception:
            if refusal is None:
                raise
        if refusal is not None and not begun:
            await _refuse(send, *refusal)


def impatient(protocol: Any, seconds: float) -> Any:
    """A protocol of uvicorn's that ends a connection on which no request is begun in time.

    A client that sends its headers letter by letter comes to no middleware, so nothing else would give it up.

    Args:
        protocol: the class that reads requests from a connection.
        seconds: how long the headers of a request may take; a connection without any is ended by uvicorn itself.
    """

    class Impatient(protocol):  # type: ignore[misc]  # it is uvicorn's choice which one
        _giving_up: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, error: Exception | None) -> None:
            self._stop()
            super().connection_lost(error)

        def _watch(self) -> None:
            asked = self.cycle is not None and not self.cycle.response_complete
            if asked or self.transport.get_protocol() is not self:  # it has become a web socket
                self._stop()
            elif self._giving_up is None:
                self._giving_up = self.loop.call_later(seconds, self.transport.close)

        def _stop(self) -> None:
            if self._giving_up is not None:
                self._giving_up.cancel()
                self._giving_up = None

    return Impatient


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


WINDOW = 60.0  # seconds
_REMEMBERED = 10_000  # addresses


class Visits:
    """Counts questions, so that no visitor asks too often on a public server.

    They are counted for each address, for a session's name is the client's to choose. The queue bounds what all
    visitors use together.

    Args:
        limit: questions a minute from one address; 0 for no limit.
        clock: seconds, ever rising; tests give their own.
    """

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self._clock = clock
        self._questions_at: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def count(self, address: str) -> None:
        """One more question from this address.

        Raises:
            UserError: it has asked too often.
        """
        if not self.limit:
            return
        now = self._clock()
        with self._lock:
            times = self._questions_at.setdefault(address, deque())
            self._questions_at.move_to_end(address)
            while times and times[0] <= now - WINDOW:
                times.popleft()
            if len(times) >= self.limit:
                METRICS.count("kgdemo_refused_total", reason="rate")
                wait = max(1, round(times[0] + WINDOW - now))
                raise UserError(
                    f"This server takes {self.limit} questions a minute from one address; ask again in {wait} s."
                )
            times.append(now)
            while len(self._questions_at) > _REMEMBERED:
                self._questions_at.popitem(last=False)


logger = logging.getLogger(__name__)
_LONGEST = 600  # characters of a sentence
_TO_SCRIPTS = 400  # of one that is sent to a script of the page


class Refused(gr.Error):
    """A client's mistake, as gradio sends it.

    Args:
        sentence: what is wrong, and what to do.
        reason: under which it is counted; none where it has been counted before.
    """

    def __init__(self, sentence: object, reason: str = "") -> None:
        if reason:
            METRICS.count("kgdemo_refused_total", reason=reason)
        super().__init__(visible(" ".join(str(sentence).split()), _LONGEST), print_exception=False)


class Page(gr.Blocks):
    """Gradio's page, which refuses values that do not fit before any of our functions is called with them.

    Attributes:
        profile: limits of the server.
        loading: how far it has come with its loading.
    """

    profile: Profile
    loading: Loading

    def validate_inputs(self, block_fn: Any, inputs: Any) -> None:
        """Refuse too few values, and from programs too many."""
        wanted = block_fn.inputs
        program = any(isinstance(block, Api) for block in wanted)
        if len(inputs) < len(wanted) or (program and len(inputs) > len(wanted)):
            names = ", ".join(str(block.label) for block in wanted) if program else "those of the page"
            raise Refused(f"{block_fn.name} takes {len(wanted)} values, {names}; {len(inputs)} came.", "values")

    async def preprocess_data(self, block_fn: Any, inputs: Any, state: Any, explicit_call: bool = False) -> Any:
        """The values as our functions get them.

        Raises:
            Refused: a component cannot read its value.
        """
        try:
            return await super().preprocess_data(block_fn, inputs, state, explicit_call)
        except gr.Error as error:
            raise Refused(error.message, "values") from None
        except Exception as error:
            logger.info("values refused: %s", type(error).__name__)
            raise Refused("A value that was sent does not fit its field; load the page anew.", "values") from error


def _answering(status: int, sentence: str) -> Any:
    def answer(_: Request, error: Exception) -> JSONResponse:
        METRICS.count("kgdemo_refused_total", reason="request")
        logger.info("request refused: %s", type(error).__name__)
        return JSONResponse({"error": sentence}, status)

    return answer


# Gradio reads requests with these exceptions unhandled, or echoes the whole request in its answer.
HANDLERS = {
    RequestValidationError: _answering(422, 'The request does not fit this address; send {"data": […]} as JSON.'),
    ValidationError: _answering(422, "The request does not fit this address; load the page anew."),
    JSONDecodeError: _answering(400, "The request is no JSON; send an object."),
    UnicodeDecodeError: _answering(400, "The request is no UTF-8; send JSON in UTF-8."),
    FnIndexInferError: _answering(404, "There is no endpoint of that name; /gradio_api/info lists them."),
    KeyError: _answering(404, "The request names a part that this page does not have; load the page anew."),
}


def in_one_sentence(
    handle: Callable[[Request], Awaitable[Response]], reason: str
) -> Callable[[Request], Awaitable[Response]]:
    """A handler of requests whose client's mistakes end in one sentence, and are counted under a reason."""

    async def answer(request: Request) -> Response:
        try:
            return await handle(request)
        except UserError as error:
            METRICS.count("kgdemo_refused_total", reason=reason)
            return JSONResponse({"error": visible(error, _TO_SCRIPTS)}, 400)

    return answer


async def object_sent(request: Request, limit: int) -> dict[str, Any]:
    """The JSON object that a script of the page sends, of at most so many bytes.

    Raises:
        UserError: it is none, or too large. What pages of other sites can send is refused by its content type.
    """
    body = bytearray()
    if request.headers.get("content-type", "").partition(";")[0] == "application/json":
        async for chunk in request.stream():
            body += chunk
            if len(body) > limit:
                break
    try:
        sent = json.loads(body[: limit + 1])
    except (ValueError, RecursionError):
        sent = None
    if not isinstance(sent, dict) or len(body) > limit:
        raise UserError(f"Send a JSON object of {limit:,} bytes at the most, as application/json.")
    return sent


# MCP tools ----------------------------------------------------------------------------------------
#
# The protocol's library and gradio check arguments as well, but the one repeats a wrong value whole, however long it
# is, and the other speaks of Python's keyword arguments. So the same declaration is read here first.

_NAME = 60  # characters of a name that a client sends
_TYPES = {"string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false"}


def check_arguments(page: Any) -> None:
    """Put the check before the tools of a page that is served; a page without tools stays as it is.

    Args:
        page: a ``gradio.Blocks`` that has been launched.
    """
    tools = page.mcp_server_obj
    if tools is None:
        return
    from mcp.types import CallToolRequest, CallToolResult, ServerResult, TextContent  # only there with gradio's extra

    handlers = tools.mcp_server.request_handlers
    answer = handlers[CallToolRequest]

    async def checked(request: CallToolRequest) -> Any:
        name, given = request.params.name, request.params.arguments or {}
        if name not in tools.tool_to_endpoint:
            known = ", ".join(tools.tool_to_endpoint)
            refusal = f"There is no tool {visible(name, _NAME)!r}; this server has {known}."
        else:
            refusal = misfit(name, given, tools.get_input_schema(name)[0])
        if not refusal:
            return _in_one_line(await answer(request))
        METRICS.count("kgdemo_refused_total", reason="values")
        return ServerResult(CallToolResult(content=[TextContent(type="text", text=refusal)], isError=True))

    handlers[CallToolRequest] = checked


def misfit(tool: str, given: Mapping[str, Any], declared: Mapping[str, Any]) -> str:
    """What is wrong with the arguments of a tool, in one sentence; empty where they fit.

    Args:
        tool: its name.
        given: the arguments by name, any JSON.
        declared: the tool's input as JSON schema, an object of plain values.
    """
    parameters: Mapping[str, Mapping[str, Any]] = declared["properties"]
    takes = f"the tool {tool} takes {', '.join(parameters)}"
    for name in given:
        if name not in parameters:
            return f"There is no parameter {visible(name, _NAME)!r}; {takes}."
    for name in declared.get("required", ()):
        if name not in given:
            return f"The parameter {name} is missing; {takes}."
    for name, value in given.items():
        kind = str(parameters[name].get("type", ""))
        if not _fits(value, kind):
            return f"The parameter {name} has to be {_TYPES[kind]}; {takes}."
    return ""


def _fits(value: object, kind: str) -> bool:
    if kind == "string":
        return isinstance(value, str)
    if kind == "boolean":
        return isinstance(value, bool)
    if kind not in _TYPES:
        return True  # a list or an object: the endpoint itself looks into it
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return kind == "number" or isinstance(value, int) or value.is_integer()


def _in_one_line(result: Any) -> Any:
    """An error as one line; what gradio puts behind the sentence is for its own client."""
    if result.root.isError:
        for part in result.root.content:
            part.text = visible(next(iter(part.text.strip().splitlines()), "The tool failed; ask again."), _LONGEST)
    return result
