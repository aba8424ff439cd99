"""Graph stores to test with: a folder of LadybugDB, and the verbs of a store answered from a graph in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.stores.base import Ends, Node, RelationEnds, Step
from kgdemo.kg.stores.saved import SavedStore


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


class MemoryStore(SavedStore):
    """The store over a graph's own arrays, that remembers what it was asked.

    Args:
        kg: the graph.

    Attributes:
        asked: the verbs that were asked, in order.
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        super().__init__(kg, [r for r in kg.relations if len(kg.alike(r)) > 1])
        self.asked: list[str] = []

    def relations(self, entities: Sequence[str], few: int = 0) -> list[RelationEnds]:
        """See ``Store``."""
        self.asked.append("relations")
        return super().relations(entities, few)

    def ends(self, steps: Sequence[Step], prefix: str = "", limit: int = 10_000) -> Ends:
        """See ``Store``."""
        self.asked.append("ends")
        return super().ends(steps, prefix, limit)

    def labels(self, ids: Sequence[str]) -> list[Node]:
        """See ``Store``."""
        self.asked.append("labels")
        return super().labels(ids)

    def find(self, texts: Sequence[str]) -> list[tuple[str, Node]]:
        """See ``Store``."""
        self.asked.append("find")
        return super().find(texts)

    def look_up(self, texts: Sequence[str], few: int) -> tuple[list[tuple[str, Node]], list[RelationEnds]]:
        """See ``Store``."""
        found = SavedStore.find(self, texts)
        self.asked.append("look_up")
        return found, SavedStore.relations(self, list(dict.fromkeys(node.id for _, node in found)), few)

    def exists(self, triples: Sequence[tuple[str, str, str]]) -> list[bool]:
        """See ``Store``."""
        self.asked.append("exists")
        return super().exists(triples)
