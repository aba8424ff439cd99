"""From settings to a running method: opens graphs and models once, stamps and counts the events.

``Pipeline.run`` is the only way to ask a question; the page, the command line, the evaluation and the
API all call it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence

from kgdemo.answering.clauses import belonging_to, common, led_to, number_unread, unread
from kgdemo.answering.computation import BY, MethodRun, listed, no_answer
from kgdemo.answering.operands import Sets
from kgdemo.answering.operations import acting, answer, described, in_other_words, understood
from kgdemo.answering.records import ACHIEVED, says_order
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.errors import UserError
from kgdemo.events import (
    AnswerFinal,
    EntitiesLinked,
    Event,
    LMCall,
    Notice,
    Operand,
    Operation,
    RunFailed,
    RunStarted,
    RunTotals,
)
from kgdemo.facts import Facts
from kgdemo.kg.cache import ArrayCache
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io.catalogue import known_names, open_facts, open_graph
from kgdemo.kg.labels import bare
from kgdemo.kg.path import Path
from kgdemo.kg.stores.base import Meter, metered
from kgdemo.linking.linker import Linker
from kgdemo.methods import METHODS, method_named
from kgdemo.methods.registry import MethodCard
from kgdemo.models.base import PathModel
from kgdemo.models.causal import BY_VLLM, CausalModel
from kgdemo.models.embedding import sentence_embedder
from kgdemo.models.vllm import VllmModel
from kgdemo.opened import OncePerKey, OpenedGraph
from kgdemo.query.answer_type import Fit, fits, kind_of
from kgdemo.query.clauses import Clause, clauses_of, of_place
from kgdemo.query.nested import asks_of_kin, is_neither, last_clause, of_several, two_steps, with_a_gap_for
from kgdemo.query.plan import Form
from kgdemo.query.query import Query, understand
from kgdemo.reading import Reading, read
from kgdemo.reasoners.base import Resources
from kgdemo.reasoners.chat import FallbackReasoner, reasoner_for
from kgdemo.reasoners.embedded import EmbeddedReasoner
from kgdemo.reasoners.prompts import prompts_in
from kgdemo.settings import LOCAL, ChatSettings, Profile, Settings, cache_folder, chat_from, check
from kgdemo.verify import Verifier
from kgdemo.verify_operations import verify_operation


class Pipeline:
    """Everything loaded, shared by all questions; safe to use from several threads.

    Args:
        profile: limits on what may be asked.
        chat: the general LLM's endpoint; from the environment by default.
    """

    def __init__(self, profile: Profile = LOCAL, chat: ChatSettings | None = None) -> None:
        self.profile = profile
        self.chat = chat_from() if chat is None else chat
        folder = cache_folder()
        self.cache = ArrayCache(folder) if folder else None
        self._loaded = OncePerKey()
        self.when_forgotten: list[Callable[[str], None]] = []  # told the source of each graph that is dropped
        self._lock = threading.RLock()  # of adding and forgetting graphs; nothing is built under it

    # what is loaded ----------------------------------------------------------------------------

    def opened(self, source: str) -> OpenedGraph:
        """The graph of that name or file, with all that is made of it; opened once."""

        def build() -> OpenedGraph:
            return OpenedGraph(open_graph(source, cache=self.cache), lambda: open_facts(source), cache=self.cache)

        return self._loaded.get(("graph", source), build)

    def graph(self, source: str) -> KnowledgeGraph:
        """The graph of that name or file."""
        return self.opened(source).kg

    def facts(self, source: str) -> Facts:
        """What the source of that graph states, read for the verifier alone."""
        return self.opened(source).facts

    def linker(self, source: str) -> Linker:
        """The entity linker of a graph."""
        return self.opened(source).linker

    def verifier(self, source: str) -> Verifier:
        """The verifier of a graph."""
        return self.opened(source).verifier

    def add_graph(self, source: str, kg: KnowledgeGraph, facts: Facts, like: str = "") -> None:
        """Make a graph built in memory known under a name; nothing of it is ever kept on disk.

        Args:
            source: the name.
            kg: the graph.
            facts: the triples that it was built from, for the verifier.
            like: source of the graph that it is an edit of, whose names and token ids are used again.
        """
        base = self.opened(like) if like else None
        with self._lock:
            self.forget_graph(source)
            self._loaded.put(("graph", source), OpenedGraph(kg, lambda: facts, base))

    def forget_graph(self, source: str) -> None:
        """Drop a graph and all that was built on it."""
        with self._lock:
            self._loaded.drop(lambda key: key == ("graph", source))
        for forget in self.when_forgotten:
            forget(source)

    def model(self, name: str) -> PathModel:
        """The KG-specialised language model of that name; loaded once."""
        kind = VllmModel if name.startswith(BY_VLLM) else CausalModel
        return self._loaded.get(("model", name), lambda: kind.load(name))

    def add_model(self, name: str, model: PathModel) -> None:
        """Make a model in memory known under a name; one known before must share its tokeniser."""
        self._loaded.put(("model", name), model)

    def token_graph(self, source: str, model: str, directed: bool) -> TokenGraph:
        """A graph in a model's tokens, see ``OpenedGraph``."""
        return self.opened(source).token_graph(model, self.model(model).label_tokens, directed)

    def resources(self, settings: Settings) -> Resources:
        """Everything a method may use for one run under these settings."""
        graph, model = self.opened(settings.graph), self.model(settings.model)
        token_graph = graph.token_graph(settings.model, model.label_tokens, settings.directed)
        embedder, prompts = sentence_embedder(), prompts_in(settings.prompts)
        reasoner = self._loaded.get(("reasoner", prompts), lambda: reasoner_for(self.chat, embedder, prompts))
        if reasoner.is_language_model:
            reasoner = FallbackReasoner(reasoner, EmbeddedReasoner(embedder), self.chat)
        return Resources(graph.kg, graph.verifier, model, token_graph, reasoner, embedder, prompts)

    # running -----------------------------------------------------------------------------------

    def run(self, question: str, settings: Settings, entities: Sequence[str] = ()) -> Iterator[Event]:
        """Answer a question.

        Args:
            question: what was asked.
            settings: how to answer.
            entities: topic entities; linked from the question when empty.

        Yields:
            events; a mistake of the user's ends the stream with ``RunFailed`` and loses nothing before it.
        """
        began = time.perf_counter()
        totals, meter = RunTotals(), Meter(self.profile.store_requests)
        events = self._events(question, settings, entities)

        def stamped(event: Event) -> Event:
            return dataclasses.replace(event, t=round(time.perf_counter() - began, 4))

        failed: RunFailed | None = None
        try:
            for event in metered(events, meter):
                totals.see(event)
                yield stamped(event)
                if 0 < self.profile.seconds < time.perf_counter() - began:
                    raise UserError(
                        f"This took longer than {self.profile.seconds} s, the most that this server spends on a "
                        "question; ask with fewer paths or hops."
                    )
        except UserError as error:
            failed = RunFailed(str(error))
        if meter.requests:
            yield stamped(Notice(meter.said()))
        if failed is not None:
            yield stamped(failed)
        else:
            ahead = settings.tokens_ahead(self.model(settings.model).on_gpu)
            seconds = round(time.perf_counter() - began, 4)
            yield totals.finished(seconds, {None: "off", 0: "forced"}.get(ahead, str(ahead)))

    def _events(self, question: str, settings: Settings, entities: Sequence[str]) -> Iterator[Event]:
        """A run over a graph; what was not read whole of it is said at the end."""
        question = check(question, settings, self.profile)
        method = self._method(settings)
        graph = self._ready(settings.graph)
        before = tuple(graph.kg.cut)  # by earlier questions
        yield RunStarted(
            question,
            method.name,
            graph.kg.name,
            len(graph.kg),
            settings.model,
            settings.beams,
            settings.hops,
            settings.forced,
        )
        yield from self._answered(question, method, graph, settings, entities)
        yield from (Notice(cut) for cut in graph.kg.cut if cut not in before)

    def _method(self, settings: Settings) -> MethodCard:
        """The method of a run.

        Raises:
            UserError: it cannot do what is asked of it, or this server does not open such a graph.
        """
        method = method_named(settings.method)
        if settings.forced and not method.drivable:
            drivable = ", ".join(card.title for card in METHODS.values() if card.drivable)
            raise UserError(f"{method.title} takes no forced tokens; choose {drivable} in the settings.")
        method.check(settings.options, self.profile)
        # a public server opens no file; it has embedded graphs and those that were handed over in memory
        known = settings.graph in known_names() or self._loaded.peek(("graph", settings.graph)) is not None
        if not self.profile.open_models and not known:
            raise UserError(f"This server knows the graphs {', '.join(known_names())}; choose one of them.")
        return method

    def _ready(self, source: str) -> OpenedGraph:
        """A graph for one more question: one that has met as much as is held is opened anew."""
        graph = self.opened(source)
        if graph.kg.is_full:
            self.forget_graph(source)
            graph = self.opened(source)
        graph.ask_anew()
        return graph

    def _answered(
        self, question: str, method: MethodCard, graph: OpenedGraph, settings: Settings, entities: Sequence[str]
    ) -> Iterator[Event]:
        """Read a question, then answer it by the method or by what is computed over the method's paths."""
        reading = yield from read(question, entities, graph)
        if reading is None:
            return
        query = reading.query
        settings = yield from self._fitted(settings, query.plan.hops)
        resources = self.resources(settings)
        general = resources.reasoner.is_language_model  # which reads a question within a question itself
        if reading.refused is not None:
            link = graph.linker.entities_in
            retold: tuple[Event, ...] = ()
            if not general:
                steps = _InSteps(self, method, graph, resources, settings, reading)
                retold = tuple(in_other_words(query, resources, link, settings.directed, in_steps=True))
                retold = retold or steps.meant(query, question if reading.typed else reading.text)[0]
            yield from retold or (reading.refused,)
        elif general and query.plan.form in (Form.ENTITY, Form.UNANSWERABLE):
            yield from method.run(query, resources, settings)
        elif general:
            yield from self._computed(query, method, graph, resources, settings)
        else:
            steps = _InSteps(self, method, graph, resources, settings, reading)
            text = question if reading.typed else reading.text  # with what was mistyped put right
            yield from held_against(steps.answer(query), *steps.meant(query, text))

    def _fitted(self, settings: Settings, hops: int) -> Generator[Event, None, Settings]:
        """The settings as the model and the question need them; what differs from those chosen is said.

        Args:
            settings: as they were chosen.
            hops: how many relations the question names.
        """
        model = self.model(settings.model)
        if model.style.one_way and not settings.directed:
            yield Notice(f"The model {model.name} was trained on paths along the edges, so none goes back.")
            settings = dataclasses.replace(settings, directed=True)
        if not model.pooled:
            yield Notice(
                f"The model {model.name} takes no tree-shaped attention mask, so it reads every beam's text "
                "anew: slower, with the same result."
            )
        if settings.hops < hops <= self.profile.hops:
            yield Notice(f"The question names several relations, so paths of up to {hops} hops are searched.")
            settings = dataclasses.replace(settings, hops=hops)
        return settings

    def _computed(
        self, query: Query, method: MethodCard, graph: OpenedGraph, resources: Resources, settings: Settings
    ) -> Iterator[Event]:
        """Answer what is computed over paths; a general model answers beside it, and its answer stays its own."""

        def ask(variant: Query) -> Iterator[Event]:
            yield from method.run(variant, resources, settings)

        def ask_the_graph(variant: Query) -> Iterator[Event]:
            """Without the general model, and without what is only looked at: this answers for the graph."""
            own = dataclasses.replace(resources, reasoner=EmbeddedReasoner(resources.embedder))
            plain = dataclasses.replace(settings, compare=False, explain=0, forced=(), options=())
            yield from method_named("gcr").run(variant, own, plain)

        common = (resources, graph.linker.entities_in, settings.directed, graph.vocabulary)
        if resources.reasoner.is_language_model:
            yield from _beside(method.run(query, resources, settings), answer(query, ask_the_graph, *common))
        else:
            yield from answer(query, ask, *common)


