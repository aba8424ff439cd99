"""What speaks for a match and against it, what each of these features weighs, and so how sure the match is.

The rest of a question says something of the entities that a mention may mean (``Context``). *What party did Lincoln
belong to?* asks for someone with a party, so of all Lincolns the ones whose edges, type or description speak of parties
fit best.

The weights were fitted by regression on training questions over FB15k-237 and MetaQA and rounded; those of features
that these lower-case questions can hardly teach (``capital``, ``cut``, ``time``, ``common``, ``owned``) were set by
hand, and ``bias`` so that the best match of a question, not any match, is right about as often as its score says. Each
feature is a plain quantity, so a weight can be read and doubted.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import FUNCTION_WORDS
from kgdemo.linking.matching import Match, MatchKind
from kgdemo.linking.names import NameIndex, NameKind, bracket_of, without_bracket
from kgdemo.linking.words import (
    Word,
    answer_type_words,
    asks_of_language,
    asks_of_people,
    capitalisation,
    follows_work_word,
    is_option,
    is_time,
    kinds_beside,
    made_from,
    name_words,
    named_after,
    names_answer_type,
    ordinary_words,
    title_before,
)

_PROFILES = 4_000  # kept, of those asked for last; some kilobytes each
_STEM = 6  # letters: direct|ed, direct|or; but not countr|y, county
_SAME = {"movie": "film", "movies": "film", "films": "film", "books": "book", "songs": "song", "albums": "album"}
_MADE_FROM = frozenset(word[:_STEM] for word in ("based", "adapted", "adaptation"))
_NAMED = frozenset(("named",))
_PERSONAL = frozenset(w[:_STEM] for w in ("born", "birth", "died", "occupation", "profession", "nationality", "gender"))
_BETWEEN_WORDS = re.compile(r"[/_.~]+")


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of an entity besides its names.

    Attributes:
        degree, variety: its edges and the different steps among them, each on a logarithmic scale 0..1.
        stems: word stems of its relations.
        said: word stems of its bracket and type.
        around: word stems of its neighbours' types.
        person, language: whether it seems to be one.
        adapted: 1 for a work based on another, -1 for one that others are based on.
        named: 1 for what is named after something, -1 for what others are named after.
    """

    degree: float
    variety: float
    stems: frozenset[str]
    said: frozenset[str]
    around: frozenset[str]
    person: bool
    language: bool
    adapted: int = 0
    named: int = 0


