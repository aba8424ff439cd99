"""Reasoning methods and reasoners. Importing this package registers every method."""

from __future__ import annotations

from kgdemo.reasoning import gcr
from kgdemo.reasoning.base import METHODS, World, method_named
from kgdemo.reasoning.reasoner import reasoner_for

__all__ = ["METHODS", "World", "gcr", "method_named", "reasoner_for"]
