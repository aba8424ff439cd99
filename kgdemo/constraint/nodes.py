"""Cutting sorted rows of tokens into the nodes of a trie, one depth at a time, as whole arrays."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kgdemo.constraint.spelling import SpelledPaths


@dataclass(frozen=True, slots=True)
class Nodes:
    """The trie, one row a node; breadth first, so the children of a node are neighbours.

    Attributes:
        tokens: the token that leads to a node; int32, ``(nodes,)``; the root's is -1.
        children: ``children[n]:children[n + 1]`` are the children of ``n``; int64, ``(nodes + 1,)``.
        counts: paths that run through a node; int32, ``(nodes,)``.
        in_entity: whether all that follows a node goes on with an entity's label; bool, ``(nodes,)``.
        leaves: the node each path ends at, ascending; int32, ``(paths,)``.
        ending: the path that belongs to each of ``leaves``; int32, ``(paths,)``.
    """

    tokens: NDArray[np.int32]
    children: NDArray[np.int64]
    counts: NDArray[np.int32]
    in_entity: NDArray[np.bool_]
    leaves: NDArray[np.int32]
    ending: NDArray[np.int32]


def cut(spelled: SpelledPaths) -> Nodes | None:
    """Cut spelled rows into nodes: a run of rows with equal prefixes is a node.

    A row takes part from the depth on where it may differ from the row before it; up to there it is in the same
    nodes as that one.

    Returns:
        the trie; None when a prefix turns up in two runs of rows, so that the rows are in no trie order.
    """
    ids, depths, count = spelled.tails.ids, spelled.depths, len(spelled.depths)
    at = spelled.tails.offsets[:-1] - depths  # a row's token at depth d is ids[at + d]
    ends = depths + np.diff(spelled.tails.offsets)
    entering = np.argsort(depths, kind="stable")  # rows by the depth from which on they take part
    enter = np.searchsorted(depths[entering], np.arange(int(ends.max(initial=0)) + 1))
    active, reached = np.zeros(count, np.bool_), np.zeros(count, np.int32)  # reached: a row's node so far
    leaves = np.zeros(count, np.int32)
    rows = np.arange(0)
    tokens, above, inside, bounds = [np.array([-1], np.int32)], [np.empty(0, np.int32)], [], [0, 1]
    for depth in range(len(enter) - 1):
        if enter[depth] < enter[depth + 1]:
            new = np.sort(entering[enter[depth] : enter[depth + 1]])
            if depth:  # all of these share the nodes of the nearest row above them
                reached[new] = reached[rows[np.searchsorted(rows, new) - 1]]
            active[new] = True
        rows = np.flatnonzero(active)
        here = at[rows] + depth
        token, parent = ids[here], reached[rows]
        first = np.ones(len(rows), np.bool_)
        first[1:] = (token[1:] != token[:-1]) | (parent[1:] != parent[:-1])
        firsts = np.flatnonzero(first)
        node = np.cumsum(first, dtype=np.int32) + np.int32(bounds[-1] - 1)
        tokens.append(token[firsts])
        above.append(parent[firsts])
        inside.append(np.logical_and.reduceat(spelled.in_label[here], firsts))
        bounds.append(bounds[-1] + len(firsts))
        reached[rows] = node
        ended = ends[rows] == depth + 1
        leaves[rows[ended]] = node[ended]
        active[rows[ended]] = False
    return _nodes(np.concatenate(tokens), np.concatenate(above), inside, bounds, leaves)


def _nodes(
    tokens: NDArray[np.int32],
    above: NDArray[np.int32],
    inside: list[NDArray[np.bool_]],
    bounds: list[int],
    leaves: NDArray[np.int32],
) -> Nodes | None:
    """The trie from its nodes' tokens and parents (``above``, without the root's); see ``cut``."""
    if _has_twins(above, tokens[1:]):
        return None
    known = len(tokens)
    children = np.ones(known + 1, np.int64)
    children[1:] += np.cumsum(np.bincount(above, minlength=known))
    in_entity = np.ones(known, np.bool_)
    in_entity[above[~np.concatenate([np.empty(0, np.bool_), *inside])]] = False
    in_entity[children[1:] == children[:-1]] = False
    counts = np.bincount(leaves, minlength=known).astype(np.int32)
    for low, high in reversed(list(pairwise(bounds))[1:]):  # from the deepest up: a node has its children's paths
        first = int(above[low - 1])
        sums = np.bincount(above[low - 1 : high - 1] - first, counts[low:high])
        counts[first : first + len(sums)] += sums.astype(np.int32)
    ending = np.argsort(leaves, kind="stable").astype(np.int32)
    return Nodes(tokens, children, counts, in_entity, leaves[ending], ending)


def _has_twins(parents: NDArray[np.int32], tokens: NDArray[np.int32]) -> bool:
    """Whether two children of one node carry the same token; only nodes with unsorted children can have any."""
    falls = (parents[1:] == parents[:-1]) & (tokens[1:] <= tokens[:-1])
    if not falls.any():
        return False
    suspect = np.zeros(int(parents[-1]) + 1, np.bool_)
    suspect[parents[1:][falls]] = True
    among = suspect[parents]
    keys = (parents[among].astype(np.int64) << 32) | tokens[among]
    return len(np.unique(keys)) < len(keys)
