"""The chat model behind an OpenAI-compatible endpoint.

The openai client speaks the protocol; how long a call may take, and what is tried again, is decided here. Every call
has a limit in seconds that nothing stretches: a thread of its own reads the connection, and where the time is up, or
the reader goes away, the connection is shut. Faults that may pass (429, 5xx, resets, silence, half a stream, garbage)
are tried again with growing pauses, or after the time that the endpoint names. A parameter that the endpoint refuses
is left out from then on. Whatever remains is one sentence that says what to do.
"""

from __future__ import annotations

import json
import queue
import random
import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import openai

from kgdemo.errors import EndpointError
from kgdemo.models.chat import BEAT, Usage
from kgdemo.settings import ChatSettings

_LARGEST = 2_000_000  # bytes of a reply with all that is around it
_LONGEST_PAUSE = 20.0  # seconds between two tries, whatever the endpoint asks for
_OPTIONAL = ("response_format", "stream_options", "temperature", "max_tokens", "max_completion_tokens", "stream")
_END = object()
_current = threading.local()  # .reader: the one whose request this thread sends


class _FaultError(EndpointError):
    """A call that failed.

    Args:
        message: one sentence that says what to do.
        passing: it may go well the next time.
        wait: seconds that the endpoint asks us to wait.
        refused: the parameter that it does not take.
    """

    def __init__(self, message: str, passing: bool = False, wait: float = 0.0, refused: str = "") -> None:
        super().__init__(message)
        self.passing, self.wait, self.refused = passing, wait, refused


