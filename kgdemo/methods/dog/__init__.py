"""DoG: decoding on graphs (Li et al. 2025)."""

from kgdemo.methods.dog.chains import DogOptions, Visibility
from kgdemo.methods.dog.method import run

__all__ = ["DogOptions", "Visibility", "run"]
