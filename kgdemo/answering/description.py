"""The words that describe what a question asks for: names, years, numbers and the rest, phrase by phrase.

*Which planet has no moons and is not Mercury* describes a planet by two phrases, both of which rule something out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import FUNCTION_WORDS, fold
from kgdemo.linking.names import entities_called
from kgdemo.query.answer_type import kind_of, singulars
from kgdemo.query.measures import NUMBERS, number_of_word

_NAME_WORDS = 6
_BEGINS = frozenset("and that which who whose but , while except besides".split())
_NEGATIONS = frozenset(
    "not no never cannot without except besides isnt arent wasnt werent cant doesnt didnt hasnt".split()
)
_SIGNS = {"before": "<", "after": ">", "since": ">=", "until": "<=", "from": ">="}
_FREE = frozenset(  # words that say nothing of a thing
    "also too later then who that which whose and but both well once ever had been being be became become while its "
    "their his her it he she they subsequently additionally another someone somebody something earlier before through "
    "into out near along around during since until after used share shared between very same".split()
)
_PLACES = frozenset(("country", "continent", "region", "city"))


def says_nothing(word: str) -> bool:
    """Whether a word, folded, tells nothing about a thing."""
    return word in FUNCTION_WORDS or word in _FREE or word in _NEGATIONS


@dataclass(frozen=True, slots=True)
class Phrase:
    """A part of a description.

    Attributes:
        places: of its words that have to be accounted for.
        negated: whether what it says rules a thing out.
    """

    places: frozenset[int]
    negated: bool


class Description:
    """The words of a question apart from those that name the set that it speaks of.

    Args:
        kg: the graph whose entities are named.
        raw: the words, as they were typed; a comma is one as well.
        of_set: the places of those that name the set.
        little: more words that say nothing of a thing.
        meant: entities of which it is known that they are meant.

    Attributes:
        words: all of them, folded.
        phrases: in their order.
        named: entities that some of the words name, with their places.
        names: the places of words that have to be accounted for as names.
        bounds: of years, by the place of the year: ``= 1991``.
        numbers: how many there are of what the word at the next place names, by their own place.
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        raw: Sequence[str],
        of_set: range,
        little: frozenset[str],
        meant: Collection[str] = (),
    ) -> None:
        self.words = [fold(re.sub("['’]", "", word)) for word in raw]
        content = {
            place
            for place, word in enumerate(self.words)
            if word
            and place not in of_set
            and not (says_nothing(word) or (word in little and not (raw[place][0].isupper() and place)))
        }
        self.bounds = dict(self._bounds(content))
        self.numbers = dict(self._numbers(content))
        self.named: Mapping[str, frozenset[int]] = dict(self._named(kg, raw, content, of_set, meant))
        places = {p for end, own in self.named.items() if len(own) == 1 and kind_of(kg, end) in _PLACES for p in own}
        capitals = {place for place in content if raw[place][0].isupper() or raw[place][0].isdigit()}
        self.phrases = tuple(self._phrases(content))
        ruled_out = {place for phrase in self.phrases if phrase.negated for place in phrase.places}
        self.names = frozenset((capitals | (places & content)) - self.bounds.keys() - self.numbers.keys() - ruled_out)

    @property
    def must_act(self) -> frozenset[int]:
        """The places of names, years and numbers, which no other word stands for."""
        return self.names | self.bounds.keys() | self.numbers.keys()

    def _named(
        self, kg: KnowledgeGraph, raw: Sequence[str], content: set[int], of_set: range, meant: Collection[str]
    ) -> Iterator[tuple[str, frozenset[int]]]:
        spans: list[tuple[frozenset[int], tuple[str, ...]]] = []
        for length in range(1, _NAME_WORDS + 1):
            for first in range(len(raw) - length + 1):
                places = frozenset(range(first, first + length))
                if not places & content or not places.isdisjoint(of_set):
                    continue
                text = " ".join(raw[first : first + length])
                alone = length == 1 and text.isalpha()
                forms = (text, *singulars(text.lower()), f"{text} mythology") if alone else (text,)
                spans.append((places, forms))
        called = entities_called(kg, list(dict.fromkeys(form for _, forms in spans for form in forms)))
        for places, forms in spans:
            entities = [kg.entities[entity] for form in forms for entity in called[form]]
            people = [one for one in entities if one in meant and kind_of(kg, one) == "person"]
            for entity in people or entities:  # somebody, and not what was named after him
                yield entity, places

    def _phrases(self, content: set[int]) -> Iterator[Phrase]:
        begins = 0
        for place in range(len(self.words) + 1):
            if place == len(self.words) or not self.words[place] or self.words[place] in _BEGINS:
                negated = any(word in _NEGATIONS for word in self.words[begins:place])
                if own := frozenset(p for p in content if begins <= p < place):
                    yield Phrase(own, negated)
                begins = place

    def _bounds(self, content: set[int]) -> Iterator[tuple[int, str]]:
        """Years, decades and centuries; what they are called besides is taken out of the content."""
        for place in sorted(content):
            word, before = self.words[place], self.words[place - 1] if place else ""
            if place not in content:
                continue
            if until := self._end_of_years(place):
                content.discard(place + 2)
                yield place, f">= {word} and <= {until}"
            elif found := re.fullmatch(r"([12]\d{3})(s?)", word):
                year, sign = int(found[1]), _SIGNS.get(before, "=")
                last = year + (99 if year % 100 == 0 else 9)
                yield place, f">= {year} and <= {last}" if found[2] and sign == "=" else f"{sign} {year}"
            elif (found := re.fullmatch(r"(\d\d?)(?:st|nd|rd|th)", word)) and self.words[place + 1 :][:1] == [
                "century"
            ]:
                content.discard(place + 1)
                yield place, f">= {int(found[1]) * 100 - 99} and <= {int(found[1]) * 100}"

    def _end_of_years(self, place: int) -> str:
        """The year that years end with which begin at a place, *between 1990 and 1995*; empty where none do."""
        around = " ".join(self.words[max(place - 1, 0) : place + 3])
        found = re.fullmatch(r"(?:between|from) [12]\d{3} (?:and|to|until|till) ([12]\d{3})", around)
        return found[1] if found else ""

    def _numbers(self, content: set[int]) -> Iterator[tuple[int, int]]:
        for place in sorted(content - self.bounds.keys()):
            word = self.words[place]
            counted = (word.isdigit() or word in NUMBERS) and place + 1 in content
            if counted and not self.words[place + 1].isdigit():
                yield place, number_of_word(word)