class OpenAIChat:
    """Any OpenAI-compatible endpoint; safe to use from several threads.

    Args:
        settings: where it is, what it is called, and how patient to be.
    """

    def __init__(self, settings: ChatSettings) -> None:
        self.name = settings.model
        self.settings = settings
        self.at_once, self.samples = settings.at_once, True
        self.refused: set[str] = set()  # parameters that this endpoint does not take
        self.structured = True  # until it refuses a schema, or does not keep to one
        connections: Any = httpx.Client(  # openai 3 takes it too, though its types name the library's successor
            timeout=settings.timeout,
            limits=httpx.Limits(max_keepalive_connections=0),  # so that shutting one call's stops no other call
            follow_redirects=False,
            event_hooks={"request": [_watch]},
        )
        self._client = openai.OpenAI(
            api_key=settings.api_key or "none",
            base_url=settings.base_url or None,
            max_retries=0,
            http_client=connections,
        )

    def close(self) -> None:
        """Let go of the connections; nothing can be asked afterwards."""
        self._client.close()

    def stream(
        self, prompt: str, usage: Usage, temperature: float = 0.0, schema: Mapping[str, Any] | None = None
    ) -> Iterator[str]:
        """See ``ChatModel``."""
        usage.tokens_in, usage.tokens_out, usage.calls = len(prompt.split()), 0, 0
        deadline, tries, begun = time.monotonic() + self.settings.longest, 0, False
        while True:
            usage.calls += 1
            try:
                for piece in self._chunks(self._body(prompt, temperature, schema), usage, deadline):
                    begun = begun or bool(piece)
                    yield piece
            except _FaultError as fault:
                if fault.refused:
                    self.refused.add(fault.refused)
                    self.structured = self.structured and fault.refused != "response_format"
                    continue
                tries += 1
                pause = self._pause(tries, fault.wait)
                if not fault.passing or tries > self.settings.retries or time.monotonic() + pause > deadline:
                    raise EndpointError(str(fault)) from fault
                yield from _paused(pause)
                usage.restarts += begun
                usage.tokens_out, begun = 0, False
            else:
                return

    def _pause(self, tries: int, wait: float) -> float:
        """Seconds before the next try: what the endpoint asks for, else twice as long each time, with jitter."""
        growing = self.settings.patience * 2 ** (tries - 1) * random.uniform(0.5, 1.5)
        return min(max(wait, growing), _LONGEST_PAUSE) if self.settings.patience else 0.0

    def _body(self, prompt: str, temperature: float, schema: Mapping[str, Any] | None) -> dict[str, Any]:
        """The request, without what this endpoint has refused."""
        longest = "max_tokens" if "max_tokens" not in self.refused else "max_completion_tokens"
        optional: dict[str, Any] = {
            "temperature": temperature,
            longest: self.settings.reply_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if "stream" in self.refused:
            del optional["stream_options"]
        if schema is not None:
            described = {"name": "reply", "schema": schema, "strict": True}
            optional["response_format"] = {"type": "json_schema", "json_schema": described}
        accepted = {name: value for name, value in optional.items() if name not in self.refused}
        return {"model": self.name, "messages": [{"role": "user", "content": prompt}], **accepted}

    def _chunks(self, body: Mapping[str, Any], usage: Usage, deadline: float) -> Iterator[str]:
        """One try: the pieces of text as they come.

        Raises:
            _FaultError: anything that went wrong.
        """
        reader = _Reader(self._client, body)
        try:
            kind, lines = "", reader.lines(deadline)
            for line in lines:
                if not line:
                    yield ""
                    continue
                kind = kind or self._answered(reader, line, body)
                if kind == "whole":
                    yield from self._whole("".join([line, *lines]), usage)
                    return
                if (text := self._chunk(line, usage)) is not None:
                    yield text
            if not kind:
                self._answered(reader, "", body)
                raise _FaultError(self._nonsense(), passing=True)
            if not (reader.done or usage.finish):
                raise _FaultError(self._broke_off(), passing=True)
        except httpx.TimeoutException as error:
            raise _FaultError(self._silent(), passing=True) from error
        except TimeoutError as error:
            raise _FaultError(
                f"The chat model {self.name} was still writing after {self.settings.longest:g} seconds; "
                "ask for fewer paths or choose a faster model."
                if reader.begun
                else self._silent()
            ) from error
        except OverflowError as error:
            raise _FaultError(f"The chat model {self.name} wrote far too much; choose another model.") from error
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            if reader.begun:
                raise _FaultError(self._broke_off(), passing=True) from error
            where = self.settings.base_url or "the OpenAI service"
            raise _FaultError(
                f"The chat model {self.name} cannot be reached at {where}; check OPENAI_BASE_URL and the server.",
                passing=isinstance(error, (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)),
            ) from error
        finally:
            reader.close()

    # what came -------------------------------------------------------------------------------

    def _answered(self, reader: _Reader, line: str, body: Mapping[str, Any]) -> str:
        """How the endpoint answers: ``stream``, or ``whole`` where it sends one completion.

        Raises:
            _FaultError: with an error, or with something that is no completion.
        """
        if reader.status >= 300:
            raise self._refusal(reader.status, reader.headers, "".join([line, *reader.rest()]), body)
        if line.startswith(("data:", ":", "event:", "id:", "retry:")):
            return "stream"
        if line.lstrip().startswith("{"):
            return "whole"
        raise _FaultError(self._nonsense(), passing=True)

    def _chunk(self, line: str, usage: Usage) -> str | None:
        """The text of one line of a stream; None for what is none."""
        if not line.startswith("data:") or line[5:].strip() == "[DONE]":
            return None
        record = self._parsed(line[5:])
        _count(record, usage)
        choices = record.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        usage.finish = str(choice.get("finish_reason") or usage.finish)
        text = _text_of(choice.get("delta"))
        if not text:
            return None
        if not record.get("usage"):
            usage.tokens_out += len(text.split())
        return text

    def _whole(self, text: str, usage: Usage) -> Iterator[str]:
        """A completion that came in one piece."""
        record = self._parsed(text)
        try:
            choice = record["choices"][0]
            if not isinstance(choice["message"], dict):
                raise TypeError
            content = _text_of(choice["message"])
            usage.finish = str(choice.get("finish_reason") or "stop")
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise _FaultError(self._nonsense(), passing=True) from error
        usage.tokens_out = len(content.split())
        _count(record, usage)
        yield content

    def _parsed(self, text: str) -> dict[str, Any]:
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _FaultError(self._nonsense(), passing=True) from error
        if not isinstance(record, dict):
            raise _FaultError(self._nonsense(), passing=True)
        if record.get("error"):
            said = _said(json.dumps(record["error"]))
            raise _FaultError(f"The chat endpoint stopped with the message {said!r}; try again later.", passing=True)
        return record

    # what went wrong -------------------------------------------------------------------------

    def _refusal(self, status: int, headers: Mapping[str, str], text: str, body: Mapping[str, Any]) -> _FaultError:
        said, lowered = _said(text), text.lower()
        if status in (400, 415, 422, 501):
            for name in _OPTIONAL:
                if name in body and re.search(rf"\b{name}\b|\b{name.replace('_', ' ')}\b", lowered):
                    return _FaultError(said, refused=name)
            if "context" in lowered or "too long" in lowered or "maximum" in lowered:
                return _FaultError(
                    f"The chat endpoint refused the call with status {status}: the prompt is too long for the model "
                    f"{self.name}; ask for fewer paths or choose another model."
                )
            if "response_format" in body:  # the newest of the parameters, and not named by every endpoint
                return _FaultError(said, refused="response_format")
            return _FaultError(f"The chat endpoint refused the call with status {status} and the message {said!r}.")
        if status == 429 and ("quota" in lowered or "billing" in lowered):
            return _FaultError(
                f"The account at the chat endpoint has no quota left (status {status}); look at it there."
            )
        if status == 429:
            message = f"The chat model {self.name} has too much to do (status 429); wait a little and ask again."
            return _FaultError(message, passing=True, wait=_seconds(headers))
        if status >= 500 or status in (408, 409, 425):
            message = f"The chat endpoint failed with status {status}; try again later or ask whoever runs it."
            return _FaultError(message, passing=True, wait=_seconds(headers))
        if status in (401, 403):
            return _FaultError(f"The chat endpoint refused the call with status {status}; check OPENAI_API_KEY.")
        if 300 <= status < 400:
            return _FaultError(f"The chat endpoint sends us elsewhere (status {status}); check OPENAI_BASE_URL.")
        return _FaultError(
            f"The chat endpoint refused the call with status {status}; check KGDEMO_CHAT_MODEL and OPENAI_BASE_URL."
        )

    def _nonsense(self) -> str:
        return f"The chat model {self.name} answered something that is no chat completion; check OPENAI_BASE_URL."

    def _broke_off(self) -> str:
        return f"The chat model {self.name} broke off in the middle of its reply; ask again, or look at the server."

    def _silent(self) -> str:
        seconds = min(self.settings.timeout, self.settings.longest)
        return f"The chat model {self.name} did not answer within {seconds:g} seconds; try again later."


class _Reader:
    """One request, read by a thread of its own, so that whoever waits for it can stop waiting.

    Attributes:
        status, headers: of the response; 0 and empty before it has come.
        begun: part of the reply has come.
        done: the stream was ended as the protocol has it.
    """

    def __init__(self, client: openai.OpenAI, body: Mapping[str, Any]) -> None:
        self.status, self.begun, self.done = 0, False, False
        self.headers: Mapping[str, str] = {}
        self._came: queue.Queue[object] = queue.Queue()
        self._sockets: list[Any] = []
        self._given_up = threading.Event()
        threading.Thread(target=self._read, args=(client, dict(body)), daemon=True).start()

    def lines(self, deadline: float) -> Iterator[str]:
        """The lines that come, until the response ends; an empty one for each moment in which none does.

        Raises:
            TimeoutError: they do not end in time.
            OverflowError: there are far too many.
            httpx.HTTPError: the connection failed.
        """
        buffer, size = b"", 0
        while True:
            try:
                item = self._came.get(timeout=max(0.0, min(BEAT, deadline - time.monotonic())))
            except queue.Empty:
                if time.monotonic() >= deadline:
                    raise TimeoutError from None
                yield ""
                continue
            if item is _END or isinstance(item, Exception):
                self._came.put(_END)  # for ``rest``, which then need not wait
                if buffer.strip():
                    yield self._line(buffer)
                if isinstance(item, Exception):
                    raise item
                return
            if isinstance(item, bytes):
                size += len(item)
                if size > _LARGEST:
                    raise OverflowError
                *whole, buffer = (buffer + item).split(b"\n")
                for line in whole:
                    if line.strip():
                        yield self._line(line)

    def rest(self) -> list[str]:
        """What has come of the response so far, for a message."""
        found = []
        with suppress(queue.Empty):
            while isinstance(item := self._came.get(timeout=1.0), bytes):
                found.append(item.decode("utf-8", "replace"))
        return found

    def close(self) -> None:
        """Shut the connection; the thread ends by that."""
        self._given_up.set()
        for stream in self._sockets:
            with suppress(OSError, AttributeError):
                stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)

    def _line(self, line: bytes) -> str:
        text = line.decode("utf-8", "replace").strip("\r")
        if text.startswith("data:"):
            self.begun = True
            self.done = self.done or text[5:].strip() == "[DONE]"
        return text

    def _read(self, client: openai.OpenAI, body: dict[str, Any]) -> None:
        _current.reader = self
        accepted = {"Accept": "text/event-stream, application/json"}
        try:
            request_manager = client.chat.completions.with_streaming_response.create(**body, extra_headers=accepted)
            with request_manager as response:
                self.status, self.headers = response.status_code, response.headers
                for part in response.iter_bytes():
                    self._came.put(part)
                    if self._given_up.is_set():
                        return
            self._came.put(_END)
        except openai.APIStatusError as error:
            self.status, self.headers = error.response.status_code, error.response.headers
            self._came.put(error.response.content[:_LARGEST])
            self._came.put(_END)
        except openai.APIConnectionError as error:
            self._came.put(error.__cause__ or error)
        except Exception as error:  # noqa: BLE001  # whatever it is, the one who waits has to know
            self._came.put(error)

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Called by the HTTP library at each step; remembers the connection."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete", ".connect_unix_socket.complete")):
            self._sockets.append(info["return_value"])
            if self._given_up.is_set():
                self.close()


