"""Values that a graph states of its entities: numbers with a unit, and dates.

A value is no entity. No path leads through it, so the constraint and the beam search never meet it. What is computed
from values (which is highest, how old) is the business of ``answering``.

Files: ``*.literals.tsv``, one value a line, ``entity<TAB>attribute<TAB>value<TAB>unit``. A value is a number with a
unit, or a date with an empty unit: ``1963-11-22``, ``1867``, or ``-0044-03-15`` for 44 BC.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kgdemo.errors import GraphFormatError

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
