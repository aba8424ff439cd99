"""How labels and values read as words.

Everything that reads a relation as text uses ``spoken``: sentence embeddings for retrieval, ranking and linking,
prompts, and the names by which a model's training is recorded. Everything that looks for the content words of a
question or a relation leaves out ``FUNCTION_WORDS``. Names are compared loosely by what ``fold`` makes of them.

A value (``Literal``) is what a graph states of an entity in a number with a unit, or a date. It is no entity: no path
leads through it, so the constraint and the beam search never meet it. What is computed from values (which is highest,
how old) is the business of ``answering``.

Files of values: ``*.literals.tsv``, one value a line, ``entity<TAB>attribute<TAB>value<TAB>unit``. A value is a number
with a unit, or a date with an empty unit: ``1963-11-22``, ``1867``, or ``-0044-03-15`` for 44 BC.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kgdemo.errors import GraphFormatError

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


# values -------------------------------------------------------------------------------------------

_DATE = re.compile(r"(-?\d{1,4})(?:-(\d\d)(?:-(\d\d))?)?")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_MAX_DIGITS = 40
_MONTHS = (
    "January February March April May June July August September October November December".split()  # as read aloud
)


@dataclass(frozen=True, slots=True)
class Literal:
    """One value as the source writes it.

    Attributes:
        value: a number, or a date in ISO's order of year, month and day.
        unit: of a number; empty for a date.
    """

    value: str
    unit: str = ""

    @property
    def is_date(self) -> bool:
        """Whether it is a date."""
        return not self.unit

    @property
    def order(self) -> float:
        """By which values of one attribute are ordered: the number, or the date in years."""
        if not self.is_date:
            return float(self.value)
        year, month, day = date_parts(self.value)
        return year + ((month or 1) - 1) / 12 + ((day or 1) - 1) / 372

    def __str__(self) -> str:
        """The value as people write it: ``8,849 m``, ``22 November 1963``, ``44 BC``."""
        if self.is_date:
            year, month, day = date_parts(self.value)
            shown = f"{-year} BC" if year < 0 else str(year)
            return " ".join(filter(None, [str(day or ""), _MONTHS[month - 1] if month else "", shown]))
        whole, _, part = self.value.partition(".")
        sign = "-" if whole.startswith("-") else ""  # of -0.18, too
        return f"{sign}{abs(int(whole)):,}{'.' + part if part else ''} {self.unit}".strip()


Literals = Mapping[str, Mapping[str, Literal]]  # entity -> attribute -> value


def date_parts(value: str) -> tuple[int, int | None, int | None]:
    """Year (negative before Christ), month and day of a date; the last two where they are given.

    Raises:
        ValueError: it is no date.
    """
    found = _DATE.fullmatch(value)
    if not found or (found[2] and not 1 <= int(found[2]) <= 12) or (found[3] and not 1 <= int(found[3]) <= 31):
        raise ValueError(f"{value!r} is no date")
    return int(found[1]), int(found[2]) if found[2] else None, int(found[3]) if found[3] else None


def read_literals(files: Iterable[Path]) -> dict[str, dict[str, Literal]]:
    """The values in some files; of an attribute that is given twice the first value stays.

    Raises:
        GraphFormatError: a line, which is named, is no value.
    """
    found: defaultdict[str, dict[str, Literal]] = defaultdict(dict)
    for file in files:
        for number, line in enumerate(file.read_text("utf-8-sig").splitlines(), 1):
            if not line.strip():
                continue
            cells = [cell.strip() for cell in line.split("\t")]
            if not 3 <= len(cells) <= 4 or not all(cells[:3]):
                raise GraphFormatError(f"{file.name}, line {number}: write entity<TAB>attribute<TAB>value<TAB>unit.")
            entity, attribute, value, *unit = cells
            found[entity].setdefault(attribute, _literal(value, "".join(unit), f"{file.name}, line {number}"))
    return dict(found)


def _literal(value: str, unit: str, where: str) -> Literal:
    fits = (_NUMBER if unit else _DATE).fullmatch(value)
    if not fits or len(value) > _MAX_DIGITS:
        kind = "a number such as 8849 or 0.5" if unit else "a date such as 1963-11-22 or 1867, or a unit behind it"
        raise GraphFormatError(f"{where}: {value!r} is no value; write {kind}.")
    return Literal(value, unit)
