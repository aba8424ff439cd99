"""In which order K decoded paths are presented.

The probability of a whole path (GCR equation 9) gives each of a relation's thirty tails a thirtieth, and a
long or rare name next to nothing, so a wrong relation with a single well-known tail outranks a right one.
``relation`` ranking therefore searches with entity tokens normalised over what the graph allows
(``BeamSettings.graph_normalised``), so that a path's tails share the probability of its relations, and orders
the paths by that probability: the sum over the tails found. A type that the question asks for in so many words
counts as evidence besides (see ``asked_type``). ``path`` is the paper's.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from kgdemo.constraint.base import PathIds
from kgdemo.constraint.tokenised import TokenisedGraph
from kgdemo.decoding.beam import Hypothesis
from kgdemo.reasoning.asked_type import type_log_odds


@dataclass(frozen=True, slots=True)
class RankedPath:
    """A path with its log-probability, the search's score and that of its relations alone.

    Attributes:
        read: it was not decoded but read from the graph, and then scored by the model.
        type_score: how the type that the question asks for speaks for the path's end, 0 or less.
    """

    ids: PathIds
    hypothesis: Hypothesis
    path_score: float
    relation_score: float
    read: bool = False
    type_score: float = 0.0

    @property
    def search_score(self) -> float:
        """What the beam search ranked it by, and the type of its end."""
        return self.hypothesis.score + self.type_score


def relation_score(graph: TokenisedGraph, ids: PathIds, log_probs: Sequence[float]) -> float:
    """Sum of the log-probabilities of a path's relation tokens and of its end mark.

    The end mark counts because it decides between ``r1`` and ``r1, r2``.
    """
    place = len(graph.entities.row(ids.entities[0]))
    arrow, total = len(graph.pieces.arrow), 0.0
    for number, (step, entity) in enumerate(zip(ids.steps, ids.entities[1:], strict=True)):
        if number:
            total += sum(log_probs[place : place + arrow])  # going on instead of ending
        place += arrow
        size = len(graph.steps.row(step))
        total += sum(log_probs[place : place + size])
        place += size + arrow + len(graph.entities.row(entity))
    return total + sum(log_probs[place:])


def rank(
    graph: TokenisedGraph,
    finished: Sequence[Hypothesis],
    ranking: str,
    most: int,
    asked: frozenset[str] = frozenset(),
) -> list[RankedPath]:
    """Paths of finished hypotheses in the order they are shown.

    Args:
        graph: the tokenised graph the paths were decoded on.
        finished: hypotheses, any order.
        ranking: ``path`` or ``relation`` (see ``settings.Settings``).
        most: how many to return at the most; all are different as labels.
        asked: types that the question asks for; the paper's ranking does not look at them.
    """
    readings = graph.kg.readings
    seen: set[tuple[tuple[int, ...], tuple[str, ...]]] = set()
    ranked = []
    for hypothesis in finished:
        for ids in hypothesis.state.paths:
            key = (ids.entities, tuple(readings[s] for s in ids.steps))
            if key not in seen:
                seen.add(key)
                score = relation_score(graph, ids, hypothesis.log_probs)
                fits = type_log_odds(asked, graph.kg.type_of(ids.entities[-1])) if ranking == "relation" else 0.0
                ranked.append(RankedPath(ids, hypothesis, hypothesis.total, score, type_score=fits))
    # a walk that comes back to where it began answers nothing
    ranked.sort(key=lambda p: (_returns(p.ids), -p.search_score))
    ranked = ranked[:most]
    if ranking == "relation":
        mass: dict[tuple[int, tuple[int, ...]], float] = defaultdict(float)
        for path in ranked:
            mass[path.ids.entities[0], path.ids.steps] += math.exp(path.search_score)
        ranked.sort(key=lambda p: (_returns(p.ids), -mass[p.ids.entities[0], p.ids.steps], -p.search_score))
    return ranked


def _returns(ids: PathIds) -> bool:
    return ids.entities[-1] == ids.entities[0]
