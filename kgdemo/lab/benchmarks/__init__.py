"""Benchmarks: the engine beside the reference approach in one process, random decodes without end, a page under load.

They use every other room, and nothing but the command line runs them; a row is reported, never asserted. Begin with
``comparison.py``: how two ways are timed side by side, and what the reference approach is.
"""
