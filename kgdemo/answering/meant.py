"""What a question means whose wording no reader knows: the plain question that it is a paraphrase of (``intents``).

Plain questions are possible that the graph can answer about what the question names: it states the attribute, it has
the relation. One is taken where it is likely, and where none that the graph cannot answer is likelier: then what is
asked for is missing, and it is not for the next best to stand in for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import combinations

from kgdemo.answering.computation import listed
from kgdemo.answering.operands import PLACES, called, names_of_kind, operand_of
from kgdemo.answering.orders import BEGINNINGS
from kgdemo.answering.spans import Spans
from kgdemo.events import AnswerFinal, Event, Notice
from kgdemo.kg.labels import FUNCTION_WORDS, fold
from kgdemo.kg.path import Path
from kgdemo.linking.names import name_index
from kgdemo.models.embedding import embedding_cache
from kgdemo.query.answer_type import Fit, fits, kind_of
from kgdemo.query.intents import COMPARE, MOST, STEP, VALUE, Intent, X, Y, intents, named_in, says_greater
from kgdemo.query.measures import BEGINNING, COURSE, DATE, IN_OFFICE, LIFE, plural_of, without_world
from kgdemo.query.nested import two_steps
from kgdemo.query.plan import Form, Plan
from kgdemo.query.wording import names_in

LIKELY = 0.4  # probability from which a plain question is taken
_LEAST, _OF_POSSIBLE = 0.2, 0.7  # and where it is less: the least, and its share among those that can be answered
_LOOKED_AT = 8  # of the likeliest, whether they can be answered
_NAME_WORDS = 4
_MOST_NAMED = 4  # things that a question names, in pairs of which it may compare
_FEWEST = 3  # things of a kind, of which one may have most of something
_SPANS = {  # what is said by two dates: the attributes, the first that is known
    "age reached": (LIFE,), "age": (LIFE,), "lasted": (COURSE, IN_OFFICE), "duration in office": (IN_OFFICE,),
    "reign": (IN_OFFICE,), "in office": (IN_OFFICE,),
}  # fmt: skip
_ALIKE = {  # one attribute may be stated under several names
    "height": ("height", "elevation"), "elevation": ("elevation", "height"), "weight": ("weight", "mass"),
    "area": ("area", "population"), "diameter": ("diameter", "width"),
}  # fmt: skip
_CLAUSE = re.compile(rf"\b(?P<noun>\w+) (?:that|which|who|whose|where) [^,.;:?!]*\b{X}\b", re.IGNORECASE)
_NO_NOUN = frozenset(  # words before a question word that begins no clause: *tell me who painted* it
    "me us know wonder wondering remember exactly is was it and or but in on of at by to from for so just asked ask "
    "curious say learn about".split()
)
_MORE_ASKED = re.compile(  # than of one thing at any time
    r"\b(?:or|[12]\d{3}|before|after|since|until|during|how often|how many times|when (?:he|she|it|they))\b",
    re.IGNORECASE,
)
_HOW = re.compile(r"how (?!.*\bcalled\b)", re.IGNORECASE)  # it is a value
_YEAR = " in year"
_KINDS = frozenset(("kind", "occupation", "domain", "quantity", "field", "class"))
_JOINS = re.compile(r"\b(?:or|vs\.?|versus|and|than|between)\W+$|^\W+(?:or|vs|versus|and|than)\b", re.IGNORECASE)
_INSIDE = re.compile(r",? (?:in|of|on) (?:the )?|, ", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Name:
    """A stretch of the question and the entities that it may mean, the one that was linked first."""

    text: str
    start: int
    end: int
    entities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a question may ask, as a plain question about something in particular.

    Attributes:
        masked: its text without the names of the things it is about.
        names: these.
        noun: the kind of things that it is about, where it names none.
        place: where these lie; empty for anywhere.
    """

    masked: str
    names: tuple[_Name, ...] = ()
    noun: str = ""
    place: str = ""

    @property
    def operations(self) -> tuple[str, ...]:
        """What may be done with so many things."""
        return (COMPARE,) if len(self.names) > 1 else (VALUE, STEP) if self.names else (MOST,)


