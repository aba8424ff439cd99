"""Answers that fit a description (``described``), each step of which the verifier does again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from kgdemo.answering.called import stems
from kgdemo.answering.computation import computed_answer, listed, no_answer
from kgdemo.answering.described import Described, Found
from kgdemo.answering.direct import Direct
from kgdemo.events import Event, Operand
from kgdemo.kg.path import Path
from kgdemo.kg.stores.base import StoreError
from kgdemo.query.answer_type import kind_of
from kgdemo.query.nested import two_steps
from kgdemo.query.query import Form

_ASKS_WHICH = re.compile(r"^(?:which|what|who|name|list)\b", re.IGNORECASE)

_NAMED_AFTER = re.compile(r"\b(?:named|called) (?:after|for)\b", re.IGNORECASE)


class Fitting(Direct):
    """What fits all that a question says, of a set or of the answers that were found."""

    def of_description(self, least: int = 0) -> Iterator[Event]:
        """The members of a set that fit all that the question says of them; nothing where none does.

        Args:
            least: how many names, years and numbers have to act on the answer.
        """
        asked = self.plan.asked
        if self.plan.form is Form.COUNT or (self.plan.base and not _ASKS_WHICH.match(asked)):
            asked = self.plan.base
        if _NAMED_AFTER.search(asked):  # one relation, which its words do not tell from others to the same people
            return
        if two_steps(asked, clauses_only=not asked.lower().startswith(("who ", "where "))):
            return
        try:
            found = self._described().fitting(asked, least)
        except StoreError:  # a word may name a hub that the search does not come near
            return
        counted = self.plan.form is Form.COUNT and any(fit.likeness < 1 for fit in found.members.values())
        if found.members and not counted and not self._is_of_another_kind(found):
            yield from self.events(found)

    def _is_of_another_kind(self, found: Found) -> bool:
        """Whether paths lead by way of a kind that says more than the question: *country that won the Asian Cup*."""
        asked = stems(self.query.text)
        middle = {one for fit in found.members.values() for path in fit.paths for one in path.entities[:-1]}
        kinds = [one for one in middle if kind_of(self.kg, one) == "kind"]
        return any(not any(stems(name) <= asked for name in self.kg.names_of(one)) for one in kinds)

    def acting(self, answers: Mapping[str, Path]) -> Iterator[Event]:
        """Those of several answers that fit each clause of the question; nothing where all of them fit as well.

        Where a clause names something that nothing joins to any of them, that is said in their place.
        """
        fitting, unmet = self._described().acting(self.plan.asked, answers)
        if unmet:
            held = f"The graph holds {len(answers)} that fit the rest of the question ({listed(list(answers), 8)})"
            yield no_answer(f"{held}, but nothing by which I could tell which of them “{unmet}” means.")
        elif fitting.members:
            yield from self.events(fitting)

    def _described(self) -> Described:
        return Described(self.sets, self.resources.embedder, self.office_named, self.query.topics)

    def events(self, found: Found) -> Iterator[Event]:
        """What fits a description as the answer, each step of it checked.

        Args:
            found: its members, of which one may fit by a date and another by a path.
        """
        members = found.members
        operands = [Operand(one, tuple(fit.paths)) for one, fit in members.items() if fit.paths]
        if operands:
            ways = min(len({(path.entities[0], path.relations) for path in operand.paths}) for operand in operands)
            text = f"{len(operands)} {found.noun}: {listed([str(operand.paths[-1]) for operand in operands], 8)}"
            led = tuple(operand.entity for operand in operands)
            if (yield from self._operate("both" if ways > 1 else "step", text, operands, led)) is None:
                return
        for bound in dict.fromkeys(bound for fit in members.values() for _, bound in fit.values):
            # of one member a date says it, of another a path to the year: each is checked by what says it
            within = [(one, value) for one, fit in members.items() for value, own in fit.values if own == bound]
            stated = [replace(value, paths=tuple(members[one].paths)) for one, value in within]
            result = tuple(dict.fromkeys(one for one, _ in within))
            said = f"{stated[0].attribute} {bound.removeprefix('= ')}: {listed(result)}"
            if (yield from self._operate("filter", said, stated, result, bound)) is None:
                return
        if found.ruled_out:
            kept = [Operand(operand.entity, operand.paths[:1]) for operand in operands]
            out = [Operand(one, paths) for one, paths in found.ruled_out.items()]
            said = f"without {listed(list(found.ruled_out), 8)}"
            if (yield from self._operate("without", said, [*kept, *out], tuple(members))) is None:
                return
        edges = self.kg.degrees([place for one in members if (place := self.kg.entities.find(one)) is not None])
        degrees = dict(zip(members, edges, strict=True))
        number, known = str(len(members)), sorted(members, key=lambda one: (-degrees[one], one))
        if self.plan.form is Form.COUNT:
            said = f"The graph holds {number}, which need not be all: {listed(known)}."
            yield computed_answer(said, (number,))
        else:
            unsaid = f" Whether “{found.unsaid}” is true of it the graph does not say." if found.unsaid else ""
            far = " (as far as the graph says)" if found.ruled_out else ""
            yield computed_answer(f"{listed(known)}{far}.{unsaid}", tuple(known))
