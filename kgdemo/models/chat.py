"""Chat models: the general language model of GCR section 4.4 behind one small seam."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Protocol

from kgdemo.errors import EndpointError
from kgdemo.models.base import PROMPT_END, TokenTree
from kgdemo.models.causal import CausalModel


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
