"""Which relations a model knows from its training: a list beside its weights, one spoken name a line.

A model that brings no list is not asked: nothing is known of what it has read.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kgdemo.kg.graph import KnowledgeGraph

RELATIONS_FILE = "relations.txt"


def spoken_relation(relation: str) -> str:
    """The words that tell a relation from others: the last part of a Freebase name, without underscores.

    >>> spoken_relation("/film/film/release_date_s./film/film_regional_release_date/film_release_region")
    'film release region'
    """
    return " ".join(relation.rstrip("/").rsplit("/", 1)[-1].replace("_", " ").casefold().split())


def read_relations(folder: Path) -> frozenset[str] | None:
    """The spoken names of the relations that the model in a folder was trained on; None where no list says so."""
    file = folder / RELATIONS_FILE
    return frozenset(file.read_text("utf-8").split("\n")[:-1]) if file.is_file() else None


def write_relations(folder: Path, names: Iterable[str]) -> None:
    """Put the list into a model's folder."""
    (folder / RELATIONS_FILE).write_text("".join(f"{name}\n" for name in sorted(set(names))), "utf-8")


def unseen_readings(kg: KnowledgeGraph, known: frozenset[str] | None) -> frozenset[str]:
    """How those relations of a graph read, in both directions, that a model was not trained on.

    Args:
        kg: the graph.
        known: spoken names of the relations it was trained on; None: any may be among them.
    """
    if known is None:
        return frozenset()
    unseen = [spoken_relation(relation) not in known for relation in kg.relations]
    if not any(unseen):
        return frozenset()
    by_step = list(zip(kg.readings, [*unseen, *unseen], strict=True))
    return frozenset(r for r, new in by_step if new) - {r for r, new in by_step if not new}
