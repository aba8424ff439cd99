"""Graphs that no machine here could hold: read-only verbs, SPARQL and Cypher stores behind them, and a graph filled from these."""