class Meant(Spans):
    """Answers to the plain question that is meant."""

    def plainly_meant(self, text: str) -> Iterator[Event]:
        """The answer to the plain question that a text is a paraphrase of; nothing where none is likely.

        Args:
            text: the question as it was asked.
        """
        names = self._names(text)
        readings = [*self._of_one(text, names), *self._of_two(text, names), *self._of_kind(text, names)]
        for reading, intent in self._likeliest(readings):
            events = list(self._answered(reading, intent))
            if any(isinstance(event, AnswerFinal) and not event.refusal for event in events):
                yield Notice(f"Understood as: {_said(reading, intent)}.")
                yield from events
                return

    def _likeliest(self, readings: Sequence[_Reading]) -> Iterator[tuple[_Reading, Intent]]:
        """The likely plain questions that the graph can answer, likeliest first."""
        found: list[tuple[float, _Reading, Intent]] = []
        vectors = embedding_cache(self.resources.embedder).vectors([reading.masked for reading in readings])
        for vector, reading in zip(vectors, readings, strict=True) if readings else ():
            one = len(reading.names) == 1 and _HOW.match(self.plan.asked)
            likely = intents().likely(vector, (VALUE,) if one else reading.operations)
            first = next(iter(likely), None)
            if first is None or likely[first] < _LEAST or not self._can_answer(reading, first):
                continue
            possible = (one for one in list(likely)[:_LOOKED_AT] if one == first or self._can_answer(reading, one))
            if likely[first] >= LIKELY or likely[first] >= _OF_POSSIBLE * sum(likely[one] for one in possible):
                found.append((likely[first], reading, first))
        yield from ((reading, intent) for _, reading, intent in sorted(found, key=lambda one: -one[0]))

    # what is named -----------------------------------------------------------------------------

    def _names(self, text: str) -> list[_Name]:
        """What a text names, in its order there: the topics, and what is set beside them by *or*."""
        found: list[_Name] = []
        for topic in self.query.topics:
            if place := named_in(text, topic, self.kg):
                others = () if self.kg.grows else self._called(place[0])
                found.append(_Name(place[0], *place.span(), tuple(dict.fromkeys((topic, *others)))))
        if not self.kg.grows:
            found += self._beside(text, found)
        return sorted(found, key=lambda one: one.start)

    def _beside(self, text: str, named: Sequence[_Name]) -> Iterator[_Name]:
        """What else bears a name and stands right before or behind *or*, *and* or *than*."""
        words = list(re.finditer(r"[^\W_][\w'’.-]*", text))
        taken = [range(one.start, one.end) for one in named]
        for length, first in ((n, f) for n in range(_NAME_WORDS, 0, -1) for f in range(len(words) - n + 1)):
            start, end = words[first].start(), words[first + length - 1].end()
            said = text[start:end].rstrip(".'’")
            if any(start < own.stop and own.start < end for own in taken) or fold(said) in FUNCTION_WORDS:
                continue
            joined = _JOINS.search(text[:start]) or _JOINS.search(text[end:])
            if joined and (entities := self._called(said)):
                taken.append(range(start, end))
                yield _Name(said, start, end, entities)

    def _called(self, said: str) -> tuple[str, ...]:
        return tuple(self.kg.entities[name.entity] for name in name_index(self.kg).called(said))

    def _of_one(self, text: str, names: Sequence[_Name]) -> Iterator[_Reading]:
        """For each thing that is named that the question is about this alone, and about nothing that it describes."""
        for name in names if not (self.plan.inner or two_steps(self.plan.asked)) else ():
            masked = f"{text[: name.start]}{X}{text[name.end :]}"
            if self._is_all(text, names, name) and not _in_a_clause(masked) and not _MORE_ASKED.search(masked):
                yield _Reading(masked, (name,))

    def _of_two(self, text: str, names: Sequence[_Name]) -> Iterator[_Reading]:
        """For each two things that are named that the question compares these."""
        for one, other in combinations(names[:_MOST_NAMED], 2):
            if one.end <= other.start and self._is_all(text, names, one, other):
                masked = f"{text[: one.start]}{X}{text[one.end : other.start]}{Y}{text[other.end :]}"
                yield _Reading(masked, (one, other))

    def _of_kind(self, text: str, names: Sequence[_Name]) -> Iterator[_Reading]:
        """For each kind of things that it speaks of that it is about all of these, anywhere or in a place."""
        where = [one for one in names if self._is_particular(one) and without_world(f"on {one.text}")]
        inside = [one for one in where if kind_of(self.kg, one.entities[0]) in PLACES]
        if len(where) > 1 or where != inside or self._names_more(text, names):
            return
        place = where[0] if where else None
        masked = without_world(text[: place.start] + text[place.end :] if place else text)
        words = re.findall(r"[a-z]+", masked.lower())
        for first, length in ((f, n) for f in range(len(words)) for n in (2, 1) if f + n <= len(words)):
            noun = " ".join(words[first : first + length])
            kinds = [kind for kind in names_of_kind(noun) if length == 1 or " " in kind]
            if noun not in FUNCTION_WORDS and any(len(called(self.kg, kind)) >= _FEWEST for kind in kinds):
                yield _Reading(masked, noun=noun, place=place.text if place else "")

    def _is_all(self, text: str, names: Sequence[_Name], *about: _Name) -> bool:
        """Whether a text names nothing in particular besides what it is to be about."""
        others = [one for one in names if all(one.start >= own.end or one.end <= own.start for own in about)]
        apart = (one for one in others if self._is_particular(one) and not self._is_joined(text, about[0], one))
        return not any(apart) and not self._names_more(text, names)

    def _is_particular(self, name: _Name) -> bool:
        """Whether a name is that of something in particular, and of no kind of thing."""
        return kind_of(self.kg, name.entities[0]) not in _KINDS and self.kg.types.isdisjoint(names_of_kind(name.text))

    def _is_joined(self, text: str, name: _Name, other: _Name) -> bool:
        """Whether a place only says more of what is named, *the American*, *in Dubai*, and the graph joins the two."""
        place = other.entities[0]
        says_whose = fold(other.text) != fold(place) or _INSIDE.fullmatch(text[name.end : other.start])
        joined = says_whose and kind_of(self.kg, place) in PLACES
        return bool(joined) and self.sets.joined(name.entities[0], place) is not None

    def _names_more(self, text: str, names: Sequence[_Name]) -> bool:
        """Whether a text has a name that the graph knows besides these: what it asks has to do with that."""
        told = {word for name in names for word in fold(name.text).split()}
        told |= {word for topic in self.query.topics for word in self.kg.words_of(topic)}
        further = (self._link(name) for name in names_in(text) if fold(name) not in told)
        return any(linked and not self._says_whose(names, linked[0]) for linked in further)

    def _says_whose(self, names: Sequence[_Name], place: str) -> bool:
        """Whether a place is only that which something named belongs to: *that American giant*."""
        is_place = kind_of(self.kg, place) in PLACES
        return is_place and any(self.sets.joined(name.entities[0], place) is not None for name in names)

    # what the graph can answer -----------------------------------------------------------------

    def _can_answer(self, reading: _Reading, intent: Intent) -> bool:
        if reading.names:
            return all(self._having(name, intent) for name in reading.names)
        every = list(self.sets.of_kind(reading.noun))
        return sum(self._states(one, intent.of) for one in every) >= _FEWEST

    def _having(self, name: _Name, intent: Intent) -> str:
        """Of what a name may mean the first of which the graph says what is asked; empty where it does of none."""
        if intent.operation == STEP:
            return next((one for one in name.entities if self._led_to(intent, one)), "")
        return next((one for one in name.entities if self._states(one, intent.of)), "")

    def _states(self, one: str, attribute: str) -> bool:
        """Whether the graph states an attribute of a thing, or both dates that it lies between."""
        if spans := _SPANS.get(attribute):
            return any(all(operand_of(self.kg, one, [date]) is not None for date in span) for span in spans)
        return operand_of(self.kg, one, _attributes_of(attribute)) is not None

    def _led_to(self, intent: Intent, thing: str) -> dict[str, Path]:
        """What a relation leads to, of the type that is asked for."""
        label = intent.of if intent.direction == "forward" else self.sets.inverse(intent.of)
        asked, ends = self.query.answer_type, self.sets.ends(thing, (label,))
        fitting = {end: path for end, path in ends.items() if fits(asked, kind_of(self.kg, end)) is not Fit.NO}
        return {} if len(fitting) > 1 and self._uncovered(next(iter(fitting.values()))) else fitting

    # answers -----------------------------------------------------------------------------------

    def _answered(self, reading: _Reading, intent: Intent) -> Iterator[Event]:
        things = tuple(self._having(name, intent) for name in reading.names)
        if intent.operation == STEP:
            ends = self._led_to(intent, things[0])
            yield from self._shown_by_paths("step", {end: (path,) for end, path in ends.items()})
        elif intent.operation == VALUE:
            yield from self._value_of(things[0], intent)
        else:
            yield from self._ordered(reading, intent)

    def _value_of(self, thing: str, intent: Intent) -> Iterator[Event]:
        span = next((s for s in _SPANS.get(intent.of, ()) if operand_of(self.kg, thing, s[:1]) is not None), ())
        stated = operand_of(self.kg, thing, _attributes_of(intent.of))
        if span:
            yield from self._planned(Plan(Form.SPAN, things=(thing,), attributes=span), (thing,)).span()
        elif stated is not None:
            dated = not stated.unit or stated.unit == "year"
            plan = Plan(Form.VALUE, things=(thing,), attributes=(DATE if dated else intent.of,), unit=self.plan.unit)
            yield from self._planned(plan, (thing,))._stated(stated)

    def _ordered(self, reading: _Reading, intent: Intent) -> Iterator[Event]:
        """What is compared, by the end of the values that the question says; nothing where it says none."""
        greatest = says_greater(reading.masked, intent.of)
        if greatest is None:
            return
        attributes, span = _attributes_of(intent.of), next(iter(_SPANS.get(intent.of, ())), ())
        if reading.names:
            names = tuple(name.text for name in reading.names)
            plan = Plan(Form.COMPARISON, things=names, attributes=attributes, greatest=greatest, span=span)
            compared = self._planned(plan, self.query.topics)
            yield from compared.compare_spans() if span else compared.compare()
            return
        base = f"which {plural_of(reading.noun)} are in {reading.place}" if reading.place else ""
        plan = Plan(Form.SUPERLATIVE, base, reading.noun, attributes=attributes, greatest=greatest, span=span)
        ordered = self._planned(plan, self.query.topics if base else ())
        yield from ordered.longest() if span else ordered.superlative()

    def _planned(self, plan: Plan, topics: tuple[str, ...]) -> Meant:
        """This, for a question with another plan."""
        own = copy(self)
        own.plan = replace(plan, asked=self.plan.asked)
        own.query = replace(self.query, plan=own.plan, topics=topics)
        return own


def _in_a_clause(masked: str) -> bool:
    """Whether what is named only describes something else: *the tower that was put up in* a city is not the city."""
    return any(found["noun"].lower() not in _NO_NOUN for found in _CLAUSE.finditer(masked))


def _attributes_of(attribute: str) -> tuple[str, ...]:
    """The names under which a graph may state an attribute, the best one first."""
    return _ALIKE.get(attribute, (attribute, BEGINNING) if attribute in (*BEGINNINGS, "invented") else (attribute,))


def _said(reading: _Reading, intent: Intent) -> str:
    """A plain question in a few words."""
    things = [name.text for name in reading.names]
    if intent.operation == STEP:
        back = f"what has {things[0]} as “{intent.of}”"
        return f"“{intent.of.removesuffix(_YEAR)}” of {things[0]}" if intent.direction == "forward" else back
    if intent.operation == VALUE:
        return f"“{intent.of}” of {things[0]}"
    return f"{listed(things) or reading.noun} in the order of “{intent.of}”"
