"""Linking: from the words of a question to entities of the graph.

Names are found (``words.py``, ``names.py``, ``matching.py``), every match is weighed (``features.py``), and the best
ones that do not overlap are taken (``linker.py``; ``stores.py`` where a store finds the names). The lists in ``data``
may be added to; weights are changed only with figures from ``evaluate --link-only``. Begin with ``linker.py``.
"""
