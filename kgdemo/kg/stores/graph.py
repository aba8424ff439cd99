"""A graph that is filled from a store as a search reaches into it, behind the interface of a graph in memory.

Nothing above knows which of the two it has. Entities get their ids in the order they are met. What is asked of one
entity is asked of all that the search may need next, in one request: whoever closes a relation in a path says where it
leads (``expect``), and the first look behind any of these entities fetches the steps of all of them.

An entity with more edges than are fetched at once is asked for its relations and their counts first. A relation that
leads further than ``MAX_ENDS`` is read up to there, in no order that the store promises, and ``cut`` says so.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from kgdemo.errors import UserError
from kgdemo.kg.adjacency import Adjacency
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph, Triple
from kgdemo.kg.labels import LabelTable
from kgdemo.kg.stores.base import Edge, Node, Store, distinct_labels, local_name

MAX_EDGES = 40_000  # fetched by one request
MAX_ENDS = 5_000  # of one relation of one entity
MAX_FRONTIER = 256  # entities whose steps are fetched together
MAX_ENTITIES = 500_000  # held in memory; a graph that has met more is opened anew before the next question

_Row = tuple[NDArray[np.int32], NDArray[np.int32]]  # steps and the entities they lead to, in the order of a local graph


class MetLabels(LabelTable):
    """The labels of the entities met so far, ``id <-> label``; ids never change.

    Args:
        graph: asked for a label that has not been met.
    """

    def __init__(self, graph: StoreGraph) -> None:
        self._graph = graph
        self.labels: list[str] = []
        self.ids: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.labels)

    @overload
    def __getitem__(self, index: SupportsIndex) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: SupportsIndex | slice) -> str | list[str]:
        """See ``LabelTable``."""
        return self.labels[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels[:])

    def find(self, label: str) -> int | None:
        """The id of a label; the store is asked for one that has not been met."""
        known = self.ids.get(label)
        if known is None:
            self._graph.meet([label])
            known = self.ids.get(label)
        return known

    def known(self, labels: Iterable[str]) -> list[str]:
        """See ``LabelTable``; in one request."""
        wanted = list(labels)
        self._graph.meet(wanted)
        return [label for label in wanted if label in self.ids]


class MetInfo(Mapping[str, EntityInfo]):
    """What is known of entities that have been met; going through it gives none, for nobody can list them all."""

    def __init__(self, graph: StoreGraph) -> None:
        self._graph = graph
        self.known: dict[str, EntityInfo] = {}

    def __getitem__(self, label: str) -> EntityInfo:
        return self.known[label]

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        return bool(self.known or self._graph.types)


class StoreGraph(KnowledgeGraph):
    """The part of a store's graph that questions have reached; safe to use from several threads.

    Args:
        store: where the graph is.
        name: how the graph is called on the page.
    """

    grows = True

    def __init__(self, store: Store, name: str) -> None:
        self.store = store
        self._lock = threading.RLock()
        survey = store.survey()
        if not survey.relations:
            raise UserError(
                f"The graph store {name} has no facts of the kind that its profile names; change the profile."
            )
        by_label = distinct_labels(survey.relations)
        nothing = Adjacency(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))
        super().__init__(name, MetLabels(self), LabelTable.from_labels(by_label), nothing, nothing)
        self._facts = survey.facts
        self._relation_iris = [by_label[label] for label in self.relations]
        self._relation_ids = {iri: place for place, iri in enumerate(self._relation_iris)}
        self._symmetric = {place: iri in survey.symmetric for place, iri in enumerate(self._relation_iris)}
        self._type_labels = survey.types
        self.types = frozenset(survey.types.values())
        self._met_info = MetInfo(self)
        self.info = self._met_info  # type: ignore[assignment]  # a mapping that is only looked into
        self._iris: list[str] = []
        self._ids: dict[str, int] = {}
        self._strangers: set[str] = set()
        self._rows: dict[int, _Row] = {}
        self._ends: dict[tuple[int, int], NDArray[np.int32]] = {}
        self._counts: dict[int, dict[int, int]] = {}  # entity -> step -> ends
        self._back: dict[tuple[tuple[int, ...], bytes], dict[int, list[tuple[int, int]]]] = {}
        self._reached: set[int] = set()  # over an edge
        self._frontier: dict[int, None] = {}
        self.cut = []

    def __len__(self) -> int:
        """Number of triples; 0 where the store did not count them."""
        return self._facts

    # entities ----------------------------------------------------------------------------------

    @property
    def is_full(self) -> bool:
        """See ``KnowledgeGraph``."""
        return len(self._iris) > MAX_ENTITIES

    def meet(self, labels: Sequence[str]) -> None:
        """Ask the store for the entities of these labels that have not been met."""
        with self._lock:
            missing = [label for label in labels if label not in self._met.ids and label not in self._strangers]
            if missing:
                found = self.store.find(missing)
                for node in sorted({node.id: node for text, node in found if node.label == text}.values(), key=_by_id):
                    self.met(node)
                if len(self._strangers) > MAX_ENTITIES:
                    self._strangers.clear()
                self._strangers.update(label for label in missing if label not in self._met.ids)

    def met(self, node: Node) -> int:
        """The id of an entity; a second one of the same label is called by its id in brackets too."""
        with self._lock:
            known = self._ids.get(node.id)
            if known is not None:
                return known
            label = node.label or node.id
            if label in self._met.ids:
                label = f"{label} ({local_name(node.id)})"
            if label in self._met.ids:
                label = node.id
            place = self._ids[node.id] = self._met.ids[label] = len(self._iris)
            self._iris.append(node.id)
            self._met.labels.append(label)
            kind = self._type_labels.get(node.type) or (local_name(node.type) if node.type else "")
            if kind or node.aliases or node.description:
                self._met_info.known[label] = EntityInfo(kind, node.aliases, node.description)
            return place

    def describe(self, labels: Iterable[str]) -> None:
        """Fetch aliases, types and descriptions of a few entities by their labels."""
        iris = [self._iris[place] for label in labels if (place := self.entities.find(label)) is not None]
        for node in self.store.labels(iris):
            label = self._met.labels[self._ids[node.id]]
            kind = self._type_labels.get(node.type) or (local_name(node.type) if node.type else "")
            self._met_info.known[label] = EntityInfo(kind, node.aliases, node.description)

    @property
    def _met(self) -> MetLabels:
        assert isinstance(self.entities, MetLabels)
        return self.entities

    # one hop -----------------------------------------------------------------------------------

    def expect(self, entities: NDArray[np.int32]) -> None:
        """See ``KnowledgeGraph``: their steps are fetched together with the next that are needed."""
        if len(entities) <= MAX_FRONTIER:
            with self._lock:
                self._frontier.update(dict.fromkeys(e for e in entities.tolist() if e not in self._rows))

    def has_steps(self, entity: int, directed: bool = False) -> bool:
        """See ``KnowledgeGraph``; an entity that an edge led to has that edge, seen from its other side."""
        if not directed and entity in self._reached:
            return True
        if entity not in self._counts:
            with self._lock:
                self._count([entity, *list(self._frontier)[:MAX_FRONTIER]])
        return self.degree(entity, directed) > 0

    def steps(self, entity: int, directed: bool = False) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """See ``KnowledgeGraph``."""
        self._fetch([entity])
        steps, targets = self._rows[entity]
        if directed:
            forward = steps < len(self.relations)
            return steps[forward], targets[forward]
        return steps, targets

    def degree(self, entity: int, directed: bool = False) -> int:
        """See ``KnowledgeGraph``; of a hub all edges are counted, not only those that are read."""
        return self.degrees([entity], directed)[0]

    def degrees(self, entities: Sequence[int], directed: bool = False) -> list[int]:
        """See ``KnowledgeGraph``; in one request."""
        self._count(entities)
        count = len(self.relations)
        return [sum(n for step, n in self._counts[e].items() if not directed or step < count) for e in entities]

    def known_degrees(self) -> NDArray[np.int64]:
        """See ``KnowledgeGraph``; 0 for those that were not counted."""
        with self._lock:
            return np.array([sum(self._counts.get(e, {}).values()) for e in range(len(self._iris))], np.int64)

    def edges_from(
        self, entities: NDArray[np.integer], directed: bool = False
    ) -> tuple[NDArray[np.integer], NDArray[np.int32], NDArray[np.int32]]:
        """See ``KnowledgeGraph``."""
        self._fetch(entities.tolist())
        rows = [self.steps(entity, directed) for entity in entities.tolist()]
        nothing = np.empty(0, np.int32)
        return (
            np.repeat(entities, [len(steps) for steps, _ in rows]),
            np.concatenate([nothing, *(steps for steps, _ in rows)]),
            np.concatenate([nothing, *(targets for _, targets in rows)]),
        )

    def steps_from(self, entities: NDArray[np.integer], directed: bool = False) -> NDArray[np.int32]:
        """See ``KnowledgeGraph``; only counts are asked for."""
        self._count(entities.tolist())
        found = {step for entity in entities.tolist() for step in self._counts[entity]}
        return np.array(sorted(s for s in found if not directed or s < len(self.relations)), np.int32)

    def follow(self, entities: NDArray[np.integer], steps: Collection[int]) -> NDArray[np.int32]:
        """See ``KnowledgeGraph``; in the order of labels."""
        self._fetch_ends(entities.tolist(), steps)
        ends = [self._led(entity, step) for entity in entities.tolist() for step in steps]
        return self.in_order(np.unique(np.concatenate([np.empty(0, np.int32), *ends])))

    def in_order(self, entities: NDArray[np.int32]) -> NDArray[np.int32]:
        """See ``KnowledgeGraph``."""
        labels = self._met.labels
        return np.array(sorted(entities.tolist(), key=lambda e: _key(labels[e])), np.int32)

    def relation_paths(
        self, topic: int, hops: int, directed: bool = False, width: int = 2000
    ) -> list[NDArray[np.int32]]:
        """See ``KnowledgeGraph``; the pairs are found by the store, which looks at all entities between them."""
        if hops > 2:
            return super().relation_paths(topic, hops, directed, width)
        one = self.steps_from(np.array([topic]), directed)
        found = [one.reshape(-1, 1)]
        if hops > 1:
            pairs = {
                (first, second)
                for p, forward, q, on in self.store.onward(self._iris[topic])
                if (first := self._step(p, forward)) is not None and (second := self._step(q, on)) is not None
            }
            count = len(self.relations)
            kept = sorted(pair for pair in pairs if not directed or max(pair) < count)
            found.append(np.array(kept, np.int32).reshape(-1, 2))
        return found

    def has_triple(self, head: str, relation: str, tail: str) -> bool:
        """See ``KnowledgeGraph``."""
        h, r, t = self.entities.find(head), self.relations.find(relation), self.entities.find(tail)
        if h is None or r is None or t is None:
            return False
        return self.store.exists([(self._iris[h], self._relation_iris[r], self._iris[t])])[0]

    def triples(self) -> Iterator[Triple]:
        """Never all of them.

        Raises:
            UserError: always.
        """
        raise UserError(f"The graph {self.name} is behind a store and cannot be gone through as a whole.")

    def labels_of_type(self, kind: str) -> frozenset[str]:
        """See ``KnowledgeGraph``; of the entities that have been met."""
        of_kind = [e for e in list(self._counts) if self.type_of(e) == kind]
        return frozenset(self.step_labels[step] for entity in of_kind for step in self._counts[entity])

    def _row_towards(self, entity: int, layer: NDArray[np.int32], allowed: Collection[int]) -> _Row:
        """See ``KnowledgeGraph``; read off the edges that led from the layer, so nothing more is fetched."""
        key = (tuple(sorted(allowed)), layer.tobytes())
        if key not in self._back:
            with self._lock:
                if len(self._back) > 64:
                    self._back.clear()
                led: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
                self._fetch_ends(layer.tolist(), allowed)
                for source in layer.tolist():
                    for step in allowed:
                        for target in self._led(source, step).tolist():
                            led[target].append((self.inverse(step), source))
                labels = self._met.labels
                self._back[key] = {
                    target: sorted(own, key=lambda one: (one[0], _key(labels[one[1]]))) for target, own in led.items()
                }
        own = np.array(self._back[key].get(entity, []), np.int32).reshape(-1, 2)
        return own[:, 0], own[:, 1]

    # fetching ----------------------------------------------------------------------------------

    def _step(self, relation: str, outgoing: bool) -> int | None:
        place = self._relation_ids.get(relation)
        return None if place is None else place if outgoing else place + len(self.relations)

    def _turned(self, step: int) -> tuple[str, bool]:
        return self._relation_iris[self.relation_of(step)], step < len(self.relations)

    def _reach(self, end: Node) -> int:
        place = self.met(end)
        self._reached.add(place)
        return place

    def _led(self, entity: int, step: int) -> NDArray[np.int32]:
        """Where a step leads; it has been fetched."""
        known = self._ends.get((entity, step))
        if known is None:
            steps, targets = self._rows[entity]
            known = targets[steps == step]
        return known

    def _fetch(self, entities: Sequence[int]) -> None:
        """The steps of these entities; where any is missing, those that were expected are fetched as well."""
        with self._lock:
            missing = [entity for entity in entities if entity not in self._rows]
            if not missing:
                return
            todo = list(dict.fromkeys((*missing, *list(self._frontier)[: max(0, MAX_FRONTIER - len(missing))])))
            todo = [entity for entity in todo if entity not in self._rows]
            for entity in todo:
                self._frontier.pop(entity, None)
            found = self.store.ends([self._iris[e] for e in todo], limit=MAX_EDGES)
            if found.complete:
                self._keep(todo, found.edges)
            else:
                self._fetch_hubs(missing)  # what else was expected waits until it is needed

    def _fetch_hubs(self, entities: Sequence[int]) -> None:
        """Relations first, then the ends of each; those that lead too far only so far."""
        self._count(entities)
        edges: list[Edge] = []
        for entity in entities:
            small = [self._turned(s) for s, n in self._counts[entity].items() if n <= MAX_ENDS]
            large = [(self._turned(s), s, n) for s, n in self._counts[entity].items() if n > MAX_ENDS]
            room = MAX_ENDS * max(1, len(small))
            if small:
                edges += self.store.ends([self._iris[entity]], small, limit=room).edges
            for relation, step, count in large:
                edges += self.store.ends([self._iris[entity]], [relation], limit=MAX_ENDS).edges
                self._say_cut(entity, step, count)
        counts = {entity: self._counts[entity] for entity in entities}
        self._keep(entities, edges)
        self._counts.update(counts)

    def _say_cut(self, entity: int, step: int, count: int) -> None:
        said = (
            f"{self._met.labels[entity]} has {count:,} ends over “{self.step_labels[step]}”; {MAX_ENDS:,} of them are "
            "read, so a path to another one would not be found."
        )
        if said not in self.cut:
            self.cut = [*self.cut[-19:], said]

    def _keep(self, entities: Sequence[int], edges: Iterable[Edge]) -> None:
        """Sort the edges of entities as a local graph does: by step, then by the label they lead to."""
        own: defaultdict[int, set[tuple[int, int]]] = defaultdict(set)
        for edge in edges:
            entity, step = self._ids.get(edge.entity), self._step(edge.relation, edge.outgoing)
            if entity is not None and step is not None:
                own[entity].add((step, self._reach(edge.end)))
        labels = self._met.labels
        for entity in entities:
            row = sorted(own[entity], key=lambda one: (one[0], _key(labels[one[1]])))
            pairs = np.array(row, np.int32).reshape(-1, 2)
            steps, counts = np.unique(pairs[:, 0], return_counts=True)
            self._rows[entity] = (pairs[:, 0].copy(), pairs[:, 1].copy())
            self._counts[entity] = dict(zip(steps.tolist(), counts.tolist(), strict=True))

    def _count(self, entities: Sequence[int]) -> None:
        """How many ends each step of these entities has."""
        with self._lock:
            missing = [entity for entity in dict.fromkeys(entities) if entity not in self._counts]
            if not missing:
                return
            found: dict[int, dict[int, int]] = {entity: {} for entity in missing}
            for one in self.store.relations([self._iris[e] for e in missing]):
                entity, step = self._ids.get(one.entity), self._step(one.relation, one.outgoing)
                if entity in found and step is not None:
                    found[entity][step] = one.count
            self._counts.update(found)

    def _fetch_ends(self, entities: Sequence[int], steps: Collection[int]) -> None:
        """Where these steps lead from these entities, in one request for all that are missing."""
        with self._lock:
            missing = [
                e for e in entities if e not in self._rows and any((e, step) not in self._ends for step in steps)
            ]
            if not missing or not steps:
                return
            found = self.store.ends([self._iris[e] for e in missing], [self._turned(s) for s in steps], limit=MAX_EDGES)
            if not found.complete:
                said = f"{len(missing):,} entities lead on to more than {MAX_EDGES:,}; only so many are looked at."
                self.cut = [*self.cut[-19:], said]
            led: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
            for edge in found.edges:
                entity, step = self._ids.get(edge.entity), self._step(edge.relation, edge.outgoing)
                if entity is not None and step is not None:
                    led[entity, step].add(self._reach(edge.end))
            for entity in missing:
                for step in steps:
                    ends = self.in_order(np.array(list(led[entity, step]), np.int32))
                    self._ends[entity, step] = ends


def _key(label: str) -> bytes:
    """Labels sort as those of a local graph do."""
    return label.encode("utf-8", "surrogatepass")


def _by_id(node: Node) -> str:
    return node.id
