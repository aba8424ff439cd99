"""A small film world, and reasoners that need no weights: by spelling, by chance, and by a clerk with a rule."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from random import Random

import numpy as np

from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.events import AnswerFinal, Event, PathFound, PathVerified, Thought, Waiting
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.methods.registry import METHODS
from kgdemo.models.chat import Usage
from kgdemo.query.form import understand
from kgdemo.query.query import Query
from kgdemo.reasoners.base import Decision, EmbeddedReasoner, Evidence, Reasoner, Resources
from kgdemo.reasoners.chat import ChatReasoner, FallbackReasoner
from kgdemo.settings import Given, Settings, _written
from kgdemo.verify import Verifier
from tests.helpers.models import random_model


def given(options: object) -> Given:
    """The pairs of names and values that make these options of a method."""
    return tuple((f.name, _written(getattr(options, f.name))) for f in fields(options))


FILMS = [
    ("Inception", "directed by", "Christopher Nolan"),
    ("Inception", "starring", "Leonardo DiCaprio"),
    ("Inception", "starring", "Elliot Page"),
    ("Inception", "starring", "Tom Hardy"),
    ("Inception", "starring", "Ken Watanabe"),
    ("Inception", "released in year", "2010"),
    ("Interstellar", "directed by", "Christopher Nolan"),
    ("Interstellar", "starring", "Anne Hathaway"),
    ("Dunkirk", "directed by", "Christopher Nolan"),
    ("Dunkirk", "starring", "Tom Hardy"),
    ("Titanic", "starring", "Leonardo DiCaprio"),
    ("Titanic", "released in year", "1997"),
    ("Christopher Nolan", "born in", "London"),
    ("Leonardo DiCaprio", "born in", "Los Angeles"),
    ("Tom Hardy", "born in", "London"),
    ("London", "capital of", "United Kingdom"),
]
INFO = {"Inception": EntityInfo("film", (), "a film about dreams", {"runtime": "148 minutes"})}
INVERSE = {"directed by": "directed", "starring": "starred in", "born in": "birthplace of"}


class SpellingEmbedder:
    """Counts letter trigrams: words of one stem are alike."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.zeros((len(texts), 512), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()):
                for start in range(len(word) + 1):
                    row[zlib.crc32(f" {word} "[start : start + 3].encode()) % 512] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


class ChanceReasoner:
    """Decides at random, and writes what no graph has ever heard of.

    Args:
        seed: of its decisions.
    """

    name, is_language_model, at_once, samples = "chance", True, 1, False

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)

    def select(self, question: str, task: str, options: Sequence[str], limit: int) -> Decision:
        chosen = self.rng.sample(range(len(options)), self.rng.randint(1, min(limit, len(options))))
        return Decision(chosen=tuple(chosen), scores=tuple(self.rng.random() for _ in options))

    def score(self, question: str, task: str, options: Sequence[str]) -> Decision:
        return Decision(scores=tuple(self.rng.random() for _ in options))

    def propose(self, question: str, task: str, context: Sequence[str], options: Sequence[str], limit: int) -> Decision:
        return self.select(question, task, options, limit)

    def verify(self, question: str, statement: str, premises: Sequence[str], task: str = "") -> Decision:
        return Decision(holds=self.rng.random() < 0.3)

    def plan(self, query: Query, task: str, temperature: float = 0.0) -> Decision:
        return Decision(text=self.rng.choice(["London; Atlantis", "part -> of; born in", "-", "a -> b -> c"]))

    def thought(self, question: str, task: str, context: Sequence[str]) -> Decision:
        return Decision(text=self.rng.choice(["look at London", "", "Atlantis -> ruled by -> Poseidon"]))

    def answer(self, question: str, evidence: Sequence[Evidence], task: str = "") -> Iterator[Event]:
        ends = tuple(dict.fromkeys(e.path.end for e in evidence))
        yield AnswerFinal(", ".join(ends), ends, tuple((1,) for _ in ends), self.name)


