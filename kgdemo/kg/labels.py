"""How a label reads as words.

Everything that reads a relation as text uses ``spoken``: sentence embeddings for retrieval, ranking and linking,
prompts, and the names by which a model's training is recorded. Everything that looks for the content words of a
question or a relation leaves out ``FUNCTION_WORDS``. Names are compared loosely by what ``fold`` makes of them.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

FUNCTION_WORDS = frozenset(
    "a an and are as at by did do does for from had has have how i in is it its many me much my name of on or please "
    "s tell that the their there these they this to was were what whats when where which who whom whose whos why will "
    "with you".split()
)


@lru_cache(maxsize=20_000)
def spoken(relation: str, parts: int = 4, separators: str = "/.") -> str:
    """A relation as words, without the mark of an inverse step; each word is said once.

    Args:
        relation: a plain label such as ``directed_by``, or a path of names such as Freebase's.
        parts: of a path of names, how many of the last ones are said. Four cover both relations of a collapsed
            mediator.
        separators: the marks between the names of such a path.

    >>> spoken("~directed_by")
    'directed by'
    >>> spoken("/film/film/directed_by")
    'film directed by'
    """
    names = [name.replace("_", " ") for name in re.split(f"[{re.escape(separators)}]", relation.lstrip("~"))]
    names = [name for name in names if name.strip()]
    return " ".join(dict.fromkeys(" ".join(names[-parts:]).split()))


def relation_name(relation: str) -> str:
    """The words by which a model's training knows a relation: its last name, in lower case.

    Dots separate nothing here. A model trained on ``/people/person/parents`` has not learnt to write
    ``people.person.parents``: where such relations counted as known, 4 of the 18 questions over WebQSP's subgraphs
    were answered, and 8 where they did not.

    >>> relation_name("/film/film/release_date_s./film/film_regional_release_date/film_release_region")
    'film release region'
    """
    return spoken(relation, parts=1, separators="/").casefold()


def fold(label: str) -> str:
    """A label without case, accents, punctuation and signs: how answers are scored and names in questions looked up.

    Looser than ``verify.spelling_key``: there a wrong match would let a false claim pass, here a missed one costs more.
    ``C++`` and ``C#`` both fold to ``c``.
    """
    plain = unicodedata.normalize("NFKD", label.casefold())
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    tilde = "~" if plain.lstrip().startswith("~") else ""  # it turns a relation round, so it is no punctuation
    return tilde + " ".join(re.sub(r"[^\w]|_", " ", plain).split())


def bare(label: str) -> str:
    """A label without what tells it from a namesake: *Dune* of *Dune (novel)*."""
    return _TOLD_APART.sub("", label)


_TOLD_APART = re.compile(r" \([^)]*\)$")


def with_article(noun: str) -> str:
    """A noun with *a* or *an*; a plural as it stands."""
    if noun.endswith("s") and not noun.endswith("ss"):
        return noun
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
