"""The ragged gather against plain loops over beams and tokens, ties included."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.automaton import Successors
from kgdemo.decoding.base import Ragged, best_candidates, forbidden_mass, split_best


def slow_candidates(log_probs, followers, scores, limit, graph_normalised):
    """Every continuation of every beam, sorted."""
    found = []
    for beam, (row, allowed, score) in enumerate(zip(log_probs.tolist(), followers, scores, strict=True)):
        tokens = range(len(row)) if allowed.tokens is None else allowed.tokens.tolist()
        mass = 0.0
        if graph_normalised and allowed.inside_entity and allowed.tokens is not None and len(allowed.tokens):
            mass = math.log(sum(math.exp(row[token]) for token in tokens))
        found += [(score - mass + row[token], beam, index, row[token]) for index, token in enumerate(tokens)]
    return sorted(found, key=lambda c: (-c[0], c[1], c[2]))[:limit]


@st.composite
def steps(draw, free: bool):
    """Log-probabilities, successors and scores of a few beams; halves and quarters make many ties."""
    vocabulary = draw(st.integers(3, 12))
    beams = draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    levels = np.arange(-8, 0) / 2 if not free else -rng.random(10_000)
    log_probs = torch.tensor(rng.choice(levels, (beams, vocabulary), replace=not free), dtype=torch.float32)
    followers = []
    for _ in range(beams):
        tokens = np.flatnonzero(rng.random(vocabulary) < 0.6)
        if free and rng.random() < 0.5:
            tokens = None
        elif draw(st.booleans()) and len(tokens):
            tokens = tokens.astype(np.int32)
        followers.append(Successors(tokens, lambda i: i, tokens is not None and bool(rng.random() < 0.5)))
    return log_probs, followers, rng.choice([-1.5, -1.0, 0.0], beams).tolist()


@pytest.mark.parametrize("free", [False, True])
@settings(max_examples=300, deadline=None)
@given(data=st.data(), limit=st.integers(1, 8), graph_normalised=st.booleans())
def test_candidates_equal_the_sorted_list_of_all(free, data, limit, graph_normalised):
    log_probs, followers, scores = data.draw(steps(free))
    if graph_normalised:  # a logarithm of sums is not exact, so its ties would be a matter of rounding
        log_probs = log_probs - torch.rand(log_probs.shape, generator=torch.Generator().manual_seed(limit)) / 8
    expected = slow_candidates(log_probs, followers, scores, limit, graph_normalised)
    found = best_candidates(log_probs, followers, scores, limit, graph_normalised)
    assert [(c.beam, c.index) for c in found] == [(beam, index) for _, beam, index, _ in expected]
    assert [c.log_prob for c in found] == [log_prob for *_, log_prob in expected]
    assert [c.score for c in found] == pytest.approx([score for score, *_ in expected], abs=1e-6)


@settings(max_examples=100, deadline=None)
@given(data=st.data(), limit=st.integers(1, 8))
def test_what_is_forbidden_and_what_is_allowed(data, limit):
    log_probs, followers, _ = data.draw(steps(free=False))
    log_probs = log_probs - torch.rand(log_probs.shape, generator=torch.Generator().manual_seed(limit))
    log_probs = torch.log_softmax(log_probs, dim=-1)
    ragged = Ragged.of(followers)
    top, masked = split_best(log_probs, ragged, limit)
    mass = forbidden_mass(log_probs, ragged)
    for beam, (row, allowed) in enumerate(zip(log_probs.tolist(), followers, strict=True)):
        inside = set(allowed.tokens.tolist())
        ranked = sorted(enumerate(row), key=lambda pair: -pair[1])
        assert top[beam] == [(i, v) for i, v in ranked if i in inside][:limit]
        assert masked[beam] == [(i, v) for i, v in ranked if i not in inside][:limit]
        assert mass[beam] == pytest.approx(sum(math.exp(v) for i, v in ranked if i not in inside), abs=1e-5)


def test_a_beam_that_nothing_may_follow_has_no_candidates():
    followers = [Successors(np.empty(0, np.int64), lambda i: i), Successors(np.array([1]), lambda i: i)]
    found = best_candidates(torch.zeros(2, 3), followers, [0.0, -1.0], 4, False)
    assert [(c.beam, c.index, c.score) for c in found] == [(1, 0, -1.0)]
    assert best_candidates(torch.zeros(1, 3), followers[:1], [0.0], 4, False) == []
