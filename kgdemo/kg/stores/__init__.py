"""Graphs that no machine here could hold: read-only verbs, stores behind them, and a graph filled from these.

No query text comes from a visitor, and what the verifier asks goes by a connection of its own. Begin with ``base.py``,
the verbs that every store has; ``graph.py`` fills the graph from it. ``io/catalogue.py`` finds a store by its name.
"""
