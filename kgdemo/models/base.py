"""The seam between language models and everything that uses them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from kgdemo.constraint.label_tokens import LabelTokens
from kgdemo.models.prompt_style import PromptStyle

PROMPT_END = -1  # the node to extend for the first token after the prompt


class TokenTree(Protocol):
    """Continuations of one prompt: a tree of tokens, each scored once."""

    @property
    def size(self) -> int:
        """Nodes so far; those that the next call appends are numbered from here on."""
        ...

    @property
    def calls(self) -> int:
        """Forward passes so far, that of the prompt among them."""
        ...

    def prompt_log_probs(self) -> Tensor:
        """Log-probabilities of the first token after the prompt, ``(V,)``."""
        ...

    def extend(self, parents: Sequence[int], tokens: Sequence[int]) -> tuple[list[int], Tensor]:
        """Append one token to each parent.

        Args:
            parents: node ids, or ``PROMPT_END``; also ids of nodes that stand earlier in this very call.
            tokens: the token appended to each.

        Returns:
            the new nodes' ids, and full-vocabulary log-probabilities of what follows each, ``(n, V)``.
        """
        ...

    def follow(self, parent: int, tokens: Sequence[int]) -> tuple[list[int], Tensor]:
        """Append tokens one behind the other, read in one pass.

        Returns:
            the new nodes' ids, and log-probabilities of what follows the last, ``(V,)``.
        """
        ...


def read_chain(tree: TokenTree, parent: int, tokens: Sequence[int]) -> tuple[list[int], Tensor]:
    """``TokenTree.follow`` by ``extend``: each token stands behind the one before it."""
    nodes, log_probs = tree.extend([parent, *range(tree.size, tree.size + len(tokens) - 1)], tokens)
    return nodes, log_probs[-1]


class PathModel(Protocol):
    """A language model that writes reasoning paths."""

    name: str
    label_tokens: LabelTokens
    style: PromptStyle
    stop_ids: frozenset[int]
    context: int  # positions for prompt and text together
    vocabulary: int  # size of the log-probabilities

    @property
    def on_gpu(self) -> bool:
        """Whether it computes on something faster than this machine's processor."""
        ...

    @property
    def pooled(self) -> bool:
        """Whether its trees read every token once (``tree``), not whole texts again (``plain``)."""
        ...

    def tree(self, prompt: Sequence[int]) -> TokenTree:
        """Read the prompt once and return the tree of its continuations."""
        ...

    def token_text(self, token: int) -> str:
        """A token as shown to a person; a leading space is kept."""
        ...
