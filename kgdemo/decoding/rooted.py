"""A token tree seen from one of its nodes, so that a search can go on behind text already written.

Nothing is read again: the key-value pool is that of the whole tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from kgdemo.models.base import PROMPT_END, TokenTree


@dataclass(frozen=True, slots=True)
class Place:
    """A node of a token tree and the log-probabilities of what follows it."""

    node: int
    log_probs: Tensor  # (V,)


class RootedTree:
    """See ``models.base.TokenTree``: ``tree`` with ``root`` in the prompt's place.

    Args:
        tree: the whole tree.
        root: where the search begins.
    """

    def __init__(self, tree: TokenTree, root: Place) -> None:
        self.tree = tree
        self.root = root

    def prompt_log_probs(self) -> Tensor:
        """See ``TokenTree``."""
        return self.root.log_probs

    def extend(self, parents: Sequence[int], tokens: Sequence[int]) -> tuple[list[int], Tensor]:
        """See ``TokenTree``."""
        return self.tree.extend([self.root.node if p == PROMPT_END else p for p in parents], tokens)


class Writer:
    """Walks a token tree along given tokens and remembers every place, so that no token is read twice.

    Args:
        tree: the tree of one prompt.
    """

    def __init__(self, tree: TokenTree) -> None:
        self.tree = tree
        self._places: dict[tuple[int, ...], Place] = {(): Place(PROMPT_END, tree.prompt_log_probs())}

    def at(self, tokens: Sequence[int]) -> Place:
        """The place behind ``tokens``, counted from the end of the prompt."""
        known = next(n for n in range(len(tokens), -1, -1) if tuple(tokens[:n]) in self._places)
        place = self._places[tuple(tokens[:known])]
        for count in range(known, len(tokens)):
            nodes, log_probs = self.tree.extend([place.node], [tokens[count]])
            place = Place(nodes[0], log_probs[0])
            self._places[tuple(tokens[: count + 1])] = place
        return place

    def behind(self, tokens: Sequence[int]) -> RootedTree:
        """The tree seen from there."""
        return RootedTree(self.tree, self.at(tokens))
