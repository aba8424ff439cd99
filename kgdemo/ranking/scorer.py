"""In which order the decoded paths are presented: a log-linear combination of features, over groups of paths.

The path model is too sure of itself: it prefers the likelier relation to the one that the question names, and it stops
one hop short. Its log-probability is therefore one feature among several (a log-linear opinion pool; Genest and Zidek
1986, section 3). ``PathFeatures`` lists them. Their weights are maximum-likelihood estimates of a softmax over a
question's groups of paths (``python -m kgdemo calibrate --pool``). They belong to a model, for they say how far its
probabilities can be trusted. A model without weights of its own gets ``UNFITTED``.

The probability of a relation that the model was not trained on says little, because related relations that the model
knows take all of it. For such paths the score backs off, as language models do for what they have not counted (Katz
1987): the likelihood is replaced by a weighted sum of what ``BACKOFF`` lists (fitted by ``calibrate --held-out`` on
relations that were held out of training).

The probability of a whole path (GCR equation 9) gives each of a relation's thirty tails a thirtieth, and gives a long
or rare name next to nothing. A wrong relation with a single well-known tail would then outrank a right one. There are
three rankings (``Settings.ranking``):

    pooled    the default: groups of paths over the same relations, by the weighted sum of their features; twice as many
              paths as are shown are searched for (``POOL``)
    relation  by the probability of the relations, summed over the tails found; entity tokens are normalised over what
              the graph allows (``BeamSettings.graph_normalised``), so that tails share their relations' probability
    path      by the probability of the whole path, as in the paper
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.decoding.base import Hypothesis
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import FUNCTION_WORDS, spoken
from kgdemo.kg.path import Path, PathIds
from kgdemo.models.base import LearnedSimilarity, path_sentence
from kgdemo.models.embedding import Embedder, embedding_cache
from kgdemo.query.answer_type import Fit, fits, kind_of
from kgdemo.query.query import Query

POOL = 2  # times K complete paths are searched for; three times K gave the development set nothing more
_DEGREE_WEIGHT = 0.4  # of the logarithm of an entity's degree: of a relation's tails the better known one is meant


# Features of a path -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PathFeatures:
    """What speaks for one path; the fields are the features, in the order of their weights.

    Attributes:
        likelihood: log-probability that the model gives to the path's relations, over all its tails that were found.
        type_named: -1 where the end is not of the type that the question names ("which country …"), else 0.
        learned_similarity: similarity of the question to the path's relations, as learned beside the model; 0 without.
    """

    likelihood: float
    type_named: float
    learned_similarity: float

    def score(self, weights: Mapping[str, float]) -> float:
        """The weighted sum: the path's log-odds but for a constant."""
        total: float = sum(weight * getattr(self, name) for name, weight in weights.items())
        return total


FEATURES = tuple(field.name for field in fields(PathFeatures))
# of a model without weights of its own: 77 questions of the development set name a type, and none of them means
# another, which by the rule of succession makes a wrong end 1 in 79
UNFITTED: Mapping[str, float] = dict.fromkeys(FEATURES, 0.0) | {"likelihood": 1.0, "type_named": math.log(79)}
BACKOFF = ("constant", "likelihood", "known_likelihood", "learned_similarity", "lexical_coverage", "hops")


