"""FiDeLiS: faithful reasoning step by step, retrieved and deduced (Sui et al. 2025)."""

from kgdemo.methods.fidelis.method import FidelisOptions, run

__all__ = ["FidelisOptions", "run"]
