"""What kind of thing a question asks for, where it says so: "which country …", "in what city …", "films with …".

The words around *what* and *which* name a type far more surely than a small path model weighs them: it may
well stop at the city in which somebody was born when the country was asked for. Ranking takes the type as
evidence of its own beside the model's probability (see ``ranking``); nothing is ever ruled out by it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection

# log-odds of an end of another type: 77 questions of the development set name a type, and none of them means
# another, which by the rule of succession makes it 1 in 79
WRONG_TYPE = -math.log(79)
_SYNONYMS = {
    "movie": "film",
    "show": "series",
    "town": "city",
    "nation": "country",
    "novel": "book",
    "state": "region",
    "singer": "person",
    "firm": "company",
    "college": "university",
    "tongue": "language",
    "god": "deity",
    "goddess": "deity",
    "peak": "mountain",
}
_BEFORE = frozenset(
    "a all an and are can could do few give hello hey hi i in is kind know like list me name of on please some sort "
    "tell that the there to two us was were would you".split()
)
_BEHIND = frozenset("at based by from in made of on that to where which who whose with".split())
_VERBS = frozenset(("did", "does", "do", "has", "had", "have"))
_ASKING = frozenset(("what", "which", "whats"))
_REACH = 3  # words after *what* or *which* in which the type is looked for: "which former american state …"


def asked_types(question: str, types: Collection[str]) -> frozenset[str]:
    """The types that a question's own words ask for.

    Args:
        question: as it was typed.
        types: those of the graph's entities.

    Returns:
        none where the question does not say, or names a type that the graph has not.
    """
    words = re.findall(r"[^\W_]+", question.lower())
    asking = next((place for place, word in enumerate(words) if word in _ASKING), None)
    if asking is not None:
        near = words[asking + 1 : asking + 1 + _REACH]
        verb = next(
            (i for i, word in enumerate(near) if word in _BEFORE or word in ("did", "does", "has", "had")), None
        )
        near = near[:verb]
    else:
        start = next((place for place, word in enumerate(words) if word not in _BEFORE), 0)
        near = words[start : start + 1] if not _BEHIND.isdisjoint(words[start + 1 : start + 2]) else []
    named = (frozenset(kind for kind in _kinds(word) if kind in types) for word in near)
    return next(filter(None, named), frozenset())


def type_log_odds(asked: frozenset[str], kind: str) -> float:
    """How the asked types speak for an end of this type; 0 where either is not known."""
    return WRONG_TYPE if asked and kind and kind not in asked else 0.0


def _kinds(word: str) -> tuple[str, ...]:
    """A word as types may be called: itself, its singulars, what they are synonyms of."""
    singulars = [word]
    if word.endswith("ies"):
        singulars.append(word[:-3] + "y")
    if word.endswith("s"):
        singulars += [word[:-1], word[:-2]] if word.endswith("es") else [word[:-1]]
    return tuple(_SYNONYMS.get(one, one) for one in singulars)
