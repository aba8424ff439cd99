"""The things of a kind with a value above or below a number, or another thing's: *countries bigger than Canada*."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgdemo.answering.computation import MethodRun, computed_answer, listed, no_answer, order_of, within_bound
from kgdemo.answering.conditions import Conditions
from kgdemo.answering.operands import names_of_kind, number_of, same_attribute, shown_value
from kgdemo.events import Event, Operand
from kgdemo.kg.labels import fold
from kgdemo.query.measures import NUMBER, in_unit
from kgdemo.query.query import Form


class Bounded(Conditions):
    """Answers to questions that bound a value."""

    def with_a_value(self) -> Iterator[Event]:
        """The things of a kind with a value that is asked for: the element of a number, islands above an area."""
        noun, ran = self.plan.noun, MethodRun()
        modifier = "" if self.sets.members(noun) else self._modifier(noun)
        if self.plan.base and self.query.topics:
            said = set(fold(self.plan.base).split()) - {noun.lower(), *names_of_kind(noun)}
            ran = yield from self._base(topics=[one for one in self.query.topics if said & self.kg.words_of(one)])
            ends = list(self._set_of(ran, noun))
        elif modifier:
            ends = list(self._of_place(modifier, noun))
        else:
            ends = list(self._of_here_and_now(self.sets.of_kind(noun)))
        if self.plan.things:
            yield from self._beyond_another(ends, ran)
            return
        if self.plan.attributes[0] == NUMBER:
            numbers = (number_of(self.kg, end, self.plan.attributes[1]) for end in ends)
            operands = [own for own in numbers if own is not None]
        else:
            operands = same_attribute(self.kg, ends, self.plan.attributes)
        sign, number = self.plan.bound.split()
        limit = in_unit(float(number), self.plan.unit, operands[0].unit) if operands else None
        if limit is None:
            measured = self.plan.attributes[self.plan.attributes[0] == NUMBER]
            held = f"The graph holds {len(ends)} {noun} ({listed(ends, 8)}), but no {measured} of them"
            unit = f" in {self.plan.unit}" if self.plan.unit else ""
            yield no_answer(f"{held}{unit}." if ends else f"The graph knows no {noun}.")
            return
        yield from self._within(operands, f"{sign} {round(limit, 6):.15g}", ran)

    def _beyond_another(self, ends: Sequence[str], ran: MethodRun) -> Iterator[Event]:
        """The things of a kind that are larger, or less large, than another thing."""
        meant = self._link(self.plan.things[0])
        stated = (same_attribute(self.kg, [one, *ends], (name,)) for one in meant for name in self.plan.attributes)
        operands = next((own for own in stated if own and own[0].entity in meant and len(own) > 1), [])
        if not operands:
            yield no_answer(f"The graph holds no {self.plan.attributes[0]} by which I could compare them.")
            return
        other = operands[0]
        rest = [o for o in operands[1:] if o.entity != other.entity and o.unit == other.unit]
        said, value = f"{other.entity}: {other.attribute} {shown_value(other)}", f"{other.value} {other.unit}".strip()
        if (yield from self._operate("value", said, [other], (value,))) is not None:
            yield from self._within(rest, f"{self.plan.bound} {order_of(other):.15g}", ran)

    def _within(self, operands: Sequence[Operand], bound: str, ran: MethodRun) -> Iterator[Event]:
        """Those whose value lies within a bound."""
        noun, result = self.plan.noun, within_bound(operands, bound)
        said = f"{operands[0].attribute} {bound.removeprefix('= ')} {operands[0].unit}".strip()
        operation = yield from self._operate("filter", f"{len(operands)} with it; {said}", operands, result, bound)
        if operation is None:
            return
        if not result:
            yield no_answer(f"None of the {len(operands)} {noun} that the graph holds has {said}.")
            return
        text = f"{listed(result)}: {said} (of {len(operands)} that the graph holds)."
        if self.plan.form is Form.COUNT:
            yield computed_answer(f"{len(result)}: {text}", (str(len(result)),), ran)
        else:
            yield computed_answer(text, result, ran)
