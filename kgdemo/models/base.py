"""The seam between language models and everything that uses them, and one token tree that several searches grow.

A pass over few tokens costs about the same whatever their number, since the weights are moved once. So searches that
share a ``JointTree`` read what each will need next in one pass. A search says which nodes it will need (``add``) before
it hands its step out, and asks for their log-probabilities (``read``) when it goes on. By then the other searches of
this tree have said theirs, and all come from one pass. A node that two searches add is one node.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor

from kgdemo.constraint.label_tokens import LabelTokens
from kgdemo.models.prompt_style import PromptStyle

PROMPT_END = -1  # the node to extend for the first token after the prompt
_KEPT = 4  # passes whose rows are kept for a search that comes later; a row is as long as the vocabulary


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


def extend_chain(tree: TokenTree, parent: int, tokens: Sequence[int]) -> tuple[list[int], Tensor]:
    """Append tokens one behind the other, read in one pass.

    Returns:
        the new nodes' ids, and log-probabilities of what follows the last, ``(V,)``.
    """
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


class JointTree:
    """A ``TokenTree`` that several searches grow, see above.

    Args:
        tree: the tree that is grown; what others append to it between ``add`` and ``read`` would shift the nodes' ids.
    """

    @classmethod
    def of(cls, tree: TokenTree) -> JointTree:
        """The tree itself where it is such a one."""
        return tree if isinstance(tree, cls) else cls(tree)

    def __init__(self, tree: TokenTree) -> None:
        self._tree = tree
        self._node_of: dict[tuple[int, int], int] = {}  # by parent and token
        self._token_of: dict[int, tuple[int, int]] = {}  # parent and token by node
        self._unread: list[tuple[int, int]] = []  # added, and next to be read; the first is the tree's next node
        self._passes: deque[tuple[int, Tensor]] = deque(maxlen=_KEPT)  # first node and rows (n, V) of each
        self._promised: dict[int, Tensor] = {}  # rows of known nodes that were added again and are yet to be asked for

    @property
    def size(self) -> int:
        """See ``TokenTree``; nodes not yet read are counted."""
        return self._tree.size + len(self._unread)

    @property
    def calls(self) -> int:
        """See ``TokenTree``."""
        return self._tree.calls

    def add(self, parent: int, token: int) -> int:
        """Append a token to a parent, to be read with the next pass; the node's id, an old one where it is known."""
        known = self._node_of.get((parent, token))
        if known is not None:
            kept = self._kept(known)
            if kept is not None:
                self._promised[known] = kept  # its pass may be gone by the time it is asked for
            if kept is not None or known >= self._tree.size:
                return known
        node = self.size
        self._node_of[parent, token] = node
        self._token_of[node] = parent, token
        self._unread.append((parent, token))
        return node

    def add_chain(self, parent: int, tokens: Sequence[int]) -> list[int]:
        """``add`` tokens one behind the other; their nodes."""
        nodes: list[int] = []
        for token in tokens:
            nodes.append(self.add(nodes[-1] if nodes else parent, token))
        return nodes

    def read(self, nodes: Sequence[int]) -> Tensor:
        """Full-vocabulary log-probabilities of what follows nodes that were added, ``(n, V)``."""
        if any(node >= self._tree.size for node in nodes):
            self._read_added()
        begins, ends = nodes[0], nodes[0] + len(nodes)
        if list(nodes) == list(range(begins, ends)):  # as most are: then nothing is copied
            for first, rows in self._passes:
                if first <= begins and ends <= first + len(rows):
                    return rows[begins - first : ends - first]
        return torch.stack([self._row(node) for node in nodes])

    def prompt_log_probs(self) -> Tensor:
        """See ``TokenTree``."""
        self._read_added()
        return self._tree.prompt_log_probs()

    def extend(self, parents: Sequence[int], tokens: Sequence[int]) -> tuple[list[int], Tensor]:
        """See ``TokenTree``."""
        self._read_added()
        return self._tree.extend(parents, tokens)

    def _read_added(self) -> None:
        if not self._unread:
            return
        first = self._tree.size
        parents, tokens = zip(*self._unread, strict=True)
        self._unread = []
        _, rows = self._tree.extend(parents, tokens)
        self._passes.append((first, rows))

    def _kept(self, node: int) -> Tensor | None:
        """The row of a node among the passes that are kept."""
        return next((rows[node - first] for first, rows in self._passes if first <= node < first + len(rows)), None)

    def _row(self, node: int) -> Tensor:
        """The row of a node that was read; one no longer kept is read again."""
        promised = self._promised.pop(node, None)
        known = self._kept(node) if promised is None else promised
        if known is not None:
            return known
        parent, token = self._token_of[node]
        return self._tree.extend([parent], [token])[1][0]


Result = TypeVar("Result")
Reading = Generator[None, None, Result]  # adds nodes to a joint tree, yields, reads them; again until it is done


def in_step(*readings: Reading[Any]) -> Reading[list[Any]]:
    """Several readings of one tree as one: what they add in a round is read in one pass.

    Returns:
        what each returns.
    """
    found: list[Any] = [None] * len(readings)
    under_way = dict(enumerate(readings))
    while under_way:
        for place, reading in list(under_way.items()):
            try:
                next(reading)
            except StopIteration as end:
                found[place] = end.value
                del under_way[place]
        if under_way:
            yield
    return found


def read_out(reading: Generator[Any, None, Result]) -> Result:
    """What a reading, or a search, returns when it runs by itself."""
    while True:
        try:
            next(reading)
        except StopIteration as end:
            result: Result = end.value
            return result
