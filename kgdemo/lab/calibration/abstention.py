"""When to say that no path answers: the features of ``ranking.abstention`` weighed by a logistic regression.

Questions with an answer and questions without one are run, their features written down (an interrupted run goes
on where it stopped), and the weights fitted on one half of the unanswerable questions and all answerable ones;
the other half only tells how well that went. Figures on answerable questions are cross-validated. The bias is
set so that at most a given share of the answerable ones is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from kgdemo.errors import UserError
from kgdemo.events import EntitiesLinked, PathFound
from kgdemo.lab.questions import Question, read_questions
from kgdemo.pipeline import Pipeline
from kgdemo.query.query import understand
from kgdemo.ranking.abstention import BIAS, AbstentionFeatures, abstention_features
from kgdemo.reasoners.base import Evidence
from kgdemo.settings import Settings

NAMES = tuple(field.name for field in fields(AbstentionFeatures))
REFUSED = 0.02  # share of answerable questions that may be refused; what is promised is 0.05 of any set
_FOLDS = 8
_RIDGE = 1.0


@dataclass(frozen=True, slots=True)
class Judged:
    """One question's features; ``answerable`` says what it is."""

    id: str
    answerable: bool
    features: AbstentionFeatures


def collect(
    pipeline: Pipeline, answerable: Path, unanswerable: Path, settings: Settings, out: Path, limit: int | None = None
) -> list[Judged]:
    """The features of two question sets, topic entities given where the sets give them.

    Args:
        pipeline: runs the questions.
        answerable, unanswerable: question files.
        settings: graph, model, K and L.
        out: folder for ``features.jsonl``; what it holds of these questions is not asked again.
        limit: only the first so many questions of each set.
    """
    model = pipeline.model(settings.model)
    model.style = replace(model.style, abstention=None)  # what is to be fitted anew has no say
    out.mkdir(parents=True, exist_ok=True)
    file = out / "features.jsonl"
    known = {judged.id: judged for judged in _read(file)}
    asked = [(q, True) for q in read_questions(answerable)[:limit]]
    asked += [(q, False) for q in read_questions(unanswerable)[:limit]]
    with file.open("a", encoding="utf-8") as stream:
        for question, right in tqdm([pair for pair in asked if pair[0].id not in known], unit="question"):
            found = _features(pipeline, question, replace(settings, compare=False, explain=0))
            if found is not None:
                known[question.id] = Judged(question.id, right, found)
                record = {"id": question.id, "answerable": right, "features": asdict(found)}
                stream.write(json.dumps(record) + "\n")
                stream.flush()
    return [known[question.id] for question, _ in asked if question.id in known]


def calibrate(judged: Sequence[Judged], most_refused: float = REFUSED) -> tuple[dict[str, float], dict[str, float]]:
    """Fit the weights.

    Args:
        judged: features of answerable and unanswerable questions; of the latter every second is held out.
        most_refused: share of the answerable questions that may be refused.

    Returns:
        the weights (see ``PromptStyle.abstention``), and how well they do: ``recognised`` of the unanswerable ones
        held out, ``recognised_fitted`` of the others, ``refused`` of the answerable ones, each of these judged
        by weights that were fitted without it.

    Raises:
        UserError: there are too few questions of either kind.
    """
    yes = [j for j in judged if j.answerable]
    no = [j for j in judged if not j.answerable]
    if min(len(yes), len(no)) < 2 * _FOLDS:
        raise UserError(f"Give at least {2 * _FOLDS} questions with an answer and as many without one.")
    fitted, held = no[::2], no[1::2]
    x, y = _matrix([*yes, *fitted]), np.array([0.0] * len(yes) + [1.0] * len(fitted))
    weights = _weights(x, y, most_refused)
    folds = np.arange(len(y)) % _FOLDS
    apart = np.empty(len(y), bool)
    for fold in range(_FOLDS):
        inside = folds == fold
        apart[inside] = _odds(x[inside], _weights(x[~inside], y[~inside], most_refused)) > 0
    figures = {
        "answerable": float(len(yes)),
        "unanswerable": float(len(no)),
        "refused": float(apart[y == 0].mean()),
        "recognised": float((_odds(_matrix(held), weights) > 0).mean()),
        "recognised_fitted": float(apart[y == 1].mean()),
    }
    return dict(zip((BIAS, *NAMES), [round(float(w), 4) for w in weights], strict=True)), figures


def fit(x: NDArray[np.float64], y: NDArray[np.float64], ridge: float = _RIDGE) -> NDArray[np.float64]:
    """Logistic regression on standardised columns by Newton's method, both classes weighing the same.

    Args:
        x: ``(questions, features)``.
        y: 1 where there is no answer, else 0, ``(questions,)``.
        ridge: penalty on the squared weights of the standardised features.

    Returns:
        bias and weights for the features as they are, ``(1 + features,)``.
    """
    mean, spread = x.mean(axis=0), x.std(axis=0) + 1e-9
    rows = np.column_stack([np.ones(len(x)), (x - mean) / spread])
    share = np.where(y == 1, 0.5 / max(y.sum(), 1), 0.5 / max((1 - y).sum(), 1)) * len(y)
    penalty = np.full(rows.shape[1], ridge)
    penalty[0] = 1e-6
    weights = np.zeros(rows.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (share * (chance - y)) + penalty * weights
        curve = (rows * (share * chance * (1 - chance))[:, None]).T @ rows + np.diag(penalty)
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < 1e-8:
            break
    plain = weights[1:] / spread
    return np.concatenate([[weights[0] - plain @ mean], plain])


def _weights(x: NDArray[np.float64], y: NDArray[np.float64], most_refused: float) -> NDArray[np.float64]:
    """Fitted weights whose bias refuses just so many of the answerable questions, or fewer."""
    weights = fit(x, y)
    weights[0] -= max(0.0, float(np.quantile(_odds(x[y == 0], weights), 1 - most_refused, method="higher")))
    return weights


def _odds(x: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return weights[0] + x @ weights[1:]


def _matrix(judged: Sequence[Judged]) -> NDArray[np.float64]:
    return np.array([[getattr(j.features, name) for name in NAMES] for j in judged], np.float64).reshape(-1, len(NAMES))


def _features(pipeline: Pipeline, question: Question, settings: Settings) -> AbstentionFeatures | None:
    """The features of one question; None where no path was found."""
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
    return abstention_features(understand(question.text, topics, resources.kg), evidence, resources)


def _read(file: Path) -> Iterator[Judged]:
    lines = file.read_text("utf-8").split("\n") if file.exists() else []
    for line in lines:
        if line.endswith("}"):
            record = json.loads(line)
            yield Judged(record["id"], record["answerable"], AbstentionFeatures(**record["features"]))
