"""What is to stand for a model's probability of relations that it was never trained on, fitted by maximum likelihood.

The model's training held some relations out, and questions about them tell how such relations are to be judged:
the weights of ``PromptStyle.backoff`` are fitted like those of the pool (``pooling``), which stay as they are.
How well that carries over to yet other relations is measured by cross-validation over relations: those of a fold are
judged by weights that no question about them has had a part in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kgdemo.evaluation.pooling import FOLDS, Candidates, Searched, first_right, fit
from kgdemo.evaluation.unseen import HELD_OUT, SEEN, UNCLEAR, group
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.models.relations import spoken_relation
from kgdemo.reasoning.prior import BACKOFF, EXPERTS
from kgdemo.training.examples import relation_paths

PLAIN: Mapping[str, float] = dict.fromkeys(BACKOFF, 0.0) | {"likelihood": 1.0}  # the model's own probability


@dataclass(frozen=True, slots=True)
class Told:
    """A question about relations that the model was trained on, or about others.

    Attributes:
        candidates: its groups; what is to be fitted are the weights of ``BACKOFF``.
        held_out: spoken names of the relations held out that answer it; empty where it was trained on all of them.
    """

    candidates: Candidates
    held_out: frozenset[str]


def told(
    kg: KnowledgeGraph, found: Iterable[Searched], held_out: Collection[str], pool: Mapping[str, float]
) -> Iterator[Told]:
    """Questions of whose relations it is clear whether the model was trained on them.

    Args:
        kg: the graph they are about.
        found: searched with the weights ``PLAIN``, so that each group has the model's own probability.
        held_out: relations held out of its training.
        pool: weights of the experts.
    """
    row = np.array([pool[name] for name in EXPERTS])
    for one in found:
        kind = group(kg, one.question, held_out)
        if kind == UNCLEAR:
            continue
        used = {step % len(kg.relations) for path in relation_paths(kg, one.question) for step in path.steps}
        names = {spoken_relation(r) for s in used if (r := kg.relations[s]) in held_out}
        opinions = one.candidates.opinions
        said = {**dict(zip(EXPERTS, opinions.T, strict=True)), "constant": np.ones(len(opinions)), "hops": one.hops}
        signs = np.column_stack([said[name] for name in BACKOFF])
        share = row[0] * one.unseen  # of the likelihood, in whose place they stand
        given = opinions @ row - share * opinions[:, 0]
        yield Told(Candidates(share[:, None] * signs, one.candidates.right, given), frozenset(names))


def fit_backoff(found: Sequence[Told]) -> dict[str, float]:
    """Maximum-likelihood weights of what stands for the probability of a relation that the model does not know."""
    weights = fit([one.candidates for one in found])
    return {name: round(float(weight), 2) for name, weight in zip(BACKOFF, weights, strict=True)}


def hits_over_relations(found: Sequence[Told]) -> dict[str, float]:
    """Hits@1 of both kinds of questions, cross-validated over relations.

    Returns:
        ``seen_questions, seen_hits@1, held_out_questions, held_out_hits@1``: each relation's questions are judged by
        weights fitted without them, and without any other question that one of their relations answers.
    """
    names = sorted({name for one in found for name in one.held_out})
    fold = {name: place % FOLDS for place, name in enumerate(names)}
    rights: dict[str, list[float]] = {SEEN: [], HELD_OUT: []}
    folds = [fold[min(one.held_out)] if one.held_out else place % FOLDS for place, one in enumerate(found)]
    for number in range(FOLDS):
        part = [one for one, own in zip(found, folds, strict=True) if own == number]
        touched = frozenset().union(*(one.held_out for one in part))
        rest = [one for one, own in zip(found, folds, strict=True) if own != number and not touched & one.held_out]
        weights = fit([one.candidates for one in rest])
        for one in part:
            rights[HELD_OUT if one.held_out else SEEN].append(first_right(one.candidates, weights))
    figures: dict[str, float] = {}
    for name, own in rights.items():
        figures |= {f"{name}_questions": len(own), f"{name}_hits@1": float(np.mean(own)) if own else 0.0}
    return figures
