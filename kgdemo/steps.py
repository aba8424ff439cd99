"""A question answered whole, or first what it describes and then the rest; and what holds against its answer.

``Pipeline`` reads a question and hands it to ``InSteps``, which asks the pipeline again for each question within it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from typing import Protocol

from kgdemo.answering.clauses import belonging_to, common, led_to
from kgdemo.answering.clues import Clues
from kgdemo.answering.computation import BY, MethodRun, computed_answer, listed, no_answer
from kgdemo.answering.marks import VERY_LIKELY, Marks, Meant
from kgdemo.answering.objections import (
    is_not_between,
    number_unread,
    of_another_kind,
    order_unread,
    through_another_kind,
    unread,
    year_unread,
)
from kgdemo.answering.operands import Sets
from kgdemo.answering.operations import acting, described, in_other_words, understood
from kgdemo.answering.parsed import Meaning
from kgdemo.answering.records import ACHIEVED, happenings_of
from kgdemo.events import AnswerFinal, EntitiesLinked, Event, LMCall, Notice, Operand, Operation, PathFound
from kgdemo.kg.labels import bare, fold
from kgdemo.kg.path import Path
from kgdemo.linking.linker import CONFIDENT
from kgdemo.methods.registry import MethodCard
from kgdemo.opened import OpenedGraph
from kgdemo.query.answer_type import Fit, fits, kind_of
from kgdemo.query.form import understand
from kgdemo.query.nested import (
    WHOLE,
    Clause,
    asks_of_kin,
    clauses_of,
    is_neither,
    last_clause,
    of_place,
    of_several,
    two_steps,
    when_asked,
)
from kgdemo.query.query import Form, Query
from kgdemo.query.wording import plain_question
from kgdemo.reading import Reading
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings
from kgdemo.verify import Verifier
from kgdemo.verify_operations import verify_operation


class Asked(Protocol):
    """What answers the questions within a question: the pipeline."""

    def answered(
        self, question: str, method: MethodCard, graph: OpenedGraph, settings: Settings, entities: Sequence[str]
    ) -> Iterator[Event]:
        """Read a question and answer it."""

    def computed(
        self, query: Query, method: MethodCard, graph: OpenedGraph, resources: Resources, settings: Settings
    ) -> Iterator[Event]:
        """Answer one that has been read by the method, or by what is computed over its paths."""


_IN_OTHER_WORDS = frozenset(  # the forms that may ask for a record or a value without naming it
    (Form.ENTITY, Form.ALL, Form.COUNT, Form.SUPERLATIVE, Form.ORDINAL, Form.VALUE)
)
_FOR_A_NAME = frozenset((Form.ENTITY, Form.SUPERLATIVE, Form.ORDINAL))  # the forms that may ask what a thing is called
_LIES_THERE = re.compile(r"\b(?:lie|lies|are|is|located) in\b", re.IGNORECASE)
_NOWHERE = frozenset(("album", "song", "person", "year"))  # kinds of things that are no place to be
_WHICH_OF_THEM = re.compile(r"which\b", re.IGNORECASE)
_ONLY_ASKS_WHICH = re.compile(r"(?:which|what|who)(?: [\w-]+){0,3} (?:is|was|are|were) \{\}\W*", re.IGNORECASE)
_WHO = re.compile(r"who\b(?!se)", re.IGNORECASE)
_CONDITIONS = 2  # of a description from which what fits it is the answer, whatever path the model finds
_MOST_LIKELY = 0.95  # probability from which something is described though its kind is not told
_DOUBTED = -1.0  # log-odds from which paths are trusted only if what they start from is no guess
_TRIED = 3  # answers of a question within a question, of which the rest is asked


@dataclasses.dataclass(frozen=True, slots=True)
class Whole:
    """How a whole question was answered.

    Attributes:
        query: the question.
        ran: its run.
        operations: what was computed in it.
    """

    query: Query
    ran: MethodRun
    operations: tuple[Operation, ...]

    @property
    def final(self) -> AnswerFinal | None:
        return self.ran.final

    @property
    def answers(self) -> tuple[str, ...]:
        return () if self.refused or self.final is None else self.final.answers

    @property
    def refused(self) -> bool:
        return self.final is None or bool(self.final.refusal)

    @property
    def one_hop(self) -> bool:
        """Whether single relations lead to all that it cites."""
        return bool(self.ran.cited) and all(len(path.relations) == 1 for path in self.ran.cited)


@dataclasses.dataclass(frozen=True, slots=True)
class InSteps:
    """Answers a question whole, or first what it describes and then the rest: *the capital of the country where …*.

    Some questions are always taken in two steps (``query.nested``). Of the others those are whose whole has no answer,
    or one that a single relation leads to though a clause describes something, *the film in which …*. A question of
    several conditions is asked one condition at a time (``query.nested``).
    """

    pipeline: Asked
    method: MethodCard
    graph: OpenedGraph
    resources: Resources
    settings: Settings
    reading: Reading
    within: bool = False  # something was put in place of what the question describes, which is not looked for again

    def answer(self, query: Query) -> Iterator[Event]:
        """The events of a question's run."""
        if query.plan.inner and not self.reading.names(query.plan.inner):
            yield from self._inner_first(query)
            return
        fitting = self._described_by(query, _CONDITIONS)
        # one that is *smaller than the Earth and has a moon* is compared, and more is said of it
        several = query.plan.form is Form.ENTITY or " than " in query.plan.asked
        clauses = clauses_of(query.plan.asked, both=False) if several else ()
        if query.plan.form is not Form.ENTITY and any(_LIES_THERE.search(clause.question) for clause in clauses):
            clauses = ()  # a place narrows what is compared
        if not fitting and (yield from self._by_clauses(clauses, query)):
            return
        whole = yield from self._whole(query)
        if instead := self._fitting_better(whole, fitting):
            yield from instead
        elif not (yield from self._in_parts(whole, clauses)) and whole.final is not None:
            yield from self._as_it_stands(whole, whole.final, clauses)

    def _inner_first(self, query: Query) -> Iterator[Event]:
        """The answer to a question that always takes two steps, or to what it means in other words."""
        for event in self._step_by_step(query.plan.inner, query.plan.outer):
            event = self._leading_on(event) if isinstance(event, AnswerFinal) else event
            instead: tuple[Event, ...] = ()
            if isinstance(event, AnswerFinal) and event.refusal:
                instead = tuple(self._in_other_words(query, in_steps=True)) or tuple(self.described(query))
            yield from instead or (event,)

    def _whole(self, query: Query) -> Generator[Event, None, Whole]:
        """Ask the whole question; everything but its answer is shown."""
        ran, operations = MethodRun(), list[Operation]()
        for event in self.pipeline.computed(query, self.method, self.graph, self.resources, self.settings):
            ran.see(event)
            if isinstance(event, AnswerFinal):
                ran.final = event
            else:
                yield event
            if isinstance(event, Operation):
                operations.append(event)
        return Whole(query, ran, tuple(operations))

    def _described_by(self, query: Query, least: int) -> tuple[Event, ...]:
        """What fits the question as a description, if so many of its conditions act on that."""
        link, directed = self.graph.linker.entities_in, self.settings.directed
        return tuple(described(query, self.resources, link, directed, least=least))

    def _fitting_better(self, whole: Whole, fitting: Sequence[Event]) -> Sequence[Event]:
        """What fits more of the question than the answer to the whole; nothing where that fits all of it.

        Args:
            whole: how the whole question was answered.
            fitting: what fits it as a description.
        """
        query = whole.query
        stated = any(operation.kind == "value" for operation in whole.operations)  # a number
        wider = {one for event in fitting if isinstance(event, AnswerFinal) for one in event.answers}
        computed = bool(whole.operations and whole.answers) and set(whole.answers) < wider  # of these those that count
        if fitting and not (stated or computed) and self._has_all_named(fitting):
            return fitting
        if whole.refused:
            return ()
        if query.plan.bound and not whole.operations and (bounded := self._described_by(query, least=1)):
            return bounded  # the years did not act
        if query.plan.form is not Form.ENTITY:
            return ()
        link, directed = self.graph.linker.entities_in, self.settings.directed
        led = led_to(whole.ran, whole.operations, Sets(self.graph.kg, directed))
        first = {one: paths[0] for one, paths in led.items()}
        return tuple(acting(query, self.resources, link, directed, first)) if len(first) > 1 else ()

    def _has_all_named(self, fitting: Sequence[Event]) -> bool:
        """Whether all that the question is about lies on the paths to what fits it as a description."""
        operands = [operand for event in fitting if isinstance(event, Operation) for operand in event.operands]
        there = {entity for operand in operands for path in operand.paths for entity in path.entities}
        return there.issuperset(one for one in self.reading.linked.chosen if kind_of(self.graph.kg, one) == "person")

    def _in_parts(self, whole: Whole, clauses: Sequence[Clause]) -> Generator[Event, None, bool]:
        """Answer one condition at a time, or in two steps, where the whole has no answer or may pass something over.

        Args:
            whole: how the whole question was answered.
            clauses: its conditions that were tried before.

        Returns:
            whether that gave an answer.
        """
        query, asked = whole.query, whole.query.plan.asked
        if query.plan.form is not Form.ENTITY:
            return False
        both = re.search(r"\bboth\b", asked, re.IGNORECASE)  # of one of the two the whole may know nothing
        if whole.refused or both:
            every = clauses_of(asked)
            if every != clauses and (yield from self._by_clauses(every, query)):
                return True
            if (yield from self._by_clauses(of_place(asked), query)):
                return True
        of_kin = whole.one_hop and asks_of_kin(asked)
        several = not whole.one_hop and len(whole.answers) > 1  # of *the lead singer of* a band there is one
        steps = two_steps(asked, clauses_only=not (whole.refused or several or of_kin))
        if steps is None or self.reading.names(steps[0]):
            return False
        # what is asked of *the films directed by* somebody is asked of all of them, as a path asks it
        passes_over = (whole.one_hop or several) and not of_several(steps[0])
        if not (whole.refused or passes_over):
            return False
        tried = list(self._step_by_step(*steps))  # one run has the paths of one search: shown where it answers
        taken = self._answers_it(tried, steps[0], whole.final, fewer=several and not of_several(steps[0]))
        yield from (event for event in tried if taken or isinstance(event, LMCall))
        return taken

    def _as_it_stands(self, whole: Whole, final: AnswerFinal, clauses: Sequence[Clause]) -> Iterator[Event]:
        """The answer to the whole question, what is held against it, or what a refused question may mean."""
        query, form = whole.query, whole.query.plan.form
        if objection := self._held_against(whole):
            yield no_answer(objection)
            return
        one_of_all = form in (Form.SUPERLATIVE, Form.ORDINAL) and not query.plan.things
        if (form in (Form.ENTITY, Form.ORDINAL, Form.SUPERLATIVE) and not whole.operations) or (
            (form is Form.ENTITY or one_of_all) and self._are_named(final.answers)
        ):
            final = self._leading_on(final)
        if not final.refusal and (lost := self._passed_over(whole, clauses)):
            refused = no_answer(f"The question has a condition that I find nothing for: “{lost}”. Ask without it.")
            yield from tuple(self.described(query)) or (refused,)
            return
        may_be = form is not Form.UNANSWERABLE  # whatever it describes
        instead = tuple(self.described(query)) if final.refusal and may_be else ()
        if final.refusal and not instead and form in _IN_OTHER_WORDS:
            instead = tuple(self._in_other_words(query, in_steps=two_steps(query.plan.asked) is not None))
        yield from instead or (final,)

    def _held_against(self, whole: Whole) -> str:
        """Why what was found is no answer to what is asked; empty where it may be one, or nothing was found."""
        query, answers = whole.query, whole.answers
        found = {kind_of(self.graph.kg, one) for one in answers}
        where = query.plan.asked.lower().startswith("where ")
        if answers and where and whole.operations and found <= _NOWHERE:
            return f"It asks for a place; what was found, {listed(list(answers), 3)}, is none."
        if whole.refused or whole.operations:
            return ""
        if is_not_between(query.plan.asked, whole.ran, ()):
            return "It asks for what lies between two things, and what was found has to do with both, no more."
        if is_neither(query.plan.asked, self.graph.kg.words_of(*answers)):
            return "It asks which of two things it is, and what the graph holds here is neither of them."
        if other := through_another_kind(query.plan.asked, whole.ran.cited, self.graph.kg):
            return other
        if answers and whole.ran.doubt > _DOUBTED and (guessed := self._guessed(whole)):
            return guessed
        return of_another_kind(query, answers, Sets(self.graph.kg, self.settings.directed))

    def _guessed(self, whole: Whole) -> str:
        """What is said where an answer's only topic was hardly more than a guess: of *Olympic* a stadium."""
        topics = {path.entities[0] for path in whole.ran.cited}
        for mention in () if self.reading.linked.given else self.reading.linked.mentions:
            best = mention.candidates[0]
            if topics == {best.entity} and best.score < CONFIDENT:
                others = listed([one.entity for one in mention.candidates[:4]])
                return f"“{mention.text}” may be {others}; none is likely enough. Choose one, or write its whole name."
        return ""

    def _passed_over(self, whole: Whole, clauses: Sequence[Clause]) -> str:
        """A condition of the question that its answer has nothing to do with; empty where there is none."""
        asked, kg = whole.query.plan.asked, self.graph.kg
        said = [clause.question for clause in clauses] or list(filter(None, [last_clause(asked)]))
        lost = unread(said, whole.ran, whole.operations, kg)
        if whole.query.plan.form is Form.ENTITY or not whole.operations:
            lost = lost or order_unread(asked, whole.ran, whole.operations)
            lost = lost or number_unread(asked, whole.ran, whole.operations, kg)
            lost = lost or year_unread(whole.query, whole.ran, whole.operations, kg)
        return lost

    def _by_description(self, query: Query) -> Iterator[Event]:
        """The answer to what is asked of something described by what it is known for; see ``answering.marks``."""
        for meant, outer in self._meant_by_parts(query):
            if events := tuple(self._asked_of(meant, outer)):
                yield from events
                return

    def _meant_by_parts(self, query: Query) -> Sequence[tuple[Meant, str]]:
        if self.graph.kg.grows or self.within:
            return ()
        marks = Marks(self.graph.kg, self.resources.embedder)
        linked = self.reading.linked
        mentions = ((one.text, one.candidates[0]) for one in linked.mentions)
        named = [text for text, meant in mentions if meant.entity in linked.chosen and meant.type != "feat"]
        named += [bare(one) for one in linked.chosen if linked.given]
        every = marks.of_question(plain_question(self.reading.text), query.answer_type, named)
        found = [(meant, outer) for meant, outer in every if len(meant.record.holders) == 1]
        if _WHICH_OF_THEM.match(plain_question(self.reading.text)):  # which is none of the kinds of things
            found = [(meant, outer) for meant, outer in found if kind_of(self.graph.kg, meant.holder) != "kind"]
        return found

    def _surely_described(self, query: Query) -> Meaning:
        """What is asked of something that is very likely described, where more is asked than what that is."""
        meant, outer = next(iter(self._meant_by_parts(query)), (None, WHOLE))
        least = VERY_LIKELY if meant is not None and meant.of_kind else _MOST_LIKELY
        two = " or " in query.plan.asked  # of which one is the answer, whatever holds the record
        if meant is None or outer == WHOLE or meant.likely < least or query.plan.form is Form.YES_NO or two:
            return Meaning()  # what is claimed of something may well be the description of another thing
        if events := tuple(self._asked_of(meant, outer)):
            return Meaning(events, sure=True)
        taken = f"I take what the question describes for {meant.holder} ({meant.mark})"
        return Meaning(lacking=f"{taken}, and of that the graph does not say what is asked.", about=meant.holder)

    def described(self, query: Query) -> Iterator[Event]:
        """The answer to a question about something that it describes, or of which it asks when it happened."""
        yield from tuple(self._by_happening(query)) or self._by_description(query)

    def _by_happening(self, query: Query) -> Iterator[Event]:
        """When that happened of which the question asks it in a clause: *when did somebody run a mile so fast*."""
        clause = when_asked(query.plan.asked)
        if not clause or self.graph.kg.grows or self.within:
            return
        happenings = happenings_of(self.graph.kg)
        if happened := Marks(self.graph.kg, self.resources.embedder, happenings).happened(clause):
            yield from self._asked_instead("When did {} happen", happened)

    def _asked_of(self, meant: Meant, outer: str) -> Iterator[Event]:
        """The answer to what is asked of something that is described; nothing where that has none.

        Args:
            meant: it.
            outer: the question with a gap in place of the description.
        """
        path = Sets(self.graph.kg, self.settings.directed).leads(meant.mark, (ACHIEVED,), meant.holder)
        if path is None:
            return
        operands = (Operand(meant.holder, (path,)),)
        step = Operation("step", f"{meant.mark}: {meant.holder}", operands, (meant.holder,))
        if not verify_operation(step, self.graph.verifier):
            return
        said = dataclasses.replace(step, verified=True)
        if outer == WHOLE or _ONLY_ASKS_WHICH.fullmatch(outer):
            yield from (said, computed_answer(f"{meant.holder} ({meant.mark}).", (meant.holder,)))
            return
        events = tuple(self._asked_instead(outer, meant.holder))
        yield from (said, *events) if events else ()

    def _asked_instead(self, outer: str, holder: str) -> Iterator[Event]:
        """The answer to a question that has something in its gap, and how it reads; nothing where it has none."""
        asked = outer.format(bare(holder))
        query = understand(asked, [holder], self.graph.kg)
        reading = Reading(asked, query, EntitiesLinked((), (holder,), given=True))
        after = dataclasses.replace(self, reading=reading, within=True)
        events = tuple(held_against(after.answer(query), partial(after.meant, query, asked)))
        if any(isinstance(event, AnswerFinal) and not event.refusal for event in events):
            yield from (Notice(f"Read as: {asked}"), *without_search(events, self.graph.verifier))

    def described_whole(self, query: Query) -> Iterator[Event]:
        """The thing that the whole question describes, how likely that is, and what it is known for.

        Nothing where none is likely, or where the question asks for more than what a thing is.
        """
        if query.plan.form not in _FOR_A_NAME or self.graph.kg.grows or self.within:
            return
        found = Clues(self.graph.kg, self.resources.embedder).meant(self.reading.text, query.answer_type)
        if found is None:
            return
        one, likely = found
        path = Sets(self.graph.kg, self.settings.directed).leads(one.record.label, (ACHIEVED,), one.holder)
        step = (
            Operation("step", f"{one.record.label}: {one.holder}", (Operand(one.holder, (path,)),), (one.holder,))
            if path
            else None
        )
        if step is not None and verify_operation(step, self.graph.verifier):
            yield dataclasses.replace(step, verified=True)
            yield computed_answer(f"{one.holder} ({one.record.label}): {likely:.0%} sure.", (one.holder,))

    def _are_named(self, answers: Sequence[str]) -> bool:
        """Whether these stand in the question by their own names, not as *Thor's hammer* or *the Iron Chancellor*."""
        return all(fold(bare(one)) in fold(self.reading.text) for one in answers)

    def _leading_on(self, final: AnswerFinal) -> AnswerFinal:
        """An answer; in place of one that only leads back to what was named, that it does."""
        ordinal = self.reading.query.plan.form is Form.ORDINAL
        back = bool(final.answers) and set(final.answers) <= set(self.reading.linked.chosen)
        back = back or (ordinal and bool(final.answers) and self._are_named(final.answers))
        return no_answer(f"What the graph holds only leads back to {listed(final.answers)}.") if back else final

    def meant(self, query: Query, text: str) -> Meaning:
        """What a question means in the terms of the graph.

        Args:
            query: the question.
            text: its words.
        """
        fitted = self.resources.model.style.abstention is not None  # weights that know the vocabulary of these graphs
        if query.plan.form is Form.UNANSWERABLE or self.graph.kg.grows or not fitted:
            return Meaning()
        link, mentions = self.graph.linker.entities_in, self.reading.linked.mentions
        given = (self.resources, link, self.settings.directed, self.graph.vocabulary)
        meaning = understood(query, text, mentions, *given)
        told = [event for event in meaning.events if isinstance(event, Operation)]
        asked = query.plan.asked
        if (
            unread([clause.question for clause in clauses_of(asked)], MethodRun(), told, self.graph.kg)
            or number_unread(asked, MethodRun(), told, self.graph.kg)
            or is_not_between(asked, MethodRun(), told)
        ):
            meaning = Meaning(lacking=meaning.lacking, about=meaning.about)  # it passes a condition over
        answers = next((event.answers for event in meaning.events if isinstance(event, AnswerFinal)), ())
        if _WHO.match(query.plan.asked) and answers and not any(self._may_be_somebody(one, query) for one in answers):
            return Meaning(lacking=meaning.lacking, about=meaning.about)  # *who wrote the anthem* is no symbol
        by_description = Meaning() if meaning.sure else self._surely_described(query)
        return by_description if by_description.events or by_description.about else meaning

    def _answers_it(self, tried: Sequence[Event], inner: str, whole: AnswerFinal | None, fewer: bool) -> bool:
        """Whether two steps are the answer, and not what the whole question gave.

        Args:
            tried: the events of the two steps.
            inner: the question that was asked first.
            whole: the answer to the whole question.
            fewer: the two steps have to leave fewer of its answers.
        """
        final = next((event for event in reversed(tried) if isinstance(event, AnswerFinal)), None)
        if final is None or whole is None:
            return final is not None
        chosen = set(self.reading.linked.chosen)
        described = {e.result for e in tried if isinstance(e, Operation) and e.text.startswith(inner)}
        if any(found and set(found) <= chosen for found in (final.answers, *described)):
            return False  # it only leads back to what was named
        if fewer:
            shared = not set(final.answers).isdisjoint(whole.answers)
            held = len(self.graph.kg.entities.known(final.answers)) == len(final.answers)  # and none of them made up
            return shared and held and len(final.answers) < len(whole.answers)
        return not (final.refusal and whole.refusal)

    def _in_other_words(self, query: Query, in_steps: bool) -> Iterator[Event]:
        link = self.graph.linker.entities_in
        yield from in_other_words(query, self.resources, link, self.settings.directed, in_steps)

    def _by_clauses(self, clauses: Sequence[Clause], query: Query) -> Generator[Event, None, bool]:
        """Answer what fits several conditions, each asked by itself; nothing is shown where that gives no answer.

        Args:
            clauses: the conditions.
            query: the whole question, which names the type of what is meant.

        Returns:
            whether it gave one.
        """
        found: list[dict[str, tuple[Path, ...]]] = []
        bounded: dict[int, Operation] = {}
        shown: list[Event] = []  # one run has the paths of one search: the first condition's
        for place, clause in enumerate(clauses):
            if clause.place:
                found.append(belonging_to(found[0], clause.place, Sets(self.graph.kg, self.settings.directed)))
                continue
            seen, fitting, told = self._fitting(clause.question, self.settings if not found else self._unseen)
            fitting = {one: paths for one, paths in fitting.items() if self._may_be_meant(one, query)}
            calls = [event for event in seen if isinstance(event, LMCall)]
            if told is not None:
                bounded[place] = told
            if not fitting:
                yield from (event for event in shown if isinstance(event, LMCall))
                yield from calls
                return False
            shown += (
                calls if found else [event for event in seen if not isinstance(event, EntitiesLinked | AnswerFinal)]
            )
            shown.append(Notice(f"Asked by itself: {clause.question}? {listed(list(fitting), 8)}."))
            found.append(fitting)
        computed = list(common(clauses, found, self.graph.verifier, bounded)) if clauses else []
        if bounded and not computed:
            each = " and ".join(
                f"{len(own)} for “{clause.question}”" for clause, own in zip(clauses, found, strict=True)
            )
            computed = [no_answer(f"The graph holds {each}, and nothing that is among all of them.")]
        answered = any(isinstance(event, AnswerFinal) for event in computed)
        yield from (event for event in (*shown, *computed) if answered or isinstance(event, LMCall))
        return answered

    def _may_be_meant(self, entity: str, query: Query) -> bool:
        """Whether a thing is of the type that a question names, if it names one: of mountains no city."""
        return not query.answer_type.named or fits(query.answer_type, kind_of(self.graph.kg, entity)) is not Fit.NO

    def _may_be_somebody(self, answer: str, query: Query) -> bool:
        """Whether an answer may be what *who* asks for; a number or a name that the graph lacks may be anything."""
        kind = kind_of(self.graph.kg, answer)
        return not kind or fits(query.answer_type, kind) is not Fit.NO

    @property
    def _unseen(self) -> Settings:
        """The settings of a question that is asked on the way, whose search is not shown."""
        return dataclasses.replace(self.settings, compare=False, explain=0, forced=())

    def _fitting(
        self, question: str, settings: Settings
    ) -> tuple[list[Event], dict[str, tuple[Path, ...]], Operation | None]:
        """The events of a question's run, and all that answers it, each with the paths that lead to it.

        Where no path does but a value says that it fits, *longer than the Rhine*, the operation that tells it as well.
        """
        ran, events = MethodRun(), list[Event]()
        for event in self.pipeline.answered(question, self.method, self.graph, settings, ()):
            ran.see(event)
            if isinstance(event, AnswerFinal):
                ran.final = event
            events.append(event)
        operations = [event for event in events if isinstance(event, Operation)]
        led = led_to(ran, operations, Sets(self.graph.kg, self.settings.directed))
        last, answers = operations[-1] if operations else None, ran.final.answers if ran.final is not None else ()
        bounded = last is not None and last.kind == "filter" and len(answers) > 0 and set(answers) <= set(last.result)
        return (events, led, None) if led or not bounded else (events, dict.fromkeys(answers, ()), last)

    def _step_by_step(self, inner: str, outer: str) -> Iterator[Event]:
        """Answer the inner question, then ask the outer one of its answers until that is answered."""
        found, why = yield from self._inner_answer(inner)
        refused = AnswerFinal(why, (), (), BY, refusal=why) if why else None
        for entity in found[:_TRIED]:
            asked = outer.format(bare(entity))
            query = understand(asked, [entity], self.graph.kg)
            reading = Reading(asked, query, EntitiesLinked((), (entity,), given=True))
            after = dataclasses.replace(self, reading=reading)
            for event in held_against(after.answer(query), partial(after.meant, query, asked)):
                if not isinstance(event, AnswerFinal):
                    yield event
                elif event.refusal:
                    refused = refused or event
                else:
                    yield event
                    return
        if refused is not None:
            yield refused

    def _inner_answer(self, question: str) -> Generator[Event, None, tuple[tuple[str, ...], str]]:
        """Answer the question within a question; what it is computed from is shown, its search is not.

        Returns:
            the entities found, and why there are none.
        """
        ran = MethodRun()
        for event in self.pipeline.answered(question, self.method, self.graph, self._unseen, ()):
            ran.see(event)
            if isinstance(event, AnswerFinal):
                ran.final = event
            elif isinstance(event, Operation):
                yield event
        final, known = ran.final, self.graph.kg.entities
        if final is None or final.refusal or not final.answers or final.answers[0] not in known:
            why = "Nothing was found." if final is None else final.text
            return (), f"To answer this I first asked “{question}?”. {why}"
        found = tuple(answer for answer in final.answers if answer in known)
        step = Operation("step", f"{question}? {found[0]}", (Operand(found[0], tuple(ran.met[:1])),), found[:1])
        if ran.met and verify_operation(step, self.graph.verifier):
            yield dataclasses.replace(step, verified=True)
        yield Notice(f"First asked: {question}? Answer: {listed(found, 8)}.")
        return found, ""


