"""How sure the abstention is, as a probability: its log-odds over development questions, and whether it was right.

The log-odds of ``ranking.abstention`` have the price of a wrong refusal in their bias, so they are no probability by
themselves. Platt scaling (a logistic regression on the log-odds alone) makes them one. The questions, ordered by it,
give the curve of risk against coverage: how many answers would be wrong if only so many were given.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from tqdm import tqdm

from kgdemo.errors import UserError
from kgdemo.events import Answerability, PathFound
from kgdemo.lab.calibration.abstention import CUT, Judged
from kgdemo.lab.questions import Question, read_questions
from kgdemo.pipeline import Pipeline
from kgdemo.ranking.abstention import RELIABILITY_FILE, abstention_log_odds
from kgdemo.settings import Settings

_FEWEST = 16  # questions of each kind


@dataclass(frozen=True, slots=True)
class Odds:
    """One question: the log-odds that its best path does not answer, and whether it does."""

    id: str
    log_odds: float
    right: bool


def measured(pipeline: Pipeline, files: Sequence[Path], settings: Settings, out: Path, limit: int | None) -> list[Odds]:
    """Ask the questions, with the abstention as it is; one that is computed or finds no path has no odds.

    Args:
        pipeline: runs the questions.
        files: question sets; where a question has no answer, no path can be right.
        settings: graph, model, K and L.
        out: folder for ``reliability.jsonl``; what it holds is not asked again.
        limit: only the first so many questions of each set.
    """
    file = out / "reliability.jsonl"
    lines = file.read_text("utf-8").splitlines() if file.is_file() else []
    known = {odds.id: odds for odds in (Odds(**json.loads(line)) for line in lines if line.endswith("}"))}
    asked = [question for one in files for question in read_questions(one)[:limit]]
    with file.open("a", encoding="utf-8") as stream:
        for question in tqdm([one for one in asked if one.id not in known], unit="question"):
            for odds in _odds(pipeline, question, settings):
                known[odds.id] = odds
                stream.write(json.dumps(asdict(odds)) + "\n")
                stream.flush()
    return [known[question.id] for question in asked if question.id in known]


def odds_of(judged: Sequence[Judged], abstention: Mapping[str, float]) -> list[Odds]:
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


def save(told: Mapping[str, Any], folder: Path) -> None:
    """Write it beside the weights."""
    (folder / RELIABILITY_FILE).write_text(json.dumps(told, separators=(",", ":")) + "\n", "utf-8")


def _odds(pipeline: Pipeline, question: Question, settings: Settings) -> Iterator[Odds]:
    first, odds = "", None
    for event in pipeline.run(question.text, settings, question.topic_entities):
        if isinstance(event, PathFound) and event.constrained and event.index == 1 and event.path:
            first = event.path.end
        elif isinstance(event, Answerability):
            odds = event.log_odds
    if odds is not None:
        yield Odds(question.id, odds, first in question.gold)
