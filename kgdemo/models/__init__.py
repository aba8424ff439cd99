"""Language models behind one small seam: a token tree that is extended node by node, and log-probabilities.

``causal.py`` loads anything that transformers loads, the embedded model without it; ``chat.py`` and ``endpoint.py`` are
general models, ``embedding.py`` the sentence embeddings. What belongs to one model (prompt, calibrated weights, known
relations) lies beside its weights and is read by ``prompt_style.py``. Begin with ``base.py``.
"""
