"""Paths that are read from the graph instead of decoded, and which paths of several topics belong together.

``PathReader`` gives a path that was read the model's log-probabilities, like any other. Two kinds are read: paths over
relations that the model was not trained on (``unseen_paths``), and paths of several topics that meet
(``conjunctive_first``).

At a hub the relations that a model knows fill every beam, however likely the unknown ones should be, and no ranking of
the decoded paths could repair that. So the unknown ones get paths of their own: of the relation paths of one or two
hops that use such a relation, the nearest to the question are read from the graph, one path each, and scored by the
model like any other. ``scorer`` says what replaces the model's probability in their ranking. No path is enumerated:
which relation follows which is seen from the edges of a topic's neighbours, and nearness is computed for all pairs at
once from the vectors of single relations and words.

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

Paths that meet are shown first, one of each topic side by side. They need not be among the K decoded paths: of a
prize's two hundred winners ten are decoded. A path that is missing is read from the graph and marked as read.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from kgdemo.constraint.automaton import AutomatonState, PathNode, Position, Segment
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.decoding.base import Hypothesis
from kgdemo.kg.graph import KnowledgeGraph, Layers
from kgdemo.kg.labels import spoken
from kgdemo.kg.path import PathIds
from kgdemo.kg.stores.graph import MAX_LOOKED_OF_HUB
from kgdemo.models.base import PROMPT_END, TokenTree
from kgdemo.ranking.scorer import PathScorer, RankedPath, path_words, rank, relation_score

_BATCH = 128  # tokens in one forward pass: each makes a row as long as the vocabulary
HOPS = 2  # of the paths that are read; longer ones would be nearest to a question by accident
_FURTHER = 0.3  # what a second hop must add to nearness: of many pairs one is always near
_STEPS = 1000  # different steps that are compared with a question; of a graph that has more behind one topic, one hop
_ENDS = 200  # of a path's ends, among which one of the type asked for is looked for


class PathReader:
    """Gives paths that were read from the graph the model's log-probabilities.

    Args:
        graph: the tokenised graph.
        tree: of the question's prompt.
        longest: tokens that a path may have, as in the search; a longer one may not fit the model beside its prompt.

    Attributes:
        left_out: how many paths were too long.
    """

    def __init__(self, graph: TokenGraph, tree: TokenTree, longest: int) -> None:
        self.graph = graph
        self.tree = tree
        self.longest = longest
        self.left_out = 0

    def read(self, paths: Sequence[PathIds]) -> list[RankedPath | None]:
        """Score paths; None stands for one that is too long. What paths have in common is read once."""
        spelled = [_tokens(self.graph, path, self.longest) for path in paths]
        self.left_out += spelled.count(None)
        trie = _TokenTrie()
        ways = [None if tokens is None else trie.add(tokens) for tokens in spelled]
        log_probs, in_tree = self._log_probs(trie)
        found: list[RankedPath | None] = []
        for path, tokens, way in zip(paths, spelled, ways, strict=True):
            if tokens is None or way is None:
                found.append(None)
                continue
            own = [log_probs[node] for node in way]
            state = AutomatonState((Position(Segment.DONE, _path_node(path)),))
            hypothesis = Hypothesis(tokens, tuple(own), state, in_tree[trie.parents[way[-1]]], sum(own))
            score = relation_score(self.graph, path, own)
            found.append(RankedPath(path, hypothesis, sum(own), score, read=True))
        return found

    def _log_probs(self, trie: _TokenTrie) -> tuple[list[float], dict[int, int]]:
        """The log-probability of each token of a trie behind those before it, and its inner nodes' ids in the tree."""
        inner = [node for node, following in enumerate(trie.following) if following]
        in_tree = {PROMPT_END: PROMPT_END, **{node: self.tree.size + place for place, node in enumerate(inner)}}
        log_probs = [0.0] * len(trie.tokens)

        def note(following: Sequence[int], row: Tensor) -> None:
            values = row[[trie.tokens[node] for node in following]].tolist()
            for node, value in zip(following, values, strict=True):
                log_probs[node] = value

        note(trie.first, self.tree.prompt_log_probs())
        for start in range(0, len(inner), _BATCH):
            part = inner[start : start + _BATCH]
            parents = [in_tree[trie.parents[node]] for node in part]
            _, rows = self.tree.extend(parents, [trie.tokens[node] for node in part])
            for node, row in zip(part, rows, strict=True):
                note(trie.following[node], row)
        return log_probs, in_tree


class _TokenTrie:
    """Token sequences that share their beginnings; memory grows with the number of different tokens in them.

    Attributes:
        parents: of each node the node before it, ``PROMPT_END`` where there is none; parents have lower numbers.
        tokens: of each node.
        following: the nodes behind each node.
        first: the nodes that sequences begin with.
    """

    def __init__(self) -> None:
        self.parents: list[int] = []
        self.tokens: list[int] = []
        self.following: list[list[int]] = []
        self.first: list[int] = []
        self._nodes: dict[tuple[int, int], int] = {}

    def add(self, tokens: Sequence[int]) -> list[int]:
        """Take in a sequence; its nodes."""
        way, parent = [], PROMPT_END
        for token in tokens:
            node = self._nodes.setdefault((parent, token), len(self.tokens))
            if node == len(self.tokens):
                self.parents.append(parent)
                self.tokens.append(token)
                self.following.append([])
                (self.first if parent == PROMPT_END else self.following[parent]).append(node)
            way.append(node)
            parent = node
        return way


