"""A saved graph behind the verbs of a store: arrays on disk of which only what is asked for comes into memory.

A graph of a hundred million triples opens at once and takes as much memory as its questions reach: no label is
tokenised or indexed beforehand. The ids of entities and relations are their numbers, written in digits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.stores.base import Edge, Ends, Node, RelationEnds, Step, Survey

_SAMPLE = 200  # facts of a relation, by which it is told whether it says the same in both directions
_WINDOWS = 400  # places in a graph at which facts are taken for that
_WINDOW = 5_000  # facts taken at each


class SavedStore:
    """The arrays of a graph, seen as a store; safe to use from several threads.

    Args:
        kg: a graph whose arrays are memory-mapped, or in memory.
        symmetric: its relations that say the same in both directions; None where that has to be found out.
    """

    def __init__(self, kg: KnowledgeGraph, symmetric: Sequence[str] | None = None) -> None:
        self.kg = kg
        self._symmetric = symmetric
        self._aliases: defaultdict[str, list[str]] = defaultdict(list)  # alias -> labels
        for label, known in kg.info.items():
            for alias in known.aliases:
                self._aliases[alias].append(label)

    def survey(self, relations_alone: bool = False) -> Survey:
        """See ``base.Store``."""
        relations = tuple(Node(str(place), label) for place, label in enumerate(self.kg.relations))
        if relations_alone:
            return Survey(relations)
        if self._symmetric is None:
            self._symmetric = symmetric_relations(self.kg)
        symmetric = frozenset(node.id for node in relations if node.label in set(self._symmetric))
        return Survey(relations, symmetric, {kind: kind for kind in self.kg.types}, len(self.kg))

    def relations(self, entities: Sequence[str], few: int = 0) -> list[RelationEnds]:
        """See ``base.Store``."""
        found = []
        for entity in entities:
            for outgoing, side in ((True, self.kg.outgoing), (False, self.kg.incoming)):
                row = side.row(int(entity))
                relations = side.relations[row]
                bounds = [0, *(np.flatnonzero(np.diff(relations)) + 1).tolist(), len(relations)]
                for first, behind in pairwise(bounds if len(relations) else []):
                    led = side.targets[row][first:behind] if behind - first <= few else ()
                    ends = tuple(self._node(int(end)) for end in led)
                    found.append(RelationEnds(entity, str(relations[first]), outgoing, behind - first, ends))
        return found

    def ends(self, steps: Sequence[Step], limit: int = 10_000) -> Ends:
        """See ``base.Store``; of a step with more ends those come that lie evenly among their labels in order."""
        edges: list[Edge] = []
        for entity, relation, outgoing in steps:
            targets = self._targets(int(entity), int(relation), outgoing)
            room = limit - len(edges)
            some = targets if len(targets) <= room else targets[np.arange(room) * len(targets) // max(room, 1)]
            edges += [Edge(entity, relation, outgoing, self._node(end)) for end in some.tolist()]
            if len(targets) > room:
                return Ends(tuple(edges), False)
        return Ends(tuple(edges), True)

    def labels(self, ids: Sequence[str]) -> list[Node]:
        """See ``base.Store``."""
        return [self._node(int(one)) for one in ids]

    def find(self, texts: Sequence[str]) -> list[tuple[str, Node]]:
        """See ``base.Store``."""
        found = []
        for text in dict.fromkeys(texts):
            for label in (text, *self._aliases.get(text, ())):
                place = self.kg.entities.find(label)
                if place is not None:
                    found.append((text, self._node(place)))
        return found

    def search(self, texts: Sequence[str]) -> list[tuple[str, Node]]:
        """See ``base.Store``: the labels one slip away."""
        spelt = dict.fromkeys(one for text in texts for one in _begun_otherwise(text))
        places = dict.fromkeys(place for one in spelt for place in self.kg.entities.one_slip_from(one))
        return [(node.label, node) for node in map(self._node, places)]

    def look_up(self, texts: Sequence[str], few: int) -> tuple[list[tuple[str, Node]], list[RelationEnds]]:
        """See ``base.Store``."""
        found = self.find(texts)
        return found, self.relations(list(dict.fromkeys(node.id for _, node in found)), few)

    def exists(self, triples: Sequence[tuple[str, str, str]]) -> list[bool]:
        """See ``base.Store``."""
        return [_has(self._targets(int(head), int(relation), True), int(tail)) for head, relation, tail in triples]

    def _targets(self, entity: int, relation: int, outgoing: bool) -> NDArray[np.int32]:
        """Where a relation leads from an entity: ids in order, which is that of their labels."""
        return (self.kg.outgoing if outgoing else self.kg.incoming).ends(entity, relation)

    def _node(self, place: int) -> Node:
        label = self.kg.entities[place]
        known = self.kg.info.get(label)
        if known is None:
            return Node(str(place), label)
        return Node(str(place), label, known.type, known.aliases, known.description)


def _begun_otherwise(text: str) -> Iterator[str]:
    """A text, and what it is where a slip has moved a capital letter: *Gkellie*, *Rpesley* and *An Somerhalder*."""
    yield text
    words = text.split(" ")
    for place, word in enumerate(words):
        if word[:1].isupper():
            for begun in (word.lower(), word[:1].lower() + word[1:2].upper() + word[2:]):
                yield " ".join([*words[:place], begun, *words[place + 1 :]])


def symmetric_relations(kg: KnowledgeGraph) -> list[str]:
    """The relations of which most facts are stored in both directions, told by some facts of each.

    Args:
        kg: a graph of any size; not all of it is read where it is large.
    """
    edges = kg.outgoing
    begins = np.unique(np.linspace(0, max(0, len(kg) - _WINDOW), _WINDOWS).astype(np.int64))
    places = np.unique(np.concatenate([np.arange(begin, min(begin + _WINDOW, len(kg))) for begin in begins]))
    found = []
    relations = edges.relations[places]
    for relation, label in enumerate(kg.relations):
        own = places[relations == relation]
        own = own[:: max(1, len(own) // _SAMPLE)]
        heads = np.searchsorted(edges.offsets, own, side="right") - 1
        pairs = [(h, t) for h, t in zip(heads.tolist(), edges.targets[own].tolist(), strict=True) if h != t]
        both = sum(_has(edges.ends(tail, relation), head) for head, tail in pairs)
        if 2 * both > len(pairs):
            found.append(label)
    return found


def _has(ordered: NDArray[np.int32], value: int) -> bool:
    place = int(np.searchsorted(ordered, value))
    return place < len(ordered) and int(ordered[place]) == value
