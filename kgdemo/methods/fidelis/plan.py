"""FiDeLiS's plan (section 3.2, appendix C.1): keywords, steps, and the question as a declarative statement."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kgdemo.kg.path import Path

PLACEHOLDER = "*placeholder*"
# appendix C.1, in our own words and on one line, which is what a reasoner's plan is
TASK = (
    "Prepare a walk through a knowledge graph that leads to the answer. Write three parts separated by ' | ': all "
    "keywords and relation names that may help, separated by commas | the steps of the walk, separated by ';' | the "
    f"question as a statement with {PLACEHOLDER} in the answer's place, as in: The Seine flows through {PLACEHOLDER}."
)
_ASKING = re.compile(
    r"^(?:tell me|name|list|by|in|on|at|from|of|to|for|with)?\s*"
    r"(?:who|whom|whose|what|which|where|when|how many|how much|how)(?:'s|'re)?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What was made of the question before the search (appendix C.1)."""

    keywords: str
    steps: str
    statement: str

    def filled(self, path: Path) -> str:
        """The declarative statement with the path's end in the answer's place (appendix C.6)."""
        return self.statement.replace(PLACEHOLDER, path.end)


def read_plan(text: str, question: str, topics: Sequence[str]) -> Plan:
    """The three parts of a plan.

    A reasoner that gives keywords only gets the statement by rule, and of its keywords those that name the
    topics are left out: they are where the walk begins, not what to look for.
    """
    parts = [part.strip() for part in text.split("|")]
    if len(parts) == 3 and all(parts) and PLACEHOLDER in parts[2]:
        return Plan(*parts)
    named = set(re.findall(r"\w+", " ".join(topics).casefold()))
    words = [word.strip() for word in parts[0].split(",")]
    telling = [word for word in words if not set(re.findall(r"\w+", word.casefold())) & named]
    return Plan(", ".join(telling) or parts[0] or question, "", statement_of(question))


def statement_of(question: str) -> str:
    """A question as a statement: its question word becomes the placeholder."""
    text = question.strip().rstrip("?").strip()
    statement, count = _ASKING.subn(PLACEHOLDER, text, count=1)
    return statement if count else f"{text}: {PLACEHOLDER}"
