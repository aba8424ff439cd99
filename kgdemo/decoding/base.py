"""What every search shares: its settings, its hypotheses, the steps that it yields, and what may follow all its beams.

GCR equation 7 masks the vocabulary of every beam. Here one ragged gather stands in place of a mask: the allowed token
ids of all beams lie one behind the other, each with the row of its beam. Their log-probabilities are gathered on the
model's device and come to the host in one copy, so a step costs what the graph allows and not K times V; a step
without a constraint costs nothing but its own top-k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgdemo.constraint.automaton import State, Successors
from kgdemo.events import Fate
from kgdemo.models.base import PROMPT_END


@dataclass(frozen=True, slots=True)
class BeamSettings:
    """How to search.

    Attributes:
        beams: paths wanted (K), and live beams kept at each step.
        max_tokens: longest path in tokens, end mark included.
        length_penalty: a finished score is divided by its length, end mark included, to this power, as
            transformers does (with ``early_stopping="never"``); 0 ranks by probability.
        graph_normalised: inside entity labels, score tokens by their probability among those the graph
            allows. Which tail exists is the graph's to say, so a long or rare name costs a path nothing,
            and beams are spent on relations. False: full-vocabulary scores throughout, as in the papers.
        masked: how many of the most probable forbidden tokens to report for each beam; 0 saves the time.
        keep: how many complete paths to find; 0: as many as ``beams``. Whoever orders them by more than the
            score wants more than K to choose from; the live beams stay K.
        forced: tokens that every path begins with: scored and reported like any others, but not chosen by
            the search. ``beam.check_forced`` tells beforehand whether a constraint allows them.
        late_ends: let a path end wherever its end mark is among the 2K best continuations of a step, which are looked
            at so that K beams go on. False: only among the K best, as transformers' ``generate`` does, which so
            misses paths that are more probable than those it returns.
        look_ahead: None reads one token of each beam in a forward pass; 0 reads along with it what is certain to
            be asked for (forced runs, all that can follow where that is not too much); more is a budget of likely
            tokens scored ahead. What the search finds and yields is the same; see ``beam.LookAhead``.
    """

    beams: int = 10
    max_tokens: int = 256
    length_penalty: float = 0.0
    graph_normalised: bool = False
    masked: int = 0
    keep: int = 0
    forced: tuple[int, ...] = ()
    late_ends: bool = True
    look_ahead: int | None = 0

    @property
    def wanted(self) -> int:
        """How many complete paths the search is for."""
        return self.keep or self.beams


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A beam: the tokens after ``<PATH>``, their log-probabilities and where the constraint stands."""

    tokens: tuple[int, ...]
    log_probs: tuple[float, ...]
    state: State
    node: int = PROMPT_END  # the last token's; the last but one's until it has been scored
    score: float = 0.0  # what the search ranks by; see BeamSettings

    @property
    def total(self) -> float:
        """Sum of the log-probabilities."""
        return sum(self.log_probs)


@dataclass(frozen=True, slots=True)
class Choice:
    """One token considered at a step.

    Attributes:
        parent: index of the beam it continues, among the step's ``beams``.
        token: token id.
        log_prob: of this token, full vocabulary.
        score: total so far.
        fate: ``kept``, ``pruned`` or ``finished``.
    """

    parent: int
    token: int
    log_prob: float
    score: float
    fate: Fate


@dataclass(frozen=True, slots=True)
class BeamView:
    """What the constraint did to one live beam at one step.

    Attributes:
        hypothesis: the beam before the step.
        allowed: number of tokens that could follow; -1 where all could.
        forbidden_mass: the probability that the constraint took away, 0..1.
        masked: the most probable forbidden tokens with their log-probabilities.
        top: the most probable allowed tokens with theirs.
    """

    hypothesis: Hypothesis
    allowed: int
    forbidden_mass: float
    masked: tuple[tuple[int, float], ...] = ()
    top: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the search: the beams it started from and what became of the tokens considered."""

    number: int
    beams: tuple[BeamView, ...]
    choices: tuple[Choice, ...]
    live: tuple[Hypothesis, ...]
    finished: tuple[Hypothesis, ...]  # all so far, best first


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
    """The allowed tokens of several beams, one behind the other; unconstrained beams have none here. All on the host.

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
        found += _unconstrained(log_probs, scores, free, limit)
    if len(free) < len(followers):
        found += _constrained(log_probs, followers, scores, limit, graph_normalised)
    return sorted(found, key=lambda c: (-c.score, c.beam, c.index))[:limit] if free else found


def _unconstrained(log_probs: Tensor, scores: Sequence[float], free: list[int], limit: int) -> list[TokenCandidate]:
    rows = log_probs if len(free) == len(log_probs) else log_probs[free]
    values, ids = rows.topk(min(limit, rows.shape[1]), dim=1)
    return [
        TokenCandidate(scores[beam] + value, beam, token, value)
        for beam, tokens, row in zip(free, ids.tolist(), values.tolist(), strict=True)
        for token, value in zip(tokens, row, strict=True)
    ]


def _constrained(
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


def best_places(totals: NDArray[np.floating[Any]], limit: int) -> NDArray[np.int64]:
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
    forbidden = log_probs.clone()
    forbidden[rows, ids] = -torch.inf
    masses, tokens = (found.tolist() for found in forbidden.topk(min(limit, log_probs.shape[1]), dim=-1))
    left = [
        [(token, value) for token, value in zip(*pair, strict=True) if value > -torch.inf]
        for pair in zip(tokens, masses, strict=True)
    ]
    allowed = ragged.gather(log_probs).cpu().numpy()
    top = []
    for begins, ends in pairwise(ragged.offsets.tolist()):
        own = allowed[begins:ends]
        best = best_places(own, limit)
        top.append(list(zip(ragged.ids[begins:ends][best].tolist(), own[best].tolist(), strict=True)))
    return top, left
