"""Whether it is as a yes/no question claims: turned round, it is answered, and that is held against the claim."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from kgdemo.answering.computation import Computation, MethodRun, computed_answer, within_bound
from kgdemo.answering.operands import PLACES, is_of_kind, names_of_kind
from kgdemo.events import AnswerFinal, Event, Operand, Operation
from kgdemo.kg.labels import bare, fold
from kgdemo.kg.path import Path
from kgdemo.query.answer_type import kind_of
from kgdemo.query.claimed import ANYTHING
from kgdemo.query.measures import in_unit

_ARTICLE = re.compile(r"^(?:the|an?) ", re.IGNORECASE)
_CITED = re.compile(r" (?:and )?\[\d+\]")
_SIGNS = ("=", "<", ">", "<=", ">=")


class Whether(Computation):
    """Answers to yes/no questions that claim an order, a measure, a date, or that there is something."""

    def settled(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events of the question turned round, with yes or no in place of its answer.

        Args:
            events: of that question's run.

        Yields:
            nothing where its answer cannot be held against what is claimed.
        """
        kept: list[Event] = []
        ran, operations = MethodRun(), list[Operation]()
        for event in events:
            ran.see(event)
            if isinstance(event, AnswerFinal):
                ran.final = event
                continue
            kept.append(event)
            if isinstance(event, Operation) and event.verified:
                operations.append(event)
        verdict = list(self._verdict(ran, operations))
        if any(isinstance(event, AnswerFinal) and event.answers for event in verdict):
            yield from (*kept, *verdict)

    def _verdict(self, ran: MethodRun, operations: list[Operation]) -> Iterator[Event]:
        final, claimed = ran.final, self.plan.claimed
        if final is None:
            return
        if claimed == ANYTHING and operations and operations[-1].kind == "filter" and not operations[-1].result:
            yield computed_answer(f"No, as far as the graph says. {final.text}", ("No",))
            return
        if final.refusal:
            return
        stated = {operand.entity: operand for operation in operations for operand in operation.operands}
        if claimed.split()[0] in _SIGNS:
            if operations and operations[-1].kind == "value" and len(operations[-1].operands) == 1:
                yield from self._within_what_is_claimed(operations[-1].operands[0], claimed, final)
            return
        stated |= {path.end: Operand(path.end, (path,)) for path in ran.cited}
        operands = [stated[one] for one in final.answers if one in stated]
        if not operands or len(operands) < len(final.answers):
            return
        if claimed.startswith(ANYTHING):
            noun = claimed.removeprefix(ANYTHING)
            if noun and not all(self._is_one_of(operand, noun) for operand in operands):
                return
            yield from self._says("yes", operands[0].entity, operands, f"Yes: {_CITED.sub('', final.text)}")
            return
        meant = self._link(claimed)
        named = next((operand.entity for operand in operands if self._is_meant(operand.entity, claimed, meant)), "")
        around = self._in_the_place_claimed(operands, meant)
        alike = {kind_of(self.kg, operand.entity) for operand in operands} & {kind_of(self.kg, one) for one in meant}
        said = _CITED.sub("", final.text)
        compared = any(self._is_meant(one, claimed, meant) for one in stated)
        if self._is_of_two() and (
            compared or alike
        ):  # the comparison says it all; of equal ones neither is the greater
            answer = "Yes" if named and len(operands) == 1 else "No"
            yield computed_answer(f"{answer}: {said.removeprefix(f'{operands[0].entity}: ')}", (answer,))
        elif named:
            yield from self._says("yes", named, [stated[named]], f"Yes: {said}")
        elif around is not None:
            yield from self._says("yes", around.entities[0], [Operand(around.end, (around,))], f"Yes: {said}")
        elif meant and alike:
            yield from self._says("no", meant[0], operands, f"No, as far as the graph says: {said}")

    def _is_one_of(self, operand: Operand, noun: str) -> bool:
        """Whether a thing is of the kind that a noun names, or a path to it speaks of that: *a Polish pope*."""
        kinds = set(names_of_kind(noun.partition(" of ")[0]))
        told = {word for path in operand.paths for entity in path.entities[:-1] for word in fold(entity).split()}
        return is_of_kind(self.kg, operand.entity, kinds) or not kinds.isdisjoint(told)

    def _is_of_two(self) -> bool:
        """Whether two things are compared, which are equal where both are the answer."""
        return " or " in self.plan.turned

    def _is_meant(self, entity: str, claimed: str, meant: Iterable[str]) -> bool:
        names = (*self.kg.names_of(entity), bare(entity))
        return entity in meant or fold(_ARTICLE.sub("", claimed)) in map(fold, names)

    def _in_the_place_claimed(self, operands: Sequence[Operand], meant: Iterable[str]) -> Path | None:
        """The path from a place that is claimed to one that is the answer: games in Paris were in France."""
        places = [one for one in meant if kind_of(self.kg, one) in PLACES]
        chains = (self.sets.containing(operand.entity, place) for place in places for operand in operands)
        return next((chain for chain in chains if chain is not None), None)

    def _within_what_is_claimed(self, value: Operand, claimed: str, final: AnswerFinal) -> Iterator[Event]:
        """Whether a value lies within a bound; nothing where their units cannot be compared."""
        sign, number, *unit = claimed.split(maxsplit=2)
        limit = in_unit(float(number), unit[0], value.unit) if unit else float(number)
        if limit is None:
            return
        bound = f"{sign} {round(limit, 6):.15g}"
        result = within_bound([value], bound)
        said = f"{value.entity}: {value.attribute} {bound} {value.unit}".strip()
        if (yield from self._operate("filter", said, [value], result, bound)) is not None:
            answer = "Yes" if result else "No"
            yield computed_answer(f"{answer}: {final.text}", (answer,))
