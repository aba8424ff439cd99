"""Questions about several entities at once: the answer must satisfy what is said of each of them.

*Movies with De Niro directed by Scorsese* is a conjunctive query: one relation path from each topic, and the
answers are where they meet. An *interpretation* of a question gives every topic one of its relation groups (all paths
from it over the same relations, followed to their ends in the graph) or leaves it out as mere context. Topics
are taken as independent, so the score of an interpretation is a sum over them:

    used topic:     log p(relations | topic) - log p(its best relations | topic)
    left-out topic: log of the odds that a named entity is mere context, ``CONTEXT``

An interpretation with several topics counts only if their groups meet. An interpretation with one topic alone therefore
scores ``(topics - 1) * CONTEXT`` at best; a pair outranks it when both its groups are among the plausible
ones of their topics. Where none does, the paths stay ranked as they were. Nothing here depends on how sure
the model is of a topic as such, only on how it orders that topic's relations.

Paths that meet are shown first, one of each topic side by side (``conjunctive_first``). They need not be among the K
decoded paths: of a prize's two hundred winners ten are decoded. A path that is missing is read from the graph, scored
by the model like any other, and marked as read.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.decoding.base import Hypothesis
from kgdemo.kg.graph import Layers
from kgdemo.ranking.graph_paths import PathReader
from kgdemo.ranking.scorer import PathScorer, RankedPath, rank

CONTEXT = math.log(0.02)  # people seldom name an entity that says nothing of the answer
MAX_GROUPS = 8  # of a topic, best first; weaker ones could not outweigh ``CONTEXT``
Key = tuple[int, tuple[str, ...], int]  # topic, relations, end


@dataclass(frozen=True, slots=True)
class RelationGroup:
    """All paths from one topic over the same relations.

    Attributes:
        topic: entity id.
        relations: labels, one a hop.
        log_prob: of the relations, given the topic.
        layers: what ``KnowledgeGraph.reach`` gives for topic and relations; the last holds the group's ends.
    """

    topic: int
    relations: tuple[str, ...]
    log_prob: float
    layers: Layers

    @property
    def ends(self) -> NDArray[np.int32]:
        """Where the paths end, sorted."""
        return self.layers[-1]

    def avoids(self, topics: NDArray[np.int32]) -> bool:
        """Whether no path has to lead by way of other topics: one that does says of them what they say themselves."""
        return all(len(np.setdiff1d(layer, topics)) for layer in self.layers[1:-1])


@dataclass(frozen=True, slots=True)
class QueryInterpretation:
    """Groups of different topics that meet.

    Attributes:
        groups: in the order of the topics; topics left out have none.
        score: see above, 0 at most.
        answers: the entities all groups lead to, sorted; no topic is one.
    """

    groups: tuple[RelationGroup, ...]
    score: float
    answers: NDArray[np.int32]


def best_interpretation(
    topics: Sequence[Sequence[RelationGroup]], context: float = CONTEXT
) -> QueryInterpretation | None:
    """The best interpretation with two topics or more; None when one topic alone is at least as good.

    Args:
        topics: for each topic its relation groups.
        context: log-odds of a topic's being left out, negative.
    """
    named = np.array(sorted({group.topic for groups in topics for group in groups}), np.int32)
    telling = [[g for g in groups if len(np.setdiff1d(g.ends, named)) and g.avoids(named)] for groups in topics]
    topics = [sorted(groups, key=lambda g: -g.log_prob)[:MAX_GROUPS] for groups in telling if groups]
    best: QueryInterpretation | None = None
    alone = (len(topics) - 1) * context

    def extend(place: int, used: tuple[RelationGroup, ...], score: float, answers: NDArray[np.int32] | None) -> None:
        nonlocal best
        if score <= (best.score if best else alone):  # scores only fall
            return
        if place == len(topics):
            if len(used) > 1 and answers is not None:
                best = QueryInterpretation(used, score, answers)
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


# The order in which paths of several topics are shown ---------------------------------------------


def with_topics(graph: TokenGraph, finished: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Scores of searches that each had one topic, made comparable: the topic's own log-probability is added.

    Scores normalised over the graph leave entities out, so they say nothing of how likely the topic itself is.
    """
    rows: dict[int, tuple[list[int], Sequence[float]]] = {}
    for hypothesis in finished:
        topic = hypothesis.state.paths[0].entities[0]
        label = list(graph.entities.row(topic))
        rows.setdefault(topic, (label, hypothesis.log_probs[: len(label)]))
    priors = topic_log_probs([label for label, _ in rows.values()], [own for _, own in rows.values()])
    prior = dict(zip(rows, priors, strict=True))
    return [replace(h, score=h.score + prior[h.state.paths[0].entities[0]]) for h in finished]


