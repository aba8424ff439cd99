"""What chat models are told. All prompts stand here, in our own words, each with its source."""

from __future__ import annotations

from collections.abc import Sequence

from kgdemo.reasoning.base import Evidence

NO_ANSWER = "NO ANSWER"


def answer_from_paths(question: str, evidence: Sequence[Evidence], task: str = "") -> str:
    """Graph inductive reasoning (GCR section 4.4, Figure 11): all paths and hypotheses in one call."""
    lines = [
        f"[{e.index}] {e.path}" + (f"  (suggested answer: {e.hypothesis})" if e.hypothesis else "") for e in evidence
    ]
    return "\n".join(
        [
            task
            or "Answer the question from the numbered reasoning paths below. They were read from a knowledge graph.",
            "Some paths do not bear on the question: pass over those. Use no fact that no path states.",
            "Write every answer on a line of its own, spelled as in the path, followed by the numbers of the paths "
            "that support it in square brackets, for example: Vienna [2, 5]",
            f"If no path answers the question, write only: {NO_ANSWER}",
            "",
            "Paths:",
            *lines,
            "",
            f"Question: {question}",
            "Answers:",
        ]
    )
