"""What the training of the parser and that of the rewriter share: rows of texts, batches, typing errors, steps."""

from __future__ import annotations

import argparse
import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TypeVar

import torch
from torch import Tensor

from kgdemo.models.embedding import sentence_embedder
from kgdemo.query.translator import READ, Translator, load

_AT_ONCE = 128  # texts that the encoder reads together
logger = logging.getLogger(__name__)
T = TypeVar("T", bound=Translator)


def add_typos(text: str, random: Random) -> str:
    """A text as people may type it: a small letter first, no mark at the end, a letter missing."""
    kind = random.random()
    if kind < 0.2:
        text = text[:1].lower() + text[1:]
    if kind < 0.1:
        text = text.rstrip("?.! ")
    place = random.randrange(len(text)) if text else 0
    if random.random() < 0.04 and text[place : place + 1].islower():
        text = text[:place] + text[place + 1 :]
    return text


def token_rows(texts: Sequence[str], longest: int) -> list[Tensor]:
    """The rows of the encoder for each text, ``longest`` at most, in half precision; of one text made once."""
    different = sorted(dict.fromkeys(texts), key=len)
    batches = (different[first : first + _AT_ONCE] for first in range(0, len(different), _AT_ONCE))
    rows = (row for batch in batches for row in sentence_embedder().rows(batch, READ))
    made = {text: row[:longest].half() for text, row in zip(different, rows, strict=True)}
    return [made[text] for text in texts]


def padded(rows: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Texts of several lengths as one tensor, and True where there is no token."""
    longest = max(map(len, rows))
    whole, padding = torch.zeros(len(rows), longest, rows[0].shape[1]), torch.ones(len(rows), longest, dtype=torch.bool)
    for place, own in enumerate(rows):
        whole[place, : len(own)], padding[place, : len(own)] = own.float(), False
    return whole, padding


def fit(network: T, loss_of: Callable[[T], Tensor], minutes: float, rate: float, warm_up: int) -> None:
    """Train a network, with a learning rate that rises and then falls as a cosine.

    Args:
        network: is trained.
        loss_of: its loss on a batch that is drawn for each step.
        minutes: for how long.
        rate: the highest learning rate.
        warm_up: steps until that.
    """
    optimiser = torch.optim.AdamW(network.parameters(), rate, betas=(0.9, 0.98), weight_decay=0.05)
    began, step = time.monotonic(), 0
    while (done := (time.monotonic() - began) / 60 / minutes) < 1:
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1, step / warm_up) * (1 + math.cos(math.pi * done)) / 2
        loss = loss_of(network)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        step += 1
        if step % 200 == 0:
            logger.info("step %d, %.0f %%: loss %.3f", step, 100 * done, loss.item())


@torch.no_grad()
def start_from(name: str, network: Translator, tokens: Sequence[str]) -> None:
    """Give a network the weights of the one that comes with this package; what it has for new tokens stays as it is.

    Args:
        name: of the weights.
        network: not trained yet.
        tokens: its vocabulary.
    """
    trained, known = load(type(network), name)
    there = {token: place for place, token in enumerate(known)}
    here = [place for place, token in enumerate(tokens) if token in there]
    before = trained.state_dict()
    for key, own in network.state_dict().items():
        if len(own) == len(tokens) and key in ("tokens.weight", "bias"):
            own[here] = before[key][[there[tokens[place]] for place in here]]
        else:
            own.copy_(before[key])


@dataclass(frozen=True, slots=True)
class Training:
    """What the command line says of a training.

    Attributes:
        minutes: for how long.
        anew: not from the weights that are there.
        folder: for the weights, if one is named.
    """

    minutes: float
    anew: bool
    folder: tuple[Path, ...]


def command_line(about: str | None, minutes: float) -> Training:
    """Read it; ``minutes`` are the default."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    options = argparse.ArgumentParser(description=(about or "").split("\n")[0])
    options.add_argument("--minutes", type=float, default=minutes)
    options.add_argument("--anew", action="store_true", help="begin from nothing, not from the weights that are there")
    options.add_argument("--out", type=Path, default=None, help="folder for the weights (default: where they are read)")
    chosen = options.parse_args()
    return Training(chosen.minutes, chosen.anew, (chosen.out,) if chosen.out else ())


def told(figures: Mapping[str, float]) -> str:
    """Figures as a line of a log."""
    return ", ".join(f"{name} {value:.3f}" for name, value in sorted(figures.items()))
