"""What may follow all beams at once: one ragged gather in place of a mask.

GCR equation 7 masks the vocabulary of every beam. Here the allowed token ids of all beams lie one behind
the other, each with the row of its beam. Their log-probabilities are gathered on the model's device and come to
the host in one copy, so a step costs what the graph allows and not K times V; a step without a constraint costs
nothing but its own top-k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgdemo.constraint.base import Successors


@dataclass(frozen=True, slots=True)
class TokenCandidate:
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
    """The allowed tokens of several beams, one behind the other; free beams have none here. All on the host.

    Attributes:
        ids: token ids, int64, ``(n,)``.
        rows: the beam each belongs to, int64, ``(n,)``.
        offsets: beam ``i`` owns ``offsets[i]:offsets[i + 1]``, ``(beams + 1,)``.
    """

    ids: NDArray[np.int64]
    rows: NDArray[np.int64]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, followers: Sequence[Successors[Any]]) -> Ragged:
        """Lay the successors out."""
        counts = [0 if f.tokens is None else len(f.tokens) for f in followers]
        offsets = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=offsets[1:])
        ids = np.empty(int(offsets[-1]), np.int64)
        allowed = [f.tokens for f in followers if f.tokens is not None]
        if allowed:
            np.concatenate(allowed, out=ids, casting="same_kind")
        return cls(ids, np.repeat(np.arange(len(counts)), counts), offsets)

    def gather(self, log_probs: Tensor) -> Tensor:
        """The log-probability of each token, ``(n,)``, out of ``(beams, V)``, on their device."""
        return log_probs.take(torch.from_numpy(self.rows * log_probs.shape[1] + self.ids).to(log_probs.device))

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of each beam's stretch of ``values`` (n,); ``(beams,)``."""
        return np.bincount(self.rows, values, len(self.offsets) - 1).astype(np.float64, copy=False)


def best_candidates(
    log_probs: Tensor, followers: Sequence[Successors[Any]], scores: Sequence[float], limit: int, graph_normalised: bool
) -> list[TokenCandidate]:
    """The best continuations over all beams, best first; ties go to the lower beam, then the lower index.

    Args:
        log_probs: full-vocabulary log-probabilities behind each beam, ``(beams, V)``.
        followers: what may follow each.
        scores: of each beam so far.
        limit: how many to return at most.
        graph_normalised: see ``BeamSettings``.
    """
    found: list[TokenCandidate] = []
    free = [beam for beam, allowed in enumerate(followers) if allowed.tokens is None]
    if free:
        found += _free(log_probs, scores, free, limit)
    if len(free) < len(followers):
        found += _bound(log_probs, followers, scores, limit, graph_normalised)
    return sorted(found, key=lambda c: (-c.score, c.beam, c.index))[:limit] if free else found


def _free(log_probs: Tensor, scores: Sequence[float], free: list[int], limit: int) -> list[TokenCandidate]:
    rows = log_probs if len(free) == len(log_probs) else log_probs[free]
    values, ids = rows.topk(min(limit, rows.shape[1]), dim=1)
    return [
        TokenCandidate(scores[beam] + value, beam, token, value)
        for beam, tokens, row in zip(free, ids.tolist(), values.tolist(), strict=True)
        for token, value in zip(tokens, row, strict=True)
    ]


def _bound(
    log_probs: Tensor, followers: Sequence[Successors[Any]], scores: Sequence[float], limit: int, graph_normalised: bool
) -> list[TokenCandidate]:
    ragged = Ragged.of(followers)
    values = ragged.gather(log_probs).cpu().numpy().astype(np.float64)  # sums of many log-probabilities follow
    start = np.array(scores)
    inside = np.array([graph_normalised and f.inside_entity for f in followers])
    if inside.any():
        # doubles hold exp(-700), so no maximum need be taken out first
        mass = np.maximum(ragged.sums(np.exp(values)), np.finfo(np.float64).tiny)
        start = np.where(inside, start - np.log(mass), start)
    totals = start[ragged.rows] + values
    places = best_places(totals, limit)
    beams = ragged.rows[places]
    table = zip(totals[places], beams, places - ragged.offsets[beams], values[places], strict=True)
    return [TokenCandidate(float(score), int(beam), int(index), float(value)) for score, beam, index, value in table]


def best_places(totals: NDArray[np.float64], limit: int) -> NDArray[np.int64]:
    """Where the ``limit`` best of ``totals`` (n,) stand, best first; ties go to the lower place."""
    places = np.arange(len(totals))
    if len(totals) > limit:
        places = np.flatnonzero(totals >= np.partition(totals, -limit)[-limit])  # with all that are as good as the last
    return places[np.argsort(-totals[places], kind="stable")][:limit]


def forbidden_mass(log_probs: Tensor, ragged: Ragged) -> list[float]:
    """The probability that the constraint takes away from each beam, 0..1."""
    allowed = ragged.sums(np.exp(ragged.gather(log_probs).cpu().numpy().astype(np.float64)))
    result: list[float] = (1.0 - allowed).clip(0.0).tolist()
    return result


def split_best(log_probs: Tensor, ragged: Ragged, limit: int) -> tuple[list[list[tuple[int, float]]], ...]:
    """The most probable allowed and the most probable forbidden tokens of each beam, with log-probabilities.

    Args:
        log_probs: of the beams whose stretches are in ``ragged``, ``(beams, V)``.
        ragged: what each allows.
        limit: how many of either for each beam.
    """
    rows, ids = (torch.from_numpy(part).to(log_probs.device) for part in (ragged.rows, ragged.ids))
    allowed = torch.full_like(log_probs, -torch.inf)
    allowed[rows, ids] = log_probs[rows, ids]
    forbidden = log_probs.clone()
    forbidden[rows, ids] = -torch.inf
    values, best = torch.stack([allowed, forbidden]).topk(min(limit, log_probs.shape[1]), dim=-1)
    found = zip(best.tolist(), values.tolist(), strict=True)
    return tuple(
        [[(i, v) for i, v in zip(*pair, strict=True) if v > -torch.inf] for pair in zip(*rows, strict=True)]
        for rows in found
    )
