"""Graphs that no machine here could hold: read-only verbs, stores behind them, and a graph filled from these."""
