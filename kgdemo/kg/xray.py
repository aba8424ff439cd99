"""What a graph knows and what it does not: its relations counted, its hubs, its holes, and questions to begin with.

A hole is a relation that is stated of some things of a kind and not of the others: *spouse* of 412 of 6,870 people. No
path leads through a hole, whatever the truth is, so it tells where answers end.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from kgdemo.kg.graph import KnowledgeGraph

HUBS = 12
KINDS = 24
RELATIONS = 400  # of the largest schemas only the relations with most facts
_PREPOSITIONS = frozenset("about at by for from in into of on to under with".split())
_ASKABLE = 60  # characters of a name that reads well in a question


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


def starters(kg: KnowledgeGraph, limit: int = 3) -> list[str]:
    """A few questions that the graph can answer, each about another entity and, while there are such, relation."""
    found: dict[str, str] = {}
    spare: dict[str, str] = {}
    tails: dict[tuple[str, str], int] = defaultdict(int)
    seen: set[str] = set()
    for place, (head, relation, _) in enumerate(kg.triples()):
        if place == 5000 or len(found) == limit:
            break
        tails[head, relation] += 1
        if head in seen or tails[head, relation] > 1 or not reads_well(head) or not reads_well(relation):
            continue
        if relation in found:
            spare.setdefault(head, question_about(head, relation))
        else:
            found[relation] = question_about(head, relation)
            seen.add(head)
    return [*found.values(), *(q for head, q in spare.items() if head not in seen)][:limit]


def question_about(head: str, relation: str) -> str:
    """A question for the tails of a head and a relation, in the relation's own words."""
    words = relation.replace("_", " ")
    first = words.split()[0].lower()
    if first.endswith("s") and not first.endswith("ss"):  # teaches, works at; a plural such as members passes too
        return f"{head} {words} what?"
    if words.split()[-1].lower() in _PREPOSITIONS:
        return f"What is {head} {words}?"
    return f"What is the {words} of {head}?"


def reads_well(label: str) -> bool:
    """Whether a label can stand in a question."""
    return len(label) <= _ASKABLE and label.isprintable() and any(letter.isalpha() for letter in label)