class PathScorer:
    """The features of one question's paths and their weights.

    Args:
        query: what is asked.
        kg: for the types of entities.
        embedder: of words and relation paths.
        weights: of the features; see ``PromptStyle.ranking``.
        unseen: labels of the relations that the model was not trained on.
        backoff: weights of what replaces the likelihood of a path with such a relation; see ``PromptStyle.backoff``.
        similarity: of questions and relation paths, as learned; ignored if it is for vectors of another width than the
            embedder's.

    Attributes:
        labels: the embedder's vectors, cached.
    """

    def __init__(
        self,
        query: Query,
        kg: KnowledgeGraph,
        embedder: Embedder,
        weights: Mapping[str, float] | None = None,
        unseen: frozenset[str] = frozenset(),
        backoff: Mapping[str, float] | None = None,
        similarity: LearnedSimilarity | None = None,
    ) -> None:
        self.query = query
        self.weights = UNFITTED if weights is None else weights
        self.backoff = backoff
        self.unseen = frozenset() if backoff is None else unseen
        self.labels = embedding_cache(embedder)
        self._kg, self._similarity = kg, similarity

    def fits(self, end: str) -> Fit:
        """Whether this end may be the kind of thing asked for."""
        return fits(self.query.answer_type, kind_of(self._kg, end))

    def embed(self, paths: Sequence[Path]) -> None:
        """Embed what the features of these paths need in one batch, which takes a fraction of the time."""
        texts = [self.query.text]
        for relations in dict.fromkeys(path.relations for path in paths):
            texts.append(path_sentence(relations))
            if self.backs_off(relations):
                texts += [*self.query.content_words, *path_words(relations)]
        self.labels.vectors(list(dict.fromkeys(texts)))

    def features(self, path: Path, likelihood: float, known_likelihood: float) -> PathFeatures:
        """The features of a path.

        Args:
            path: as labels.
            likelihood: log-probability of its relations, by the model.
            known_likelihood: the same without the relations that the model was not trained on (``known_score``).
        """
        mismatch = self.query.answer_type.named and not self.fits(path.end)
        similarity = self._learned_similarity(path)
        if self.backoff is not None and self.backs_off(path.relations):
            coverage = self.lexical_coverage(path.relations)
            values = (1.0, likelihood, known_likelihood, similarity, coverage, len(path.relations))
            likelihood = sum(self.backoff.get(name, 0.0) * value for name, value in zip(BACKOFF, values, strict=True))
        return PathFeatures(likelihood, -1.0 if mismatch else 0.0, similarity)

    def backs_off(self, relations: Sequence[str]) -> bool:
        """Whether one of these relations is unknown to the model."""
        return not self.unseen.isdisjoint(relations)

    def lexical_coverage(self, relations: Sequence[str]) -> float:
        """How well the relations' words cover the question's content words, by word embeddings."""
        return coverage(self.query.content_words, path_words(relations), self.labels.embedder)

    def _learned_similarity(self, path: Path) -> float:
        question, relations = self.labels.vectors([self.query.text, path_sentence(path.relations)])
        if self._similarity is None or len(self._similarity.question) != len(question):
            return 0.0
        return float(self._similarity.of(question, relations[None])[0])


def coverage(words: Sequence[str], said: Sequence[str], embedder: Embedder) -> float:
    """How well words cover those of a question: the mean over the latter of the cosine to the nearest word."""
    labels = embedding_cache(embedder)
    return float((labels.vectors(words) @ labels.vectors(list(dict.fromkeys(said))).T).max(axis=1).mean())


def path_words(relations: Sequence[str]) -> list[str]:
    """The words of a path's relations without function words; the last relation where none is left."""
    words = [word for relation in relations for word in spoken(relation).split() if word not in FUNCTION_WORDS]
    return words or list(relations[-1:])


# Decoded paths, ranked ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RankedPath:
    """A path with its log-probabilities.

    Attributes:
        hypothesis: what was decoded; its score is the search's.
        path_score: log-probability of all its tokens.
        relation_score: log-probability of its relations and its end mark alone.
        read: it was not decoded but read from the graph, and then scored by the model.
        rank_score: what it was ranked by; higher is better.
        weighed: what each feature, times its weight, adds to that; empty where the ranking has no features.
    """

    ids: PathIds
    hypothesis: Hypothesis
    path_score: float
    relation_score: float
    read: bool = False
    rank_score: float = 0.0
    weighed: tuple[tuple[str, float], ...] = ()


