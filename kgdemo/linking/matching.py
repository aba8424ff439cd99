"""From the words of a question to the names they may stand for: whole, in part, or misspelt.

``whole``: the words are a name. ``part``: they are some words of a longer one (``obama``, ``harry
truman`` for Harry S. Truman, ``thames river`` for River Thames). ``fuzzy``: they are nearly one, by rapidfuzz over a
band of names alike in length and beginning (``FuzzyNames``).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from kgdemo.linking.names import LONG, NUMBERS, Name, NameIndex, NameKind
from kgdemo.linking.words import Word, common_words, short_given_names

_MAX_HOLDING = 300  # names looked at for one word, best-connected first: enough for every John
_MAX_PARTS = 40  # partial matches kept for one stretch of words
_MIN_SHARE = 0.25
_LITTLE, _VOWELS = 3, frozenset("aeiou")
_INITIAL = 0.1  # weight of a lone letter in a name: Harry S. Truman is Harry Truman
_MAX_WORDS = 120  # of a question; a longer text is no question
MAX_FUZZY = 24  # stretches tried for typos
FUZZY_SIZES = (2, 3, 1, 4, 5, 6)  # words tried for typos, the likeliest first
_MIN_PLURAL = 5  # letters of a word whose s may be a possessive one
SUGGESTED = 60.0  # likeness of 100 from which a name may be suggested
_BRIDGES = frozenset("of the and de la von van".split())
_HONOURS = frozenset("prize prizes award awards laureate laureates winner winners in for".split())  # Nobel laureates in


class MatchKind(Enum):
    """How words stand for a name."""

    WHOLE = "whole"
    PART = "part"
    FUZZY = "fuzzy"


@dataclass(frozen=True, slots=True)
class Match:
    """Words ``first`` to ``last`` (exclusive) of a question may stand for a name.

    Attributes:
        share: how much of the name they are, by the rarity of its words.
        likeness: of a misspelt name to the words, 0..1; 1 where the spelling agrees.
        inflected: whether a plural s had to be taken off.
        written: of a part, the words of the name that are there.
    """

    first: int
    last: int
    name: Name
    kind: MatchKind
    share: float = 1.0
    likeness: float = 1.0
    inflected: bool = False
    written: tuple[str, ...] = ()

    def overlaps(self, other: Match) -> bool:
        """Whether a word belongs to both."""
        return self.first < other.last and other.first < self.last

    def holds(self, other: Match) -> bool:
        """Whether it has all words of another one and more."""
        more = self.last - self.first > other.last - other.first
        return more and self.first <= other.first and other.last <= self.last


@dataclass(frozen=True, slots=True)
class _Variant:
    """A word of names that a word of the question may stand for."""

    key: str
    likeness: float = 1.0
    inflected: bool = False


class Matcher:
    """Finds the names in questions about one graph.

    Args:
        index: of its names.
        kinds: the types of its entities: an *island* is no slip for Iceland.
    """

    def __init__(self, index: NameIndex, kinds: Collection[str] = ()) -> None:
        self.index = index
        self.fuzzy = FuzzyNames(index)
        self._kinds = frozenset(word for kind in kinds for word in kind.split())

    def find(self, words: Sequence[Word]) -> list[Match]:
        """Every match, the best one for each stretch and entity; but for whole names none that has another year."""
        words = words[:_MAX_WORDS]
        years = {word.key for word in words if _is_year(word.key)}
        found = [*self._whole(words), *self._parts(words)]
        found += self._misspelt(words, {(m.first, m.last) for m in found if m.share == 1.0})
        best: dict[tuple[int, int, int], Match] = {}
        for match in found:
            its_years = set(filter(_is_year, match.name.words))
            in_part = match.kind is MatchKind.FUZZY or match.share < 1.0
            if in_part and years and its_years and its_years.isdisjoint(years):
                continue
            key = match.first, match.last, match.name.entity
            if key not in best or _rank(match) > _rank(best[key]):
                best[key] = match
        return list(best.values())

    # whole names -------------------------------------------------------------------------------

    def _whole(self, words: Sequence[Word]) -> Iterator[Match]:
        for first in range(len(words)):
            before = ""
            for last in range(first + 1, min(len(words), first + self.index.longest + 2) + 1):
                word = words[last - 1]
                for number, key in enumerate(word.keys):
                    if number > 0 and _is_year(key):
                        continue  # the *1990s* are no year
                    for name in self.index.whole(before + key):
                        if name.kind is NameKind.INITIALS and (word.ordinary or _is_little(word)):
                            continue  # who is no Resources Health Organization, nor *tat* a tragedy
                        if name.kind is NameKind.ALIAS and last - first == 1 and key in self._kinds:
                            continue  # an island is not Ísland
                        # only rare words may be run together or torn apart: "to go" is no Togo
                        if len(name.words) != last - first and all(w.ordinary for w in words[first:last]):
                            continue
                        yield Match(first, last, name, MatchKind.WHOLE, inflected=number > 0 and key != word.bare)
                before += word.key

    # parts of names ----------------------------------------------------------------------------

    def _parts(self, words: Sequence[Word]) -> Iterator[Match]:
        at: dict[int, dict[int, _Variant]] = defaultdict(dict)  # name id -> place in the question -> word of the name
        for place, word in enumerate(words):
            if word.key in _BRIDGES:
                continue
            for variant in self._variants(word):
                for number in self.index.holding(variant.key, _MAX_HOLDING):
                    at[number].setdefault(place, variant)
        stretches: dict[tuple[int, int], list[Match]] = defaultdict(list)
        for number, places in at.items():
            name = self.index.name(number)
            for first, last, spelt in _runs(places, words):
                if last - first == 1 and spelt[0].likeness < 1 and is_english(words[first]):
                    continue
                nearly_all = len(spelt) > 1 and len(spelt) >= len(name.words) - 1
                if nearly_all or not all(word.ordinary for word in words[first:last]):
                    match = self._part(first, last, name, spelt)
                    if match.share >= _MIN_SHARE:
                        stretches[first, last].append(match)
        for matches in stretches.values():
            # stable, so the better-connected come first among equals
            matches.sort(key=lambda match: -match.share * match.likeness)
            yield from matches[:_MAX_PARTS]

    def _variants(self, word: Word) -> list[_Variant]:
        """How names may spell a word: as it is, in full for a short given name, or right where it has a slip."""
        found = [_Variant(key, inflected=key not in (word.key, word.bare)) for key in word.keys]
        found += [_Variant(key) for key in short_given_names().get(word.key, ())]
        if len(word.bare) >= 4 and not word.ordinary and not any(self.index.knows(key) for key in word.keys):
            found += [_Variant(key, likeness) for key, likeness in self.fuzzy.words_like(word.bare)]
        return found

    def _part(self, first: int, last: int, name: Name, spelt: Sequence[_Variant]) -> Match:
        written = tuple(variant.key for variant in spelt)
        weights = {word: self.index.rarity(word) * (_INITIAL if len(word) == 1 else 1) for word in name.words}
        there = Counter(written) & Counter(name.words)  # *far away* is not all of Far Far Away
        share = sum(weights[word] for word in there.elements()) / max(sum(weights[word] for word in name.words), 1e-9)
        likeness = min(variant.likeness for variant in spelt)
        inflected = any(variant.inflected for variant in spelt)
        return Match(first, last, name, MatchKind.PART, share, likeness, inflected, written)

    # typos -------------------------------------------------------------------------------------

    def _misspelt(self, words: Sequence[Word], whole: set[tuple[int, int]]) -> Iterator[Match]:
        tried = 0
        unknown = {word.bare for word in words if not any(self.index.knows(key) for key in word.keys)}
        for size in FUZZY_SIZES:
            for first in range(len(words) - size + 1):
                stretch, last = words[first : first + size], first + size
                if (first, last) in whole or not may_be_misspelt(stretch):
                    continue
                if all(map(is_english, stretch)) or (size == 1 and not self._kinds.isdisjoint(stretch[0].keys)):
                    continue
                if size not in (2, 3, 4) and unknown.isdisjoint(word.bare for word in stretch):
                    continue  # slips in words by themselves and in long titles mostly make a word that no name has
                tried += 1
                if tried > MAX_FUZZY:
                    return
                # a name by itself is spelt right, Irish is no slip for Turkish, unless its neighbour says otherwise:
                # Jane Austin is one for Jane Austen
                rare = {word.bare for word in stretch if not word.ordinary}
                right = [word for place, word in enumerate(stretch, first) if (place, place + 1) in whole]
                for name, likeness in self._nearly(stretch):
                    contained = all(not set(word.keys).isdisjoint(name.words) for word in right)
                    if not contained and rare.isdisjoint(name.words):
                        continue
                    yield Match(first, last, name, MatchKind.FUZZY, likeness=likeness)

    def _nearly(self, stretch: Sequence[Word]) -> list[tuple[Name, float]]:
        """Names spelt nearly like a stretch; without its last s too: *freddy mercurys band*."""
        texts = [word.bare for word in stretch]
        found = self.fuzzy.nearest(texts)
        last = texts[-1]
        if found or len(texts) < 2 or len(last) < _MIN_PLURAL or not last.endswith("s") or last.endswith("ss"):
            return found
        return self.fuzzy.nearest([*texts[:-1], last[:-1]])

    def suggest(self, words: Sequence[Word], limit: int) -> list[tuple[Name, float]]:
        """Names remotely like some of the words, with their likeness 0..1, likest first."""
        found: dict[int, tuple[Name, float]] = {}
        for size in (1, 2, 3):
            for first in range(min(len(words), MAX_FUZZY) - size + 1):
                stretch = words[first : first + size]
                if may_be_misspelt(stretch):
                    for name, likeness in self.fuzzy.nearest([word.bare for word in stretch], SUGGESTED, limit):
                        if likeness > found.get(name.entity, (name, 0.0))[1]:
                            found[name.entity] = name, likeness
        return sorted(found.values(), key=lambda pair: -pair[1])[:limit]


def _rank(match: Match) -> tuple[bool, float, float, bool, int]:
    order = (NameKind.INITIALS, NameKind.DEMONYM, NameKind.CUT, NameKind.SHORT, NameKind.ALIAS, NameKind.LABEL)
    return (
        match.kind is MatchKind.WHOLE,
        match.likeness,
        match.share,
        not match.inflected,
        order.index(match.name.kind),
    )


def _runs(places: dict[int, _Variant], words: Sequence[Word]) -> Iterator[tuple[int, int, list[_Variant]]]:
    """Stretches of neighbouring words that the name holds; ``of`` and the like may stand between them."""
    run: list[int] = []
    for place in sorted(places):
        if run and not all(words[between].key in _BRIDGES | _HONOURS for between in range(run[-1] + 1, place)):
            yield run[0], run[-1] + 1, [places[p] for p in run]
            run = []
        run.append(place)
    if run:
        yield run[0], run[-1] + 1, [places[p] for p in run]


def _is_year(word: str) -> bool:
    return len(word) == len("1969") and word.isdigit()


def _is_little(word: Word) -> bool:
    """Whether small letters are too few, and too like a word, for initials that nobody has written down: no *nfl*."""
    return word.text.islower() and len(word.text) <= _LITTLE and not _VOWELS.isdisjoint(word.text)


def is_english(word: Word) -> bool:
    """Whether a word is typed as it is meant: *hotter* is no slip for Hütter."""
    return word.text.islower() and word.bare in common_words()


def may_be_misspelt(stretch: Sequence[Word]) -> bool:
    """Whether typos are worth looking for: neither end is a linking word and one of them is no ordinary word."""
    ends = (stretch[0], stretch[-1])
    if all(word.ordinary for word in ends) or any(word.key in _BRIDGES for word in ends):
        return False
    if any(len(word.bare) < 3 and not word.key.isdigit() for word in ends):
        return False
    return sum(len(word.bare) for word in stretch) >= 4


# names nearly spelt so ----------------------------------------------------------------------------

CUT = 82.0  # of 100: two slips in ten letters
_WORD_LIKE = 79.0  # for a word by itself: one letter of five
WORD_CUT = 65.0  # for every word of it
_SHORT_NAME = 6  # letters of a name in which one slip is a large share


class FuzzyNames:
    """Names in bands: first letter and length. A typo changes one of these at most a little.

    The first letter of every word counts as a beginning, so that ``hte beatles`` still meets The Beatles.
    """

    def __init__(self, index: NameIndex) -> None:
        self._index = index
        self._met: dict[tuple[str, int], tuple[list[int], list[str]]] = {}  # bands that have been asked for

    def _band(self, letter: str, length: int) -> tuple[list[int], list[str]]:
        """The names that begin so and are so long: their numbers and texts."""
        found = self._met.get((letter, length))
        if found is None:
            band = (ord(letter) * LONG + length) << NUMBERS
            first, behind = self._index.bands.searchsorted((band, band + (1 << NUMBERS))).tolist()
            numbers = (self._index.bands[first:behind] - band).tolist()
            found = self._met[letter, length] = numbers, [self._index.texts[number] for number in numbers]
        return found

    @cached_property
    def _by_ending(self) -> dict[str, list[int]]:
        """A single word's letters but the first -> names."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, text in enumerate(self._index.texts):
            if len(text) >= _SHORT_NAME and " " not in text:
                found[text[1:]].append(number)
        return found

    @cached_property
    def _words(self) -> dict[tuple[str, int], list[str]]:
        """Words of names by their first letter and length."""
        found: dict[tuple[str, int], list[str]] = defaultdict(list)
        for word in self._index.vocabulary:
            found[word[0], len(word)].append(word)
        return found

    def words_like(self, word: str) -> list[tuple[str, float]]:
        """Words of names spelt nearly like an unknown one, with their likeness 0..1, likest first."""
        choices = [w for length in (-1, 0, 1) for w in self._words.get((word[0], len(word) + length), ())]
        found = process.extract(word, choices, scorer=fuzz.ratio, score_cutoff=_WORD_LIKE, limit=2)
        return [(other, likeness / 100) for other, likeness, _ in found]

    def nearest(self, words: Sequence[str], cut: float = CUT, limit: int = 5) -> list[tuple[Name, float]]:
        """The names most like these words, with their likeness 0..1, likest first."""
        text = " ".join(words)
        slack = max(1, round(len(text) * (1 - cut / 100)))
        alike: dict[int, float] = {}
        for letter in {words[0][0], words[-1][0]}:
            for length in range(len(text) - slack, len(text) + slack + 1):
                numbers, spelt = self._band(letter, length) if length < LONG else ([], [])
                found = process.extract(text, spelt, scorer=fuzz.ratio, score_cutoff=cut, limit=limit)
                alike.update((numbers[place], likeness) for _, likeness, place in found)
        if not alike and len(words) == 1 and len(text) > _SHORT_NAME - 1:
            alike = self._begun_otherwise(text)
        likest = sorted(alike, key=lambda number: (-alike[number], number))[:limit]
        if len(text) <= _SHORT_NAME:
            likest = list(dict.fromkeys([*likest, *self._one_slip(text)]))[:limit]
        names = [self._index.name(number) for number in likest]
        return [
            (name, likeness)
            for name in names
            if (likeness := likeness_of(words, name.words)) * 100
            >= min(cut, WORD_CUT if len(text) > _SHORT_NAME else 0)
        ]

    def _begun_otherwise(self, text: str) -> dict[int, float]:
        """Names of which one word is wrong in its first letter: *nanube* for *Danube*, *tswitzerland*, *rpague*."""
        swapped = text[1:2] + text[:1] + text[2:]
        numbers = [
            *self._by_ending.get(text[1:], ()),
            *self._index.whole_ids(text[1:]),
            *self._index.whole_ids(swapped),
        ]
        return {number: fuzz.ratio(text, self._index.texts[number]) for number in numbers}

    def _one_slip(self, text: str) -> list[int]:
        """Names that one letter more, less, other or in another place makes of a short text: *azba* for *ABBA*."""
        found = []
        for length in range(len(text) - 1, len(text) + 2):
            numbers, spelt = self._band(text[0], length)
            slips = process.extract(text, spelt, scorer=OSA.distance, score_cutoff=1, limit=None)
            found += [numbers[place] for _, _, place in slips]
        return found


def likeness_of(words: Sequence[str], name: Sequence[str]) -> float:
    """Likeness 0..1; of the least alike pair where there are as many words: Auburn University is not Hamburg's."""
    if set(words) < set(name) or set(words) > set(name):
        return 0.0  # a word more or less is no typo
    if len(words) != len(name):
        return fuzz.ratio(" ".join(words), " ".join(name)) / 100
    return min(fuzz.ratio(word, other) for word, other in zip(words, name, strict=True)) / 100