def _paused(seconds: float) -> Iterator[str]:
    """Wait, with an empty piece now and then at which the stream can be closed."""
    while seconds > 0:
        time.sleep(min(seconds, BEAT))
        seconds -= BEAT
        yield ""


def _watch(request: httpx.Request) -> None:
    """Called before each request: the reader that sends it is told of its connection."""
    request.extensions["trace"] = _current.reader.trace


def _text_of(message: object) -> str:
    """What a message, or a piece of one, says.

    Text stands in ``content``, whole or in parts of which those that hold reasoning are none of the reply. Without any,
    it may stand in ``refusal``, or in the call of a function that nobody offered. Reasoning apart is not read.
    """
    if not isinstance(message, dict):
        return ""
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    if content:
        return str(content)
    calls = message.get("tool_calls")
    called = [call.get("function") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    given = "".join(str(function.get("arguments") or "") for function in called if isinstance(function, dict))
    return given or str(message.get("refusal") or "")


def _count(record: Mapping[str, Any], usage: Usage) -> None:
    """Take over the endpoint's own count of tokens, where it gives one."""
    counted = record.get("usage")
    if isinstance(counted, dict):
        usage.tokens_in = int(counted.get("prompt_tokens") or usage.tokens_in)
        usage.tokens_out = int(counted.get("completion_tokens") or usage.tokens_out)


def _seconds(headers: Mapping[str, str]) -> float:
    """What ``Retry-After`` asks for, in seconds or until a date; 0 where it says nothing that is understood."""
    asked = headers.get("retry-after", "0")
    with suppress(ValueError):
        return max(0.0, float(asked))
    with suppress(ValueError, TypeError):
        return max(0.0, parsedate_to_datetime(asked).timestamp() - time.time())
    return 0.0


def _said(text: str) -> str:
    """The endpoint's own words, short and on one line."""
    found = re.search(r'"message"\s*:\s*"((?:[^"\\]|\\.)*)"', text)
    plain = re.sub(r"<[^>]*>|[\x00-\x1f\x7f]+", " ", found[1] if found else text)
    return " ".join(plain.split())[:160]
