"""When a record of the graph is what a question means in other words: ``answering.records`` fitted.

``records.jsonl`` holds questions written for this: two for each of 460 records in words as different as people use, and
others that ask for something else (another place, rank, end, a detail about the record). Of these only those count
whose nearest record is the one that they were written beside. Figures are cross-validated, all questions about one
record being in one fold::

    python -m kgdemo.lab.training.records
"""

from __future__ import annotations

import json
import logging
from dataclasses import fields
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kgdemo.answering import records
from kgdemo.answering.records import MEANT, RecordFeatures, records_of
from kgdemo.kg.io.catalogue import open_graph
from kgdemo.models.embedding import sentence_embedder

QUESTIONS = Path(__file__).parent / "records.jsonl"
NAMES = tuple(field.name for field in fields(RecordFeatures))
logger = logging.getLogger(__name__)


def fit(questions: Path = QUESTIONS) -> tuple[dict[str, float], dict[str, float]]:
    """Fit the weights.

    Args:
        questions: JSON lines with ``question``, ``record``, and ``meant`` (whether it asks for that record).

    Returns:
        the weights with the bias, and the figures: of the records that are taken, the share that was meant
        (``precision``), and of those meant the share that is taken (``recall``).
    """
    kg, embedder = open_graph("world"), sentence_embedder()
    rows, meant, groups, asked = [], [], [], 0
    for line in questions.read_text("utf-8").splitlines():
        question = json.loads(line)
        asked += question["meant"]
        nearest = records_of(kg).nearest(question["question"], embedder)
        if nearest is None or (not question["meant"] and nearest[0] != question["record"]):
            continue
        rows.append([float(getattr(nearest[1], name)) for name in NAMES])
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
    """Fit, write the weights where they are read, and say the figures."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    weights, figures = fit()
    (Path(records.__file__).parent / "records.json").write_text(json.dumps(weights, indent=1) + "\n", "utf-8")
    logger.info(", ".join(f"{name} {value:.3f}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
