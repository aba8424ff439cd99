"""Graphs that no machine here could hold: read-only verbs, a SPARQL store behind them, and a graph filled from it."""
