"""The knowledge graph: interned labels, CSR adjacency in numpy, and every walk over them.

A *step* is a relation walked in one of its two directions. Step ids below ``len(relations)`` walk an edge from head
to tail; the others walk it from tail to head. Each step has a *label*, the words that stand for it in a path: the
relation itself, or for an inverse step ``~relation`` unless the schema gives other words (``directed by`` /
``directed``) or that is another relation's name.

All code that walks the graph calls the methods below. They work on ids and arrays; labels appear only at the edge
(``neighbours``, ``labelled``).
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kgdemo.kg.labels import Adjacency, LabelTable, Literals, fold
from kgdemo.kg.path import Path, PathIds, is_detour, turns_back

Triple = tuple[str, str, str]
IdTriple = tuple[int, int, int]  # head, relation and tail ids, as stored
Layers = tuple[NDArray[np.int32], ...]  # the entities reached after 0, 1, … hops, each sorted


@dataclass(frozen=True, slots=True)
class EntityInfo:
    """What a graph knows of an entity besides its edges; used for linking and for the picture."""

    type: str = ""
    aliases: tuple[str, ...] = ()
    description: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)


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
        literals: the values that the graph states of its entities; no path leads through them.

    Attributes:
        types: the types of all entities that have one.
        step_labels: the label of each step, by step id.
        grows: whether it meets its entities as a search reaches them, so that they are never all there.
        is_full: whether it has met as many as are held, and is to be opened anew before the next question.
        cut: what was not read whole, in words, the latest last.
    """

    grows = False
    cut: Sequence[str] = ()

    def __init__(
        self,
        name: str,
        entities: LabelTable,
        relations: LabelTable,
        outgoing: Adjacency,
        incoming: Adjacency,
        inverse_labels: Mapping[str, str] | None = None,
        info: Mapping[str, EntityInfo] | None = None,
        literals: Literals | None = None,
    ) -> None:
        self.name = name
        self.entities = entities
        self.relations = relations
        self.outgoing = outgoing
        self.incoming = incoming
        self.inverse_labels = dict(inverse_labels or {})
        self.info = dict(info or {})
        self.literals: Literals = literals or {}
        self.types = frozenset(known.type for known in self.info.values() if known.type)
        forward = list(relations)
        self.step_labels: list[str] = forward + inverse_step_labels(forward, self.inverse_labels)
        self._steps_called: dict[str, list[int]] = defaultdict(list)
        for step, label in enumerate(self.step_labels):
            self._steps_called[label].append(step)
        self._symmetric: dict[int, bool] = {}
        self._steps_of_type: dict[str, dict[str, frozenset[str]]] = {}
        self._attributes_of_type: dict[str, frozenset[str]] = {}

    def type_of(self, entity: int) -> str:
        """The type of an entity by its id; empty where none is known."""
        known = self.info.get(self.entities[entity])
        return known.type if known else ""

    @cached_property
    def kinds(self) -> tuple[list[str], NDArray[np.int64]]:
        """All types, an empty one behind them, and the place among these of each entity's."""
        names = [*sorted(self.types), ""]
        place = {name: code for code, name in enumerate(names)}
        known, nothing = self.info.get, EntityInfo()
        return names, np.array([place[known(label, nothing).type] for label in self.entities], np.int64)

    def names_of(self, label: str) -> tuple[str, ...]:
        """What an entity is called: its label and its aliases."""
        known = self.info.get(label)
        return (label, *(known.aliases if known else ()))

    def words_of(self, *labels: str) -> set[str]:
        """The words, folded, of all that entities are called."""
        return {word for label in labels for name in self.names_of(label) for word in fold(name).split()}

    @classmethod
    def from_triples(
        cls,
        triples: Iterable[Triple],
        name: str = "graph",
        inverse_labels: Mapping[str, str] | None = None,
        info: Mapping[str, EntityInfo] | None = None,
        literals: Literals | None = None,
    ) -> KnowledgeGraph:
        """Build a graph in memory from (head, relation, tail) labels.

        Args:
            triples: repeats count once.
            name, inverse_labels, info, literals: see above; information on entities that no triple names is left out.
        """
        entity_ids, relation_ids = _first_seen(), _first_seen()
        flat = array("i")
        for head, relation, tail in triples:
            flat.extend((entity_ids[head], relation_ids[relation], entity_ids[tail]))
        ids = np.frombuffer(flat, dtype=np.int32).reshape(-1, 3) if flat else np.empty((0, 3), np.int32)
        entities, entity_rank = LabelTable.ranked(entity_ids)
        relations, relation_rank = LabelTable.ranked(relation_ids)
        heads, between, tails = entity_rank[ids[:, 0]], relation_rank[ids[:, 1]], entity_rank[ids[:, 2]]
        # one number for each edge: several times faster than unique rows
        keys = (heads.astype(np.int64) * len(relations) + between) * len(entities) + tails
        first = np.unique(keys, return_index=True)[1]
        heads, between, tails = heads[first], between[first], tails[first]
        return cls(
            name,
            entities,
            relations,
            Adjacency.build(heads, between, tails, len(entities)),
            Adjacency.build(tails, between, heads, len(entities)),
            inverse_labels,
            {label: known for label, known in (info or {}).items() if label in entity_ids},
            literals,
        )

    def __len__(self) -> int:
        """Number of triples."""
        return len(self.outgoing.targets)

    @property
    def is_full(self) -> bool:
        """See above; what is all here has no such limit."""
        return False

    def is_cut(self, entity: str, relation: str) -> bool:
        """Whether a relation leads from an entity to more than is read, so that its ends are not to be counted."""
        return False

    # one hop -----------------------------------------------------------------------------------

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

    def degrees(self, entities: Sequence[int], directed: bool = False) -> list[int]:
        """Number of steps from each of these entities; one request where the graph is behind a store."""
        return [self.degree(entity, directed) for entity in entities]

    def known_degrees(self) -> NDArray[np.int64]:
        """Number of steps from every entity, as far as it is known without asking; ``(entities,)``."""
        return np.diff(self.outgoing.offsets) + np.diff(self.incoming.offsets)

    def has_steps(self, entity: int, directed: bool = False) -> bool:
        """Whether any step leads on from an entity that a path has reached."""
        return self.degree(entity, directed) > 0

    def starts(self, topics: Sequence[int], hops: int, directed: bool = False) -> list[int]:
        """Those of these entities that a search of so many hops, which is about to begin, can start from."""
        return [topic for topic in topics if self.degree(topic, directed)]

    def expect(self, entities: NDArray[np.int32]) -> None:
        """Announce that a search may go on from these entities; a graph in memory need not know."""

    def in_order(self, entities: NDArray[np.int32]) -> NDArray[np.int32]:
        """The same entities in the order of their labels, which is that of their ids."""
        return np.sort(entities)

    def neighbours(self, label: str, directed: bool = False) -> list[tuple[str, str]]:
        """(step label, entity) for each step from the entity called ``label``; empty when unknown."""
        entity = self.entities.find(label)
        if entity is None:
            return []
        steps, targets = self.steps(entity, directed)
        labels = self.step_labels
        return [(labels[s], t) for s, t in zip(steps.tolist(), self.entities.at(targets), strict=True)]

    def edges_from(
        self, entities: NDArray[np.integer], directed: bool = False
    ) -> tuple[NDArray[np.integer], NDArray[np.int32], NDArray[np.int32]]:
        """All steps from several entities: source ids, step ids, target ids, three arrays of equal length."""
        sources, steps, targets = [], [], []
        for adjacency, first_step in self.sides(directed):
            places = adjacency.places(entities)
            sources.append(np.repeat(entities, adjacency.offsets[entities + 1] - adjacency.offsets[entities]))
            steps.append(adjacency.relations[places] + np.int32(first_step))
            targets.append(adjacency.targets[places])
        return np.concatenate(sources), np.concatenate(steps), np.concatenate(targets)

    def steps_from(self, entities: NDArray[np.integer], directed: bool = False) -> NDArray[np.int32]:
        """The different steps from any of these entities, sorted."""
        there = np.zeros(len(self.step_labels), np.bool_)
        for adjacency, first_step in self.sides(directed):
            there[adjacency.relations[adjacency.places(entities)] + first_step] = True
        return np.flatnonzero(there).astype(np.int32)

    def follow(self, entities: NDArray[np.integer], steps: Collection[int]) -> NDArray[np.int32]:
        """All entities that one of these steps leads to from one of these entities, sorted, each once."""
        count = len(self.relations)
        ends = [
            self.outgoing.follow(entities, [step for step in steps if step < count]),
            self.incoming.follow(entities, [step - count for step in steps if step >= count]),
        ]
        return np.unique(np.concatenate(ends))

    def sides(self, directed: bool) -> list[tuple[Adjacency, int]]:
        """Each adjacency that may be walked, and the id of its first step."""
        return [(self.outgoing, 0)] if directed else [(self.outgoing, 0), (self.incoming, len(self.relations))]

    # several hops ------------------------------------------------------------------------------

    def reach(self, topic: int, relations: Sequence[str], directed: bool = False, width: int | None = None) -> Layers:
        """The entities reached from a topic over a relation path after 0, 1, … hops.

        A walk of several hops that leads back to the topic is left out, for it answers nothing.

        Args:
            topic: entity id.
            relations: step labels, one a hop; of a symmetric relation both directions are walked.
            directed: follow edges from head to tail only.
            width: of the entities that a hop leads to, the first so many are walked on from, and kept; None: all.

        Returns:
            one more layer than relations, each sorted; the last layer holds the ends of the relation path.
        """
        layers = [np.array([topic], np.int32)]
        for relation in relations:
            layers[-1] = layers[-1][:width]
            layers.append(self.follow(layers[-1], self.steps_called(relation, directed)))
        if len(relations) > 1:
            layers[-1] = layers[-1][layers[-1] != topic]
        return tuple(layers)

    def path_to(self, layers: Layers, relations: Sequence[str], end: int, directed: bool = False) -> PathIds:
        """One path over these relations to ``end``; a detour only where all such paths are detours.

        Args:
            layers: what ``reach`` returned for these relations and this direction.
            relations, directed: as in ``reach``.
            end: entity id, one of the last layer.

        Raises:
            ValueError: ``end`` is not among the ends.
        """
        allowed = [self.steps_called(relation, directed) for relation in relations]
        count = len(self.relations)

        def walk_back(entities: tuple[int, ...], steps: tuple[int, ...], straight: bool) -> PathIds | None:
            """The first path from the last of these entities, which are listed from the end, back to the topic."""
            left = len(allowed) - len(steps)
            if not left:
                return PathIds(entities[::-1], steps[::-1])
            taken, sources = self._row_towards(entities[-1], layers[left - 1], allowed[left - 1])
            turned = np.where(taken < count, taken + count, taken - count)
            fits = np.isin(turned, allowed[left - 1]) & np.isin(sources, layers[left - 1])
            for place in np.flatnonzero(fits).tolist():
                further, walked = (*entities, int(sources[place])), (*steps, int(turned[place]))
                returns = left > 1 and further[-1] == layers[0][0]
                if straight and (returns or turns_back(further, [self.relation_of(step) for step in walked])):
                    continue
                found = walk_back(further, walked, straight)
                if found is not None:
                    return found
            return None

        path = walk_back((end,), (), straight=True) or walk_back((end,), (), straight=False)
        if path is None:
            raise ValueError(f"no path over {', '.join(relations)} leads to entity {end}")
        return path

    def paths_over(
        self, topic: int, relations: Sequence[str], directed: bool = False, limit: int = 20
    ) -> list[PathIds]:
        """Paths from a topic over these relations that are no detours, in the order of the graph's edges.

        Args:
            topic, relations, directed: as in ``reach``.
            limit: how many to return at the most; of the shorter paths 20 times as many are followed.

        Returns:
            one path for each end; of parallel edges the first is taken.
        """
        paths = [PathIds((topic,), ())]
        for relation in relations:
            allowed = self.steps_called(relation, directed)
            longer = []
            for path in paths:
                steps, targets = self.steps(path.entities[-1], directed)
                fits = np.isin(steps, allowed)
                onward: dict[int, int] = {}
                for step, target in zip(steps[fits].tolist(), targets[fits].tolist(), strict=True):
                    if not self.is_detour(PathIds((*path.entities, target), (*path.steps, step))):
                        onward.setdefault(target, step)
                longer += [PathIds((*path.entities, end), (*path.steps, step)) for end, step in onward.items()]
            paths = longer[: 20 * limit]
        by_end: dict[int, PathIds] = {}
        for path in paths:
            by_end.setdefault(path.entities[-1], path)
        return list(by_end.values())[:limit]

    def relation_paths(
        self, topic: int, hops: int, directed: bool = False, width: int = 2000
    ) -> list[NDArray[np.int32]]:
        """Which sequences of steps lead on from a topic.

        Args:
            topic: entity id.
            hops: the longest sequences.
            directed: follow edges from head to tail only.
            width: of the entities that a sequence reaches, the first so many are looked at for further steps.

        Returns:
            for each number of hops from 1 on the different sequences of step ids, ``(n, hops)``.
        """
        paths, ends = np.empty((1, 0), np.int32), [np.array([topic], np.int32)]
        found: list[NDArray[np.int32]] = []
        for hop in range(1, hops + 1):
            onward = [self.steps_from(own, directed) for own in ends]
            before = np.repeat(np.arange(len(paths)), np.array([len(steps) for steps in onward], np.int64))
            last = np.concatenate([np.empty(0, np.int32), *onward])
            paths = np.column_stack([paths[before], last])
            found.append(paths)
            if hop < hops:
                ends = [
                    self.follow(ends[i], [step])[:width] for i, step in zip(before.tolist(), last.tolist(), strict=True)
                ]
        return found

    def shortest_edges(
        self, topics: Iterable[int], ends: Iterable[int], hops: int, directed: bool = False
    ) -> list[tuple[int, int, int]]:
        """The edges of all shortest paths from the topics to each end.

        Args:
            topics, ends: entity ids; an end that is a topic has no path.
            hops: ends further away are out of reach.
            directed: follow edges from head to tail only.

        Returns:
            (source, step, target), each once.
        """
        frontier = np.unique(np.fromiter(topics, np.int32))
        seen, wanted = np.zeros(len(self.entities), np.bool_), np.zeros(len(self.entities), np.bool_)
        seen[frontier] = True
        wanted[np.fromiter(ends, np.int32)] = True
        wanted[frontier] = False
        layers = []
        for _ in range(hops):
            if not np.any(wanted & ~seen) or not len(frontier):
                break
            edges = np.stack(self.edges_from(frontier, directed), axis=1)  # (n, 3)
            layers.append(edges[~seen[edges[:, 2]]])
            frontier = np.unique(layers[-1][:, 2])
            seen[frontier] = True
        found: list[tuple[int, int, int]] = []
        for edges in reversed(layers):
            leading = edges[wanted[edges[:, 2]]]
            wanted[leading[:, 0]] = True
            found += map(tuple, leading.tolist())
        return found

    def _row_towards(
        self, entity: int, layer: NDArray[np.int32], allowed: Collection[int]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Steps of an entity, among them all that turn round an allowed step from one of the layer's entities."""
        return self.steps(entity)

    # labels of steps and paths -----------------------------------------------------------------

    def alike(self, step_label: str) -> tuple[str, ...]:
        """The step labels that say the same as this one: a symmetric relation may be walked in either direction.

        A relation is symmetric if the schema says so, or if most of its edges are stored in both directions. The
        remaining edges then merely lack their other direction: if A borders B, B borders A.

        Returns:
            the relation's own label and that of its inverse step, or the given label alone.
        """
        if step_label not in self._steps_called:
            return (step_label,)
        relation = self.relation_of(self._steps_called[step_label][0])
        both = (self.step_labels[relation], self.step_labels[relation + len(self.relations)])
        if both[0] == both[1]:
            return (step_label,)
        if relation not in self._symmetric:
            self._symmetric[relation] = self._mostly_both_ways(relation)
        return both if self._symmetric[relation] else (step_label,)

    def said(self, steps: Iterable[int]) -> tuple[str, ...]:
        """The labels of steps; both directions of a symmetric relation get the same one."""
        return tuple(self.alike(self.step_labels[step])[0] for step in steps)

    def labelled(self, ids: PathIds) -> Path:
        """A path of ids as labels."""
        return Path(
            tuple(self.entities[entity] for entity in ids.entities), tuple(self.step_labels[s] for s in ids.steps)
        )

    def relation_of(self, step: int) -> int:
        """The relation that a step walks, whichever way."""
        return step % len(self.relations)

    def is_detour(self, path: Path | PathIds) -> bool:
        """Whether a path comes back to where it began, or turns back over the relation that it came by."""
        if isinstance(path, PathIds):
            return is_detour(path.entities, [self.relation_of(step) for step in path.steps])
        steps = [self._steps_called.get(label, ()) for label in path.relations]
        return is_detour(path.entities, [frozenset(map(self.relation_of, called)) for called in steps])

    def inverse(self, step: int) -> int:
        """The step that walks the same edges the other way."""
        count = len(self.relations)
        return step - count if step >= count else step + count

    def stored(self, entity: int, step: int, target: int) -> IdTriple:
        """The stored triple that a step from ``entity`` to ``target`` walks."""
        count = len(self.relations)
        return (entity, step, target) if step < count else (target, step - count, entity)

    def steps_called(self, step_label: str, directed: bool = False) -> list[int]:
        """All steps with this label; of a symmetric relation those in either direction."""
        steps = [step for label in self.alike(step_label) for step in self._steps_called.get(label, ())]
        return [step for step in steps if not directed or step < len(self.relations)]

    def labels_of_type(self, kind: str) -> frozenset[str]:
        """The labels of all steps that some entity of a type can take: what the graph says of such things at all."""
        return frozenset(self.steps_of_type(kind))

    def steps_of_type(self, kind: str) -> Mapping[str, frozenset[str]]:
        """Of all steps that some entity of a type can take the labels, each with the types of what it leads to."""
        if not self._steps_of_type:
            kinds, codes = self.kinds
            found: dict[str, dict[str, set[str]]] = {name: {} for name in kinds}
            width, number = len(self.step_labels), len(kinds)
            for side, first_step in self.sides(directed=False):
                taken = np.repeat(codes, np.diff(side.offsets)) * width + side.relations + first_step
                for triple in np.unique(taken * number + codes[side.targets]).tolist():
                    pair, end = divmod(triple, number)
                    step = self.step_labels[pair % width]
                    found[kinds[pair // width]].setdefault(step, set()).add(kinds[end])
            self._steps_of_type = {
                name: {step: frozenset(ends) for step, ends in own.items()} for name, own in found.items() if name
            }
        return self._steps_of_type.get(kind, {})

    def attributes_of_type(self, kind: str) -> frozenset[str]:
        """The names of all values that the graph states of some entity of a type."""
        if not self._attributes_of_type:
            found: dict[str, set[str]] = {}
            for entity, own in self.literals.items():
                if info := self.info.get(entity):
                    found.setdefault(info.type, set()).update(own)
            self._attributes_of_type = {name: frozenset(own) for name, own in found.items()}
        return self._attributes_of_type.get(kind, frozenset())

    def _mostly_both_ways(self, relation: int) -> bool:
        places = np.flatnonzero(self.outgoing.relations == relation)
        heads, tails = np.searchsorted(self.outgoing.offsets, places, "right") - 1, self.outgoing.targets[places]
        heads, tails = heads[heads != tails], tails[heads != tails].astype(np.int64)
        stored, turned = heads * len(self.entities) + tails, tails * len(self.entities) + heads
        return bool(len(heads)) and bool(np.isin(turned, stored).mean() > 0.5)

    # stored triples ----------------------------------------------------------------------------

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
