"""When something is what a description means: ``answering.marks`` fitted.

``marks.jsonl`` holds descriptions of things, written by people who saw nothing of the graph but the names of these.
Each is looked for twice, in the graph as it is and without the thing, where whatever is nearest is wrong. Figures are
cross-validated::

    python -m kgdemo.lab.training.marks
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

from kgdemo.answering import marks
from kgdemo.answering.marks import MEANT, MarkFeatures, Marks
from kgdemo.kg.io.catalogue import open_graph
from kgdemo.models.embedding import sentence_embedder

DESCRIPTIONS = Path(__file__).parent / "marks.jsonl"
NAMES = tuple(field.name for field in fields(MarkFeatures))
logger = logging.getLogger(__name__)


def descriptions() -> list[tuple[str, str]]:
    """Things and their descriptions."""
    lines = map(json.loads, DESCRIPTIONS.read_text("utf-8").splitlines())
    return [(line["thing"], line["described"]) for line in lines]


def features_of(known: Marks) -> tuple[list[list[float]], list[bool], list[str]]:
    """The features of what is nearest to each description, whether it is what is described, and what that is."""
    rows, right, things = list[list[float]](), list[bool](), list[str]()
    for thing, described in descriptions():
        for without in ("", thing):
            nearest = known.nearest(described, without=without)
            if nearest is not None:
                rows.append([float(getattr(nearest[1], name)) for name in NAMES])
                right.append(nearest[0].holders == (thing,))
                things.append(thing)
    return rows, right, things


def fit(rows: list[list[float]], right: list[bool], things: list[str]) -> tuple[dict[str, float], dict[str, float]]:
    """Fit the weights.

    Args:
        rows, right, things: see ``features_of``.

    Returns:
        the weights with the bias, and the figures: of the things that are taken, the share that was meant
        (``precision``), and of those described the share that is taken (``recall``).
    """
    x, y = np.array(rows), np.array(right)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    likely = cross_val_predict(model, x, y, cv=GroupKFold(8), groups=things, method="predict_proba")[:, 1]
    sure = likely >= MEANT
    figures = {"precision": float(y[sure].mean()), "recall": float(y[sure].sum() / len(descriptions()))}
    scale, fitted = (step for _, step in model.fit(x, y).steps)
    plain = fitted.coef_[0] / scale.scale_
    bias = float(fitted.intercept_[0] - plain @ scale.mean_)
    return {name: round(float(w), 4) for name, w in zip(("bias", *NAMES), (bias, *plain), strict=True)}, figures


def main() -> None:
    """Measure and fit, save the weights and log the figures."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    weights, figures = fit(*features_of(Marks(open_graph("world"), sentence_embedder())))
    (Path(marks.__file__).parent / "marks.json").write_text(json.dumps(weights, indent=1) + "\n", "utf-8")
    logger.info(", ".join(f"{name} {value:.3f}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