def topic_log_probs(labels: Sequence[Sequence[int]], log_probs: Sequence[Sequence[float]]) -> list[float]:
    """How likely the model is to start from each topic, of those there are: normalised wherever labels part.

    Args:
        labels: token ids of each topic's label.
        log_probs: their full-vocabulary log-probabilities, as many.
    """
    totals = []
    for own, own_log_probs in zip(labels, log_probs, strict=True):
        total = 0.0
        for depth, log_prob in enumerate(own_log_probs):
            rivals = {
                label[depth]: row[depth]
                for label, row in zip(labels, log_probs, strict=True)
                if len(label) > depth and list(label[:depth]) == list(own[:depth])
            }
            peak = max(rivals.values())
            total += log_prob - peak - math.log(sum(math.exp(rival - peak) for rival in rivals.values()))
        totals.append(total)
    return totals


def conjunctive_first(
    graph: TokenGraph,
    finished: Sequence[Hypothesis],
    reader: PathReader,
    ranking: str,
    limit: int,
    scorer: PathScorer | None = None,
) -> tuple[list[RankedPath], list[tuple[int, ...]]]:
    """Rank the paths of several topics.

    Args:
        graph: the tokenised graph they were decoded on.
        finished: hypotheses of all topics, their scores comparable.
        reader: to score what is read from the graph.
        ranking: as in ``scorer.rank``.
        limit: how many paths to return at the most.
        scorer: as in ``scorer.rank``.

    Returns:
        the paths, and for each the numbers (from 1) of those it meets. Where no interpretation with several topics
        holds, the order is that of ``rank`` and nothing meets.
    """
    decoded = rank(graph, finished, ranking, len(finished), scorer)
    ranked = rank(graph, finished, ranking, limit, scorer)
    interpretation = best_interpretation(_groups(graph, decoded))
    if interpretation is None or len(interpretation.groups) > limit:
        return ranked, [()] * len(ranked)
    lead = _lead(graph, interpretation, decoded, reader, limit // len(interpretation.groups))
    shown = {_key(graph, path) for path in lead}
    rest = [path for path in ranked if _key(graph, path) not in shown]
    size = len(interpretation.groups)
    meets = []
    for place in range(1, len(lead) + 1):
        first = (place - 1) // size * size + 1
        meets.append(tuple(number for number in range(first, first + size) if number != place))
    rest = rest[: limit - len(lead)]
    return [*lead, *rest], [*meets, *([()] * len(rest))]


def _groups(graph: TokenGraph, decoded: Sequence[RankedPath]) -> list[list[RelationGroup]]:
    """The decoded relation groups of each topic, with all their ends."""
    best: dict[int, dict[tuple[str, ...], float]] = defaultdict(dict)
    for path in decoded:
        topic, relations, end = _key(graph, path)
        if end != topic:
            known = best[topic].get(relations, -math.inf)
            best[topic][relations] = max(known, path.relation_score)
    return [
        [RelationGroup(topic, r, log_prob, graph.kg.reach(topic, r, graph.directed)) for r, log_prob in own.items()]
        for topic, own in best.items()
    ]


def _lead(
    graph: TokenGraph,
    interpretation: QueryInterpretation,
    decoded: Sequence[RankedPath],
    reader: PathReader,
    limit: int,
) -> list[RankedPath]:
    """For each of the first answers of an interpretation one path of each group; decoded paths come first.

    An answer is left out where one of its paths is too long for the model.
    """
    by_key: dict[Key, RankedPath] = {}
    for path in decoded:
        by_key.setdefault(_key(graph, path), path)
    ends = graph.kg.in_order(interpretation.answers).tolist()
    keys = {a: [(g.topic, g.relations, a) for g in interpretation.groups] for a in ends}
    degree = dict(zip(ends, graph.kg.degrees(ends), strict=True))

    def likely(answer: int) -> tuple[int, float, int]:
        scores = [by_key[key].rank_score for key in keys[answer] if key in by_key]
        return -len(scores), -max(scores, default=0.0), -degree[answer]  # of Poseidon more is known

    answers = sorted(keys, key=likely)[:limit]
    missing = {
        key: graph.kg.path_to(group.layers, group.relations, answer, graph.directed)
        for answer in answers
        for group, key in zip(interpretation.groups, keys[answer], strict=True)
        if key not in by_key
    }
    read = zip(missing, reader.read(list(missing.values())), strict=True)
    by_key.update((key, path) for key, path in read if path is not None)
    whole = [answer for answer in answers if all(key in by_key for key in keys[answer])]
    return [by_key[key] for answer in whole for key in keys[answer]]


def _key(graph: TokenGraph, path: RankedPath) -> Key:
    ids = path.ids
    return ids.entities[0], graph.kg.said(ids.steps), ids.entities[-1]
