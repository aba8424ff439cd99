"""The type of each entity of a Freebase graph, as the names of its relations imply it.

A relation of Freebase is named after the type it leaves from and the property it stands for: whatever
``/location/country/capital`` leaves from is a country, and what it leads to is a capital. ``freebase_kinds.tsv`` says
which of these types and properties stand for which kind, in the words that people ask with. The kinds marked general
hold of many things that are something else besides (a singer too has recordings, a university a revenue), so they are
taken only where no other kind is implied.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kgdemo.kg.graph import EntityInfo, KnowledgeGraph

_NAME = re.compile(r"/?\w+([/.]\w+){2,}")  # domain, type, property
_FILE = Path(__file__).parent / "freebase_kinds.tsv"


def with_entity_kinds(kg: KnowledgeGraph) -> KnowledgeGraph:
    """The graph with a type for each entity that has none but whose edges imply one.

    Returns:
        a graph over the same arrays; ``kg`` itself where its relations are not named in Freebase's way.
    """
    heads = np.repeat(np.arange(len(kg.entities), dtype=np.int32), np.diff(kg.outgoing.offsets))
    kinds = entity_kinds(heads, kg.outgoing.relations, kg.outgoing.targets, list(kg.relations))
    if not kinds:
        return kg
    info = dict(kg.info)
    for entity, kind in kinds.items():
        label = kg.entities[entity]
        known = info.get(label, EntityInfo())
        info[label] = known if known.type else replace(known, type=kind)
    return KnowledgeGraph(kg.name, kg.entities, kg.relations, kg.outgoing, kg.incoming, kg.inverse_labels, info)


def entity_kinds(
    heads: NDArray[np.integer], relations: NDArray[np.integer], tails: NDArray[np.integer], names: Sequence[str]
) -> dict[int, str]:
    """The kind that most edges of each entity imply.

    Args:
        heads, relations, tails: ids of the graph's edges, ``(edges,)`` each.
        names: of the relations, by id.

    Returns:
        entity -> kind; entities whose edges imply none are left out. Empty where the relations are not named in
        Freebase's way.
    """
    parts = [_type_and_property(name) for name in names]
    if not any(parts):
        return {}
    kinds: NDArray[np.object_] = np.full(int(max(heads.max(), tails.max())) + 1, "", dtype=object)
    votes = np.zeros(len(kinds), np.int64)  # edges that imply the kind taken so far
    for kind, types, properties, general in _kinds():
        leaves = np.array([part is not None and part[0] in types for part in parts])
        leads = np.array([part is not None and part[1] in properties for part in parts])
        implied = np.bincount(heads[leaves[relations]], minlength=len(kinds))
        implied += np.bincount(tails[leads[relations]], minlength=len(kinds))
        better = (implied > 0) & (votes == 0) if general else implied > votes
        kinds[better], votes[better] = kind, implied[better]
    return {entity: kinds[entity] for entity in np.flatnonzero(votes).tolist()}


def _type_and_property(relation: str) -> tuple[str, str] | None:
    """The type a relation leaves from and the property that leads to its tail; None where its name has no such parts.

    >>> _type_and_property("/people/person/places_lived./people/place_lived/location")
    ('person', 'location')
    >>> _type_and_property("location.country.capital")
    ('country', 'capital')
    """
    halves = re.split(r"\.+/", relation)
    if not all(_NAME.fullmatch(half) for half in halves):
        return None
    first, last = (re.split(r"[/.]", half) for half in (halves[0], halves[-1]))
    return first[-2], last[-1]


@cache
def _kinds() -> tuple[tuple[str, frozenset[str], frozenset[str], bool], ...]:
    """(kind, types of heads, properties that lead to it, general); the general ones last."""
    with _FILE.open(encoding="utf-8", newline="") as stream:
        rows = [
            (row["kind"], frozenset(row["heads"].split()), frozenset(row["tails"].split()), bool(row["general"]))
            for row in csv.DictReader(stream, delimiter="\t")
        ]
    return tuple(sorted(rows, key=lambda row: row[3]))
