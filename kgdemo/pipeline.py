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

from kgdemo.answering.computation import BY, listed
from kgdemo.answering.operands import all_of_kind
from kgdemo.answering.operations import answer
from kgdemo.constraint.token_graph import GrowingTokenGraph, TokenCache, TokenGraph
from kgdemo.errors import UserError
from kgdemo.events import (
    AnswerFinal,
    Candidate,
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
from kgdemo.kg.io.catalogue import build_graph, known_names, open_facts, open_graph
from kgdemo.kg.labels import fold
from kgdemo.kg.path import Path
from kgdemo.kg.stores.base import Meter, metered
from kgdemo.kg.stores.facts import StoreFacts
from kgdemo.kg.stores.graph import StoreGraph
from kgdemo.kg.stores.opening import is_store
from kgdemo.linking.linker import EntityLinker, OverlayLinker
from kgdemo.linking.names import name_index
from kgdemo.linking.store_linker import StoreLinker
from kgdemo.linking.words import name_words, without_article
from kgdemo.methods import METHODS, method_named
from kgdemo.methods.registry import MethodCard
from kgdemo.models.causal import CausalModel
from kgdemo.models.embedding import sentence_embedder
from kgdemo.once import OncePerKey
from kgdemo.query.form import WITHOUT_TOPIC, Form, Plan, plan_of
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
_NAMED = 0.3  # a mention from this score on is taken for a name, and its letters are left as they are
_NEAR = 0.16  # a candidate below this is no suggestion


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

    def linker(self, source: str) -> EntityLinker | OverlayLinker | StoreLinker:
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
            kg = self.graph(source)
            if isinstance(kg, StoreGraph):
                return GrowingTokenGraph(kg, self.model(model).label_tokens, directed)
            store = None if source in self._brought else self.token_cache
            return TokenGraph(kg, self.model(model).label_tokens, directed, like=like, store=store)

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

    def _new_linker(self, source: str) -> EntityLinker | OverlayLinker | StoreLinker:
        kg, embedder, like = self.graph(source), sentence_embedder(), self._loaded.peek(("like", source))
        if isinstance(kg, StoreGraph):
            return StoreLinker(kg)
        base = None if like is None else self.linker(str(like))
        if not isinstance(base, EntityLinker):
            return EntityLinker(kg, embedder)
        new = [kg.entities[i] for i in range(len(base.kg.entities), len(kg.entities))]
        around = [(name, relation_label, other) for name in new for relation_label, other in kg.neighbours(name)]
        return OverlayLinker(base, EntityLinker(build_graph(around)), new) if around else base

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
        events = self._events(question, settings, entities)
        if is_store(settings.graph):
            events = self._over_store(events, settings.graph)
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

    def _over_store(self, events: Iterator[Event], source: str) -> Iterator[Event]:
        """A run over a graph behind a store; what it asked of the store is said at its end, however it ends."""
        meter = Meter(self.profile.store_requests)
        facts, kg = self._loaded.peek(("facts", source)), self._loaded.peek(("graph", source))
        if isinstance(facts, StoreFacts):
            facts.forget()
        if isinstance(kg, StoreGraph) and kg.is_full:
            self.forget_graph(source)
            kg = None
        seen = len(kg.cut) if isinstance(kg, StoreGraph) else 0  # hubs that earlier questions met
        try:
            yield from metered(events, meter)
        except UserError:
            yield Notice(meter.said())
            raise
        kg = self.graph(source)
        for cut in kg.cut[seen:] if isinstance(kg, StoreGraph) else ():
            yield Notice(cut)
        yield Notice(meter.said())

    def _events(self, question: str, settings: Settings, entities: Sequence[str]) -> Iterator[Event]:
        question = check(question, settings, self.profile)
        method = self._method(settings)
        kg = self.graph(settings.graph)
        yield RunStarted(
            question, method.name, kg.name, len(kg), settings.model, settings.beams, settings.hops, settings.forced
        )
        question, linked = yield from self._read(question, kg, settings.graph, entities)
        if not linked.chosen and plan_of(question).form not in WITHOUT_TOPIC:
            said = self._nothing_found(question, linked, kg)
            yield AnswerFinal(said, (), (), BY, refusal=said)
            return
        query = understand(question, linked.chosen, kg)
        settings = yield from self._fitted(settings, query.plan)
        resources = self.resources(settings)
        general = resources.reasoner.is_language_model  # which reads a question within a question itself
        if query.plan.inner and not general and not _names_the_order(linked):
            found = yield from self._inner_answer(query.plan, settings)
            if not found:
                return
            question = query.plan.outer.format(re.sub(r" \([^)]*\)$", "", found))
            query = understand(question, [found], kg)
        if general and query.plan.form in (Form.ENTITY, Form.UNANSWERABLE):
            yield from method.run(query, resources, settings)
        else:
            yield from self._computed(query, method, resources, settings)

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
    ) -> Generator[Event, None, tuple[str, EntitiesLinked]]:
        """Link the entities of a question and put its mistyped words right.

        Returns:
            the question as it was read, and what it was linked to.
        """
        linked = self._link(question, source, entities)
        spelled = self._spelled(question, linked, kg, source)
        if spelled != question:
            yield Notice(f"Read as: {spelled}")
            question, linked = spelled, self._link(spelled, source, entities)
        without_topic = not linked.chosen and plan_of(question).form in WITHOUT_TOPIC
        yield dataclasses.replace(linked, nearest=()) if without_topic else linked
        return question, linked

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

        def link(text: str) -> Sequence[str]:
            return self._entities_in(text, settings.graph)

        common = (resources, link, settings.directed, self._vocabulary(resources.kg))
        if resources.reasoner.is_language_model:
            yield from _beside(method.run(query, resources, settings), answer(query, ask_the_graph, *common))
        else:
            yield from answer(query, ask, *common)

    def _entities_in(self, text: str, source: str) -> tuple[str, ...]:
        """The entities that a text may name: those chosen, those whose name it is, and others that are likely."""
        kg, found = self.graph(source), self.linker(source).link(text)
        if isinstance(kg, StoreGraph):
            return tuple(c.entity for mention in found.mentions for c in mention.candidates)
        same = {name.entity for name in name_index(kg).whole("".join(without_article(name_words(text))))}
        whole = [kg.entities[entity] for entity in sorted(same, key=lambda entity: -kg.degree(entity))]
        candidates = (candidate for mention in found.mentions for candidate in mention.candidates)
        others = (candidate.entity for candidate in candidates if candidate.score >= _NEAR)
        exact = (text,) if text in kg.entities else ()
        return tuple(dict.fromkeys((*exact, *found.chosen, *whole, *others)))

    def _inner_answer(self, plan: Plan, settings: Settings) -> Generator[Event, None, str]:
        """Answer the question within a question; what it is computed from is shown, its search is not.

        Returns:
            the entity found; empty where there is none, which then is the answer.
        """
        inner = dataclasses.replace(settings, compare=False, explain=0, forced=())
        final, paths = None, dict[int, Path]()
        for event in self._events(plan.inner, inner, ()):
            if isinstance(event, AnswerFinal):
                final = event
            elif isinstance(event, Operation):
                yield event
            elif isinstance(event, PathFound) and event.path is not None:
                paths[event.index] = event.path
        found = final.answers[0] if final is not None and final.answers else ""
        cited = tuple(paths[i] for i in (final.citations[0] if final and final.citations else ()) if i in paths)[:1]
        step = Operation("step", f"{plan.inner}? {found}", (Operand(found, cited),), (found,))
        if final is None or final.refusal or found not in self.graph(settings.graph).entities:
            why = "Nothing was found." if final is None else final.text
            said = f"To answer this I first asked “{plan.inner}?”. {why}"
            yield AnswerFinal(said, (), (), BY, refusal=said)
            return ""
        if cited and verify_operation(step, self.verifier(settings.graph)):
            yield dataclasses.replace(step, verified=True)
        yield Notice(f"First asked: {plan.inner}? Answer: {found}.")
        return found

    def _vocabulary(self, kg: KnowledgeGraph) -> frozenset[str]:
        return self._loaded.get(("words", kg.name), lambda: vocabulary_of(kg))

    def _spelled(self, question: str, linked: EntitiesLinked, kg: KnowledgeGraph, source: str) -> str:
        """The question with mistyped words put right; what names an entity stays as it is."""
        if isinstance(kg, StoreGraph):  # nobody can list the words that its names are made of
            return question
        mentions = self.linker(source).link(question).mentions if linked.given else linked.mentions
        named = [(m.start, m.end) for m in mentions if m.candidates[0].score >= _NAMED]
        return corrected(question, named, self._vocabulary(kg), name_index(kg).knows)

    def _nothing_found(self, question: str, linked: EntitiesLinked, kg: KnowledgeGraph) -> str:
        if isinstance(kg, StoreGraph):
            return f"The graph {kg.name} has no entity of a name in the question; name one as the graph spells it."
        noun = plan_of(question).noun
        members = all_of_kind(kg, noun) if noun else []
        if members:
            return (
                f"The graph {kg.name} holds {len(members)} {noun} ({listed(members, 8)}), but nothing by which I could "
                "tell which of them are meant."
            )
        near = ", ".join(candidate.entity for candidate in linked.nearest[:5] if candidate.score >= _NEAR)
        unknown = unknown_words(question, self._vocabulary(kg))
        strange = [word for word in unknown if not name_index(kg).knows(fold(word))]
        said = (
            f"The graph {kg.name} knows nothing called {listed(strange)}"
            if strange
            else (f"No entity of the graph {kg.name} was found in the question")
        )
        hint = f"the nearest names are {near}. Pick one or rephrase." if near else "name one, or choose another graph."
        return f"{said}; {hint}"

    def _link(self, question: str, source: str, entities: Sequence[str]) -> EntitiesLinked:
        began = time.perf_counter()
        if entities:
            kg = self.graph(source)
            known = set(kg.entities.known(entities))
            for entity in entities:
                if entity not in known:
                    near = [c.entity for c in self.linker(source).nearest(entity, 3)]
                    hint = f"; did you mean {', '.join(near)}?" if near else "; check its spelling."
                    raise UserError(f"The graph {kg.name} has no entity {entity!r}{hint}")
            return EntitiesLinked((), tuple(entities), given=True, ms=_since(began))
        found = self.linker(source).link(question)
        nearest: tuple[Candidate, ...] = found.nearest
        return EntitiesLinked(found.mentions, found.chosen, nearest, ms=_since(began))


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


def _names_the_order(linked: EntitiesLinked) -> bool:
    """Whether a name that was found has a place in an order within it: *First World War*, *The Last Supper*."""
    texts = [mention.text for mention in linked.mentions if mention.candidates[0].entity in linked.chosen]
    if linked.given:
        texts += linked.chosen
    return any(re.search(r"\b(?:first|second|third|last|(?:larg|high|bigg|old|small)est)\b", t, re.I) for t in texts)


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
