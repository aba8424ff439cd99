"""DoG: decoding on graphs (Li et al. 2025)."""

from kgdemo.reasoning.dog.method import DogOptions, run
from kgdemo.reasoning.dog.writing import Visibility

__all__ = ["DogOptions", "Visibility", "run"]
