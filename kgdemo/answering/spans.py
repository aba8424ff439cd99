"""What lies between two dates: ages, reigns, wars, who held an office meanwhile; and what stands next in an order.

A date may be that of an event which a question tells: *did Mozart die before Beethoven was born*, *how many years after
Sputnik 1 did Apollo 11 land on the Moon*, *how old was Mozart when he composed The Magic Flute*. An event is a thing
that the graph dates, or what a verb says of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import date

from kgdemo.answering.computation import (
    SAYS_LITTLE,
    MethodRun,
    computed_answer,
    is_one_moment,
    listed,
    no_answer,
    order_of,
    within_bound,
    years_between,
)
from kgdemo.answering.operands import all_of_kind, operand_of, same_attribute, shown_value
from kgdemo.answering.orders import are_consecutive
from kgdemo.answering.values import Values
from kgdemo.events import AnswerFinal, Event, Operand, Operation
from kgdemo.kg.labels import FUNCTION_WORDS, fold
from kgdemo.kg.path import Path
from kgdemo.linking.names import name_index
from kgdemo.query.answer_type import kind_of, same_stem
from kgdemo.query.measures import AGE, BEGINNING, COURSE, DATE, IN_OFFICE, LIFE, TODAY
from kgdemo.query.query import Form

_COMES_NEXT = re.compile(
    r"^(?:(?:in|on) (?:the )?(?P<first>[^,]+), )?(?:which|what|who) (?:[\w'-]+ ){0,4}?"
    r"(?:comes|come|came|is|was|follows|stands)(?: the)?(?: next| one| directly| right| straight| immediately| just)*"
    r" ?(?:the )?(?P<way>after|before|behind) "
    r"(?:the )?(?P<x>.+?)(?:,? (?:in|on) (?:the )?(?P<within>.+))?$",
    re.IGNORECASE,
)
_COMES_BETWEEN = re.compile(
    r"^(?:which|what|who) (?:[\w'’-]+ ){0,4}?(?:comes?|came|is|was|lies|lay|stands|sits|falls|orbits)"
    r"(?: right| directly| exactly)?(?: in)? between (?:those of )?(?:the )?(?P<x>.+?) and (?:the )?(?P<y>.+?)"
    r"(?: in (?:the )?(?P<within>.+))?$",
    re.IGNORECASE,
)
_NUMBERED_BY = {"planet": "distance from the Sun", "element": "atomic number"}  # all of a kind
_STILL_THERE = re.compile(  # *did the Ottoman Empire still exist in 1910*
    r"^(?:did|was|were) (?P<x>.+?) (?:(?:still|already|yet) )?(?:exist|alive|around|in existence|there|living)"
    r"(?: (?:still|already))? (?:in|during) (?:the year )?(?P<year>\d{3,4})$",
    re.IGNORECASE,
)
_DATE_OF = {  # the verb of an event, or its noun, and the date that says when it was
    "born": "born", "birth": "born", "die": "died", "died": "died", "death": "died", "murder": "died", "killed": "died",
    "murdered": "died", "assassinated": "died", "assassination": "died", "execution": "died", "executed": "died",
    "founded": "founded", "established": "founded", "foundation": "founded", "founding": "founded",
    "built": "opened", "opened": "opened", "completed": "opened", "finished": "opened", "open": "opened",
    "dedicated": "opened", "unveiled": "opened", "inaugurated": "opened", "opening": "opened",
    "completion": "opened", "invented": "discovered", "discovered": "discovered",
    "invention": "discovered", "discovery": "discovered", "released": "released", "published": "released",
    "written": "released", "composed": "released", "painted": "released", "release": "released",
    "publication": "released", "premiere": "released", "come out": "released", "came out": "released",
    "launched": "launched", "launch": "launched", "begin": "began", "began": "began", "start": "began",
    "started": "began", "beginning": "began", "outbreak": "began", "broke out": "began", "break out": "began",
    "end": "ended", "ended": "ended", "finish": "ended", "happen": "happened", "happened": "happened",
    "take place": "happened", "took place": "happened", "crowned": IN_OFFICE[0], "coronation": IN_OFFICE[0],
    "elected": IN_OFFICE[0], "land": "landed", "landed": "landed", "landing": "landed",
}  # fmt: skip
_VERBS = "|".join(sorted(_DATE_OF, key=len, reverse=True))
_SAID_OF = (  # an event as what happens to a thing
    re.compile(rf"^(?P<x>.+?) (?:(?:was|were|is|had been|did) )?(?:first )?(?P<verb>{_VERBS})$", re.IGNORECASE),
    re.compile(rf"^(?:the )?(?P<verb>{_VERBS}) of (?:the )?(?P<x>.+)$", re.IGNORECASE),
    re.compile(rf"^(?P<x>.+?)(?:['’]s|(?<=s)['’]) (?P<verb>{_VERBS})$", re.IGNORECASE),
    re.compile(r"^(?P<x>.+?) (?P<verb>land|landed) on .+$", re.IGNORECASE),
)
_MAKES_SOMETHING = re.compile(
    r"^(?:he|she|they) (?:first |finally )?(?:wr[io]te|publish(?:ed)?|composed?|paint(?:ed)?|direct(?:ed)?"
    r"|invent(?:ed)?|discover(?:ed)?|found(?:ed)?|built|build|record(?:ed)?|released?|created?|designed?"
    r"|sculpt(?:ed)?) (?P<what>.+)$",
    re.IGNORECASE,
)
_SAID = {"born": "was born", "founded": "was founded", "opened": "was opened", "released": "came out"}
_BE_DONE = re.compile(r"(?P<x>.+?) (?P<be>was|were) (?P<rest>.+)", re.IGNORECASE)
_DATED = re.compile(r"-?\d{1,4}(?:-\d\d){0,2}")
_YEAR_TOLD = re.compile(r" \((?:in )?\d{3,4}\)$")  # *Magna Carta (1215)*
_GROUPS = ("part of", "instance of", "part of series")
_A_DAY, _A_YEAR = 1 / 372, 1.0
Span = tuple[Operand, Operand]


class Spans(Values):
    """Answers that are read off the time between two dates."""

    def span(self) -> Iterator[Event]:
        """How long something lasted, or somebody lived."""
        entity = self._with_value(self.plan.things[0])
        if self.plan.attributes[1] == TODAY:
            yield from self._age_today(entity)
            return
        earlier, later = (operand_of(self.kg, entity, [name]) if entity else None for name in self.plan.attributes)
        lasts = operand_of(self.kg, entity, ("duration",)) if entity and self.plan.attributes == COURSE else None
        if lasts is not None and (earlier is None or later is None):  # a song begins and ends on no date
            yield from self._stated(lasts)
            return
        if earlier is None or later is None:
            lacking = [name for name, o in zip(self.plan.attributes, (earlier, later), strict=True) if o is None]
            yield no_answer(f"The graph does not hold when {entity or self.plan.things[0]} {' and '.join(lacking)}.")
            return
        if is_one_moment(earlier, later):
            yield no_answer(
                f"The graph says only when {entity} happened ({shown_value(earlier)}), not how long it took."
            )
            return
        kind = "age" if self.plan.attributes[0] == "born" else "span"
        years = years_between(earlier, later, kind)
        text = f"{earlier.attribute} {shown_value(earlier)}, {later.attribute} {shown_value(later)}: {years} years"
        operation = yield from self._operate("difference", text, [earlier, later], (years,), kind)
        if operation is not None:
            yield computed_answer(f"{years} years ({entity}: {text.rsplit(':', 1)[0]}).", (years,))

    def centuries(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events of a question for a date, with the century of it in place of the date."""
        ran, stated = MethodRun(), dict[str, Operand]()
        for event in events:
            ran.see(event)
            if isinstance(event, Operation) and event.kind == "value":
                stated = {shown_value(operand): operand for operand in event.operands}
            if not isinstance(event, AnswerFinal) or event.refusal:
                yield event
                continue
            ran.final = event
            led = {path.end: Operand(path.end, (path,)) for path in ran.cited}
            operands = [o for answer in event.answers if (o := stated.get(answer) or led.get(answer)) is not None]
            years = [_year_of(operand) for operand in operands]
            found = tuple(dict.fromkeys(_century(year) for year in years if year is not None))
            if not found or None in years or len(operands) != len(event.answers):
                yield event
            elif (yield from self._operate("century", f"{listed(event.answers)}: {listed(found)}", operands, found)):
                yield computed_answer(f"{listed(found)} ({listed(event.answers)}).", found)

    def _age_today(self, entity: str) -> Iterator[Event]:
        """The age of somebody of whom the graph states no death; of something that was founded or built."""
        if not entity:
            yield no_answer(f"I found nothing in the graph called {self.plan.things[0]}.")
            return
        born = operand_of(self.kg, entity, ["born", "founded", "opened"])
        died = operand_of(self.kg, entity, ["died"])
        if born is None:
            yield no_answer(f"The graph does not hold when {entity} was born or began.")
            return
        if died is not None:
            years = years_between(born, died, AGE)
            said = f"{entity} died {shown_value(died)}, {years} years old"
            operation = yield from self._operate("difference", said, [born, died], (years,), AGE)
        else:
            today = date.today().isoformat()
            now = Operand(entity, (), "", today)
            years = years_between(born, now, AGE)
            said = f"{entity}: {born.attribute} {shown_value(born)}, so {years} years on {shown_value(now)}"
            said += " if the graph has not missed a death" if born.attribute.startswith("born") else ""
            operation = yield from self._operate("age", said, [born], (years,), today)
        if operation is not None:
            yield computed_answer(f"{said}.", (years,))

    def beside(self) -> Iterator[Event] | None:
        """What comes right after or before one of a numbered group, or of the planets, or between two of it.

        None where that is not asked.
        """
        found = _COMES_BETWEEN.match(self.plan.asked) or _COMES_NEXT.match(self.plan.asked)
        said = found.groupdict() if found else {}
        within = set(self._link(said.get("within") or said.get("first") or "")) if said else set[str]()
        others = self._may_mean(said["y"]) if "y" in said else []
        for one in self._may_mean(said["x"]) if said else ():
            ordered = self._in_order_with(one, within)
            names = [operand.entity for operand in ordered]
            if one not in names:
                continue
            at, ends = names.index(one), [names.index(other) for other in others if other in names]
            places = [(at + end) // 2 + 1 for end in ends if abs(at - end) == 2]
            if "way" in said:
                places = [at if said["way"].lower() == "before" else at + 2]
            if places and 0 < places[0] <= len(names):
                return self._nth_of(MethodRun(), ordered, places[0])
        return None

    def _may_mean(self, name: str) -> list[str]:
        """All that a name may stand for."""
        called_so = (self.kg.entities[own.entity] for own in name_index(self.kg).called(name))
        return list(dict.fromkeys((*self._link(name), *called_so)))

    def _in_order_with(self, one: str, within: Collection[str]) -> list[Operand]:
        """All that is numbered in one order with a thing: the parts of one whole, the planets, the elements."""
        kind = kind_of(self.kg, one)
        if kind in _NUMBERED_BY:
            return sorted(same_attribute(self.kg, all_of_kind(self.kg, kind), [_NUMBERED_BY[kind]]), key=order_of)
        around = [(label, end) for label, end in self.kg.neighbours(one, directed=True) if label in _GROUPS]
        groups = sorted((end for _, end in around), key=lambda end: end not in within)
        numbered = (same_attribute(self.kg, list(self.sets.members(group)), ["order"]) for group in groups)
        return sorted(next((own for own in numbered if are_consecutive(own)), []), key=order_of)

    def existed(self) -> Iterator[Event] | None:
        """Whether somebody was alive, or something was there, in a year; None where that is not asked or not known."""
        found = _STILL_THERE.match(self.plan.asked)
        entity = self._with_dates(self._link(found["x"]), ()) if found else ""
        began = operand_of(self.kg, entity, ("born", "began", "founded", "opened")) if entity else None
        if not found or began is None:
            return None
        return self._was_there(began, operand_of(self.kg, entity, ("died", "ended")), int(found["year"]))

    def _was_there(self, began: Operand, ended: Operand | None, year: int) -> Iterator[Event]:
        dates = [began] if ended is None else [began, ended]
        said = ", ".join(f"{operand.attribute} {shown_value(operand)}" for operand in dates)
        if any(_year_of(operand) == year for operand in dates):
            yield no_answer(f"In that very year it began or ended: {began.entity} {said}.")
            return
        there = [within_bound([began], f"< {year}"), within_bound([ended], f"> {year}") if ended else (began.entity,)]
        bounds = [f"< {year}", f"> {year}"]
        for operand, result, bound in zip(dates, there, bounds, strict=False):
            if (yield from self._operate("filter", f"{operand.entity} {said}", [operand], result, bound)) is None:
                return
        answer = "Yes" if all(there) else "No"
        no_end = "" if ended else ", and the graph states no end"
        yield computed_answer(f"{answer}: {began.entity} {said}{no_end}.", (answer,))

    # compared with each other -------------------------------------------------------------------

    def compare_spans(self) -> Iterator[Event]:
        """Which of two things lasted longer."""
        spans = []
        for thing in self.plan.things:
            entity = self._with_dates(self._named(thing))
            if not entity:
                yield no_answer(f"I found nothing in the graph called {thing}.")
                return
            span = self._span_of(entity)
            if span is None:
                yield no_answer(f"The graph does not hold when {entity} {self._lacking(entity)}.")
                return
            spans.append(span)
        if not self._is_decided(spans, 1):
            yield no_answer("They differ by less than a year, which the dates of the graph do not decide.")
            return
        best = self._by_length(spans)[0][0].entity
        operation = yield from self._operate(self._kind(), _told(spans), _dates_of(spans), (best,), "1")
        if operation is None:
            return
        if self.plan.form is Form.YES_NO:
            answer = "Yes" if best == spans[0][0].entity else "No"
            yield computed_answer(f"{answer}: {_told(spans)}.", (answer,))
        else:
            yield computed_answer(f"{best}: {_told(spans)}.", (best,))

    def same_time(self) -> Iterator[Event]:
        """Whether two people were alive at the same time."""
        entities = [entity for topic in self.query.topics if (entity := self._with_dates([topic], LIFE))][:2]
        spans = [span for entity in entities if (span := self._span_of(entity, names=LIFE))]
        if len(spans) < 2:
            yield no_answer("The graph does not hold from when until when both of them lived.")
            return
        one, other = spans
        shared = _overlap(one, other)
        if abs(shared) <= max(_doubt(one), _doubt(other)):
            yield no_answer("One of them died about when the other was born, and the dates of the graph do not decide.")
            return
        result = (other[0].entity,) if shared > 0 else ()
        operation = yield from self._operate("meanwhile", _told(spans), _dates_of(spans), result)
        if operation is not None:
            answer = "Yes" if result else "No"
            yield computed_answer(f"{answer}: {_told(spans)}.", (answer,))

    def longest(self) -> Iterator[Event]:
        """Which thing of a kind lasted longest, or the one at a place in that order."""
        if record := self._record():
            yield from self._of_record(record)
            return
        ran, ends = MethodRun(), dict[str, tuple[Path, ...]]()
        if self.query.topics:
            ran = yield from self._base()
            ends = {} if ran.refused else {end: (path,) for end, path in self._set_of(ran, self.plan.noun).items()}
        else:
            ends = dict.fromkeys(all_of_kind(self.kg, self.plan.noun), ())
        if len(ends) < 2:
            yield no_answer(f"The graph holds no {self.plan.noun} here of which it knows from when until when.")
            return
        spans = [span for end, paths in ends.items() if (span := self._span_of(end, paths))]
        if self.plan.bound:
            within = within_bound([began for began, _ in spans], self.plan.bound)
            spans = [span for span in spans if span[0].entity in within]
        place = abs(self.plan.place) or 1
        if place > len(spans):
            held = f"The graph holds {len(ends)} ({listed(list(ends), 8)})"
            yield no_answer(f"{held}, but not from when until when for enough of them.")
            return
        ordered = self._by_length(spans)
        if not self._is_decided(ordered, place):
            yield no_answer(f"The dates of the graph do not decide between these: {_told(ordered[: place + 1])}.")
            return
        best = ordered[place - 1][0].entity
        operation = yield from self._operate(self._kind(), _told(ordered[:8]), _dates_of(ordered), (best,), str(place))
        if operation is not None:
            of = f"of the {len(spans)} whose dates the graph holds"
            yield computed_answer(f"{best}: {_told([ordered[place - 1]])} ({of}).", (best,), ran)

    def _kind(self) -> str:
        return "longest" if self.plan.greatest else "shortest"

    def _by_length(self, spans: Sequence[Span]) -> list[Span]:
        return sorted(spans, key=_length, reverse=self.plan.greatest)

    def _is_decided(self, spans: Sequence[Span], place: int) -> bool:
        """Whether the one at a place of an order differs from its neighbours by more than the dates leave open."""
        ordered = self._by_length(spans)
        chosen = ordered[place - 1]
        around = [*ordered[max(place - 2, 0) : place - 1], *ordered[place : place + 1]]
        return all(abs(_length(chosen) - _length(one)) > max(_doubt(chosen), _doubt(one)) for one in around)

    def _span_of(self, entity: str, paths: tuple[Path, ...] = (), names: Sequence[str] = ()) -> Span | None:
        """From when until when; nothing where the graph does not know one of the dates."""
        first, last = (operand_of(self.kg, entity, [name], paths) for name in names or self.plan.span)
        return None if first is None or last is None else (first, last)

    def _with_dates(self, meant: Sequence[str], names: Sequence[str] = ()) -> str:
        """Of what a name may mean the first that the graph knows a date of."""
        names = names or self.plan.span
        dated = (entity for entity in meant if any(operand_of(self.kg, entity, [name]) for name in names))
        return next(dated, next(iter(meant), ""))

    def _lacking(self, entity: str) -> str:
        said = {"born": "was born", "in office from": "came into office", "in office until": "left office"}
        lacking = (name for name in self.plan.span if operand_of(self.kg, entity, [name]) is None)
        return " and ".join(said.get(name, name) for name in lacking)

    # at the time of something else ---------------------------------------------------------------

    def meanwhile(self) -> Iterator[Event]:
        """Who held an office at the time of an event, or for most of it."""
        if not self.kg.literals:  # a graph without dates: its paths may tell
            yield from self._plainly()
            return
        event = next((e for e in self._link(self.plan.during) if self._window(e)), "")
        meant = self._link(self.plan.base)
        offices = [entity for entity in meant if kind_of(self.kg, entity) == "position"]
        topics = offices[:1] or [topic for topic in self.query.topics if topic in meant and topic != event]
        if not event or not topics:
            lacking = f"when this was: {self.plan.during}" if not event else f"which office is meant: {self.plan.base}"
            yield no_answer(f"The graph does not hold {lacking}.")
            return
        window = self._window(event)
        ran = yield from self._base(topics=topics)
        ends = {} if ran.refused else self._whole_set(ran)
        terms = [
            (first, last)
            for end, path in ends.items()
            if (first := operand_of(self.kg, end, [IN_OFFICE[0]], (path,)))
            and (last := operand_of(self.kg, end, [IN_OFFICE[1]], (path,)))
        ]
        if not terms:
            held = f" The graph holds {len(ends)} ({listed(list(ends), 8)}), without their dates." if ends else ""
            yield no_answer(f"I found nobody with the dates of an office.{held}")
            return
        then = [term for term in terms if _overlap(window, term) >= 0]
        kind = "meanwhile"
        if self.plan.moment == "most" and then:
            kind, then = "most of", [max(then, key=lambda term: _overlap(window, term))]
        result = tuple(term[0].entity for term in then)
        when = " to ".join(dict.fromkeys(shown_value(operand) for operand in window))
        if not result:
            yield no_answer(
                f"None of the {len(terms)} that the graph holds with their dates was in office then: {when}."
            )
            return
        text = f"{event}: {when}; in office then, of {len(terms)}: {_told(then)}"
        operation = yield from self._operate(kind, text, [*window, *_dates_of(terms)], result)
        if operation is not None:
            yield computed_answer(f"{_told(then)} ({event}: {when}).", result, ran)

    def _window(self, event: str) -> list[Operand]:
        """The dates between which something was going on, or the one that is asked about; empty where unknown."""
        if self.plan.moment in _OWN_DATES:
            date = operand_of(self.kg, event, [self.plan.moment])
            return [] if date is None else [date, date]
        first, last = (operand_of(self.kg, event, [name]) for name in ("began", "ended"))
        if first is None or last is None:
            return []
        if "-" in first.value[1:] and first.value.startswith(f"{last.value}-"):
            last = first  # of what happened on a day the year says no more
        return {"start": [first, first], "end": [last, last]}.get(self.plan.moment, [first, last])

    # two events with a date each -----------------------------------------------------------------

    def came_before(self, when: Callable[[str], Iterable[Event]]) -> Iterator[Event]:
        """Whether one event was before another, or after it.

        Args:
            when: answers a question that asks when an event was.
        """
        moments = self._both(when)
        if isinstance(moments, str):
            yield no_answer(moments)
            return
        one, other = moments
        said = _events_told(moments)
        if _undecided(one, other):
            yield no_answer(f"The dates of the graph do not decide it: {said}.")
            return
        kind, pick = ("greatest", max) if self.plan.words[0] == "after" else ("least", min)
        first = pick(moments, key=order_of)
        operation = yield from self._operate(kind, said, moments, (first.entity,))
        if operation is not None:
            answer = "Yes" if first is one else "No"
            yield computed_answer(f"{answer}: {said}.", (answer,))

    def between(self) -> Iterator[Event]:
        """How many years lie between two events; how old somebody was at one, where the first is a birth."""
        moments = self._both()
        if isinstance(moments, str):
            yield no_answer(moments)
            return
        word = self.plan.words[0]
        earlier, later = sorted(moments, key=order_of)
        first = moments[word == "before"]  # how old somebody was at what came before his birth is not asked either
        if word != "between" and earlier is not first and not _undecided(*moments):
            yield no_answer(f"It was the other way round: {_events_told([earlier, later])}.")
            return
        kind = AGE if word == AGE else "span"
        years = years_between(earlier, later, kind)
        said = _events_told([earlier, later])
        operation = yield from self._operate("difference", f"{said}: {years} years", [earlier, later], (years,), kind)
        if operation is not None:
            yield computed_answer(f"{years} years ({said}).", (years,))

    def _both(self, when: Callable[[str], Iterable[Event]] = lambda _: ()) -> list[Operand] | str:
        """The two events with their dates; in their place a sentence where the graph does not hold one."""
        found: list[Operand] = []
        for thing in self.plan.things:
            moment = self._moment(thing, found) or self._answered(thing, not found, when)
            if moment is None:
                return f"The graph does not hold when this was: “{thing}”."
            found.append(moment)
        return found

    def _moment(self, event: str, before: Sequence[Operand]) -> Operand | None:
        """The date of an event; None where the graph names no such event, or not its date.

        Args:
            event: as the question says it.
            before: the event before it, whose thing *he* or *she* is.
        """
        event = _YEAR_TOLD.sub("", event.strip(" ,"))
        after = self.plan.words[0] == "after" and not before
        for entity in self._link(event):
            over = ("ended",) if after and kind_of(self.kg, entity) == "war" else ()
            dated = operand_of(self.kg, entity, (*over, BEGINNING, DATE, "launched"))
            if dated is not None and self._names_all_of(entity, event):
                return dated
        for found in filter(None, (pattern.match(event) for pattern in _SAID_OF)):
            he = found["x"].lower() in ("he", "she", "it", "they")
            meant = [operand.entity for operand in before] if he else self._link(found["x"])
            stated = (operand_of(self.kg, entity, (_DATE_OF[found["verb"].lower()],)) for entity in meant)
            if (dated := next(filter(None, stated), None)) is not None:
                return dated
        return self._made(event, before[0].entity) if before else None

    def _answered(self, event: str, is_first: bool, when: Callable[[str], Iterable[Event]]) -> Operand | None:
        """The date that answers when an event was: *the Titanic sank*."""
        told = _BE_DONE.match(event)
        asked = self.plan.asked.split()[0] if is_first else "did"
        question = f"when {told['be']} {told['x']} {told['rest']}" if told else f"when {asked.lower()} {event}"
        events = list(when(question))
        final = next((own for own in events if isinstance(own, AnswerFinal)), None)
        stated = [one.operands for one in events if isinstance(one, Operation) and one.verified and one.kind == "value"]
        if final is None or final.refusal or len(stated) != 1 or len(stated[0]) != 1:
            return None
        (operand,) = stated[0]
        return operand if _DATED.fullmatch(operand.value) and operand.unit in ("", "year") else None

    def _made(self, event: str, maker: str) -> Operand | None:
        """When what somebody made came to be: *he composed The Magic Flute*; None where it is not stated to be his."""
        found = _MAKES_SOMETHING.match(event)
        what = found["what"] if found else ""
        for work in self._link(what) if what else ():
            dated = operand_of(self.kg, work, (BEGINNING,))
            if dated is not None and self.sets.joined(work, maker) is not None and self._names_all_of(work, what):
                return dated
        return None

    def _names_all_of(self, entity: str, event: str) -> bool:
        """Whether every word of an event belongs to the name of a thing, so that no verb is left unread."""
        words = self.kg.words_of(entity)
        said = set(fold(event).split()) - FUNCTION_WORDS - SAYS_LITTLE
        return all(any(same_stem(own, word) for own in words) for word in said)


_OWN_DATES = ("born", "died", DATE)  # of what is no event: when somebody *died*


def _length(span: Span) -> float:
    return order_of(span[1]) - order_of(span[0])


def _doubt(span: Span) -> float:
    """By how much a length may be wrong: dates that are years alone leave a year open."""
    return _A_DAY if all("-" in operand.value.lstrip("-") for operand in span) else _A_YEAR


def _overlap(window: Sequence[Operand], span: Span) -> float:
    """How many years of a window a span covers; below 0 where they are apart."""
    return min(order_of(window[1]), order_of(span[1])) - max(order_of(window[0]), order_of(span[0]))


def _dates_of(spans: Iterable[Span]) -> list[Operand]:
    return [operand for span in spans for operand in span]


def _told(spans: Iterable[Span]) -> str:
    """Each span with its length in whole years."""
    return ", ".join(
        f"{first.entity} {shown_value(first)} to {shown_value(last)} ({years_between(first, last, 'span')} years)"
        for first, last in spans
    )


def _year_of(operand: Operand) -> int | None:
    """The year of a date, or of a year that a path ends in; negative before Christ."""
    found = re.match(r"(-?\d+)(?:-\d\d){0,2}( BC)?$", operand.value or operand.entity)
    return int(found[1]) * (-1 if found[2] else 1) if found else None


def _century(year: int) -> str:
    number = (abs(year) + 99) // 100
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number // 10 != 1 else "th"
    return f"{number}{ending} century{' BC' if year < 0 else ''}"


def _undecided(one: Operand, other: Operand) -> bool:
    """Whether two dates are the same as far as they are stated: a day and its year may be either way round."""
    shared = min(len(one.value.lstrip("-").split("-")), len(other.value.lstrip("-").split("-")))
    first, second = ("-".join(operand.value.lstrip("-").split("-")[:shared]) for operand in (one, other))
    return first == second and one.value.startswith("-") == other.value.startswith("-")


def _events_told(moments: Sequence[Operand]) -> str:
    """Each event with its date."""
    return "; ".join(f"{one.entity} {_SAID.get(one.attribute, one.attribute)} {shown_value(one)}" for one in moments)
