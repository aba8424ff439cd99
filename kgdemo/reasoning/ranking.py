"""In which order K decoded paths are presented.

The probability of a whole path (GCR equation 9) gives each of a relation's thirty tails a thirtieth, and a
long or rare name next to nothing, so a wrong relation with a single well-known tail outranks a right one.
``relation`` ranking therefore searches with entity tokens normalised over what the graph allows
(``BeamSettings.graph_normalised``), so that a path's tails share the probability of its relations, and orders
the paths by that probability: the sum over the tails found. ``pooled``, the default, takes that sum for one
opinion among several (see ``prior``), and has ``POOL`` times as many paths to find the best in. ``path`` is
the paper's.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kgdemo.constraint.base import PathIds
from kgdemo.constraint.tokenised import TokenisedGraph
from kgdemo.decoding.beam import Hypothesis
from kgdemo.kg.path import Path, is_detour
from kgdemo.reasoning.prior import UNFITTED, Opinion, Prior

KNOWN = 0.4  # weight of the logarithm of an entity's degree: of a relation's tails the better known one is meant
POOL = 2  # times K complete paths are searched for; three times gave the development set nothing more


@dataclass(frozen=True, slots=True)
class RankedPath:
    """A path with its log-probability, the search's score and that of its relations alone.

    Attributes:
        path_score: log-probability of all its tokens.
        relation_score: of its relations and its end alone.
        read: it was not decoded but read from the graph, and then scored by the model.
        rank_score: what it was ranked by; higher is better.
    """

    ids: PathIds
    hypothesis: Hypothesis
    path_score: float
    relation_score: float
    read: bool = False
    rank_score: float = 0.0


@dataclass(frozen=True, slots=True)
class Group:
    """Paths from one topic over the same relations, all fitting the type asked for, or none: ranked as one.

    Attributes:
        paths: likeliest and best known ends first, each once: a symmetric relation says the same in both directions.
        opinion: the experts', of the best of them.
        detour: they visit an entity twice (``is_detour``), so a shorter path says what they say; ranked last.
    """

    paths: tuple[RankedPath, ...]
    opinion: Opinion
    score: float
    detour: bool


def relation_score(graph: TokenisedGraph, ids: PathIds, log_probs: Sequence[float], but: Collection[str] = ()) -> float:
    """Sum of the log-probabilities of a path's relation tokens and of its end mark.

    The end mark counts because it decides between ``r1`` and ``r1, r2``. Relations that read like one of ``but``
    are left out: whether the path goes on behind them still counts.
    """
    place = len(graph.entities.row(ids.entities[0]))
    arrow, total = len(graph.pieces.arrow), 0.0
    for number, (step, entity) in enumerate(zip(ids.steps, ids.entities[1:], strict=True)):
        if number:
            total += sum(log_probs[place : place + arrow])  # going on instead of ending
        place += arrow
        size = len(graph.steps.row(step))
        if graph.kg.readings[step] not in but:
            total += sum(log_probs[place : place + size])
        place += size + arrow + len(graph.entities.row(entity))
    return total + sum(log_probs[place:])


def rank(
    graph: TokenisedGraph, finished: Sequence[Hypothesis], ranking: str, most: int, prior: Prior | None = None
) -> list[RankedPath]:
    """Paths of finished hypotheses in the order they are shown.

    Args:
        graph: the tokenised graph the paths were decoded on.
        finished: hypotheses, any order.
        ranking: ``pooled``, ``relation`` or ``path`` (see ``settings.Settings``).
        most: how many to return at the most; all are different as labels.
        prior: the experts beside the model; needed by ``pooled``, heard on types by ``relation``.
    """
    paths = list(different_paths(graph, finished))
    if ranking == "pooled":
        if prior is None:
            raise ValueError("pooled ranking needs a prior")
        return _chosen(groups_of(graph, paths, prior), most)
    if ranking == "relation":
        return _by_relations(graph, paths, most, prior)
    ranked = [replace(path, rank_score=path.hypothesis.score) for path in paths]
    return sorted(ranked, key=lambda p: (_returns(p.ids), -p.rank_score))[:most]


def groups_of(graph: TokenisedGraph, paths: Sequence[RankedPath], prior: Prior) -> list[Group]:
    """Paths by topic, relations and whether they fit the type asked for; best first, detours last."""
    members: dict[tuple[int, tuple[str, ...], bool, bool], list[RankedPath]] = defaultdict(list)
    for path in paths:
        end = graph.kg.entities[path.ids.entities[-1]]
        said, detour = graph.kg.said(path.ids.steps), is_detour(path.ids.entities)
        members[path.ids.entities[0], said, prior.fits(end), detour].append(path)
    groups = []
    mass: dict[tuple[int, tuple[str, ...], bool], list[float]] = defaultdict(list)
    for (topic, said, _, detour), own in members.items():
        mass[topic, said, detour] += [path.hypothesis.score for path in own]
    prior.read([labelled(graph, path.ids) for path in paths])
    for (topic, said, _, detour), own in members.items():
        own.sort(key=lambda p: -p.hypothesis.score - KNOWN * math.log1p(graph.kg.degree(p.ids.entities[-1])))
        likelihood = float(np.logaddexp.reduce(mass[topic, said, detour]))
        told_once = list({path.ids.entities: path for path in reversed(own)}.values())[::-1]
        opinions = [
            prior.opinion(labelled(graph, path.ids), likelihood, known_score(graph, path, prior)) for path in told_once
        ]
        score, best = max(((o.pooled(prior.weights), o) for o in opinions), key=lambda pair: pair[0])
        lifted = [_lifted(path, best.likelihood - likelihood) for path in told_once]
        groups.append(Group(tuple(replace(path, rank_score=score) for path in lifted), best, score, detour))
    return sorted(groups, key=lambda group: (group.detour, -group.score))


def known_score(graph: TokenisedGraph, path: RankedPath, prior: Prior) -> float:
    """``relation_score`` without the relations that the model was not trained on."""
    return relation_score(graph, path.ids, path.hypothesis.log_probs, prior.unseen)


def labelled(graph: TokenisedGraph, ids: PathIds) -> Path:
    """A decoded path in labels."""
    kg = graph.kg
    return Path(tuple(kg.entities[e] for e in ids.entities), tuple(kg.readings[s] for s in ids.steps))


def different_paths(graph: TokenisedGraph, finished: Sequence[Hypothesis]) -> Iterator[RankedPath]:
    """The paths of hypotheses, each once however many steps read the same."""
    seen: set[tuple[tuple[int, ...], tuple[str, ...]]] = set()
    for hypothesis in finished:
        for ids in hypothesis.state.paths:
            key = (ids.entities, tuple(graph.kg.readings[s] for s in ids.steps))
            if key not in seen:
                seen.add(key)
                score = relation_score(graph, ids, hypothesis.log_probs)
                yield RankedPath(ids, hypothesis, hypothesis.total, score)


def _chosen(groups: Sequence[Group], most: int) -> list[RankedPath]:
    """The paths that are shown, in the order of their groups; the best group is there with its first at least.

    The model's own probability of a path and the pooled score of its relations count alike: of 213 right answers
    that are found for the development questions of WebQuestions the former alone shows 205 among the K, both 208.
    """
    paths = [(number, path) for number, group in enumerate(groups) for path in group.paths]
    if not paths:
        return []
    kept = sorted(paths[1:], key=lambda pair: -pair[1].hypothesis.score - pair[1].rank_score)[: most - 1]
    return [path for _, path in (paths[0], *sorted(kept, key=lambda pair: pair[0]))]


def _by_relations(
    graph: TokenisedGraph, paths: Sequence[RankedPath], most: int, prior: Prior | None
) -> list[RankedPath]:
    """The most probable paths, by the probability of their relations: the sum over the tails among them."""

    def typed(path: RankedPath) -> float:
        wrong = prior is not None and prior.asked.named and not prior.fits(graph.kg.entities[path.ids.entities[-1]])
        return path.hypothesis.score - UNFITTED["named"] * wrong

    ranked = [replace(path, rank_score=typed(path)) for path in paths]
    # a walk that comes back to where it began answers nothing
    ranked = sorted(ranked, key=lambda p: (_returns(p.ids), -p.rank_score))[:most]
    mass: dict[tuple[int, tuple[int, ...]], float] = defaultdict(float)
    for path in ranked:
        mass[path.ids.entities[0], path.ids.steps] += math.exp(path.rank_score)
    return sorted(ranked, key=lambda p: (_returns(p.ids), -mass[p.ids.entities[0], p.ids.steps], -p.rank_score))


def _lifted(path: RankedPath, backed_off: float) -> RankedPath:
    """With the likelihood that its group got by backing off; 0 where the model knows the relations."""
    hypothesis = path.hypothesis
    return replace(path, hypothesis=replace(hypothesis, score=hypothesis.score + backed_off))


def _returns(ids: PathIds) -> bool:
    return is_detour(ids.entities) and ids.entities[-1] == ids.entities[0]
