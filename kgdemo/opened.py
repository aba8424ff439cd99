"""A graph that is open, and what is made of it: linker, verifier, vocabulary and token ids, each when first asked for.

All questions about a graph share these. Forgetting a graph is letting go of its ``OpenedGraph``.
"""

from __future__ import annotations

from collections.abc import Callable

from kgdemo.constraint.label_tokens import LabelTokens
from kgdemo.constraint.token_graph import TokenCache, TokenGraph, token_graph_of
from kgdemo.facts import Facts
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.linking.linker import Linker, linker_of
from kgdemo.models.embedding import sentence_embedder
from kgdemo.once import OncePerKey
from kgdemo.query.query import vocabulary_of
from kgdemo.verify import Verifier


class OpenedGraph:
    """One graph with all that is made of it; safe to use from several threads.

    Args:
        kg: the graph.
        open_facts: gives what the graph's source states, read for the verifier alone.
        like: of the graph that this one is an edit of, whose names and token ids are used again.
        token_cache: where the token ids of a large graph are kept; None for a graph that is no file of ours.
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        open_facts: Callable[[], Facts],
        like: OpenedGraph | None = None,
        token_cache: TokenCache | None = None,
    ) -> None:
        self.kg = kg
        self._open_facts, self._like, self._token_cache = open_facts, like, token_cache
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
        return self._made.get(
            "linker", lambda: linker_of(self.kg, sentence_embedder(), None if like is None else like.linker)
        )

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
            return token_graph_of(self.kg, label_tokens, directed, like, self._token_cache)

        return self._made.get(("tokens", model, directed), build)

    def ask_anew(self) -> None:
        """Let the verifier ask a source that may have changed since the last question."""
        if self._made.peek("facts") is not None:
            self.facts.forget()
