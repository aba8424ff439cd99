"""The chat model behind an OpenAI-compatible endpoint; ``openai`` is imported here and nowhere else."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
from openai import (
    APIConnectionError,
    APIError,
    APIStatusError,
    APITimeoutError,
    InternalServerError,
    OpenAI,
    RateLimitError,
)

from kgdemo.errors import EndpointError
from kgdemo.models.chat import Usage
from kgdemo.settings import ChatSettings


class OpenAIChat:
    """Any OpenAI-compatible endpoint.

    Args:
        settings: where it is and what it is called.
    """

    def __init__(self, settings: ChatSettings) -> None:
        self.name = settings.model
        self.settings = settings
        self._client = OpenAI(
            api_key=settings.api_key or "none",
            base_url=settings.base_url or None,
            timeout=settings.timeout,
            max_retries=0,  # a visitor waits: say at once that it failed
        )

    def close(self) -> None:
        """Let go of the connection; nothing can be asked afterwards."""
        self._client.close()

    def stream(self, prompt: str, usage: Usage) -> Iterator[str]:
        """See ``ChatModel``."""
        usage.tokens_in, usage.tokens_out = len(prompt.split()), 0
        try:
            yield from self._pieces(prompt, usage)
        except (APIError, httpx.HTTPError, ValueError, AttributeError, TypeError, IndexError) as error:
            raise EndpointError(self._complaint(error, begun=usage.tokens_out > 0)) from error

    def _pieces(self, prompt: str, usage: Usage) -> Iterator[str]:
        """The reply as it comes, with whatever the client raises."""
        began, chunks = time.monotonic(), 0
        with self._client.chat.completions.create(
            model=self.name,
            messages=[{"role": "user", "content": prompt}],
            temperature=0.0,
            stream=True,
            stream_options={"include_usage": True},
        ) as reply:
            for chunk in reply:
                chunks += 1
                if chunk.usage is not None:
                    usage.tokens_in, usage.tokens_out = chunk.usage.prompt_tokens, chunk.usage.completion_tokens
                text = chunk.choices[0].delta.content if chunk.choices else None
                if text:
                    if chunk.usage is None:
                        usage.tokens_out += len(text.split())
                    yield text
                if time.monotonic() - began > self.settings.longest:
                    raise EndpointError(
                        f"The chat model {self.name} was still writing after {self.settings.longest:g} seconds; "
                        "ask for fewer paths or choose a faster model."
                    )
        if not chunks:  # a web page, say: no event of the protocol was in it
            raise ValueError("no chunk")

    def _complaint(self, error: Exception, begun: bool) -> str:
        """What went wrong, in one sentence that says what to do.

        Args:
            error: of the client, or of httpx beneath it, which not every version of the client wraps.
            begun: part of the reply had come.
        """
        if isinstance(error, (APITimeoutError, httpx.TimeoutException)):
            return (
                f"The chat model {self.name} did not answer within {self.settings.timeout:g} seconds; try again later."
            )
        if isinstance(error, (APIConnectionError, httpx.HTTPError)) and begun:
            return f"The chat model {self.name} broke off in the middle of its reply; ask again, or look at the server."
        if isinstance(error, (APIConnectionError, httpx.HTTPError)):
            where = self.settings.base_url or "the OpenAI service"
            return f"The chat model {self.name} cannot be reached at {where}; check OPENAI_BASE_URL and the server."
        if isinstance(error, RateLimitError):
            return f"The chat model {self.name} has too much to do (status 429); wait a little and ask again."
        if isinstance(error, InternalServerError):
            return f"The chat endpoint failed with status {error.status_code}; try again later or ask whoever runs it."
        if isinstance(error, APIStatusError):
            return (
                f"The chat endpoint refused the call with status {error.status_code}; "
                "check OPENAI_API_KEY and KGDEMO_CHAT_MODEL."
            )
        return f"The chat model {self.name} answered something that is no chat completion; check OPENAI_BASE_URL."
