"""What speaks for a path beside the path model: a logarithmic opinion pool, one question at a time.

The path model is sure of itself where it should not be: it takes the likelier relation over the one that the
question names, and stops one hop short. So its log-probability is one expert among five, each with a weight
(a log-linear pool; Genest and Zidek 1986, section 3):

    likelihood  log-probability that the model gives to a path's relations, over all its tails that were found
    named       the end is not of the type that the question names ("which country …"): -1, else 0
    meant       the end is of no type that the question word or a role allows ("who", "the author of"): -1, else 0
    learnt      similarity of the question to the path's relations as the model's training has taught it, if it has
    covered     how well the relations' words cover the question's, by word embeddings

The weights are maximum-likelihood estimates of a softmax over a question's candidates (``evaluation.pooling``,
``python -m kgdemo calibrate --pool``) and belong to a model, for they say how far its probabilities can be
trusted. A model without any has its probabilities taken at their word.

Of a relation that the model was never trained on its probability says little, and relations of the same field that
it knows take all of it. There the pool backs off, as language models do from what they have not counted (Katz 1987):
in place of the likelihood stands what similarity, coverage and the number of hops make likely, a constant for how
seldom such a relation is meant, and what the model says of the rest of the path: its known relations, and whether it
goes on or ends (``BACKOFF``; fitted by ``calibrate --held-out`` on relations held out of training).
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.decoding.beam import Hypothesis
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import spoken
from kgdemo.kg.path import Path, PathIds, is_detour
from kgdemo.models.embedding import Embedder, label_index
from kgdemo.models.prompt_style import LearntSimilarity, path_sentence
from kgdemo.query.answer_type import Fit, answer_type_of, fits, kind_of

FEATURES = ("likelihood", "named", "meant", "learnt", "covered")
# of a model without weights of its own: 77 questions of the development set name a type, and none of them means
# another, which by the rule of succession makes a wrong end 1 in 79
UNFITTED: Mapping[str, float] = dict.fromkeys(FEATURES, 0.0) | {"likelihood": 1.0, "named": math.log(79)}
BACKOFF = ("constant", "likelihood", "known", "learnt", "covered", "hops")
LITTLE = frozenset(
    "a an and are as at by did do does for from had has have how in is it its many me much name of on or please s tell "
    "that the their there these they this to was were what whats when where which who whom whose whos why will with "
    "you".split()
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class PathFeatures:
    """What the experts say of one path; see above."""

    likelihood: float
    named: float
    meant: float
    learnt: float
    covered: float

    def pooled(self, weights: Mapping[str, float]) -> float:
        """Log-odds of the path, but for a constant."""
        return sum(weight * getattr(self, name) for name, weight in weights.items())


class PathScorer:
    """The experts beside the path model, for one question.

    Args:
        question: as asked.
        topics: the topic entities.
        kg: for types and the topics' names.
        embedder: of words.
        weights: of all experts; see ``PromptStyle.pool``.
        unseen: how the relations read that the model was not trained on.
        backoff: weights of what makes a path with such a relation likely; see ``PromptStyle.backoff``.
        similarity: of questions and relation paths, as learnt; heard if it is for vectors as long as the embedder's.

    Attributes:
        words: the question's words that matter.
        labels: the embedder's vectors.
    """

    def __init__(
        self,
        question: str,
        topics: Sequence[str],
        kg: KnowledgeGraph,
        embedder: Embedder,
        weights: Mapping[str, float] | None = None,
        unseen: frozenset[str] = frozenset(),
        backoff: Mapping[str, float] | None = None,
        similarity: LearntSimilarity | None = None,
    ) -> None:
        self.weights = UNFITTED if weights is None else weights
        self.backoff = backoff
        self.unseen = frozenset() if backoff is None else unseen
        self.asked = answer_type_of(question, kg.types)
        self.question, self.words, self.labels = question, question_words(question, topics, kg), label_index(embedder)
        self._kg, self._similarity = kg, similarity

    def fits(self, end: str) -> Fit:
        """Whether this end may be the kind of thing asked for."""
        return fits(self.asked, kind_of(self._kg, end))

    def read(self, paths: Sequence[Path]) -> None:
        """Embed what opinions on these paths need, all at once: that takes a fraction of the time of one by one."""
        texts = [self.question, *self.words]
        for relations in dict.fromkeys(path.relations for path in paths):
            texts += [path_sentence(relations), *path_words(relations)]
        self.labels.vectors(list(dict.fromkeys(texts)))

    def features(self, path: Path, likelihood: float, known: float) -> PathFeatures:
        """What the experts say of a path.

        Args:
            path: as labels.
            likelihood: log-probability of its relations, by the model.
            known: the same without the relations that the model was not trained on (``ranking.known_score``).
        """
        wrong = 0.0 if self.fits(path.end) else -1.0
        named, meant = (wrong, 0.0) if self.asked.named else (0.0, wrong)
        learnt = self._learnt(path)
        covered = coverage(self.words, path_words(path.relations), self.labels.embedder)
        if self.backoff is not None and not self.unseen.isdisjoint(path.relations):
            abstention_features = (1.0, likelihood, known, learnt, covered, len(path.relations))
            likelihood = sum(
                self.backoff.get(name, 0.0) * sign for name, sign in zip(BACKOFF, abstention_features, strict=True)
            )
        return PathFeatures(likelihood, named, meant, learnt, covered)

    def _learnt(self, path: Path) -> float:
        asked, said = self.labels.vectors([self.question, path_sentence(path.relations)])
        if self._similarity is None or len(self._similarity.question) != len(asked):
            return 0.0
        return float(self._similarity.of(asked, said[None])[0])


def coverage(asked: Sequence[str], said: Sequence[str], embedder: Embedder) -> float:
    """How well words cover those of a question: the mean over the latter of the cosine to the nearest one."""
    labels = label_index(embedder)
    return float((labels.vectors(asked) @ labels.vectors(list(dict.fromkeys(said))).T).max(axis=1).mean())


def question_words(question: str, topics: Sequence[str], kg: KnowledgeGraph) -> list[str]:
    """A question's words without little ones and the topics' names; all of them where nothing is left."""
    info = [kg.info.get(topic) for topic in topics]
    names = [*topics, *(alias for known in info if known for alias in known.aliases)]
    taken = LITTLE | {word for name in names for word in _WORD.findall(name.lower())}
    words = list(dict.fromkeys(_WORD.findall(question.lower())))
    return [word for word in words if word not in taken] or words or [question]


def path_words(relations: Sequence[str]) -> list[str]:
    """The words of a path's relations."""
    words = [word for relation in relations for word in spoken(relation).split() if word not in LITTLE]
    return words or [relations[-1]]


