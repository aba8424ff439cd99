"""From settings to a running method: opens graphs and models once, stamps and counts the events.

``Pipeline.run`` is the only way to ask a question; the page, the command line, the evaluation and the
API all call it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import re
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence

from kgdemo.answering.computation import BY, MethodRun, listed
from kgdemo.answering.operands import all_of_kind
from kgdemo.answering.operations import answer
from kgdemo.constraint.token_graph import TokenCache, TokenGraph, token_graph_of
from kgdemo.errors import UserError
from kgdemo.events import (
    Answerability,
    AnswerFinal,
    ConstraintReady,
    EntitiesLinked,
    Event,
    LMCall,
    Notice,
    Operand,
    Operation,
    PathFound,
    RunFailed,
    RunFinished,
    RunStarted,
)
from kgdemo.facts import Facts
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io.catalogue import known_names, open_facts, open_graph
from kgdemo.kg.labels import fold
from kgdemo.kg.path import Path
from kgdemo.kg.stores.base import Meter, metered
from kgdemo.linking.linker import LIKELY, Linker
from kgdemo.linking.store_linker import linker_of
from kgdemo.methods import METHODS, method_named
from kgdemo.methods.registry import MethodCard
from kgdemo.models.causal import CausalModel
from kgdemo.models.embedding import sentence_embedder
from kgdemo.once import OncePerKey
from kgdemo.query.form import plan_of
from kgdemo.query.nested import two_steps
from kgdemo.query.plan import WITHOUT_TOPIC, Form, Plan
from kgdemo.query.query import Query, understand, vocabulary_of
from kgdemo.query.wording import corrected, unknown_words
from kgdemo.reasoners.base import Resources
from kgdemo.reasoners.chat import FallbackReasoner, reasoner_for
from kgdemo.reasoners.embedded import EmbeddedReasoner
from kgdemo.reasoners.prompts import prompts_in
from kgdemo.settings import LOCAL, ChatSettings, Profile, Settings, cache_folder, chat_from, check
from kgdemo.verify import Verifier
from kgdemo.verify_operations import verify_operation

logger = logging.getLogger(__name__)
_TRIED = 3  # answers of a question within a question, of which the rest is asked
_NAMED = 0.3  # a mention from this score on is taken for a name, and its letters are left as they are


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
        self.token_cache = TokenCache(folder) if folder else None
        self._loaded = OncePerKey()
        self._brought: set[str] = set()  # graphs that are no file of ours, a visitor's for one: never kept on disk
        self.when_forgotten: list[Callable[[str], None]] = []  # told the source of each graph that is dropped
        self._lock = threading.RLock()  # of adding and forgetting graphs; nothing is built under it

    # what is loaded ----------------------------------------------------------------------------

    def graph(self, source: str) -> KnowledgeGraph:
        """The graph of that name or file; opened once."""
        return self._loaded.get(("graph", source), lambda: open_graph(source))

    def facts(self, source: str) -> Facts:
        """What the source of that graph states, read for the verifier alone; opened once."""
        return self._loaded.get(("facts", source), lambda: open_facts(source))

    def add_graph(self, source: str, kg: KnowledgeGraph, facts: Facts, like: str = "") -> None:
        """Make a graph built in memory known under a name.

        Args:
            source: the name.
            kg: the graph.
            facts: the triples that it was built from, for the verifier.
            like: source of the graph that it is an edit of, whose names and token ids are used again.
        """
        with self._lock:
            self.forget_graph(source)
            self._loaded.put(("graph", source), kg)
            self._loaded.put(("facts", source), facts)
            self._brought.add(source)
            if like:
                self._loaded.put(("like", source), like)

    def forget_graph(self, source: str) -> None:
        """Drop a graph and all that was built on it."""
        with self._lock:
            self._brought.discard(source)
            self._loaded.drop(lambda key: isinstance(key, tuple) and key[0] != "model" and key[1] == source)
        for forget in self.when_forgotten:
            forget(source)

    def _known(self, source: str) -> bool:
        """Whether a graph is embedded or was handed over in memory: a public server opens no other file."""
        return source in known_names() or self._loaded.peek(("graph", source)) is not None

    def model(self, name: str) -> CausalModel:
        """The KG-specialised language model of that name; loaded once."""
        return self._loaded.get(("model", name), lambda: CausalModel.load(name))

    def add_model(self, name: str, model: CausalModel) -> None:
        """Make a model in memory known under a name; one known before must share its tokeniser."""
        self._loaded.put(("model", name), model)

    def linker(self, source: str) -> Linker:
        """The entity linker of a graph."""
        return self._loaded.get(("linker", source), lambda: self._new_linker(source))

    def verifier(self, source: str) -> Verifier:
        """The verifier of a graph."""
        return self._loaded.get(("verifier", source), lambda: Verifier(self.facts(source)))

    def token_graph(self, source: str, model: str, directed: bool) -> TokenGraph:
        """A graph in a model's tokens; that of an edited graph shares the token ids of the graph before.

        Args:
            source: the graph.
            model: whose tokeniser spells its labels.
            directed: walk edges from head to tail only.
        """

        def build() -> TokenGraph:
            edited = self._loaded.peek(("like", source))
            like = None if edited is None else self.token_graph(str(edited), model, directed)
            store = None if source in self._brought else self.token_cache
            return token_graph_of(self.graph(source), self.model(model).label_tokens, directed, like, store)

        return self._loaded.get(("tokenised", source, model, directed), build)

    def resources(self, settings: Settings) -> Resources:
        """Everything a method may use for one run under these settings."""
        kg, model = self.graph(settings.graph), self.model(settings.model)
        token_graph = self.token_graph(settings.graph, settings.model, settings.directed)
        verifier = self.verifier(settings.graph)
        embedder = sentence_embedder()
        prompts = prompts_in(settings.prompts)
        reasoner = self._loaded.get(("reasoner", "", prompts), lambda: reasoner_for(self.chat, embedder, prompts))
        if reasoner.is_language_model:
            reasoner = FallbackReasoner(reasoner, EmbeddedReasoner(embedder), self.chat)
        return Resources(kg, verifier, model, token_graph, reasoner, embedder, prompts)

    def _new_linker(self, source: str) -> Linker:
        edited = self._loaded.peek(("like", source))
        base = None if edited is None else self.linker(str(edited))
        return linker_of(self.graph(source), sentence_embedder(), base)

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
        counts = _Counts()
        events = self._charged(self._events(question, settings, entities), settings.graph)
        try:
            for event in events:
                counts.see(event)
                yield dataclasses.replace(event, t=round(time.perf_counter() - began, 4))
                if 0 < self.profile.seconds < time.perf_counter() - began:
                    raise UserError(
                        f"This took longer than {self.profile.seconds} s, the most that this server spends on a "
                        "question; ask with fewer paths or hops."
                    )
        except UserError as error:
            yield RunFailed(str(error), t=round(time.perf_counter() - began, 4))
        else:
            seconds = round(time.perf_counter() - began, 4)
            totals = (counts.calls, counts.tokens_in, counts.tokens_out, counts.stage_ms)
            ahead = settings.tokens_ahead(self.model(settings.model).on_gpu)
            yield RunFinished(seconds, *totals, {None: "off", 0: "forced"}.get(ahead, str(ahead)), t=seconds)

    def _charged(self, events: Iterator[Event], source: str) -> Iterator[Event]:
        """A run; what was not read whole, and what was asked of a graph store, is said at its end, however it ends."""
        meter = Meter(self.profile.store_requests)
        if self._loaded.peek(("facts", source)) is not None:
            self.facts(source).forget()
        before: Sequence[str] = ()  # what earlier questions did not read whole
        if self._loaded.peek(("graph", source)) is not None:
            if self.graph(source).is_full:
                self.forget_graph(source)
            else:
                before = tuple(self.graph(source).cut)
        try:
            yield from metered(events, meter)
        except UserError:
            if meter.requests:
                yield Notice(meter.said())
            raise
        for cut in self.graph(source).cut:
            if cut not in before:
                yield Notice(cut)
        if meter.requests:
            yield Notice(meter.said())

    def _events(self, question: str, settings: Settings, entities: Sequence[str]) -> Iterator[Event]:
        question = check(question, settings, self.profile)
        method = self._method(settings)
        kg = self.graph(settings.graph)
        yield RunStarted(
            question, method.name, kg.name, len(kg), settings.model, settings.beams, settings.hops, settings.forced
        )
        question, plan, linked = yield from self._read(question, kg, settings.graph, entities)
        if not linked.chosen and plan.form not in WITHOUT_TOPIC:
            said = self._nothing_found(question, plan.noun, linked, settings.graph)
            yield AnswerFinal(said, (), (), BY, refusal=said)
            return
        query = understand(question, linked.chosen, kg, plan)
        settings = yield from self._fitted(settings, query.plan)
        resources = self.resources(settings)
        general = resources.reasoner.is_language_model  # which reads a question within a question itself
        if general and query.plan.form in (Form.ENTITY, Form.UNANSWERABLE):
            yield from method.run(query, resources, settings)
        elif general:
            yield from self._computed(query, method, resources, settings)
        else:
            yield from self._in_steps(query, linked, method, resources, settings)

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
        if not self.profile.open_models and not self._known(settings.graph):
            raise UserError(f"This server knows the graphs {', '.join(known_names())}; choose one of them.")
        return method

    def _read(
        self, question: str, kg: KnowledgeGraph, source: str, entities: Sequence[str]
    ) -> Generator[Event, None, tuple[str, Plan, EntitiesLinked]]:
        """Link the entities of a question and put its mistyped words right.

        Returns:
            the question as it was read, what is to be done for it, and what it was linked to.
        """
        linked = self._link(question, source, entities)
        spelled = self._spelled(question, linked, kg, source)
        if spelled != question:
            yield Notice(f"Read as: {spelled}")
            question, linked = spelled, self._link(spelled, source, entities)
        plan = plan_of(question)
        without_topic = not linked.chosen and plan.form in WITHOUT_TOPIC
        yield dataclasses.replace(linked, nearest=()) if without_topic else linked
        return question, plan, linked

    def _fitted(self, settings: Settings, plan: Plan) -> Generator[Event, None, Settings]:
        """The settings as the model and the question need them; what differs from those chosen is said."""
        model = self.model(settings.model)
        if model.style.one_way and not settings.directed:
            yield Notice(f"The model {model.name} was trained on paths along the edges, so none goes back.")
            settings = dataclasses.replace(settings, directed=True)
        if not model.pooled:
            yield Notice(
                f"The model {model.name} takes no tree-shaped attention mask, so it reads every beam's text "
                "anew: slower, with the same result."
            )
        if settings.hops < plan.hops <= self.profile.hops:
            yield Notice(f"The question names several relations, so paths of up to {plan.hops} hops are searched.")
            settings = dataclasses.replace(settings, hops=plan.hops)
        return settings

    def _computed(self, query: Query, method: MethodCard, resources: Resources, settings: Settings) -> Iterator[Event]:
        """Answer what is computed over paths; a general model answers beside it, and its answer stays its own."""

        def ask(variant: Query) -> Iterator[Event]:
            yield from method.run(variant, resources, settings)

        def ask_the_graph(variant: Query) -> Iterator[Event]:
            """Without the general model, and without what is only looked at: this answers for the graph."""
            own = dataclasses.replace(resources, reasoner=EmbeddedReasoner(resources.embedder))
            plain = dataclasses.replace(settings, compare=False, explain=0, forced=(), options=())
            yield from method_named("gcr").run(variant, own, plain)

        linker = self.linker(settings.graph)
        common = (resources, linker.entities_in, settings.directed, self._vocabulary(resources.kg))
        if resources.reasoner.is_language_model:
            yield from _beside(method.run(query, resources, settings), answer(query, ask_the_graph, *common))
        else:
            yield from answer(query, ask, *common)

    def _in_steps(
        self, query: Query, linked: EntitiesLinked, method: MethodCard, resources: Resources, settings: Settings
    ) -> Iterator[Event]:
        """A run's answer, in two steps where the question describes what it asks about.

        Some questions always are asked so. Of the others those are whose whole has no answer, or one that a single
        relation leads to though a clause describes something, *the film in which …*.
        """
        if query.plan.inner and not _is_named(query.plan.inner, linked):
            yield from self._step_by_step((query.plan.inner, query.plan.outer), linked, method, resources, settings)
            return
        ran = MethodRun()
        for event in self._computed(query, method, resources, settings):
            ran.see(event)
            if isinstance(event, AnswerFinal):
                ran.final = event
            else:
                yield event
        refused = ran.final is None or bool(ran.final.refusal)
        whole = not refused and (not ran.cited or any(len(path.relations) > 1 for path in ran.cited))
        steps = two_steps(query.plan.asked, clauses_only=not refused)
        if query.plan.form is Form.ENTITY and not whole and steps and not _is_named(steps[0], linked):
            final: AnswerFinal | None = None
            for event in self._step_by_step(steps, linked, method, resources, settings):
                if isinstance(event, AnswerFinal):
                    final = event
                elif not isinstance(event, Answerability) or event.log_odds <= 0:
                    yield event
            if final is not None and not final.refusal:
                yield final
                return
        if ran.final is not None:
            yield ran.final

    def _step_by_step(
        self,
        steps: tuple[str, str],
        linked: EntitiesLinked,
        method: MethodCard,
        resources: Resources,
        settings: Settings,
    ) -> Iterator[Event]:
        """Answer a question within a question, then the rest of its answers, until one of these is answered."""
        inner, outer = steps
        found, why = yield from self._inner_answer(inner, settings)
        refused = AnswerFinal(why, (), (), BY, refusal=why) if why else None
        for entity in found[:_TRIED]:
            query, answered = _asked_of(entity, outer, resources.kg), False
            for event in self._in_steps(query, linked, method, resources, settings):
                if isinstance(event, AnswerFinal) and event.refusal:
                    refused = refused or event
                else:
                    answered = answered or isinstance(event, AnswerFinal)
                    yield event
            if answered:
                return
        if refused is not None:
            yield refused

    def _inner_answer(self, question: str, settings: Settings) -> Generator[Event, None, tuple[tuple[str, ...], str]]:
        """Answer the question within a question; what it is computed from is shown, its search is not.

        Returns:
            the entities found, and why there are none.
        """
        inner = dataclasses.replace(settings, compare=False, explain=0, forced=())
        final, paths = None, dict[int, Path]()
        for event in self._events(question, inner, ()):
            if isinstance(event, AnswerFinal):
                final = event
            elif isinstance(event, Operation):
                yield event
            elif isinstance(event, PathFound) and event.path is not None:
                paths[event.index] = event.path
        kg = self.graph(settings.graph)
        if final is None or final.refusal or not final.answers or final.answers[0] not in kg.entities:
            why = "Nothing was found." if final is None else final.text
            return (), f"To answer this I first asked “{question}?”. {why}"
        found = tuple(answer for answer in final.answers if answer in kg.entities)
        cited = tuple(paths[i] for i in (final.citations[0] if final.citations else ()) if i in paths)[:1]
        step = Operation("step", f"{question}? {found[0]}", (Operand(found[0], cited),), found[:1])
        if cited and verify_operation(step, self.verifier(settings.graph)):
            yield dataclasses.replace(step, verified=True)
        yield Notice(f"First asked: {question}? Answer: {listed(found, 8)}.")
        return found, ""

    def _vocabulary(self, kg: KnowledgeGraph) -> frozenset[str]:
        return self._loaded.get(("words", kg.name), lambda: vocabulary_of(kg))

    def _spelled(self, question: str, linked: EntitiesLinked, kg: KnowledgeGraph, source: str) -> str:
        """The question with mistyped words put right; what names an entity stays as it is."""
        linker = self.linker(source)
        if not linker.knows_all_names:
            return question
        mentions = linker.link(question).mentions if linked.given else linked.mentions
        named = [(m.start, m.end) for m in mentions if m.candidates[0].score >= _NAMED]
        return corrected(question, named, self._vocabulary(kg), linker.knows)

    def _nothing_found(self, question: str, noun: str, linked: EntitiesLinked, source: str) -> str:
        """What is said of a question without a topic entity; ``noun`` is what it asks for all of."""
        kg, linker = self.graph(source), self.linker(source)
        members = all_of_kind(kg, noun) if noun else []
        if members:
            return (
                f"The graph {kg.name} holds {len(members)} {noun} ({listed(members, 8)}), but nothing by which I could "
                "tell which of them are meant."
            )
        near = ", ".join(candidate.entity for candidate in linked.nearest[:5] if candidate.score >= LIKELY)
        unknown = unknown_words(question, self._vocabulary(kg))
        strange = [word for word in unknown if not linker.knows(fold(word))]
        said = (
            f"The graph {kg.name} knows nothing called {listed(strange)}"
            if strange
            else (f"No entity of the graph {kg.name} was found in the question")
        )
        spelled = "" if linker.knows_all_names else " as the graph spells it"
        name_one = f"name one{spelled}, or choose another graph."
        hint = f"the nearest names are {near}. Pick one or rephrase." if near else name_one
        return f"{said}; {hint}"

    def _link(self, question: str, source: str, entities: Sequence[str]) -> EntitiesLinked:
        began = time.perf_counter()
        if entities:
            kg = self.graph(source)
            for entity in entities:
                if entity not in kg.entities:
                    near = [c.entity for c in self.linker(source).nearest(entity, 3)]
                    hint = f"; did you mean {', '.join(near)}?" if near else "; check its spelling."
                    raise UserError(f"The graph {kg.name} has no entity {entity!r}{hint}")
            return EntitiesLinked((), tuple(entities), given=True, ms=_since(began))
        found = self.linker(source).link(question)
        return EntitiesLinked(found.mentions, found.chosen, found.nearest, ms=_since(began))


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


def _asked_of(entity: str, outer: str, kg: KnowledgeGraph) -> Query:
    """What is asked of the answer of the question within a question."""
    return understand(outer.format(re.sub(r" \([^)]*\)$", "", entity)), [entity], kg)


_IN_ORDER = re.compile(r"\b(?:first|second|third|last|(?:larg|high|bigg|old|small)est)\b", re.IGNORECASE)
_DESCRIBED = re.compile(r"^(?:who|what) (?:is|was|are|were) (?:the )?(?P<noun>\w+)", re.IGNORECASE)


def _is_named(inner: str, linked: EntitiesLinked) -> bool:
    """Whether what seems to be described is a name that was found: the *Statue of Liberty*, the *Last Supper*."""
    texts = [mention.text for mention in linked.mentions if mention.candidates[0].entity in linked.chosen]
    if linked.given:
        texts += linked.chosen
    found = _DESCRIBED.match(inner)
    noun = found["noun"].lower() if found else ""
    return any(_IN_ORDER.search(text) or noun in text.lower().split() for text in texts)


@dataclasses.dataclass(slots=True)
class _Counts:
    """Totals over a run's events."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    stage_ms: dict[str, float] = dataclasses.field(default_factory=dict)

    def see(self, event: Event) -> None:
        if isinstance(event, LMCall):
            self.calls += event.calls
            self.tokens_in += event.tokens_in
            self.tokens_out += event.tokens_out
            self.stage_ms[event.purpose] = self.stage_ms.get(event.purpose, 0.0) + 1000 * event.seconds
        elif isinstance(event, EntitiesLinked):
            self.stage_ms["linking"] = event.ms
        elif isinstance(event, ConstraintReady):
            self.stage_ms["constraint"] = event.ms


def _since(began: float) -> float:
    return 1000 * (time.perf_counter() - began)
