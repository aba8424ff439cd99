"""When a whole question means a thing that it describes: ``answering.clues`` fitted.

``clues.jsonl`` holds questions that describe things, and questions beside them that ask for something else, that name
what they are about or that nothing answers, written by people who saw nothing of the graph; ``answer`` has the names
under which an answer is right. Figures are cross-validated::

    python -m kgdemo.lab.training.clues
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.model_selection import KFold

from kgdemo.answering import clues
from kgdemo.answering.clues import MEANT, TELLS, Clues, told_by
from kgdemo.kg.io.catalogue import open_graph
from kgdemo.kg.labels import bare, fold
from kgdemo.lab.training.marks import descriptions
from kgdemo.models.embedding import sentence_embedder
from kgdemo.query.form import understand

QUESTIONS = Path(__file__).parent / "clues.jsonl"
_PENALTY = 0.005  # on squared weights
_FOLDS = 8
logger = logging.getLogger(__name__)

Example = tuple[NDArray[np.float64], NDArray[np.bool_]]  # a row for each candidate, and whether it is meant


def questions() -> list[tuple[str, set[str]]]:
    """Questions, and the names of what each describes: those of ``clues.jsonl``, and the descriptions of ``marks``."""
    lines = map(json.loads, QUESTIONS.read_text("utf-8").splitlines())
    asked = [(one["question"], {name for answer in one["answer"] for name in answer.split("|")}) for one in lines]
    return asked + [(described, {thing}) for thing, described in descriptions()]


def examples() -> list[Example]:
    """The candidates of each question that has some; and once more without what it describes.

    What a stranger describes may be missing in the graph: of what is left nothing is meant.
    """
    kg = open_graph("world")
    known, found = Clues(kg, sentence_embedder()), list[Example]()
    for question, right in questions():
        candidates = known.candidates(question, understand(question, (), kg).answer_type)
        if not candidates:
            continue
        folded = {fold(bare(name)) for name in right}
        names = [{fold(bare(own)) for own in kg.names_of(one.holder)} for one in candidates]
        told = [one.clue for one in candidates]
        meant = np.array([not folded.isdisjoint(own) for own in names])
        found.append((told_by(told), meant))
        if meant.any() and not meant.all():
            others = [clue for clue, right in zip(told, meant, strict=True) if not right]
            found.append((told_by(others), meant[~meant]))
    return found


def loss(weights: NDArray[np.float64], given: Sequence[Example]) -> float:
    """The negative log-likelihood of what is meant, none included, under a conditional logit."""
    total = 0.0
    for rows, right in given:
        odds = np.append(rows @ weights[:-1], weights[-1])
        meant = np.append(right, not right.any())
        total += np.logaddexp.reduce(odds) - np.logaddexp.reduce(odds[meant])
    return total + _PENALTY * float(weights @ weights)


def fit(given: Sequence[Example]) -> NDArray[np.float64]:
    """The weights of a clue's parts, and last that of none."""
    fitted: NDArray[np.float64] = minimize(loss, np.ones(len(TELLS) + 1), args=(given,)).x
    return fitted


def figures(given: Sequence[Example]) -> dict[str, float]:
    """Of what is taken the share that is meant, and of what is described the share that is taken; cross-validated."""
    taken, right, described = 0, 0, sum(bool(own.any()) for _, own in given)
    for learnt, kept in KFold(_FOLDS, shuffle=True, random_state=0).split(np.arange(len(given))):
        weights = fit([given[place] for place in learnt])
        for rows, meant in (given[place] for place in kept):
            odds = np.append(rows @ weights[:-1], weights[-1])
            likely = np.exp(odds - np.logaddexp.reduce(odds))[:-1]
            if likely.max() >= MEANT:
                taken, right = taken + 1, right + int(meant[likely.argmax()])
    return {"precision": right / max(taken, 1), "recall": right / max(described, 1)}


def main() -> None:
    """Measure and fit, save the weights and log the figures."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    given = examples()
    names = [*TELLS, "none"]
    weights = {name: round(float(weight), 4) for name, weight in zip(names, fit(given), strict=True)}
    (Path(clues.__file__).parent / "clues.json").write_text(json.dumps(weights, indent=1) + "\n", "utf-8")
    told = ", ".join(f"{name} {value:.3f}" for name, value in figures(given).items())
    logger.info("%d questions with candidates: %s; %s", len(given), told, weights)


if __name__ == "__main__":
    main()
