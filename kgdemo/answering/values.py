"""What the graph states of one thing: a height, a number, a date.

A question that names what is measured is read by its words (``query.form``). Of one that does not, *at what height is
the hoop mounted*, the attribute is taken that its words are nearest to by sentence embeddings, where any is near.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Iterable, Iterator

from kgdemo.answering.computation import (
    BY,
    ORDER_WORD,
    SAYS_LITTLE,
    MethodRun,
    computed_answer,
    listed,
    no_answer,
    unchanged,
)
from kgdemo.answering.operands import HARMLESS, is_date, names_of_kind, operand_of, shown_value
from kgdemo.answering.orders import BEGINNINGS, Orders
from kgdemo.events import AnswerFinal, Event, Operand
from kgdemo.kg.labels import FUNCTION_WORDS, fold, spoken
from kgdemo.kg.literals import date_parts
from kgdemo.kg.path import Path
from kgdemo.linking.words import common_words
from kgdemo.models.embedding import embedding_cache
from kgdemo.query.answer_type import kind_of, same_stem
from kgdemo.query.measures import BEGINNING, NUMBERS, converted
from kgdemo.query.plan import Form
from kgdemo.query.wording import names_in

# cosine of a question and an attribute: of 18 that were asked for 16 lay above it, of 13 that are not stated none lay
# above 0.35
_NEAR = 0.44
_VERY_NEAR = 0.6
_RELATIVE = re.compile(r"\b(?:that|which|who|whose|where|with)\b", re.IGNORECASE)
_ASKS_YEAR = re.compile(r"\byear\b", re.IGNORECASE)
_HOSTED_WHEN = re.compile(
    r"^(?:when|in (?:what|which) years?|(?:what|which) years?) (?:did|has|have) (?P<x>.+?) (?:(?P<which>last|first) )?"
    r"host(?:ed)? (?:the |an? )?(?P<what>[^\d]+?)$",
    re.IGNORECASE,
)
_MAKERS = frozenset("person company band organization team".split())
_WHEN_DID = re.compile(r"\b(?:when|(?:what|which) (?:year|day|date)) (?:did|was|were)\b", re.IGNORECASE)
_NAMES_THEM = re.compile(  # *the six counties*, which are to be named, not counted
    rf"^(?!how many)(?:(?:(?:what|which|who) (?:are|were)|name|list|give)\b.*|.*['’]s? )(?:{'|'.join(NUMBERS)})\b", re.I
)
_ASKS_ANOTHER = re.compile(
    r"^(?:(?:in|on|at|by|of|to|from) )?(?:who|whom|whose|where|when|why|since|until"
    r"|which (?!height|age|temperature|speed|depth|price|port|frequency|size|number|percentage))\b"
    r"|^(?:in |on )?(?:what|which) (?:year|day|date|month|century)\b"  # a number is none
    r"|^how (?:do|does|did|come|is|are|was|were)\b|\b\d{4}\b|\b(?:average|per (?!side|team|match|game))\b",
    re.IGNORECASE,
)
_ANY_DATE = "happened"  # which is asked for where no verb says which date is meant
_DID = re.compile(r"^(?:when|(?:in )?(?:what|which) year|on (?:what|which) (?:day|date)) did\b", re.IGNORECASE)
_VICTORY = re.compile(r"\bdid .+ (?:win|lose|beat|defeat)\b", re.IGNORECASE)
_MEANWHILE = frozenset("come become into out down up off over his her its their start begin begun end".split())
_ASKS_WHICH_ONE = re.compile(  # a name, and no number
    r"^(?!.*\bhow (?:many|much|long|tall|high|far|fast|old|big|deep|heavy|wide)\b)"
    r".*\b(?:who|whose|which one|title|name)\b",
    re.IGNORECASE,
)
_OF_PEOPLE = frozenset("players members passengers crew inhabitants soldiers persons".split())
_HOW_MANY = re.compile(r"(?:.*\b)?how many (?P<unit>[a-z]+)\b", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?$")


class Values(Orders):
    """Answers that are values of one thing."""

    def value(self) -> Iterator[Event]:
        """What the graph states of one thing."""
        attributes, dates = self.plan.attributes, is_date(self.plan.attributes[0])
        if attributes[0] in BEGINNINGS:
            attributes = (*attributes, BEGINNING)
        hosted = self._hosted_when() if dates else None
        if hosted is not None:
            yield from hosted
            return
        meant = self._event_meant() if dates else None
        if meant is not None:
            yield from self._stated(meant)
            return
        if dates and _RELATIVE.search(self.plan.things[0]):  # the war that a battle belongs to has to be found first
            yield from self._plainly()
            return
        events = (self._with_value(thing) for thing in self.plan.things[1:])  # the *fall of* a wall before the wall
        entity = next(
            (e for e in events if e and operand_of(self.kg, e, attributes)),
            self._with_value(self.plan.things[0]) or self._topic_in(self.plan.things[0]),
        )
        if not entity and not dates and self.query.topics:
            yield no_answer(f"I found nothing in the graph called {self.plan.things[0]}.")
            return
        if attributes == (_ANY_DATE,) and _VICTORY.search(self.plan.asked):  # it did not begin with that
            yield no_answer(f"The graph holds no date for “{self.plan.things[0]}”.")
            return
        if entity and attributes == (_ANY_DATE,) and (done := self._something_else(entity)):
            strange = any(word not in common_words() for word in done.split())  # a name that linking has not taken
            if strange or not (yield from self._led_to_when()):
                yield no_answer(f"The graph does not hold when “{done}” was true of {entity}.")
            return
        operand = operand_of(self.kg, entity, attributes) if entity else None
        days = self.sets.ends(entity, ("celebrated on",)) if entity and dates and operand is None else {}
        if days:
            yield from self._shown_by_paths("step", {end: (path,) for end, path in days.items()})
            return
        if operand is not None and dates and operand.unit == "year":
            if (yield from self._led_to_when()):
                return
        elif operand is None:
            if dates and entity and self.kg.literals:
                if not (yield from self._led_to_when()):
                    yield no_answer(
                        f"The graph holds no such date of {entity}. What it holds of it: {self._relations_of(entity)}."
                    )
                return
            if dates or not self.kg.literals or not entity:
                yield from self._when()
                return
            held = f"The graph holds no {self._attribute_name()} of {entity}."
            yield no_answer(f"{held} What it holds of it: {self._relations_of(entity)}.")
            return
        others = [t for t in self.query.topics if t != entity and not set(fold(t).split()) & set(fold(entity).split())]
        holders = (entity, *self._holders(entity))  # of the *first iPhone*, which is a record, the telephone itself
        others = [t for t in others if all(self.sets.joined(one, t) is None for one in holders)]
        if others and dates and attributes[0] != "independence":  # when *Napoleon* walked on the moon
            yield no_answer(
                f"The graph says when {entity} was ({shown_value(operand)}), but not in connection with {others[0]}."
            )
            return
        yield from self._stated(operand)

    def _event_meant(self) -> Operand | None:
        """The date of an event around a topic whose names tell all else that the question says: *dissolved the union*.

        Of a verb alone, *founded*, the thing's own dates say more.
        """
        asked = fold(self.plan.asked).split()
        for topic in self.query.topics:
            own = self.kg.words_of(topic)
            others = self.kg.words_of(*(other for other in self.query.topics if other != topic))
            told = [*self.query.content_words, *(word for word in asked if word in others)]
            said = [word for word in dict.fromkeys(told) if word not in own | SAYS_LITTLE | FUNCTION_WORDS]
            around = dict.fromkeys(end for _, end in self.kg.neighbours(topic)) if len(said) > 1 else {}
            for event in (end for end in around if kind_of(self.kg, end) == "event"):
                words = self.kg.words_of(event)
                if all(any(same_stem(word, other) for other in words) for word in said):
                    return operand_of(self.kg, event, (_ANY_DATE,))
        return None

    def _something_else(self, entity: str) -> str:
        """What a thing did that its one date is not of, *made its maiden flight*; empty for a verb alone, *sank*."""
        if not _DID.search(self.plan.asked):
            return ""
        told = self.kg.words_of(entity, *self.query.topics) | SAYS_LITTLE | FUNCTION_WORDS | _MEANWHILE
        left = [word for word in fold(self.plan.things[0]).split() if word not in told]
        is_verb = left and not left[0].endswith("s")  # the euro *notes* are a part of the name
        return " ".join(left) if len(left) > 1 and is_verb else ""

    def value_meant(self, described: bool) -> Iterator[Event]:
        """The number of a topic whose name is nearest to what the question says of it; nothing where none is near.

        Args:
            described: the question may speak of something that it describes: *the tallest mountain of* the topic.
        """
        kinds = names_of_kind(self.plan.noun) if self.plan.noun and self.plan.form is Form.ENTITY else ()
        of_kind = not self.kg.types.isdisjoint(kinds)
        told = self.kg.words_of(*self.query.topics)
        unmet = [name for name in names_in(self.plan.asked) if fold(name) not in told]
        if (
            _NAMES_THEM.search(self.plan.asked) or unmet or _ASKS_WHICH_ONE.search(self.plan.asked)
        ):  # of a *Scrabble* set it says nothing how many letters are
            return
        if of_kind or _ASKS_ANOTHER.search(self.plan.asked) or len(self.query.topics) > 2:  # no *country* is a value
            return
        quantity = self._quantity()
        if quantity is not None:
            yield from self._stated(quantity)
            return
        vectors, unit = embedding_cache(self.resources.embedder), _HOW_MANY.match(self.plan.asked)
        best, nearest = _VERY_NEAR if described else _NEAR, ("", "")
        for topic in self.query.topics:
            names = self.kg.words_of(topic)
            rest = " ".join(word for word in self.plan.asked.split() if fold(word.replace("'s", "")) not in names)
            stated = {
                attribute: value
                for attribute, value in self.kg.literals.get(topic, {}).items()
                if _NUMBER.match(value.value) and value.unit and not _asks_which(self.plan.asked, attribute)
                if unit is None or _says(unit["unit"], attribute, value.unit)
            }
            likeness = vectors.similarity(rest, list(stated)).tolist() if rest else []
            for attribute, near in zip(stated, likeness, strict=False):
                if near > best:
                    best, nearest = near, (topic, attribute)
        operand = operand_of(self.kg, nearest[0], (nearest[1],)) if nearest[0] else None
        others = [topic for topic in self.query.topics if topic != nearest[0]]
        if operand is not None and all(self.sets.joined(nearest[0], other) is not None for other in others):
            yield from self._stated(operand)

    def _quantity(self) -> Operand | None:
        """The value of a quantity that is all the question names: the *normal body temperature* of a human being."""
        for topic in self.query.topics:
            values = self.kg.literals.get(topic, {}) if kind_of(self.kg, topic) == "quantity" else {}
            named = self.kg.words_of(topic)
            if values and not set(self.query.content_words) - named - SAYS_LITTLE - HARMLESS - FUNCTION_WORDS - {
                "person"
            }:
                return operand_of(self.kg, topic, tuple(values))
        return None

    def _stated(self, operand: Operand) -> Iterator[Event]:
        """A value as the graph states it, and in the unit that it is asked in."""
        dates = is_date(self.plan.attributes[0]) if self.plan.attributes else False
        result = (f"{operand.value} {operand.unit}".strip(),)
        text = f"{operand.entity}: {operand.attribute} {shown_value(operand)}"
        operation = yield from self._operate("value", text, [operand], result)
        if operation is not None:
            year = dates and (_ASKS_YEAR.search(self.query.text) or _ASKS_YEAR.search(self.plan.asked))
            asked_in = "" if dates else converted(float(operand.value), operand.unit, self.plan.unit)
            shown = str(date_parts(operand.value)[0]) if year else shown_value(operand)
            yield computed_answer(f"{text}{f', which is {asked_in}' if asked_in else ''}.", (asked_in or shown,))

    def _hosted_when(self) -> Iterator[Event] | None:
        """The years in which a place hosted one of a series; None where that is not asked or not known."""
        found = _HOSTED_WHEN.match(self.plan.asked)
        editions = self._editions_called(found["what"]) if found else []
        ends: dict[str, tuple[Path, ...]] = {}
        for place in self._link(found["x"])[:1] if found and editions else ():
            for edition in editions:
                for year in self.sets.ends(edition, ("happened in year",)):
                    for way in ("hosted by", "took place in"):
                        if self.sets.leads(edition, (way,), place) is not None:
                            relations = (self.sets.inverse(way), "happened in year")
                            ends[year] = (Path((place, edition, year), relations),)
        if found and ends and (which := (found["which"] or "").lower()):
            year = min(ends) if which == "first" else max(ends)
            ends = {year: ends[year]}
        return self._shown_by_paths("step", ends) if ends else None

    def _led_to_when(self) -> Generator[Event, None, bool]:
        """The method's own answer where it has one: a path to a year shows more than the year; whether it has."""
        for event in self._when():
            if isinstance(event, AnswerFinal) and event.refusal and event.by != BY:
                return False
            yield event
        return True

    def _when(self) -> Iterator[Event]:
        """The method's own answer, where what happened is what its relation says: to *reach* is not to be born."""
        ran = yield from self._base(plainly=True)
        if other := self._of_another_time(ran):
            yield no_answer(other)
            return
        words = [word for word in self.query.content_words if not ORDER_WORD.match(f"{word} x")]
        verb = self._uncovered(ran.cited[0], words) if words and not ran.refused else ""
        if verb and _WHEN_DID.search(self.query.text):
            said = " → ".join(spoken(relation) for relation in ran.cited[0].relations)
            yield no_answer(f"The closest that the graph holds is “{said}”, and that does not say “{verb}”.")
            return
        used = {entity for path in ran.cited for entity in path.entities}
        apart = [t for t in self.query.topics if t not in used and not self._same_words(t, used)]
        apart = [t for t in apart if not any(self.sets.joined(one, t) for one in used)]  # *Nirvana*, whose album it is
        if apart and not ran.refused:  # when somebody *walked on Mars*
            yield no_answer(f"The graph holds {ran.cited[0]}, but no date that has to do with {apart[0]}.")
            return
        own = self._date_of_another(ran, used) if not ran.refused else None
        if own is not None:
            yield from self._shown_by_paths("step", {own.end: (own,)})
            return
        if not ran.refused and ran.final is not None and not self._says_when(ran.final.answers):
            yield no_answer(f"The graph does not say when; what it holds is {listed(ran.final.answers, 8)}.")
            return
        yield from unchanged(ran.final)

    def _date_of_another(self, ran: MethodRun, used: Collection[str]) -> Path | None:
        """A path to the year of a thing, where that of its maker was found: when somebody *released an album*."""
        makers = [one for one in used if kind_of(self.kg, one) in _MAKERS]
        for path in ran.paths.values():
            start = path.entities[0]
            made = start not in used and kind_of(self.kg, start) not in _MAKERS
            made = made and any(self.sets.joined(one, start) for one in makers)
            if made and len(path.relations) == 1 and kind_of(self.kg, path.end) in ("year", "day"):
                return path
        return None

    def _same_words(self, topic: str, others: Iterable[str]) -> bool:
        words = set(fold(topic).split())
        return any(words & set(fold(other).split()) for other in others)


def _says(noun: str, attribute: str, unit: str) -> bool:
    """Whether a value is one of what is counted: of how many *days* one in days."""
    words = fold(f"{attribute} {unit}").split()
    return any(same_stem(noun, word) for word in words) or (noun == "people" and not _OF_PEOPLE.isdisjoint(words))


def _asks_which(question: str, attribute: str) -> bool:
    """Whether a question asks which things they are whose number is stated: *what colours*, not how many."""
    return re.match(rf"(?:what|which) {re.escape(attribute)}\b", question, re.IGNORECASE) is not None