class Context:
    """Profiles of one graph's entities, made when asked for; those asked for last are kept."""

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        own = [_stems(_BETWEEN_WORDS.sub(" ", relation_label)) for relation_label in kg.step_labels]
        # what a company makes is also asked for as *made by* it
        count = len(kg.relations)
        self._step_stems = [own[step] | own[step + count] for step in range(count)] + own[count:]
        self._own_stems = own
        ends = [(kg.outgoing, 0), (kg.incoming, len(kg.relations))]
        holders: Counter[str] = Counter()
        for adjacency, offset in ends:
            owners = np.repeat(np.arange(len(kg.entities)), np.diff(adjacency.offsets))
            pairs = np.unique(adjacency.relations * np.int64(len(kg.entities)) + owners)
            steps = pairs // max(1, len(kg.entities))
            for step, count in enumerate(np.bincount(steps, minlength=len(kg.relations)).tolist()):
                for stem in self._step_stems[step + offset]:
                    holders[stem] = max(holders[stem], count)
        scale = math.log(len(kg.entities) + 2)
        self._telling = {stem: 1 - math.log(count + 1) / scale for stem, count in holders.items()}
        degrees = np.diff(kg.outgoing.offsets) + np.diff(kg.incoming.offsets)
        self._max_log_degree = math.log(int(degrees.max(initial=1)) + 1)
        self._types, self._type_of = kg.kinds
        self._kept = lru_cache(_PROFILES)(self._make)

    def profile(self, entity: int) -> Profile:
        """What is known of an entity."""
        return self._kept(entity)

    def steps(self, entity: int) -> NDArray[np.int32]:
        """The different steps from an entity."""
        return self.kg.steps_from(np.array([entity]))

    def fit(self, entity: int, question: Sequence[str]) -> float:
        """How much of what is asked the entity's relations speak of, by how telling that is; 0 and up."""
        stems = self.profile(entity).stems
        return sum(self._telling[stem] for stem in _content_stems(question) if stem in stems)

    def said_of(self, entity: int, question: Sequence[str]) -> float:
        """How much of the entity's bracket and type is asked; a word of a long bracket counts less."""
        said = self.profile(entity).said
        return len(said & _content_stems(question)) / math.sqrt(max(len(said), 1))

    def offers(self, entity: int, question: Sequence[str]) -> bool:
        """Whether a neighbour of the entity is of a kind that is asked."""
        return not self.profile(entity).around.isdisjoint(_content_stems(question))

    def _around(self, entity: int) -> frozenset[str]:
        kinds = np.unique(self._type_of[self.kg.steps(entity)[1]])
        return frozenset(stem for kind in kinds for stem in _stems(self._types[kind]))

    def _is_person(self, steps: NDArray[np.int32]) -> bool:
        """Whether an entity has, as head, a relation that only people have."""
        forward = (self._own_stems[step] for step in steps if step < len(self.kg.relations))
        return any(stems & _PERSONAL for stems in forward)

    def _end_of(self, steps: NDArray[np.int32], stems: frozenset[str]) -> int:
        """1 for the head of relations such as *based on*, -1 for their tail, 0 for neither or both."""
        count = len(self.kg.relations)
        ends = {bool(step < count) for step in steps if self._own_stems[step % count] & stems}
        return 0 if len(ends) != 1 else (1 if True in ends else -1)

    def linked(self, one: int, other: int) -> bool:
        """Whether an edge joins two entities, in either direction."""
        if self.kg.degree(one) > self.kg.degree(other):
            one, other = other, one
        return bool(np.any(self.kg.steps(one)[1] == other))

    def _make(self, entity: int) -> Profile:
        label = self.kg.entities[entity]
        info = self.kg.info.get(label)
        steps = self.steps(entity)
        notes = f"{bracket_of(label)} {info.type if info else ''}"
        stems = frozenset(stem for step in steps for stem in self._step_stems[step])
        return Profile(
            math.log(self.kg.degree(entity) + 1) / self._max_log_degree,
            math.log(len(steps) + 1) / math.log(len(self.kg.step_labels) + 1),
            stems,
            _stems(notes),
            self._around(entity),
            info.type == "person" if info and info.type else self._is_person(steps),
            info.type == "language" if info and info.type else label.casefold().endswith(" language"),
            self._end_of(steps, _MADE_FROM),
            self._end_of(steps, _NAMED),
        )


def _stems(text: str) -> frozenset[str]:
    return _content_stems(name_words(text))


def _content_stems(words: Sequence[str]) -> frozenset[str]:
    return frozenset(_SAME.get(word, word)[:_STEM] for word in words if word not in FUNCTION_WORDS)


