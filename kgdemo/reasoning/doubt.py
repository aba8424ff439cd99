"""When no path answers the question: grounded is not the same as relevant (GCR appendix F.5).

The constraint always finds paths, for it may only take what the graph holds. Whether the model *wanted*
any of them shows in the full-vocabulary probability of their relations: where it wanted another relation,
that is small. The paper names two such failures: the path is unrelated, or the graph is incomplete.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kgdemo.events import AnswerFinal
from kgdemo.reasoning.base import Evidence


def is_doubtful(evidence: Sequence[Evidence], below: float | None) -> bool:
    """Whether the best path's relations are less probable than the model's threshold.

    Args:
        evidence: ranked paths.
        below: log-probability, see ``PromptStyle.doubt_below``; None never doubts.
    """
    return below is not None and bool(evidence) and max(e.relation_score for e in evidence) < below


def refusal(evidence: Sequence[Evidence], by: str) -> AnswerFinal:
    """The answer that says there is none, and which failure it is."""
    best = max(evidence, key=lambda e: e.relation_score)
    chance = math.exp(best.relation_score)
    reason = (
        "None of these paths answers the question. The graph is incomplete here, or the question is about something "
        f"it does not hold: the closest path is unrelated ([{best.index}], which the model gives {chance:.1%})."
    )
    return AnswerFinal(reason, (), (), by, refusal=reason)
