"""The names of a hub by their tokens: which may come next among a million ends, and hardly any name is read.

Beside a saved graph lies an index of the relations that lead from an entity to more ends than a search reads. The ends
of one, sorted by the tokens of their names, are its rows, and a node of the trie over these names is a range of rows.
The trie is written level by level: the first row of each node, and the token that leads there. So what follows a node
is a slice of the next level, found by binary search. Where ``FEW`` rows or fewer are left nothing is written: there
the names themselves are read.

The index is made for one tokeniser when the graph is saved. The ends are spelled and sorted piece by piece, and merged
from disk; what is held of a whole hub is one number for each of its ends, and as many for a level.
"""

from __future__ import annotations

import heapq
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kgdemo.constraint.label_tokens import FEW, Branching, LabelTokens, TokenTable, ranks
from kgdemo.kg.arrays import Adjacency, LabelTable
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io.saved import GrowingArray
from kgdemo.kg.stores.base import Step
from kgdemo.kg.stores.graph import MAX_ENDS

_HEADER = "hubs.json"
_VERSION = 1
_ARRAYS = ("targets", "firsts", "tokens")
_PIECE = 250_000  # ends that are spelled and sorted at once
_READ = 50_000  # rows taken from a piece, or written, at once


@dataclass(frozen=True, slots=True)
class Hub:
    """The ends of one relation of an entity.

    Attributes:
        targets: the saved graph's ids of the ends, by rows; int32.
        firsts, tokens: of each node below the root its first row and its token, level by level; int32.
        levels: where each level begins among the nodes, and at last how many there are.
    """

    targets: NDArray[np.int32]
    firsts: NDArray[np.int32]
    tokens: NDArray[np.int32]
    levels: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.targets)

    def branching(self, low: int, high: int, depth: int) -> Branching:
        """What follows a node of more than ``FEW`` rows; see ``label_tokens.branching``.

        Args:
            low, high: its rows.
            depth: how many tokens they agree in.
        """
        if depth + 1 >= len(self.levels):
            return Branching(high - low, np.empty(0, np.int64), np.array([high]))
        level = slice(self.levels[depth], self.levels[depth + 1])
        firsts = self.firsts[level]
        begin, behind = np.searchsorted(firsts, np.array([low, high], np.int32)).tolist()
        edges = np.append(firsts[begin:behind].astype(np.int64), high)
        return Branching(int(edges[0]) - low, self.tokens[level][begin:behind].astype(np.int64), edges)


class HubIndex:
    """The hubs of a saved graph, each by the step that leads to its ends.

    Args:
        folder: of the saved graph.
        tokenizer: fingerprint of the tokeniser that its names are to be spelled by.
        facts: of the graph, how many there are.

    Raises:
        OSError, ValueError: there is no index, or it is damaged, or of another tokeniser or graph.
    """

    def __init__(self, folder: Path, tokenizer: str, facts: int) -> None:
        header = json.loads((folder / _HEADER).read_text("utf-8"))
        if header["made_from"] != _made_from(tokenizer, facts):
            raise ValueError(f"the index of names in {folder} was made from something else")
        self._targets, self._firsts, self._tokens = (
            np.load(folder / f"hubs.{name}.npy", mmap_mode="r", allow_pickle=False) for name in _ARRAYS
        )
        self._places: dict[Step, tuple[int, int, int, list[int]]] = {}
        row = node = 0
        for entity, relation, outgoing, rows, levels in header["hubs"]:
            self._places[str(entity), str(relation), outgoing] = row, rows, node, levels
            row, node = row + rows, node + levels[-1]
        if (row, node, node) != (len(self._targets), len(self._firsts), len(self._tokens)):
            raise ValueError(f"the index of names in {folder} is incomplete")

    @property
    def steps(self) -> frozenset[Step]:
        """Those that lead to a hub's ends, in ids as ``SavedStore`` has them."""
        return frozenset(self._places)

    def hub(self, step: Step) -> Hub | None:
        """The ends that a step leads to; None where they are few enough to be read."""
        if step not in self._places:
            return None
        row, rows, node, levels = self._places[step]
        nodes = slice(node, node + levels[-1])
        return Hub(self._targets[row : row + rows], self._firsts[nodes], self._tokens[nodes], tuple(levels))


def open_hubs(folder: Path | None, tokenizer: str, facts: int) -> HubIndex | None:
    """The index beside a saved graph; None where there is none for this tokeniser. Arguments are ``HubIndex``'s."""
    try:
        return HubIndex(folder, tokenizer, facts) if folder and tokenizer else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


# writing -----------------------------------------------------------------------------------------


def write_hubs(
    kg: KnowledgeGraph, folder: Path, label_tokens: LabelTokens, beyond: int = MAX_ENDS, piece: int = _PIECE
) -> int:
    """Write the index of a saved graph's hubs; none for a tokeniser that does not tell what it is.

    Args:
        kg: the saved graph.
        folder: where it lies.
        label_tokens: spells its names.
        beyond: how many ends are read without an index.
        piece: ends that are spelled and sorted at once.

    Returns:
        how many hubs there are.
    """
    (folder / _HEADER).unlink(missing_ok=True)
    tokenizer = label_tokens.fingerprint()
    if not tokenizer:
        return 0
    targets, firsts, tokens = written = [GrowingArray(folder / f"hubs.{name}.npy", np.int32) for name in _ARRAYS]
    hubs: list[tuple[int, int, bool, int, list[int]]] = []
    for outgoing, side in ((True, kg.outgoing), (False, kg.incoming)):
        for entity, relation, ends in _hubs(side, beyond):
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                table = _sorted_names(kg.entities, ends, label_tokens, piece, Path(scratch), targets)
                levels = _write_levels(table, firsts, tokens)
            hubs.append((entity, relation, outgoing, len(ends), levels))
    for array in written:
        array.close()
    header = {"made_from": _made_from(tokenizer, len(kg)), "hubs": hubs}
    (folder / _HEADER).write_text(json.dumps(header), "utf-8")  # last: an index with it is whole
    return len(hubs)


