"""The plain questions of ``query.intents``, fitted on their wordings.

``wordings/values.tsv`` has wordings for values, comparisons and superlatives (``operation, attribute, direction,
wording``), ``wordings/steps.tsv`` and the path model's own ``templates/world.tsv`` those for relations.
Figures are cross-validated over wordings::

    python -m kgdemo.lab.training.intents
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from kgdemo.lab.training.templates import load_templates
from kgdemo.models.embedding import sentence_embedder
from kgdemo.query.intents import STEP, Intent, Intents, X, Y

_KINDS = "river mountain country city planet animal building film book person lake island element song bridge".split()
_WORDINGS = Path(__file__).parent / "wordings"
_FEWEST = 5  # wordings, below which a plain question is not learnt
_FOLDS, _INVERSE_STRENGTH = 4, 10.0
logger = logging.getLogger(__name__)


def wordings() -> Iterator[tuple[Intent, str]]:
    """Every wording with the plain question that it stands for, placeholders in place of names."""
    kinds = cycle(_KINDS)
    for line in (_WORDINGS / "values.tsv").read_text("utf-8").splitlines():
        operation, attribute, _, text = line.split("\t")  # which end is asked for is told by rule
        kind = next(kinds)
        text = text.replace("[kinds]", f"{kind}s").replace("[kind]", kind)
        yield Intent(operation, attribute), text.replace("[x]", X).replace("[y]", Y)
    for line in (_WORDINGS / "steps.tsv").read_text("utf-8").splitlines():
        relation, direction, text = line.split("\t")
        yield Intent(STEP, relation, direction), text.replace("[x]", X)
    for (relation, backwards), templates in load_templates("world").items():
        for template in templates.questions:
            yield Intent(STEP, relation, "inverse" if backwards else "forward"), template.fill(X)


def fit() -> tuple[Intents, dict[str, float]]:
    """Fit the regression.

    Returns:
        it, and of each operation the share of wordings that are told rightly by one fitted without them.
    """
    every = list(dict.fromkeys(wordings()))
    counted = Counter(intent for intent, _ in every)
    every = [(intent, text) for intent, text in every if counted[intent] >= _FEWEST]
    known = tuple(dict.fromkeys(intent for intent, _ in every))
    places = {intent: place for place, intent in enumerate(known)}
    x = sentence_embedder().encode([text for _, text in every])
    y = np.array([places[intent] for intent, _ in every])
    model = LogisticRegression(C=_INVERSE_STRENGTH, max_iter=300)
    told = cross_val_predict(model, x, y, cv=StratifiedKFold(_FOLDS, shuffle=True, random_state=0)) == y
    operations = np.array([intent.operation for intent, _ in every])
    figures = {name: float(told[operations == name].mean()) for name in dict.fromkeys(operations.tolist())}
    model.fit(x, y)
    return Intents(known, model.coef_.astype(np.float32), model.intercept_.astype(np.float32)), figures


def main() -> None:
    """Fit, write the weights where they are read, and say the figures."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    fitted, figures = fit()
    fitted.save()
    logger.info("%d plain questions; %s", len(fitted.known), ", ".join(f"{k} {v:.3f}" for k, v in figures.items()))


if __name__ == "__main__":
    main()
