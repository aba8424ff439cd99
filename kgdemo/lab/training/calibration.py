"""What is fitted for a finished model: how its paths are ranked, and when none of them answers. ``kgdemo calibrate``.

The weights of the ranking are those of a log-linear model, fitted by maximum likelihood. Every question's candidates,
the groups of ``ranking.scorer``, are the outcomes of a softmax over their weighted features; the likelihood of a
question is the expected share of right ends among the paths of the group drawn. Its mean over the questions is
maximised, with a small penalty on the weights.

What replaces a model's probability of relations that it was not trained on is fitted the same way
(``PromptStyle.backoff``). The model's training held some relations out, and questions about them tell how such
relations are to be judged; the weights of the ranking stay as they are. How many questions of a set are about such
relations was decided by whoever held them out, so that it says nothing of how often they are asked for: of every set
either kind counts the same. How well that carries over to yet other relations is measured by cross-validation over
relations: those of a fold are judged by weights that no question about them has had a part in.

When to say that no path answers, and how sure that is (``ranking.abstention``), is fitted by a logistic regression.
Questions with an answer and questions without one are run, and their features written down (an interrupted run goes on
where it stopped). A question that is answered rightly is run once more on the graph without the edges that its answer
rests on: what is then found answers it no longer, which is the commonest way in which a graph fails a question. Figures
are cross-validated. The bias is set so that at most a given share of the right answers is refused.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.errors import UserError
from kgdemo.events import Answerability, EntitiesLinked, PathFound
from kgdemo.facts import EditedFacts
from kgdemo.kg.edits import MAX_EDITS, REMOVE, Edit, apply, checked
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import fold, relation_name
from kgdemo.kg.path import Path as KGPath
from kgdemo.lab.evaluation.predictions import append, resumed_records
from kgdemo.lab.questions import Question, answerable_in, read_questions
from kgdemo.lab.training.examples import HELD_OUT, SEEN, UNCLEAR, relation_group, relation_paths
from kgdemo.methods.gcr import scorer_for
from kgdemo.methods.search_branch import constrained_branch, limits_of
from kgdemo.pipeline import Pipeline
from kgdemo.query.form import understand
from kgdemo.query.query import types_of
from kgdemo.ranking.abstention import (
    BIAS,
    RELIABILITY_FILE,
    AbstentionFeatures,
    abstention_features,
    abstention_log_odds,
    relation_beliefs,
)
from kgdemo.ranking.graph_paths import PathReader, unseen_paths
from kgdemo.ranking.scorer import BACKOFF, FEATURES, different_paths, groups_of, known_score
from kgdemo.reasoners.base import Evidence
from kgdemo.settings import Settings

FOLDS = 8  # of every cross-validation
_RIDGE = 2e-3
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
    fold_of = {name: place % FOLDS for place, name in enumerate(names)}
    folds = [fold_of[min(one.held_out)] if one.held_out else place % FOLDS for place, one in enumerate(found)]
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


# When no path answers ------------------------------------------------------------------------------

ABSTENTION = tuple(field.name for field in fields(AbstentionFeatures))
REFUSED = 0.06  # share of right answers that may be refused: more of the natural questions, fewer of the others
_ROUNDED = 0.01  # log-odds by which rounded weights may be off
CUT = "-cut"  # behind the id of a question that is asked without the edges of its answer


@dataclass(frozen=True, slots=True)
class LabelledFeatures:
    """One question's features; ``answered`` says whether its first path does answer it."""

    id: str
    answered: bool
    features: AbstentionFeatures


def collect_features(
    pipeline: Pipeline,
    answerable: Sequence[Path],
    unanswerable: Path,
    settings: Settings,
    out: Path,
    limit: int | None = None,
) -> list[LabelledFeatures]:
    """The features of question sets, topic entities given where the sets give them.

    Args:
        pipeline: runs the questions.
        answerable: question files; of another graph those questions are asked whose names this one holds.
        unanswerable: one.
        settings: graph, model, K and L.
        out: folder for ``features.jsonl``; what it holds of these questions is not asked again.
        limit: only the first so many questions of each set.
    """
    model = pipeline.model(settings.model)
    model.style = replace(model.style, abstention=None)  # the weights to be fitted must not act
    settings = replace(settings, compare=False, explain=0)
    out.mkdir(parents=True, exist_ok=True)
    file = out / "features.jsonl"
    records = resumed_records(file)
    known = {
        one["id"]: LabelledFeatures(**{**one, "features": AbstentionFeatures(**one["features"])}) for one in records
    }
    kg = pipeline.graph(settings.graph)
    questions = [question for file in answerable for question in answerable_in(kg, read_questions(file)[:limit])]
    questions += read_questions(unanswerable)[:limit]
    for question in tqdm([one for one in questions if one.id not in known], unit="question"):
        for judged in _labelled(pipeline, question, settings):
            known[judged.id] = judged
            append(file, asdict(judged))
    wanted = [name for question in questions for name in (question.id, question.id + CUT)]
    return [known[name] for name in wanted if name in known]


