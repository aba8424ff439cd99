"""Language models behind one small seam: a token tree that is extended node by node, and log-probabilities.

``causal.py`` loads anything that transformers or vLLM loads, the embedded model without them; ``chat.py`` and
``endpoint.py`` are general models, ``embedding.py`` the sentence embeddings. What belongs to one model (prompt,
calibrated weights, known relations) lies beside its weights. Begin with ``base.py``, which says what a path model is.
"""
