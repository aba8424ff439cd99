"""A language-model head that scores a sample of the vocabulary while training.

On a CPU a third of a small model's time goes into logits of tokens that never occur. The tokens of the
batch are always scored; of the rest a uniform sample stands for all, its logits raised by the log of
how many tokens each stands for, so the softmax's denominator stays unbiased and the trained model
gives full-vocabulary probabilities (sampled softmax; Jean et al. 2015, section 3.2).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional


class SampledHead(nn.Module):
    """Wraps an output layer; ``ids`` None means the whole vocabulary."""

    def __init__(self, inner: nn.Linear) -> None:
        super().__init__()
        self.inner = inner
        self.ids: Tensor | None = None  # (S,) vocabulary ids scored in this step
        self.raise_by: Tensor | None = None  # (S,) added to the logits

    @property
    def weight(self) -> Tensor:
        """The full weight, where transformers looks for it when tying."""
        return self.inner.weight

    @property
    def bias(self) -> Tensor | None:
        """The full bias."""
        return self.inner.bias

    def sample(self, targets: Tensor, negatives: int, generator: torch.Generator) -> Tensor:
        """Choose the tokens to score.

        Args:
            targets: vocabulary ids that must be scored, any shape; negative ids are ignored.
            negatives: how many others to draw, with replacement.

        Returns:
            ``targets`` with each id replaced by its column among the scored tokens.
        """
        vocabulary = self.inner.weight.shape[0]
        needed = torch.unique(targets[targets >= 0])
        drawn = torch.randint(vocabulary, (negatives,), generator=generator)
        drawn = torch.unique(drawn)
        drawn = drawn[~torch.isin(drawn, needed)]
        stands_for = (vocabulary - len(needed)) / max(len(drawn), 1)
        self.ids = torch.cat([needed, drawn]).to(self.inner.weight.device)
        self.raise_by = torch.cat([torch.zeros(len(needed)), torch.full((len(drawn),), math.log(stands_for))])
        columns = torch.searchsorted(needed, targets.clamp(min=0))
        return torch.where(targets >= 0, columns, targets)

    def full(self) -> None:
        """Score the whole vocabulary again."""
        self.ids = self.raise_by = None

    def forward(self, hidden: Tensor) -> Tensor:
        """Logits of the scored tokens, ``(…, S)``."""
        if self.ids is None:
            return self.inner(hidden)
        bias = None if self.inner.bias is None else self.inner.bias[self.ids]
        logits = functional.linear(hidden, self.inner.weight[self.ids], bias)
        return logits + self.raise_by.to(logits)