def _made_from(tokenizer: str, facts: int) -> list[str | int]:
    return [_VERSION, FEW, tokenizer, facts]


def _hubs(side: Adjacency, beyond: int) -> Iterator[tuple[int, int, NDArray[np.int32]]]:
    """Entities and relations that lead to more ends than so many, with these."""
    for entity in np.flatnonzero(np.diff(side.offsets) > beyond).tolist():
        row = side.row(entity)
        relations, counts = np.unique(side.relations[row], return_counts=True)
        first = row.start
        for relation, count in zip(relations.tolist(), counts.tolist(), strict=True):
            if count > beyond:
                yield entity, relation, side.targets[first : first + count]
            first += count


def _sorted_names(
    labels: LabelTable,
    ends: NDArray[np.int32],
    label_tokens: LabelTokens,
    piece: int,
    scratch: Path,
    targets: GrowingArray,
) -> TokenTable:
    """The names of a hub's ends in the order of their tokens, on disk; writes the ends in this order."""
    pieces = []
    for first in range(0, len(ends), piece):
        own = np.asarray(ends[first : first + piece])
        table = label_tokens.encode(labels.at(own), label_tokens.path_format.entity)
        order = np.argsort(ranks(table))
        table = table.rows(order)
        pieces.append(scratch / str(first))
        pieces[-1].mkdir()
        for name, values in (("offsets", table.offsets), ("ids", table.ids), ("targets", own[order])):
            np.save(pieces[-1] / f"{name}.npy", values)
    merged = heapq.merge(*map(_rows_of, pieces))
    ids = GrowingArray(scratch / "ids.npy", np.int32)
    offsets = np.zeros(len(ends) + 1, np.int64)
    row = 0
    while batch := list(islice(merged, _READ)):
        offsets[row + 1 : row + 1 + len(batch)] = [len(key) // 4 for key, _ in batch]
        ids.append(np.frombuffer(b"".join(key for key, _ in batch), ">i4"))
        targets.append(np.array([target for _, target in batch], np.int32))
        row += len(batch)
    ids.close()
    return TokenTable(np.cumsum(offsets), np.load(scratch / "ids.npy", mmap_mode="r"))


def _rows_of(piece: Path) -> Iterator[tuple[bytes, int]]:
    """The rows of a piece: tokens as bytes that compare like these, and the end."""
    offsets, ids, targets = (np.load(piece / f"{name}.npy", mmap_mode="r") for name in ("offsets", "ids", "targets"))
    for first in range(0, len(targets), _READ):
        bounds = offsets[first : first + _READ + 1]
        flat = ids[bounds[0] : bounds[-1]].astype(">i4").tobytes()
        keys = (flat[begin:end] for begin, end in pairwise(((bounds - bounds[0]) * 4).tolist()))
        yield from zip(keys, targets[first : first + _READ].tolist(), strict=False)


def _write_levels(table: TokenTable, firsts: GrowingArray, tokens: GrowingArray) -> list[int]:
    """Write the nodes of the trie over sorted names whose parents have more than ``FEW`` rows; returns the levels."""
    shared = _shared_with_the_one_before(table)
    deepest = _shared_by_many(shared) + 1
    np.minimum(deepest, np.diff(table.offsets), out=deepest, casting="unsafe")
    levels = [0]
    for depth in range(1, int(deepest.max(initial=0)) + 1):
        rows = np.flatnonzero((shared < depth) & (depth <= deepest))
        firsts.append(rows)
        tokens.append(table.ids[table.offsets[rows] + depth - 1])
        levels.append(levels[-1] + len(rows))
    return levels


def _shared_with_the_one_before(table: TokenTable) -> NDArray[np.int32]:
    """How many tokens each row begins with that the row before it begins with too; of the first row none."""
    shared = np.zeros(len(table), np.int32)
    lengths = np.diff(table.offsets)
    for first in range(1, len(table), _READ):
        rows = np.arange(first, min(first + _READ, len(table)))
        depth = 0
        while len(rows):
            rows = rows[np.minimum(lengths[rows], lengths[rows - 1]) > depth]
            rows = rows[table.ids[table.offsets[rows] + depth] == table.ids[table.offsets[rows - 1] + depth]]
            depth += 1
            shared[rows] = depth
    return shared


def _shared_by_many(shared: NDArray[np.int32]) -> NDArray[np.int32]:
    """How many tokens each row begins with that more than ``FEW`` rows do; -1 where there are no more rows.

    Rows are sorted, so those that begin alike are neighbours: more than ``FEW`` of them fill a window with the row in
    it, whose rows all agree with the one before in as many tokens.
    """
    windows = np.full(len(shared) + FEW, -1, np.int32)  # by the last row of each; what runs over the end agrees in none
    if len(shared) > FEW:
        windows[FEW : len(shared)] = np.lib.stride_tricks.sliding_window_view(shared[1:], FEW).min(axis=1)
    most: NDArray[np.int32] = np.lib.stride_tricks.sliding_window_view(windows, FEW + 1).max(axis=1)
    return most
