"""A question that goes on from the one before: *and where did she die?* is about what was asked or answered last.

Only a question that names nothing itself and holds a pronoun is read so. Which thing the pronoun stands for is told by
the kinds of things: *she* is a person, *it* is none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.query.answer_type import kind_of

_OF_PEOPLE = frozenset("he him his she her hers".split())
_OF_THINGS = frozenset("it its".split())
_OF_EITHER = frozenset("they them their theirs".split())
_MOST = 20  # things of the last run that are looked at
_PERSON = "person"


def about_of(written: str) -> list[str]:
    """What the page's last run was about, from what the browser sends with a question; anything may come."""
    try:
        told = json.loads(written or "{}").get("about", [])
    except (ValueError, AttributeError, RecursionError):
        return []
    return [name for name in told if isinstance(name, str)][:_MOST] if isinstance(told, list) else []


def pronoun_of(question: str) -> str:
    """The first pronoun of a question that may stand for something named before; empty where there is none."""
    words = re.findall(r"[^\W\d_]+", question.casefold())
    return next((word for word in words if word in _OF_PEOPLE | _OF_THINGS | _OF_EITHER), "")


def meant_by(pronoun: str, about: Sequence[str], kg: KnowledgeGraph) -> str:
    """The thing that a pronoun stands for.

    Args:
        pronoun: see ``pronoun_of``.
        about: what was answered and asked about last, the likeliest first.
        kg: tells what kind of thing each is; one of no known kind may be either.

    Returns:
        one of these, or nothing.
    """
    for name in about:
        kind = kind_of(kg, name) if name in kg.entities else None
        fits = pronoun in _OF_EITHER or not kind or (kind == _PERSON) == (pronoun in _OF_PEOPLE)
        if kind is not None and fits:
            return name
    return ""
