"""Benchmarks: the engine beside the reference approach, random decodes without end, the whole product tried hard.

They use every other room, and nothing but the command line runs them; a row is reported, never asserted. Begin with
``comparison.py``: how two ways are timed side by side, what the reference approach is, and what both are run on.
"""
