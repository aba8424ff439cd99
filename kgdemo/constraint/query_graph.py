"""The query-centric subgraph of DoG (Li et al. 2025, section 2.3): what a chain of triples may go on with.

It starts as all triples around the query entities and grows by all triples around each entity that the
chain reaches (equation 1), so it is a function of the entities visited so far and is never stored. A
triple can be used from either end (section 2.2, property 2): it is kept as a *link*, a walk that starts
at the visited end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from kgdemo.constraint.base import PathIds
from kgdemo.kg.graph import KnowledgeGraph

IdTriple = tuple[int, int, int]  # head, relation and tail ids, as stored
_UNNAMED = re.compile(r"[mg]\.[0-9a-z_]+")  # Freebase's ids of things without a name
_MEDIATOR = "mediator"  # the entity type that says so in graphs of other origin


def is_mediator(kg: KnowledgeGraph, entity: int) -> bool:
    """Whether an entity only ties others together (a compound value of Freebase) and means nothing by itself."""
    label = kg.entities[entity]
    info = kg.info.get(label)
    return info.type == _MEDIATOR if info and info.type else _UNNAMED.fullmatch(label) is not None


@dataclass(frozen=True, slots=True)
class Link:
    """A triple seen from a visited end: a walk of one step, or of two over a collapsed mediator.

    Attributes:
        path: the walk; its first entity has been visited.
        triples: the stored triples it walks.
    """

    path: PathIds
    triples: tuple[IdTriple, ...]

    @property
    def first(self) -> int:
        """The visited end."""
        return self.path.entities[0]

    @property
    def last(self) -> int:
        """The end that the link leads to."""
        return self.path.entities[-1]

    def stored(self, kg: KnowledgeGraph) -> tuple[int, tuple[int, ...], int]:
        """Head, step or steps, and tail in the direction the graph stores them.

        Over a mediator the two triples may point in different directions; then the link stays as walked.
        """
        relations, path = len(kg.relations), self.path
        if all(step >= relations for step in path.steps):
            return path.entities[-1], tuple(step - relations for step in reversed(path.steps)), path.entities[0]
        return path.entities[0], path.steps, path.entities[-1]

    def labels(self, kg: KnowledgeGraph) -> tuple[str, str, str]:
        """The same as labels, a collapsed mediator's relations joined by a hyphen (DoG appendix B)."""
        head, steps, tail = self.stored(kg)
        return kg.entities[head], "-".join(kg.readings[step] for step in steps), kg.entities[tail]


class QueryGraph:
    """Gives the links that a chain may take next.

    Args:
        kg: the graph.
        directed: use triples from their head only.
        pool: the stored triples that may be used (DoG appendix B keeps 120); None for all of the graph.
        collapse: step over mediators, as if the two triples around one were one (appendix B).
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        directed: bool = False,
        pool: AbstractSet[IdTriple] | None = None,
        collapse: bool = True,
    ) -> None:
        self.kg = kg
        self.directed = directed
        self.pool = pool
        self.collapse = collapse

    def links(self, visited: Sequence[int], used: AbstractSet[IdTriple] = frozenset()) -> list[Link]:
        """All links from the visited entities; triples that the chain holds already are left out."""
        found: dict[PathIds, Link] = {}
        for entity in dict.fromkeys(visited):
            for path, triple in self._steps(entity, used):
                if not (self.collapse and is_mediator(self.kg, path.entities[1])):
                    found.setdefault(path, Link(path, (triple,)))
                    continue
                for onward, second in self._steps(path.entities[1], used):
                    if second != triple:
                        whole = PathIds((entity, *onward.entities), (*path.steps, *onward.steps))
                        found.setdefault(whole, Link(whole, (triple, second)))
        return list(found.values())

    def _steps(self, entity: int, used: AbstractSet[IdTriple]) -> Iterator[tuple[PathIds, IdTriple]]:
        relations = len(self.kg.relations)
        steps, targets = self.kg.steps(entity, self.directed)
        for step, target in zip(steps.tolist(), targets.tolist(), strict=True):
            triple = (entity, step, target) if step < relations else (target, step - relations, entity)
            if triple not in used and (self.pool is None or triple in self.pool):
                yield PathIds((entity, target), (step,)), triple
