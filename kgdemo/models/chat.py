"""Chat models: the general language model of GCR section 4.4 behind one small seam."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError, InternalServerError, OpenAI

from kgdemo.errors import EndpointError
from kgdemo.settings import ChatSettings


@dataclass(slots=True)
class Usage:
    """Tokens of one call; the endpoint's count where it gives one, else words."""

    tokens_in: int = 0
    tokens_out: int = 0


class ChatModel(Protocol):
    """Answers a prompt with streamed text."""

    name: str

    def stream(self, prompt: str, usage: Usage) -> Iterator[str]:
        """Pieces of the reply as they come; ``usage`` is filled in by the end.

        Raises:
            EndpointError: the model cannot be reached or answers nonsense.
        """
        ...


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
        where = self.settings.base_url or "the OpenAI service"
        nonsense = f"The chat model {self.name} answered something that is no chat completion; check OPENAI_BASE_URL."
        usage.tokens_in, usage.tokens_out = len(prompt.split()), 0
        chunks = 0
        try:
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
        except APITimeoutError as error:
            raise EndpointError(
                f"The chat model {self.name} did not answer within {self.settings.timeout:g} seconds; try again later."
            ) from error
        except APIConnectionError as error:
            raise EndpointError(
                f"The chat model {self.name} cannot be reached at {where}; check OPENAI_BASE_URL and the server."
            ) from error
        except InternalServerError as error:
            raise EndpointError(
                f"The chat endpoint failed with status {error.status_code}; try again later or ask whoever runs it."
            ) from error
        except APIStatusError as error:
            raise EndpointError(
                f"The chat endpoint refused the call with status {error.status_code}; "
                "check OPENAI_API_KEY and KGDEMO_CHAT_MODEL."
            ) from error
        except (APIError, ValueError, AttributeError, TypeError, IndexError) as error:
            raise EndpointError(nonsense) from error
        if not chunks:  # a web page, say: no event of the protocol was in it
            raise EndpointError(nonsense)
