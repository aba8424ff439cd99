"""Grounding LLM reasoning with knowledge graphs (Amayuelas et al. 2025): six methods."""

from kgdemo.methods.grounding import method as _registers_the_methods  # noqa: F401
from kgdemo.methods.grounding.chains import Evaluator, GroundingOptions, Strategy

__all__ = ["Evaluator", "GroundingOptions", "Strategy"]
