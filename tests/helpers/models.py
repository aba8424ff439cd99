"""Tiny random-weight models and tokenisers; the soak of the benchmark uses the same."""

from __future__ import annotations

from collections.abc import Sequence

from kgdemo.decoding.base import Hypothesis
from kgdemo.decoding.beam import continuations
from kgdemo.lab.benchmarks.soak import CORPUS, FAMILIES, byte_level_tokenizer, random_model, wordpiece_tokenizer
from kgdemo.models.base import JointTree, TokenTree, read_out

__all__ = [
    "CORPUS",
    "FAMILIES",
    "byte_level_tokenizer",
    "greedy_continuations",
    "random_model",
    "wordpiece_tokenizer",
]


def greedy_continuations(
    tree: TokenTree,
    starts: Sequence[Hypothesis],
    suffix: Sequence[int],
    stop: frozenset[int],
    max_tokens: int,
    drafts: Sequence[Sequence[int]] = (),
) -> list[tuple[int, ...]]:
    """``continuations``, read by themselves."""
    return read_out(continuations(JointTree.of(tree), starts, suffix, stop, max_tokens, drafts))
