"""Agent and Automatic Graph Exploration under three strategies: steps, thoughts, and nothing that the graph lacks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.tokenised import TokenisedGraph
from kgdemo.events import (
    AnswerFinal,
    CandidatesScored,
    DeductionChecked,
    Event,
    LMCall,
    PathFound,
    PathVerified,
    Thought,
    from_json,
    to_json,
)
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.reasoning.base import World
from kgdemo.reasoning.embedded import EmbeddedReasoner
from kgdemo.reasoning.grounding import Evaluator, GroundingOptions
from kgdemo.verify import Verifier
from tests.helpers.models import random_model
from tests.helpers.reasoning import ChanceReasoner, Clerk, SpellingEmbedder, ask, clerk_world, film_world, of
from tests.helpers.strategies import graphs

SIX = ["agent-cot", "agent-tot", "agent-got", "explore-cot", "explore-tot", "explore-got"]
QUESTION = "Where was the director of Inception born?"
model_named = lru_cache(random_model)


def all_is_read_from_the_graph(events: Sequence[Event], world: World) -> None:
    """Every path found is verified and faithful, and every triple of every thought is an edge."""
    found = {e.index: e.path for e in of(events, PathFound)}
    assert {e.index: e.verdict.faithful for e in of(events, PathVerified)} == dict.fromkeys(found, True)
    for triple in (t for thought in of(events, Thought) for t in thought.triples):
        assert world.verifier.verify(Path.from_labels(triple)).faithful, triple
    cited = {n for numbers in events[-1].citations for n in numbers}
    assert cited <= set(found)


@pytest.fixture(scope="module", params=SIX)
def run(request):
    world = film_world()
    return ask(request.param, QUESTION, ["Inception"], world), world


def test_a_run_ends_in_an_answer_from_paths_of_the_graph(run):
    events, world = run
    all_is_read_from_the_graph(events, world)
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
    world = World(kg, Verifier(kg), model, TokenisedGraph(kg, model.pieces, directed), reasoner, embedder)
    topics = [triples[0][0], triples[-1][2], "Atlantis"]
    events = ask(method, "how many part of x?", topics, world, hops=hops, directed=directed, beams=5)
    all_is_read_from_the_graph(events, world)
    assert isinstance(events[-1], AnswerFinal)
    assert all(len(e.path.relations) <= hops for e in of(events, PathFound))


# the agent ---------------------------------------------------------------------------------------


def test_the_agent_thinks_acts_and_observes_in_turn():
    clerk = Clerk(["Finish[London]", "Christopher Nolan, born in", "directed by"])
    events = ask("agent-cot", QUESTION, ["Inception"], clerk_world(clerk))
    thoughts = of(events, Thought)
    assert [t.kind for t in thoughts] == ["thought", "action", "observation"] * 3 + ["thought", "action"]
    assert [t.text for t in thoughts if t.kind == "action"] == [
        "RetrieveNode[Inception]",
        "NeighbourCheck[Inception, directed by]",
        "NeighbourCheck[Christopher Nolan, born in]",
        "Finish[London]",
    ]
    assert [t.parents for t in thoughts] == [(), *((n,) for n in range(1, len(thoughts)))]
    assert thoughts[5].triples == (("Inception", "directed by", "Christopher Nolan"),)
    assert events[-1].answers == ("London",)
    assert of(events, PathFound)[0].path == Path(
        ("Inception", "Christopher Nolan", "London"), ("directed by", "born in")
    )


def test_a_language_model_sees_what_was_observed_and_every_call_is_told():
    clerk = Clerk(["Finish[London]", "Christopher Nolan, born in", "directed by"])
    events = ask("agent-cot", QUESTION, ["Inception"], clerk_world(clerk))
    assert any("Observation: The neighbours are London." in prompt for prompt in clerk.prompts)
    assert sum(call.calls for call in of(events, LMCall)) == len(clerk.prompts)
    # four thoughts, three choices of an action (the first has no alternative), one answer
    assert [call.purpose for call in of(events, LMCall)].count("thought") == 4
    assert len(clerk.prompts) == 8


def test_the_agent_stops_at_the_step_limit_and_answers_from_what_it_read():
    clerk = Clerk(["NeighbourCheck"])
    options = GroundingOptions(steps=3)
    world = clerk_world(clerk)
    events = ask("agent-cot", QUESTION, ["Inception"], world, options)
    assert len([t for t in of(events, Thought) if t.kind == "action"]) == 3
    assert of(events, CandidatesScored)[-1].decision == "answer"
    all_is_read_from_the_graph(events, world)


def test_a_count_and_a_feature_are_answers():
    events = ask("agent-cot", "How many films did Christopher Nolan direct?", ["Christopher Nolan"], film_world())
    assert "NodeDegree[Christopher Nolan, directed]" in [t.text for t in of(events, Thought)]
    assert events[-1].answers == ("3",)
    assert events[-1].citations == ((1, 2, 3),)
    events = ask("agent-cot", "What is the runtime of Inception?", ["Inception"], film_world())
    assert "NodeFeature[Inception, runtime]" in [t.text for t in of(events, Thought)]
    assert events[-1].answers == ("148 minutes",)


def test_no_action_is_taken_twice_in_a_chain():
    events = ask("agent-cot", QUESTION, ["Inception"], film_world(ChanceReasoner(3)))
    actions = [t.text for t in of(events, Thought) if t.kind == "action"]
    assert len(actions) == len(set(actions))


# trees and graphs --------------------------------------------------------------------------------


def test_a_tree_keeps_three_of_nine_and_says_why():
    world = clerk_world(Clerk(["Finish[London]", "born in", "directed by"]))
    events = ask("agent-tot", QUESTION, ["Inception"], world)
    rounds = [e for e in of(events, CandidatesScored) if e.decision == "thoughts (select)"]
    assert rounds
    assert all(sum(e.kept) <= 3 and len(e.options) <= 9 for e in rounds)
    assert max(len(e.options) for e in rounds) > 3
    pruned = [t for t in of(events, Thought) if t.fate == "pruned"]
    assert pruned
    assert {t.reason for t in pruned if "comes to" not in t.reason} == {"not among the 3 chosen"}


def test_the_score_evaluator_rates_each_state():
    clerk = Clerk(["Christopher Nolan", "born in"])
    options = GroundingOptions(evaluator=Evaluator.SCORE, branches=2, kept=2, steps=4)
    events = ask("agent-tot", QUESTION, ["Inception"], clerk_world(clerk), options)
    rounds = [e for e in of(events, CandidatesScored) if e.decision == "thoughts (score)"]
    assert {score for e in rounds for score in e.scores} == {0.2, 0.9}
    assert all(sum(e.kept) <= 2 for e in rounds)
    assert any(p.splitlines()[-1] == "Ratings:" and "chain of thoughts" in p for p in clerk.prompts)
    kept = [t for t in of(events, Thought) if t.fate == "kept"]
    assert {t.score for t in kept} <= {0.2, 0.9}
    assert all("rated" in t.reason for t in kept)


def test_branches_of_a_tree_are_different_thoughts():
    clerk = Clerk(["NeighbourCheck"])
    ask("agent-tot", QUESTION, ["Inception"], clerk_world(clerk))
    again = [p for p in clerk.prompts if "take another direction" in p]
    assert again
    assert all("- I look further." in p for p in again)


@pytest.mark.parametrize("method", ["agent-got", "explore-got"])
def test_merged_thoughts_have_two_parents(method):
    events = ask(
        method,
        "Which film do Tom Hardy and Leonardo DiCaprio star in?",
        ["Tom Hardy", "Leonardo DiCaprio"],
        film_world(),
    )
    merged = [t for t in of(events, Thought) if t.fate == "merged"]
    assert merged
    assert all(len(t.parents) == 2 for t in merged)
    assert all(t.reason.startswith("of thoughts ") for t in merged)


def test_trees_do_not_merge():
    for method in ("agent-tot", "explore-tot"):
        events = ask(method, QUESTION, ["Inception", "Titanic"], film_world())
        assert all(len(t.parents) <= 1 for t in of(events, Thought))


def test_an_answer_may_lie_where_two_trails_meet():
    clerk = Clerk(["Finish[Inception]", "Leonardo DiCaprio, starred in", "Tom Hardy, starred in", "RetrieveNode"])
    world = clerk_world(clerk)
    events = ask("agent-cot", "Which film do both star in?", ["Tom Hardy", "Leonardo DiCaprio"], world)
    assert [t.text for t in of(events, Thought)][-1] == "Finish[Inception]"
    first, second = (e.path for e in of(events, PathFound)[:2])
    assert (first.end, second.end) == ("Inception", "Inception")
    assert {first.entities[0], second.entities[0]} == {"Tom Hardy", "Leonardo DiCaprio"}


def test_what_two_trails_share_is_not_completed_with_what_one_leads_to():
    question = "Tom Hardy starred in and Leonardo DiCaprio starred in"
    events = ask("agent-got", question, ["Tom Hardy", "Leonardo DiCaprio"], film_world())
    assert events[-1].answers == ("Inception",)
    assert events[-1].completed == ()


# exploration -------------------------------------------------------------------------------------


def test_exploration_prunes_relations_then_entities_and_stops_when_it_is_enough():
    clerk = Clerk(
        ["starring", "directed by", "Elliot Page", "Tom Hardy"], enough="Christopher Nolan -> born in -> London"
    )
    world = clerk_world(clerk)
    events = ask("explore-cot", QUESTION, ["Inception"], world)
    decisions = [e for e in of(events, CandidatesScored) if e.decision in ("relations", "entities")]
    assert all(sum(e.kept) <= 3 for e in decisions)
    first, second = decisions[:2]
    assert (first.decision, second.decision) == ("relations", "entities")
    assert first.options[0] == "Inception -> starring"
    assert second.options[0] == "Inception -> starring -> Elliot Page"
    checks = of(events, DeductionChecked)
    assert [check.holds for check in checks] == [False, True]
    assert any("London" in premise for premise in checks[-1].premises)
    all_is_read_from_the_graph(events, world)


def test_the_search_depth_bounds_one_search_and_no_node_is_visited_twice():
    clerk = Clerk(["directed by"])
    options = GroundingOptions(search_depth=1, steps=3, relations=1)
    events = ask("explore-cot", QUESTION, ["Inception"], clerk_world(clerk), options)
    observations = [t for t in of(events, Thought) if t.kind == "observation"]
    assert observations[0].triples == (("Inception", "directed by", "Christopher Nolan"),)
    heads = [{h for h, _, _ in t.triples} for t in observations]
    assert all(not (one & other) for i, one in enumerate(heads) for other in heads[i + 1 :])


def test_entities_are_taken_from_the_thoughts_text():
    clerk = Clerk(
        ["born in"], writes={"List the entities": "Tom Hardy; Atlantis; -", "Write the next thought": "Tom Hardy?"}
    )
    events = ask("explore-cot", QUESTION, ["Inception"], clerk_world(clerk))
    first = next(t for t in of(events, Thought) if t.kind == "thought")
    assert first.entities == ("Tom Hardy",), "Atlantis is in no graph"


def test_attributes_are_searched_where_a_node_has_any():
    events = ask("explore-cot", "What is the runtime of Inception?", ["Inception"], clerk_world(Clerk(["runtime"])))
    (asked,) = [e for e in of(events, CandidatesScored) if e.decision == "attributes"]
    assert asked.options[0] == "Inception, runtime: 148 minutes"
    assert any("148 minutes" in call.prompt for call in of(events, LMCall) if call.purpose == "answer")


@pytest.mark.parametrize("method", SIX)
def test_without_a_known_topic_there_is_a_refusal_not_a_crash(method):
    events = ask(method, "Who ruled Atlantis?", ["Atlantis"], film_world())
    assert events[-1].refusal
    assert not of(events, PathFound)