def without_search(events: Sequence[Event], verifier: Verifier) -> Iterator[Event]:
    """What a run within another one shows there: no second search; the paths that its answer cites, as a step.

    Args:
        events: of the run.
        verifier: checks that step.
    """
    paths = {e.index: e.path for e in events if isinstance(e, PathFound) and e.constrained and e.path}
    for event in events:
        if isinstance(event, Operation | Notice | LMCall):
            yield event
        elif isinstance(event, AnswerFinal):
            cited = zip(event.answers, event.citations, strict=False)
            own = {one: tuple(paths[i] for i in indices if i in paths)[:1] for one, indices in cited}
            operands = tuple(Operand(one, found) for one, found in own.items() if found)
            text = "; ".join(str(operand.paths[0]) for operand in operands)
            step = Operation("step", text, operands, tuple(operand.entity for operand in operands))
            if operands and verify_operation(step, verifier):
                yield dataclasses.replace(step, verified=True)
                event = computed_answer(f"{listed(step.result)} ({text}).", step.result)
            yield event


def or_in_other_words(
    run: Iterator[Event], again: Callable[[], Iterator[Event]], verifier: Verifier
) -> Iterator[Event]:
    """A run's events; in place of a refusal the answer to the question in other words, if those have one.

    Args:
        run: how the question was answered as it is read first.
        again: answers it in other words.
        verifier: see ``without_search``.
    """
    searched = False
    for event in run:
        searched |= isinstance(event, PathFound)
        if not isinstance(event, AnswerFinal) or not event.refusal:
            yield event
            continue
        told = tuple(again())
        if any(isinstance(one, AnswerFinal) and not one.refusal for one in told):
            yield from without_search(told, verifier) if searched else told
        else:
            yield from (one for one in told if isinstance(one, LMCall))  # which was made all the same
            yield event


