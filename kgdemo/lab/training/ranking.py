"""What is learnt for ranking paths: the weights of the features, and one of the features.

The weights are those of a log-linear model, fitted by maximum likelihood. Every question's candidates, the groups of
``ranking.scorer``, are the outcomes of a softmax over their weighted features; the likelihood of a question is the
expected share of right ends among the paths of the group drawn. Its mean over the questions is maximised, with a small
penalty on the weights.

What replaces a model's probability of relations that it was not trained on is fitted the same way
(``PromptStyle.backoff``). The model's training held some relations out, and questions about them tell how such
relations are to be judged; the weights of the ranking stay as they are. How many questions of a set are about such
relations was decided by whoever held them out, so that it says nothing of how often they are asked for: of every set
either kind counts the same. How well that carries over to yet other relations is measured by cross-validation over
relations: those of a fold are judged by weights that no question about them has had a part in.

The learnt similarity of questions and relation paths (``models.base``) is trained on the examples of a training
recipe with a contrastive loss: each question against the paths of its whole batch, of which its own is to be the
nearest (InfoNCE; van den Oord et al. 2018, equation 4). Both matrices begin as the identity and are drawn back to it,
so that for words that no example has the similarity stays that of the sentence encoder.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from torch import Tensor
from torch.nn import functional
from tqdm import tqdm

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.errors import UserError
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import fold, relation_name
from kgdemo.lab.questions import Question, read_questions
from kgdemo.lab.training.examples import HELD_OUT, SEEN, UNCLEAR, relation_group, relation_paths
from kgdemo.lab.training.loop import Share
from kgdemo.methods.gcr import scorer_for
from kgdemo.methods.search_branch import constrained_branch, limits_of
from kgdemo.models.base import LearnedSimilarity, path_sentence
from kgdemo.models.embedding import Embedder
from kgdemo.pipeline import Pipeline
from kgdemo.query.query import types_of, understand
from kgdemo.ranking.graph_paths import PathReader, unseen_paths
from kgdemo.ranking.scorer import BACKOFF, FEATURES, different_paths, groups_of, known_score
from kgdemo.settings import Settings

logger = logging.getLogger(__name__)
_RIDGE = 2e-3
FOLDS = 8
_FLOOR = 1e-3  # likelihood of a question whose right answer the model rules out: no single one may decide


@dataclass(frozen=True, slots=True)
class PathGroups:
    """The groups of one question.

    Attributes:
        features: in the order of ``FEATURES``, ``(groups, features)``.
        right: share of each group's paths that end at a right answer, ``(groups,)``.
        given: the part of each group's score that is not to be fitted, ``(groups,)``; or 0.
        counts: as how many questions this one counts.
    """

    features: NDArray[np.float64]
    right: NDArray[np.float64]
    given: NDArray[np.float64] | float = 0.0
    counts: float = 1.0


@dataclass(frozen=True, slots=True)
class SearchedQuestion:
    """A question and the groups of its paths.

    Attributes:
        candidates: what is said of the groups.
        coverage: of the question's words by those of each group's relations, ``(groups,)``.
        unseen: which of them have a relation that the model was not trained on, ``(groups,)``.
        hops: of each group's paths, ``(groups,)``.
        known: log-probability of the relations of each group that are known, and of its end, ``(groups,)``.
    """

    question: Question
    candidates: PathGroups
    coverage: NDArray[np.float64]
    unseen: NDArray[np.bool_]
    hops: NDArray[np.int64]
    known: NDArray[np.float64]


def searched(
    pipeline: Pipeline, questions: Path, settings: Settings, limit: int | None = None
) -> Iterator[SearchedQuestion]:
    """Search for every question's paths; questions whose answer is not found say nothing of the order and are left out.

    Args:
        pipeline: for graph and model.
        questions: JSONL in the schema of RoG, topic entities given.
        settings: graph, model, K and L.
        limit: only the first so many questions.
    """
    resources, settings = pipeline.resources(settings), replace(settings, ranking="pooled", compare=False, explain=0)
    for question in tqdm(read_questions(questions)[:limit], unit="question"):
        topics = [topic for topic in question.topic_entities if topic in resources.kg.entities]
        if len(topics) != 1:  # of several topics it is their meeting that counts
            continue
        ids = [resources.kg.entities.find(topics[0]) or 0]
        automaton = KGAutomaton(resources.token_graph, ids, settings.hops)
        types = types_of(topics, resources.kg)
        prompt = resources.model.style.encode(resources.model.label_tokens, question.text, topics, types)
        branch = constrained_branch(
            resources.model, prompt, automaton, limits_of(settings, resources.model), settings.search
        )
        while branch.advance() is not None:
            pass
        scorer = scorer_for(understand(question.text, topics, resources.kg), resources)
        finished = branch.finished or []
        reader = PathReader(resources.token_graph, branch.tree, branch.longest)
        read = unseen_paths(resources.token_graph, ids, scorer, reader, finished, settings.beams, settings.hops)
        finished = [*finished, *read]
        paths = list(different_paths(resources.token_graph, finished))
        groups = [group for group in groups_of(resources.token_graph, paths, scorer) if not group.detour]
        gold = {fold(answer) for answer in question.gold}
        ends = [[fold(resources.kg.labelled(path.ids).end) for path in group.paths] for group in groups]
        right = np.array([np.mean([end in gold for end in own]) for own in ends])
        if right.any():
            relations = [resources.kg.labelled(group.paths[0].ids).relations for group in groups]
            coverage = np.array([scorer.lexical_coverage(own) for own in relations])
            unseen = np.array([scorer.backs_off(own) for own in relations])
            features = np.array([[getattr(group.features, name) for name in FEATURES] for group in groups])
            known = np.array([known_score(resources.token_graph, group.paths[0], scorer) for group in groups])
            hops = np.array([len(own) for own in relations])
            yield SearchedQuestion(question, PathGroups(features, right), coverage, unseen, hops, known)


def fit_ranking(found: Sequence[PathGroups], ridge: float = _RIDGE) -> dict[str, float]:
    """Maximum-likelihood weights of the features; see ``fit``."""
    return {name: round(float(w), 2) for name, w in zip(FEATURES, fit(found, ridge), strict=True)}


def fit(found: Sequence[PathGroups], ridge: float = _RIDGE) -> NDArray[np.float64]:
    """Maximum-likelihood weights of whatever features the candidates have.

    Args:
        found: of all questions.
        ridge: penalty on the squared weights of the features, whose spread within a question is set to 1.

    Raises:
        UserError: there are too few questions.
    """
    if len(found) < 2 * FOLDS:
        raise UserError(f"Give at least {2 * FOLDS} questions whose answers are found; there are {len(found)}.")
    spread = np.mean([c.features.std(axis=0) for c in found], axis=0) + 1e-6
    scaled = [replace(c, features=c.features / spread) for c in found]
    fitted = minimize(_cost, np.zeros(len(spread)), (scaled, ridge), jac=True, method="L-BFGS-B", tol=1e-12)
    weights: NDArray[np.float64] = fitted.x / spread
    return weights


def expected_hits(weights: dict[str, float], found: Sequence[PathGroups]) -> float:
    """Expected share of questions whose first path is right: of the best group any path may be the first."""
    row = np.array([weights[name] for name in FEATURES])
    return float(np.mean([first_right(c, row) for c in found]))


def first_right(one: PathGroups, weights: NDArray[np.float64]) -> float:
    """How often the first path of one question is right, any path of its best group being the first."""
    return float(one.right[int((one.given + one.features @ weights).argmax())])


def cross_validated(found: Sequence[PathGroups]) -> float:
    """The same, each question judged by weights that were fitted without it."""
    total = 0.0
    for number in range(FOLDS):
        rest = [c for i, c in enumerate(found) if i % FOLDS != number]
        part = found[number::FOLDS]
        total += expected_hits(fit_ranking(rest), part) * len(part)
    return total / len(found)


def _cost(weights: NDArray[np.float64], found: Sequence[PathGroups], ridge: float) -> tuple[float, NDArray[np.float64]]:
    """Mean penalised negative log-likelihood and its gradient."""
    value, gradient = 0.0, np.zeros_like(weights)
    for one in found:
        scores = one.given + one.features @ weights
        chance = np.exp(scores - scores.max())
        chance /= chance.sum()
        right = float(chance @ one.right)
        value -= one.counts * float(np.log(right + _FLOOR))
        after = chance * one.right / (right + _FLOOR)
        gradient -= one.counts * one.features.T @ (after - chance * after.sum())
    total = sum(one.counts for one in found)
    return value / total + ridge * float(weights @ weights), gradient / total + 2 * ridge * weights


PLAIN: Mapping[str, float] = dict.fromkeys(BACKOFF, 0.0) | {"likelihood": 1.0}  # the model's own probability


@dataclass(frozen=True, slots=True)
class LabelledExample:
    """A question about relations that the model was trained on, or about others.

    Attributes:
        candidates: its groups; what is to be fitted are the weights of ``BACKOFF``.
        held_out: spoken names of the relations held out that answer it; empty where it was trained on all of them.
        source: name of the question set.
    """

    candidates: PathGroups
    held_out: frozenset[str]
    source: str

    @property
    def kind(self) -> str:
        """``seen`` or ``held_out``."""
        return HELD_OUT if self.held_out else SEEN


def labelled_examples(
    kg: KnowledgeGraph,
    found: Iterable[SearchedQuestion],
    held_out: Collection[str],
    ranking: Mapping[str, float],
    source: str,
) -> Iterator[LabelledExample]:
    """The questions for which it is clear whether the model was trained on their relations.

    Args:
        kg: the graph they are about.
        found: searched with the weights ``PLAIN``, so that each group has the model's own probability.
        held_out: relations held out of its training.
        ranking: weights of the features.
        source: name of the question set.
    """
    row = np.array([ranking[name] for name in FEATURES])
    for one in found:
        kind = relation_group(kg, one.question, held_out)
        if kind == UNCLEAR:
            continue
        used = {kg.relation_of(step) for path in relation_paths(kg, one.question) for step in path.steps}
        names = {relation_name(r) for s in used if (r := kg.relations[s]) in held_out}
        features = one.candidates.features
        values = {**dict(zip(FEATURES, features.T, strict=True)), "constant": np.ones(len(features))}
        values |= {"hops": one.hops, "known_likelihood": one.known, "lexical_coverage": one.coverage}
        backed_off = np.column_stack([values[name] for name in BACKOFF])
        share = row[0] * one.unseen  # of the likelihood, in whose place they stand
        given = features @ row - share * features[:, 0]
        yield LabelledExample(
            PathGroups(share[:, None] * backed_off, one.candidates.right, given), frozenset(names), source
        )


def fit_backoff(found: Sequence[LabelledExample]) -> dict[str, float]:
    """Maximum-likelihood weights of what replaces the probability of a relation that the model does not know."""
    return {name: round(float(weight), 2) for name, weight in zip(BACKOFF, _balanced_fit(found), strict=True)}


def _balanced_fit(found: Sequence[LabelledExample]) -> NDArray[np.float64]:
    """The weights; of every set either kind counts the same."""
    sizes = Counter((one.source, one.kind) for one in found)
    each = len(found) / len(sizes)
    return fit([replace(one.candidates, counts=each / sizes[one.source, one.kind]) for one in found])


def hits_over_relations(found: Sequence[LabelledExample]) -> dict[str, dict[str, float]]:
    """Hits@1 of either kind of each set's questions whose answer was found, cross-validated over relations.

    Returns:
        set -> ``seen_questions, seen_hits@1, held_out_questions, held_out_hits@1``. Each relation's questions are
        judged by weights fitted without them, and without any other question that one of their relations answers.
    """
    names = sorted({name for one in found for name in one.held_out})
    fold = {name: place % FOLDS for place, name in enumerate(names)}
    folds = [fold[min(one.held_out)] if one.held_out else place % FOLDS for place, one in enumerate(found)]
    rights: dict[tuple[str, str], list[float]] = defaultdict(list)
    for number in range(FOLDS):
        part = [one for one, own in zip(found, folds, strict=True) if own == number]
        touched = frozenset().union(*(one.held_out for one in part))
        weights = _balanced_fit(
            [one for one, own in zip(found, folds, strict=True) if own != number and not touched & one.held_out]
        )
        for one in part:
            rights[one.source, one.kind].append(first_right(one.candidates, weights))
    figures: dict[str, dict[str, float]] = defaultdict(dict)
    for (source, kind), own in sorted(rights.items()):
        figures[source] |= {f"{kind}_questions": len(own), f"{kind}_hits@1": float(np.mean(own))}
    return dict(figures)


# The learnt similarity -----------------------------------------------------------------------------

_DROPPED = 0.1  # of the features, while training


@dataclass(frozen=True, slots=True)
class SimilarityConfig:
    """How the similarity is trained.

    Attributes:
        examples: drawn from the recipe's sources.
        epochs: times that each is seen.
        batch_size: questions a step; their paths are one another's negatives.
        learning_rate: Adam's, falling to 0 along a straight line.
        to_identity: weight of the squared distance of both matrices to the identity.
        seed: of examples and batches.
    """

    examples: int = 20_000
    epochs: int = 6
    batch_size: int = 512
    learning_rate: float = 1.5e-3
    to_identity: float = 1e-4
    seed: int = 5


def train_similarity(sources: Sequence[Share], embedder: Embedder, config: SimilarityConfig) -> LearnedSimilarity:
    """Learn from the examples of a mixture which paths questions ask for.

    Args:
        sources: of examples; drawn from by their shares.
        embedder: of questions and paths.
        config: how.
    """
    rng = Random(f"similarity-{config.seed}")
    shares = [share.share for share in sources]
    drawn = [rng.choices(sources, shares)[0].source(rng) for _ in range(config.examples)]
    sentences = [path_sentence(example.path[1::2]) for example in drawn]
    different = list(dict.fromkeys(sentences))
    place = {sentence: number for number, sentence in enumerate(different)}
    logger.info("the similarity is learnt from %d questions and %d different paths", len(drawn), len(different))
    questions = torch.from_numpy(embedder.encode([example.question for example in drawn]))
    paths = torch.from_numpy(embedder.encode(different))
    wanted = torch.tensor([place[sentence] for sentence in sentences])
    return _fitted(questions, paths, wanted, config)


def _fitted(questions: Tensor, paths: Tensor, wanted: Tensor, config: SimilarityConfig) -> LearnedSimilarity:
    """Adam over shuffled batches; ``wanted`` says which path each question asks for."""
    generator = torch.Generator().manual_seed(config.seed)
    identity = torch.eye(questions.shape[1])
    left, right = identity.clone().requires_grad_(), identity.clone().requires_grad_()
    sharpness = torch.tensor(3.0, requires_grad=True)  # logarithm of what multiplies a cosine
    optimiser = torch.optim.Adam([left, right, sharpness], lr=config.learning_rate)
    total = config.epochs * -(-len(wanted) // config.batch_size)
    falling = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: max(0.0, 1 - step / total))
    for epoch in range(config.epochs):
        loss_sum = 0.0
        for batch in torch.randperm(len(wanted), generator=generator).split(config.batch_size):
            options, target = wanted[batch].unique(return_inverse=True)
            projected = functional.normalize(_dropped(questions[batch], generator) @ left.T, dim=1)
            said = functional.normalize(_dropped(paths[options], generator) @ right.T, dim=1)
            loss = functional.cross_entropy(sharpness.exp() * projected @ said.T, target)
            away = (left - identity).square().sum() + (right - identity).square().sum()
            optimiser.zero_grad()
            (loss + config.to_identity * away).backward()
            optimiser.step()
            falling.step()
            loss_sum += loss.item() * len(batch)
        logger.info("similarity, epoch %d: loss %.3f", epoch + 1, loss_sum / len(wanted))
    return LearnedSimilarity(left.detach().numpy(), right.detach().numpy())


def _dropped(vectors: Tensor, generator: torch.Generator) -> Tensor:
    mask = torch.rand(vectors.shape, generator=generator) >= _DROPPED
    return vectors * mask / (1 - _DROPPED)
