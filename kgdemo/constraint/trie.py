"""Constraints that are written out as tries: all paths of a graph, or some given texts.

The enumerated KG-Trie of GCR section 4.2 (equations 3 to 5) is built offline as in its appendix B: every path of one to
L hops is written out, spelled in tokens and put into one trie. It holds the same language as ``automaton.KGAutomaton``,
at a cost that grows with the number of paths, which is why that one answers questions; this one is for offline
building, for teaching, and for checking the other. Nothing in it loops over paths: walks are enumerated and spelled,
and their sorted rows cut into nodes one depth at a time, as whole arrays.

``ChoiceTrie`` lets a model write one of some given texts and nothing else; it needs no graph.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from kgdemo.constraint.automaton import State, Successors
from kgdemo.constraint.label_tokens import TokenTable, ranks
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.errors import UserError
from kgdemo.kg.io.saved import begin
from kgdemo.kg.path import PathIds


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


def enumerate_paths(graph: TokenGraph, topics: Sequence[int], hops: int) -> PathTable:
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
class TokenPaths:
    """Walks in tokens, each from where it may differ from the walk before it.

    Attributes:
        tails: each walk's tokens from the first label on that the walk before has not, up to and with the end mark.
        depths: how many tokens go before the tail; int64, ``(paths,)``.
        in_label: for each token of the tails whether it belongs to an entity's label; bool, ``(tokens,)``.
    """

    tails: TokenTable
    depths: NDArray[np.int64]
    in_label: NDArray[np.bool_]


def tokenise_paths(graph: TokenGraph, paths: PathTable, whole: bool = False) -> TokenPaths:
    """The tokens of each walk; ``whole`` spells out also what it shares with the one before."""
    count, hops = paths.steps.shape
    marks, again = graph.label_tokens, graph.label_tokens.path_format.again
    first = _between(marks.to_relation, graph.steps, marks.to_entity)
    later = _between((), graph.steps, marks.to_entity) if again else first
    end = TokenTable(np.array([0, len(marks.end)], np.int64), np.array(marks.end, np.int32))
    heads = graph.heads(np.unique(paths.entities[:, 0]))[1]
    label_tokens = [(heads, paths.entities[:, 0], True)]
    for hop in range(hops):
        if hop and again:
            going_on = np.where(paths.steps[:, hop] >= 0, paths.entities[:, hop], -1)
            label_tokens.append((_named_again(graph, going_on), going_on, False))
        label_tokens.append((later if hop else first, paths.steps[:, hop], False))
        label_tokens.append((graph.entities, paths.entities[:, hop + 1], True))
    label_tokens.append((end, np.zeros(count, np.int32), False))
    shared = np.zeros(count, np.bool_)
    shared[1:] = not whole
    depths, lengths = np.zeros(count, np.int64), []
    for table, label, _ in label_tokens:
        length = np.where(label >= 0, table.offsets[label + 1] - table.offsets[label], 0)
        shared[1:] &= (label[1:] == label[:-1]) & (label[1:] >= 0) & (table is not end)
        depths += np.where(shared, length, 0)
        lengths.append(np.where(shared, 0, length))
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(np.sum(lengths, axis=0), out=offsets[1:])
    ids, in_label = np.empty(offsets[-1], np.int32), np.zeros(offsets[-1], np.bool_)
    begins = offsets[:-1].copy()
    for (table, label, of_entity), length in zip(label_tokens, lengths, strict=True):
        written = np.flatnonzero(length)
        piece = table.rows(label[written])
        into = np.arange(len(piece.ids)) + np.repeat(begins[written] - piece.offsets[:-1], length[written])
        ids[into] = piece.ids
        if of_entity:
            in_label[into] = True
        begins += length
    return TokenPaths(TokenTable(offsets, ids), depths, in_label)


def _one_hop(
    graph: TokenGraph, frontier: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """All steps from each of many entities: row in ``frontier``, step id, entity reached."""
    kg = graph.kg
    found = []
    for side, shift in kg.sides(graph.directed):
        counts = side.offsets[frontier.astype(np.int64) + 1] - side.offsets[frontier]
        source, edges = np.repeat(np.arange(len(frontier)), counts), side.places(frontier)
        found.append((source, side.relations[edges] + np.int32(shift), side.targets[edges]))
    sources, steps, targets = zip(*found, strict=True)
    return np.concatenate(sources), np.concatenate(steps), np.concatenate(targets)


def _order(graph: TokenGraph, source: NDArray[Any], steps: NDArray[Any], targets: NDArray[Any]) -> NDArray[np.int64]:
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


def _between(before: Sequence[int], table: TokenTable, behind: Sequence[int]) -> TokenTable:
    """Each label with one mark before it and another behind it."""
    count, lengths = len(table), np.diff(table.offsets)
    offsets = table.offsets + (len(before) + len(behind)) * np.arange(count + 1)
    ids = np.empty(int(offsets[-1]), np.int32)
    own = np.repeat(offsets[:-1] + len(before) - table.offsets[:-1], lengths) + np.arange(len(table.ids))
    ids[own] = table.ids
    for place, token in enumerate(before):
        ids[offsets[:-1] + place] = token
    for place, token in enumerate(behind):
        ids[offsets[1:] - len(behind) + place] = token
    return TokenTable(offsets, ids)


def _named_again(graph: TokenGraph, entities: NDArray[np.int32]) -> TokenTable:
    """What stands between an entity and the next relation, by entity; -1 stands for none."""
    named = np.unique(entities[entities >= 0])
    texts = [graph.label_tokens.named_again(graph.kg.entities[int(entity)]) for entity in named]
    lengths = np.zeros(len(graph.kg.entities) + 1, np.int64)
    lengths[named + 1] = [len(text) for text in texts]
    return TokenTable(np.cumsum(lengths), np.fromiter((token for text in texts for token in text), np.int32))


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


def cut(token_paths: TokenPaths) -> Nodes | None:
    """Cut spelled rows into nodes: a run of rows with equal prefixes is a node.

    A row takes part from the depth on where it may differ from the row before it; up to there it is in the same
    nodes as that one.

    Returns:
        the trie; None when a prefix turns up in two runs of rows, so that the rows are in no trie order.
    """
    ids, depths, count = token_paths.tails.ids, token_paths.depths, len(token_paths.depths)
    at = token_paths.tails.offsets[:-1] - depths  # a row's token at depth d is ids[at + d]
    ends = depths + np.diff(token_paths.tails.offsets)
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
        inside.append(np.logical_and.reduceat(token_paths.in_label[here], firsts))
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


MAX_PATHS = 2_000_000  # some 1.5 GB while a trie is being built
_HEADER = "trie.json"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class TrieState:
    """A node of the trie; see ``State``."""

    trie: EnumeratedTrie
    node: int

    @property
    def complete(self) -> bool:
        """See ``State``."""
        first, last = self.trie.ending_at(self.node)
        return last > first

    @property
    def paths(self) -> Sequence[PathIds]:
        """See ``State``."""
        first, last = self.trie.ending_at(self.node)
        return [self.trie.paths.path(int(row)) for row in self.trie.nodes.ending[first:last]]

    @property
    def alive(self) -> bool:
        """See ``State``."""
        children = self.trie.nodes.children
        return bool(children[self.node + 1] > children[self.node])


class EnumeratedTrie:
    """All walks of one to ``hops`` hops from some entities, enumerated; a ``Constraint``.

    Args:
        paths: the walks.
        nodes: the trie over their tokens.
    """

    def __init__(self, paths: PathTable, nodes: Nodes) -> None:
        self.paths = paths
        self.nodes = nodes

    @classmethod
    def build(cls, graph: TokenGraph, topics: Sequence[int], hops: int, max_paths: int = MAX_PATHS) -> EnumeratedTrie:
        """Enumerate, spell and cut.

        Args:
            graph: the tokenised graph; its ``directed`` says which way edges are walked.
            topics: entity ids that paths start from.
            hops: the longest path (L).
            max_paths: how many paths to enumerate at the most.

        Raises:
            UserError: there are more paths than that; they are counted before any is written.
        """
        chosen = sorted(set(topics))
        count = int(graph.walks(hops)[chosen].sum(dtype=np.float64)) if chosen else 0
        if count > max_paths:
            raise UserError(
                f"These entities have {count:,} paths of up to {hops} hops, more than the {max_paths:,} that a "
                "trie may enumerate; ask for fewer hops or entities, or use the automaton, which enumerates none."
            )
        paths = enumerate_paths(graph, chosen, hops)
        nodes = cut(tokenise_paths(graph, paths))
        if nodes is None:  # labels spelled alike, or with an arrow inside: order by tokens, not by labels
            order = np.argsort(ranks(tokenise_paths(graph, paths, whole=True).tails))
            paths = PathTable(paths.entities[order], paths.steps[order])
            nodes = cut(tokenise_paths(graph, paths))
            assert nodes is not None, "rows in token order have one run of rows for each prefix"
        return cls(paths, nodes)

    @property
    def nbytes(self) -> int:
        """Size of all its arrays."""
        parts = [getattr(table, name) for table in (self.paths, self.nodes) for name in table.__slots__]
        return sum(part.nbytes for part in parts)

    # the constraint ----------------------------------------------------------------------------

    def start(self) -> TrieState:
        """See ``Constraint``."""
        return TrieState(self, 0)

    def successors(self, state: TrieState) -> Successors[TrieState]:
        """See ``Constraint``: looked up, nothing is walked (GCR equation 7)."""
        nodes = self.nodes
        first, last = int(nodes.children[state.node]), int(nodes.children[state.node + 1])
        tokens = np.asarray(nodes.tokens[first:last])
        order = np.argsort(tokens)  # children follow their labels' order; a token order is promised
        return Successors(
            tokens[order], lambda i: TrieState(self, first + int(order[i])), bool(nodes.in_entity[state.node])
        )

    def paths_left(self, state: TrieState) -> int:
        """See ``Constraint``."""
        return int(self.nodes.counts[state.node])

    def ending_at(self, node: int) -> tuple[int, int]:
        """The range of ``nodes.ending`` that holds the paths ending at a node."""
        leaves = self.nodes.leaves
        return int(np.searchsorted(leaves, node)), int(np.searchsorted(leaves, node, side="right"))

    # on disk -----------------------------------------------------------------------------------

    def save(self, folder: Path, graph: TokenGraph) -> None:
        """Write the trie into ``folder``, which is made; ``graph`` is what it was built from."""
        begin(folder, _HEADER)
        for table in (self.paths, self.nodes):
            for name in table.__slots__:
                np.save(folder / f"{name}.npy", getattr(table, name))
        header = {"version": _VERSION, "built_from": _fingerprint(graph)}
        (folder / _HEADER).write_text(json.dumps(header), "utf-8")  # last: a folder with it is whole

    @classmethod
    def open(cls, folder: Path, graph: TokenGraph) -> EnumeratedTrie:
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


def _arrays(folder: Path, names: Iterable[str]) -> Iterator[NDArray[Any]]:
    """Arrays that stay on disk until they are read."""
    return (np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in names)


def _fingerprint(graph: TokenGraph) -> list[int]:
    """What a trie's ids mean: the spelling of every label, the edges, and the directions walked."""
    kg, label_tokens = graph.kg, graph.label_tokens
    arrays = [graph.entities.ids, graph.entities.offsets, graph.steps.ids, graph.steps.offsets]
    arrays += [kg.outgoing.offsets, kg.outgoing.relations, kg.outgoing.targets]
    separators = [label_tokens.to_relation, label_tokens.to_entity, label_tokens.again, label_tokens.end]
    marks = np.array([*(token for mark in separators for token in (*mark, -1)), int(graph.directed)], np.int64)
    return [crc32(np.ascontiguousarray(array).data) for array in [*arrays, marks]]


