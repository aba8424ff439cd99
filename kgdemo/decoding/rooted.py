"""Searches that go on behind text already written: a token tree seen from one of its nodes, and greedy search.

Nothing is read again: the key-value pool is that of the whole tree.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from kgdemo.constraint.base import Constraint
from kgdemo.decoding.beam import BeamView, Choice, Hypothesis, Step
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


def greedy_search(tree: TokenTree, constraint: Constraint, max_tokens: int) -> Generator[Step, None, Hypothesis]:
    """The most probable token that the constraint allows, one after another, until it is complete or dead.

    A beam of one is something else: it weighs an early end against all that might follow.

    Yields:
        each step.

    Returns:
        what was written; its state says whether it is complete or was cut off.
    """
    written = Hypothesis((), (), constraint.start())
    row = tree.prompt_log_probs()
    for number in range(max_tokens):
        if not written.state.alive or written.state.complete:
            break
        allowed = constraint.successors(written.state)
        if allowed.tokens is None:
            index = token = int(row.argmax())
        else:
            index = int(row[torch.from_numpy(allowed.tokens.astype(np.int64)).to(row.device)].argmax())
            token = int(allowed.tokens[index])
        log_prob = float(row[token])
        view = BeamView(written, -1 if allowed.tokens is None else len(allowed.tokens), 0.0)
        tokens, log_probs = (*written.tokens, token), (*written.log_probs, log_prob)
        grown = Hypothesis(tokens, log_probs, allowed.take(index), written.node, written.score + log_prob)
        if not grown.state.complete:
            nodes, rows = tree.extend([written.node], [token])
            grown, row = replace(grown, node=nodes[0]), rows[0]
        yield Step(number, (view,), (Choice(0, token, log_prob, grown.score, "kept"),), (grown,), ())
        written = grown
    return written
