"""A graph seen through one tokeniser: token ids and their lexicographic rank for every label.

Token ids of large graphs are kept on disk, see ``kg.cache``: a graph is tokenised once, not once a start.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kgdemo.constraint.hub_index import Hub, open_hubs
from kgdemo.constraint.label_tokens import FEW, Branching, LabelTokens, SubTrie, TokenTable, branching, ranks
from kgdemo.kg.arrays import Adjacency
from kgdemo.kg.cache import ArrayCache, LFUCache, key_of
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import PathIds
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