def rank(
    graph: TokenGraph, finished: Sequence[Hypothesis], ranking: str, limit: int, scorer: PathScorer | None = None
) -> list[RankedPath]:
    """Paths of finished hypotheses in the order they are shown.

    Args:
        graph: the tokenised graph that the paths were decoded on.
        finished: hypotheses, any order.
        ranking: ``pooled``, ``relation`` or ``path`` (see ``settings.Settings``).
        limit: how many to return at the most; all are different as labels.
        scorer: needed by ``pooled``; ``relation`` uses only its types, and ``path`` none of it.

    Raises:
        ValueError: ``pooled`` without a scorer.
    """
    paths = list(different_paths(graph, finished))
    if ranking == "pooled":
        if scorer is None:
            raise ValueError("pooled ranking needs a scorer")
        return _shown(groups_of(graph, paths, scorer), limit)
    if ranking == "relation":
        return _by_relations(graph, paths, limit, scorer)
    ranked = [replace(path, rank_score=path.hypothesis.score) for path in paths]
    return sorted(ranked, key=lambda p: (_returns(p.ids), -p.rank_score))[:limit]


@dataclass(frozen=True, slots=True)
class Group:
    """Paths from one topic over relations that say the same, with ends that fit the type asked for equally well.

    Attributes:
        paths: likeliest and best known ends first, each walk once: a symmetric relation says the same both ways.
        features: those of the best path.
        score: the weighted sum of the features.
        detour: the paths come back to where they began, or turn back (``is_detour``); ranked last.
    """

    paths: tuple[RankedPath, ...]
    features: PathFeatures
    score: float
    detour: bool


def groups_of(graph: TokenGraph, paths: Sequence[RankedPath], scorer: PathScorer) -> list[Group]:
    """Paths by topic, relations and how well they fit the type asked for; best group first, detours last."""
    members: dict[tuple[int, tuple[str, ...], Fit, bool], list[RankedPath]] = defaultdict(list)
    for path in paths:
        end = graph.kg.entities[path.ids.entities[-1]]
        relations, detour = graph.kg.said(path.ids.steps), graph.kg.is_detour(path.ids)
        members[path.ids.entities[0], relations, scorer.fits(end), detour].append(path)
    scores: dict[tuple[int, tuple[str, ...], bool], list[float]] = defaultdict(list)
    for (topic, relations, _, detour), own in members.items():
        scores[topic, relations, detour] += [path.hypothesis.score for path in own]
    scorer.embed([graph.kg.labelled(path.ids) for path in paths])
    graph.kg.degrees([path.ids.entities[-1] for path in paths])  # all in one, where a graph has to ask for them
    groups = []
    for (topic, relations, _, detour), own in members.items():
        likelihood = float(np.logaddexp.reduce(scores[topic, relations, detour]))
        groups.append(_group(graph, own, likelihood, detour, scorer))
    return sorted(groups, key=lambda group: (group.detour, -group.score))


def _group(graph: TokenGraph, own: Sequence[RankedPath], likelihood: float, detour: bool, scorer: PathScorer) -> Group:
    """One group; ``likelihood`` is the log-probability of its relations, to all ends of any type."""
    ends = list(dict.fromkeys(path.ids.entities[-1] for path in own))
    degree = dict(zip(ends, graph.kg.degrees(ends), strict=True))
    own = sorted(own, key=lambda p: -p.hypothesis.score - _DEGREE_WEIGHT * math.log1p(degree[p.ids.entities[-1]]))
    different = list({path.ids.entities: path for path in reversed(own)}.values())[::-1]
    features = [
        scorer.features(graph.kg.labelled(path.ids), likelihood, known_score(graph, path, scorer)) for path in different
    ]
    score, best = max(((f.score(scorer.weights), f) for f in features), key=lambda pair: pair[0])
    backed_off = best.likelihood - likelihood  # 0 where the model knows the relations
    weighed = tuple((name, weight * getattr(best, name)) for name, weight in scorer.weights.items())
    paths = []
    for path in different:
        hypothesis = replace(path.hypothesis, score=path.hypothesis.score + backed_off)
        paths.append(replace(path, hypothesis=hypothesis, rank_score=score, weighed=weighed))
    return Group(tuple(paths), best, score, detour)


