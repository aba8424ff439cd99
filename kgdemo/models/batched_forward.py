"""One model for everybody who asks at the same time: the forward passes that wait go together.

Threads that ask take turns at the model, a forward pass a turn, so that two questions never fight for the same
cores. Whoever gets the turn does all that is waiting at this moment: nobody waits longer than for the pass under
way and the next, and with few rows each, one pass over the rows of several questions costs little more than over
those of one, since the weights are moved once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from transformers import Cache


class KeyValues:
    """Keys and values of one text's tokens so far, layer by layer: what the lean models need of a cache."""

    def __init__(self) -> None:
        self._layers: list[tuple[Tensor, Tensor]] = []

    def update(self, key: Tensor, value: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        """Append to a layer's keys and values, ``(1, heads, n, each)``; returns all of them."""
        if layer == len(self._layers):
            self._layers.append((key, value))
        else:
            keys, values = self._layers[layer]
            self._layers[layer] = torch.cat([keys, key], dim=-2), torch.cat([values, value], dim=-2)
        return self._layers[layer]


@dataclass(frozen=True, slots=True)
class Pass:
    """A forward pass over n tokens of one text, in transformers' names.

    Attributes:
        input_ids, position_ids: ``(1, n)``.
        attention_mask: added to the attention scores, ``(1, 1, n, pool)``.
        past_key_values: keys and values so far; those of these tokens are added.
        logits_to_keep: for how many of the last tokens logits are wanted.
    """

    input_ids: Tensor
    attention_mask: Tensor
    position_ids: Tensor
    past_key_values: KeyValues | Cache
    logits_to_keep: int


@dataclass(slots=True, eq=False)
class PendingForward:
    """A pass somebody waits for, and what came of it."""

    wanted: Pass
    logits: Tensor | None = None
    done: bool = False
    error: Exception | None = None


class BatchedForward(nn.Module):
    """A model as all threads share it.

    Args:
        model: a transformers causal language model, or its lean form.
        read: reads several passes in one and returns the logits of each; None: they are done one after another.
    """

    def __init__(self, model: nn.Module, read: Callable[[Sequence[Pass]], list[Tensor]] | None = None) -> None:
        super().__init__()
        self.model = model
        self.dtype = model.dtype
        self.device = next(model.parameters()).device
        self._read = read
        self._turn, self._guard = threading.Lock(), threading.Lock()
        self._waiting: list[PendingForward] = []

    def new_cache(self) -> KeyValues | Cache:
        """An empty cache of the kind that the model reads with."""
        if self._read is not None:
            return KeyValues()
        from transformers import DynamicCache  # only models of transformers come here; its import takes seconds

        return DynamicCache()

    def forward(self, wanted: Pass) -> Tensor:
        """Logits of the pass's last tokens, ``(kept, V)``; what other threads wait for is done along with it.

        Raises:
            Exception: whatever the model raised over this pass, or over one read together with it.
        """
        pending = PendingForward(wanted)
        with self._guard:
            self._waiting.append(pending)
        with self._turn:
            if not pending.done:
                with self._guard:
                    batch, self._waiting = self._waiting, []
                for group in [batch] if self._read else [[one] for one in batch]:
                    self._serve(group)
        if pending.error is not None:
            raise pending.error
        assert pending.logits is not None
        return pending.logits

    def _serve(self, group: Sequence[PendingForward]) -> None:
        try:
            found = self._read([one.wanted for one in group]) if self._read else [self._alone(group[0].wanted)]
            for one, logits in zip(group, found, strict=True):
                one.logits = logits
        except Exception as error:  # noqa: BLE001  # handed to those who asked, whichever thread did the work
            for one in group:
                one.error = error
        for one in group:
            one.done = True

    def _alone(self, wanted: Pass) -> Tensor:
        result: Tensor = self.model(
            input_ids=wanted.input_ids,
            attention_mask=wanted.attention_mask,
            position_ids=wanted.position_ids,
            past_key_values=wanted.past_key_values,
            use_cache=True,
            logits_to_keep=wanted.logits_to_keep,
        ).logits[0]
        return result
