"""A graph seen through one tokeniser: token ids and their lexicographic rank for every label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kgdemo.constraint.cache import Cache
from kgdemo.constraint.kept import SpelledLabels, TokenStore
from kgdemo.constraint.pieces import Pieces
from kgdemo.constraint.subtries import SubTrie
from kgdemo.constraint.tables import ranks
from kgdemo.kg.graph import Adjacency, KnowledgeGraph


class TokenisedGraph:
    """Everything the constraint needs to know of a (graph, tokeniser) pair; made once, shared by questions.

    Args:
        kg: the graph.
        pieces: the tokeniser's pieces.
        directed: walk edges from head to tail only.
        cache_bytes: how much memory sub-tries may take.
        like: of the graph that ``kg`` is an edit of, with the same pieces: its token ids are used again.
        store: where the token ids of a large graph are kept; None for a graph that is nobody else's business.

    Attributes:
        entities, steps: token ids of entity labels and of step readings.
        entity_rank, step_rank: rank of each label's token sequence; sorting rows by rank groups equal
            prefixes, which is all a trie needs.
        directed: whether edges are walked from head to tail only.
        sub_tries: the automaton's sub-tries by entity, shared by all questions (GCR appendix B.1).
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        pieces: Pieces,
        directed: bool = False,
        cache_bytes: int = 64_000_000,
        like: TokenisedGraph | None = None,
        store: TokenStore | None = None,
    ) -> None:
        self.kg = kg
        self.pieces = pieces
        self.directed = directed
        if like is not None:
            spelled = _more(like, kg)
        elif store is not None:
            spelled = store.get(kg.entities, pieces, lambda: _spelled(kg, pieces))
        else:
            spelled = _spelled(kg, pieces)
        self.entities, self.entity_rank = spelled.table, spelled.rank
        self.steps = pieces.encode(kg.readings)
        self.step_rank = ranks(self.steps)
        self.sub_tries: Cache[SubTrie] = Cache(cache_bytes)
        self._walks: list[NDArray[np.int64]] = []
        self._presorted: Adjacency | None = None

    def sorted_steps(self, entity: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Step ids and targets of an entity's edges, sorted by the tokens of the step, then of the target."""
        if self._presorted is not None:
            row = self._presorted.row(entity)
            return self._presorted.relations[row], self._presorted.targets[row]
        steps, targets = self.kg.steps(entity, self.directed)
        order = np.lexsort((self.entity_rank[targets], self.step_rank[steps]))
        return steps[order], targets[order]

    def presort(self) -> None:
        """Sort the edges of all entities at once: the whole automaton, built offline (GCR appendix B.1)."""
        kg = self.kg
        sides = [(kg.outgoing, 0)] if self.directed else [(kg.outgoing, 0), (kg.incoming, len(kg.relations))]
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


def _spelled(kg: KnowledgeGraph, pieces: Pieces) -> SpelledLabels:
    table = pieces.encode(list(kg.entities))
    return SpelledLabels(table, ranks(table))


def _more(like: TokenisedGraph, kg: KnowledgeGraph) -> SpelledLabels:
    """The labels of a graph's edit: the new entities come behind the old ones."""
    new = [kg.entities[i] for i in range(len(like.entities), len(kg.entities))]
    if not new:
        return SpelledLabels(like.entities, like.entity_rank)
    table = like.entities.joined(like.pieces.encode(new))
    return SpelledLabels(table, ranks(table))


def _sum_by_row(
    values: NDArray[np.float64], offsets: NDArray[np.int64], targets: NDArray[np.int32]
) -> NDArray[np.float64]:
    sums = np.concatenate([[0.0], np.cumsum(values[targets])])
    return sums[offsets[1:]] - sums[offsets[:-1]]
