"""Two moments that a question speaks of, each an event with a date of its own: which came first, how long between.

*Did Mozart die before Beethoven was born*, *how many years after Sputnik 1 did Apollo 11 land on the Moon*, *how old
was Mozart when he composed The Magic Flute*. An event is a thing that the graph dates, or what a verb says of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from kgdemo.answering.computation import SAYS_LITTLE, computed_answer, no_answer, order_of, years_between
from kgdemo.answering.operands import operand_of, shown_value
from kgdemo.answering.spans import Spans
from kgdemo.events import AnswerFinal, Event, Operand, Operation
from kgdemo.kg.labels import FUNCTION_WORDS, fold
from kgdemo.query.answer_type import kind_of, same_stem
from kgdemo.query.measures import AGE, BEGINNING, DATE, IN_OFFICE

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


class Moments(Spans):
    """Answers that are read off the dates of two events."""

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
        said = _told(moments)
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
            yield no_answer(f"It was the other way round: {_told([earlier, later])}.")
            return
        kind = AGE if word == AGE else "span"
        years = years_between(earlier, later, kind)
        said = _told([earlier, later])
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


def _undecided(one: Operand, other: Operand) -> bool:
    """Whether two dates are the same as far as they are stated: a day and its year may be either way round."""
    shared = min(len(one.value.lstrip("-").split("-")), len(other.value.lstrip("-").split("-")))
    first, second = ("-".join(operand.value.lstrip("-").split("-")[:shared]) for operand in (one, other))
    return first == second and one.value.startswith("-") == other.value.startswith("-")


def _told(moments: Sequence[Operand]) -> str:
    """Each event with its date."""
    return "; ".join(f"{one.entity} {_SAID.get(one.attribute, one.attribute)} {shown_value(one)}" for one in moments)
