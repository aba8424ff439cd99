"""FiDeLiS: faithful reasoning step by step, retrieved and deduced (Sui et al. 2025).

The search walks the graph and asks ``decisions``; it decodes nothing itself.
Begin with ``run`` in ``method.py``; in ``decisions.py`` Path-RAG proposes steps and a reasoner takes them.
"""

from kgdemo.methods.fidelis.method import FidelisOptions, run

__all__ = ["FidelisOptions", "run"]