_IN_OTHER_WORDS = frozenset(  # the forms that may ask for a record or a value without naming it
    (Form.ENTITY, Form.ALL, Form.COUNT, Form.SUPERLATIVE, Form.ORDINAL, Form.VALUE, Form.UNANSWERABLE)
)
_CONDITIONS = 2  # of a description from which what fits it is the answer, whatever path the model finds
_TRIED = 3  # answers of a question within a question, of which the rest is asked


@dataclasses.dataclass(frozen=True, slots=True)
class _InSteps:
    """Answers a question whole, or first what it describes and then the rest: *the capital of the country where …*.

    Some questions are always taken in two steps (``query.nested``). Of the others those are whose whole has no answer,
    or one that a single relation leads to though a clause describes something, *the film in which …*. A question of
    several conditions is asked one condition at a time (``query.clauses``).
    """

    pipeline: Pipeline
    method: MethodCard
    graph: OpenedGraph
    resources: Resources
    settings: Settings
    reading: Reading

    def answer(self, query: Query) -> Iterator[Event]:
        """The events of a question's run."""
        if by_deed := tuple(self._by_deed()):
            yield from by_deed
            return
        if query.plan.inner and not self.reading.names(query.plan.inner):
            for event in self._step_by_step(query.plan.inner, query.plan.outer):
                event = self._leading_on(event) if isinstance(event, AnswerFinal) else event
                nothing = isinstance(event, AnswerFinal) and bool(event.refusal)
                retold = tuple(self._in_other_words(query, in_steps=True)) if nothing else ()
                yield from retold or (event,)
            return
        link, directed = self.graph.linker.entities_in, self.settings.directed
        fitting = tuple(described(query, self.resources, link, directed, least=_CONDITIONS))
        clauses = clauses_of(query.plan.asked, both=False) if query.plan.form is Form.ENTITY else ()
        if not fitting and (yield from self._by_clauses(clauses, query)):
            return
        ran, operations = MethodRun(), list[Operation]()
        for event in self._whole(query):
            ran.see(event)
            if isinstance(event, AnswerFinal):
                ran.final = event
            else:
                yield event
            if isinstance(event, Operation):
                operations.append(event)
        if fitting:
            yield from fitting
            return
        refused = ran.final is None or bool(ran.final.refusal)
        unbound = not refused and bool(query.plan.bound) and not operations  # the years did not act
        if unbound and (bounded := tuple(described(query, self.resources, link, directed, least=1))):
            yield from bounded
            return
        if not refused and query.plan.form is Form.ENTITY:
            led = led_to(ran, operations, Sets(self.graph.kg, directed))
            first = {one: paths[0] for one, paths in led.items()}
            if narrowed := tuple(acting(query, self.resources, link, directed, first)) if len(first) > 1 else ():
                yield from narrowed
                return
        both = re.search(r"\bboth\b", query.plan.asked, re.IGNORECASE)  # of one of the two the whole may know nothing
        if (refused or both) and query.plan.form is Form.ENTITY:
            every = clauses_of(query.plan.asked)
            if every != clauses and (yield from self._by_clauses(every, query)):
                return
            if (yield from self._by_clauses(of_place(query.plan.asked), query)):
                return
        one_hop = bool(ran.cited) and all(len(path.relations) == 1 for path in ran.cited)
        answers = ran.final.answers if ran.final is not None else ()
        several = not refused and not one_hop and len(answers) > 1  # of *the lead singer of* a band there is one
        of_kin = one_hop and asks_of_kin(query.plan.asked)
        steps = two_steps(query.plan.asked, clauses_only=not (refused or several or of_kin))
        # what is asked of *the films directed by* somebody is asked of all of them, as a path asks it
        several &= steps is None or not of_several(steps[0])
        one_hop &= steps is None or not of_several(steps[0])
        stepwise = query.plan.form is Form.ENTITY and (refused or one_hop or several)
        if stepwise and steps and not self.reading.names(steps[0]):
            tried = list(self._step_by_step(*steps))  # one run has the paths of one search: shown where it answers
            taken = self._answers_it(tried, steps[0], ran.final, fewer=several)
            yield from (event for event in tried if taken or isinstance(event, LMCall))
            if taken:
                return
        if ran.final is None:
            return
        if not refused and not operations and is_neither(query.plan.asked, self.graph.kg.words_of(*answers)):
            yield no_answer("It asks which of two things it is, and what the graph holds here is neither of them.")
            return
        if answers and not (refused or operations) and not any(self._may_be_meant(one, query) for one in answers):
            kinds = listed(sorted({kind_of(self.graph.kg, one) for one in answers}))
            asked, told = listed(sorted(query.answer_type.types)), listed(list(answers), 3)
            yield no_answer(f"It asks for {asked}; what was found, {told}, is of the kind {kinds}.")
            return
        if query.plan.form is Form.ENTITY and not operations:
            ran.final = self._leading_on(ran.final)
            refused = bool(ran.final.refusal)
        said = [clause.question for clause in clauses] or list(filter(None, [last_clause(query.plan.asked)]))
        lost = "" if refused else unread(said, ran, operations, self.graph.kg)
        if not refused and not operations and query.plan.form is Form.ENTITY:
            lost = lost or number_unread(query.plan.asked, ran, self.graph.kg)
        if lost:
            yield no_answer(f"The question has a condition that I find nothing for: “{lost}”. Ask without it.")
            return
        if refused and (by_deed := tuple(self._by_deed(chosen=False))):
            yield from by_deed
            return
        may_be_retold = refused and query.plan.form in _IN_OTHER_WORDS
        retold = tuple(self._in_other_words(query, in_steps=bool(steps))) if may_be_retold else ()
        yield from retold or (ran.final,)

    def _by_deed(self, chosen: bool = True) -> Iterator[Event]:
        """The answer to what is asked of somebody who is described by a deed; nothing where that has none.

        The graph holds what people are known by as things of their own, ``feat``, each with whoever did it.

        Args:
            chosen: the deed is what the question is about; else it is hardly named, and all that is has to do with it.
        """
        kg, sets = self.graph.kg, Sets(self.graph.kg, self.settings.directed)
        topics = self.reading.linked.chosen
        for mention in self.reading.linked.mentions:
            deed = mention.candidates[0]
            told = deed.type == "feat" and (deed.entity in topics) is chosen and not says_order(deed.entity)
            outer = with_a_gap_for(self.reading.text, mention.start, mention.end) if told else ""
            holders = sets.ends(deed.entity, (ACHIEVED,)) if outer else {}
            if len(holders) != 1:
                continue
            ((holder, path),) = holders.items()
            if not chosen and any(sets.joined(holder, topic) is None for topic in topics):
                continue
            asked = outer.format(bare(holder))
            query = understand(asked, [holder], kg)
            step = Operation("step", f"{deed.entity}: {holder}", (Operand(holder, (path,)),), (holder,))
            after = dataclasses.replace(self, reading=Reading(asked, query, EntitiesLinked((), (holder,), given=True)))
            events = tuple(held_against(after.answer(query), *after.meant(query, asked)))
            if verify_operation(step, self.graph.verifier) and any(
                isinstance(event, AnswerFinal) and not event.refusal for event in events
            ):
                yield dataclasses.replace(step, verified=True)
                yield Notice(f"Read as: {asked}")
                yield from events
                return

    def _leading_on(self, final: AnswerFinal) -> AnswerFinal:
        """An answer; in place of one that only leads back to what was named, that it does."""
        back = bool(final.answers) and set(final.answers) <= set(self.reading.linked.chosen)
        return no_answer(f"What the graph holds only leads back to {listed(final.answers)}.") if back else final

    def meant(self, query: Query, text: str) -> tuple[tuple[Event, ...], bool]:
        """The answer to what a question means in the terms of the graph, if any, and whether that is sure.

        Args:
            query: the question.
            text: its words.
        """
        fitted = self.resources.model.style.abstention is not None  # weights that know the vocabulary of these graphs
        if query.plan.form is Form.UNANSWERABLE or self.graph.kg.grows or not fitted:
            return (), False
        link, mentions = self.graph.linker.entities_in, self.reading.linked.mentions
        given = (self.resources, link, self.settings.directed, self.graph.vocabulary)
        return understood(query, text, mentions, *given)

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

    def _whole(self, query: Query) -> Iterator[Event]:
        return self.pipeline._computed(query, self.method, self.graph, self.resources, self.settings)

    def _by_clauses(self, clauses: Sequence[Clause], query: Query) -> Generator[Event, None, bool]:
        """Answer what fits several conditions, each asked by itself; nothing is shown where that gives no answer.

        Args:
            clauses: the conditions.
            query: the whole question, which names the type of what is meant.

        Returns:
            whether it gave one.
        """
        found: list[dict[str, tuple[Path, ...]]] = []
        shown: list[Event] = []  # one run has the paths of one search: the first condition's
        for clause in clauses:
            if clause.place:
                found.append(belonging_to(found[0], clause.place, Sets(self.graph.kg, self.settings.directed)))
                continue
            seen, fitting = self._fitting(clause.question, self.settings if not found else self._unseen)
            fitting = {one: paths for one, paths in fitting.items() if self._may_be_meant(one, query)}
            calls = [event for event in seen if isinstance(event, LMCall)]
            if not fitting:
                yield from (event for event in shown if isinstance(event, LMCall))
                yield from calls
                return False
            shown += (
                calls if found else [event for event in seen if not isinstance(event, EntitiesLinked | AnswerFinal)]
            )
            shown.append(Notice(f"Asked by itself: {clause.question}? {listed(list(fitting), 8)}."))
            found.append(fitting)
        computed = list(common(clauses, found, self.graph.verifier)) if clauses else []
        answered = any(isinstance(event, AnswerFinal) for event in computed)
        yield from (event for event in (*shown, *computed) if answered or isinstance(event, LMCall))
        return answered

    def _may_be_meant(self, entity: str, query: Query) -> bool:
        """Whether a thing is of the type that a question names, if it names one: of mountains no city."""
        return not query.answer_type.named or fits(query.answer_type, kind_of(self.graph.kg, entity)) is not Fit.NO

    @property
    def _unseen(self) -> Settings:
        """The settings of a question that is asked on the way, whose search is not shown."""
        return dataclasses.replace(self.settings, compare=False, explain=0, forced=())

    def _fitting(self, question: str, settings: Settings) -> tuple[list[Event], dict[str, tuple[Path, ...]]]:
        """The events of a question's run, and all that answers it, each with the paths that lead to it."""
        ran, events = MethodRun(), list[Event]()
        for event in self.pipeline._answered(question, self.method, self.graph, settings, ()):
            ran.see(event)
            if isinstance(event, AnswerFinal):
                ran.final = event
            events.append(event)
        operations = [event for event in events if isinstance(event, Operation)]
        return events, led_to(ran, operations, Sets(self.graph.kg, self.settings.directed))

    def _step_by_step(self, inner: str, outer: str) -> Iterator[Event]:
        """Answer the inner question, then ask the outer one of its answers until that is answered."""
        found, why = yield from self._inner_answer(inner)
        refused = AnswerFinal(why, (), (), BY, refusal=why) if why else None
        for entity in found[:_TRIED]:
            asked = outer.format(bare(entity))
            query = understand(asked, [entity], self.graph.kg)
            for event in held_against(self.answer(query), *self.meant(query, asked)):
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
        for event in self.pipeline._answered(question, self.method, self.graph, self._unseen, ()):
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


