"""The enumerated KG-Trie of GCR section 4.2 (equations 3 to 5), built offline as in its appendix B.

Every path of one to L hops is written out, spelled in tokens and put into one trie. It holds the same
language as ``automaton.KGAutomaton``, at a cost that grows with the number of paths, which is why that one
answers questions; this one is for offline building, for teaching, and for checking the other. Nothing in
it loops over paths: hops are expanded, spelled and cut into nodes as whole arrays.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from kgdemo.constraint.base import PathIds, Successors
from kgdemo.constraint.spelling import PathTable, enumerate_paths, spell, spelled_order
from kgdemo.constraint.tables import TokenTable
from kgdemo.constraint.tokenised import TokenisedGraph
from kgdemo.errors import UserError

MOST_PATHS = 2_000_000  # some 1.5 GB while a trie is being built
_HEADER = "trie.json"
_VERSION = 1


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


@dataclass(frozen=True, slots=True)
class TrieState:
    """A node of the trie; see ``base.State``."""

    trie: ExplicitTrie
    node: int

    @property
    def complete(self) -> bool:
        """See ``base.State``."""
        first, last = self.trie.ending_at(self.node)
        return last > first

    @property
    def paths(self) -> Sequence[PathIds]:
        """See ``base.State``."""
        first, last = self.trie.ending_at(self.node)
        return [self.trie.paths.path(int(row)) for row in self.trie.nodes.ending[first:last]]

    @property
    def alive(self) -> bool:
        """See ``base.State``."""
        children = self.trie.nodes.children
        return bool(children[self.node + 1] > children[self.node])


class ExplicitTrie:
    """All walks of one to ``hops`` hops from some entities, enumerated; a ``base.Constraint``.

    Args:
        paths: the walks.
        nodes: the trie over their tokens.
    """

    def __init__(self, paths: PathTable, nodes: Nodes) -> None:
        self.paths = paths
        self.nodes = nodes

    @classmethod
    def build(
        cls, graph: TokenisedGraph, topics: Sequence[int], hops: int, most_paths: int = MOST_PATHS
    ) -> ExplicitTrie:
        """Enumerate, spell and cut.

        Args:
            graph: the tokenised graph; its ``directed`` says which way edges are walked.
            topics: entity ids that paths start from.
            hops: the longest path (L).
            most_paths: how many paths to enumerate at the most.

        Raises:
            UserError: there are more paths than that; they are counted before any is written.
        """
        chosen = sorted(set(topics))
        count = int(graph.walks(hops)[chosen].sum(dtype=np.float64)) if chosen else 0
        if count > most_paths:
            raise UserError(
                f"These entities have {count:,} paths of up to {hops} hops, more than the {most_paths:,} that a "
                "trie may enumerate; ask for fewer hops or entities, or use the automaton, which enumerates none."
            )
        paths = enumerate_paths(graph, chosen, hops)
        spelled, in_label = spell(graph, paths)
        nodes = _cut(spelled, in_label)
        if nodes is None:  # labels spelled alike, or with an arrow inside: order by tokens, not by labels
            order = spelled_order(spelled)
            paths = PathTable(paths.entities[order], paths.steps[order])
            nodes = _cut(*spell(graph, paths))
            assert nodes is not None, "rows in token order have one run of rows for each prefix"
        return cls(paths, nodes)

    @property
    def nbytes(self) -> int:
        """Size of all its arrays."""
        parts = [getattr(table, name) for table in (self.paths, self.nodes) for name in table.__slots__]
        return sum(part.nbytes for part in parts)

    # the constraint ----------------------------------------------------------------------------

    def start(self) -> TrieState:
        """See ``base.Constraint``."""
        return TrieState(self, 0)

    def successors(self, state: TrieState) -> Successors[TrieState]:
        """See ``base.Constraint``: looked up, nothing is walked (GCR equation 7)."""
        nodes = self.nodes
        first, last = int(nodes.children[state.node]), int(nodes.children[state.node + 1])
        tokens = np.asarray(nodes.tokens[first:last])
        order = np.argsort(tokens)  # children follow their labels' order; a token order is promised
        return Successors(
            tokens[order], lambda i: TrieState(self, first + int(order[i])), bool(nodes.in_entity[state.node])
        )

    def paths_left(self, state: TrieState) -> int:
        """See ``base.Constraint``."""
        return int(self.nodes.counts[state.node])

    def ending_at(self, node: int) -> tuple[int, int]:
        """The range of ``nodes.ending`` that holds the paths ending at a node."""
        leaves = self.nodes.leaves
        return int(np.searchsorted(leaves, node)), int(np.searchsorted(leaves, node, side="right"))

    # on disk -----------------------------------------------------------------------------------

    def save(self, folder: Path, graph: TokenisedGraph) -> None:
        """Write the trie into ``folder``, which is made; ``graph`` is what it was built from."""
        folder.mkdir(parents=True, exist_ok=True)
        for table in (self.paths, self.nodes):
            for name in table.__slots__:
                np.save(folder / f"{name}.npy", getattr(table, name))
        header = {"version": _VERSION, "built_from": _fingerprint(graph)}
        (folder / _HEADER).write_text(json.dumps(header), "utf-8")  # last: a folder with it is whole

    @classmethod
    def open(cls, folder: Path, graph: TokenisedGraph) -> ExplicitTrie:
        """Open a saved trie; its arrays stay on disk until they are read.

        Raises:
            UserError: the folder holds no whole trie of this version, or one built from another graph,
                with another tokeniser, or along other directions.
        """
        try:
            header = json.loads((folder / _HEADER).read_text("utf-8"))
            version, built_from = header["version"], header["built_from"]
            loaded = [
                kind(*(np.load(folder / f"{n}.npy", mmap_mode="r", allow_pickle=False) for n in kind.__slots__))
                for kind in (PathTable, Nodes)
            ]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(f"{folder} holds no whole KG-Trie ({error}); build and save it again.") from error
        if version != _VERSION or built_from != _fingerprint(graph):
            raise UserError(f"The KG-Trie in {folder} belongs to another graph or tokeniser; build it again.")
        return cls(*loaded)


def _fingerprint(graph: TokenisedGraph) -> list[int]:
    """What a trie's ids mean: the spelling of every label, the edges, and the directions walked."""
    kg, pieces = graph.kg, graph.pieces
    arrays = [graph.entities.ids, graph.entities.offsets, graph.steps.ids, graph.steps.offsets]
    arrays += [kg.outgoing.offsets, kg.outgoing.relations, kg.outgoing.targets]
    marks = np.array([*pieces.arrow, -1, *pieces.end, int(graph.directed)], np.int64)
    return [crc32(np.ascontiguousarray(array).data) for array in [*arrays, marks]]


