"""Reasoning paths for fine-tuning: the relation paths that lead from a question's entities to its answers.

GCR section 4.3 and appendix C take all shortest paths between question and answer entities. Among
them many reach an answer by accident, so each relation path is weighted by how well the *whole* set
of entities it leads to agrees with the answers (F1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgdemo.kg.graph import KnowledgeGraph


@dataclass(frozen=True, slots=True)
class RelationPath:
    """Steps from a topic entity, the entities they end at, and how well these match the answers."""

    topic: int
    steps: tuple[int, ...]
    weight: float


def inverse_step(kg: KnowledgeGraph, step: int) -> int:
    """The step that walks the same edge the other way."""
    relations = len(kg.relations)
    return step - relations if step >= relations else step + relations


def follow(kg: KnowledgeGraph, entities: NDArray[np.int32], step: int) -> NDArray[np.int32]:
    """All entities one ``step`` away from any of ``entities``, sorted."""
    reached = []
    for entity in entities:
        steps, targets = kg.steps(int(entity))
        reached.append(targets[steps == step])
    return np.unique(np.concatenate(reached)) if reached else entities[:0]


def shortest_relation_paths(kg: KnowledgeGraph, topic: int, answers: set[int], most: int = 12) -> list[RelationPath]:
    """Relation paths of the least length (one or two hops) from ``topic`` to ``answers``, best first."""
    steps, targets = kg.steps(topic)
    wanted = np.fromiter(answers, dtype=np.int32, count=len(answers))
    direct = np.unique(steps[np.isin(targets, wanted)])
    candidates: dict[tuple[int, ...], int] = {(int(step),): 1 for step in direct}
    if not candidates:
        candidates = _two_hops(kg, steps, targets, wanted)
    ranked = sorted(candidates, key=lambda path: -candidates[path])[:most]
    paths = [RelationPath(topic, path, _f1(_ends(kg, topic, path), answers)) for path in ranked]
    return sorted(paths, key=lambda path: -path.weight)


def _two_hops(
    kg: KnowledgeGraph, steps: NDArray[np.int32], targets: NDArray[np.int32], answers: NDArray[np.int32]
) -> dict[tuple[int, ...], int]:
    """Two-step paths, meeting in the middle; the count is the number of edges that agree."""
    counts: dict[tuple[int, ...], int] = {}
    for answer in answers:
        back_steps, middles = kg.steps(int(answer))
        shared = np.intersect1d(targets, middles)[:200]
        for middle in shared:
            for first in np.unique(steps[targets == middle]):
                for back in np.unique(back_steps[middles == middle]):
                    path = (int(first), inverse_step(kg, int(back)))
                    counts[path] = counts.get(path, 0) + 1
    return counts


def _ends(kg: KnowledgeGraph, topic: int, path: tuple[int, ...]) -> set[int]:
    frontier = np.array([topic], dtype=np.int32)
    for step in path:
        frontier = follow(kg, frontier[:500], step)  # a hub's tail does not change the F1 that matters
    return set(frontier.tolist())


def _f1(found: set[int], right: set[int]) -> float:
    hits = len(found & right)
    return 2 * hits / (len(found) + len(right)) if hits else 0.0