def _tokens(graph: TokenGraph, path: PathIds, longest: int) -> tuple[int, ...] | None:
    """A path as the model writes it, end mark included; None where that is more than ``longest`` tokens."""
    tokens = tuple(token for piece in graph.spelled(path) for token in piece)
    return tokens if len(tokens) <= longest else None


def _path_node(path: PathIds) -> PathNode:
    node = PathNode(path.entities[0])
    for number, (step, entity) in enumerate(zip(path.steps, path.entities[1:], strict=True), 1):
        node = PathNode(entity, step, node, number)
    return node


# relations that the model was not trained on -------------------------------------------------------


def unseen_paths(
    graph: TokenGraph,
    topics: Sequence[int],
    scorer: PathScorer,
    reader: PathReader,
    decoded: Sequence[Hypothesis],
    limit: int,
    hops: int,
) -> list[Hypothesis]:
    """Paths with a relation that the model was not trained on, read from the graph and scored.

    Args:
        graph: the tokenised graph.
        topics: topic entity ids.
        scorer: knows which relations these are, and the query.
        reader: to score the paths; those too long for the model are left out.
        decoded: what the search has found; its relation paths are not read again.
        limit: how many are read from each topic at the most (K).
        hops: of the longest (L).

    Returns:
        hypotheses as the search would have finished them; none where all relations are known. The score is that of
        the relations alone, which a group's paths share: of its ends only one is read.
    """
    if not scorer.unseen:
        return []
    known = {(ids.entities[0], graph.kg.said(ids.steps)) for h in decoded for ids in h.state.paths}
    read = [path for topic in topics for path in nearest_unseen(graph, topic, scorer, known, limit, hops)]
    scored = [path for path in reader.read(read) if path is not None]
    return [replace(path.hypothesis, score=path.relation_score) for path in scored]


def nearest_unseen(
    graph: TokenGraph,
    topic: int,
    scorer: PathScorer,
    known: set[tuple[int, tuple[str, ...]]],
    limit: int,
    hops: int,
) -> list[PathIds]:
    """One path for each of the relation paths from a topic, over a relation not known, that are nearest the question.

    Args:
        graph, scorer, hops: see ``unseen_paths``.
        topic: entity id.
        known: topics with relation paths that are passed over.
        limit: how many at the most.

    Returns:
        nearest first.
    """
    kg, found, seen = graph.kg, [], set(known)
    unseen = np.array([relation_label in scorer.unseen for relation_label in kg.step_labels])
    walks = kg.relation_paths(topic, min(hops, HOPS), graph.directed)
    walks = [own[unseen[own].any(axis=1)] for own in walks]
    if len(np.unique(np.concatenate([own.ravel() for own in walks]))) > _STEPS:
        walks = [walks[0][:_STEPS]]
    near = np.concatenate([nearness(kg, own, scorer) - _FURTHER * further for further, own in enumerate(walks)])
    for place in np.argsort(-near, kind="stable").tolist():
        walk = walks[0][place] if place < len(walks[0]) else walks[1][place - len(walks[0])]
        relations = kg.said(walk)
        if (topic, relations) in seen:
            continue
        seen.add((topic, relations))
        width = MAX_LOOKED_OF_HUB if kg.is_cut(kg.entities[topic], relations[0]) else None
        layers = kg.reach(topic, relations, graph.directed, width)
        if len(layers[-1]):
            ends = layers[-1][:_ENDS].tolist()
            end = max(ends, key=lambda end: scorer.fits(kg.entities[end]))  # the first of those that fit best
            found.append(kg.path_to(layers, relations, end, graph.directed))
        if len(found) == limit:
            break
    return found


def nearness(kg: KnowledgeGraph, walks: NDArray[np.int32], scorer: PathScorer) -> NDArray[np.float32]:
    """Similarity and lexical coverage, which count alike here, of sequences of steps.

    The vector of several relations is taken to be the mean of theirs, so each is encoded once, whatever it leads to.

    Args:
        kg: the graph.
        walks: step ids, ``(n, hops)``.
        scorer: knows the query.
    """
    steps, places = np.unique(walks, return_inverse=True)
    if not len(steps):
        return np.empty(0, np.float32)
    places = places.reshape(walks.shape)
    relations = [kg.step_labels[step] for step in steps]
    vectors = scorer.labels.vectors([spoken(relation) for relation in relations])  # (s, d)
    question, *_ = scorer.labels.vectors([scorer.query.text, *scorer.query.content_words])  # the words for ``_covers``
    similar = vectors @ question
    between = vectors @ vectors.T
    length = np.sqrt(np.maximum(between[places[:, :, None], places[:, None, :]].sum(axis=(1, 2)), 1e-6))
    coverage: NDArray[np.float32] = _covers(relations, scorer)[places].max(axis=1).mean(axis=1)
    near: NDArray[np.float32] = similar[places].sum(axis=1) / length + coverage
    return near


def _covers(relations: Sequence[str], scorer: PathScorer) -> NDArray[np.float32]:
    """How near the nearest word of each relation is to each of the question's, ``(relations, question's words)``."""
    words = [path_words([relation]) for relation in relations]
    said = list(dict.fromkeys(word for own in words for word in own))
    near = scorer.labels.vectors(said) @ scorer.labels.vectors(scorer.query.content_words).T
    at = {word: place for place, word in enumerate(said)}
    return np.stack([near[[at[word] for word in own]].max(axis=0) for own in words])


# several topics at once ---------------------------------------------------------------------------

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


# the order in which paths of several topics are shown ---------------------------------------------


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
