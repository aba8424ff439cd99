"""What a graph knows and what it does not: its relations counted, its hubs, and its holes.

A hole is a relation that is stated of some things of a kind and not of the others: *spouse* of 412 of 6,870 people. No
path leads through a hole, whatever the truth is, so it tells where answers end.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from kgdemo.kg.graph import KnowledgeGraph

HUBS = 12
KINDS = 24
RELATIONS = 400  # of the largest schemas only the relations with most facts


@dataclass(frozen=True, slots=True)
class RelationCount:
    """How much is stated with a relation.

    Attributes:
        relation: its label.
        facts: triples with it.
        kind: the type that most of its heads have; empty where no type is known.
        known: things of that type that it is stated of; of all that have facts where no type is known.
        of: how many such things there are.
    """

    relation: str
    facts: int
    kind: str
    known: int
    of: int


@dataclass(frozen=True, slots=True)
class XRay:
    """What a graph knows.

    Attributes:
        triples, entities: how many.
        kinds: the commonest types of entities, with their numbers.
        relations: those with most facts first.
        hubs: the entities with most edges, with their numbers.
        left_out: relations that are not listed.
    """

    triples: int
    entities: int
    kinds: tuple[tuple[str, int], ...]
    relations: tuple[RelationCount, ...]
    hubs: tuple[tuple[str, int], ...]
    left_out: int


def x_ray(kg: KnowledgeGraph) -> XRay:
    """Count what a graph states."""
    (*names, _), codes = kg.kinds  # the last one is that of entities without a type
    sizes = np.bincount(codes, minlength=len(names) + 1)[:-1]
    out, into = (np.diff(side.offsets) for side in (kg.outgoing, kg.incoming))
    degrees = out + into
    hubs = np.argsort(-degrees, kind="stable")[:HUBS].tolist()
    facts = np.bincount(kg.outgoing.relations, minlength=len(kg.relations))
    order = np.argsort(-facts, kind="stable")
    with_facts = int((out > 0).sum())
    pairs = np.unique(np.stack((kg.outgoing.relations, np.repeat(np.arange(len(out), dtype=np.int32), out))), axis=1)
    begins = np.searchsorted(pairs[0], np.arange(len(kg.relations) + 1))
    relations = []
    for relation in order[:RELATIONS].tolist():
        heads = pairs[1, begins[relation] : begins[relation + 1]]
        counts = Counter(code for code in codes[heads].tolist() if code < len(names))
        code, known = counts.most_common(1)[0] if counts else (-1, len(heads))
        kind, of = (names[code], int(sizes[code])) if counts else ("", with_facts)
        relations.append(RelationCount(kg.relations[relation], int(facts[relation]), kind, known, of))
    kinds = sorted(zip(names, sizes.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))
    return XRay(
        len(kg),
        len(kg.entities),
        tuple(kinds[:KINDS]),
        tuple(relations),
        tuple((kg.entities[entity], int(degrees[entity])) for entity in hubs if degrees[entity]),
        max(0, len(kg.relations) - RELATIONS),
    )
