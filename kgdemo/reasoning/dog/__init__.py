"""DoG: decoding on graphs (Li et al. 2025)."""

from kgdemo.reasoning.dog.method import run
from kgdemo.reasoning.dog.options import DogOptions, Visibility

__all__ = ["DogOptions", "Visibility", "run"]
