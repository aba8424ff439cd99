"""DoG: decoding on graphs (Li et al. 2025).

The search decodes chains of triples under a constraint that grows with the chain; no reasoner is asked on the way.
Begin with ``run`` in ``method.py``; ``chains.py`` holds the chains and ``scripts.py`` how a model writes them.
"""

from kgdemo.methods.dog.chains import DogOptions, Visibility
from kgdemo.methods.dog.method import run

__all__ = ["DogOptions", "Visibility", "run"]
