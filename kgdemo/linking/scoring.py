"""How sure a match is: the clues of every match of one question."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kgdemo.linking import cues
from kgdemo.linking.clues import Clues
from kgdemo.linking.context import Context, Profile
from kgdemo.linking.matching import Match, MatchKind
from kgdemo.linking.names import LINKING_WORDS, NameIndex, NameKind, without_bracket
from kgdemo.linking.words import Word, ordinary_words

_ORDINARY = 0.15  # what an ordinary word weighs beside a rare one
_ORDINARY_IN_NAME = 0.3  # and what it weighs at least in a whole name of several words
_OF_COMMON = 0.3  # a plural says little against a common noun
_ARTICLES = ("the", "a", "an")
_UNTITLED = -0.5  # a city is no president
_NEAR = 1  # words between neighbouring mentions


class Scorer:
    """Weighs the matches of one graph's names."""

    def __init__(self, index: NameIndex, context: Context) -> None:
        self.index = index
        self.context = context

    def clues(self, matches: Sequence[Match], words: Sequence[Word]) -> list[Clues]:
        """What speaks for each match of one question."""
        whole = [m for m in matches if m.kind is MatchKind.WHOLE and not _ordinary(m, words)]
        total = max(sum(map(self._weight, words)), 1e-9)
        return [self._clues(match, words, whole, total) for match in matches]

    def _clues(self, match: Match, words: Sequence[Word], whole: Sequence[Match], total: float) -> Clues:
        first, last = match.first, match.last
        entity, kind = match.name.entity, match.name.kind
        inside = words[first:last]
        outside = [word.key for word in (*words[:first], *words[last:])]
        profile, label = self.context.profile(entity), self.index.kg.entities[entity]
        plain, weight = self._weights(match, inside)
        near = self._linked_nearby(match, whole)
        before = [other for other in near if other.last == first]
        capital = cues.capital(words, first, last)
        ordinary, common = capital <= 0 and _ordinary(match, words), label[:1].islower()
        part, within = match.kind is MatchKind.PART, any(_holds(other, match) for other in whole)
        asked_for, source = cues.kind_asked_for(words), cues.made_from(words, first, last)
        begins, closes = _name_ends(match) if part and profile.person else (False, False)
        return Clues(
            bias=1.0,
            cover=weight / (total - plain + weight),
            mass=min(weight, 2.0),
            words=math.log(max(sum(word.key not in _ARTICLES for word in inside), 1)),
            part=float(part and match.share < 1),
            missing=1 - match.share,
            surname=float(closes and not begins),
            middle=float(closes and begins),
            # a first name that is not even spelt so says little: Frédéric is not Fredric March
            sole=float(part and not ordinary and (match.likeness == 1 or closes) and self._is_sole(match)),
            rest=float(part and not _rest(match).isdisjoint(cues.not_asked_for(outside))),
            fuzzy=float(match.kind is MatchKind.FUZZY),
            typo=1 - match.likeness,
            short=float(kind is NameKind.SHORT),
            cut=float(kind is NameKind.CUT),
            initials=float(kind is NameKind.INITIALS),
            demonym=float(kind is NameKind.DEMONYM),
            inflected=match.inflected * _of_plural(match, common),
            ordinary=ordinary / len(inside),
            lone=float(ordinary and len(inside) == 1),
            common=float(common),
            owned=float(any(words[other.last - 1].owns for other in before)),
            primary=float(match.kind is MatchKind.WHOLE and without_bracket(label) == label),
            capital=capital,
            exact=float(match.kind is MatchKind.WHOLE and _is_spelt_so(label, inside)),
            beside=float(self._beside(match, words, whole)),
            asked=float(cues.is_asked_for(words, first)),
            within=float(within),
            titled=self._titled(entity, profile, cues.title_before(words, first)),
            human=(1.0 if profile.person else -1.0) * cues.asks_of_people(outside),
            tongue=profile.language * cues.asks_of_language(words, first, last, _may_be_of_a_place(match, whole)),
            option=float(cues.is_option(words, first, last)),
            lesser=float(any(degree > profile.degree for degree in near.values())),
            greater=float(any(degree < profile.degree for degree in near.values())),
            behind=float(any(not words[other.last - 1].owns for other in before)),
            time=float(not profile.person and self._is_time(match, words, label)),
            sought=float(self.context.said_of(entity, asked_for) > 0),
            # *the book Jaws is based on* names the film
            kind=float(source <= 0 and self.context.said_of(entity, cues.kinds_beside(words, first, last)) > 0),
            adapted=float(profile.adapted * source),
            named=float(profile.named * cues.named_after(words, first, last)),
            offers=float(self.context.offers(entity, outside)),
            together=float(not within and self._is_linked_further(match, whole)),
            called=float(part and profile.person and first > 0 and words[first - 1].key == "the"),
            degree=profile.degree,
            variety=profile.variety,
            fit=min(self.context.fit(entity, outside), 2.0),
            said=self.context.said_of(entity, sorted(set(outside).difference(asked_for))),
        )

    def _weights(self, match: Match, inside: Sequence[Word]) -> tuple[float, float]:
        """The weight of a mention's words one by one, and as a name: *Doctor Who* is more than *doctor* and *who*."""
        plain = sum(map(self._weight, inside))
        if match.kind is MatchKind.WHOLE and len(inside) > 1:
            return plain, max(plain, _ORDINARY_IN_NAME * len(inside))
        return plain, plain

    def _weight(self, word: Word) -> float:
        rarity = min(self.index.rarity(key) for key in word.keys)
        return rarity * (_ORDINARY if word.ordinary else 1.0)

    def _is_time(self, match: Match, words: Sequence[Word], label: str) -> bool:
        if cues.follows_work_word(words, match.first):
            return label.isdigit()  # who wrote 1984 asks of a book, not of the year
        return cues.is_time(words, match.first, match.last)

    def _titled(self, entity: int, profile: Profile, title: str) -> float:
        if not title:
            return 0.0
        if not profile.person:
            return _UNTITLED
        return 1.0 + any(self.context.linked(name.entity, entity) for name in self.index.whole(title))

    def _is_sole(self, match: Match) -> bool:
        """Whether one entity alone has the rarest of the words written in its names."""
        holders = (self.index.holding(key, 20) for key in match.written if key not in ordinary_words())
        return any(len({self.index.names[i].entity for i in ids}) == 1 for ids in holders)

    def _beside(self, match: Match, words: Sequence[Word], whole: Sequence[Match]) -> int:
        """Rare words right before or after, but linked names: the name may be a longer one."""
        count = 0
        for place in (match.first - 1, match.last):
            if not 0 <= place < len(words) or words[place].ordinary or words[place].key.isdigit():
                continue
            if words[min(place, match.last - 1)].owns:  # a name ends at a possessive
                continue
            others = [other for other in whole if place in (other.first, other.last - 1) and not _overlap(match, other)]
            count += not any(self.context.linked(match.name.entity, other.name.entity) for other in others)
        return count

    def _is_linked_further(self, match: Match, whole: Sequence[Match]) -> bool:
        """Whether it is linked to another name in the question, however far from it."""
        return any(
            not _overlap(match, other) and self.context.linked(match.name.entity, other.name.entity)
            for other in whole
            if not self.index.kg.entities[other.name.entity][:1].islower()  # every painter is linked to *painter*
        )

    def _linked_nearby(self, match: Match, whole: Sequence[Match]) -> dict[Match, float]:
        """Neighbouring mentions of linked entities, with these entities' degrees."""
        return {
            other: self.context.profile(other.name.entity).degree
            for other in whole
            if 0 <= max(match.first, other.first) - min(match.last, other.last) <= _NEAR
            and self.context.linked(match.name.entity, other.name.entity)
        }


