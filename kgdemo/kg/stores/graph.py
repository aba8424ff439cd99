"""A graph that is filled from a store as a search reaches into it, behind the interface of a graph in memory.

Nothing above knows which of the two it has. Entities get their ids in the order they are met. What is asked of one
entity is asked of all that the search may need next, in one request: a search that begins at some topics has the
relations of all that lies around them fetched while the model still reads the question (``starts``), whoever closes a
relation in a path says where it leads (``expect``), and what is asked of one entity is soon asked of the others that
the same relation led to.

Of an entity its relations and their counts are read, and the ends of those that have few. The others are read when a
path has closed the relation. One that leads further than ``MAX_ENDS`` is read up to there, in no order that the store
promises, and ``cut`` says so. What leads to such a hub itself, and has been read from its own side, is known to be
among its ends all the same.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from itertools import islice
from pathlib import Path
from typing import SupportsIndex, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from kgdemo.errors import UserError
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph, Triple
from kgdemo.kg.labels import Adjacency, LabelTable, encoded
from kgdemo.kg.stores.base import Node, RelationEnds, Step, Store, StoreError, distinct_labels, local_name

MAX_EDGES = 40_000  # fetched by one request
MAX_ENDS = 5_000  # of one relation of one entity
MAX_AHEAD = 256  # entities whose relations are fetched together
FEW_ENDS = 20  # that are read along with their relation, of any entity; more where few entities are asked for
MANY_ROWS = 4_000  # the ends that are read along with relations, at a rough estimate
MANY_ALONG = 10_000  # the ends that are read along with others, so that a hop is waited for once
_TOPICS = 8  # names that are taken for a search's topics; where there are more, most are guesses
MAX_LOOKED = 500  # of the entities that a relation leads to, for the relations that lead on from there
MAX_LOOKED_OF_HUB = 100  # where not even all of these entities are read
MAX_ENTITIES = 500_000  # held in memory; a graph that has met more is opened anew before the next question


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

    def at(self, ids: NDArray[np.integer]) -> list[str]:
        """See ``LabelTable``."""
        return [self.labels[place] for place in ids.tolist()]

    def __iter__(self) -> Iterator[str]:
        """None: which of a store's labels have been met is chance."""
        return iter(())

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
        self._graph.meet(wanted, with_relations=len(wanted) <= _TOPICS)
        return [label for label in wanted if label in self.ids]


