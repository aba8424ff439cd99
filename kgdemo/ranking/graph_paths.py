"""Paths that are read from the graph instead of decoded, and scored by the model like any other.

``PathReader`` scores them. Two kinds are read: paths of several topics that meet (``conjunctive``), and paths over
relations that the model was not trained on (``unseen_paths``), which are found by the words of their relations.

At a hub the relations that a model knows fill every beam, however likely the unknown ones should be, and no ranking of
the decoded paths could repair that. So the unknown ones get paths of their own: of the relation paths of one or two
hops that use such a relation, the nearest to the question are read from the graph, one path each, and scored by the
model like any other. ``scorer`` says what replaces the model's probability in their ranking.

No path is enumerated: which relation follows which is seen from the edges of a topic's neighbours, and nearness is
computed for all pairs at once from the vectors of single relations and words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from kgdemo.constraint.automaton import AutomatonState, PathNode, Position, Segment
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.decoding.base import Hypothesis
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import spoken
from kgdemo.kg.path import PathIds
from kgdemo.kg.stores.graph import MAX_LOOKED_OF_HUB
from kgdemo.models.base import PROMPT_END, TokenTree
from kgdemo.ranking.scorer import PathScorer, RankedPath, path_words, relation_score

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
