"""A graph seen through one tokeniser: token ids and their lexicographic rank for every label.

Token ids of large graphs are kept on disk, see ``kg.cache``: a graph is tokenised once, not once a start.

Beside a saved graph lies an index of its hubs (``HubIndex``): of the relations that lead from an entity to more ends
than a search reads. The ends of one, sorted by the tokens of their names, are its rows, and a node of the trie over
these names is a range of rows, so that hardly any name is read (``label_tokens.Hub``). The index is made for one
tokeniser when the graph is saved. The ends are spelled and sorted piece by piece, and merged from disk; what is held of
a whole hub is one number for each of its ends, and as many for a level.
"""

from __future__ import annotations

import heapq
import json
import tempfile
import threading
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kgdemo.constraint.label_tokens import (
    FEW,
    Branching,
    Hub,
    LabelTokens,
    SubTrie,
    TokenTable,
    branching,
    ranks,
    shared_by_many,
    shared_with_the_one_before,
)
from kgdemo.kg.cache import ArrayCache, LFUCache, key_of
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io.saved import GrowingArray
from kgdemo.kg.labels import Adjacency, LabelTable
from kgdemo.kg.path import PathIds
from kgdemo.kg.stores.base import Step
from kgdemo.kg.stores.graph import MAX_ENDS, StoreGraph

CACHE_BYTES = 8_000_000  # of sub-tries; one in seven is asked for again, most of them of well-connected entities
_EDGE_BYTES = 16  # of an edge in a sub-trie
_VERSION = 2
_ROWS = 2 * MAX_ENDS  # of ends that have not been read: those of a hub, and more that are known from their own side


