"""Reasoning methods: one file for each system of the papers, and the registry that names them.

A method is a generator of events, ``run(query, resources, settings)``; it asks the reasoner for decisions and shows
nothing itself. Begin with ``gcr.py``, the main system; to add a method, write a file here and import it below.
"""

# Importing a method registers it; the order of the imports is the order in which methods are listed.
# isort: off
from kgdemo.methods import without_graph, retrieval, dog, fidelis, gcr, grounding  # noqa: F401
from kgdemo.methods.registry import METHODS, method_named

__all__ = ["METHODS", "method_named"]
