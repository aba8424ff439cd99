"""Decoding: searches over a constraint, as generators that yield after every step.

``beam.py`` is the search that the page shows, with fewer and wider forward passes for the same result; ``searches.py``
has the others, and ``adapter.py`` gives the constraint to anybody's ``generate()``. A search starts no thread, stops
when it is closed and knows nothing of settings or events. Begin with ``beam.py``.
"""
