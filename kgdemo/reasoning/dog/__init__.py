"""DoG: decoding on graphs (Li et al. 2025)."""

from kgdemo.reasoning.dog.method import DogSettings, run

__all__ = ["DogSettings", "run"]