class MetInfo(Mapping[str, EntityInfo]):
    """What is known of entities that have been met. They cannot all be listed, so iteration gives none."""

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
        folder: where a saved graph lies; None where the store is no such folder.

    Attributes:
        indexed: the steps to hubs whose ends paths find by an index of their names, so that these need not be read.
    """

    grows = True
    indexed: Collection[Step] = frozenset()

    def __init__(self, store: Store, name: str, folder: Path | None = None) -> None:
        self.store = store
        self.folder = folder
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
        self._counts: dict[int, dict[int, int]] = {}  # entity -> step -> ends that the store has
        self._ends: dict[tuple[int, int], NDArray[np.int32]] = {}  # entity and step -> those read, in order
        self._led: defaultdict[tuple[int, int], set[int]] = defaultdict(set)  # ends met one by one, not yet among them
        self._partly: set[tuple[int, int]] = set()  # hubs, and the steps of theirs that lead further than is read
        self._back: dict[tuple[tuple[int, ...], bytes], dict[int, list[tuple[int, int]]]] = {}
        self._reached: set[int] = set()  # over an edge
        self._frontier: dict[int, None] = {}  # where paths may go on, the latest last
        self._walked_from: dict[int, None] = {}  # where paths have gone on, the latest last
        self._closed: dict[tuple[int, int], None] = {}  # steps of paths whose ends have not been read, the latest last
        self._alike: dict[int, list[int]] = {}  # entity -> those that a reply has over the same step, itself among them
        self._ahead: tuple[list[int], Future[list[RelationEnds]]] | None = None  # asked for before they are needed
        self._asker = ThreadPoolExecutor(1, "store")
        self.cut = []

    def __len__(self) -> int:
        """Number of triples; 0 where the store did not count them."""
        return self._facts

    # entities ----------------------------------------------------------------------------------

    @property
    def is_full(self) -> bool:
        """See ``KnowledgeGraph``."""
        return len(self._iris) > MAX_ENTITIES

    def meet(self, labels: Sequence[str], with_relations: bool = False) -> None:
        """Ask the store for the entities of these labels that have not been met.

        Args:
            labels: which.
            with_relations: a search is about to start from them, so their relations are asked for along with them.
        """
        with self._lock:
            missing = [label for label in labels if label not in self._met.ids and label not in self._strangers]
            if missing:
                found, relations = (
                    self.store.look_up(missing, MAX_ENDS) if with_relations else (self.store.find(missing), [])
                )
                nodes = {node.id: node for text, node in found if node.label == text}
                for id_ in sorted(nodes):
                    self.met(nodes[id_])
                self._keep({self._ids[one.entity] for one in relations if one.entity in self._ids}, relations)
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
            if node.type or node.aliases or node.description:
                self._met_info.known[label] = self._info_of(node)
            return place

    def _info_of(self, node: Node) -> EntityInfo:
        kind = self._type_labels.get(node.type) or (local_name(node.type) if node.type else "")
        return EntityInfo(kind, node.aliases, node.description)

    def describe(self, labels: Iterable[str]) -> None:
        """Fetch aliases, types and descriptions of a few entities by their labels."""
        iris = [self._iris[place] for place in self.entities.ids_of(labels)]
        for node in self.store.labels(iris):
            self._met_info.known[self._met.labels[self._ids[node.id]]] = self._info_of(node)

    @property
    def _met(self) -> MetLabels:
        assert isinstance(self.entities, MetLabels)
        return self.entities

    def is_cut(self, entity: str, relation: str) -> bool:
        """See ``KnowledgeGraph``."""
        place = self._met.ids.get(entity)
        return any(hub == place and self.step_labels[step] == relation for hub, step in self._partly)

    # one hop -----------------------------------------------------------------------------------

    def starts(self, topics: Sequence[int], hops: int, directed: bool = False) -> list[int]:
        """See ``KnowledgeGraph``; what lies behind the first hop is asked for while the caller goes on."""
        with self._lock:
            self._read([topic for topic in topics if topic not in self._counts], MAX_ENDS)
            self._fetch_ends([(t, step) for t in topics for step, n in self._counts[t].items() if n <= MAX_ENDS])
            if hops > 1 and self._ahead is None:
                self._look_ahead(topics)
        return [topic for topic, degree in zip(topics, self.degrees(topics, directed), strict=True) if degree]

    def _look_ahead(self, topics: Sequence[int]) -> None:
        """Ask for the relations of what lies around topics; of hubs for what relations with the fewest ends lead to."""
        steps = sorted(((n, topic, step) for topic in topics for step, n in self._counts[topic].items()))
        ends: dict[int, None] = {}
        for _, topic, step in steps:
            new = [e for e in self._known(topic, step).tolist() if e not in self._counts and e not in ends]
            if len(ends) + len(new) > MAX_AHEAD:
                break
            ends.update(dict.fromkeys(new))
        if ends:
            iris, few = [self._iris[entity] for entity in ends], max(FEW_ENDS, MANY_ROWS // len(ends))
            context = copy_context()  # with the meter of this run
            self._ahead = list(ends), self._asker.submit(lambda: context.run(self.store.relations, iris, few))

    def expect(self, entities: NDArray[np.int32]) -> None:
        """See ``KnowledgeGraph``: their relations are fetched together with the next that are needed."""
        if len(entities) <= MAX_AHEAD:
            with self._lock:
                for entity in entities.tolist():
                    if entity not in self._counts:
                        _remember(self._frontier, entity, MAX_AHEAD)

    def expect_ends(self, entity: int, step: int) -> None:
        """Announce that a path may go on to where a step leads: it is read together with the next that is needed."""
        with self._lock:
            _remember(self._closed, (entity, step), _LATELY)

    def has_met(self, entity: int) -> bool:
        """Whether the relations of an entity are known; if not, they are fetched together with the next needed."""
        with self._lock:
            if entity not in self._counts and self._ahead is not None and self._ahead[1].done():
                self._take_in()
            if entity in self._counts:
                return True
            self.expect(np.array([entity], np.int32))
            return False

    def has_steps(self, entity: int, directed: bool = False) -> bool:
        """See ``KnowledgeGraph``; an entity that an edge led to has that edge, seen from its other side."""
        return (not directed and entity in self._reached) or self.degree(entity, directed) > 0

    def step_counts(self, entity: int, directed: bool = False) -> dict[int, int]:
        """How many ends each step from an entity has; those of a hub are counted, not only those that are read."""
        self._meet([entity])
        return {step: n for step, n in self._counts[entity].items() if not directed or step < len(self.relations)}

    def known_ends(self, entity: int, step: int) -> NDArray[np.int32] | None:
        """Where a step leads, in the order of labels; None where that has not been read."""
        return self._ends.get((entity, step))

    def ends(self, entity: int, step: int) -> NDArray[np.int32]:
        """Where a step leads, in the order of labels.

        Where that has not been read, what the next paths may ask for is read along: the ends of the relations that
        paths have closed lately, and of others from where paths have gone on, those with the fewest ends first.
        """
        with self._lock:
            if (entity, step) not in self._ends:
                places = [(self._counts[e].get(s, 0), e, s) for e, s in reversed(self._closed) if e in self._counts]
                places += sorted((n, e, s) for e in self._walked_from for s, n in self._counts[e].items())
                unread = [(n, e, s) for n, e, s in dict.fromkeys(places) if (e, s) not in self._ends and n <= MAX_ENDS]
                total = np.cumsum([n for n, _, _ in unread])
                along = unread[: int(np.searchsorted(total, MANY_ALONG, side="right"))]
                self._closed.clear()
                self._fetch_ends([(entity, step), *((e, s) for _, e, s in along)])
            return self._known(entity, step)

    def meet_ends(self, entity: int, step: int, ids: Sequence[str]) -> NDArray[np.int32]:
        """Some of the entities that a step leads to, by their ids in the store."""
        with self._lock:
            for node in self.store.labels([one for one in ids if one not in self._ids]):
                self.met(node)
            places = [self._ids[one] for one in ids]
            self._reached.update(places)
            self._led[entity, step].update(places)
            return np.array(places, np.int32)

    def walks_from(self, entity: int, directed: bool = False) -> dict[int, int]:
        """How many ends each step has that a path may take from an entity that it has reached."""
        with self._lock:
            counts = self.step_counts(entity, directed)
            _remember(self._walked_from, entity, _LATELY)
        return counts

    def steps(self, entity: int, directed: bool = False) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """See ``KnowledgeGraph``."""
        self._meet([entity], with_alike=True)
        own = sorted(self.step_counts(entity, directed))
        if any((entity, step) not in self._ends for step in own):
            asked, room = [(entity, step) for step in own], MANY_ROWS
            for other in self._others_like(entity):
                counts = self.step_counts(other, directed)
                unread = [(other, step) for step in counts if (other, step) not in self._ends]
                size = sum(counts[step] for _, step in unread)
                if size <= room:
                    room -= size
                    asked += unread
            self._fetch_ends(asked)
        ends = [self._known(entity, step) for step in own]
        steps = np.repeat(np.array(own, np.int32), np.array([len(led) for led in ends], np.int64))
        return steps, np.concatenate([np.empty(0, np.int32), *ends])

    def _others_like(self, entity: int) -> list[int]:
        """Some of the entities to which a reply has led over the same step, and whose relations are known."""
        known = (other for other in self._alike.get(entity, ()) if other != entity and other in self._counts)
        return list(islice(known, MAX_AHEAD))

    def degree(self, entity: int, directed: bool = False) -> int:
        """See ``KnowledgeGraph``; of a hub all edges are counted, not only those that are read."""
        return self.degrees([entity], directed)[0]

    def degrees(self, entities: Sequence[int], directed: bool = False) -> list[int]:
        """See ``KnowledgeGraph``; in one request."""
        self._meet(entities)
        return [sum(self.step_counts(entity, directed).values()) for entity in entities]

    def known_degrees(self) -> NDArray[np.int64]:
        """See ``KnowledgeGraph``; of none, as none are listed."""
        return np.empty(0, np.int64)

    def edges_from(
        self, entities: NDArray[np.integer], directed: bool = False
    ) -> tuple[NDArray[np.integer], NDArray[np.int32], NDArray[np.int32]]:
        """See ``KnowledgeGraph``."""
        self._meet(entities.tolist())
        self._fetch_ends([(entity, step) for entity in entities.tolist() for step in self._counts[entity]])
        rows = [self.steps(entity, directed) for entity in entities.tolist()]
        nothing = np.empty(0, np.int32)
        return (
            np.repeat(entities, [len(steps) for steps, _ in rows]),
            np.concatenate([nothing, *(steps for steps, _ in rows)]),
            np.concatenate([nothing, *(targets for _, targets in rows)]),
        )

    def steps_from(self, entities: NDArray[np.integer], directed: bool = False) -> NDArray[np.int32]:
        """See ``KnowledgeGraph``; only relations are asked for."""
        self._meet(entities.tolist())
        found = {step for entity in entities.tolist() for step in self.step_counts(entity, directed)}
        return np.array(sorted(found), np.int32)

    def follow(self, entities: NDArray[np.integer], steps: Collection[int]) -> NDArray[np.int32]:
        """See ``KnowledgeGraph``; in the order of labels."""
        pairs = [(entity, step) for entity in entities.tolist() for step in steps]
        self._fetch_ends(pairs)
        return self.in_order(np.unique(np.concatenate([np.empty(0, np.int32), *(self._known(*p) for p in pairs)])))

    def in_order(self, entities: NDArray[np.int32]) -> NDArray[np.int32]:
        """See ``KnowledgeGraph``."""
        labels = self._met.labels
        return np.array(sorted(entities.tolist(), key=lambda e: encoded(labels[e])), np.int32)

    def relation_paths(
        self, topic: int, hops: int, directed: bool = False, width: int = MAX_LOOKED
    ) -> list[NDArray[np.int32]]:
        """See ``KnowledgeGraph``; the relations of all that the first hop leads to are asked for at once."""
        width = min(width, MAX_LOOKED)
        if hops > 1:
            steps, ends = self.steps(topic, directed)
            if any((topic, step) in self._partly for step in np.unique(steps).tolist()):
                width = min(width, MAX_LOOKED_OF_HUB)
            looked = [end for step in np.unique(steps) for end in ends[steps == step][:width].tolist()]
            self._meet(list(dict.fromkeys(looked))[: 2 * MAX_LOOKED])
        return super().relation_paths(topic, hops, directed, width)

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

    def _row_towards(
        self, entity: int, layer: NDArray[np.int32], allowed: Collection[int]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """See ``KnowledgeGraph``; read off the edges that led from the layer, so nothing more is fetched."""
        key = (tuple(sorted(allowed)), layer.tobytes())
        if key not in self._back:
            with self._lock:
                if len(self._back) > 64:
                    self._back.clear()
                led: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
                pairs = [(source, step) for source in layer.tolist() for step in allowed]
                self._fetch_ends(pairs)
                for source, step in pairs:
                    for target in self._known(source, step).tolist():
                        led[target].append((self.inverse(step), source))
                labels = self._met.labels
                self._back[key] = {
                    target: sorted(own, key=lambda one: (one[0], encoded(labels[one[1]])))
                    for target, own in led.items()
                }
        own = np.array(self._back[key].get(entity, []), np.int32).reshape(-1, 2)
        return own[:, 0], own[:, 1]

    # fetching ----------------------------------------------------------------------------------

    def _step(self, relation: str, outgoing: bool) -> int | None:
        place = self._relation_ids.get(relation)
        return None if place is None else place if outgoing else place + len(self.relations)

    def asked(self, entity: int, step: int) -> Step:
        """A step as the store knows it."""
        return self._iris[entity], self._relation_iris[self.relation_of(step)], step < len(self.relations)

    def _known(self, entity: int, step: int) -> NDArray[np.int32]:
        if self._led and (entity, step) in self._ends and (entity, step) in self._led:
            self._add_ends(entity, step, list(self._led.pop((entity, step))))
        return self._ends.get((entity, step), _NOTHING)

    def _meet(self, entities: Sequence[int], with_alike: bool = False) -> None:
        """Have the relations of these entities; where any is missing, those that were expected are fetched as well.

        Args:
            entities: which.
            with_alike: expect those to which a reply has led over the same step.
        """
        with self._lock:
            missing = [entity for entity in dict.fromkeys(entities) if entity not in self._counts]
            if missing and self._ahead is not None:
                self._take_in()
                missing = [entity for entity in missing if entity not in self._counts]
            if missing:
                for entity in missing:
                    self._frontier.pop(entity, None)
                room = max(0, MAX_AHEAD - len(missing))
                alike = (e for entity in missing for e in self._alike.get(entity, ())) if with_alike else ()
                expected = dict.fromkeys([*reversed(self._frontier), *alike])
                new = [entity for entity in expected if entity not in self._counts and entity not in missing]
                self._frontier.clear()
                asked = [*missing, *new[:room]]
                self._read(asked, max(FEW_ENDS, MANY_ROWS // len(asked)))

    def _take_in(self) -> None:
        """Keep what was asked for ahead; where that failed, what is needed of it is asked for again."""
        assert self._ahead is not None
        (entities, asked), self._ahead = self._ahead, None
        try:
            found = asked.result()
        except StoreError:
            return
        self._keep(entities, found)

    def _read(self, entities: Sequence[int], few: int) -> None:
        """Ask for the relations of these entities, and for the ends of those with ``few`` at the most."""
        if entities:
            self._keep(entities, self.store.relations([self._iris[entity] for entity in entities], min(few, MAX_ENDS)))

    def _keep(self, entities: Iterable[int], found: Iterable[RelationEnds]) -> None:
        for entity in entities:
            self._counts.setdefault(entity, {})
        led: dict[tuple[int, int], Sequence[Node]] = {}
        for one in found:
            source, step = self._ids.get(one.entity), self._step(one.relation, one.outgoing)
            if source is not None and source in self._counts and step is not None:
                self._counts[source][step] = one.count
                if one.ends:
                    led[source, step] = one.ends
        self._keep_ends(led)

    def _keep_ends(self, led: Mapping[tuple[int, int], Sequence[Node]]) -> None:
        """Keep where steps lead, in the order of labels, as a graph in memory has them."""
        alike: defaultdict[int, list[int]] = defaultdict(list)
        leading: defaultdict[tuple[int, int], list[int]] = defaultdict(list)  # to hubs
        for (entity, step), ends in led.items():
            # most have been met, and to take the lock for each of them would take its time
            places = {self._ids[end.id] if end.id in self._ids else self.met(end) for end in ends}
            self._reached.update(places)
            self._ends[entity, step] = self.in_order(np.array(list(places), np.int32))
            alike[step] += places
            back = self.inverse(step)
            for hub in places.intersection(hub for hub, own in self._partly if own == back):
                leading[hub, back].append(entity)
        for (hub, step), own in leading.items():
            self._add_ends(hub, step, own)
        for group in alike.values():
            members = list(dict.fromkeys(group))
            for member in members:
                self._alike[member] = members

    def _add_ends(self, hub: int, step: int, ends: Sequence[int]) -> None:
        """Have these among the ends of a hub, which they have been seen to lead to."""
        known = self._known(hub, step)
        new = np.setdiff1d(np.array(ends, np.int32), known)
        if len(new):
            self._ends[hub, step] = self.in_order(np.concatenate([known, new]))
            self._back.clear()

    def _fetch_ends(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Read where these steps lead from these entities, in one request for all that are missing but for hubs."""
        with self._lock:
            missing = [
                (entity, step)
                for entity, step in dict.fromkeys(pairs)
                if (entity, step) not in self._ends and step in self._counts.get(entity, {step: 0})
            ]
            hubs = [pair for pair in missing if self._counts.get(pair[0], {}).get(pair[1], 0) > MAX_ENDS]
            plain = [pair for pair in missing if pair not in hubs]
            if plain and not self._ask_ends(plain, MAX_EDGES):
                self._say(f"{len(plain):,} steps lead on to more than {MAX_EDGES:,}; only so many are looked at.")
            if hubs and self._ahead is not None:
                self._take_in()  # what else the question is about may lead to a hub
            for entity, step in hubs:
                self._ask_ends([(entity, step)], MAX_ENDS)
                self._partly.add((entity, step))
                back = self.inverse(step)
                self._add_ends(
                    entity, step, [e for (e, own), led in self._ends.items() if own == back and entity in led]
                )
                named = self.asked(entity, step) in self.indexed
                self._say(
                    f"{self._met.labels[entity]} has {self._counts[entity][step]:,} ends over "
                    f"“{self.step_labels[step]}”; "
                    + (
                        f"a path may lead to any of them, but what is computed over all ends sees {MAX_ENDS:,}."
                        if named
                        else f"{MAX_ENDS:,} of them are read, so a path to another one would not be found."
                    )
                )

    def _ask_ends(self, pairs: Sequence[tuple[int, int]], limit: int) -> bool:
        """Read where steps lead, up to so many edges; whether these are all."""
        found = self.store.ends([self.asked(*pair) for pair in pairs], limit=limit)
        led: defaultdict[tuple[int, int], list[Node]] = defaultdict(list)
        for edge in found.edges:
            source, step = self._ids.get(edge.entity), self._step(edge.relation, edge.outgoing)
            if source is not None and step is not None:
                led[source, step].append(edge.end)
        self._keep_ends({pair: led[pair] for pair in pairs})
        return found.complete

    def _say(self, said: str) -> None:
        if said not in self.cut:
            self.cut = [*self.cut[-19:], said]


_NOTHING = np.empty(0, np.int32)
_LATELY = 32  # entities that paths have gone on from
_T = TypeVar("_T")


def _remember(recent: dict[_T, None], key: _T, limit: int) -> None:
    """Put a key last among the recent ones, of which the latest are kept, so many at the most."""
    recent.pop(key, None)
    recent[key] = None
    while len(recent) > limit:
        del recent[next(iter(recent))]
