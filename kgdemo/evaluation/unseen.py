"""Questions about relations that a model has never seen, beside questions about those it was trained on."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path

from kgdemo.errors import UserError
from kgdemo.evaluation.metrics import Prediction, summarise
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.questions import Question
from kgdemo.training.examples import relation_paths

SEEN, HELD_OUT, UNCLEAR = "seen", "held_out", "unclear"


def read_held_out(file: Path) -> frozenset[str]:
    """The relations listed in the ``held_out.json`` of a training run, of all its graphs.

    Raises:
        UserError: there is no such file, or it is of another kind.
    """
    try:
        record = json.loads(file.read_text("utf-8"))
        return frozenset(str(relation) for relations in record.values() for relation in relations)
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise UserError(f"{file} cannot be read ({error}); give the held_out.json of a training run.") from error


def group(kg: KnowledgeGraph, question: Question, held_out: Collection[str]) -> str:
    """``held_out`` where every relation path that answers the question uses such a relation, ``seen`` where none does.

    *unclear* is the rest: where one path does and another does not, or none is within two hops.
    """
    uses = [
        any(kg.relations[step % len(kg.relations)] in held_out for step in path.steps)
        for path in relation_paths(kg, question)
    ]
    if not uses or any(uses) != all(uses):
        return UNCLEAR
    return HELD_OUT if uses[0] else SEEN


def summarise_groups(
    kg: KnowledgeGraph, questions: Sequence[Question], predictions: Sequence[Prediction], held_out: Collection[str]
) -> dict[str, float]:
    """``seen_questions, seen_hits@1, seen_hit@k``, the same for ``held_out``, and ``unclear_questions``."""
    sorted_in: dict[str, list[Prediction]] = {SEEN: [], HELD_OUT: [], UNCLEAR: []}
    for question, prediction in zip(questions, predictions, strict=True):
        sorted_in[group(kg, question, held_out)].append(prediction)
    metrics: dict[str, float] = {f"{UNCLEAR}_questions": len(sorted_in[UNCLEAR])}
    for name in (SEEN, HELD_OUT):
        own = summarise(sorted_in[name], compared=False)
        metrics |= {f"{name}_{figure}": own[figure] for figure in ("questions", "hits@1", "hit@k")}
    return metrics
