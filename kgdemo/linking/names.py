"""All names of a graph's entities, found by the whole name or by any of its words.

The names of an entity are its label, the label without a trailing bracket, its aliases, and what follows from these:
without the article, before a comma, around a colon, initials, and the other names and demonyms of a small hand-written
list (``United States``: ``USA``, ``American``).

Names nearly spelt like some words, by rapidfuzz over a band of names alike in length and beginning.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache

import numpy as np
from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.kg.per_graph import PerGraph
from kgdemo.linking.words import all_ordinary, demonyms, name_words, other_names, without_article
from kgdemo.models.courtesy import COURTESY

LINKING_WORDS = frozenset("the a an of and for in on at to de la von van jr sr".split())

_MARKS = (", ", ": ", " – ", " - ")
_COMPANY = frozenset("corporation corp company co inc ltd plc llc com communications".split())
_CLUB = ("fc", "cf", "afc")  # people say Liverpool for the club as often as for the city
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
    words = name.replace(".com", " com").split()
    if len(words) > 1 and words[-1].strip(".,").lower() in _COMPANY:
        yield " ".join(words[:-1])


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
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.names: list[Name] = []
        self._whole: dict[str, list[int]] = defaultdict(list)  # words run together -> name ids
        self._by_word: dict[str, list[int]] = defaultdict(list)  # word -> ids of longer names that hold it
        counts: Counter[str] = Counter()
        degrees = kg.known_degrees()
        # in the order of degree, so that every list of names has the best-connected entities first
        labels = list(kg.entities)
        for entity in np.argsort(-degrees, kind="stable").tolist():
            label = labels[entity]
            counts.update(set(self._add_entity(entity, label, kg.info.get(label))))
            COURTESY.pause()
        self._add_synonyms()
        self._scale = math.log(len(kg.entities) + 2)
        self._rarity = {
            word: math.log((len(kg.entities) + 2) / (count + 1)) / self._scale for word, count in counts.items()
        }
        self.longest = min(12, max((len(name.words) for name in self.names), default=0))

    def whole(self, words: str) -> list[Name]:
        """The names whose words, run together, are ``words``; ``spiderman`` is ``Spider-Man``.

        Initials are a guess at what people may say. Where something is called so, they name nothing else: the USA is no
        Union of South Africa.
        """
        names = [self.names[i] for i in self._whole.get(words, ())]
        called_so = [name for name in names if name.kind is not NameKind.INITIALS]
        return called_so if any(name.kind in (NameKind.LABEL, NameKind.ALIAS) for name in names) else names

    def whole_ids(self, words: str) -> list[int]:
        """The ids of the names whose words, run together, are ``words``."""
        return self._whole.get(words, [])

    def called(self, text: str) -> list[Name]:
        """The names that a text is as a whole, however it is spaced and hyphenated."""
        return self.whole("".join(name_words(text)))

    def holding(self, word: str, limit: int) -> list[int]:
        """Ids of names of two words or more that hold ``word``, best-connected entities first."""
        return self._by_word.get(word, [])[:limit]

    def rarity(self, word: str) -> float:
        """How telling a word is among this graph's labels: 0 in every one, 1 in none."""
        return self._rarity.get(word, 1.0)

    @property
    def vocabulary(self) -> Iterable[str]:
        """The words of all names of two words or more."""
        return self._by_word.keys()

    def knows(self, word: str) -> bool:
        """Whether any name holds this word."""
        return word in self._by_word or word in self._whole

    # building ----------------------------------------------------------------------------------

    def _add_entity(self, entity: int, label: str, info: EntityInfo | None) -> tuple[str, ...]:
        """Add all names of one entity; return the words of its label."""
        plain = without_bracket(label)
        plain_words = name_words(plain)
        seen: set[tuple[str, ...]] = set()
        # UK £ is not quite called UK
        kind = NameKind.CUT if _has_currency_sign(plain) else NameKind.LABEL
        self._add(entity, plain_words, kind, seen)
        if plain != label or kind is NameKind.CUT:
            self._add(entity, name_words(label), NameKind.LABEL, seen, in_parts=False)
        for alias in info.aliases if info else ():
            short = without_bracket(alias)
            self._add(entity, name_words(short), NameKind.ALIAS, seen)
            if short != alias:
                self._add(entity, name_words(alias), NameKind.ALIAS, seen, in_parts=False)
        for known in list(seen):
            self._add(entity, without_article(known), NameKind.SHORT, seen)
            if known[-1] in _CLUB:
                self._add(entity, known[:-1], NameKind.SHORT, seen)
            if known[-1].endswith("ism") and len(known[-1]) > _MIN_ISM:
                for people in ("t", "ts"):
                    self._add(entity, (*known[:-1], known[-1][:-1] + people), NameKind.SHORT, seen)
        for spoken in numbered_forms(plain):
            self._add(entity, name_words(spoken), NameKind.SHORT, seen)
        for form in shorter_forms(plain):
            words = name_words(form)
            self._add(entity, words, NameKind.CUT, seen)
            self._add(entity, without_article(words), NameKind.CUT, seen)
        self._add(entity, tuple(filter(None, [initials_of(plain)])), NameKind.INITIALS, seen)
        return plain_words

    def _add(
        self, entity: int, words: tuple[str, ...], kind: NameKind, seen: set[tuple[str, ...]], in_parts: bool = True
    ) -> None:
        derived = kind in (NameKind.SHORT, NameKind.CUT, NameKind.INITIALS)
        if not words or words in seen or (derived and (all_ordinary(words) or sum(map(len, words)) < 2)):
            return
        seen.add(words)
        self._whole["".join(words)].append(len(self.names))
        if in_parts and len(words) > 1 and kind in (NameKind.LABEL, NameKind.ALIAS):
            for word in dict.fromkeys(words):
                if word not in LINKING_WORDS:
                    self._by_word[word].append(len(self.names))
        self.names.append(Name(entity, words, kind))

    def _add_synonyms(self) -> None:
        """Give entities that bear one name of a group the group's others, places their demonyms."""
        given: set[tuple[str, ...]] = set()  # what two groups claim goes to the first: Britain to Great Britain
        groups: list[list[tuple[str, ...]]] = []
        for group in other_names():
            groups.append([name_words(name) for name in group])
            if self._spread(groups[-1], [words for words in groups[-1] if words not in given], NameKind.ALIAS):
                given.update(groups[-1])
        called = {words: group for group in groups for words in group}
        for places, words in demonyms():
            names = [word for place in places for word in called.get(name_words(place), [name_words(place)])]
            self._spread(names, [name_words(word) for word in words], NameKind.DEMONYM)

    def _spread(self, known: list[tuple[str, ...]], given: list[tuple[str, ...]], kind: NameKind) -> bool:
        """Give the best-connected bearers of a known name the others; whether there are any."""
        found: list[Name] = []
        for words in known:  # the first name in use decides: City of Angels is also a film
            found = found or [name for name in self.whole("".join(words)) if name.kind is NameKind.LABEL]
        for entity in list(dict.fromkeys(name.entity for name in found))[:_BEARERS]:
            seen = {
                name.words
                for words in given
                for name in self.whole("".join(words))
                if name.entity == entity and name.kind is not NameKind.INITIALS
            }
            for words in given:
                self._add(entity, words, kind, seen)
        return bool(found)


