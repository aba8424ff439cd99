"""The settings of a training run, and its learning rate over time."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """One training run.

    Attributes:
        steps: optimiser steps in all.
        batch_size: examples a step.
        learning_rate: the highest, reached after the warm-up.
        warmup: share of the steps spent warming up (GCR: 0.03).
        floor: learning rate at the end, as a share of the highest.
        weight_decay: AdamW's.
        negatives: sampled vocabulary a step; 0 scores the whole vocabulary.
        longest: examples of more tokens are passed over; few, but a whole batch is padded to them.
        entity_weight: loss weight of entity tokens (see ``batches.Encoder``).
        answer_share: share of the examples that go on to the answer (see ``batches.Encoder``).
        save_every: steps between checkpoints.
        measure_every: steps between measurements on the development questions, where a recipe has some.
        seed: of data, dropout and sampling.
    """

    steps: int = 4000
    batch_size: int = 48
    learning_rate: float = 5e-4
    warmup: float = 0.03
    floor: float = 0.05
    weight_decay: float = 0.01
    negatives: int = 2048
    longest: int = 80
    entity_weight: float = 0.4
    answer_share: float = 0.3
    save_every: int = 250
    measure_every: int = 500
    seed: int = 7


def schedule(progress: float, config: TrainConfig) -> float:
    """Learning rate at a point of the run (0 to 1) as a share of the highest: linear warm-up, then a cosine."""
    if progress < config.warmup:
        return max(progress, 1e-4) / config.warmup
    turn = (progress - config.warmup) / (1 - config.warmup)
    return config.floor + (1 - config.floor) * 0.5 * (1 + math.cos(math.pi * turn))
