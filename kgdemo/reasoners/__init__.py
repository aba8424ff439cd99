"""Who takes a method's decisions: a language model that is asked in words, or the embedded reasoner, which needs none.

A reasoner knows questions, options and numbered paths; it walks no graph and controls no search.
Begin with ``base.py``, which declares what every reasoner can do, and fills in what a chat model is told (``prompts``);
``decisions.py`` is how methods ask one, and ``parsing.py`` is how a chat model's replies are read.
"""
