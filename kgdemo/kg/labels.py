"""What a graph is made of: labels and values, how they read as words, and the arrays that hold labels and edges.

Everything that reads a relation as text uses ``spoken``: sentence embeddings for retrieval, ranking and linking,
prompts, and the names by which a model's training is recorded. Everything that looks for the content words of a
question or a relation leaves out ``FUNCTION_WORDS``. Names are compared loosely by what ``fold`` makes of them.

A value (``Literal``) is what a graph states of an entity in a number with a unit, or a date. It is no entity: no path
leads through it, so the constraint and the beam search never meet it. What is computed from values (which is highest,
how old) is the business of ``answering``. Files of values are ``*.literals.tsv``, one value a line,
``entity<TAB>attribute<TAB>value<TAB>unit``. A value is a number with a unit, or a date with an empty unit:
``1963-11-22``, ``1867``, or ``-0044-03-15`` for 44 BC.

The arrays are flat, so they open memory-mapped: labels in a sorted table (``LabelTable``), edges in compressed sparse
rows (``Adjacency``). A label's id is its rank among the UTF-8 encoded labels, so a look-up is a binary search over one
block of bytes and a table of a million labels opens without decoding any of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

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


# arrays -------------------------------------------------------------------------------------------

_LAST = "\U0010ffff"  # behind all other letters
_READ = 50_000  # labels taken from the blob at once when all are gone through


@dataclass(frozen=True, slots=True)
class Adjacency:
    """Edges grouped by the entity they start from (compressed sparse rows).

    ``relations[offsets[e]:offsets[e + 1]]`` and the same slice of ``targets`` are the edges of ``e``.
    """

    offsets: NDArray[np.int64]  # (entities + 1,)
    relations: NDArray[np.int32]  # (edges,)
    targets: NDArray[np.int32]  # (edges,)

    @classmethod
    def build(
        cls,
        sources: NDArray[np.int32],
        relations: NDArray[np.int32],
        targets: NDArray[np.int32],
        entities: int,
    ) -> Adjacency:
        """Sort edges by source, relation, target and index them by source."""
        order = np.lexsort((targets, relations, sources))
        offsets = np.zeros(entities + 1, dtype=np.int64)
        np.cumsum(np.bincount(sources, minlength=entities), out=offsets[1:])
        return cls(offsets, relations[order], targets[order])

    def row(self, entity: int) -> slice:
        """The slice of the edge arrays that belongs to ``entity``."""
        return slice(int(self.offsets[entity]), int(self.offsets[entity + 1]))

    def ends(self, entity: int, relation: int) -> NDArray[np.int32]:
        """Where edges of a relation lead from an entity, in order."""
        row = self.row(entity)
        first, behind = np.searchsorted(self.relations[row], [relation, relation + 1])
        return self.targets[row][first:behind]

    def places(self, entities: NDArray[np.integer]) -> NDArray[np.int64]:
        """Where the edges of all these entities stand in the edge arrays, ``(edges of theirs,)``."""
        begins, counts = self.offsets[entities], self.offsets[entities + 1] - self.offsets[entities]
        # each row's begin, plus 0, 1, … within the row
        return np.repeat(begins - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())

    def follow(self, entities: NDArray[np.integer], relations: Collection[int]) -> NDArray[np.int32]:
        """Where edges of these relations lead from any of these entities, in the order of the edges."""
        if not relations:
            return np.empty(0, np.int32)
        places = self.places(entities)
        return self.targets[places[np.isin(self.relations[places], list(relations))]]


def encoded(label: str) -> bytes:
    """A label as the bytes that it is stored and ordered by."""
    return label.encode("utf-8", "surrogatepass")


class LabelTable(Sequence[str]):
    """An immutable sorted set of labels, ``id <-> label``.

    Args:
        blob: all labels, UTF-8 encoded and joined; uint8, shape ``(bytes,)``.
        offsets: where each label starts in ``blob``; int64, shape ``(labels + 1,)``.
    """

    def __init__(self, blob: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self.blob = blob
        self.offsets = offsets

    @classmethod
    def from_labels(cls, labels: Iterable[str]) -> LabelTable:
        """Build a table from labels in any order; duplicates collapse."""
        return cls.ranked(dict.fromkeys(labels))[0]

    @classmethod
    def ranked(cls, labels: Iterable[str]) -> tuple[LabelTable, NDArray[np.int32]]:
        """A table of labels that are all different, and the id of each, in the order given."""
        keys = [label.encode("utf-8", "surrogatepass") for label in labels]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        ids = np.empty(len(keys), dtype=np.int32)
        ids[order] = np.arange(len(keys), dtype=np.int32)
        in_order = [keys[place] for place in order]
        offsets = np.zeros(len(keys) + 1, dtype=np.int64)
        np.cumsum([len(item) for item in in_order], out=offsets[1:])
        return cls(np.frombuffer(b"".join(in_order), dtype=np.uint8), offsets), ids

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: SupportsIndex) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: SupportsIndex | slice) -> str | list[str]:
        """Return the label with id ``index``, or the labels of a slice of ids."""
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        return self._bytes(int(index)).decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _READ):
            bounds = self.offsets[first : first + _READ + 1].tolist()
            data = self.blob[bounds[0] : bounds[-1]].tobytes()
            for begin, end in pairwise(bounds):
                yield data[begin - bounds[0] : end - bounds[0]].decode("utf-8", "surrogatepass")

    def __contains__(self, label: object) -> bool:
        return isinstance(label, str) and self.find(label) is not None

    def find(self, label: str) -> int | None:
        """Return the id of ``label``, or None when the table has no such label."""
        key = encoded(label)
        place = self._first_from(key, 0, len(self))
        return place if place < len(self) and self._bytes(place) == key else None

    def _first_from(self, key: bytes, low: int, high: int) -> int:
        """The first of some places, ``low`` to ``high``, whose label is not before a key; ``high`` where all are."""
        text, offset = self.blob.data, self.offsets.item
        while low < high:
            middle = (low + high) // 2
            if text[offset(middle) : offset(middle + 1)].tobytes() < key:
                low = middle + 1
            else:
                high = middle
        return low

    def one_slip_from(self, text: str) -> list[int]:
        """The ids of labels that a text becomes by one letter more, less, other, or swapped with the next.

        What a label has in brackets at its end, to tell it from its namesakes, is not part of the name.
        Letters are tried only where a label goes on with them, so that a table of any size is searched by looking at a
        few thousand of its labels.
        """
        found: set[int] = set()
        low, high = 0, len(self)
        for place in range(len(text) + 1):
            head, rest = text[:place], text[place:]
            low = self._first_from(encoded(head), low, high)
            high = self._first_from(encoded(head + _LAST), low, high)
            if low == high:
                break
            made = {rest[1:], rest[1:2] + rest[:1] + rest[2:]} if rest else set()
            for letter in self._going_on(head, low, high):
                made |= {letter + rest, letter + rest[1:]} if rest else {letter}
            for ending in made - {rest}:
                for key in (encoded(head + ending), encoded(f"{head}{ending} (")):
                    first = self._first_from(key, low, high)
                    if (
                        first < high
                        and self._bytes(first).startswith(key)
                        and (key[-1:] == b"(" or self[first] == head + ending)
                    ):
                        found.add(first)
        return sorted(found)

    def _going_on(self, head: str, low: int, high: int) -> Iterator[str]:
        """The letters that stand behind a beginning in the labels of these places, all of which begin so."""
        while low < high:
            label = self[low]
            if label == head:
                low += 1
                continue
            letter = label[len(head)]
            yield letter
            low = self._first_from(encoded(head + letter + _LAST), low, high)

    def known(self, labels: Iterable[str]) -> list[str]:
        """Those of some labels that the table has, in their order; a store is asked for all of them at once."""
        return [label for label in labels if label in self]

    def ids_of(self, labels: Iterable[str]) -> list[int]:
        """The ids of those of some labels that the table has, in their order."""
        return [place for label in labels if (place := self.find(label)) is not None]

    def _bytes(self, index: int) -> bytes:
        if not 0 <= index < len(self):
            raise IndexError(f"label id {index} is not in 0..{len(self) - 1}")
        return self.blob[self.offsets.item(index) : self.offsets.item(index + 1)].tobytes()

    def at(self, ids: NDArray[np.integer]) -> list[str]:
        """The labels with these ids; much quicker than one by one."""
        text, begins, ends = self.blob.data, self.offsets[ids].tolist(), self.offsets[ids + 1].tolist()
        return [str(text[begin:end], "utf-8", "surrogatepass") for begin, end in zip(begins, ends, strict=True)]