def fit_abstention(
    judged: Sequence[LabelledFeatures], max_refused: float = REFUSED
) -> tuple[dict[str, float], dict[str, float]]:
    """Fit the weights.

    Args:
        judged: features of questions whose first path answers and of questions where it does not.
        max_refused: share of the answered questions that may be refused.

    Returns:
        the weights (see ``PromptStyle.abstention``), and how well they do, each question judged by weights that were
        fitted without it: ``refused`` of the answered ones, ``recognised`` of the others, ``recognised_cut`` of those
        without their edges.

    Raises:
        UserError: there are too few questions of either kind.
    """
    answered = np.array([one.answered for one in judged], bool)
    if min(answered.sum(), (~answered).sum()) < 2 * FOLDS:
        raise UserError(f"Give at least {2 * FOLDS} questions with an answer and as many without one.")
    x = np.array([[getattr(one.features, name) for name in ABSTENTION] for one in judged], np.float64)
    folds, apart = np.arange(len(x)) % FOLDS, np.empty(len(x), bool)
    for number in range(FOLDS):
        inside = folds == number
        apart[inside] = _odds(x[inside], _abstention_weights(x[~inside], ~answered[~inside], max_refused)) > 0
    cut = np.array([one.id.endswith(CUT) for one in judged], bool)
    figures = {
        "answered": float(answered.sum()),
        "unanswered": float((~answered).sum()),
        "refused": float(apart[answered].mean()),
        "recognised": float(apart[~answered].mean()),
        "recognised_cut": float(apart[cut].mean()) if cut.any() else 0.0,
    }
    weights = _abstention_weights(x, ~answered, max_refused)
    return dict(zip((BIAS, *ABSTENTION), [round(float(w), 4) for w in weights], strict=True)), figures


def _abstention_weights(
    x: NDArray[np.float64], unanswered: NDArray[np.bool_], max_refused: float
) -> NDArray[np.float64]:
    """Bias and weights; both classes weigh the same, and the bias refuses no more answered questions than agreed."""
    scale = StandardScaler().fit(x)
    fitted = LogisticRegression(class_weight="balanced").fit(scale.transform(x), unanswered)
    plain = fitted.coef_[0] / scale.scale_
    weights: NDArray[np.float64] = np.concatenate([[fitted.intercept_[0] - plain @ scale.mean_], plain])
    weights[0] -= float(np.quantile(_odds(x[~unanswered], weights), 1 - max_refused, method="higher")) + _ROUNDED
    return weights