def _cut(spelled: TokenTable, in_label: NDArray[np.bool_]) -> Nodes | None:
    """Cut spelled rows into nodes, one depth at a time: a run of rows with equal prefixes is a node.

    Args:
        spelled: the rows' tokens.
        in_label: for each token whether it belongs to an entity's label; ``(tokens,)``.

    Returns:
        the trie; None when a prefix turns up in two runs of rows, so that the rows are in no trie order.
    """
    lengths = np.diff(spelled.offsets)
    rows = np.arange(len(lengths))  # those that are longer than the depth,
    here = spelled.offsets[:-1].astype(np.int32 if len(spelled.ids) < 2**31 else np.int64)  # their token there,
    left = lengths.astype(np.int32)  # how many more they have
    parents = np.zeros(len(lengths), np.int32)  # and the node they have reached
    leaves = np.zeros(len(lengths), np.int32)
    tokens, above, counts, inside = [np.array([-1], np.int32)], [], [np.array([len(rows)], np.int32)], []
    known = 1
    while len(rows):
        token = spelled.ids[here]
        new = np.ones(len(rows), np.bool_)
        new[1:] = (token[1:] != token[:-1]) | (parents[1:] != parents[:-1])
        firsts = np.flatnonzero(new)
        node = np.cumsum(new, dtype=np.int32) + np.int32(known - 1)
        tokens.append(token[firsts])
        above.append(parents[firsts])
        counts.append(np.diff(firsts, append=len(rows)).astype(np.int32))
        inside.append(np.logical_and.reduceat(in_label[here], firsts))
        known += len(firsts)
        here += 1
        left -= 1
        parents = node
        if not left.all():
            ended, longer = left == 0, left > 0
            leaves[rows[ended]] = node[ended]
            rows, here, left, parents = rows[longer], here[longer], left[longer], node[longer]
    all_tokens = np.concatenate(tokens)
    all_above = np.concatenate([np.empty(0, np.int32), *above])
    if _has_twins(all_above, all_tokens[1:]):
        return None
    children = np.ones(known + 1, np.int64)
    children[1:] += np.cumsum(np.bincount(all_above, minlength=known))
    in_entity = np.ones(known, np.bool_)
    in_entity[all_above[~np.concatenate([np.empty(0, np.bool_), *inside])]] = False
    in_entity[children[1:] == children[:-1]] = False
    ending = np.argsort(leaves, kind="stable").astype(np.int32)
    return Nodes(all_tokens, children, np.concatenate(counts), in_entity, leaves[ending], ending)


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
