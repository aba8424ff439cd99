"""The neighbours of one entity, the telling ones first: what a visitor sees on expanding a node."""

from __future__ import annotations

from collections import Counter
from typing import Any

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.view.escape import visible

MAX_NEIGHBOURS = 40  # neighbours that one answer holds; a hub has thousands
_LABEL = 40


def telling_first(kg: KnowledgeGraph, entity: str) -> list[tuple[str, str]]:
    """``(neighbour, relation as read from the entity)``, each neighbour once.

    Rare relations come first: twelve actors of one film would hide its director.
    """
    around = list(dict.fromkeys(kg.neighbours(entity)))
    often = Counter(relation_label for relation_label, _ in around)
    seen: dict[str, str] = {}
    for relation_label, neighbour in sorted(around, key=lambda pair: (often[pair[0]], pair[0])):
        if neighbour != entity:
            seen.setdefault(neighbour, relation_label)
    return list(seen.items())


def neighbours_of(kg: KnowledgeGraph, entity: str, limit: int = MAX_NEIGHBOURS) -> dict[str, Any]:
    """A record for the page.

    Args:
        kg: the graph of the run.
        entity: label of the node; one that the graph does not know has no neighbours.
        limit: how many are named.

    Returns:
        ``near``, each ``{id, label, relation}``, and ``more``, how many are not among them.
    """
    found = telling_first(kg, entity)
    near = [
        {"id": name, "label": visible(name, _LABEL), "relation": visible(relation_label, _LABEL)}
        for name, relation_label in found[:limit]
    ]
    return {"near": near, "more": len(found) - len(near)}
