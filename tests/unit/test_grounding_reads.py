"""What Agent and Exploration show was read from the graph in that run, with nothing there to hide what was not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.events import PathFound, Thought
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.reasoners.base import EmbeddedReasoner, Resources
from kgdemo.verify import HopVerdict, Verifier
from tests.helpers.models import random_model
from tests.helpers.reasoning import ChanceReasoner, SpellingEmbedder, ask, of
from tests.helpers.strategies import graphs

SIX = ["agent-cot", "agent-tot", "agent-got", "explore-cot", "explore-tot", "explore-got"]
MODEL = random_model("qwen2", 0)


class Watched(KnowledgeGraph):
    """A graph that remembers what was read from it."""

    @classmethod
    def over(cls, triples: Sequence[tuple[str, str, str]]) -> Watched:
        kg = cls.from_triples(triples)
        kg.read = set()
        return kg

    def neighbours(self, label: str, directed: bool = False) -> list[tuple[str, str]]:
        found = super().neighbours(label, directed)
        self.read |= {(label, relation, end) for relation, end in found}
        return found


class Trusting(Verifier):
    """Lets everything pass, so that no check can hide a triple that was made up."""

    def verify(self, path: Path, answer: str | None = None):
        verdict = super().verify(path, answer)
        hops = tuple(replace(hop, verdict=HopVerdict.OK) for hop in verdict.hops)
        return replace(verdict, hops=hops, faithful=True)


@settings(max_examples=40, deadline=None)
@given(triples=graphs(), method=st.sampled_from(SIX), seed=st.integers(0, 1000), prose=st.booleans())
def test_every_triple_shown_was_read_from_the_graph_in_this_run(triples, method, seed, prose):
    kg, embedder = Watched.over(triples), SpellingEmbedder()
    reasoner = ChanceReasoner(seed) if prose else EmbeddedReasoner(embedder)
    resources = Resources(
        kg, Trusting(StatedFacts(triples)), MODEL, TokenGraph(kg, MODEL.label_tokens), reasoner, embedder
    )
    events = ask(method, "how many part of x?", [triples[0][0], triples[-1][2]], resources, hops=2, beams=5)
    shown = {triple for thought in of(events, Thought) for triple in thought.triples}
    shown |= {hop for found in of(events, PathFound) for hop in found.path.hops}
    assert shown <= kg.read
