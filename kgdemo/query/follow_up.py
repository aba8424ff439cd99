"""A question that goes on from the one before, in its two kinds.

*And where did she die?* holds a pronoun, which stands for what was asked or answered last: which thing that is, is told
by the kinds of things, as *she* is a person and *it* is none. *What about Germany?* and *And of Berlin?* name another
thing only, and ask of it what was asked last.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.query.answer_type import kind_of

_OF_PEOPLE = frozenset("he him his she her hers".split())
_OF_THINGS = frozenset("it its".split())
_OF_EITHER = frozenset("they them their theirs".split())
_PERSON = "person"

_WORD = re.compile(r"[^\W\d_]+")
_NAMES_ANOTHER = re.compile(
    r"(?:(?:and |but |or |so )?(?:what|how) about|and|but|or|so)[ ,]+"
    r"(?:(?:of|in|on|for|from|by|with|at|to) )?(?P<name>\S.*?)(?:['’]s?)?[ ?.!]*",
    re.IGNORECASE,
)
# what asks something itself, and so names no other thing alone
_ASKS = frozenset("who whom whose what which when where why how is are was were do does did has have had can".split())


def pronoun_of(question: str) -> str:
    """The first pronoun of a question that may stand for something named before; empty where there is none."""
    words = _WORD.findall(question.casefold())
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


def named_instead(question: str) -> str:
    """The other thing that a question names and asks nothing else of: *Germany* of *What about Germany?*

    Returns:
        what follows *what about*, or *and* with a preposition or without; empty for any other question.
    """
    found = _NAMES_ANOTHER.fullmatch(" ".join(question.split()))
    name = found["name"] if found else ""
    words = _WORD.findall(name.casefold())
    asks = not words or words[0] in _ASKS or pronoun_of(name)
    return "" if asks else name


def asked_of(name: str, last: str, topic: str) -> str:
    """The last question, asked of another thing.

    Args:
        name: the other thing, as it was typed.
        last: the question before.
        topic: how that question named what it was about.

    Returns:
        it with ``name`` for ``topic`` and the article before it; empty where it does not name its topic, or more than
        once.
    """
    found = list(re.finditer(rf"\b(?:(?:the|an|a)\s+)?{re.escape(topic)}(?!\w)", last, re.IGNORECASE)) if topic else []
    if len(found) != 1:
        return ""
    return last[: found[0].start()] + name + last[found[0].end() :]
