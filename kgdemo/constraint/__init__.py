"""The constraint: what a path may say next, read off the graph token by token (GCR section 4.2).

The KG automaton is the product; ``trie.py`` enumerates the same language and is its oracle, and ``triple_chains.py``
holds DoG's chains. Nothing here knows a model: tokens come in through ``label_tokens.py``. Begin with ``automaton.py``,
which has the seam to the search too.
"""
