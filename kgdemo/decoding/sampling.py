"""Sampling several continuations of one prompt at once, step by step like the beam search.

Self-consistency (Wang et al. 2023) lets a model write several chains at random and takes the answer that
most of them reach. A seed makes a run repeatable.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kgdemo.constraint.base import Constraint
from kgdemo.decoding.beam import BeamView, Choice, Hypothesis, Step
from kgdemo.models.base import TokenTree


@dataclass(frozen=True, slots=True)
class SamplingSettings:
    """How to draw.

    Attributes:
        count: chains.
        max_tokens: longest chain, end mark included; one cut off there is none.
        temperature: 1 draws by the model's own probabilities, less prefers the likelier tokens.
        seed: of the draws.
    """

    count: int = 10
    max_tokens: int = 64
    temperature: float = 0.7
    seed: int = 0


def sample(
    tree: TokenTree, constraint: Constraint, settings: SamplingSettings
) -> Generator[Step, None, list[Hypothesis]]:
    """Draw ``settings.count`` chains, each by itself; two may be the same.

    Yields:
        each step; chains already at their end take no part.

    Returns:
        the chains that came to an end, in the order they did. Scores are log-probabilities at temperature 1.
    """
    rng = torch.Generator().manual_seed(settings.seed)
    start = constraint.start()
    live = [Hypothesis((), (), start)] * settings.count if start.alive else []
    log_probs = tree.prompt_log_probs()[None].expand(len(live), -1)
    finished: list[Hypothesis] = []
    for number in range(settings.max_tokens if live else 0):
        choices, going, counts = [], [], []
        for parent, (chain, row) in enumerate(zip(live, log_probs, strict=True)):
            allowed = constraint.successors(chain.state)
            counts.append(-1 if allowed.tokens is None else len(allowed.tokens))
            index, token = _draw(row, allowed.tokens, settings.temperature, rng)
            log_prob, state = float(row[token]), allowed.take(index)
            grown = Hypothesis(
                (*chain.tokens, token), (*chain.log_probs, log_prob), state, chain.node, chain.score + log_prob
            )
            fate = "finished" if state.complete else "kept" if state.alive else "pruned"
            choices.append(Choice(parent, token, log_prob, grown.score, fate))
            if fate == "finished":
                finished.append(grown)
            elif fate == "kept":
                going.append(grown)
        views = tuple(BeamView(chain, count, 0.0) for chain, count in zip(live, counts, strict=True))
        if going:
            nodes, log_probs = tree.extend([c.node for c in going], [c.tokens[-1] for c in going])
            going = [
                Hypothesis(c.tokens, c.log_probs, c.state, node, c.score) for c, node in zip(going, nodes, strict=True)
            ]
        yield Step(number, views, tuple(choices), tuple(going), tuple(finished))
        live = going
        if not live:
            break
    return finished


def _draw(row: Tensor, allowed: np.ndarray | None, temperature: float, rng: torch.Generator) -> tuple[int, int]:
    """One token: its index among the allowed ones, and its id."""
    scores = row.cpu() if allowed is None else row.cpu()[torch.from_numpy(allowed.astype(np.int64))]
    index = int(torch.multinomial(torch.softmax(scores / temperature, dim=-1), 1, generator=rng))
    return index, index if allowed is None else int(allowed[index])
