"""When to say that no path answers, and how sure that is: ``ranking.abstention`` fitted by a logistic regression.

Questions with an answer and questions without one are run, and their features written down (an interrupted run goes on
where it stopped). A question that is answered rightly is run once more on the graph without the edges that its answer
rests on: what is then found answers it no longer, which is the commonest way in which a graph fails a question. Of the
questions without an answer every second one is held out and only tells how well the fit went. Figures on the others are
cross-validated. The bias is set so that at most a given share of the right answers is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

from kgdemo.errors import UserError
from kgdemo.events import Answerability, EntitiesLinked, PathFound
from kgdemo.facts import EditedFacts
from kgdemo.kg.edits import MAX_EDITS, REMOVE, Edit, apply, checked
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path as KGPath
from kgdemo.lab.evaluation.predictions import append, resumed_records
from kgdemo.lab.questions import Question, answerable_in, read_questions
from kgdemo.pipeline import Pipeline
from kgdemo.query.query import understand
from kgdemo.ranking.abstention import (
    BIAS,
    RELIABILITY_FILE,
    AbstentionFeatures,
    abstention_features,
    abstention_log_odds,
    relation_beliefs,
)
from kgdemo.reasoners.base import Evidence
from kgdemo.settings import Settings

NAMES = tuple(field.name for field in fields(AbstentionFeatures))
REFUSED = 0.06  # share of right answers that may be refused: more of the natural questions, fewer of the others
_FOLDS = 8
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


def calibrate(
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
    if min(answered.sum(), (~answered).sum()) < 2 * _FOLDS:
        raise UserError(f"Give at least {2 * _FOLDS} questions with an answer and as many without one.")
    x = np.array([[getattr(one.features, name) for name in NAMES] for one in judged], np.float64)
    folds, apart = np.arange(len(x)) % _FOLDS, np.empty(len(x), bool)
    for fold in range(_FOLDS):
        inside = folds == fold
        apart[inside] = _odds(x[inside], _weights(x[~inside], ~answered[~inside], max_refused)) > 0
    cut = np.array([one.id.endswith(CUT) for one in judged], bool)
    figures = {
        "answered": float(answered.sum()),
        "unanswered": float((~answered).sum()),
        "refused": float(apart[answered].mean()),
        "recognised": float(apart[~answered].mean()),
        "recognised_cut": float(apart[cut].mean()) if cut.any() else 0.0,
    }
    weights = _weights(x, ~answered, max_refused)
    return dict(zip((BIAS, *NAMES), [round(float(w), 4) for w in weights], strict=True)), figures


def _weights(x: NDArray[np.float64], unanswered: NDArray[np.bool_], max_refused: float) -> NDArray[np.float64]:
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
