"""The methods to compare with that look at the graph: whatever decides, they show nothing that it lacks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.events import AnswerFinal, PathFound, PathVerified, Thought, from_json, to_json
from kgdemo.kg.path import Path
from tests.helpers.reasoning import ChanceReasoner, ask, film_world, of
from tests.helpers.strategies import graphs

GROUNDED = ["text-rag", "graph-rag", "kaping", "rog", "tog"]


@pytest.mark.parametrize("method", GROUNDED)
def test_grounded_baselines_answer_from_verified_paths(method):
    resources = film_world()
    events = ask(method, "Who starred in Inception?", ["Inception"], resources, beams=4)
    assert isinstance(events[-1], AnswerFinal)
    found = of(events, PathFound)
    assert len(found) <= 4
    verdicts = {e.index: e.verdict for e in of(events, PathVerified)}
    assert all(e.constrained and verdicts[e.index].faithful for e in found)
    assert [from_json(to_json(event)) for event in events] == events


@settings(max_examples=60, deadline=None)
@given(triples=graphs(), method=st.sampled_from(GROUNDED), seed=st.integers(0, 99), hops=st.integers(1, 3))
def test_on_any_graph_they_show_nothing_that_it_lacks(triples, method, seed, hops):
    resources = film_world(ChanceReasoner(seed) if seed % 2 else None, triples)
    events = ask(method, f"part of {triples[0][0]}?", [triples[0][0], "Atlantis"], resources, hops=hops, beams=3)
    assert isinstance(events[-1], AnswerFinal)
    assert all(e.verdict.faithful for e in of(events, PathVerified))
    for triple in (t for thought in of(events, Thought) for t in thought.triples):
        assert resources.verifier.verify(Path.from_labels(triple)).faithful
