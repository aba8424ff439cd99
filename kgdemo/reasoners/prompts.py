"""What chat models are told. All prompts stand here, in our own words, each with its source."""

from __future__ import annotations

from collections.abc import Sequence

from kgdemo.reasoners.base import Evidence

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


def select(question: str, task: str, options: Sequence[str], limit: int) -> str:
    """Beam selection and pruning (FiDeLiS section 3.3; Grounding appendix E, Select evaluator)."""
    return "\n".join(
        [
            task or "Choose the options that help most to answer the question.",
            f"Choose at most {limit}. Reply with their numbers only, best first, separated by commas.",
            "",
            f"Question: {question}",
            "Options:",
            *_numbered(options),
            "",
            "Numbers:",
        ]
    )


def score(question: str, task: str, options: Sequence[str]) -> str:
    """Rating every option (Grounding appendix E, Score evaluator)."""
    return "\n".join(
        [
            task
            or "Rate how much each option helps to answer the question, from 0 (not at all) to 10 (it answers it).",
            "Reply with one line an option, in order, written as number: rating.",
            "",
            f"Question: {question}",
            "Options:",
            *_numbered(options),
            "",
            "Ratings:",
        ]
    )


def verify(question: str, statement: str, premises: Sequence[str]) -> str:
    """Deductive verification (FiDeLiS section 3.3)."""
    return "\n".join(
        [
            "Decide whether the statement follows from the facts alone.",
            "Reply with yes or no, nothing else.",
            "",
            f"Question it serves: {question}",
            "Facts:",
            *_numbered(premises),
            f"Statement: {statement}",
            "",
            "Does it follow?",
        ]
    )


def plan(question: str, task: str) -> str:
    """Planning and keyword extraction (FiDeLiS section 3.2 and 3.3)."""
    return "\n".join(
        [
            task or "List the keywords of the question that point to entities or relations, separated by commas.",
            "Reply in one line.",
            "",
            f"Question: {question}",
            "Reply:",
        ]
    )


def thought(question: str, task: str, context: Sequence[str]) -> str:
    """The next thought (Grounding section 4)."""
    return "\n".join(
        [
            task or "Say in one sentence what to find out next to answer the question.",
            f"Question: {question}",
            "So far:",
            *(context or ["nothing yet"]),
            "",
            "Reply:",
        ]
    )


def coherence(question: str, path: str, answer: str) -> str:
    """Rating a path from 1 to 5 (GCR appendix F.4, Figure 8)."""
    return "\n".join(
        [
            "You judge a reasoning path that is to lead from an entity of a question to its answer. Ask of every step "
            "whether it makes sense, whether it is needed, and whether it brings the path nearer to the answer; jumps, "
            "relations that say little and steps that only happen to connect count against it.",
            "5: every step holds and helps. 4: coherent but for a weak step. 3: roughly the right way, with unclear "
            "steps. 2: large leaps. 1: no way from the question to the answer.",
            "Reply with two lines: Score: a whole number from 1 to 5. Explanation: one sentence.",
            "",
            f"Question: {question}",
            f"Path: {path}",
            *([f"Answer given: {answer}"] if answer else []),
            "",
            "Score:",
        ]
    )


def choose(question: str, task: str, options: Sequence[str]) -> str:
    """A choice by a model that can write nothing but the options (the decoder sees to that)."""
    return "\n".join(
        [
            task or "Choose the option that helps most to answer the question.",
            "Reply with one of the options, word for word.",
            "",
            f"Question: {question}",
            "Options:",
            *(f"- {option}" for option in options),
            "",
            "Option:",
        ]
    )


def again(prompt: str, reply: str, complaint: str) -> str:
    """The one retry: the same task with what was wrong about the first reply."""
    said = reply.strip()[:500]
    return f"{prompt}\n\nYou replied: {said}\nThat cannot be read: {complaint}\nReply again, in the form asked for:"


def _numbered(options: Sequence[str]) -> list[str]:
    return [f"{number}. {option}" for number, option in enumerate(options, 1)]
