"""DoG end to end: the search is the paper's Algorithm 1, and its paths are verified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.chains import ChainState
from kgdemo.constraint.pieces import PATH_END, PATH_START
from kgdemo.constraint.query_graph import QueryGraph
from kgdemo.errors import UserError
from kgdemo.events import AnswerFinal, DecodeStep, LMCall, PathFound, PathVerified, Thought, from_json, to_json
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.reasoning.base import METHODS
from kgdemo.reasoning.dog import DogOptions, Visibility
from kgdemo.reasoning.dog.chain import Chain
from kgdemo.reasoning.dog.method import paths_of
from kgdemo.settings import Settings
from tests.helpers.oracles import around, spelled
from tests.helpers.reasoning import film_world, of, run
from tests.helpers.strategies import graphs
from tests.unit.test_decoding import plain_score

QUESTION = "Where was the director of Inception born?"


@pytest.fixture(scope="module", params=[("path", "qwen2"), ("chain", "qwen2"), ("path", "bert"), ("chain", "bert")])
def ran(request):
    script, family = request.param
    world = film_world(family=family)
    dog = DogOptions(script=script, free_tokens=6, width=3)
    return list(run("dog", QUESTION, ["Inception"], world, Settings(method="dog", beams=5, explain=2), dog)), world


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
    events, world = ran
    known: dict[int, Thought] = {}
    for thought in of(events, Thought):
        assert set(thought.parents) <= set(known)
        assert thought.id == len(known) + 1
        known[thought.id] = thought
        assert all(world.verifier.verify(Path.from_labels(t)).faithful for t in thought.triples)
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


def path_labels(path: Path) -> list[str]:
    """A path as alternating labels."""
    return [path.entities[0], *(label for _, relation, tail in path.hops for label in (relation, tail))]


def test_the_score_of_a_chain_is_its_full_vocabulary_probability():
    """Equation 3 and the chain score of two triples in a row, computed again by one plain forward pass."""
    world = film_world()
    model, pieces = world.model, world.model.pieces
    options = Settings(method="dog", beams=20, compare=False, ranking="path")
    events = list(run("dog", QUESTION, ["Inception"], world, options, DogOptions(width=4, steps=2, script="path")))
    prompt = model.style.encode(pieces, QUESTION, ["Inception"])
    long = [e for e in of(events, PathFound) if len(e.path.relations) == 2]
    assert long
    for found in long:
        ids = torch.tensor([[*prompt, *spelled(pieces, path_labels(found.path))]])
        assert found.score == pytest.approx(plain_score(model, ids, len(prompt)), abs=1e-3)


def test_a_wide_search_finds_the_most_probable_chain():
    """Algorithm 1 with beams wider than the graph is exhaustive, so it must agree with brute force."""
    triples = [
        ("Inception", "part of", "New"),
        ("New", "is", "New York"),
        ("words", "in", "Inception"),
        ("New", "in", "of"),
    ]
    world = film_world(triples=triples)
    model, pieces = world.model, world.model.pieces
    options = Settings(method="dog", beams=20, hops=2, compare=False, ranking="path")
    dog = DogOptions(width=20, steps=2, script="chain", free_tokens=0, visibility=Visibility.FULL)
    events = list(run("dog", QUESTION, ["Inception"], world, options, dog))
    shown = of(events, LMCall)[0].prompt
    prompt = tuple(pieces.special(shown))
    assert pieces.tokenizer.decode(list(prompt)) == shown

    def score(tokens: Sequence[int], start: int) -> float:
        return plain_score(model, torch.tensor([[*prompt, *tokens]]), len(prompt) + start)

    chains: dict[frozenset, float] = {}
    for first in around(triples, {"Inception"}):
        one = spelled(pieces, first)[: -len(pieces.end)]
        begun = (*one, *pieces.end, *pieces.start)
        for second in around(triples, {"Inception", first[0], first[2]}) - {first}:
            two = spelled(pieces, second)[: -len(pieces.end)]
            total = score(one, 0) + score((*begun, *two), len(begun))
            pair = frozenset([first, second])
            chains[pair] = max(chains.get(pair, -np.inf), total)
    last = [t for t in of(events, Thought) if t.kind == "thought" and t.parents]
    assert sorted(t.score for t in last) == pytest.approx(sorted(chains.values()), abs=2e-3)
    assert max(t.score for t in last) == pytest.approx(max(chains.values()), abs=2e-3)


@pytest.mark.parametrize("ranking", ["path", "relation"])
def test_a_one_triple_chain_scores_like_the_path_it_is(ranking):
    world = film_world()
    model, pieces = world.model, world.model.pieces
    options = Settings(method="dog", beams=9, hops=1, compare=False, ranking=ranking)
    events = list(run("dog", QUESTION, ["Inception"], world, options, DogOptions(width=9, steps=1, script="path")))
    prompt = model.style.encode(pieces, QUESTION, ["Inception"])
    found = of(events, PathFound)
    assert len(found) == len(world.kg.neighbours("Inception"))
    for path in found:
        ids = torch.tensor([[*prompt, *spelled(pieces, path_labels(path.path))]])
        whole = plain_score(model, ids, len(prompt))
        if ranking == "path":
            assert path.score == pytest.approx(whole, abs=1e-3)
        else:
            assert path.score > whole, "names cost less among those that exist"


@pytest.mark.parametrize("script", ["path", "chain"])
@settings(max_examples=15, deadline=None)
@given(triples=graphs(), family=st.sampled_from(["qwen2", "bert"]), width=st.integers(1, 4), directed=st.booleans())
def test_any_graph_gives_verified_paths(script, triples, family, width, directed):
    world = film_world(triples=triples, family=family)
    topics = [triples[0][0], triples[-1][2]]
    options = Settings(method="dog", beams=4, directed=directed, compare=False, explain=0)
    dog = DogOptions(width=width, script=script, free_tokens=0)
    events = list(run("dog", QUESTION, topics, world, options, dog))
    assert all(e.verdict.faithful for e in of(events, PathVerified))
    for thought in of(events, Thought):
        assert all(world.verifier.verify(Path.from_labels(t)).faithful for t in thought.triples)


def test_chains_branch_and_their_paths_start_at_the_topics():
    kg = KnowledgeGraph.from_triples([("a", "r", "b"), ("c", "r", "b"), ("b", "s", "d"), ("a", "t", "e")])
    ids = {name: kg.entities.find(name) for name in "abcde"}
    query = QueryGraph(kg)
    state = ChainState((ids["a"],))
    for step in (("a", "b"), ("a", "e"), ("b", "d"), ("b", "c")):
        links = query.links(state.visited, state.used)
        state = state.grown(next(x for x in links if (x.first, x.last) == (ids[step[0]], ids[step[1]])))
    paths = paths_of(Chain(state), [ids["a"]])
    readings = [[kg.entities[e] for e in path.entities] for path in paths]
    assert readings == [["a", "b", "c"], ["a", "b", "d"], ["a", "e"]], "the last triple's path first"


@pytest.mark.parametrize("visibility", [Visibility.FULL, Visibility.LOCAL, Visibility.HIDDEN])
def test_the_prompt_shows_as_much_of_the_graph_as_it_should(visibility):
    world = film_world()
    options = Settings(method="dog", beams=3, hops=2, compare=False)
    dog = DogOptions(script="chain", free_tokens=0, visibility=visibility, width=1, steps=2)
    events = list(run("dog", QUESTION, ["Inception"], world, options, dog))
    first, *later = [call.prompt for call in of(events, LMCall) if call.purpose == "triples"]
    near, far = "Inception -> directed by -> Christopher Nolan", "Christopher Nolan -> born in -> London"
    graph = first.rsplit("Graph:", 1)[1]
    assert (near in graph) == (visibility is not Visibility.HIDDEN)
    assert (far in graph) == (visibility is Visibility.FULL)
    assert later
    if visibility is Visibility.LOCAL:
        assert later[0].rsplit("Graph:", 1)[1].count(" | ") > graph.count(" | "), "it grows with the chain"


def test_a_large_graph_is_cut_to_what_the_model_can_read():
    triples = [("Inception", f"relation number {i}", f"some thing {i}") for i in range(400)]
    world = film_world(triples=triples)
    options = Settings(method="dog", beams=2, hops=1, compare=True, explain=0)
    for script in ("chain", "path"):
        dog = DogOptions(script=script, free_tokens=4, triples=300, visibility=Visibility.FULL, width=2, steps=1)
        events = list(run("dog", QUESTION, ["Inception"], world, options, dog))
        calls = [call for call in of(events, LMCall) if call.purpose == "triples"]
        assert calls
        assert all(0 < call.tokens_in + 64 <= world.model.context for call in calls)
        assert of(events, PathFound)


def test_a_question_without_known_topics_is_answered_with_a_refusal():
    events = list(run("dog", QUESTION, ["Nobody"], film_world(), Settings(method="dog", compare=False)))
    assert events[-1].refusal


def test_it_is_registered_and_stops_when_closed():
    assert METHODS["dog"].constrained
    world = film_world()
    events = run("dog", QUESTION, ["Inception"], world, Settings(method="dog"))
    next(events)
    next(events)
    events.close()
    assert list(events) == []


def test_doubt_is_the_same_as_for_gcr():
    world = film_world()
    world.model.style = replace(world.model.style, doubt={"bias": 1.0})
    events = list(run("dog", QUESTION, ["Inception"], world, Settings(method="dog", compare=False)))
    assert "None of these paths" in events[-1].refusal


def test_path_marks_are_what_the_prompts_say():
    world = film_world()
    options = Settings(method="dog", beams=2, compare=False)
    events = list(run("dog", QUESTION, ["Inception"], world, options, DogOptions(script="chain", free_tokens=4)))
    prompt = of(events, LMCall)[0].prompt
    assert prompt.rstrip().endswith(PATH_START)
    assert prompt.count(PATH_END) >= prompt.count(PATH_START) - 2
    assert np.isfinite([e.score for e in of(events, PathFound)]).all()


def test_endless_questions_are_refused_in_words():
    for script in ("path", "chain"):
        events = run(
            "dog", "why " * 2000, ["Inception"], film_world(), Settings(method="dog"), DogOptions(script=script)
        )
        with pytest.raises(UserError, match="too long"):
            list(events)