# one of some given texts --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChoiceState(State):
    """A node of the trie: ``depth`` tokens written, rows ``low..high`` of the sorted options still possible."""

    trie: ChoiceTrie
    low: int
    high: int
    depth: int = 0

    @property
    def complete(self) -> bool:
        """See ``State``: the options left are spelled alike, so the choice has been made."""
        return self.trie.rows[self.low][0] == self.trie.rows[self.high - 1][0]

    @property
    def options(self) -> tuple[int, ...]:
        """Indices of the options left."""
        return tuple(index for _, index in self.trie.rows[self.low : self.high])


class ChoiceTrie:
    """A ``Constraint`` of given texts.

    A choice is complete as soon as no other option begins as what was written: the rest of it is forced, and
    its tokens would tell nothing. The scores that matter are therefore those among the allowed tokens, which
    ``inside_entity`` asks the search for; with them the options' probabilities add up to 1, long or short.

    Args:
        options: token ids of each, at least one; one may begin as another does.
        end: a token that is part of none, put behind each.
    """

    def __init__(self, options: Sequence[Sequence[int]], end: int) -> None:
        self.rows = sorted(((*option, end), index) for index, option in enumerate(options))
        self.longest = max(len(tokens) for tokens, _ in self.rows)

    def start(self) -> ChoiceState:
        """See ``Constraint``."""
        return ChoiceState(self, 0, len(self.rows))

    def successors(self, state: ChoiceState) -> Successors[ChoiceState]:
        """See ``Constraint``."""
        next_tokens = np.array([tokens[state.depth] for tokens, _ in self.rows[state.low : state.high]], np.int32)
        starts = np.flatnonzero(np.diff(next_tokens, prepend=-1))
        bounds = np.append(starts, len(next_tokens)) + state.low

        def take(i: int) -> ChoiceState:
            return ChoiceState(self, int(bounds[i]), int(bounds[i + 1]), state.depth + 1)

        return Successors(next_tokens[starts], take, inside_entity=True)

    def paths_left(self, state: ChoiceState) -> int:
        """See ``Constraint``: how many options are left."""
        return state.high - state.low
