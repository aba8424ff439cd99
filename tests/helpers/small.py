"""A pipeline over a small graph and a tiny random model; it loads nothing of the page.

A process that a test starts to answer questions loads this alone, for gradio takes longer than all else that it needs.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from itertools import count

from kgdemo.events import Event, RunFailed, RunStarted, Thought
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.models.causal import CausalModel
from kgdemo.pipeline import Pipeline
from kgdemo.settings import ChatSettings, Profile, Settings, profile_from
from tests.helpers.long_run import long_run
from tests.helpers.models import random_model

NASTY = (
    "<img src=x onerror=\"window.pwned='img'\">",
    "</script><script>window.pwned='script'</script>",
    "${window.pwned='dollar'}",
    "{{constructor.constructor('window.pwned=1')()}}",
    "\u202etxet desrever\u202c & \"quoted\" 'too'",
    "x" * 10_000,
)
TRIPLES = [
    ("Inception", "directed by", "Christopher Nolan"),
    ("Inception", "starring", "Leonardo DiCaprio"),
    ("Inception", "starring", "Elliot Page"),
    ("Christopher Nolan", "born in", "London"),
    ("Christopher Nolan", "sibling", "Jonathan Nolan"),
    ("Dunkirk", "directed by", "Christopher Nolan"),
    ("London", "located in", "England"),
    *(("Nasty", f"holds {place}", label) for place, label in enumerate(NASTY)),
    *(("Nasty", label[:200], "London") for label in NASTY),
]
CLOSED = "a run was closed early"
QUESTION = "Where was the director of Inception born?"
LONG = "What does a search of ten beams and forty tokens send?"
ENDLESS = "Where was the director of Inception born, after all?"  # a run that ends only by being stopped

FAILING = "What does a run say that cannot go on?"


class SmallPipeline(Pipeline):
    """A pipeline whose ``resources`` is a handful of triples and whose model is random; counts what was closed early.

    Args:
        profile: local by default.
        endpoint: address of a chat model; none by default.
    """

    def __init__(self, profile: Profile | None = None, endpoint: str = "") -> None:
        chat = ChatSettings("m", endpoint, "key", timeout=2.0, retries=0) if endpoint else ChatSettings()
        super().__init__(profile or profile_from({}), chat)
        info = {"Inception": EntityInfo("film"), "Christopher Nolan": EntityInfo("person", ("Nolan",))}
        self.add_graph("world", KnowledgeGraph.from_triples(TRIPLES, "world", info=info), StatedFacts(TRIPLES))
        self._small = random_model("qwen2", seed=3)
        self.closed_early = 0

    def model(self, name: str) -> CausalModel:
        return self._small if name == "embedded" else super().model(name)

    def run(self, question: str, settings: Settings, entities: Sequence[str] = ()) -> Iterator[Event]:
        try:
            special = {ENDLESS: self._endless, LONG: self._long, FAILING: self._failing}.get(question)
            yield from special() if special else super().run(question, settings, entities)
        except GeneratorExit:
            self.closed_early += 1
            sys.stdout.write(CLOSED + "\n")
            sys.stdout.flush()
            raise

    def _long(self) -> Iterator[Event]:
        pace = threading.Event()  # never set
        for event in long_run():
            pace.wait(0.03)
            yield event

    def _failing(self) -> Iterator[Event]:
        yield RunStarted(FAILING, "gcr", "world", len(TRIPLES), "embedded", 10, 2)
        yield RunFailed("The store of the graph is closed; open it.")

    def _endless(self) -> Iterator[Event]:
        yield RunStarted(ENDLESS, "gcr", "world", len(TRIPLES), "embedded", 10, 2)
        pace = threading.Event()  # never set
        for number in count():
            pace.wait(0.5)  # rarely: a page draws all of a run again, however long it has become
            yield Thought("thought", number, (), "still at it")
