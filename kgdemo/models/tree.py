"""A token tree over one KV pool: batch of one, the prompt read once, a beam is a node.

Each new token is one more query row that may look at the prompt, at its ancestors and at itself; rows
of other beams lie in the same pool behind the mask. Nothing is ever copied or reordered when beams
are. The prompt is read with the first tokens asked for, so that a beginning that is known costs no
pass of its own. Works for every model that takes a 4-D attention mask and explicit positions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import DynamicCache

from kgdemo.models.base import PROMPT_END
from kgdemo.models.together import Pass, Together


class PooledTokenTree:
    """See ``base.TokenTree``.

    Args:
        model: a transformers causal language model in evaluation mode, or one that threads share.
        prompt: token ids.
        bidirectional: let the prompt's tokens see one another in both directions.
    """

    def __init__(self, model: torch.nn.Module, prompt: Sequence[int], bidirectional: bool) -> None:
        self.model = model if isinstance(model, Together) else Together(model)
        self.device = self.model.device
        self.prompt = tuple(prompt)
        self.bidirectional = bidirectional
        self.cache = DynamicCache()
        self.depths: list[int] = []  # position of each node, counted from the start of the prompt
        self.calls = 0
        self._visible = np.zeros((64, 64), bool)  # (nodes, nodes): ancestors and self; on the host, sent row by row
        self._first: Tensor | None = None

    @property
    def size(self) -> int:
        """See ``base.TokenTree``."""
        return len(self.depths)

    def prompt_log_probs(self) -> Tensor:
        """See ``base.TokenTree``."""
        if self._first is None:
            self._read([], [])
        assert self._first is not None
        return self._first

    def extend(self, parents: Sequence[int], tokens: Sequence[int]) -> tuple[list[int], Tensor]:
        """See ``base.TokenTree``."""
        first = len(self.depths)
        log_probs = self._read(parents, tokens)
        return list(range(first, len(self.depths))), log_probs

    def follow(self, parent: int, tokens: Sequence[int]) -> tuple[list[int], Tensor]:
        """See ``base.TokenTree``."""
        first = len(self.depths)
        nodes, log_probs = self.extend([parent, *range(first, first + len(tokens) - 1)], tokens)
        return nodes, log_probs[-1]

    def _read(self, parents: Sequence[int], tokens: Sequence[int]) -> Tensor:
        """Append tokens, and read the prompt along with them if it has not been read; ``(n, V)``."""
        first, begun = len(self.depths), self._first is not None
        self._append(parents)
        prompt = () if begun else self.prompt
        mask = np.ones((len(prompt) + len(tokens), len(self.prompt) + len(self.depths)), bool)
        mask[len(prompt) :, len(self.prompt) :] = self._visible[first : len(self.depths), : len(self.depths)]
        if prompt:
            mask[: len(prompt), len(prompt) :] = False
            if not self.bidirectional:
                mask[: len(prompt), : len(prompt)] = np.tri(len(prompt), dtype=bool)
        positions = [*range(len(prompt)), *self.depths[first:]]
        log_probs = self._forward([*prompt, *tokens], positions, mask, len(tokens) + (not begun))
        if not begun:
            self._first, log_probs = log_probs[0], log_probs[1:]
        return log_probs

    def _append(self, parents: Sequence[int]) -> None:
        """Add a node behind each parent: its depth and what it may look at."""
        self._reserve(len(self.depths) + len(parents))
        for parent in parents:
            node = len(self.depths)
            if parent == PROMPT_END:
                self.depths.append(len(self.prompt))
            else:
                self.depths.append(self.depths[parent] + 1)
                self._visible[node] = self._visible[parent]
            self._visible[node, node] = True

    def _reserve(self, nodes: int) -> None:
        have = len(self._visible)
        if nodes > have:
            size = max(nodes, 2 * have)
            grown = np.zeros((size, size), bool)
            grown[:have, :have] = self._visible
            self._visible = grown

    @torch.inference_mode()
    def _forward(self, ids: list[int], positions: list[int], may_look: NDArray[np.bool_], keep: int) -> Tensor:
        """Run n tokens that may look as ``may_look`` (n, pool) says.

        Returns:
            fp32 log-probabilities of what follows each of the last ``keep`` tokens, ``(keep, V)``.
        """
        self.calls += 1
        dtype = self.model.dtype
        mask = np.where(may_look, 0.0, torch.finfo(dtype).min)  # doubles: numpy knows no bfloat16
        wanted = Pass(
            input_ids=torch.tensor([ids], device=self.device),
            attention_mask=torch.from_numpy(mask).to(self.device, dtype)[None, None],
            position_ids=torch.tensor([positions], device=self.device),
            past_key_values=self.cache,
            logits_to_keep=keep,
        )
        return torch.log_softmax(self.model(wanted).float(), dim=-1)