class TokenGraph:
    """Everything the constraint needs to know of a (graph, tokeniser) pair; made once, shared by questions.

    Args:
        kg: the graph.
        label_tokens: spells its labels in the model's tokens.
        directed: walk edges from head to tail only.
        like: of the graph that ``kg`` is an edit of, in the same model's tokens: its token ids are used again.
        cache: where the token ids of a large graph are kept; None for a graph that only one visitor has.

    Attributes:
        steps: token ids of step labels.
        entity_rank, step_rank: rank of each label's token sequence; sorting rows by rank groups equal
            prefixes, which is all a trie needs.
        directed: whether edges are walked from head to tail only.
        sub_tries: the automaton's sub-tries by entity, shared by all questions (GCR appendix B.1).
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        label_tokens: LabelTokens,
        directed: bool = False,
        like: TokenGraph | None = None,
        cache: ArrayCache | None = None,
    ) -> None:
        self.kg = kg
        self.label_tokens = label_tokens
        self.directed = directed
        tokenised = _more(like, kg) if like is not None else _tokenised_labels(kg, label_tokens, cache)
        self._entities, self.entity_rank = tokenised
        self.steps = label_tokens.encode(kg.step_labels, label_tokens.path_format.relation)
        self.step_rank = ranks(self.steps)
        self.sub_tries: LFUCache[SubTrie] = LFUCache(CACHE_BYTES + _EDGE_BYTES * len(kg))  # room for a hub of all edges
        self._walks: list[NDArray[np.int64]] = []
        self._presorted: Adjacency | None = None
        self._growing = threading.Lock()

    @property
    def entities(self) -> TokenTable:
        """Token ids of entity labels."""
        return self._entities

    def sorted_steps(self, entity: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Step ids and targets of an entity's edges, sorted by the tokens of the step, then of the target."""
        if self._presorted is not None:
            row = self._presorted.row(entity)
            return self._presorted.relations[row], self._presorted.targets[row]
        steps, targets = self.kg.steps(entity, self.directed)
        order = np.lexsort((self.entity_rank[targets], self.step_rank[steps]))
        return steps[order], targets[order]

    def has_read(self, entity: int) -> bool:
        """Whether an entity's sub-trie can be built without asking a store; if not, it is asked for soon."""
        return True

    def expect_ends(self, entity: int, step: int) -> None:
        """Announce that a path may go on to where a step leads, which has not been read."""

    def has_read_ends(self, trie: SubTrie, entity: int, place: int) -> bool:
        """Whether it is known what may follow a step in an entity's sub-trie; arguments as for ``read_ends``."""
        return True

    def read_ends(self, trie: SubTrie, entity: int, place: int) -> int:
        """Read the targets of a step in an entity's sub-trie where that has not been done; the row behind the last.

        Args:
            trie: the sub-trie.
            entity: whose it is.
            place: of the step among those of the sub-trie.
        """
        return int(trie.bounds[place + 1])

    def branching(self, trie: SubTrie, entity: int, low: int, high: int, depth: int) -> Branching:
        """What follows a node among the targets of one step, of which the complete ones are read from here on.

        Args:
            trie: an entity's sub-trie.
            entity: whose it is.
            low, high: the node's rows.
            depth: how many tokens they agree in.
        """
        return branching(self.entities, trie.targets[low:high], low, depth)

    def target(self, trie: SubTrie, entity: int, row: int) -> int:
        """The entity in a row of an entity's sub-trie whose step has been read."""
        return int(trie.targets[row])

    def paths_to(self, targets: NDArray[np.int32], hops: int) -> int:
        """How many paths end at these or go on from there for so many hops at the most."""
        return int((self.walks(hops)[targets] + 1).sum())

    def by_tokens(self, entities: NDArray[np.int32]) -> NDArray[np.int32]:
        """These entities in the order of their labels' tokens."""
        return entities[np.argsort(self.entity_rank[entities], kind="stable")]

    def heads(self, entities: NDArray[np.int32]) -> tuple[NDArray[np.int32], TokenTable]:
        """These entities in the order of the tokens that they begin a path with, and these tokens by entity."""
        if self.label_tokens.heads_read_alike():
            return self.by_tokens(entities), self.entities
        table = self.label_tokens.encode(
            [self.kg.entities[int(entity)] for entity in entities], self.label_tokens.path_format.begin
        )
        order = np.argsort(ranks(table), kind="stable")
        rows = np.full(len(self.kg.entities), len(entities), np.int64)  # all others have no tokens
        rows[entities] = np.arange(len(entities))
        no_tokens = TokenTable(np.zeros(2, np.int64), np.empty(0, np.int32))
        return entities[order], table.joined(no_tokens).rows(rows)

    def spelled(self, path: PathIds) -> list[Sequence[int]]:
        """A path in tokens, in pieces: entity, separator, relation, separator, entity, …, and the end mark."""
        label_tokens, head = self.label_tokens, path.entities[0]
        if label_tokens.heads_read_alike():
            pieces: list[Sequence[int]] = [self.entities.row(head).tolist()]
        else:
            pieces = [label_tokens.encode([self.kg.entities[head]], label_tokens.path_format.begin).ids.tolist()]
        for hop, (step, entity) in enumerate(zip(path.steps, path.entities[1:], strict=True)):
            onward = label_tokens.named_again(self.kg.entities[path.entities[hop]]) if hop else label_tokens.to_relation
            pieces += [onward, self.steps.row(step).tolist()]
            pieces += [label_tokens.to_entity, self.entities.row(entity).tolist()]
        return [*pieces, label_tokens.end]

    def presort(self) -> None:
        """Sort the edges of all entities at once: the whole automaton, built offline (GCR appendix B.1)."""
        kg = self.kg
        sides = kg.sides(self.directed)
        sources = np.concatenate([np.repeat(np.arange(len(kg.entities)), np.diff(side.offsets)) for side, _ in sides])
        steps = np.concatenate([side.relations + np.int32(shift) for side, shift in sides])
        targets = np.concatenate([side.targets for side, _ in sides])
        order = np.lexsort((self.entity_rank[targets], self.step_rank[steps], sources))
        offsets = np.sum([side.offsets for side, _ in sides], axis=0)
        self._presorted = Adjacency(offsets, steps[order], targets[order])

    @property
    def nbytes(self) -> int:
        """Size of its own arrays and of the sub-tries kept; the graph's are not among them."""
        arrays: list[np.ndarray] = [self.entities.ids, self.entities.offsets, self.steps.ids, self.steps.offsets]
        arrays += [self.entity_rank, self.step_rank, *self._walks]
        if self._presorted is not None:
            arrays += [self._presorted.offsets, self._presorted.relations, self._presorted.targets]
        return sum(array.nbytes for array in arrays) + self.sub_tries.state.size

    def walks(self, hops: int) -> NDArray[np.int64]:
        """Number of walks of one to ``hops`` hops from each entity, shape ``(entities,)``.

        One pass over the edges a hop; kept. Counts beyond 2**62 are clipped there.
        """
        kg = self.kg
        while len(self._walks) < hops:
            onward = np.ones(len(kg.entities), np.float64)
            if self._walks:
                onward += self._walks[-1]
            total = _sum_by_row(onward, kg.outgoing.offsets, kg.outgoing.targets)
            if not self.directed:
                total += _sum_by_row(onward, kg.incoming.offsets, kg.incoming.targets)
            self._walks.append(np.minimum(total, 2.0**62).astype(np.int64))
        return self._walks[hops - 1] if hops else np.zeros(len(kg.entities), np.int64)