_INDEXES = PerGraph(NameIndex)


def name_index(kg: KnowledgeGraph) -> NameIndex:
    """The names of a graph, indexed once and kept as long as the graph."""
    return _INDEXES.of(kg)


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


CUT = 82.0  # of 100: two slips in ten letters
_WORD_LIKE = 79.0  # for a word by itself: one letter of five
WORD_CUT = 65.0  # for every word of it
_SHORT = 6  # letters of a name in which one slip is a large share


class FuzzyNames:
    """Names in bands: first letter and length. A typo changes one of these at most a little.

    The first letter of every word counts as a beginning, so that ``hte beatles`` still meets The Beatles.
    """

    def __init__(self, index: NameIndex) -> None:
        self._index = index
        self._bands: dict[tuple[str, int], list[int]] = defaultdict(list)
        self._spelt: dict[tuple[str, int], list[str]] = defaultdict(list)  # the texts of each band, in its order
        self._texts: list[str] = []
        for number, name in enumerate(index.names):
            self._texts.append(" ".join(name.words))
            if name.kind in (NameKind.LABEL, NameKind.ALIAS, NameKind.SHORT, NameKind.CUT):
                for letter in {word[0] for word in (name.words[0], name.words[-1])}:
                    self._bands[letter, len(self._texts[-1])].append(number)
                    self._spelt[letter, len(self._texts[-1])].append(self._texts[-1])
        self._by_ending: dict[str, list[int]] = defaultdict(list)  # a single word's letters but the first -> names
        for number, text in enumerate(self._texts):
            if " " not in text and len(text) >= _SHORT:
                self._by_ending[text[1:]].append(number)
        self._words: dict[tuple[str, int], list[str]] = defaultdict(list)
        for word in index.vocabulary:
            self._words[word[0], len(word)].append(word)

    def words_like(self, word: str, limit: int = 2) -> list[tuple[str, float]]:
        """Words of names spelt nearly like an unknown one, with their likeness 0..1, likest first."""
        choices = [w for length in (-1, 0, 1) for w in self._words.get((word[0], len(word) + length), ())]
        found = process.extract(word, choices, scorer=fuzz.ratio, score_cutoff=_WORD_LIKE, limit=limit)
        return [(other, likeness / 100) for other, likeness, _ in found]

    def nearest(self, words: Sequence[str], cut: float = CUT, limit: int = 5) -> list[tuple[Name, float]]:
        """The names most like these words, with their likeness 0..1, likest first."""
        text = " ".join(words)
        slack = max(1, round(len(text) * (1 - cut / 100)))
        alike: dict[int, float] = {}
        for letter in {words[0][0], words[-1][0]}:
            for length in range(len(text) - slack, len(text) + slack + 1):
                band = self._bands.get((letter, length))
                if band:
                    spelt = self._spelt[letter, length]
                    found = process.extract(text, spelt, scorer=fuzz.ratio, score_cutoff=cut, limit=limit)
                    alike.update((band[place], likeness) for _, likeness, place in found)
        if not alike and len(words) == 1 and len(text) > _SHORT - 1:
            alike = self._begun_otherwise(text)
        likest = sorted(alike, key=lambda number: (-alike[number], number))[:limit]
        if len(text) <= _SHORT:
            likest = list(dict.fromkeys([*likest, *self._one_slip(text)]))[:limit]
        names = [self._index.names[number] for number in likest]
        return [
            (name, likeness)
            for name in names
            if (likeness := likeness_of(words, name.words)) * 100 >= min(cut, WORD_CUT if len(text) > _SHORT else 0)
        ]

    def _begun_otherwise(self, text: str) -> dict[int, float]:
        """Names of which one word is wrong in its first letter: *nanube* for *Danube*, *tswitzerland*, *rpague*."""
        swapped = text[1:2] + text[:1] + text[2:]
        numbers = [
            *self._by_ending.get(text[1:], ()),
            *self._index.whole_ids(text[1:]),
            *self._index.whole_ids(swapped),
        ]
        return {number: fuzz.ratio(text, self._texts[number]) for number in numbers}

    def _one_slip(self, text: str) -> list[int]:
        """Names that one letter more, less, other or in another place makes of a short text: *azba* for *ABBA*."""
        found = []
        for length in range(len(text) - 1, len(text) + 2):
            spelt = self._spelt.get((text[0], length), ())
            slips = process.extract(text, spelt, scorer=OSA.distance, score_cutoff=1, limit=None)
            found += [self._bands[text[0], length][place] for _, _, place in slips]
        return found


def likeness_of(words: Sequence[str], name: Sequence[str]) -> float:
    """Likeness 0..1; of the least alike pair where there are as many words: Auburn University is not Hamburg's."""
    if set(words) < set(name) or set(words) > set(name):
        return 0.0  # a word more or less is no typo
    if len(words) != len(name):
        return fuzz.ratio(" ".join(words), " ".join(name)) / 100
    return min(fuzz.ratio(word, other) for word, other in zip(words, name, strict=True)) / 100
