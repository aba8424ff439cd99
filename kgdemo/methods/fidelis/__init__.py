"""FiDeLiS: faithful reasoning step by step, retrieved and deduced (Sui et al. 2025).

The search walks the graph and asks ``decisions``; it decodes nothing itself.
Begin with ``run`` in ``method.py``; ``path_rag.py`` proposes steps and ``decisions.py`` takes them.
"""

from kgdemo.methods.fidelis.method import FidelisOptions, run

__all__ = ["FidelisOptions", "run"]