class GrowingTokenGraph(TokenGraph):
    """Of a graph that is filled from a store: labels are tokenised when a step first leads to them.

    A sub-trie is sorted by the tokens of its own targets, so no order of all labels is kept. Walks are counted over
    the steps that have been fetched, so their number is one of those known, not of those there are. A hub's targets
    come in the order of the index that lies beside a saved graph, and are read when a path can be no more than a few
    of them; where there is no index, so many are read at once as the graph reads at all.
    """

    def __init__(self, kg: StoreGraph, label_tokens: LabelTokens, directed: bool = False) -> None:
        super().__init__(kg, label_tokens, directed)
        self._store_graph = kg
        self._hubs = open_hubs(kg.folder, label_tokens.fingerprint() if kg.folder else "", len(kg))
        kg.indexed = self._hubs.steps if self._hubs else frozenset()

    def sorted_steps(self, entity: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """See ``TokenGraph``; targets that have not been read are -1."""
        kg = self._store_graph
        counts = kg.walks_from(entity, self.directed)
        steps, targets = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        for step in sorted(counts, key=lambda step: int(self.step_rank[step])):
            hub, known = self._hub(entity, step), kg.known_ends(entity, step)
            if hub is not None or known is None:
                targets.append(np.full(min(counts[step], _ROWS) if hub is None else len(hub), -1, np.int32))
            else:
                targets.append(self.by_tokens(known))
            steps.append(np.full(len(targets[-1]), step, np.int32))
        return np.concatenate(steps), np.concatenate(targets)

    def has_read(self, entity: int) -> bool:
        """See ``TokenGraph``."""
        return self._store_graph.has_met(entity)

    def expect_ends(self, entity: int, step: int) -> None:
        """See ``TokenGraph``."""
        self._store_graph.expect_ends(entity, step)

    def read_ends(self, trie: SubTrie, entity: int, place: int) -> int:
        """See ``TokenGraph``; no more than were counted."""
        first, behind = int(trie.bounds[place]), int(trie.bounds[place + 1])
        if self._hub(entity, int(trie.steps[place])) is not None:
            return behind
        if trie.targets[first] < 0:
            found = self.by_tokens(self._store_graph.ends(entity, int(trie.steps[place])))[: behind - first]
            trie.targets[first : first + len(found)] = found
        return first + int(np.count_nonzero(trie.targets[first:behind] >= 0))

    def has_read_ends(self, trie: SubTrie, entity: int, place: int) -> bool:
        """See ``TokenGraph``."""
        return int(trie.targets[trie.bounds[place]]) >= 0 or self._hub(entity, int(trie.steps[place])) is not None

    def branching(self, trie: SubTrie, entity: int, low: int, high: int, depth: int) -> Branching:
        """See ``TokenGraph``."""
        place = int(trie.bounds.searchsorted(low, side="right")) - 1
        hub, first = self._hub(entity, int(trie.steps[place])), int(trie.bounds[place])
        if hub is None:
            return super().branching(trie, entity, low, high, depth)
        if high - low <= FEW:
            self._meet(trie, entity, place, hub, np.arange(low, high))
            return super().branching(trie, entity, low, high, depth)
        node = hub.branching(low - first, high - first, depth)
        self._meet(trie, entity, place, hub, np.arange(low, low + node.complete))
        return Branching(node.complete, node.tokens, np.asarray(node.edges) + first)

    def target(self, trie: SubTrie, entity: int, row: int) -> int:
        """See ``TokenGraph``."""
        place = int(trie.bounds.searchsorted(row, side="right")) - 1
        hub = self._hub(entity, int(trie.steps[place]))
        if hub is not None:
            self._meet(trie, entity, place, hub, np.array([row]))
        return super().target(trie, entity, row)

    def _hub(self, entity: int, step: int) -> Hub | None:
        """Where a step of an entity leads, as the index has it."""
        return self._hubs.hub(self._store_graph.asked(entity, step)) if self._hubs else None

    def _meet(self, trie: SubTrie, entity: int, place: int, hub: Hub, rows: NDArray[np.int64]) -> None:
        """Read the targets in these rows of a hub."""
        rows = rows[trie.targets[rows] < 0]
        if len(rows):
            ids = map(str, hub.targets[rows - trie.bounds[place]].tolist())
            trie.targets[rows] = self._store_graph.meet_ends(entity, int(trie.steps[place]), list(ids))

    def paths_to(self, targets: NDArray[np.int32], hops: int) -> int:
        """See ``TokenGraph``; those that have not been read count as the others do."""
        return len(targets) * (1 + int(hops > 0))

    def by_tokens(self, entities: NDArray[np.int32]) -> NDArray[np.int32]:
        """See ``TokenGraph``."""
        return entities[np.argsort(ranks(self.entities.rows(entities)), kind="stable")]

    @property
    def entities(self) -> TokenTable:
        """See ``TokenGraph``; those that the graph has met since are tokenised first."""
        labels = self.kg.entities
        if len(self._entities) < len(labels):
            with self._growing:
                new = labels[len(self._entities) : len(labels)]
                self._entities = self._entities.joined(_encoded(new, self.label_tokens))
        return self._entities

    def walks(self, hops: int) -> NDArray[np.int64]:
        """See ``TokenGraph``: one walk for each entity that has been met and may be walked on from."""
        return np.full(len(self.kg.entities), int(hops > 0), np.int64)


def token_graph_of(
    kg: KnowledgeGraph,
    label_tokens: LabelTokens,
    directed: bool = False,
    like: TokenGraph | None = None,
    cache: ArrayCache | None = None,
) -> TokenGraph:
    """A graph in a model's tokens, whether it is all here or grows; see ``TokenGraph``."""
    if isinstance(kg, StoreGraph):
        return GrowingTokenGraph(kg, label_tokens, directed)
    return TokenGraph(kg, label_tokens, directed, like=like, cache=cache)


def _encoded(entities: Sequence[str], label_tokens: LabelTokens) -> TokenTable:
    """Labels of entities as a relation leads to them."""
    return label_tokens.encode(entities, label_tokens.path_format.entity)


_Ranked = tuple[TokenTable, NDArray[np.int64]]  # labels in tokens, and each one's rank in the order of these


def _tokenised_labels(kg: KnowledgeGraph, label_tokens: LabelTokens, cache: ArrayCache | None) -> _Ranked:
    """All labels of entities in tokens; from the cache, if those of a graph of this size are kept."""
    labels = kg.entities
    tokenizer = label_tokens.fingerprint() if cache is not None and len(labels) >= cache.min_labels else ""
    if cache is None or not tokenizer:
        table = _encoded(list(labels), label_tokens)
        return table, ranks(table)

    def spelled() -> dict[str, NDArray[np.generic]]:
        table = _encoded(list(labels), label_tokens)
        return {"offsets": table.offsets, "ids": table.ids, "rank": ranks(table)}

    found = cache.get(key_of(f"token ids {_VERSION}", tokenizer, labels.offsets, labels.blob), spelled)
    return TokenTable(found["offsets"], found["ids"]), found["rank"]


def _more(like: TokenGraph, kg: KnowledgeGraph) -> _Ranked:
    """The labels of a graph's edit: the new entities come behind the old ones."""
    new = [kg.entities[i] for i in range(len(like.entities), len(kg.entities))]
    if not new:
        return like.entities, like.entity_rank
    table = like.entities.joined(_encoded(new, like.label_tokens))
    return table, ranks(table)


def _sum_by_row(
    values: NDArray[np.float64], offsets: NDArray[np.int64], targets: NDArray[np.int32]
) -> NDArray[np.float64]:
    sums = np.concatenate([[0.0], np.cumsum(values[targets])])
    result: NDArray[np.float64] = sums[offsets[1:]] - sums[offsets[:-1]]
    return result


# the hubs of a saved graph ------------------------------------------------------------------------

_HUBS_HEADER = "hubs.json"
_HUBS_VERSION = 1
_HUB_ARRAYS = ("targets", "firsts", "tokens")
_PIECE = 250_000  # ends that are spelled and sorted at once
_READ = 50_000  # rows taken from a piece, or written, at once


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
        header = json.loads((folder / _HUBS_HEADER).read_text("utf-8"))
        if header["made_from"] != _hubs_made_from(tokenizer, facts):
            raise ValueError(f"the index of names in {folder} was made from something else")
        self._targets, self._firsts, self._tokens = (
            np.load(folder / f"hubs.{name}.npy", mmap_mode="r", allow_pickle=False) for name in _HUB_ARRAYS
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
    (folder / _HUBS_HEADER).unlink(missing_ok=True)
    tokenizer = label_tokens.fingerprint()
    if not tokenizer:
        return 0
    targets, firsts, tokens = written = [GrowingArray(folder / f"hubs.{name}.npy", np.int32) for name in _HUB_ARRAYS]
    hubs: list[tuple[int, int, bool, int, list[int]]] = []
    for outgoing, side in ((True, kg.outgoing), (False, kg.incoming)):
        for entity, relation, ends in _hubs(side, beyond):
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                table = _sorted_names(kg.entities, ends, label_tokens, piece, Path(scratch), targets)
                levels = _write_levels(table, firsts, tokens)
            hubs.append((entity, relation, outgoing, len(ends), levels))
    for array in written:
        array.close()
    header = {"made_from": _hubs_made_from(tokenizer, len(kg)), "hubs": hubs}
    (folder / _HUBS_HEADER).write_text(json.dumps(header), "utf-8")  # last: an index with it is whole
    return len(hubs)


def _hubs_made_from(tokenizer: str, facts: int) -> list[str | int]:
    return [_HUBS_VERSION, FEW, tokenizer, facts]


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
    shared = shared_with_the_one_before(table)
    deepest = shared_by_many(shared) + 1
    np.minimum(deepest, np.diff(table.offsets), out=deepest, casting="unsafe")
    levels = [0]
    for depth in range(1, int(deepest.max(initial=0)) + 1):
        rows = np.flatnonzero((shared < depth) & (depth <= deepest))
        firsts.append(rows)
        tokens.append(table.ids[table.offsets[rows] + depth - 1])
        levels.append(levels[-1] + len(rows))
    return levels
