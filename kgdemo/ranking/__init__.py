"""Which path comes first, which paths of several topics belong together, and whether any path answers at all.

Everything here reads decoded paths, the graph and the ``Query``; no reasoner is asked and nothing is shown.
Begin with ``scorer.py``; ``graph_paths.py`` adds paths that are read from the graph (over relations that the path model
was not trained on) and orders those of several topics, and ``abstention.py`` decides when to give no answer.
"""