def _odds(x: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    odds: NDArray[np.float64] = weights[0] + x @ weights[1:]
    return odds


def _labelled(pipeline: Pipeline, question: Question, settings: Settings) -> Iterator[LabelledFeatures]:
    """A question's features, and those without the edges that its right answer rests on."""
    found = _features(pipeline, question, settings)
    if found is None:
        return
    features, path = found
    answers = _leads_to_answer(pipeline.graph(settings.graph), path, question)
    yield LabelledFeatures(question.id, answers, features)
    if not answers:
        return
    settings = replace(settings, graph=_without_last_hop(pipeline, path, settings.graph))
    cut = _features(pipeline, question, settings)
    graph = pipeline.graph(settings.graph)
    if cut is not None and not _leads_to_answer(graph, cut[1], question):  # else by another path
        yield LabelledFeatures(question.id + CUT, False, cut[0])
    pipeline.forget_graph(settings.graph)


def _leads_to_answer(kg: KnowledgeGraph, path: KGPath, question: Question) -> bool:
    """Whether the relations of a path lead to a right answer; to which of their ends it goes is not judged here."""
    topic = kg.entities.find(path.entities[0])
    assert topic is not None, path
    ends = kg.reach(topic, path.relations)[-1]
    return any(kg.entities[int(end)] in question.gold for end in ends)


def _without_last_hop(pipeline: Pipeline, path: KGPath, source: str) -> str:
    """The name of a graph in which the last relation of a path leads nowhere from where it began."""
    kg, (place, relation) = pipeline.graph(source), (path.entities[-2], path.relations[-1])
    ends = list(dict.fromkeys(end for label, end in kg.neighbours(place) if label == relation))
    edits = checked([Edit(REMOVE, (place, relation, end)) for end in ends[:MAX_EDITS]])
    facts = EditedFacts(pipeline.facts(source), [(False, edit.triple) for edit in edits])
    pipeline.add_graph(f"{source}{CUT}", apply(kg, edits), facts, source)
    return f"{source}{CUT}"


def _features(pipeline: Pipeline, question: Question, settings: Settings) -> tuple[AbstentionFeatures, KGPath] | None:
    """The features of one question and its first path; None where no path was found."""
    topics: tuple[str, ...] = ()
    evidence = []
    for event in pipeline.run(question.text, settings, question.topic_entities):
        if isinstance(event, EntitiesLinked):
            topics = event.chosen
        elif isinstance(event, PathFound) and event.constrained and event.path:
            evidence.append(Evidence(event.index, event.path, "", event.score, event.relation_score))
    if not evidence:
        return None
    resources = pipeline.resources(settings)
    query = understand(question.text, topics, resources.kg)
    return abstention_features(
        query, evidence[0], relation_beliefs(query, evidence[0].path, resources), resources
    ), evidence[0].path


# --------------------------------------------------------------------------------------------------
# How sure the abstention is, as a probability, and whether it was right.
#
# The log-odds of ``ranking.abstention`` have the price of a wrong refusal in their bias, so they are no probability by
# themselves. Platt scaling (a logistic regression on the log-odds alone) makes them one. The questions, ordered by it,
# give the curve of risk against coverage: how many answers would be wrong if only so many were given.


_FEWEST = 16  # questions of each kind


@dataclass(frozen=True, slots=True)
class Odds:
    """One question: the log-odds that its best path does not answer, and whether it does."""

    id: str
    log_odds: float
    right: bool


def collect_odds(
    pipeline: Pipeline, files: Sequence[Path], settings: Settings, out: Path, limit: int | None
) -> list[Odds]:
    """Ask the questions, with the abstention as it is; one that is computed or finds no path has no odds.

    Args:
        pipeline: runs the questions.
        files: question sets; where a question has no answer, no path can be right.
        settings: graph, model, K and L.
        out: folder for ``reliability.jsonl``; what it holds is not asked again.
        limit: only the first so many questions of each set.
    """
    file = out / "reliability.jsonl"
    known = {record["id"]: Odds(**record) for record in resumed_records(file)}
    asked = [question for one in files for question in read_questions(one)[:limit]]
    for question in tqdm([one for one in asked if one.id not in known], unit="question"):
        odds = _abstention_odds(pipeline, question, settings)
        if odds is not None:
            known[odds.id] = odds
            append(file, asdict(odds))
    return [known[question.id] for question in asked if question.id in known]


def odds_of(judged: Sequence[LabelledFeatures], abstention: Mapping[str, float]) -> list[Odds]:
    """The same of questions whose features are known; those that were asked without an edge are left out."""
    whole = [one for one in judged if not one.id.endswith(CUT)]
    return [Odds(one.id, abstention_log_odds(one.features, abstention), one.answered) for one in whole]


def reliability(found: Sequence[Odds], abstention: Mapping[str, float], graph: str) -> dict[str, Any]:
    """What the page shows of it.

    Args:
        found: of the development questions.
        abstention: the weights that the odds come from; with others the curve says nothing.
        graph: on which the questions were asked.

    Returns:
        ``slope`` and ``intercept`` of the probability that the path answers, given the log-odds that it does not; and
        ``points``, each that probability and 1 or 0, the surest question first.

    Raises:
        UserError: there are too few right or wrong ones.
    """
    odds, right = np.array([[one.log_odds] for one in found]), np.array([one.right for one in found], bool)
    if min(right.sum(), (~right).sum()) < _FEWEST:
        raise UserError(f"Give questions of which at least {_FEWEST} are answered rightly and as many are not.")
    fitted = LogisticRegression(C=1e6).fit(odds, right)
    order = np.argsort(odds[:, 0], kind="stable")
    chances = fitted.predict_proba(odds)[:, 1]
    return {
        "abstention": dict(abstention),
        "graph": graph,
        "slope": round(float(fitted.coef_[0, 0]), 4),
        "intercept": round(float(fitted.intercept_[0]), 4),
        "points": [[round(float(chances[place]), 4), int(right[place])] for place in order.tolist()],
    }


def save_reliability(record: Mapping[str, Any], folder: Path) -> None:
    """Write the result of ``reliability`` beside the weights."""
    (folder / RELIABILITY_FILE).write_text(json.dumps(record, separators=(",", ":")) + "\n", "utf-8")


def _abstention_odds(pipeline: Pipeline, question: Question, settings: Settings) -> Odds | None:
    first, odds = "", None
    for event in pipeline.run(question.text, settings, question.topic_entities):
        if isinstance(event, PathFound) and event.constrained and event.index == 1 and event.path:
            first = event.path.end
        elif isinstance(event, Answerability):
            odds = event.log_odds
    return None if odds is None else Odds(question.id, odds, first in question.gold)
