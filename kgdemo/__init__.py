"""Faithful reasoning of language models on knowledge graphs: what may be said is decided by the graph."""
