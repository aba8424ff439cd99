"""How sure a mention is: a weighing of clues, as a probability.

The weights were fitted by regression on training questions over FB15k-237 and MetaQA and rounded; those of
clues that these lower-case questions can hardly teach (``capital``, ``cut``, ``time``) were set by hand, and
``bias`` so that the best match of a question, not any match, is right about as often as its score says. Each
clue is a plain quantity, so a weight can be read and doubted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kgdemo.linking.context import Context, Profile
from kgdemo.linking.matching import Match, MatchKind
from kgdemo.linking.names import LINKING_WORDS, NameIndex, NameKind, without_bracket
from kgdemo.linking.words import Word, ordinary_words

_ORDINARY = 0.15  # what an ordinary word weighs beside a rare one
_ORDINARY_IN_NAME = 0.3  # and what it weighs at least in a whole name of several words
_OF_COMMON = 0.3  # a plural says little against a common noun
_ARTICLES = ("the", "a", "an")
_MAKING = frozenset("wrote directed made sang film movie book novel song album series show called titled named".split())
_NEAR = 1  # words between neighbouring mentions
_TITLES = frozenset(
    "president pres king queen prince princess emperor empress pope saint st sir lord lady dr doctor mr mrs ms professor "
    "general captain colonel senator governor mayor minister chancellor actor actress singer author writer director "
    "composer painter poet philosopher rapper musician artist scientist explorer".split()
)

_OF_PEOPLE = frozenset(
    "born birth birthplace birthday die died dies death dead killed shot assassinated murdered buried married marry wife "
    "husband spouse girlfriend boyfriend son sons daughter daughters child children kids parents mother father mom dad "
    "brother brothers sister sisters siblings school college university educated graduate graduated education degree "
    "major party elected influenced influence inspired invented invent discovered discover profession job jobs occupation "
    "nationality ethnicity raised grow grew famous religion wrote painted composed".split()
)
_OF_TONGUES = frozenset("speak speaks spoke spoken speaking learn write written dialect dialects".split())
_MONTHS = frozenset(
    "january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday".split()
)


@dataclass(frozen=True, slots=True)
class Clues:
    """What speaks for a match; with other numbers, the weights of these clues.

    Attributes:
        bias: 1.
        cover: share of the question's weight that the mention covers.
        mass: weight of the mention's words.
        words: number of words but articles, logarithmic.
        part: 1 for a part of a name; ``missing`` is the share of the name that is not written.
        surname, middle: 1 where that part is a person's last name, or all but what stands in the middle.
        sole: 1 where no other name has these words.
        rest: words missing from the name that stand elsewhere in the question.
        fuzzy: 1 for a misspelt name; ``typo`` is its distance, 0..1.
        short, cut, initials, demonym: 1 for such a name.
        inflected: 1 where a plural s was taken off.
        ordinary: one over the number of words where all of them are ordinary; ``lone``: 1 where there is but one.
        common: 1 where the label itself is written as a common noun.
        owned: 1 right after a possessive of a linked entity: *Verdi's Otello*.
        primary: 1 where the label needs no bracket to tell it from its namesakes.
        capital: 1 where capitals set the mention off, -1 where they set others off.
        exact: 1 where the label has these very capitals.
        beside: number of rare words right before or after: the name may be a longer one. Linked names do not count.
        asked: 1 right after *what* or *which*: the kind of thing asked for.
        within: 1 where a longer whole name holds the mention.
        titled: 1 for a person right after *president* and the like, 2 where the graph links the two.
        human: 1 for a person where the question is one asked of people, -1 for anything else.
        tongue: 1 for a language right after *speak* and the like.
        option: 1 right before or after *or*: one of the answers to choose from.
        lesser, greater: 1 where the graph links it to another mention with more edges, or fewer: *Paris, Texas*.
        behind: 1 where such a mention stands right before.
        time: 1 for digits, months and what follows *during*.
        degree, variety: of the entity.
        fit, said: of the entity to the rest of the question.
    """

    bias: float = 0.0
    cover: float = 0.0
    mass: float = 0.0
    words: float = 0.0
    part: float = 0.0
    missing: float = 0.0
    surname: float = 0.0
    middle: float = 0.0
    sole: float = 0.0
    rest: float = 0.0
    fuzzy: float = 0.0
    typo: float = 0.0
    short: float = 0.0
    cut: float = 0.0
    initials: float = 0.0
    demonym: float = 0.0
    inflected: float = 0.0
    ordinary: float = 0.0
    lone: float = 0.0
    common: float = 0.0
    owned: float = 0.0
    primary: float = 0.0
    capital: float = 0.0
    exact: float = 0.0
    beside: float = 0.0
    asked: float = 0.0
    within: float = 0.0
    titled: float = 0.0
    human: float = 0.0
    tongue: float = 0.0
    option: float = 0.0
    lesser: float = 0.0
    greater: float = 0.0
    behind: float = 0.0
    time: float = 0.0
    degree: float = 0.0
    variety: float = 0.0
    fit: float = 0.0
    said: float = 0.0

    def times(self, weights: Clues) -> float:
        """The weighed sum: log-odds."""
        return sum(getattr(self, name) * getattr(weights, name) for name in self.__slots__)


WEIGHTS = Clues(
    bias=-0.5,
    cover=1.0,
    mass=0.7,
    words=1.3,
    part=-2.9,
    missing=-2.95,
    surname=0.8,
    middle=0.6,
    sole=1.8,
    rest=2.3,
    fuzzy=-1.8,
    typo=-1.25,
    short=0.0,
    cut=-1.2,
    initials=-2.3,
    demonym=-0.65,
    inflected=-1.7,
    ordinary=-1.25,
    lone=-1.75,
    common=-0.7,
    owned=1.0,
    primary=0.1,
    capital=0.8,
    exact=1.0,
    beside=-1.5,
    asked=-1.45,
    within=-1.9,
    titled=1.6,
    human=0.95,
    tongue=3.0,
    option=-2.5,
    lesser=0.6,
    greater=-0.75,
    behind=-1.6,
    time=-3.0,
    degree=1.0,
    variety=0.2,
    fit=3.0,
    said=0.6,
)


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
        inside = words[match.first : match.last]
        outside = [word.key for word in (*words[: match.first], *words[match.last :])]
        before = words[match.first - 1].key if match.first else ""
        plain = sum(map(self._weight, inside))
        weight = (
            max(plain, _ORDINARY_IN_NAME * len(inside)) if match.kind is MatchKind.WHOLE and len(inside) > 1 else plain
        )
        entity, kind = match.name.entity, match.name.kind
        profile = self.context.profile(entity)
        label = self.index.kg.entities[entity]
        common = label[:1].islower()
        near = self._linked_nearby(match, whole)
        capital = _capital(match, words)
        ordinary, part = capital <= 0 and _ordinary(match, words), match.kind is MatchKind.PART
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
            sole=float(part and not ordinary and self._is_sole(match)),
            rest=float(part and bool(_rest(match) & _not_asked_for(outside))),
            fuzzy=float(match.kind is MatchKind.FUZZY),
            typo=1 - match.likeness,
            cut=float(kind is NameKind.CUT),
            short=float(kind is NameKind.SHORT),
            initials=float(kind is NameKind.INITIALS),
            demonym=float(kind is NameKind.DEMONYM),
            inflected=match.inflected * (_OF_COMMON if common else 1.0),
            ordinary=ordinary / len(inside),
            lone=float(ordinary and len(inside) == 1),
            common=float(common),
            owned=float(any(other.last == match.first and words[other.last - 1].owns for other in near)),
            primary=float(match.kind is MatchKind.WHOLE and without_bracket(label) == label),
            capital=capital,
            exact=float(self._is_spelt_so(match, inside)),
            beside=float(self._beside(match, words, whole)),
            asked=float(before in ("what", "which")),
            within=float(any(_holds(other, match) for other in whole)),
            titled=self._titled(match, profile, before),
            human=(1.0 if profile.person else -1.0) if _OF_PEOPLE.intersection(outside) else 0.0,
            tongue=float(
                profile.language and bool(_OF_TONGUES.intersection(_keys(words, match.first - 2, match.first)))
            ),
            option=float("or" in _keys(words, match.first - 2, match.last + 1)),
            lesser=float(any(degrees > profile.degree for degrees in near.values())),
            greater=float(any(degrees < profile.degree for degrees in near.values())),
            behind=float(any(other.last == match.first and not words[other.last - 1].owns for other in near)),
            time=float(_is_time(match, words) and not profile.person),
            degree=profile.degree,
            variety=profile.variety,
            fit=min(self.context.fit(entity, outside), 2.0),
            said=self.context.said_of(entity, outside),
        )

    def _weight(self, word: Word) -> float:
        rarity = min(self.index.rarity(key) for key in word.keys)
        return rarity * (_ORDINARY if word.ordinary else 1.0)

    def _titled(self, match: Match, profile: Profile, before: str) -> float:
        if not profile.person or before not in _TITLES:
            return 0.0
        named = self.index.whole({"pres": "president"}.get(before, before))
        return 1.0 + any(self.context.linked(name.entity, match.name.entity) for name in named)

    def _is_spelt_so(self, match: Match, inside: Sequence[Word]) -> bool:
        label = without_bracket(self.index.kg.entities[match.name.entity])
        return match.kind is MatchKind.WHOLE and label.startswith(inside[0].text) and label.endswith(inside[-1].text)

    def _is_sole(self, match: Match) -> bool:
        """Whether one entity alone has the rarest of the words written in its names."""
        holders = (self.index.holding(key, 20) for key in match.written if key not in ordinary_words())
        return any(len({self.index.names[i].entity for i in ids}) == 1 for ids in holders)

    def _beside(self, match: Match, words: Sequence[Word], whole: Sequence[Match]) -> int:
        count = 0
        for place in (match.first - 1, match.last):
            if not 0 <= place < len(words) or words[place].ordinary or words[place].key.isdigit():
                continue
            if words[min(place, match.last - 1)].owns:  # a name ends at a possessive
                continue
            others = [other for other in whole if place in (other.first, other.last - 1) and not _overlap(match, other)]
            count += not any(self.context.linked(match.name.entity, other.name.entity) for other in others)
        return count

    def _linked_nearby(self, match: Match, whole: Sequence[Match]) -> dict[Match, float]:
        """Neighbouring mentions of linked entities, with these entities' degrees."""
        return {
            other: self.context.profile(other.name.entity).degree
            for other in whole
            if 0 <= max(match.first, other.first) - min(match.last, other.last) <= _NEAR
            and self.context.linked(match.name.entity, other.name.entity)
        }