# --------------------------------------------------------------------------------------------------
# In which order K decoded paths are presented.
#
# The probability of a whole path (GCR equation 9) gives each of a relation's thirty tails a thirtieth, and a
# long or rare name next to nothing, so a wrong relation with a single well-known tail outranks a right one.
# ``relation`` ranking therefore searches with entity tokens normalised over what the graph allows
# (``BeamSettings.graph_normalised``), so that a path's tails share the probability of its relations, and orders
# the paths by that probability: the sum over the tails found. ``pooled``, the default, takes that sum for one
# opinion among several (see ``scorer``), and has ``POOL`` times as many paths to find the best in. ``path`` is
# the paper's.


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
        features: the experts', of the best of them.
        detour: they visit an entity twice (``is_detour``), so a shorter path says what they say; ranked last.
    """

    paths: tuple[RankedPath, ...]
    features: PathFeatures
    score: float
    detour: bool


def relation_score(graph: TokenGraph, ids: PathIds, log_probs: Sequence[float], but: Collection[str] = ()) -> float:
    """Sum of the log-probabilities of a path's relation tokens and of its end mark.

    The end mark counts because it decides between ``r1`` and ``r1, r2``. Relations that read like one of ``but``
    are left out: whether the path goes on behind them still counts.
    """
    place = len(graph.entities.row(ids.entities[0]))
    arrow, total = len(graph.label_tokens.arrow), 0.0
    for number, (step, entity) in enumerate(zip(ids.steps, ids.entities[1:], strict=True)):
        if number:
            total += sum(log_probs[place : place + arrow])  # going on instead of ending
        place += arrow
        size = len(graph.steps.row(step))
        if graph.kg.step_labels[step] not in but:
            total += sum(log_probs[place : place + size])
        place += size + arrow + len(graph.entities.row(entity))
    return total + sum(log_probs[place:])


def rank(
    graph: TokenGraph, finished: Sequence[Hypothesis], ranking: str, limit: int, scorer: PathScorer | None = None
) -> list[RankedPath]:
    """Paths of finished hypotheses in the order they are shown.

    Args:
        graph: the tokenised graph the paths were decoded on.
        finished: hypotheses, any order.
        ranking: ``pooled``, ``relation`` or ``path`` (see ``settings.Settings``).
        limit: how many to return at the most; all are different as labels.
        scorer: the experts beside the model; needed by ``pooled``, heard on types by ``relation``.
    """
    paths = list(different_paths(graph, finished))
    if ranking == "pooled":
        if scorer is None:
            raise ValueError("pooled ranking needs a prior")
        return _chosen(groups_of(graph, paths, scorer), limit)
    if ranking == "relation":
        return _by_relations(graph, paths, limit, scorer)
    ranked = [replace(path, rank_score=path.hypothesis.score) for path in paths]
    return sorted(ranked, key=lambda p: (_returns(p.ids), -p.rank_score))[:limit]


def groups_of(graph: TokenGraph, paths: Sequence[RankedPath], scorer: PathScorer) -> list[Group]:
    """Paths by topic, relations and whether they fit the type asked for; best first, detours last."""
    members: dict[tuple[int, tuple[str, ...], bool, bool], list[RankedPath]] = defaultdict(list)
    for path in paths:
        end = graph.kg.entities[path.ids.entities[-1]]
        said, detour = graph.kg.said(path.ids.steps), is_detour(path.ids.entities)
        members[path.ids.entities[0], said, scorer.fits(end), detour].append(path)
    groups = []
    mass: dict[tuple[int, tuple[str, ...], bool], list[float]] = defaultdict(list)
    for (topic, said, _, detour), own in members.items():
        mass[topic, said, detour] += [path.hypothesis.score for path in own]
    scorer.read([labelled(graph, path.ids) for path in paths])
    for (topic, said, _, detour), own in members.items():
        own.sort(key=lambda p: -p.hypothesis.score - KNOWN * math.log1p(graph.kg.degree(p.ids.entities[-1])))
        likelihood = float(np.logaddexp.reduce(mass[topic, said, detour]))
        told_once = list({path.ids.entities: path for path in reversed(own)}.values())[::-1]
        features_of_ends = [
            scorer.features(labelled(graph, path.ids), likelihood, known_score(graph, path, scorer))
            for path in told_once
        ]
        score, best = max(((o.pooled(scorer.weights), o) for o in features_of_ends), key=lambda pair: pair[0])
        lifted = [_lifted(path, best.likelihood - likelihood) for path in told_once]
        groups.append(Group(tuple(replace(path, rank_score=score) for path in lifted), best, score, detour))
    return sorted(groups, key=lambda group: (group.detour, -group.score))


def known_score(graph: TokenGraph, path: RankedPath, scorer: PathScorer) -> float:
    """``relation_score`` without the relations that the model was not trained on."""
    return relation_score(graph, path.ids, path.hypothesis.log_probs, scorer.unseen)


def labelled(graph: TokenGraph, ids: PathIds) -> Path:
    """A decoded path in labels."""
    kg = graph.kg
    return Path(tuple(kg.entities[e] for e in ids.entities), tuple(kg.step_labels[s] for s in ids.steps))


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


def _chosen(groups: Sequence[Group], limit: int) -> list[RankedPath]:
    """The paths that are shown, in the order of their groups; the best group is there with its first at least.

    The model's own probability of a path and the pooled score of its relations count alike: of 213 right answers
    that are found for the development questions of WebQuestions the former alone shows 205 among the K, both 208.
    """
    paths = [(number, path) for number, group in enumerate(groups) for path in group.paths]
    if not paths:
        return []
    kept = sorted(paths[1:], key=lambda pair: -pair[1].hypothesis.score - pair[1].rank_score)[: limit - 1]
    return [path for _, path in (paths[0], *sorted(kept, key=lambda pair: pair[0]))]


def _by_relations(
    graph: TokenGraph, paths: Sequence[RankedPath], limit: int, scorer: PathScorer | None
) -> list[RankedPath]:
    """The most probable paths, by the probability of their relations: the sum over the tails among them."""

    def typed(path: RankedPath) -> float:
        wrong = scorer is not None and scorer.asked.named and not scorer.fits(graph.kg.entities[path.ids.entities[-1]])
        return path.hypothesis.score - UNFITTED["named"] * wrong

    ranked = [replace(path, rank_score=typed(path)) for path in paths]
    # a walk that comes back to where it began answers nothing
    ranked = sorted(ranked, key=lambda p: (_returns(p.ids), -p.rank_score))[:limit]
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
