"""Automatic Graph Exploration: relations, entities and attributes are pruned until what was found is enough."""

from __future__ import annotations

from kgdemo.events import CandidatesScored, DeductionChecked, LMCall, Thought
from kgdemo.methods.thought_chains import GroundingOptions
from tests.helpers.reasoning import (
    Clerk,
    all_is_read_from_the_graph,
    ask,
    clerk_world,
    of,
)

QUESTION = "Where was the director of Inception born?"


def test_exploration_prunes_relations_then_entities_and_stops_when_it_is_enough():
    clerk = Clerk(
        ["starring", "directed by", "Elliot Page", "Tom Hardy"], enough="Christopher Nolan -> born in -> London"
    )
    resources = clerk_world(clerk)
    events = ask("explore-cot", QUESTION, ["Inception"], resources)
    decisions = [e for e in of(events, CandidatesScored) if e.decision in ("relations", "entities")]
    assert all(sum(e.kept) <= 3 for e in decisions)
    first, second = decisions[:2]
    assert (first.decision, second.decision) == ("relations", "entities")
    assert first.options[0] == "Inception -> starring"
    assert second.options[0] == "Inception -> starring -> Leonardo DiCaprio"  # the best known
    checks = of(events, DeductionChecked)
    assert [check.holds for check in checks] == [False, True]
    assert any("London" in premise for premise in checks[-1].premises)
    all_is_read_from_the_graph(events, resources)


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