def _shown(groups: Sequence[Group], limit: int) -> list[RankedPath]:
    """The paths that are shown, in the order of their groups; the best group has at least its first path there.

    The model's own probability of a path and the score of its group count alike: of 213 right answers that are found
    for the development questions of WebQuestions the former alone shows 205 among the K, both show 208.
    """
    paths = [(number, path) for number, group in enumerate(groups) for path in group.paths]
    if not paths:
        return []
    others = sorted(paths[1:], key=lambda pair: -pair[1].hypothesis.score - pair[1].rank_score)[: limit - 1]
    return [path for _, path in (paths[0], *sorted(others, key=lambda pair: pair[0]))]


def _by_relations(
    graph: TokenGraph, paths: Sequence[RankedPath], limit: int, scorer: PathScorer | None
) -> list[RankedPath]:
    """The most probable paths, by the probability of their relations: the sum over the tails among them."""

    def typed(path: RankedPath) -> float:
        end = graph.kg.entities[path.ids.entities[-1]]
        mismatch = scorer is not None and scorer.query.answer_type.named and not scorer.fits(end)
        return path.hypothesis.score - UNFITTED["type_named"] * mismatch

    ranked = [replace(path, rank_score=typed(path)) for path in paths]
    ranked = sorted(ranked, key=lambda p: (_returns(p.ids), -p.rank_score))[:limit]
    mass: dict[tuple[int, tuple[int, ...]], float] = defaultdict(float)
    for path in ranked:
        mass[path.ids.entities[0], path.ids.steps] += math.exp(path.rank_score)
    return sorted(ranked, key=lambda p: (_returns(p.ids), -mass[p.ids.entities[0], p.ids.steps], -p.rank_score))


def _returns(ids: PathIds) -> bool:
    """Whether a path comes back to where it began; such a path answers nothing."""
    return len(ids.entities) > 2 and ids.entities[-1] == ids.entities[0]


# From hypotheses to paths and their scores --------------------------------------------------------


def different_paths(graph: TokenGraph, finished: Sequence[Hypothesis]) -> Iterator[RankedPath]:
    """The paths of hypotheses, each once however many steps read the same."""
    seen: set[tuple[tuple[int, ...], tuple[str, ...]]] = set()
    for hypothesis in finished:
        for ids in hypothesis.state.paths:
            key = (ids.entities, tuple(graph.kg.step_labels[s] for s in ids.steps))
            if key not in seen:
                seen.add(key)
                score = relation_score(graph, ids, hypothesis.log_probs)
                yield RankedPath(ids, hypothesis, hypothesis.total, score)


def relation_score(graph: TokenGraph, ids: PathIds, log_probs: Sequence[float], but: Collection[str] = ()) -> float:
    """Sum of the log-probabilities of a path's relation tokens and of its end mark.

    The end mark counts because it decides between ``r1`` and ``r1, r2``. Relations that read like one of ``but``
    are left out: whether the path goes on behind them still counts.
    """
    pieces, total, place = graph.spelled(ids), 0.0, 0
    for number, piece in enumerate(pieces[:-1]):
        hop, part = divmod(number - 1, 4)  # of a hop: separator, relation, separator, entity
        going_on = part == 0 and hop > 0  # instead of ending
        if going_on or (part == 1 and graph.kg.step_labels[ids.steps[hop]] not in but):
            total += sum(log_probs[place : place + len(piece)])
        place += len(piece)
    return total + sum(log_probs[place:])


def known_score(graph: TokenGraph, path: RankedPath, scorer: PathScorer) -> float:
    """``relation_score`` without the relations that the model was not trained on."""
    return relation_score(graph, path.ids, path.hypothesis.log_probs, scorer.unseen)