def or_described(run: Iterator[Event], described: Callable[[], Iterator[Event]]) -> Iterator[Event]:
    """A run's events; in place of a refusal what the whole question describes, if it does.

    Args:
        run: how the question was answered.
        described: see ``InSteps.described_whole``.
    """
    for event in run:
        refused = isinstance(event, AnswerFinal) and event.refusal
        yield from (tuple(described()) if refused else ()) or (event,)


def held_against(run: Iterator[Event], meant: Callable[[], Meaning]) -> Iterator[Event]:
    """A run's events with the answer to what the question means, where its own is none or another one.

    Where what the question means is a fact that the graph lacks, another relation does not answer in its place.

    Args:
        run: how the question was answered, by the paths that a method found or by the rules of ``query``.
        meant: see ``InSteps.meant``, asked for when the run has its answer; against one that paths lead to only what is
            sure is held.
    """
    told = list[Event]()  # what the run computes, shown if its answer stands
    paths: dict[int, Path] = {}
    for event in run:
        if isinstance(event, PathFound) and event.constrained and event.path:
            paths[event.index] = event.path
        if isinstance(event, Operation | Notice):
            told.append(event)
        elif not isinstance(event, AnswerFinal):
            yield event
        else:
            yield from _which_stands(event, told, paths, meant())
            return
    yield from meant().events or told


def _which_stands(
    answer: AnswerFinal, told: Sequence[Event], paths: Mapping[int, Path], meaning: Meaning
) -> Iterator[Event]:
    """The answer of a run, with what it computed, or that of what the question means; see ``held_against``."""
    final = next((own for own in meaning.events if isinstance(own, AnswerFinal)), None)
    operands = [operand for one in told if isinstance(one, Operation) for operand in one.operands]
    rests_on = [
        *(paths[i] for cited in answer.citations for i in cited if i in paths),
        *(p for o in operands for p in o.paths),
    ]
    named = {*answer.answers, *(o.entity for o in operands), *(entity for path in rests_on for entity in path.entities)}
    beside = meaning.about not in named if meaning.about else bool(meaning.lacking) and not operands
    if final is None and beside and not answer.refusal:
        yield no_answer(meaning.lacking)
    elif final is None or set(answer.answers) == set(final.answers) or not (meaning.sure or answer.refusal):
        yield from (*told, answer)
    else:
        yield from meaning.events
