"""Benchmarks: our engine beside the reference approach in one process, and random decodes without end (``soak.py``)."""
