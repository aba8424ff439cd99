"""All names of a graph's entities, found by the whole name or by any of its words.

The names of an entity are its label, the label without a trailing bracket, its aliases, and what follows from these:
without the article, before a comma, around a colon, initials, and the other names and demonyms of a small hand-written
list (``United States``: ``USA``, ``American``).
"""

from __future__ import annotations

import math
import unicodedata
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kgdemo.kg import labels
from kgdemo.kg.cache import ArrayCache, Arrays, PerGraph, key_of
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.linking.words import all_ordinary, demonyms, name_text, name_words, other_names, without_article
from kgdemo.models.courtesy import COURTESY

LINKING_WORDS = frozenset("the a an of and for in on at to de la von van jr sr".split())

_MARKS = (", ", ": ", " – ", " - ")
_COMPANY = frozenset("corporation corp company co inc ltd plc llc com communications".split())
_CLUB = ("fc", "cf", "afc")  # people say Liverpool for the club as often as for the city
_ARTICLES = ("the ", "a ", "an ")
_MIN_ISM = 5  # letters: Cubism has cubists, a prism has nobody
_ORDINALS = (  # Elizabeth I is also the first of her name
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth"
).split()
_NUMERALS = "I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI".split()
_BEARERS = 3  # how many entities called Georgia are given what is said of Georgia


class NameKind(Enum):
    """How a name belongs to its entity; SHORT lacks an article or FC, CUT a symbol or what follows a comma or colon."""

    LABEL = "label"
    ALIAS = "alias"
    SHORT = "short"
    CUT = "cut"
    INITIALS = "initials"
    DEMONYM = "demonym"


@dataclass(frozen=True, slots=True)
class Name:
    """One name of one entity, as folded words."""

    entity: int
    words: tuple[str, ...]
    kind: NameKind


def without_bracket(label: str) -> str:
    """A label without the bracket at its end that tells it from its namesakes: ``Fargo (film)`` -> ``Fargo``."""
    if not label.endswith(")"):
        return label
    depth = 0
    for place in range(len(label) - 1, 0, -1):
        depth += {")": 1, "(": -1}.get(label[place], 0)
        if depth == 0:
            return label[:place].rstrip() or label
    return label


def bracket_of(label: str) -> str:
    """What that bracket says; empty when there is none."""
    return label[len(without_bracket(label)) :].strip(" ()")


def shorter_forms(name: str) -> Iterator[str]:
    """What people also call a thing of this name: before the comma, around the colon, without Corporation."""
    for mark in _MARKS:
        head, found, tail = name.partition(mark)
        if found:
            yield head
            if mark == ": ":
                yield tail
    *before, last = name.replace(".com", " com").rsplit(None, 1) or [""]
    if before and last.strip(".,").lower() in _COMPANY:
        yield " ".join(before[0].split())


def numbered_forms(name: str) -> Iterator[str]:
    """How a Roman number at the end of a name is said: ``Henry VIII`` -> ``Henry the eighth``, ``Henry the 8th``."""
    before, _, last = name.rpartition(" ")
    if before and last in _NUMERALS:
        number = _NUMERALS.index(last) + 1
        yield f"{before} the {_ORDINALS[number - 1]}"
        yield f"{before} the {number}{({1: 'st', 2: 'nd', 3: 'rd'}).get(number, 'th')}"


def initials_of(name: str) -> str:
    """The initials of a name of three capitalised words or more; two letters would mean too many things."""
    if name.count(" ") + name.count("-") < 2:  # nearly all names, and a large graph has many
        return ""
    parts = [word for word in name.replace("-", " ").split() if word.lower() not in LINKING_WORDS]
    letters = [part[0] for part in parts if part[0].isupper()]
    return "".join(letters).lower() if 3 <= len(letters) == len(parts) <= 6 else ""


def _has_currency_sign(name: str) -> bool:
    if name.isascii():
        return "$" in name
    return any(unicodedata.category(letter) == "Sc" for letter in name)


