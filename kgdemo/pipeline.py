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
from functools import partial

from kgdemo.answering.computation import computed_answer, listed, no_answer
from kgdemo.answering.objections import objection
from kgdemo.answering.operands import Sets, names_of_kind
from kgdemo.answering.operations import answer, in_other_words
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.errors import UserError
from kgdemo.events import (
    Answerability,
    AnswerFinal,
    Event,
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
from kgdemo.kg.labels import fold
from kgdemo.kg.stores.base import Meter, metered
from kgdemo.linking.linker import Linker
from kgdemo.linking.words import nations
from kgdemo.methods import METHODS, method_named
from kgdemo.methods.registry import MethodCard
from kgdemo.models.base import PathModel
from kgdemo.models.causal import BY_VLLM, CausalModel, VllmModel
from kgdemo.models.embedding import sentence_embedder
from kgdemo.opened import OncePerKey, OpenedGraph
from kgdemo.query.answer_type import Fit, fits, kind_of
from kgdemo.query.query import Form, Query
from kgdemo.query.rewriter import in_plain_words, plainer
from kgdemo.reading import put_right, read, unknown_name
from kgdemo.reasoners.base import EmbeddedReasoner, Resources, prompts_in
from kgdemo.reasoners.chat import FallbackReasoner, reasoner_for
from kgdemo.settings import LOCAL, ChatSettings, Profile, Settings, cache_folder, chat_from, check
from kgdemo.steps import InSteps, held_against, or_described, or_in_other_words
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
        yield from self._in_plain_words(question, method, graph, settings, entities)
        yield from (Notice(cut) for cut in graph.kg.cut if cut not in before)

    def _in_plain_words(
        self, question: str, method: MethodCard, graph: OpenedGraph, settings: Settings, entities: Sequence[str]
    ) -> Iterator[Event]:
        """Answer a question as it is read in plain words, or as it was typed where those are not likely.

        Slips are put right before, since a rewriting copies what it does not know. Of a graph whose names are not all
        known a slip cannot be told from a name.
        """
        asked = partial(self.answered, method=method, graph=graph, settings=settings, entities=entities)
        if not graph.linker.knows_all_names:
            yield from asked(question)
            return
        rightly, _ = put_right(question, entities, graph)
        words = in_plain_words(rightly)

        def again() -> Iterator[Event]:
            if other := plainer(rightly):
                yield from asked(other, typed=False)

        run = asked(words, typed=words == question)
        if words == rightly and isinstance(self.resources(settings).reasoner, EmbeddedReasoner):
            run = or_in_other_words(run, again, graph.verifier)
        yield from run

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

    def answered(
        self,
        question: str,
        method: MethodCard,
        graph: OpenedGraph,
        settings: Settings,
        entities: Sequence[str],
        typed: bool = True,
    ) -> Iterator[Event]:
        """Read a question, then answer it by the method or by what is computed over the method's paths.

        Args:
            question: as it was typed, or in plain words.
            method, graph, settings, entities: see ``run``.
            typed: whether it was typed so.
        """
        reading = yield from read(question, entities, graph, typed)
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
                steps = InSteps(self, method, graph, resources, settings, reading)
                retold = tuple(in_other_words(query, resources, link, settings.directed, in_steps=True))
                retold = retold or steps.meant(query, question if reading.typed else reading.text).events
                retold = retold or tuple(steps.described(query)) or tuple(steps.described_whole(query))
            yield from retold or (reading.refused,)
        elif general and query.plan.form in (Form.ENTITY, Form.UNANSWERABLE):
            yield from method.run(query, resources, settings)
        elif general:
            yield from self.computed(query, method, graph, resources, settings)
        else:
            steps = InSteps(self, method, graph, resources, settings, reading)
            text = question if reading.typed else reading.text  # with what was mistyped put right
            run = held_against(steps.answer(query), partial(steps.meant, query, text))
            yield from or_described(
                _as_asked(query, text, run, graph, settings.directed), partial(steps.described_whole, query)
            )

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

    def computed(
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


def _as_asked(query: Query, text: str, run: Iterator[Event], graph: OpenedGraph, directed: bool) -> Iterator[Event]:
    """A run's events; in place of an answer that leaves aside what the question says, what that is.

    Args:
        query: the question.
        text: its words, with those that the query has no use for.
        run: its events.
        graph: what it is about.
        directed: its relations lead one way.
    """
    operations, missing = list[Operation](), ""
    for event in run:
        if isinstance(event, Operation):
            operations.append(event)
        elif isinstance(event, Answerability):
            missing = event.missing
        why = ""
        if isinstance(event, AnswerFinal) and not event.refusal:
            event = _of_the_kind_named(query, _but_those_named(text, event, graph.kg), graph.kg)
            step, event = _of_the_nation_named(query, event, Sets(graph.kg, directed))
            if step is not None and verify_operation(step, graph.verifier):
                yield dataclasses.replace(step, verified=True)
            elif step is not None:
                event = no_answer("What I found of that nation could not be checked in the graph.")
            why = objection(query, event, operations, Sets(graph.kg, directed), unknown_name(text, graph), missing)
        yield no_answer(why) if why else event


_BESIDES = re.compile(r"\b(?:besides|apart from|other than|together with|along with) (?P<name>[^,?]+)", re.I)


def _but_those_named(text: str, final: AnswerFinal, kg: KnowledgeGraph) -> AnswerFinal:
    """An answer without those besides whom others are asked for: *besides Bill Gates, who founded Microsoft*."""
    found = _BESIDES.search(text)
    named = fold(found["name"]) if found else ""
    others = [one for one in final.answers if not any(fold(name) in named for name in kg.names_of(one))]
    if not named or not others or len(others) == len(final.answers):
        return final
    return computed_answer(f"{listed(others)} (besides {found['name'].strip()}).", tuple(others)) if found else final


def _of_the_kind_named(query: Query, final: AnswerFinal, kg: KnowledgeGraph) -> AnswerFinal:
    """An answer without what is not of the kind that a question names: of who won a cup the *countries*."""
    fitting = [fits(query.answer_type, kind_of(kg, one) or "") is not Fit.NO for one in final.answers]
    if not query.answer_type.named or all(fitting) or not any(fitting) or len(final.citations) != len(fitting):
        return final
    kept = [one for one, fit in zip(zip(final.answers, final.citations, strict=True), fitting, strict=True) if fit]
    told = (f"{one} {' and '.join(f'[{index}]' for index in cited)}".strip() for one, cited in kept)
    answers, citations = zip(*kept, strict=True)
    completed = tuple(one for one in final.completed if one in answers)
    text = ", ".join(told)
    return dataclasses.replace(final, text=text, answers=answers, citations=citations, completed=completed)


def _of_the_nation_named(query: Query, final: AnswerFinal, sets: Sets) -> tuple[Operation | None, AnswerFinal]:
    """An answer of citizens where a question names a nation in place of a kind, *which South Africans won*.

    Returns:
        the step to those of them that the graph calls citizens, still to be verified, and the answer that rests on it.
    """
    nouns = names_of_kind(query.plan.noun) if query.plan.noun else ()
    place = next((nations()[noun] for noun in nouns if noun in nations()), "")
    if not place or any(kind_of(sets.kg, one) != "person" for one in final.answers):
        return None, final
    citizens = sets.ends(place, (sets.inverse("citizen of"),))
    kept = tuple(one for one in final.answers if one in citizens)
    if not kept:
        return None, no_answer(f"The graph calls none of {listed(final.answers, 8)} a citizen of {place}.")
    step = Operation("step", f"of {place}: {listed(kept)}", tuple(Operand(e, (citizens[e],)) for e in kept), kept)
    return (
        (None, final)
        if len(kept) == len(final.answers)
        else (step, computed_answer(f"{listed(kept)} (of those found, the citizens of {place}).", kept))
    )


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
