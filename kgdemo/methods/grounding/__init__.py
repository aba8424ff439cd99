"""Grounding LLM reasoning with knowledge graphs (Amayuelas et al. 2025): six methods that reason in steps.

A chain of thoughts reads the graph step by step; which step comes next is asked of ``decisions``.
Begin with ``method.py``; ``interactions.py`` has the two ways to interact with the graph.
"""

from kgdemo.methods.grounding import method as _registers_the_methods  # noqa: F401
from kgdemo.methods.grounding.chains import Evaluator, GroundingOptions, Strategy

__all__ = ["Evaluator", "GroundingOptions", "Strategy"]