class NameIndex:
    """Names of one graph; ``name_index`` gives the one that all share.

    Args:
        kg: the graph; labels and aliases are read once. It is not kept, so that the index of a graph that is gone
            can go as well.
        cache: where the names of a large graph are kept; None for a graph that only one visitor has.

    Attributes:
        texts: the words of each name by its number, a space between them.
        longest: how many words the longest name has, up to 12.
        bands: see ``matching.FuzzyNames``.
    """

    def __init__(self, kg: KnowledgeGraph, cache: ArrayCache | None = None) -> None:
        if cache is None or len(kg.entities) < cache.min_labels:
            found = _Naming(kg).arrays()
        else:
            found = cache.get(_made_from(kg), lambda: _Naming(kg).arrays())
        self.texts, self.bands = _lines_in(found["texts"]), found["bands"]
        self._entities, self._kinds = found["entities"], found["kinds"]
        self._whole = _Postings(found, "whole")  # words run together -> names
        self._within = _Postings(found, "within")  # word -> longer names that hold it
        self._labels = dict(zip(_lines_in(found["label_words"]), found["label_counts"].tolist(), strict=True))
        self._size = len(kg.entities) + 2
        self.longest = int(found["longest"])

    def name(self, number: int) -> Name:
        """A name by its number."""
        words = tuple(self.texts[number].split(" "))
        return Name(self._entities.item(number), words, _KINDS[self._kinds.item(number)])

    def whole(self, words: str) -> list[Name]:
        """The names whose words, run together, are ``words``; ``spiderman`` is ``Spider-Man``.

        Initials are a guess at what people may say. Where something is called so, they name nothing else: the USA is no
        Union of South Africa.
        """
        names = [self.name(number) for number in self._whole.of(words)]
        called_so = [name for name in names if name.kind is not NameKind.INITIALS]
        return called_so if any(name.kind in (NameKind.LABEL, NameKind.ALIAS) for name in names) else names

    def whole_ids(self, words: str) -> list[int]:
        """The numbers of the names whose words, run together, are ``words``."""
        return self._whole.of(words)

    def called(self, text: str) -> list[Name]:
        """The names that a text is as a whole, however it is spaced and hyphenated."""
        return self.whole("".join(name_words(text)))

    def holding(self, word: str, limit: int) -> list[int]:
        """Numbers of names of two words or more that hold ``word``, best-connected entities first."""
        return self._within.of(word, limit)

    def rarity(self, word: str) -> float:
        """How telling a word is among this graph's labels: 0 in every one, 1 in none."""
        return math.log(self._size / (self._labels.get(word, 0) + 1)) / math.log(self._size)

    @property
    def vocabulary(self) -> Iterable[str]:
        """The words of all names of two words or more."""
        return self._within.places.keys()

    def knows(self, word: str) -> bool:
        """Whether any name holds this word."""
        return word in self._within.places or word in self._whole.places


_KINDS = tuple(NameKind)
_NUMBER_OF_KIND = {kind: number for number, kind in enumerate(_KINDS)}
LONG = 1 << 10  # letters of a name that nobody mistypes
_MEANING = "meaning"  # of what a word means, *of the country*, which is the name of nothing
NUMBERS = 32  # bits of a name's number


class _Postings:
    """The numbers of the names that a word leads to, by word; lists of their own would take ten times the memory.

    Args:
        found: arrays, those of ``_posted`` among them.
        what: how these are called.
    """

    def __init__(self, found: Arrays, what: str) -> None:
        words = _lines_in(found[f"{what}_words"])
        self.places = dict(zip(words, range(len(words)), strict=True))
        self._ends, self._numbers = found[f"{what}_ends"], found[f"{what}_numbers"]

    def of(self, word: str, limit: int | None = None) -> list[int]:
        """The first numbers of a word, by default all; none where no name has it."""
        place = self.places.get(word)
        if place is None:
            return []
        first = self._ends.item(place - 1) if place else 0
        numbers: list[int] = self._numbers[first : self._ends.item(place)][:limit].tolist()
        return numbers


def _posted(what: str, numbers: Mapping[str, Sequence[int]]) -> dict[str, NDArray[np.generic]]:
    """Lists of numbers by word as arrays."""
    return {
        f"{what}_words": _as_lines(numbers),
        f"{what}_ends": np.cumsum([len(own) for own in numbers.values()], dtype=np.int32),
        f"{what}_numbers": np.fromiter(chain.from_iterable(numbers.values()), np.int32),
    }


def _as_lines(texts: Iterable[str]) -> NDArray[np.uint8]:
    """Folded words, which no line ends in the midst of, as an array."""
    return np.frombuffer("\n".join(texts).encode(), np.uint8)


def _lines_in(encoded: NDArray[np.generic]) -> list[str]:
    return encoded.tobytes().decode().split("\n") if len(encoded) else []


