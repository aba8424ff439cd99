"""Enumerating the walks of a graph and spelling them in tokens, as whole arrays (GCR equations 3 and 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgdemo.constraint.base import PathIds
from kgdemo.constraint.tables import TokenTable, ranks
from kgdemo.constraint.tokenised import TokenisedGraph


@dataclass(frozen=True, slots=True)
class PathTable:
    """Walks, one a row; a walk shorter than the longest is filled up with -1.

    Attributes:
        entities: entity ids, int32, ``(paths, hops + 1)``.
        steps: step ids, int32, ``(paths, hops)``.
    """

    entities: NDArray[np.int32]
    steps: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.entities)

    def path(self, row: int) -> PathIds:
        """One walk."""
        steps = self.steps[row]
        hops = int(np.count_nonzero(steps >= 0))
        return PathIds(tuple(self.entities[row, : hops + 1].tolist()), tuple(steps[:hops].tolist()))


def enumerate_paths(graph: TokenisedGraph, topics: Sequence[int], hops: int) -> PathTable:
    """All walks of one to ``hops`` hops, breadth first, in the order of their labels' tokens.

    A walk comes right before the walks that go on from it. The order is that of a trie unless a label
    holds an arrow or two labels are spelled alike.
    """
    first = np.array(sorted(topics, key=lambda t: graph.entity_rank[t]), np.int32)
    steps: list[NDArray[np.int32]] = []
    ends, entities, places = first, [first], [np.arange(1, len(first) + 1, dtype=np.int32)]
    levels = []
    for _ in range(hops):
        source, taken, reached = _one_hop(graph, ends)
        order = _order(graph, source, taken, reached)
        source, ends = source[order], reached[order]
        entities = [*(column[source] for column in entities), ends]
        steps = [*(column[source] for column in steps), taken[order]]
        places = [*(column[source] for column in places), np.arange(1, len(ends) + 1, dtype=np.int32)]
        levels.append((entities, steps, places))
    # a walk's place at each hop, 0 past its end: sorting by these puts it before its continuations
    by_place = np.lexsort([_column([level[2] for level in levels], hop, 0) for hop in range(hops, -1, -1)])
    return PathTable(
        np.stack([_column([level[0] for level in levels], hop, -1)[by_place] for hop in range(hops + 1)], axis=1),
        np.stack([_column([level[1] for level in levels], hop, -1)[by_place] for hop in range(hops)], axis=1),
    )


@dataclass(frozen=True, slots=True)
class SpelledPaths:
    """Walks in tokens, each from where it may differ from the walk before it.

    Attributes:
        tails: each walk's tokens from the first label on that the walk before has not, up to and with the end mark.
        depths: how many tokens go before the tail; int64, ``(paths,)``.
        in_label: for each token of the tails whether it belongs to an entity's label; bool, ``(tokens,)``.
    """

    tails: TokenTable
    depths: NDArray[np.int64]
    in_label: NDArray[np.bool_]


def spell(graph: TokenisedGraph, paths: PathTable, whole: bool = False) -> SpelledPaths:
    """The tokens of each walk; ``whole`` spells out also what it shares with the one before."""
    count, hops = paths.steps.shape
    arrowed = _between(np.array(graph.pieces.arrow, np.int32), graph.steps)
    end = TokenTable(np.array([0, len(graph.pieces.end)], np.int64), np.array(graph.pieces.end, np.int32))
    pieces = [(graph.entities, paths.entities[:, 0], True)]
    for hop in range(hops):
        pieces += [(arrowed, paths.steps[:, hop], False), (graph.entities, paths.entities[:, hop + 1], True)]
    pieces.append((end, np.zeros(count, np.int32), False))
    shared = np.zeros(count, np.bool_)
    shared[1:] = not whole
    depths, lengths = np.zeros(count, np.int64), []
    for table, label, _ in pieces:
        length = np.where(label >= 0, table.offsets[label + 1] - table.offsets[label], 0)
        shared[1:] &= (label[1:] == label[:-1]) & (label[1:] >= 0) & (table is not end)
        depths += np.where(shared, length, 0)
        lengths.append(np.where(shared, 0, length))
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(np.sum(lengths, axis=0), out=offsets[1:])
    ids, in_label = np.empty(offsets[-1], np.int32), np.zeros(offsets[-1], np.bool_)
    begins = offsets[:-1].copy()
    for (table, label, of_entity), length in zip(pieces, lengths, strict=True):
        written = np.flatnonzero(length)
        piece = table.rows(label[written])
        into = np.arange(len(piece.ids)) + np.repeat(begins[written] - piece.offsets[:-1], length[written])
        ids[into] = piece.ids
        if of_entity:
            in_label[into] = True
        begins += length
    return SpelledPaths(TokenTable(offsets, ids), depths, in_label)


def spelled_order(graph: TokenisedGraph, paths: PathTable) -> NDArray[np.int64]:
    """The walks in the order of their tokens: exact whatever the labels hold, and slower than ranks of labels."""
    return np.argsort(ranks(spell(graph, paths, whole=True).tails))


def _one_hop(
    graph: TokenisedGraph, frontier: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """All steps from each of many entities: row in ``frontier``, step id, entity reached."""
    kg = graph.kg
    found = []
    sides = [(kg.outgoing, 0)] if graph.directed else [(kg.outgoing, 0), (kg.incoming, len(kg.relations))]
    for side, shift in sides:
        begins = side.offsets[frontier]
        counts = side.offsets[frontier.astype(np.int64) + 1] - begins
        source = np.repeat(np.arange(len(frontier)), counts)
        edges = np.arange(len(source)) + np.repeat(begins - (np.cumsum(counts) - counts), counts)
        found.append((source, side.relations[edges] + np.int32(shift), side.targets[edges]))
    sources, steps, targets = zip(*found, strict=True)
    return np.concatenate(sources), np.concatenate(steps), np.concatenate(targets)


def _order(graph: TokenisedGraph, source: NDArray, steps: NDArray, targets: NDArray) -> NDArray[np.int64]:
    """Rows by source, then by the rank of step and entity; one key where it fits into 63 bits."""
    step, target = graph.step_rank[steps], graph.entity_rank[targets]
    if float(len(source) + 1) * len(graph.steps) * len(graph.entities) < 2.0**62:
        return np.argsort((source * len(graph.steps) + step) * len(graph.entities) + target)
    return np.lexsort((target, step, source))


def _column(levels: Sequence[Sequence[NDArray[np.int32]]], hop: int, filler: int) -> NDArray[np.int32]:
    """One column over the walks of all lengths, shortest first."""
    return np.concatenate(
        [level[hop] if hop < len(level) else np.full(len(level[0]), filler, np.int32) for level in levels]
    )


def _between(mark: NDArray[np.int32], table: TokenTable) -> TokenTable:
    """Each label with a mark before and behind it."""
    width, count = len(mark), len(table)
    lengths = np.diff(table.offsets)
    offsets = table.offsets + 2 * width * np.arange(count + 1)
    ids = np.empty(int(offsets[-1]), np.int32)
    own = np.repeat(offsets[:-1] + width - table.offsets[:-1], lengths) + np.arange(len(table.ids))
    ids[own] = table.ids
    for place, token in enumerate(mark):
        ids[offsets[:-1] + place] = token
        ids[offsets[1:] - width + place] = token
    return TokenTable(offsets, ids)
