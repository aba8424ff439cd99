"""Questions about several entities at once: the answer must satisfy what is said of each of them.

*Movies with De Niro directed by Scorsese* is a conjunctive query: one relation path from each topic, and the
answers are where they meet. A *reading* of a question gives every topic one of its relation groups (all paths
from it over the same relations, read to their ends from the graph) or leaves it out as mere context. Topics
are taken as independent, so a reading's score is a sum over them:

    used topic:     log p(relations | topic) - log p(its best relations | topic)
    left-out topic: log of the odds that a named entity is mere context, ``CONTEXT``

and a reading of several topics counts only if their groups meet. A reading of one topic alone therefore
scores ``(topics - 1) * CONTEXT`` at best; a pair outranks it when both its groups are among the plausible
ones of their topics. Where none does, the paths stay ranked as they were. Nothing here depends on how sure
the model is of a topic as such, only on how it orders that topic's relations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgdemo.constraint.base import PathIds
from kgdemo.kg.graph import Adjacency, KnowledgeGraph
from kgdemo.kg.path import is_detour

CONTEXT = math.log(0.02)  # people seldom name an entity that says nothing of the answer
MOST_GROUPS = 8  # of a topic, best first; weaker ones could not outweigh ``CONTEXT``


@dataclass(frozen=True, slots=True)
class RelationGroup:
    """All paths from one topic over the same relations.

    Attributes:
        topic: entity id.
        relations: readings, one a hop.
        log_prob: of the relations, given the topic.
        layers: the entities reached after 0, 1, … hops, each sorted; the last are the group's ends.
    """

    topic: int
    relations: tuple[str, ...]
    log_prob: float
    layers: tuple[NDArray[np.int32], ...]

    @property
    def ends(self) -> NDArray[np.int32]:
        """Where the paths end, sorted."""
        return self.layers[-1]


@dataclass(frozen=True, slots=True)
class Reading:
    """Groups of different topics that meet.

    Attributes:
        groups: in the order of the topics; topics left out have none.
        score: see above, 0 at most.
        answers: the entities all groups lead to, sorted; no topic is one.
    """

    groups: tuple[RelationGroup, ...]
    score: float
    answers: NDArray[np.int32]


def best_reading(topics: Sequence[Sequence[RelationGroup]], context: float = CONTEXT) -> Reading | None:
    """The best reading that uses two topics or more; None when reading one topic alone is at least as good.

    Args:
        topics: for each topic its relation groups.
        context: log-odds of a topic's being left out, negative.
    """
    named = np.array(sorted({group.topic for groups in topics for group in groups}), np.int32)
    telling = [[g for g in groups if len(np.setdiff1d(g.ends, named))] for groups in topics]
    topics = [sorted(groups, key=lambda g: -g.log_prob)[:MOST_GROUPS] for groups in telling if groups]
    best: Reading | None = None
    alone = (len(topics) - 1) * context

    def extend(place: int, used: tuple[RelationGroup, ...], score: float, answers: NDArray[np.int32] | None) -> None:
        nonlocal best
        if score <= (best.score if best else alone):  # scores only fall
            return
        if place == len(topics):
            if len(used) > 1 and answers is not None:
                best = Reading(used, score, answers)
            return
        groups = topics[place]
        for group in groups:
            met = np.setdiff1d(group.ends, named) if answers is None else np.intersect1d(answers, group.ends)
            if len(met):
                extend(place + 1, (*used, group), score + group.log_prob - groups[0].log_prob, met)
        extend(place + 1, used, score + context, answers)

    if len(topics) > 1:
        extend(0, (), 0.0, None)
    return best


def reach(kg: KnowledgeGraph, topic: int, relations: Sequence[str], directed: bool) -> tuple[NDArray[np.int32], ...]:
    """The entities reached from a topic over these relations after 0, 1, … hops, each sorted.

    A walk of several hops that leads back to the topic is left out, for it answers nothing.
    """
    layers = [np.array([topic], np.int32)]
    for relation in relations:
        forward, backward = _directions(kg, relation, directed)
        ends = [_targets(kg.outgoing, layers[-1], forward), _targets(kg.incoming, layers[-1], backward)]
        layers.append(np.unique(np.concatenate(ends)))
    if len(relations) > 1:
        layers[-1] = layers[-1][layers[-1] != topic]
    return tuple(layers)


def path_to(kg: KnowledgeGraph, group: RelationGroup, end: int, directed: bool) -> PathIds:
    """One path of a group that leads to ``end``; a detour only where all of them are.

    Raises:
        ValueError: ``end`` is not among the group's.
    """
    for straight in (True, False):
        path = _walk_back(kg, group, (end,), (), directed, straight)
        if path is not None:
            return path
    raise ValueError(f"no path of the group leads to entity {end}")


def _walk_back(
    kg: KnowledgeGraph,
    group: RelationGroup,
    entities: tuple[int, ...],
    steps: tuple[int, ...],
    directed: bool,
    straight: bool,
) -> PathIds | None:
    """Go on from the last of these entities towards the group's topic; the first path that gets there.

    Args:
        entities: from an end of the group backwards.
        steps: between them, as walked towards the end.
        straight: take no detour.
    """
    left, count = len(group.relations) - len(steps), len(kg.relations)
    if not left:
        return PathIds(entities[::-1], steps[::-1])
    forward, backward = _directions(kg, group.relations[left - 1], directed)
    taken, sources = kg.steps(entities[-1])
    turned = np.where(taken < count, taken + count, taken - count)
    fits = np.isin(turned, [*forward, *(r + count for r in backward)]) & np.isin(sources, group.layers[left - 1])
    for place in np.flatnonzero(fits).tolist():
        further = (*entities, int(sources[place]))
        if straight and is_detour(further):
            continue
        found = _walk_back(kg, group, further, (*steps, int(turned[place])), directed, straight)
        if found is not None:
            return found
    return None


def _directions(kg: KnowledgeGraph, reading: str, directed: bool) -> tuple[list[int], list[int]]:
    """The relations with this reading when walked from head to tail, and when walked backwards.

    Of a symmetric relation both readings are meant.
    """
    count, meant = len(kg.relations), kg.alike(reading)
    steps = [step for step, words in enumerate(kg.readings) if words in meant]
    return [s for s in steps if s < count], [s - count for s in steps if s >= count and not directed]


def _targets(edges: Adjacency, rows: NDArray[np.int32], relations: list[int]) -> NDArray[np.int32]:
    """Where edges of these relations lead from any of these entities."""
    if not relations:
        return np.empty(0, np.int32)
    places = edges.places(rows)
    return edges.targets[places[np.isin(edges.relations[places], relations)]]