def held_against(run: Iterator[Event], meant: Sequence[Event], sure: bool) -> Iterator[Event]:
    """A run's events with the answer to what the question means, where its own is none or another one.

    Args:
        run: how the question was answered, by the paths that a method found or by the rules of ``query``.
        meant, sure: see ``_InSteps.meant``; against an answer that paths lead to only what is sure is held.
    """
    final = next((event for event in meant if isinstance(event, AnswerFinal)), None)
    if final is None:
        yield from run
        return
    told = list[Event]()  # what the run computes, shown if its answer stands
    for event in run:
        if isinstance(event, Operation | Notice):
            told.append(event)
        elif not isinstance(event, AnswerFinal):
            yield event
        elif set(event.answers) == set(final.answers) or (not sure and not event.refusal):
            yield from (*told, event)
            return
    yield from meant


def _beside(run: Iterator[Event], computed: Iterator[Event]) -> Iterator[Event]:
    """A general model's run; before its answer, which stays its own, what the graph gives by calculation is said."""
    final: AnswerFinal | None = None
    for event in run:
        if isinstance(event, AnswerFinal):
            final = event
        else:
            yield event
    made: list[Operation | AnswerFinal] = []
    with contextlib.suppress(UserError):  # there is nothing to compute with; the model's answer stands without
        made += [event for event in computed if isinstance(event, (Operation, AnswerFinal))]
    results = [event for event in made if isinstance(event, AnswerFinal) and not event.refusal]
    if results and any(isinstance(event, Operation) and event.verified for event in made):
        text = re.sub(r"\s*\[\d+(?:, \d+)*\]", "", results[-1].text)  # the paths it cites are of another run
        yield Notice(f"Computed from the graph, apart from the general model's answer: {text}")
    if final is not None:
        yield final
