"""A token tree for models that take no 4-D attention mask: whole texts, read anew, in a right-padded batch.

Slower than ``tree`` (the prompt is read again with every text) and exact: padding stands behind the text, where
a causal model cannot see it. ``fits_pool`` tries a model out and says whether it needs this.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from kgdemo.models.base import PROMPT_END
from kgdemo.models.tree import PooledTokenTree


class PlainTokenTree:
    """See ``base.TokenTree``.

    Args:
        model: a transformers causal language model in evaluation mode.
        prompt: token ids.
    """

    def __init__(self, model: torch.nn.Module, prompt: Sequence[int]) -> None:
        self.model = model
        self.device = next(model.parameters()).device
        self.prompt = tuple(prompt)
        self.calls = 0
        self._texts: list[tuple[int, ...]] = []  # of each node: the tokens behind the prompt
        self._first: Tensor | None = None

    @property
    def size(self) -> int:
        """See ``base.TokenTree``."""
        return len(self._texts)

    def prompt_log_probs(self) -> Tensor:
        """See ``base.TokenTree``."""
        if self._first is None:
            self._first = self._read([()], [(0, len(self.prompt) - 1)])[0]
        return self._first

    def extend(self, parents: Sequence[int], tokens: Sequence[int]) -> tuple[list[int], Tensor]:
        """See ``base.TokenTree``."""
        first = len(self._texts)
        for parent, token in zip(parents, tokens, strict=True):
            before = () if parent == PROMPT_END else self._texts[parent]
            self._texts.append((*before, token))
        wanted = self._texts[first:]
        # a text that another one begins with is read along with it
        rows: dict[tuple[int, ...], int] = {}
        whole: list[tuple[int, ...]] = []
        for text in sorted(set(wanted), key=len, reverse=True):
            if text not in rows:
                rows.update({text[:end]: len(whole) for end in range(1, len(text) + 1)})
                whole.append(text)
        places = [(rows[text], len(self.prompt) + len(text) - 1) for text in wanted]
        nodes = list(range(first, len(self._texts)))
        if self._first is not None:
            return nodes, self._read(whole, places)
        self._first, *_ = log_probs = self._read(whole, [(0, len(self.prompt) - 1), *places])
        return nodes, log_probs[1:]

    def follow(self, parent: int, tokens: Sequence[int]) -> tuple[list[int], Tensor]:
        """See ``base.TokenTree``."""
        first = len(self._texts)
        nodes, log_probs = self.extend([parent, *range(first, first + len(tokens) - 1)], tokens)
        return nodes, log_probs[-1]

    @torch.inference_mode()
    def _read(self, texts: Sequence[tuple[int, ...]], places: Sequence[tuple[int, int]]) -> Tensor:
        """fp32 log-probabilities of what follows each place (text, position), ``(places, V)``."""
        self.calls += 1
        width = len(self.prompt) + max(map(len, texts))
        ids = torch.zeros(len(texts), width, dtype=torch.long)
        look = torch.zeros(len(texts), width, dtype=torch.long)
        for row, text in enumerate(texts):
            length = len(self.prompt) + len(text)
            ids[row, :length] = torch.tensor([*self.prompt, *text])
            look[row, :length] = 1
        output = self.model(input_ids=ids.to(self.device), attention_mask=look.to(self.device), use_cache=False)
        at_rows, at_columns = torch.tensor(places, device=self.device).unbind(1)
        return torch.log_softmax(output.logits[at_rows, at_columns].float(), dim=-1)


def fits_pool(model: torch.nn.Module) -> bool:
    """Whether a model reads forked texts right through one pool and a 4-D mask; tried on a few tokens.

    Models that ignore the mask, take positions from elsewhere or keep a state of their own do not: they raise,
    or see the tokens of other beams.
    """
    prompt, forks = [1, 2, 3], ([PROMPT_END, PROMPT_END, 0, 1], [4, 5, 6, 6])
    plain = PlainTokenTree(model, prompt).extend(*forks)[1]
    try:
        pooled = PooledTokenTree(model, prompt, False)
        first = pooled.extend(forks[0][:2], forks[1][:2])[1]
        second = pooled.extend(forks[0][2:], forks[1][2:])[1]
    except (TypeError, ValueError, RuntimeError, IndexError, AttributeError, NotImplementedError, KeyError):
        return False  # whatever its code makes of a mask and a cache that it does not know
    together = torch.cat([first, second])
    if together.shape != plain.shape:
        return False
    # one beam's tokens leaking into another's change far more than rounding does
    apart = (together.exp() - plain.exp()).abs().max()
    return bool(apart < (1e-4 if model.dtype == torch.float32 else 2e-2))
