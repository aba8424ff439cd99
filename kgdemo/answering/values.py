"""What the graph states of one thing: a height, a number, a date."""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Iterable, Iterator
from itertools import product

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
from kgdemo.answering.operands import HARMLESS, is_date, operand_of, shown_value
from kgdemo.answering.orders import BEGINNINGS, Orders
from kgdemo.events import AnswerFinal, Event, Operand
from kgdemo.kg.labels import FUNCTION_WORDS, date_parts, fold, spoken
from kgdemo.kg.path import Path
from kgdemo.query.answer_type import kind_of, same_stem
from kgdemo.query.measures import BEGINNING, converted

_RELATIVE = re.compile(r"\b(?:that|which|who|whose|where|with)\b", re.IGNORECASE)
_ASKS_YEAR = re.compile(r"\byear\b", re.IGNORECASE)
_HOSTED_WHEN = re.compile(
    r"^(?:when|in (?:what|which) years?|(?:what|which) years?) (?:did|has|have) (?P<x>.+?) (?:(?P<which>last|first) )?"
    r"host(?:ed)? (?:the |an? )?(?P<what>[^\d]+?)$"
    r"|^(?:when|in (?:what|which) years?|(?:what|which) years?) (?:was|were) (?:the )?(?P<what2>[^\d]+?) "
    r"(?:(?P<which2>last|first) )?(?:held|hosted|staged) (?:in|by) (?P<x2>.+?)$",
    re.IGNORECASE,
)
_MAKERS = frozenset("person company band organization team".split())
_WHEN_DID = re.compile(r"\b(?:when|(?:what|which) (?:year|day|date)) (?:did|was|were)\b", re.IGNORECASE)
_ANY_DATE = "happened"  # which is asked for where no verb says which date is meant
_VICTORY = re.compile(r"\bdid .+ (?:win|lose|beat|defeat)\b", re.IGNORECASE)


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
            self._with_value(self.plan.things[0]),
        )
        if not entity and not dates and self.query.topics:
            yield no_answer(f"I found nothing in the graph called {self.plan.things[0]}.")
            return
        if attributes == (_ANY_DATE,) and _VICTORY.search(self.plan.asked):  # it did not begin with that
            yield no_answer(f"The graph holds no date for “{self.plan.things[0]}”.")
            return
        operand = operand_of(self.kg, entity, attributes) if entity else None
        days = self.sets.ends(entity, ("celebrated on",)) if entity and dates and operand is None else {}
        if days:
            yield from self._shown(days) or ()
            return
        if operand is not None and dates and operand.unit == "year":
            led = tuple(self._when())  # a path to the year shows more than the year
            if any(isinstance(event, AnswerFinal) and not event.refusal for event in led):
                yield from led
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

    def quantity_named(self) -> Iterator[Event]:
        """The value of a quantity that is all the question names: the *normal body temperature* of a human being."""
        for topic in self.query.topics:
            values = self.kg.literals.get(topic, {}) if kind_of(self.kg, topic) == "quantity" else {}
            units = [other for other in self.query.topics if other != topic and kind_of(self.kg, other) == "unit"]
            told = self.kg.words_of(topic, *units) | SAYS_LITTLE | HARMLESS | FUNCTION_WORDS | {"person", "normally"}
            told |= {word for name in values for word in name.split()}
            stated = operand_of(self.kg, topic, tuple(values)) if values else None
            words = self.query.content_words
            if stated is not None and all(any(same_stem(word, one) for one in told) for word in words):
                yield from self._stated(stated)
                return

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
        editions = self._editions_called(found["what"] or found["what2"]) if found else []
        ends: dict[str, Path] = {}
        for place in self._link(found["x"] or found["x2"])[:1] if found and editions else ():
            for edition, way in product(editions, ("hosted by", "took place in")):
                if self.sets.leads(edition, (way,), place) is not None:
                    for year in self.sets.ends(edition, ("happened in year",)):
                        ends[year] = Path((place, edition, year), (self.sets.inverse(way), "happened in year"))
        if found and ends and (which := (found["which"] or found["which2"] or "").lower()):
            year = min(ends) if which == "first" else max(ends)
            ends = {year: ends[year]}
        return self._shown(ends)

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
            yield from self._shown({own.end: own}) or ()
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