class Clerk:
    """A chat model that follows a rule: of options it takes those that hold a wanted text, else the first.

    Args:
        wanted: texts, dearest first.
        writes: what to write, by a phrase of the prompt.
        enough: a text whose presence among facts makes them enough.
    """

    name, at_once, samples, structured = "clerk", 1, False, False

    def __init__(self, wanted: Sequence[str] = (), writes: dict[str, str] | None = None, enough: str = "\0") -> None:
        self.wanted, self.writes, self.enough = wanted, writes or {}, enough
        self.prompts: list[str] = []

    def stream(self, prompt: str, usage: Usage, temperature: float = 0.0, schema: object = None) -> Iterator[str]:
        self.prompts.append(prompt)
        usage.tokens_in, usage.tokens_out = 10, 3
        yield self.reply(prompt)

    def reply(self, prompt: str) -> str:
        """The reply in the form that the prompt asks for."""
        form = prompt.splitlines()[-1]
        asked = prompt.rpartition("\n---\n")[2]  # the examples stand above
        options = re.findall(r"^(\d+)\. (.*(?:\n   .*)*)$", asked, re.MULTILINE)
        if form in ("Numbers:", "Next steps:"):
            rank = {n: next((i for i, w in enumerate(self.wanted) if w in text), 99) for n, text in options}
            limit = int((re.findall(r"(?:Choose|Write) at most (\d+)", prompt) or ["1"])[0])
            chosen = sorted(rank, key=lambda n: rank[n])[:limit]
            said = next((text for phrase, text in self.writes.items() if phrase in prompt), "I look further.")
            return ", ".join(chosen) if form == "Numbers:" else "\n".join(f"{said} | {n}" for n in chosen)
        if form == "Ratings:":
            return "\n".join(f"{n}: {9 if any(w in text for w in self.wanted) else 2}" for n, text in options)
        if form == "Does it follow?":
            return "yes" if self.enough in asked else "no"
        if form == "Answers:":
            return "London [1]"
        return next((text for phrase, text in self.writes.items() if phrase in prompt), "I look further.")


def film_world(reasoner: Reasoner | Callable | None = None, triples=FILMS, family: str = "qwen2") -> Resources:
    """A world with a random path model; the embedded reasoner unless another is given."""
    kg = KnowledgeGraph.from_triples(triples, "films", INVERSE, INFO)
    model, embedder = random_model(family, seed=1), SpellingEmbedder()
    token_graph = TokenGraph(kg, model.label_tokens)
    return Resources(
        kg,
        Verifier(StatedFacts(triples, INVERSE)),
        model,
        token_graph,
        reasoner or EmbeddedReasoner(embedder),
        embedder,
    )


def clerk_world(clerk: Clerk, triples=FILMS) -> Resources:
    """A film world with a chat reasoner."""
    return film_world(ChatReasoner(clerk), triples)


def with_fallback(reasoner: Reasoner) -> Resources:
    """The same world, with a language model as a run has it: the embedded reasoner stands behind it."""
    return film_world(FallbackReasoner(reasoner, EmbeddedReasoner(SpellingEmbedder())))


def of(events: Sequence[Event], kind: type) -> list:
    """The events of one kind."""
    return [event for event in events if isinstance(event, kind)]


def ask(
    method: str, question: str, topics: Sequence[str], resources: Resources, options: object = None, **chosen
) -> list[Event]:
    """All events of a registered method, asked as everything asks: options are given as text."""
    return list(run(method, question, topics, resources, Settings(method=method, **chosen), options))


def run(
    method: str,
    question: str,
    topics: Sequence[str],
    resources: Resources,
    settings: Settings,
    options: object = None,
    waiting: bool = False,
) -> Iterator[Event]:
    """The same, event by event; signs of life, which come by the clock, only where they are asked for."""
    card = METHODS[method]
    if options is not None:
        settings = replace(settings, options=given(options))
    events = card.run(understand(question, topics, resources.kg), resources, settings)
    return events if waiting else (event for event in events if not isinstance(event, Waiting))


def all_is_read_from_the_graph(events: Sequence[Event], resources: Resources) -> None:
    """Every path found is verified and faithful, and every triple of every thought is an edge."""
    found = {e.index: e.path for e in of(events, PathFound)}
    assert {e.index: e.verdict.faithful for e in of(events, PathVerified)} == dict.fromkeys(found, True)
    for triple in (t for thought in of(events, Thought) for t in thought.triples):
        assert resources.verifier.verify(Path.from_labels(triple)).faithful, triple
    cited = {n for numbers in events[-1].citations for n in numbers}
    assert cited <= set(found)
