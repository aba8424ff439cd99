"""Paths of several topics in the order they are shown: those that meet come first, one a topic side by side.

A meeting need not be among the K decoded paths: of a prize's two hundred winners ten are decoded. What is
missing is read from the graph, scored by the model like any path, and says that it was read.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from kgdemo.constraint.automaton import AutomatonState, Position, Segment, Trail
from kgdemo.constraint.base import PathIds
from kgdemo.constraint.tokenised import TokenisedGraph
from kgdemo.decoding.beam import Hypothesis
from kgdemo.models.base import PROMPT_END, TokenTree
from kgdemo.reasoning.abreast import topic_log_probs
from kgdemo.reasoning.joint import Reading, RelationGroup, best_reading, path_to, reach
from kgdemo.reasoning.prior import Prior
from kgdemo.reasoning.ranking import RankedPath, rank, relation_score

_READ = 128  # tokens in one forward pass: each makes a row as long as the vocabulary
Key = tuple[int, tuple[str, ...], int]  # topic, relations, end


def with_topics(graph: TokenisedGraph, finished: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Scores of searches that each had one topic, made comparable: the topic's own log-probability is added."""
    rows: dict[int, tuple[list[int], Sequence[float]]] = {}
    for hypothesis in finished:
        topic = hypothesis.state.paths[0].entities[0]
        label = list(graph.entities.row(topic))
        rows.setdefault(topic, (label, hypothesis.log_probs[: len(label)]))
    priors = topic_log_probs([label for label, _ in rows.values()], [own for _, own in rows.values()])
    prior = dict(zip(rows, priors, strict=True))
    return [replace(h, score=h.score + prior[h.state.paths[0].entities[0]]) for h in finished]


def meeting_first(
    graph: TokenisedGraph,
    finished: Sequence[Hypothesis],
    tree: TokenTree,
    ranking: str,
    most: int,
    prior: Prior | None = None,
) -> tuple[list[RankedPath], list[tuple[int, ...]]]:
    """Rank the paths of several topics.

    Args:
        graph: the tokenised graph they were decoded on.
        finished: hypotheses of all topics, their scores comparable.
        tree: to score what is read from the graph.
        ranking: as in ``ranking.rank``.
        most: how many paths to return at the most.
        prior: as in ``ranking.rank``.

    Returns:
        the paths, and for each the numbers (from 1) of those it meets. Where no reading of several topics
        holds, the order is that of ``rank`` and nothing meets.
    """
    decoded = rank(graph, finished, ranking, len(finished), prior)
    reading = best_reading(_groups(graph, decoded))
    if reading is None or len(reading.groups) > most:
        ranked = rank(graph, finished, ranking, most, prior)
        return ranked, [()] * len(ranked)
    lead = _lead(graph, reading, decoded, tree, most // len(reading.groups))
    shown = {_key(graph, path) for path in lead}
    rest = [path for path in rank(graph, finished, ranking, most, prior) if _key(graph, path) not in shown]
    size = len(reading.groups)
    meets = []
    for place in range(1, len(lead) + 1):
        first = (place - 1) // size * size + 1
        meets.append(tuple(number for number in range(first, first + size) if number != place))
    rest = rest[: most - len(lead)]
    return [*lead, *rest], [*meets, *([()] * len(rest))]


def _groups(graph: TokenisedGraph, decoded: Sequence[RankedPath]) -> list[list[RelationGroup]]:
    """The decoded relation groups of each topic, with all their ends."""
    best: dict[int, dict[tuple[str, ...], float]] = defaultdict(dict)
    for path in decoded:
        topic, relations, end = _key(graph, path)
        if end != topic:
            known = best[topic].get(relations, -math.inf)
            best[topic][relations] = max(known, path.relation_score)
    return [
        [RelationGroup(topic, r, log_prob, reach(graph.kg, topic, r, graph.directed)) for r, log_prob in own.items()]
        for topic, own in best.items()
    ]


def _lead(
    graph: TokenisedGraph, reading: Reading, decoded: Sequence[RankedPath], tree: TokenTree, most: int
) -> list[RankedPath]:
    """For each of the first answers of a reading one path of each group; what was decoded comes first."""
    by_key: dict[Key, RankedPath] = {}
    for path in decoded:
        by_key.setdefault(_key(graph, path), path)
    keys = {a: [(g.topic, g.relations, a) for g in reading.groups] for a in reading.answers.tolist()}

    def likely(answer: int) -> tuple[int, float]:
        scores = [by_key[key].rank_score for key in keys[answer] if key in by_key]
        return -len(scores), -max(scores, default=0.0)

    answers = sorted(keys, key=likely)[:most]
    missing = {
        key: path_to(graph.kg, group, answer, graph.directed)
        for answer in answers
        for group, key in zip(reading.groups, keys[answer], strict=True)
        if key not in by_key
    }
    by_key.update(zip(missing, scored(graph, list(missing.values()), tree), strict=True))
    return [by_key[key] for answer in answers for key in keys[answer]]


def scored(graph: TokenisedGraph, paths: Sequence[PathIds], tree: TokenTree) -> list[RankedPath]:
    """Paths read from the graph with the model's log-probabilities; what they have in common is read once."""
    spelled = [_tokens(graph, path) for path in paths]
    behind: dict[tuple[int, ...], set[int]] = defaultdict(set)  # what was written -> what follows; parents first
    for tokens in spelled:
        for end, token in enumerate(tokens):
            behind[tokens[:end]].add(token)
    grown = [written for written in behind if written]
    nodes = {(): PROMPT_END, **{written: tree.size + place for place, written in enumerate(grown)}}
    row = tree.prompt_log_probs()
    log_probs = {(token,): float(row[token]) for token in behind[()]}  # of the last token of what was written
    for first in range(0, len(grown), _READ):
        part = grown[first : first + _READ]
        _, rows = tree.extend([nodes[written[:-1]] for written in part], [written[-1] for written in part])
        for written, row in zip(part, rows, strict=True):
            log_probs.update({(*written, token): float(row[token]) for token in behind[written]})
    found = []
    for path, tokens in zip(paths, spelled, strict=True):
        own = [log_probs[tokens[: end + 1]] for end in range(len(tokens))]
        state = AutomatonState((Position(Segment.DONE, _trail(path)),))
        hypothesis = Hypothesis(tokens, tuple(own), state, nodes[tokens[:-1]], sum(own))
        found.append(RankedPath(path, hypothesis, sum(own), relation_score(graph, path, own), read=True))
    return found


def _key(graph: TokenisedGraph, path: RankedPath) -> Key:
    ids = path.ids
    return ids.entities[0], graph.kg.said(ids.steps), ids.entities[-1]


def _tokens(graph: TokenisedGraph, path: PathIds) -> tuple[int, ...]:
    """A path as the model writes it, end mark included."""
    tokens = [*graph.entities.row(path.entities[0])]
    for step, entity in zip(path.steps, path.entities[1:], strict=True):
        tokens += [*graph.pieces.arrow, *graph.steps.row(step), *graph.pieces.arrow, *graph.entities.row(entity)]
    return tuple(int(token) for token in (*tokens, *graph.pieces.end))


def _trail(path: PathIds) -> Trail:
    trail = Trail(path.entities[0])
    for number, (step, entity) in enumerate(zip(path.steps, path.entities[1:], strict=True), 1):
        trail = Trail(entity, step, trail, number)
    return trail