# the features -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MentionFeatures:
    """What speaks for a match; with other numbers, the weights of these clues.

    Attributes:
        bias: 1.
        cover: share of the question's weight that the mention covers.
        mass: weight of the mention's words.
        words: number of words but articles, logarithmic.
        part: 1 for a part of a name; ``missing`` is the share of the name that is not written.
        surname: 1 where that part is a person's last name.
        sole: 1 where no other name has these words.
        fuzzy: 1 for a misspelt name; ``typo`` is its distance, 0..1.
        cut, demonym: 1 for such a name.
        inflected: 1 where a plural s was taken off.
        ordinary: one over the number of words where all of them are ordinary; ``lone``: 1 where there is but one.
        common: 1 where the label itself is written as a common noun.
        owned: 1 right after a possessive of a linked entity: *Verdi's Otello*.
        primary: 1 where the label needs no bracket to tell it from its namesakes.
        capital: 1 where capitals set the mention off, -1 where they set others off.
        exact: 1 where the label has these very capitals.
        beside: number of rare words right before or after: the name may be a longer one. Linked names do not count.
        names_answer_type: 1 right after *what* or *which*: the kind of thing asked for.
        within: 1 where a longer whole name holds the mention.
        titled: 1 for a person right after *president* and the like, 2 where the graph links the two;
            below 0 for anything else there.
        human: 1 for a person where the question is one asked of people, -1 for anything else.
        tongue: 1 for a language right after *speak* and the like.
        option: 1 right before or after *or*: one of the answers to choose from.
        lesser, greater: 1 where the graph links it to another mention with more edges, or fewer: *Paris, Texas*.
        behind: 1 where such a mention stands right before.
        time: 1 for digits, months and what follows *during*; for a year where a title must stand.
        sought: 1 for the kind of thing that is asked for: *which city is Guernica in*.
        kind: 1 where the word right before or after says its type: *Friends cast*.
        adapted: where one work is said to be made from another, 1 for the right one of the two, -1 for the other.
        named: the same of *named after*: 1 for *the newton* that is named after somebody, -1 for Newton himself.
        offers: 1 where a neighbour is of a kind that the question names: *museum that has Guernica*.
        linked_further: 1 where the question names a neighbour of it by another name: *Jordan's coach at the Bulls*.
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
    sole: float = 0.0
    fuzzy: float = 0.0
    typo: float = 0.0
    cut: float = 0.0
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
    names_answer_type: float = 0.0
    within: float = 0.0
    titled: float = 0.0
    human: float = 0.0
    tongue: float = 0.0
    option: float = 0.0
    lesser: float = 0.0
    greater: float = 0.0
    behind: float = 0.0
    time: float = 0.0
    sought: float = 0.0
    kind: float = 0.0
    adapted: float = 0.0
    named: float = 0.0
    offers: float = 0.0
    linked_further: float = 0.0
    degree: float = 0.0
    variety: float = 0.0
    fit: float = 0.0
    said: float = 0.0

    def times(self, weights: MentionFeatures) -> float:
        """The weighed sum: log-odds."""
        result: float = sum(getattr(self, name) * getattr(weights, name) for name in self.__slots__)
        return result


WEIGHTS = MentionFeatures(
    bias=-0.5,
    cover=1.0,
    mass=0.7,
    words=1.3,
    part=-2.9,
    missing=-2.95,
    surname=0.8,
    sole=1.8,
    fuzzy=-1.8,
    typo=-1.25,
    cut=-1.2,
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
    names_answer_type=-1.45,
    within=-2.7,
    titled=1.6,
    human=0.95,
    tongue=3.0,
    option=-2.5,
    lesser=0.6,
    greater=-0.75,
    behind=-1.6,
    time=-3.0,
    sought=-1.0,
    kind=1.5,
    adapted=1.5,
    named=3.0,
    offers=0.7,
    linked_further=0.6,
    degree=1.0,
    variety=0.2,
    fit=3.0,
    said=0.6,
)

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

    def features(self, matches: Sequence[Match], words: Sequence[Word]) -> list[MentionFeatures]:
        """What speaks for each match of one question."""
        whole = [m for m in matches if m.kind is MatchKind.WHOLE and not _ordinary(m, words)]
        total = max(sum(map(self._weight, words)), 1e-9)
        return [self._features(match, words, whole, total) for match in matches]

    def _features(self, match: Match, words: Sequence[Word], whole: Sequence[Match], total: float) -> MentionFeatures:
        first, last = match.first, match.last
        entity, kind = match.name.entity, match.name.kind
        inside = words[first:last]
        outside = [word.key for word in (*words[:first], *words[last:])]
        profile, label = self.context.profile(entity), self.context.kg.entities[entity]
        plain, weight = self._weights(match, inside)
        near = self._linked_nearby(match, whole)
        before = [other for other in near if other.last == first]
        capital = capitalisation(words, first, last)
        ordinary, common = capital <= 0 and _ordinary(match, words), label[:1].islower()
        part, within = match.kind is MatchKind.PART, any(other.holds(match) for other in whole)
        type_words, source = answer_type_words(words), made_from(words, first, last)
        begins, closes = _name_ends(match) if part and profile.person else (False, False)
        return MentionFeatures(
            bias=1.0,
            cover=weight / (total - plain + weight),
            mass=min(weight, 2.0),
            words=math.log(max(sum(word.key not in _ARTICLES for word in inside), 1)),
            part=float(part and match.share < 1),
            missing=1 - match.share,
            surname=float(closes and not begins),
            # a first name that is not even spelt so says little: Frédéric is not Fredric March
            sole=float(part and not ordinary and (match.likeness == 1 or closes) and self._is_sole(match)),
            fuzzy=float(match.kind is MatchKind.FUZZY),
            typo=1 - match.likeness,
            cut=float(kind is NameKind.CUT),
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
            names_answer_type=float(names_answer_type(words, first)),
            within=float(within),
            titled=self._titled(entity, profile, title_before(words, first)),
            human=(1.0 if profile.person else -1.0) * asks_of_people(outside),
            tongue=profile.language * asks_of_language(words, first, last, _may_be_of_a_place(match, whole)),
            option=float(is_option(words, first, last)),
            lesser=float(any(degree > profile.degree for degree in near.values())),
            greater=float(any(degree < profile.degree for degree in near.values())),
            behind=float(any(not words[other.last - 1].owns for other in before)),
            time=float(not profile.person and self._is_time(match, words, label)),
            sought=float(self.context.said_of(entity, type_words) > 0),
            # *the book Jaws is based on* names the film
            kind=float(source <= 0 and self.context.said_of(entity, kinds_beside(words, first, last)) > 0),
            adapted=float(profile.adapted * source),
            named=float(profile.named * named_after(words, first, last)),
            offers=float(self.context.offers(entity, outside)),
            linked_further=float(not within and self._is_linked_further(match, whole)),
            degree=profile.degree,
            variety=profile.variety,
            fit=min(self.context.fit(entity, outside), 2.0),
            said=self.context.said_of(entity, sorted(set(outside).difference(type_words))),
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
        if follows_work_word(words, match.first):
            return label.isdigit()  # who wrote 1984 asks of a book, not of the year
        return is_time(words, match.first, match.last)

    def _titled(self, entity: int, profile: Profile, title: str) -> float:
        if not title:
            return 0.0
        if not profile.person:
            return _UNTITLED
        return 1.0 + any(self.context.linked(name.entity, entity) for name in self.index.whole(title))

    def _is_sole(self, match: Match) -> bool:
        """Whether one entity alone has the rarest of the words written in its names."""
        holders = (self.index.holding(key, 20) for key in match.written if key not in ordinary_words())
        return any(len({self.index.name(i).entity for i in ids}) == 1 for ids in holders)

    def _beside(self, match: Match, words: Sequence[Word], whole: Sequence[Match]) -> int:
        """Rare words right before or after, but linked names: the name may be a longer one."""
        count = 0
        for place in (match.first - 1, match.last):
            if not 0 <= place < len(words) or words[place].ordinary or words[place].key.isdigit():
                continue
            if words[min(place, match.last - 1)].owns:  # a name ends at a possessive
                continue
            others = [other for other in whole if place in (other.first, other.last - 1) and not match.overlaps(other)]
            count += not any(self.context.linked(match.name.entity, other.name.entity) for other in others)
        return count

    def _is_linked_further(self, match: Match, whole: Sequence[Match]) -> bool:
        """Whether it is linked to another name in the question, however far from it."""
        return any(
            not match.overlaps(other) and self.context.linked(match.name.entity, other.name.entity)
            for other in whole
            if not self.context.kg.entities[other.name.entity][:1].islower()  # every painter is linked to *painter*
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
