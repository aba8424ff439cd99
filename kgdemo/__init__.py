"""Faithful reasoning of language models on knowledge graphs: what may be said is decided by the graph."""

__version__ = "0.1.0"
