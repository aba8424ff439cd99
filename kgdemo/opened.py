"""A graph that is open, and what is made of it: linker, verifier, vocabulary and token ids, each when first asked for.

All questions about a graph share these. Forgetting a graph is letting go of its ``OpenedGraph``.

``OncePerKey`` is the cache for this: every value is built once, and the building of one never holds up another.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar, cast

from kgdemo.constraint.label_tokens import LabelTokens
from kgdemo.constraint.token_graph import TokenGraph, token_graph_of
from kgdemo.facts import Facts
from kgdemo.kg.cache import ArrayCache
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.linking.linker import Linker
from kgdemo.linking.stores import linker_of
from kgdemo.models.embedding import sentence_embedder
from kgdemo.query.query import vocabulary_of
from kgdemo.verify import Verifier

Value = TypeVar("Value")


@dataclass(slots=True, eq=False)
class _Entry:
    """A value, or the place where one is being built."""

    building: threading.Lock = field(default_factory=threading.Lock)
    ready: bool = False
    value: object = None


class OncePerKey:
    """Values by key; safe to use from several threads.

    Callers of one key wait for the one who builds its value; callers of other keys do not. A builder may ask for
    other keys, as long as these never ask for its own.
    """

    def __init__(self) -> None:
        self._entries: dict[Hashable, _Entry] = {}
        self._lock = threading.Lock()  # of the dictionary, never held while a value is built

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of a key; made with the first call.

        A failure is its caller's alone: the next caller tries anew. A value whose key was dropped or set while it was
        built goes to the caller who built it and is not kept.
        """
        while True:
            with self._lock:
                entry = self._entries.setdefault(key, _Entry())
            if entry.ready:
                return cast(Value, entry.value)
            with entry.building:
                if entry.ready:
                    return cast(Value, entry.value)
                with self._lock:
                    if self._entries.get(key) is not entry:
                        continue  # it failed or was dropped while this caller waited
                try:
                    value = make()
                except BaseException:
                    with self._lock:
                        if self._entries.get(key) is entry:
                            del self._entries[key]
                    raise
                entry.value, entry.ready = value, True
                return value

    def put(self, key: Hashable, value: object) -> None:
        """Set a value, whatever was there or is being built."""
        with self._lock:
            self._entries[key] = _Entry(ready=True, value=value)

    def peek(self, key: Hashable) -> object | None:
        """The value of a key that is there by now; else None."""
        with self._lock:
            entry = self._entries.get(key)
        return entry.value if entry is not None and entry.ready else None

    def drop(self, unwanted: Callable[[Hashable], bool]) -> None:
        """Forget all keys of which this holds."""
        with self._lock:
            for key in [key for key in self._entries if unwanted(key)]:
                del self._entries[key]

    def __iter__(self) -> Iterator[Hashable]:
        """The keys of all values that are there or being built."""
        with self._lock:
            return iter(list(self._entries))


class OpenedGraph:
    """One graph with all that is made of it; safe to use from several threads.

    Args:
        kg: the graph.
        open_facts: gives what the graph's source states, read for the verifier alone.
        like: of the graph that this one is an edit of, whose names and token ids are used again.
        cache: where the names and token ids of a large graph are kept; None for a graph that is no file of ours.
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        open_facts: Callable[[], Facts],
        like: OpenedGraph | None = None,
        cache: ArrayCache | None = None,
    ) -> None:
        self.kg = kg
        self._open_facts, self._like, self._cache = open_facts, like, cache
        self._made = OncePerKey()

    @property
    def facts(self) -> Facts:
        """What its source states, for the verifier."""
        return self._made.get("facts", self._open_facts)

    @property
    def verifier(self) -> Verifier:
        """Judges paths by these facts."""
        return self._made.get("verifier", lambda: Verifier(self.facts))

    @property
    def linker(self) -> Linker:
        """Finds its entities in questions."""
        like = self._like

        def build() -> Linker:
            base = None if like is None else like.linker
            return linker_of(self.kg, sentence_embedder(), base, self._cache)

        return self._made.get("linker", build)

    @property
    def vocabulary(self) -> frozenset[str]:
        """The words that questions about it are made of, in lower case."""
        return self._made.get("vocabulary", lambda: vocabulary_of(self.kg))

    def token_graph(self, model: str, label_tokens: LabelTokens, directed: bool) -> TokenGraph:
        """The graph in a model's tokens.

        Args:
            model: the model's name.
            label_tokens: of its tokeniser.
            directed: walk edges from head to tail only.
        """

        def build() -> TokenGraph:
            like = None if self._like is None else self._like.token_graph(model, label_tokens, directed)
            return token_graph_of(self.kg, label_tokens, directed, like, self._cache)

        return self._made.get(("tokens", model, directed), build)

    def ask_anew(self) -> None:
        """Let the verifier ask a source that may have changed since the last question."""
        if self._made.peek("facts") is not None:
            self.facts.forget()
