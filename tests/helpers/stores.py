"""Graph stores to test with: a folder of LadybugDB, and the verbs of a store answered from a graph in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.stores.base import Edge, Ends, Node, RelationEnds, Step, Survey


def written(kg: KnowledgeGraph, path: Path) -> Path:
    """A LadybugDB database that holds a graph, in the shape of the default profile."""
    import ladybug

    with ladybug.Database(path, buffer_pool_size=100_000_000, max_num_threads=1) as database:
        connection: Any = ladybug.Connection(database)
        connection.execute("CREATE NODE TABLE Entity(id STRING PRIMARY KEY, label STRING, type STRING)")
        connection.execute("CREATE REL TABLE Fact(FROM Entity TO Entity, relation STRING)")
        for label in kg.entities:
            known = kg.info.get(label)
            given = {"label": label, "type": known.type if known else ""}
            connection.execute("CREATE (:Entity {id: $label, label: $label, type: $type})", given)
        for head, relation, tail in kg.triples():
            connection.execute(
                "MATCH (h:Entity {id: $head}), (t:Entity {id: $tail}) CREATE (h)-[:Fact {relation: $relation}]->(t)",
                {"head": head, "tail": tail, "relation": relation},
            )
        connection.close()
    return path


class MemoryStore:
    """A store whose ids are the labels of a graph in memory.

    Args:
        kg: the graph.

    Attributes:
        asked: the verbs that were asked, in order.
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        self.asked: list[str] = []

    def survey(self, relations_alone: bool = False) -> Survey:
        """See ``Store``."""
        symmetric = frozenset(r for r in self.kg.relations if len(self.kg.alike(r)) > 1)
        return Survey(tuple(Node(r, r) for r in self.kg.relations), symmetric, facts=len(self.kg))

    def _led(self, entity: str) -> dict[tuple[str, bool], list[str]]:
        place, led = self.kg.entities.find(entity), dict[tuple[str, bool], list[str]]()
        assert place is not None
        for step, end in zip(*(part.tolist() for part in self.kg.steps(place)), strict=True):
            key = self.kg.relations[self.kg.relation_of(step)], step < len(self.kg.relations)
            led.setdefault(key, []).append(self.kg.entities[end])
        return led

    def relations(self, entities: Sequence[str], few: int = 0) -> list[RelationEnds]:
        """See ``Store``."""
        self.asked.append("relations")
        return [
            RelationEnds(
                entity, relation, outgoing, len(ends), tuple(Node(e, e) for e in ends) if len(ends) <= few else ()
            )
            for entity in entities
            for (relation, outgoing), ends in self._led(entity).items()
        ]

    def ends(self, steps: Sequence[Step], prefix: str = "", limit: int = 10_000) -> Ends:
        """See ``Store``."""
        self.asked.append("ends")
        edges = [
            Edge(entity, relation, outgoing, Node(end, end))
            for entity, relation, outgoing in steps
            for end in self._led(entity).get((relation, outgoing), [])
            if end.startswith(prefix)
        ]
        return Ends(tuple(edges[:limit]), len(edges) <= limit)

    def labels(self, ids: Sequence[str]) -> list[Node]:
        """See ``Store``."""
        self.asked.append("labels")
        return [Node(one, one) for one in ids if one in self.kg.entities]

    def find(self, texts: Sequence[str]) -> list[tuple[str, Node]]:
        """See ``Store``."""
        self.asked.append("find")
        return [(text, Node(text, text)) for text in texts if text in self.kg.entities]

    def exists(self, triples: Sequence[tuple[str, str, str]]) -> list[bool]:
        """See ``Store``."""
        self.asked.append("exists")
        return [self.kg.has_triple(*triple) for triple in triples]
