"""Agent and Automatic Graph Exploration under three strategies: thoughts hang together, all is in the graph."""

from __future__ import annotations

from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.events import AnswerFinal, PathFound, Thought, from_json, to_json
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.reasoners.base import EmbeddedReasoner, Resources
from kgdemo.verify import Verifier
from tests.helpers.models import random_model
from tests.helpers.reasoning import (
    ChanceReasoner,
    SpellingEmbedder,
    all_is_read_from_the_graph,
    ask,
    film_world,
    of,
)
from tests.helpers.strategies import graphs

SIX = ["agent-cot", "agent-tot", "agent-got", "explore-cot", "explore-tot", "explore-got"]

QUESTION = "Where was the director of Inception born?"

model_named = lru_cache(random_model)


@pytest.fixture(scope="module", params=SIX)
def run(request):
    resources = film_world()
    return ask(request.param, QUESTION, ["Inception"], resources), resources


def test_a_run_ends_in_an_answer_from_paths_of_the_graph(run):
    events, resources = run
    all_is_read_from_the_graph(events, resources)
    assert isinstance(events[-1], AnswerFinal)
    assert events[-1].answers
    assert of(events, PathFound)


def test_thoughts_are_numbered_and_hang_together(run):
    events, _ = run
    known: dict[int, Thought] = {}
    for thought in of(events, Thought):
        assert set(thought.parents) <= set(known), "a parent was told before"
        if thought.id in known:
            first = known[thought.id]
            assert (thought.text, thought.parents, thought.kind) == (first.text, first.parents, first.kind)
            assert thought.fate in ("kept", "pruned")
            assert thought.reason
        else:
            assert thought.id == len(known) + 1
        known[thought.id] = thought
    assert {t.kind for t in known.values()} <= {"thought", "action", "observation"}


def test_events_survive_json(run):
    events, _ = run
    assert [from_json(to_json(event)) for event in events] == events


@settings(max_examples=150, deadline=None)
@given(
    triples=graphs(),
    method=st.sampled_from(SIX),
    seed=st.integers(0, 1000),
    prose=st.booleans(),
    hops=st.integers(1, 3),
    directed=st.booleans(),
)
def test_whatever_the_reasoner_decides_everything_shown_is_in_the_graph(triples, method, seed, prose, hops, directed):
    kg, model, embedder = KnowledgeGraph.from_triples(triples), model_named("qwen2", 0), SpellingEmbedder()
    reasoner = ChanceReasoner(seed) if prose else EmbeddedReasoner(embedder)
    token_graph = TokenGraph(kg, model.label_tokens, directed)
    resources = Resources(kg, Verifier(StatedFacts(triples)), model, token_graph, reasoner, embedder)
    topics = [triples[0][0], triples[-1][2], "Atlantis"]
    events = ask(method, "how many part of x?", topics, resources, hops=hops, directed=directed, beams=5)
    all_is_read_from_the_graph(events, resources)
    assert isinstance(events[-1], AnswerFinal)
    assert all(len(e.path.relations) <= hops for e in of(events, PathFound))


@pytest.mark.parametrize("method", SIX)
def test_without_a_known_topic_there_is_a_refusal_not_a_crash(method):
    events = ask(method, "Who ruled Atlantis?", ["Atlantis"], film_world())
    assert events[-1].refusal
    assert not of(events, PathFound)
