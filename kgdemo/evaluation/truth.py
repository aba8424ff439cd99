"""The true reasoning steps of a question: the shortest paths from its entities to its answers."""

from __future__ import annotations

from collections.abc import Iterable

from kgdemo.kg.graph import KnowledgeGraph

Step = tuple[frozenset[str], str]  # an edge, whichever way it is walked: both ends, and the stored relation


def true_steps(
    kg: KnowledgeGraph, topics: Iterable[str], gold: Iterable[str], hops: int, directed: bool
) -> frozenset[Step]:
    """The edges of all shortest paths from the topics to each answer (FiDeLiS section 4.3, ground-truth steps).

    Args:
        kg: the graph.
        topics, gold: entity labels; those the graph does not have are passed over.
        hops: answers further away are out of reach.
        directed: follow edges from head to tail only.
    """
    starts = {i for t in topics if (i := kg.entities.find(t)) is not None}
    left = {i for g in gold if (i := kg.entities.find(g)) is not None} - starts
    before: dict[int, list[tuple[int, int]]] = {start: [] for start in starts}
    frontier, ends = starts, set[int]()
    for _ in range(hops if left else 0):
        reached: dict[int, list[tuple[int, int]]] = {}
        for entity in frontier:
            for step, target in zip(*(part.tolist() for part in kg.steps(entity, directed)), strict=True):
                if target not in before:
                    reached.setdefault(target, []).append((entity, step))
        before |= reached
        ends |= left & reached.keys()
        left -= ends
        frontier = set(reached)
        if not left:
            break
    found: set[Step] = set()
    waiting = list(ends)
    while waiting:
        entity = waiting.pop()
        for previous, step in before.pop(entity, []):
            relation = kg.relations[step % len(kg.relations)]
            found.add((frozenset((kg.entities[previous], kg.entities[entity])), relation))
            waiting.append(previous)
    return frozenset(found)


class Steps:
    """Walked hops as edges of one graph, whichever way and in whichever reading they are walked.

    Args:
        kg: for its readings.
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        relations = list(kg.relations)
        self._relation = dict(zip(reversed(kg.readings), reversed([*relations, *relations]), strict=True))

    def of(self, hops: Iterable[tuple[str, str, str]]) -> frozenset[Step]:
        """The edges walked; a relation that the graph does not have stays as it is written."""
        return frozenset((frozenset((head, tail)), self._relation.get(r, r)) for head, r, tail in hops)