def _of_plural(match: Match, common: bool) -> float:
    """How much a plural s says against a match: nothing in *US presidents*, whose last word is a noun like others."""
    if len(match.name.words) > 1 and match.name.words[-1] in ordinary_words():
        return 0.0
    return _OF_COMMON if common else 1.0


def _ordinary(match: Match, words: Sequence[Word]) -> bool:
    return all(word.ordinary for word in words[match.first : match.last])


def _overlap(one: Match, other: Match) -> bool:
    return one.first < other.last and other.first < one.last


def _holds(longer: Match, match: Match) -> bool:
    return (
        longer.first <= match.first
        and match.last <= longer.last
        and longer.last - longer.first > match.last - match.first
    )


def _may_be_of_a_place(match: Match, whole: Sequence[Match]) -> bool:
    """Whether its words are also what people and things of a place are called: *French*, not *Python*."""
    spans = ((other.first, other.last) for other in whole if other.name.kind is NameKind.DEMONYM)
    return (match.first, match.last) in spans


def _name_ends(match: Match) -> tuple[bool, bool]:
    """Whether the words written hold the name's first word, and its last."""
    name = [word for word in match.name.words if word not in ("jr", "sr")]
    return name[0] in match.written, name[-1] in match.written


def _is_spelt_so(label: str, inside: Sequence[Word]) -> bool:
    """Whether a label begins and ends with these very words, capitals and all."""
    name = without_bracket(label)
    return name.startswith(inside[0].text) and name.endswith(inside[-1].text)


def _rest(match: Match) -> set[str]:
    return set(match.name.words).difference(LINKING_WORDS, match.written)
