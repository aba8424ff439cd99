"""Reasoning methods and reasoners. Importing this package registers every method."""

from __future__ import annotations

from kgdemo.reasoning import (
    baselines_free,
    baselines_retrieval,
    baselines_rog,
    baselines_tog,
    dog,
    fidelis,
    gcr,
    grounding,
)
from kgdemo.reasoning.base import METHODS, World, method_named
from kgdemo.reasoning.reasoner import reasoner_for

__all__ = [
    "METHODS",
    "World",
    "baselines_free",
    "baselines_retrieval",
    "baselines_rog",
    "baselines_tog",
    "dog",
    "fidelis",
    "gcr",
    "grounding",
    "method_named",
    "reasoner_for",
]
