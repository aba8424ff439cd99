"""When a record of the graph is what a question means in other words: ``answering.records`` fitted.

``records.jsonl`` holds questions written for this: two for each of 460 records in words as different as people use, and
others that ask for something else (another place, rank, end, a detail about the record). Of these only those count
whose nearest record is the one that they were written beside. Figures are cross-validated, all questions about one
record being in one fold::

    python -m kgdemo.lab.training.records

A question is compared with a hundred names, so that measuring all takes minutes. What was measured is kept in
``record_features.jsonl``: the weights follow from it in a second.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kgdemo.answering import records
from kgdemo.answering.records import MEANT, RecordFeatures, Records, records_of
from kgdemo.kg.io.catalogue import open_graph
from kgdemo.models.embedding import Embedder, sentence_embedder

QUESTIONS = Path(__file__).parent / "records.jsonl"
MEASURED = Path(__file__).parent / "record_features.jsonl"
NAMES = tuple(field.name for field in fields(RecordFeatures))
Measured = tuple[str, list[float]]  # the nearest record of a question, and its features in the order of ``NAMES``
logger = logging.getLogger(__name__)


def questions() -> list[dict[str, Any]]:
    """``question``, ``record``, and ``meant`` (whether it asks for that record) of each."""
    return [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]


def measure(question: str, known: Records, embedder: Embedder) -> Measured | None:
    """The nearest record of a question and its features, rounded; None where no record is looked for."""
    nearest = known.nearest(question, embedder)
    if nearest is None:
        return None
    label, features = nearest
    return label, [round(float(getattr(features, name)), 4) for name in NAMES]


def measured() -> dict[str, Measured | None]:
    """What was measured of each question when the weights were fitted."""
    lines = map(json.loads, MEASURED.read_text("utf-8").splitlines())
    return {line["question"]: line["nearest"] and (line["nearest"], line["features"]) for line in lines}


def fit(found: Mapping[str, Measured | None]) -> tuple[dict[str, float], dict[str, float]]:
    """Fit the weights.

    Args:
        found: what is measured of each question.

    Returns:
        the weights with the bias, and the figures: of the records that are taken, the share that was meant
        (``precision``), and of those meant the share that is taken (``recall``).

    Raises:
        KeyError: a question has not been measured.
    """
    rows, meant, groups, asked = [], [], [], 0
    for question in questions():
        asked += question["meant"]
        nearest = found[question["question"]]
        if nearest is None or (not question["meant"] and nearest[0] != question["record"]):
            continue
        rows.append(nearest[1])
        meant.append(question["meant"] and nearest[0] == question["record"])
        groups.append(question["record"])
    x, y = np.array(rows), np.array(meant)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    sure = cross_val_predict(model, x, y, cv=GroupKFold(8), groups=groups, method="predict_proba")[:, 1] >= MEANT
    figures = {"precision": float(y[sure].mean()), "recall": float(y[sure].sum() / asked)}
    scale, fitted = (step for _, step in model.fit(x, y).steps)
    plain = fitted.coef_[0] / scale.scale_
    bias = float(fitted.intercept_[0] - plain @ scale.mean_)
    return {name: round(float(w), 4) for name, w in zip(("bias", *NAMES), (bias, *plain), strict=True)}, figures


def main() -> None:
    """Measure and fit, write the weights where they are read, and say the figures."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    known, embedder = records_of(open_graph("world")), sentence_embedder()
    found = {one["question"]: measure(one["question"], known, embedder) for one in questions()}
    lines = [
        {"question": question, "nearest": nearest and nearest[0], "features": nearest and nearest[1]}
        for question, nearest in found.items()
    ]
    MEASURED.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    weights, figures = fit(found)
    (Path(records.__file__).parent / "records.json").write_text(json.dumps(weights, indent=1) + "\n", "utf-8")
    logger.info(", ".join(f"{name} {value:.3f}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
