"""Graph stores to test with: a folder of LadybugDB, and a store that counts what it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io.saved import SavedStore
from kgdemo.kg.stores.base import Ends, Node, RelationEnds, Step, Store, Survey


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


class CountedStore:
    """A store that remembers what it was asked.

    Args:
        store: answers.

    Attributes:
        asked: the verbs that were asked, in order; each is one request.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.asked: list[str] = []

    def survey(self, relations_alone: bool = False) -> Survey:
        """See ``Store``; not counted."""
        return self.store.survey(relations_alone)

    def relations(self, entities: Sequence[str], few: int = 0) -> list[RelationEnds]:
        """See ``Store``."""
        self.asked.append("relations")
        return self.store.relations(entities, few)

    def ends(self, steps: Sequence[Step], limit: int = 10_000) -> Ends:
        """See ``Store``."""
        self.asked.append("ends")
        return self.store.ends(steps, limit)

    def labels(self, ids: Sequence[str]) -> list[Node]:
        """See ``Store``."""
        self.asked.append("labels")
        return self.store.labels(ids)

    def find(self, texts: Sequence[str]) -> list[tuple[str, Node]]:
        """See ``Store``."""
        self.asked.append("find")
        return self.store.find(texts)

    def search(self, texts: Sequence[str]) -> list[tuple[str, Node]]:
        """See ``Store``."""
        self.asked.append("search")
        return self.store.search(texts)

    def look_up(self, texts: Sequence[str], few: int) -> tuple[list[tuple[str, Node]], list[RelationEnds]]:
        """See ``Store``."""
        self.asked.append("look_up")
        return self.store.look_up(texts, few)

    def exists(self, triples: Sequence[tuple[str, str, str]]) -> list[bool]:
        """See ``Store``."""
        self.asked.append("exists")
        return self.store.exists(triples)


def memory_store(kg: KnowledgeGraph) -> CountedStore:
    """A store whose ids are numbers of a graph in memory, counted."""
    return CountedStore(SavedStore(kg, [r for r in kg.relations if len(kg.alike(r)) > 1]))
