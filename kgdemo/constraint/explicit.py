"""The enumerated KG-Trie of GCR section 4.2 (equations 3 to 5), built offline as in its appendix B.

Every path of one to L hops is written out, spelled in tokens and put into one trie. It holds the same
language as ``automaton.KGAutomaton``, at a cost that grows with the number of paths, which is why that one
answers questions; this one is for offline building, for teaching, and for checking the other. Nothing in
it loops over paths: hops are expanded, spelled and cut into nodes as whole arrays.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from kgdemo.constraint.base import PathIds, Successors
from kgdemo.constraint.nodes import Nodes, cut
from kgdemo.constraint.spelling import PathTable, enumerate_paths, spell, spelled_order
from kgdemo.constraint.tokenised import TokenisedGraph
from kgdemo.errors import UserError

MOST_PATHS = 2_000_000  # some 1.5 GB while a trie is being built
_HEADER = "trie.json"
_VERSION = 1


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
        nodes = cut(spell(graph, paths))
        if nodes is None:  # labels spelled alike, or with an arrow inside: order by tokens, not by labels
            order = spelled_order(graph, paths)
            paths = PathTable(paths.entities[order], paths.steps[order])
            nodes = cut(spell(graph, paths))
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
            paths = PathTable(*_arrays(folder, PathTable.__slots__))
            nodes = Nodes(*_arrays(folder, Nodes.__slots__))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(f"{folder} holds no whole KG-Trie ({error}); build and save it again.") from error
        if version != _VERSION or built_from != _fingerprint(graph):
            raise UserError(f"The KG-Trie in {folder} belongs to another graph or tokeniser; build it again.")
        return cls(paths, nodes)


def _arrays(folder: Path, names: Iterable[str]) -> Iterator[NDArray]:
    """Arrays that stay on disk until they are read."""
    return (np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in names)


def _fingerprint(graph: TokenisedGraph) -> list[int]:
    """What a trie's ids mean: the spelling of every label, the edges, and the directions walked."""
    kg, pieces = graph.kg, graph.pieces
    arrays = [graph.entities.ids, graph.entities.offsets, graph.steps.ids, graph.steps.offsets]
    arrays += [kg.outgoing.offsets, kg.outgoing.relations, kg.outgoing.targets]
    marks = np.array([*pieces.arrow, -1, *pieces.end, int(graph.directed)], np.int64)
    return [crc32(np.ascontiguousarray(array).data) for array in [*arrays, marks]]