class _Naming:
    """Finds the names of a graph's entities, those of the best-connected first."""

    def __init__(self, kg: KnowledgeGraph) -> None:
        self._texts: list[str] = []
        self._entities, self._kinds = array("i"), bytearray()
        self._whole: defaultdict[str, list[int]] = defaultdict(list)
        self._within: defaultdict[str, list[int]] = defaultdict(list)
        self._in_labels: list[str] = []  # the words of each label, each once
        labels = list(kg.entities)
        for entity in np.argsort(-kg.known_degrees(), kind="stable").tolist():
            label = labels[entity]
            known = kg.info.get(label)
            if known is None or known.type != _MEANING:
                self._add_entity(entity, label, known)
            COURTESY.pause()
        self._add_synonyms()

    def arrays(self) -> Arrays:
        """What ``NameIndex`` is made of, as it is kept."""
        counts = Counter(self._in_labels)
        return {
            "texts": _as_lines(self._texts),
            "entities": np.array(self._entities, np.int32),
            "kinds": np.frombuffer(self._kinds, np.uint8),
            "bands": _bands(self._texts, np.frombuffer(self._kinds, np.uint8)),
            "longest": np.array(min(12, max((text.count(" ") + 1 for text in self._texts), default=0))),
            "label_words": _as_lines(counts),
            "label_counts": np.fromiter(counts.values(), np.int32),
            **_posted("whole", self._whole),
            **_posted("within", self._within),
        }

    def _add_entity(self, entity: int, label: str, info: EntityInfo | None) -> None:
        """Add all names of one entity."""
        plain = without_bracket(label)
        text = name_text(plain)
        self._in_labels += set(text.split())
        seen: dict[str, None] = {}
        # UK £ is not quite called UK
        kind = NameKind.CUT if _has_currency_sign(plain) else NameKind.LABEL
        self._add(entity, text, kind, seen)
        if plain != label or kind is NameKind.CUT:
            self._add(entity, name_text(label), NameKind.LABEL, seen, in_parts=False)
        for alias in info.aliases if info else ():
            short = without_bracket(alias)
            self._add(entity, name_text(short), NameKind.ALIAS, seen)
            if short != alias:
                self._add(entity, name_text(alias), NameKind.ALIAS, seen, in_parts=False)
        for known in list(seen):
            if known.startswith(_ARTICLES):
                self._add(entity, known.partition(" ")[2], NameKind.SHORT, seen)
            before, _, last = known.rpartition(" ")
            if last in _CLUB:
                self._add(entity, before, NameKind.SHORT, seen)
            if last.endswith("ism") and len(last) > _MIN_ISM:
                for people in ("t", "ts"):
                    self._add(entity, known[:-1] + people, NameKind.SHORT, seen)
        for spoken in numbered_forms(plain):
            self._add(entity, name_text(spoken), NameKind.SHORT, seen)
        for form in shorter_forms(plain):
            words = name_words(form)
            self._add(entity, " ".join(words), NameKind.CUT, seen)
            self._add(entity, " ".join(without_article(words)), NameKind.CUT, seen)
        self._add(entity, initials_of(plain), NameKind.INITIALS, seen)

    def _add(self, entity: int, text: str, kind: NameKind, seen: dict[str, None], in_parts: bool = True) -> None:
        if not text or text in seen:
            return
        is_given = kind is NameKind.LABEL or kind is NameKind.ALIAS
        if not is_given and kind is not NameKind.DEMONYM and (len(text) < 2 or all_ordinary(text.split(" "))):
            return
        seen[text] = None
        number = len(self._texts)
        if " " not in text:
            self._whole[text].append(number)
        else:
            self._whole[text.replace(" ", "")].append(number)
            if in_parts and is_given:
                for word in dict.fromkeys(text.split(" ")):
                    if word not in LINKING_WORDS:
                        self._within[word].append(number)
        self._texts.append(text)
        self._entities.append(entity)
        self._kinds.append(_NUMBER_OF_KIND[kind])

    def _add_synonyms(self) -> None:
        """Give entities that bear one name of a group the group's others, places their demonyms."""
        given: set[str] = set()  # what two groups claim goes to the first: Britain to Great Britain
        groups: list[list[str]] = []
        for group in other_names():
            groups.append([name_text(name) for name in group])
            if self._spread(groups[-1], [text for text in groups[-1] if text not in given], NameKind.ALIAS):
                given.update(groups[-1])
        called = {text: group for group in groups for text in group}
        for places, words in demonyms():
            names = [text for place in places for text in called.get(name_text(place), [name_text(place)])]
            self._spread(names, [name_text(word) for word in words], NameKind.DEMONYM)

    def _spread(self, known: list[str], given: list[str], kind: NameKind) -> bool:
        """Give the best-connected bearers of a known name the others; whether there are any."""
        label, initials = _NUMBER_OF_KIND[NameKind.LABEL], _NUMBER_OF_KIND[NameKind.INITIALS]
        found: list[int] = []
        for text in known:  # the first name in use decides: City of Angels is also a film
            found = found or [self._entities[i] for i in self._called(text) if self._kinds[i] == label]
        for entity in list(dict.fromkeys(found))[:_BEARERS]:
            seen = {
                self._texts[i]: None
                for text in given
                for i in self._called(text)
                if self._entities[i] == entity and self._kinds[i] != initials
            }
            for text in given:
                self._add(entity, text, kind, seen)
        return bool(found)

    def _called(self, text: str) -> list[int]:
        """The numbers of the names that are a text, however it is spaced."""
        return self._whole.get(text.replace(" ", ""), [])