def _ordinary(match: Match, words: Sequence[Word]) -> bool:
    return all(word.ordinary for word in words[match.first : match.last])


def _keys(words: Sequence[Word], first: int, last: int) -> list[str]:
    return [word.key for word in words[max(first, 0) : last]]


def _is_time(match: Match, words: Sequence[Word]) -> bool:
    """Whether the mention says when rather than what."""
    inside = _keys(words, match.first, match.last)
    if _MAKING.intersection(_keys(words, match.first - 1, match.first)):
        return False
    return all(key.isdigit() or key in _MONTHS for key in inside) or "during" in _keys(
        words, match.first - 2, match.first
    )


def _overlap(one: Match, other: Match) -> bool:
    return one.first < other.last and other.first < one.last


def _holds(longer: Match, match: Match) -> bool:
    return (
        longer.first <= match.first
        and match.last <= longer.last
        and longer.last - longer.first > match.last - match.first
    )


def _name_ends(match: Match) -> tuple[bool, bool]:
    """Whether the words written hold the name's first word, and its last."""
    name = [word for word in match.name.words if word not in ("jr", "sr")]
    return name[0] in match.written, name[-1] in match.written


def _rest(match: Match) -> set[str]:
    return set(match.name.words).difference(LINKING_WORDS, match.written)


def _not_asked_for(outside: Sequence[str]) -> set[str]:
    """The other words of a question but the kind of thing that it asks for: *which language …*"""
    return {word for before, word in zip(("", *outside), outside, strict=False) if before not in ("what", "which")}


def _capital(match: Match, words: Sequence[Word]) -> float:
    """What capitals say; nothing where the question has none beyond its first word, or hardly anything else."""
    rest = words[1:]
    capitals = sum(word.capital for word in rest)
    if not capitals or capitals > 0.8 * len(rest):
        return 0.0
    inside = [word for word in words[match.first : match.last] if len(word.text) > 3] or [words[match.first]]
    if match.first == 0 and len(inside) == 1:
        return 0.0
    return 1.0 if sum(word.capital for word in inside) * 2 > len(inside) else -1.0
