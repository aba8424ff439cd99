"""A token tree over one KV pool: batch of one, the prompt read once, a beam is a node.

Each new token is one more query row that may look at the prompt, at its ancestors and at itself; rows
of other beams lie in the same pool behind the mask. Nothing is ever copied or reordered when beams
are. Works for every model that takes a 4-D attention mask and explicit positions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from transformers import DynamicCache

from kgdemo.models.base import PROMPT_END


class PooledTokenTree:
    """See ``base.TokenTree``.

    Args:
        model: a transformers causal language model in evaluation mode.
        prompt: token ids.
        bidirectional: let the prompt's tokens see one another in both directions.
    """

    def __init__(self, model: torch.nn.Module, prompt: Sequence[int], bidirectional: bool) -> None:
        self.model = model
        self.device = next(model.parameters()).device
        self.prompt_length = len(prompt)
        self.cache = DynamicCache()
        self.depths: list[int] = []  # position of each node, counted from the start of the prompt
        self.calls = 0
        self._visible = np.zeros((64, 64), bool)  # (nodes, nodes): ancestors and self; on the host, sent row by row
        ids = torch.tensor([list(prompt)], device=self.device)
        mask = torch.ones(len(prompt), len(prompt), dtype=torch.bool, device=self.device)
        self._first = self._forward(ids, torch.arange(len(prompt)), mask if bidirectional else mask.tril(), 1)[-1]

    @property
    def size(self) -> int:
        """See ``base.TokenTree``."""
        return len(self.depths)

    def prompt_log_probs(self) -> Tensor:
        """See ``base.TokenTree``."""
        return self._first

    def extend(self, parents: Sequence[int], tokens: Sequence[int]) -> tuple[list[int], Tensor]:
        """See ``base.TokenTree``."""
        first, count = len(self.depths), len(tokens)
        self._reserve(first + count)
        nodes = list(range(first, first + count))
        for node, parent in zip(nodes, parents, strict=True):
            if parent == PROMPT_END:
                self.depths.append(self.prompt_length)
            else:
                self.depths.append(self.depths[parent] + 1)
                self._visible[node] = self._visible[parent]
            self._visible[node, node] = True
        mask = np.ones((count, self.prompt_length + first + count), bool)
        mask[:, self.prompt_length :] = self._visible[first : first + count, : first + count]
        ids = torch.tensor([list(tokens)], device=self.device)
        positions = torch.tensor(self.depths[first:])
        return nodes, self._forward(ids, positions, torch.from_numpy(mask).to(self.device), count)

    def follow(self, parent: int, tokens: Sequence[int]) -> tuple[list[int], Tensor]:
        """See ``base.TokenTree``."""
        first = len(self.depths)
        nodes, log_probs = self.extend([parent, *range(first, first + len(tokens) - 1)], tokens)
        return nodes, log_probs[-1]

    def _reserve(self, nodes: int) -> None:
        have = len(self._visible)
        if nodes > have:
            size = max(nodes, 2 * have)
            grown = np.zeros((size, size), bool)
            grown[:have, :have] = self._visible
            self._visible = grown

    @torch.inference_mode()
    def _forward(self, ids: Tensor, positions: Tensor, may_look: Tensor, keep: int) -> Tensor:
        """Run (1, n) tokens that may look as ``may_look`` (n, pool) says.

        Returns:
            fp32 log-probabilities of what follows each of the last ``keep`` tokens, ``(keep, V)``.
        """
        self.calls += 1
        dtype = self.model.dtype
        mask = torch.zeros(may_look.shape, dtype=dtype, device=self.device)
        mask.masked_fill_(~may_look, torch.finfo(dtype).min)
        output = self.model(
            input_ids=ids,
            attention_mask=mask[None, None],
            position_ids=positions.to(self.device)[None],
            past_key_values=self.cache,
            use_cache=True,
            logits_to_keep=keep,
        )
        return torch.log_softmax(output.logits[0].float(), dim=-1)
