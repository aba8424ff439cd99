"""Looking ahead: nodes that the search will ask for are scored before it asks, in fewer and wider forward passes.

Most tokens of a path are forced, having one allowed child. A beam and the forced run behind it are read in one
pass (``forced``); with a budget, the most probable continuations of what is known come along too. The search
itself is unchanged: it is replayed over log-probabilities that are known already, so sequences, order and steps
are those of the step-wise search (GCR section 4.3; the pooled cache of ``models.tree`` makes it cheap). On
processors that are idle between small passes, such as GPUs, fewer passes are what counts.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from kgdemo.constraint.base import Constraint, State, Successors
from kgdemo.decoding.candidates import best_candidates
from kgdemo.models.base import PROMPT_END, TokenTree

if TYPE_CHECKING:  # beam.py imports this module
    from kgdemo.decoding.beam import BeamSettings, Hypothesis


@dataclass(slots=True)
class _Node:
    """A token scored, or about to be, and what is known behind it.

    Attributes:
        parent: id of the node before it in the token tree.
        token: what it appends.
        depth: tokens of the path up to and with it.
        state: where the constraint stands behind it.
        score: as the search ranks it; an estimate while its parent has not been scored.
        node: its own id, once planned.
        row: log-probabilities of what follows, ``(V,)``, once scored.
        children: those planned, by token.
    """

    parent: int
    token: int
    depth: int
    state: State
    score: float
    node: int = -1
    row: Tensor | None = None
    children: dict[int, _Node] = field(default_factory=dict)
    followers: Successors | None = None


class LookAhead:
    """Answers the search from nodes scored ahead, and decides what to score along with what is missing.

    Args:
        tree: the token tree that reads.
        constraint: says which tokens may follow.
        settings: those of the search: how far to look, how continuations rank, where paths are cut off.
    """

    def __init__(self, tree: TokenTree, constraint: Constraint, settings: BeamSettings) -> None:
        self.tree = tree
        self.constraint = constraint
        self.settings = settings
        self._ahead: dict[int, dict[int, _Node]] = {}  # by id of the node the search stands at, and token

    def begin(self, state: State) -> Tensor:
        """Read the prompt, and with it the forced beginning of every path.

        Args:
            state: where the constraint starts.

        Returns:
            log-probabilities of the first token, ``(1, V)``.
        """
        root = _Node(PROMPT_END, -1, 0, state, 0.0, node=PROMPT_END)
        if self.settings.look_ahead is not None:
            plan: list[_Node] = []
            end = self._run(self._chosen(root, plan), plan)
            if self.settings.look_ahead:
                self._spend(self.settings.look_ahead, [], [end], plan)
            self._read(plan)
        root.row = self.tree.prompt_log_probs()
        self._ahead = {PROMPT_END: root.children}
        return root.row[None]

    def extend(self, beams: Sequence[Hypothesis]) -> tuple[list[int], Tensor]:
        """Score the last token of each beam, whose ``node`` is still that of the token before.

        Returns:
            the new nodes' ids, and full-vocabulary log-probabilities of what follows each, ``(n, V)``.
        """
        if self.settings.look_ahead is None:
            return self.tree.extend([beam.node for beam in beams], [beam.tokens[-1] for beam in beams])
        wanted = []
        for beam in beams:
            node = self._ahead.get(beam.node, {}).get(beam.tokens[-1])
            wanted.append(node or _Node(beam.node, beam.tokens[-1], len(beam.tokens), beam.state, beam.score))
            wanted[-1].score = beam.score
        missing = [node for node in wanted if node.row is None]
        rows = self._score(missing, wanted) if missing else None
        self._ahead = {node.node: node.children for node in wanted}  # what the search has left behind is forgotten
        if rows is None or len(missing) < len(wanted):
            rows = torch.stack([row for node in wanted if (row := node.row) is not None])  # all are scored by now
        return [node.node for node in wanted], rows

    def _score(self, missing: Sequence[_Node], wanted: Sequence[_Node]) -> Tensor:
        """One pass over the missing nodes, and over what may be wanted next; the rows of the missing ones."""
        plan: list[_Node] = []
        for node in missing:
            self._plan(node, plan)
        ends = [self._run(node, plan) for node in missing]
        if self.settings.look_ahead:
            self._spend(self.settings.look_ahead, wanted, ends, plan)
        return self._read(plan)[: len(missing)]

    def _read(self, plan: Sequence[_Node]) -> Tensor:
        """Score what is planned in one pass; its rows, ``(n, V)``."""
        if not plan:
            return torch.empty(0)
        _, rows = self.tree.extend([node.parent for node in plan], [node.token for node in plan])
        for node, row in zip(plan, rows, strict=True):
            node.row = row
        return rows

    def _chosen(self, node: _Node, plan: list[_Node]) -> _Node:
        """Plan the tokens that the settings force on every path, as far as the constraint allows them; the last."""
        for token in self.settings.forced:
            allowed = self._followers(node).tokens
            found = [token] if allowed is None else np.flatnonzero(allowed == token).tolist()
            if not found or not self._worth_scoring(child := self._child(node, found[0], 0.0)):
                break
            self._plan(child, plan)
            node = child
        return node

    def _plan(self, node: _Node, plan: list[_Node]) -> None:
        node.node = self.tree.size + len(plan)
        plan.append(node)

    def _run(self, node: _Node, plan: list[_Node]) -> _Node:
        """Plan the forced run behind a node; its last node."""
        while (child := self._only_child(node)) is not None:
            self._plan(child, plan)
            node = child
        return node

    def _only_child(self, node: _Node) -> _Node | None:
        """The one child that anything may follow; an end mark beside it needs no scoring."""
        tokens = self._followers(node).tokens
        if tokens is None or len(tokens) > 2:
            return None
        children = [self._child(node, index, node.score) for index in range(len(tokens))]
        going = [child for child in children if self._worth_scoring(child)]
        return going[0] if len(going) == 1 else None

    def _spend(self, budget: int, wanted: Sequence[_Node], ends: Sequence[_Node], plan: list[_Node]) -> None:
        """Plan ``budget`` more nodes, the most probable first.

        Behind nodes scored already the model's probabilities are known; behind nodes of this very pass every
        allowed token is taken to be as probable as its siblings.
        """
        known = [node for root in wanted for node in _scored(root)]
        queue = [(-score, place, node, index) for place, (score, node, index) in enumerate(self._known(known, budget))]
        heapq.heapify(queue)
        pushed = len(queue)
        for end in ends:
            pushed = self._push(end, budget, queue, pushed)
        most = len(plan) + budget
        while queue and len(plan) < most:
            minus, _, parent, index = heapq.heappop(queue)
            child = self._child(parent, index, -minus)
            if child.node < 0 and self._worth_scoring(child):
                self._plan(child, plan)
                pushed = self._push(self._run(child, plan), budget, queue, pushed)

    def _known(self, nodes: Sequence[_Node], most: int) -> Iterator[tuple[float, _Node, int]]:
        """The best continuations behind scored nodes: score, node, index into what may follow it."""
        if not nodes:
            return
        rows = torch.stack([row for node in nodes if (row := node.row) is not None])
        followers = [self._followers(node) for node in nodes]
        scores = [node.score for node in nodes]
        for found in best_candidates(rows, followers, scores, most, self.settings.graph_normalised):
            node = nodes[found.beam]
            child = node.children.get(_token(followers[found.beam], found.index))
            if child is not None:
                child.score = found.score
            if child is None or child.row is None:
                yield found.score, node, found.index

    def _push(self, node: _Node, most: int, queue: list[tuple[float, int, _Node, int]], pushed: int) -> int:
        """Queue the children of a node that this pass will score; their probabilities are not known yet."""
        allowed = self._followers(node).tokens
        if allowed is None or not 0 < len(allowed) <= most:
            return pushed
        share = node.score - math.log(len(allowed))
        for index in range(len(allowed)):
            heapq.heappush(queue, (-share, pushed + index, node, index))
        return pushed + len(allowed)

    def _worth_scoring(self, node: _Node) -> bool:
        """Whether anything may follow it, within the length limit (and so within the model's context)."""
        return node.state.alive and node.depth < self.settings.max_tokens

    def _followers(self, node: _Node) -> Successors:
        if node.followers is None:
            node.followers = self.constraint.successors(node.state)
        return node.followers

    def _child(self, node: _Node, index: int, score: float) -> _Node:
        allowed = self._followers(node)
        token = _token(allowed, index)
        if token not in node.children:
            node.children[token] = _Node(node.node, token, node.depth + 1, allowed.take(index), score)
        return node.children[token]


def _token(allowed: Successors, index: int) -> int:
    return index if allowed.tokens is None else int(allowed.tokens[index])


def _scored(root: _Node) -> Iterator[_Node]:
    """The nodes at and behind ``root`` that have been scored."""
    if root.row is not None and root.state.alive:
        yield root
        for child in root.children.values():
            yield from _scored(child)
