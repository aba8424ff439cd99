"""Searches that go on behind text already written: a token tree seen from one of its nodes.

Nothing is read again: the key-value pool is that of the whole tree.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from kgdemo.models.base import PROMPT_END, TokenTree

_KEPT_ROWS = 64  # a row of log-probabilities is as long as the vocabulary


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

    @property
    def size(self) -> int:
        """See ``TokenTree``."""
        return self.tree.size

    @property
    def calls(self) -> int:
        """See ``TokenTree``."""
        return self.tree.calls

    def prompt_log_probs(self) -> Tensor:
        """See ``TokenTree``."""
        return self.root.log_probs

    def extend(self, parents: Sequence[int], tokens: Sequence[int]) -> tuple[list[int], Tensor]:
        """See ``TokenTree``."""
        return self.tree.extend([self.root.node if p == PROMPT_END else p for p in parents], tokens)

    def follow(self, parent: int, tokens: Sequence[int]) -> tuple[list[int], Tensor]:
        """See ``TokenTree``."""
        return self.tree.follow(self.root.node if parent == PROMPT_END else parent, tokens)


class Writer:
    """Walks a token tree along given tokens and remembers the nodes, so that hardly a token is read twice.

    Args:
        tree: the tree of one prompt.
    """

    def __init__(self, tree: TokenTree) -> None:
        self.tree = tree
        self._nodes: dict[tuple[int, ...], int] = {(): PROMPT_END}
        self._rows: OrderedDict[tuple[int, ...], Tensor] = OrderedDict()

    def at(self, tokens: tuple[int, ...]) -> Place:
        """The place behind ``tokens``, counted from the end of the prompt."""
        if not tokens:
            return Place(PROMPT_END, self.tree.prompt_log_probs())
        if tokens not in self._rows:
            # a node whose log-probabilities have been dropped is read again: one token
            known = next(n for n in range(len(tokens) - 1, -1, -1) if tokens[:n] in self._nodes)
            nodes, row = self.tree.follow(self._nodes[tokens[:known]], tokens[known:])
            self._nodes.update((tokens[: known + count], node) for count, node in enumerate(nodes, 1))
            self._rows[tokens] = row
            while len(self._rows) > _KEPT_ROWS:
                self._rows.popitem(last=False)
        return Place(self._nodes[tokens], self._rows[tokens])

    def behind(self, tokens: tuple[int, ...]) -> RootedTree:
        """The tree seen from there."""
        return RootedTree(self.tree, self.at(tokens))