def _made_from(kg: KnowledgeGraph) -> str:
    """What the names of a graph follow from: what it says of its entities, this code, lists of words, and Unicode."""
    here = Path(__file__).parent
    files = [Path(__file__), here / "words.py", Path(labels.__file__), *sorted((here / "data").glob("*.t*"))]
    called = "\n".join("\t".join((label, *info.aliases)) for label, info in kg.info.items())
    return key_of(
        "names",
        unicodedata.unidata_version,
        *(file.read_bytes() for file in files),
        kg.entities.blob,
        kg.entities.offsets,
        kg.known_degrees(),
        called.encode("utf-8", "surrogatepass"),
    )


def _bands(texts: Sequence[str], kinds: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Letter, length and number of each name that a typo may be meant for, in one integer; sorted.

    Args:
        texts: of all names, by number.
        kinds: of all names.
    """
    letters = np.frombuffer("".join(f"{text} " for text in texts).encode("utf-32-le"), np.uint32).astype(np.int64)
    sizes = np.fromiter(map(len, texts), np.int64)
    ends = np.cumsum(sizes + 1)
    begins = ends - sizes - 1
    spaces = np.concatenate([[-1], np.flatnonzero(letters == ord(" "))])
    last = spaces[np.searchsorted(spaces, ends - 1) - 1] + 1  # where the last word of each begins
    meant = ~np.isin(kinds, [_NUMBER_OF_KIND[NameKind.INITIALS], _NUMBER_OF_KIND[NameKind.DEMONYM]]) & (sizes < LONG)
    places = [((letters[word] * LONG + sizes) << NUMBERS) + np.arange(len(sizes)) for word in (begins, last)]
    return np.sort(np.concatenate([places[0][meant], places[1][meant & (letters[begins] != letters[last])]]))


_INDEXES = PerGraph(NameIndex)


def name_index(kg: KnowledgeGraph, cache: ArrayCache | None = None) -> NameIndex:
    """The names of a graph, indexed once and kept as long as the graph.

    Args:
        kg: the graph.
        cache: see ``NameIndex``; for who asks first.
    """
    return _INDEXES.of(kg, lambda graph: NameIndex(graph, cache))


def entities_called(kg: KnowledgeGraph, texts: Collection[str]) -> dict[str, list[int]]:
    """The entities that some texts name as a whole.

    Args:
        kg: the graph; one that grows is asked once, for labels that are spelt so.
        texts: as a question has them.

    Returns:
        text -> entity ids.
    """
    if not kg.grows:
        return {text: [name.entity for name in name_index(kg).called(text)] for text in texts}
    spelt = {text: (*spellings(text), *other_names_of(text)) for text in texts}
    known = set(kg.entities.known(dict.fromkeys(label for labels in spelt.values() for label in labels)))
    ids = {label: place for label in known if (place := kg.entities.find(label)) is not None}
    return {text: [ids[label] for label in labels if label in ids] for text, labels in spelt.items()}


def spellings(written: str) -> tuple[str, ...]:
    """A name as it is written, without a possessive s, and as names are capitalised."""
    texts = [written, written[:-2] if written.endswith(("'s", "’s")) else written]
    made = (
        one
        for text in texts
        for one in (text, text.title(), _as_title(text), text[:1].upper() + text[1:], text.lower())
    )
    return tuple(dict.fromkeys(made))


def _as_title(text: str) -> str:
    """A name with capitals but for the little words within it: *Leonardo da Vinci*, *War of the Roses*."""
    first, *others = text.title().split(" ")
    return " ".join([first, *(word.lower() if word.lower() in _SMALL_WORDS else word for word in others)])


_SMALL_WORDS = LINKING_WORDS | frozenset("da di del der den".split())


def other_names_of(written: str) -> tuple[str, ...]:
    """What else is called so by the hand-written list: by *usa* United States of America, by *Dutch* Netherlands."""
    return _other_names().get(name_words(written), ())


@cache
def _other_names() -> dict[tuple[str, ...], tuple[str, ...]]:
    """Names as words -> the names of the same thing, or of the place that they are a word for."""
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for group in other_names():
        for name in group:
            found.setdefault(name_words(name), group)
    for places, words in demonyms():
        meant = tuple(name for place in places for name in found.get(name_words(place), (place,)))
        for word in words:
            found.setdefault(name_words(word), meant)
    return found
