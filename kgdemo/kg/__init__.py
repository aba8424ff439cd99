"""Knowledge graphs: labels, edges, every walk over them, edits, and the words for relations.

Code of other rooms asks ``KnowledgeGraph`` for steps, paths and labels and never walks the arrays itself; what a graph
holds must not change once it is built (``edits.apply`` makes a new one). Begin with ``graph.py``; how graphs are read
and saved is in ``kg/io``.
"""
