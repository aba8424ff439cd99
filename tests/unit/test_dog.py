"""DoG end to end: a search told as a tree, and paths that are verified."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.triple_chains import ChainState, QueryGraph
from kgdemo.events import AnswerFinal, DecodeStep, LMCall, PathFound, PathVerified, Thought, from_json, to_json
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.methods.dog import DogOptions, TripleChain, paths_of
from kgdemo.methods.registry import METHODS
from kgdemo.settings import Settings
from tests.helpers.reasoning import film_world, of, run
from tests.helpers.strategies import graphs

QUESTION = "Where was the director of Inception born?"


@pytest.fixture(scope="module", params=[("path", "qwen2"), ("chain", "qwen2"), ("path", "bert"), ("chain", "bert")])
def ran(request):
    script, family = request.param
    resources = film_world(family=family)
    dog = DogOptions(script=script, free_tokens=6, width=3)
    return list(
        run("dog", QUESTION, ["Inception"], resources, Settings(method="dog", beams=5, explain=2), dog)
    ), resources


def test_a_run_ends_in_an_answer_from_verified_paths(ran):
    events, _ = ran
    found = {e.index: e.path for e in of(events, PathFound) if e.constrained}
    verdicts = {e.index: e.verdict for e in of(events, PathVerified) if e.constrained}
    assert found
    assert set(verdicts) == set(found)
    assert all(verdict.faithful for verdict in verdicts.values())
    assert len(set(found.values())) == len(found)
    assert all(path.entities[0] == "Inception" for path in found.values())
    assert isinstance(events[-1], AnswerFinal)
    assert events[-1].answers
    assert [from_json(to_json(event)) for event in events] == events


def test_the_triple_level_search_is_told_as_a_tree(ran):
    events, resources = ran
    known: dict[int, Thought] = {}
    for thought in of(events, Thought):
        assert set(thought.parents) <= set(known)
        assert thought.id == len(known) + 1
        known[thought.id] = thought
        assert all(resources.verifier.verify(Path.from_labels(t)).faithful for t in thought.triples)
        assert (thought.fate == "pruned") == bool(thought.reason)
    scores = {t.id: t.score for t in known.values() if t.kind == "thought"}
    for thought in known.values():
        if thought.kind == "thought" and thought.parents:
            assert thought.score <= scores[thought.parents[0]], "chain scores only fall"
    kept = [t for t in known.values() if t.fate == "kept"]
    assert len(kept) < len([t for t in known.values() if t.kind == "thought"]) or len(kept) <= 3


def test_steps_and_beams_never_repeat(ran):
    steps = [e for e in of(ran[0], DecodeStep) if e.constrained]
    assert [step.number for step in steps] == sorted({step.number for step in steps})
    watched = [beam for step in steps for beam in step.watched if beam.masked]
    assert any(masked.reason for beam in watched for masked in beam.masked)
    parents = {choice.beam: choice.parent for step in steps for choice in step.choices}
    for beam in parents:
        seen = set()
        while beam in parents and beam not in seen:
            seen.add(beam)
            beam = parents[beam]
        assert beam not in seen, "a beam is not its own ancestor"


def test_the_unconstrained_branch_is_judged_too(ran):
    events, _ = ran
    free = [e for e in of(events, PathVerified) if not e.constrained]
    assert not any(e.verdict.faithful for e in free), "random models make everything up"
    assert any("without the constraint" in call.purpose for call in of(events, LMCall))


@pytest.mark.parametrize("script", ["path", "chain"])
@settings(max_examples=15, deadline=None)
@given(triples=graphs(), family=st.sampled_from(["qwen2", "bert"]), width=st.integers(1, 4), directed=st.booleans())
def test_any_graph_gives_verified_paths(script, triples, family, width, directed):
    resources = film_world(triples=triples, family=family)
    topics = [triples[0][0], triples[-1][2]]
    options = Settings(method="dog", beams=4, directed=directed, compare=False, explain=0)
    dog = DogOptions(width=width, script=script, free_tokens=0)
    events = list(run("dog", QUESTION, topics, resources, options, dog))
    assert all(e.verdict.faithful for e in of(events, PathVerified))
    for thought in of(events, Thought):
        assert all(resources.verifier.verify(Path.from_labels(t)).faithful for t in thought.triples)


def test_chains_branch_and_their_paths_start_at_the_topics():
    kg = KnowledgeGraph.from_triples([("a", "r", "b"), ("c", "r", "b"), ("b", "s", "d"), ("a", "t", "e")])
    ids = {name: kg.entities.find(name) for name in "abcde"}
    query = QueryGraph(kg)
    state = ChainState((ids["a"],))
    for step in (("a", "b"), ("a", "e"), ("b", "d"), ("b", "c")):
        links = query.links(state.visited, state.used)
        state = state.extended(next(x for x in links if (x.first, x.last) == (ids[step[0]], ids[step[1]])))
    paths = paths_of(TripleChain(state), [ids["a"]])
    step_labels = [[kg.entities[e] for e in path.entities] for path in paths]
    assert step_labels == [["a", "b", "c"], ["a", "b", "d"], ["a", "e"]], "the last triple's path first"


def test_a_question_without_known_topics_is_answered_with_a_refusal():
    events = list(run("dog", QUESTION, ["Nobody"], film_world(), Settings(method="dog", compare=False)))
    assert events[-1].refusal


def test_it_is_registered_and_stops_when_closed():
    assert METHODS["dog"].constrained
    resources = film_world()
    events = run("dog", QUESTION, ["Inception"], resources, Settings(method="dog"))
    next(events)
    next(events)
    events.close()
    assert list(events) == []


def test_doubt_is_the_same_as_for_gcr():
    resources = film_world()
    resources.model.style = replace(resources.model.style, abstention={"bias": 1.0})
    events = list(run("dog", QUESTION, ["Inception"], resources, Settings(method="dog", compare=False)))
    assert "None of these paths" in events[-1].refusal
