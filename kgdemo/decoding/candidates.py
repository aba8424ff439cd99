"""What may follow all beams at once, on the model's device: one ragged gather in place of a mask.

GCR equation 7 masks the vocabulary of every beam. Here the allowed token ids of all beams lie one behind
the other, each with the row of its beam, so a step costs what the graph allows and not K times V; a step
without a constraint costs nothing but its own top-k. Only the chosen candidates come to the host, in one copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgdemo.constraint.base import Successors


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token that may follow a beam.

    Attributes:
        score: of the path with it; see ``BeamSettings``.
        beam: which of the beams it continues.
        index: its place among that beam's successors (its id, where the whole vocabulary may follow).
        log_prob: of this token, full vocabulary.
    """

    score: float
    beam: int
    index: int
    log_prob: float


@dataclass(frozen=True, slots=True)
class Ragged:
    """The allowed tokens of several beams, one behind the other; free beams have none here.

    Attributes:
        ids: token ids, int64, ``(n,)``.
        rows: the beam each belongs to, int64, ``(n,)``.
        offsets: beam ``i`` owns ``offsets[i]:offsets[i + 1]``, on the host, ``(beams + 1,)``.
    """

    ids: Tensor
    rows: Tensor
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, followers: Sequence[Successors], device: torch.device) -> Ragged:
        """Lay the successors out on a device, in one copy."""
        counts = [0 if f.tokens is None else len(f.tokens) for f in followers]
        offsets = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=offsets[1:])
        flat = np.empty((2, int(offsets[-1])), np.int64)
        allowed = [f.tokens for f in followers if f.tokens is not None]
        if allowed:
            np.concatenate(allowed, out=flat[0], casting="same_kind")
        flat[1] = np.repeat(np.arange(len(counts)), counts)
        ids, rows = torch.from_numpy(flat).to(device)
        return cls(ids, rows, offsets)

    def logsumexp(self, values: Tensor) -> Tensor:
        """Of each beam's stretch of ``values`` (n,), log-probabilities in double precision; ``(beams,)``."""
        # doubles hold exp(-700), so no maximum need be taken out first
        sums = values.new_zeros(len(self.offsets) - 1).index_add_(0, self.rows, values.exp())
        return sums.clamp_(min=torch.finfo(values.dtype).tiny).log_()


def best_candidates(
    log_probs: Tensor, followers: Sequence[Successors], scores: Sequence[float], most: int, graph_normalised: bool
) -> list[Candidate]:
    """The best continuations over all beams, best first; ties go to the lower beam, then the lower index.

    Args:
        log_probs: full-vocabulary log-probabilities behind each beam, ``(beams, V)``.
        followers: what may follow each.
        scores: of each beam so far.
        most: how many to return at most.
        graph_normalised: see ``BeamSettings``.
    """
    wide = torch.float32 if log_probs.device.type == "mps" else torch.float64  # sums of many log-probabilities
    start = torch.tensor(scores, dtype=wide, device=log_probs.device)
    found: list[Candidate] = []
    free = [beam for beam, allowed in enumerate(followers) if allowed.tokens is None]
    if free:
        found += _free(log_probs, start, free, most)
    if len(free) < len(followers):
        found += _bound(log_probs, followers, start, most, graph_normalised)
    return sorted(found, key=lambda c: (-c.score, c.beam, c.index))[:most]


def _free(log_probs: Tensor, start: Tensor, free: list[int], most: int) -> list[Candidate]:
    rows = log_probs if len(free) == len(log_probs) else log_probs[free]
    values, ids = rows.topk(min(most, rows.shape[1]), dim=1)
    scores = start[free][:, None] + values
    table = torch.stack([scores, ids.to(scores.dtype), values.to(scores.dtype)], dim=-1).tolist()
    return [
        Candidate(score, beam, int(token), value)
        for beam, row in zip(free, table, strict=True)
        for score, token, value in row
    ]


def _bound(
    log_probs: Tensor, followers: Sequence[Successors], start: Tensor, most: int, graph_normalised: bool
) -> list[Candidate]:
    ragged = Ragged.of(followers, log_probs.device)
    if not len(ragged.ids):
        return []
    values = log_probs[ragged.rows, ragged.ids].to(start.dtype)
    inside = [graph_normalised and f.inside_entity for f in followers]
    if any(inside):
        share = torch.tensor(inside, device=start.device)
        start = start.where(~share, start - ragged.logsumexp(values))
    scores = start[ragged.rows] + values
    best, places = scores.topk(min(most + 1, len(scores)))
    chosen = _table(scores, values, places)
    if len(chosen) > most and chosen[-1][0] == chosen[-2][0]:
        # top-k takes any of equal scores, and some of these were left out: look at all that are as good
        chosen = _table(scores, values, (scores >= best[-1]).nonzero()[:, 0])
    chosen = sorted(chosen, key=lambda row: (-row[0], row[1]))[:most]
    beams = np.searchsorted(ragged.offsets, [place for _, place, _ in chosen], side="right") - 1
    return [
        Candidate(score, beam, int(place) - int(ragged.offsets[beam]), value)
        for (score, place, value), beam in zip(chosen, beams.tolist(), strict=True)
    ]


def _table(scores: Tensor, values: Tensor, places: Tensor) -> list[list[float]]:
    """Score, place and log-probability of some candidates, copied to the host at once."""
    return torch.stack([scores[places], places.to(scores.dtype), values[places]], dim=-1).tolist()


def forbidden_mass(log_probs: Tensor, ragged: Ragged) -> Tensor:
    """The probability that the constraint takes away from each beam, 0..1, ``(beams,)``."""
    inside = log_probs[ragged.rows, ragged.ids].exp()
    return (1.0 - inside.new_zeros(len(log_probs)).index_add(0, ragged.rows, inside)).clamp(min=0.0)


def split_best(log_probs: Tensor, ragged: Ragged, most: int) -> tuple[list[list[tuple[int, float]]], ...]:
    """The most probable allowed and the most probable forbidden tokens of each beam, with log-probabilities.

    Args:
        log_probs: of the beams whose stretches are in ``ragged``, ``(beams, V)``.
        ragged: what each allows.
        most: how many of either for each beam.
    """
    allowed = torch.full_like(log_probs, -torch.inf)
    inside = log_probs[ragged.rows, ragged.ids]
    allowed[ragged.rows, ragged.ids] = inside
    forbidden = log_probs.clone()
    forbidden[ragged.rows, ragged.ids] = -torch.inf
    values, ids = torch.stack([allowed, forbidden]).topk(min(most, log_probs.shape[1]), dim=-1)
    tables = torch.stack([ids.to(torch.float64), values.to(torch.float64)], dim=-1).tolist()
    return tuple([[(int(i), v) for i, v in row if v > -torch.inf] for row in table] for table in tables)
