"""What replaces a model's probability of relations that it was not trained on, fitted by maximum likelihood.

The model's training held some relations out, and questions about them tell how such relations are to be judged:
the weights of ``PromptStyle.backoff`` are fitted like those of the ranking, which stay as they are. How many
questions of a set are about such relations was decided by whoever held them out, so that it says nothing of how often
they are asked for: of every set either kind counts the same.
How well that carries over to yet other relations is measured by cross-validation over relations: those of a fold are
judged by weights that no question about them has had a part in.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import relation_name
from kgdemo.lab.calibration.ranking import FOLDS, Candidates, Searched, first_right, fit
from kgdemo.lab.evaluation.runner import HELD_OUT, SEEN, UNCLEAR, group
from kgdemo.lab.training.examples import relation_paths
from kgdemo.ranking.scorer import BACKOFF, FEATURES

PLAIN: Mapping[str, float] = dict.fromkeys(BACKOFF, 0.0) | {"likelihood": 1.0}  # the model's own probability


@dataclass(frozen=True, slots=True)
class LabelledExample:
    """A question about relations that the model was trained on, or about others.

    Attributes:
        candidates: its groups; what is to be fitted are the weights of ``BACKOFF``.
        held_out: spoken names of the relations held out that answer it; empty where it was trained on all of them.
        source: name of the question set.
    """

    candidates: Candidates
    held_out: frozenset[str]
    source: str

    @property
    def kind(self) -> str:
        """``seen`` or ``held_out``."""
        return HELD_OUT if self.held_out else SEEN


def labelled_examples(
    kg: KnowledgeGraph, found: Iterable[Searched], held_out: Collection[str], ranking: Mapping[str, float], source: str
) -> Iterator[LabelledExample]:
    """Questions of whose relations it is clear whether the model was trained on them.

    Args:
        kg: the graph they are about.
        found: searched with the weights ``PLAIN``, so that each group has the model's own probability.
        held_out: relations held out of its training.
        ranking: weights of the features.
        source: name of the question set.
    """
    row = np.array([ranking[name] for name in FEATURES])
    for one in found:
        kind = group(kg, one.question, held_out)
        if kind == UNCLEAR:
            continue
        used = {kg.relation_of(step) for path in relation_paths(kg, one.question) for step in path.steps}
        names = {relation_name(r) for s in used if (r := kg.relations[s]) in held_out}
        features = one.candidates.features
        values = {**dict(zip(FEATURES, features.T, strict=True)), "constant": np.ones(len(features))}
        values |= {"hops": one.hops, "known_likelihood": one.known}
        backed_off = np.column_stack([values[name] for name in BACKOFF])
        share = row[0] * one.unseen  # of the likelihood, in whose place they stand
        given = features @ row - share * features[:, 0]
        yield LabelledExample(
            Candidates(share[:, None] * backed_off, one.candidates.right, given), frozenset(names), source
        )


def fit_backoff(found: Sequence[LabelledExample]) -> dict[str, float]:
    """Maximum-likelihood weights of what stands for the probability of a relation that the model does not know."""
    return {name: round(float(weight), 2) for name, weight in zip(BACKOFF, _balanced(found), strict=True)}


def _balanced(found: Sequence[LabelledExample]) -> NDArray[np.float64]:
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
        weights = _balanced(
            [one for one, own in zip(found, folds, strict=True) if own != number and not touched & one.held_out]
        )
        for one in part:
            rights[one.source, one.kind].append(first_right(one.candidates, weights))
    figures: dict[str, dict[str, float]] = defaultdict(dict)
    for (source, kind), own in sorted(rights.items()):
        figures[source] |= {f"{kind}_questions": len(own), f"{kind}_hits@1": float(np.mean(own))}
    return dict(figures)
