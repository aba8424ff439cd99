"""Chat models: the general language model of GCR section 4.4 behind one small seam."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Protocol

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
from kgdemo.models.base import PROMPT_END, TokenTree
from kgdemo.models.causal import CausalModel
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
        """LabelTokens of the reply as they come; ``usage`` is filled in by the end.

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


# --------------------------------------------------------------------------------------------------
# A chat model on this machine: any causal language model with a chat template, by folder or hub name.


LONGEST_REPLY = 512  # tokens
_MIN_REPLY = 16
_SLOT = "{prompt}"
_HALF = "\ufffd"  # how a character is shown of which only some bytes have been written


class LocalChat:
    """See ``chat.ChatModel``; replies are greedy, as those of endpoints are asked at temperature 0.

    Args:
        causal: the language model.
        longest: longest reply in tokens.
    """

    def __init__(self, causal: CausalModel, longest: int = LONGEST_REPLY) -> None:
        self.causal, self.longest = causal, longest
        self.name = PurePath(causal.name).name
        template = getattr(causal.tokenizer, "chat_template", None)
        turn = [{"role": "user", "content": _SLOT}]
        shown = f"{_SLOT}\n"
        if template:
            shown = str(causal.tokenizer.apply_chat_template(turn, tokenize=False, add_generation_prompt=True))
        self._before, self._after = shown.split(_SLOT, 1)

    @classmethod
    def load(cls, name: str) -> LocalChat:
        """Load a model.

        Args:
            name: a folder, or a name on the Hugging Face hub.

        Raises:
            ModelError: there is no such model, or its files are damaged.
        """
        return cls(CausalModel.load(name))

    def encode(self, prompt: str) -> list[int]:
        """Token ids of a prompt in the chat template; its text cannot smuggle in special tokens.

        Raises:
            EndpointError: it leaves no room for a reply.
        """
        label_tokens = self.causal.label_tokens
        ids = [*label_tokens.special(self._before), *label_tokens.plain(prompt), *label_tokens.special(self._after)]
        if len(ids) + _MIN_REPLY > self.causal.context:
            raise EndpointError(
                f"A prompt of {len(ids):,} tokens is too long for the chat model {self.name}, which reads "
                f"{self.causal.context:,}; ask for fewer paths or choose another model."
            )
        return ids

    def tree(self, prompt: list[int]) -> TokenTree:
        """The token tree behind an encoded prompt, for decisions decoded under constraint."""
        return self.causal.tree(prompt)

    def stream(self, prompt: str, usage: Usage) -> Iterator[str]:
        """See ``ChatModel``."""
        ids = self.encode(prompt)
        usage.tokens_in, usage.tokens_out = len(ids), 0
        tree, decode = self.causal.tree(ids), self.causal.tokenizer.decode
        row, node, written, told = tree.prompt_log_probs(), PROMPT_END, [], ""
        for _ in range(min(self.longest, self.causal.context - len(ids))):
            token = int(row.argmax())
            if token in self.causal.stop_ids:
                break
            written.append(token)
            usage.tokens_out = len(written)
            (node,), rows = tree.extend([node], [token])
            row = rows[0]
            text = decode(written, skip_special_tokens=True)
            if text.startswith(told) and not text.endswith(_HALF):
                yield text[len(told) :]
                told = text
        text = decode(written, skip_special_tokens=True)
        if text != told:
            yield text[len(told) :]
