"""FiDeLiS: faithful reasoning step by step, retrieved and deduced (Sui et al. 2025)."""

from kgdemo.reasoning.fidelis.method import run
from kgdemo.reasoning.fidelis.options import FidelisOptions

__all__ = ["FidelisOptions", "run"]
