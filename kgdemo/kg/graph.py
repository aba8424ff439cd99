"""The knowledge graph: interned labels and CSR adjacency in numpy.

A *step* is a relation walked in one of its two directions. Step ids below ``len(relations)`` walk an
edge from head to tail; the others walk it from tail to head. Each step has a *reading*, the words
that stand for it in a path: the relation itself, or for an inverse step ``~relation`` unless the
schema reads it otherwise (``directed by`` / ``directed``) or that is another relation's name.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from kgdemo.kg.io.freebase import entity_kinds
from kgdemo.kg.labels import LabelTable

Triple = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class EntityInfo:
    """What a graph knows of an entity besides its edges; used for linking and for the picture."""

    type: str = ""
    aliases: tuple[str, ...] = ()
    description: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Adjacency:
    """Edges grouped by the entity they start from (compressed sparse rows).

    ``relations[offsets[e]:offsets[e + 1]]`` and the same slice of ``targets`` are the edges of ``e``.
    """

    offsets: NDArray[np.int64]  # (entities + 1,)
    relations: NDArray[np.int32]  # (edges,)
    targets: NDArray[np.int32]  # (edges,)

    @classmethod
    def build(
        cls,
        sources: NDArray[np.int32],
        relations: NDArray[np.int32],
        targets: NDArray[np.int32],
        entities: int,
    ) -> Adjacency:
        """Sort edges by source, relation, target and index them by source."""
        order = np.lexsort((targets, relations, sources))
        offsets = np.zeros(entities + 1, dtype=np.int64)
        np.cumsum(np.bincount(sources, minlength=entities), out=offsets[1:])
        return cls(offsets, relations[order], targets[order])

    def row(self, entity: int) -> slice:
        """The slice of the edge arrays that belongs to ``entity``."""
        return slice(int(self.offsets[entity]), int(self.offsets[entity + 1]))

    def places(self, entities: NDArray[np.integer]) -> NDArray[np.int64]:
        """Where the edges of all these entities stand in the edge arrays, ``(edges of theirs,)``."""
        begins, counts = self.offsets[entities], self.offsets[entities + 1] - self.offsets[entities]
        # each row's begin, plus 0, 1, … within the row
        return np.repeat(begins - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())


class KnowledgeGraph:
    """Labelled directed multigraph; parallel relations and self-loops are kept, repeats collapse.

    Args:
        name: how the graph is called on the page and in traces.
        entities: entity labels.
        relations: relation labels.
        outgoing: edges by head.
        incoming: edges by tail (``targets`` then holds the heads).
        inverse_labels: relation -> the words for walking it backwards; a relation that maps to
            itself is symmetric.
        info: entity label -> type, aliases, description; entities without any are left out.

    Attributes:
        types: of all entities that have one.
    """

    def __init__(
        self,
        name: str,
        entities: LabelTable,
        relations: LabelTable,
        outgoing: Adjacency,
        incoming: Adjacency,
        inverse_labels: Mapping[str, str] | None = None,
        info: Mapping[str, EntityInfo] | None = None,
    ) -> None:
        self.name = name
        self.entities = entities
        self.relations = relations
        self.outgoing = outgoing
        self.incoming = incoming
        self.inverse_labels = dict(inverse_labels or {})
        self.info = dict(info or {})
        self.types = frozenset(known.type for known in self.info.values() if known.type)
        forward = list(relations)
        self.step_labels: list[str] = forward + inverse_step_labels(forward, self.inverse_labels)
        self._step_of = {relation_label: step for step, relation_label in reversed(list(enumerate(self.step_labels)))}
        self._symmetric: dict[int, bool] = {}

    def type_of(self, entity: int) -> str:
        """The type of an entity by its id; empty where none is known."""
        known = self.info.get(self.entities[entity])
        return known.type if known else ""

    @classmethod
    def from_triples(
        cls,
        triples: Iterable[Triple],
        name: str = "graph",
        inverse_labels: Mapping[str, str] | None = None,
        info: Mapping[str, EntityInfo] | None = None,
    ) -> KnowledgeGraph:
        """Build a graph in memory from (head, relation, tail) labels.

        Args:
            triples: repeats count once.
            name, inverse_labels: see above.
            info: see above; where it gives no type, that which relations named in Freebase's way tell counts.
        """
        entity_ids, relation_ids = _first_seen(), _first_seen()
        flat = array("i")
        for head, relation, tail in triples:
            flat.extend((entity_ids[head], relation_ids[relation], entity_ids[tail]))
        ids = np.frombuffer(flat, dtype=np.int32).reshape(-1, 3) if flat else np.empty((0, 3), np.int32)
        entities, entity_rank = LabelTable.ranked(entity_ids)
        relations, relation_rank = LabelTable.ranked(relation_ids)
        heads, between, tails = entity_rank[ids[:, 0]], relation_rank[ids[:, 1]], entity_rank[ids[:, 2]]
        heads, between, tails = _unique_edges(heads, between, tails, len(entities), len(relations))
        known = {label: told for label, told in (info or {}).items() if label in entity_ids}
        for entity, kind in entity_kinds(heads, between, tails, list(relations)).items():
            told = known.get(entities[entity], EntityInfo())
            known[entities[entity]] = told if told.type else replace(told, type=kind)
        return cls(
            name,
            entities,
            relations,
            Adjacency.build(heads, between, tails, len(entities)),
            Adjacency.build(tails, between, heads, len(entities)),
            inverse_labels,
            known,
        )

    def __len__(self) -> int:
        """Number of triples."""
        return len(self.outgoing.targets)

    def steps(self, entity: int, directed: bool = False) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """All steps from an entity.

        Args:
            entity: entity id.
            directed: follow edges from head to tail only (the papers' setting).

        Returns:
            step ids and the entity ids they lead to, two int32 arrays of equal length.
        """
        row = self.outgoing.row(entity)
        steps, targets = self.outgoing.relations[row], self.outgoing.targets[row]
        if directed:
            return steps, targets
        row = self.incoming.row(entity)
        return (
            np.concatenate([steps, self.incoming.relations[row] + np.int32(len(self.relations))]),
            np.concatenate([targets, self.incoming.targets[row]]),
        )

    def degree(self, entity: int, directed: bool = False) -> int:
        """Number of steps from an entity."""
        degree = int(self.outgoing.offsets[entity + 1] - self.outgoing.offsets[entity])
        if not directed:
            degree += int(self.incoming.offsets[entity + 1] - self.incoming.offsets[entity])
        return degree

    def alike(self, relation_label: str) -> tuple[str, ...]:
        """The readings that say the same as this one: a symmetric relation may be walked in either direction.

        Symmetric is, beside what the schema says so of, a relation most of whose edges are stored in both directions:
        whoever left out the others did not mean that A borders B and B does not border A.

        Returns:
            the relation's own reading and that of its inverse step, or the given one alone.
        """
        step, count = self._step_of.get(relation_label), len(self.relations)
        if step is None:
            return (relation_label,)
        relation = step % count
        both = (self.step_labels[relation], self.step_labels[relation + count])
        if both[0] == both[1]:
            return (relation_label,)
        if relation not in self._symmetric:
            self._symmetric[relation] = self._mostly_both_ways(relation)
        return both if self._symmetric[relation] else (relation_label,)

    def said(self, steps: Iterable[int]) -> tuple[str, ...]:
        """What steps read as; a symmetric relation always as itself, so that what says the same reads the same."""
        return tuple(self.alike(self.step_labels[step])[0] for step in steps)

    def _mostly_both_ways(self, relation: int) -> bool:
        places = np.flatnonzero(self.outgoing.relations == relation)
        heads, tails = np.searchsorted(self.outgoing.offsets, places, "right") - 1, self.outgoing.targets[places]
        heads, tails = heads[heads != tails], tails[heads != tails].astype(np.int64)
        stored, turned = heads * len(self.entities) + tails, tails * len(self.entities) + heads
        return bool(len(heads)) and bool(np.isin(turned, stored).mean() > 0.5)

    def neighbours(self, label: str, directed: bool = False) -> list[tuple[str, str]]:
        """(reading, entity) for each step from the entity called ``label``; empty when unknown."""
        entity = self.entities.find(label)
        if entity is None:
            return []
        steps, targets = self.steps(entity, directed)
        return [(self.step_labels[s], self.entities[t]) for s, t in zip(steps, targets, strict=True)]

    def has_triple(self, head: str, relation: str, tail: str) -> bool:
        """Whether this very triple, in this direction, is stored."""
        h, r, t = self.entities.find(head), self.relations.find(relation), self.entities.find(tail)
        if h is None or r is None or t is None:
            return False
        row = self.outgoing.row(h)
        return bool(np.any((self.outgoing.relations[row] == r) & (self.outgoing.targets[row] == t)))

    def triples(self) -> Iterator[Triple]:
        """All triples as labels, ordered by head."""
        for head in range(len(self.entities)):
            row = self.outgoing.row(head)
            for relation, tail in zip(self.outgoing.relations[row], self.outgoing.targets[row], strict=True):
                yield self.entities[head], self.relations[relation], self.entities[tail]


def inverse_step_labels(relations: Sequence[str], inverse_labels: Mapping[str, str]) -> list[str]:
    """How each relation reads when it is walked from tail to head: in the schema's words, else its name behind a tilde.

    Where that would be the name of a relation too, more tildes are put before all relations named alike but for their
    tildes, as few as tell them apart: the inverses of ``part`` and ``~part`` read ``~~part`` and ``~~~part``.
    """
    depths: defaultdict[str, set[int]] = defaultdict(set)
    for relation in relations:
        name = relation.lstrip("~")
        depths[name].add(len(relation) - len(name))
    shifts = dict.fromkeys(depths, 1)
    for name, taken in depths.items():
        while any(depth + shifts[name] in taken for depth in taken):
            shifts[name] += 1
    return [inverse_labels.get(r, "~" * shifts[r.lstrip("~")] + r) for r in relations]


def _first_seen() -> defaultdict[str, int]:
    """Label -> id in the order that labels are first asked for."""
    ids: defaultdict[str, int] = defaultdict()
    ids.default_factory = ids.__len__
    return ids


def _unique_edges(
    heads: NDArray[np.int32],
    relations: NDArray[np.int32],
    tails: NDArray[np.int32],
    entity_count: int,
    relation_count: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Drop repeated triples. One int64 key per edge is several times faster than unique rows."""
    key = (heads.astype(np.int64) * max(relation_count, 1) + relations) * max(entity_count, 1) + tails
    _, first = np.unique(key, return_index=True)
    return heads[first], relations[first], tails[first]
