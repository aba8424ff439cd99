"""From settings to a running method: opens graphs and models once, stamps and counts the events.

``Pipeline.run`` is the only way to ask a question; the page, the command line, the evaluation and the
API all call it.
"""

from __future__ import annotations

import dataclasses
import logging
import threading
import time
from collections.abc import Iterator, Sequence

from kgdemo.constraint.token_graph import TokenCache, TokenGraph
from kgdemo.errors import UserError
from kgdemo.events import (
    Candidate,
    ConstraintReady,
    EntitiesLinked,
    Event,
    LMCall,
    Notice,
    RunFailed,
    RunFinished,
    RunStarted,
)
from kgdemo.facts import Facts
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io.catalogue import build_graph, embedded_names, open_facts, open_graph
from kgdemo.linking.linker import EntityLinker, OverlayLinker
from kgdemo.methods import METHODS, method_named
from kgdemo.models.causal import CausalModel
from kgdemo.models.embedding import sentence_embedder
from kgdemo.once import OncePerKey
from kgdemo.query.query import understand
from kgdemo.reasoners.base import Resources
from kgdemo.reasoners.chat import reasoner_for
from kgdemo.settings import LOCAL, ChatSettings, Profile, Settings, cache_folder, chat_from, check
from kgdemo.verify import Verifier

logger = logging.getLogger(__name__)


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

    def _known(self, source: str) -> bool:
        """Whether a graph is embedded or was handed over in memory: a public server opens no other file."""
        return source in embedded_names() or self._loaded.peek(("graph", source)) is not None

    def model(self, name: str) -> CausalModel:
        """The KG-specialised language model of that name; loaded once."""
        return self._loaded.get(("model", name), lambda: CausalModel.load(name))

    def add_model(self, name: str, model: CausalModel) -> None:
        """Make a model in memory known under a name; one known before must share its tokeniser."""
        self._loaded.put(("model", name), model)

    def linker(self, source: str) -> EntityLinker | OverlayLinker:
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
            return TokenGraph(self.graph(source), self.model(model).label_tokens, directed, like=like, store=store)

        return self._loaded.get(("tokenised", source, model, directed), build)

    def resources(self, settings: Settings) -> Resources:
        """Everything a method may use under these settings."""
        kg, model = self.graph(settings.graph), self.model(settings.model)
        token_graph = self.token_graph(settings.graph, settings.model, settings.directed)
        verifier = self.verifier(settings.graph)
        embedder = sentence_embedder()
        reasoner = self._loaded.get(("reasoner", ""), lambda: reasoner_for(self.chat, embedder))
        return Resources(kg, verifier, model, token_graph, reasoner, embedder)

    def _new_linker(self, source: str) -> EntityLinker | OverlayLinker:
        kg, embedder, like = self.graph(source), sentence_embedder(), self._loaded.peek(("like", source))
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
        try:
            for event in self._events(question, settings, entities):
                counts.see(event)
                yield dataclasses.replace(event, t=round(time.perf_counter() - began, 4))
        except UserError as error:
            yield RunFailed(str(error), t=round(time.perf_counter() - began, 4))
        else:
            seconds = round(time.perf_counter() - began, 4)
            totals = (counts.calls, counts.tokens_in, counts.tokens_out, counts.stage_ms)
            ahead = settings.tokens_ahead(self.model(settings.model).on_gpu)
            yield RunFinished(seconds, *totals, {None: "off", 0: "forced"}.get(ahead, str(ahead)), t=seconds)

    def _events(self, question: str, settings: Settings, entities: Sequence[str]) -> Iterator[Event]:
        question = check(question, settings, self.profile)
        method = method_named(settings.method)
        if settings.forced and not method.drivable:
            drivable = ", ".join(card.title for card in METHODS.values() if card.drivable)
            raise UserError(f"{method.title} takes no forced tokens; choose {drivable} in the settings.")
        method.check(settings.options, self.profile)
        if not self.profile.open_models and not self._known(settings.graph):
            raise UserError(f"This server knows the graphs {', '.join(embedded_names())}; choose one of them.")
        kg = self.graph(settings.graph)
        yield RunStarted(
            question, method.name, kg.name, len(kg), settings.model, settings.beams, settings.hops, settings.forced
        )
        linked = self._link(question, settings.graph, entities)
        yield linked
        if not linked.chosen:
            near = ", ".join(candidate.entity for candidate in linked.nearest[:5])
            raise UserError(
                f"No entity of the graph {kg.name} was found in the question; "
                + (
                    f"the nearest names are {near}. Pick one or rephrase."
                    if near
                    else "name one, or choose another graph."
                )
            )
        resources = self.resources(settings)
        if not resources.model.pooled:
            yield Notice(
                f"The model {resources.model.name} takes no tree-shaped attention mask, so it reads every beam's text "
                "anew: slower, with the same result."
            )
        yield from method.run(understand(question, linked.chosen, kg), resources, settings)

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
        nearest: tuple[Candidate, ...] = found.nearest
        return EntitiesLinked(found.mentions, found.chosen, nearest, ms=_since(began))


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
