"""From examples to padded tensors: prompts end and outputs begin in one column.

Prompts are padded on the left and outputs on the right, so the language-model head runs on the output
columns alone (``logits_to_keep``) for every architecture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

import torch
from torch import Tensor

from kgdemo.constraint.label_tokens import LabelTokens
from kgdemo.lab.training.examples import Example
from kgdemo.models.prompt_style import PromptStyle

IGNORED = -100


@dataclass(frozen=True, slots=True)
class EncodedExample:
    """Token ids of one example; ``weights`` says how much each output token counts in the loss."""

    prompt: list[int]
    output: list[int]
    weights: list[float]


@dataclass(frozen=True, slots=True)
class Batch:
    """B examples, P prompt columns, O output columns."""

    input_ids: Tensor  # (B, P + O)
    position_ids: Tensor  # (B, P + O)
    may_look: Tensor  # (B, 1, P + O, P + O), boolean
    targets: Tensor  # (B, O), IGNORED where padded
    weights: Tensor  # (B, O)

    def added_mask(self, dtype: torch.dtype) -> Tensor:
        """The mask as a number added to attention scores, ``(B, 1, P + O, P + O)``.

        Eager attention adds what it is given, so that a boolean mask would forbid nothing there; sdpa asks for
        the very type that it computes in.
        """
        return torch.zeros(self.may_look.shape, dtype=dtype).masked_fill_(~self.may_look, torch.finfo(dtype).min)


class Encoder:
    """Turns examples into token ids in the very form that decoding uses.

    Args:
        label_tokens: label tokenisation, shared with the constraint.
        style: the prompt.
        entity_weight: loss weight of entity tokens. Which relation to take is what a question tells;
            which of its tails exists is told by the graph when decoding.
        stop: token ids that end the answer.
        answer_share: share of the examples that go on to the hypothesis answer. It mostly repeats the
            path's end, is learnt at once, and its tokens cost as much as any.
    """

    def __init__(
        self,
        label_tokens: LabelTokens,
        style: PromptStyle,
        entity_weight: float,
        stop: Sequence[int],
        answer_share: float = 1.0,
    ) -> None:
        self.label_tokens, self.style, self.entity_weight, self.stop = label_tokens, style, entity_weight, list(stop)
        self.answer_share = answer_share
        self._label = lru_cache(maxsize=200_000)(lambda label: tuple(label_tokens.plain(" " + label)))
        self._answer_mark = list(label_tokens.special(style.answer_mark)) if style.answer_mark else []

    def __call__(self, example: Example, rng: Random) -> EncodedExample:
        """Encode one example; ``rng`` decides whether its answer is kept."""
        prompt = self.style.encode(self.label_tokens, example.question, example.topic_entities, example.topic_types)
        output: list[int] = []
        weights: list[float] = []

        def write(ids: Sequence[int], weight: float) -> None:
            output.extend(ids)
            weights.extend([weight] * len(ids))

        for place, label in enumerate(example.path):
            if place:
                write(self.label_tokens.arrow, 0.2)
            write(self._label(label), 1.0 if place % 2 else self.entity_weight)
        write(self.label_tokens.end, 1.0)
        if rng.random() >= self.answer_share:
            return EncodedExample(prompt, output, weights)
        write(self._answer_mark, 0.0)
        write([*self._label(example.answer), *self.stop], self.entity_weight)
        return EncodedExample(prompt, output, weights)


def collate(examples: Sequence[EncodedExample], pad: int, bidirectional: bool) -> Batch:
    """Pad examples into one batch; see the module's docstring for the layout."""
    prompts = max(len(e.prompt) for e in examples)
    outputs = max(len(e.output) for e in examples)
    rows, width = len(examples), prompts + outputs
    ids = torch.full((rows, width), pad)
    positions = torch.zeros((rows, width), dtype=torch.long)
    targets = torch.full((rows, outputs), IGNORED)
    weights = torch.zeros((rows, outputs))
    mask = torch.ones(width, width, dtype=torch.bool).tril().repeat(rows, 1, 1)  # (B, T, T)
    for row, example in enumerate(examples):
        start, stop = prompts - len(example.prompt), prompts + len(example.output)
        ids[row, start:stop] = torch.tensor(example.prompt + example.output)
        positions[row, start:stop] = torch.arange(stop - start)
        targets[row, : len(example.output)] = torch.tensor(example.output)
        weights[row, : len(example.output)] = torch.tensor(example.weights)
        if bidirectional:
            mask[row, start:prompts, start:prompts] = True
        mask[row, :, :start] = False
        mask[row, range(start), range(start)] = True  # a padding row must see something, or softmax is NaN
    return Batch(ids, positions, mask[:, None], targets, weights)
