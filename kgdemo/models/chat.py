"""The general language model of GCR section 4.4 behind one small seam, and such a model on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Protocol

import torch
from torch import Tensor

from kgdemo.errors import EndpointError
from kgdemo.models.base import PROMPT_END, TokenTree
from kgdemo.models.causal import CausalModel


@dataclass(slots=True)
class Usage:
    """What one reply cost and how it ended.

    Attributes:
        tokens_in, tokens_out: the endpoint's count where it gives one, else words.
        calls: how often it was asked, because of faults that passed.
        restarts: how often the reply began anew; the pieces before the last restart are void.
        finish: why it ended, in the protocol's words: ``stop``, ``length`` where it was cut; empty if unknown.
    """

    tokens_in: int = 0
    tokens_out: int = 0
    calls: int = 1
    restarts: int = 0
    finish: str = ""


BEAT = 0.5  # seconds of silence after which a stream shows that it is still waiting


class ChatModel(Protocol):
    """Answers a prompt with streamed text.

    Attributes:
        name: as the page names it.
        at_once: how many prompts may be put to it side by side.
        samples: a temperature makes its replies differ.
        structured: it keeps to a JSON schema, as far as is known.
    """

    name: str
    at_once: int
    samples: bool
    structured: bool

    def stream(
        self, prompt: str, usage: Usage, temperature: float = 0.0, schema: Mapping[str, Any] | None = None
    ) -> Iterator[str]:
        """Pieces of the reply as they come; ``usage`` is filled in by the end.

        While nothing comes, empty pieces may: whoever waits can close the stream there.

        Args:
            prompt: what is asked.
            usage: filled in; its ``restarts`` grows where a reply broke off and begins anew.
            temperature: 0 for the likeliest reply; ignored by a model that does not sample.
            schema: JSON schema of the reply; ignored by a model that does not keep to one.

        Raises:
            EndpointError: the model cannot be reached or answers nonsense.
        """
        ...


def whole_reply(chunks: Iterator[str], usage: Usage) -> Iterator[str]:
    """The reply as far as it has come, after each piece; shorter again where it began anew."""
    text, restarts = "", usage.restarts
    for piece in chunks:
        if usage.restarts != restarts:
            text, restarts = "", usage.restarts
        text += piece
        yield text


LONGEST_REPLY = 512  # tokens
_MIN_REPLY = 16
_SLOT = "{prompt}"
_HALF = "\ufffd"  # how a character is shown of which only some bytes have been written


class LocalChat:
    """See ``ChatModel``; what it decides among options is decoded under constraint, not by a schema.

    Args:
        causal: the language model.
        longest: longest reply in tokens.
    """

    at_once, samples, structured = 1, True, False

    def __init__(self, causal: CausalModel, longest: int = LONGEST_REPLY) -> None:
        self.causal, self.longest = causal, longest
        self._draws = torch.Generator().manual_seed(0)  # the same questions in the same order get the same samples
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

    def stream(
        self, prompt: str, usage: Usage, temperature: float = 0.0, schema: Mapping[str, Any] | None = None
    ) -> Iterator[str]:
        """See ``ChatModel``."""
        ids = self.encode(prompt)
        usage.tokens_in, usage.tokens_out = len(ids), 0
        tree, decode = self.causal.tree(ids), self.causal.tokenizer.decode
        row, node, written, streamed = tree.prompt_log_probs(), PROMPT_END, [], ""
        usage.finish = "length"
        for _ in range(min(self.longest, self.causal.context - len(ids))):
            token = self._next(row, temperature)
            if token in self.causal.stop_ids:
                usage.finish = "stop"
                break
            written.append(token)
            usage.tokens_out = len(written)
            (node,), rows = tree.extend([node], [token])
            row = rows[0]
            text = decode(written, skip_special_tokens=True)
            if text.startswith(streamed) and not text.endswith(_HALF):
                yield text[len(streamed) :]
                streamed = text
        text = decode(written, skip_special_tokens=True)
        if text != streamed:
            yield text[len(streamed) :]

    def _next(self, log_probs: Tensor, temperature: float) -> int:
        """The likeliest token, or one drawn at a temperature."""
        if not temperature:
            return int(log_probs.argmax())
        return int((log_probs.cpu() / temperature).softmax(-1).multinomial(1, generator=self._draws))
