"""Trees and graphs of thoughts: evaluation, pruning and merging."""

from __future__ import annotations

import pytest

from kgdemo.events import CandidatesScored, PathFound, Thought
from kgdemo.methods.thought_chains import Evaluator, GroundingOptions
from tests.helpers.reasoning import (
    Clerk,
    ask,
    clerk_world,
    film_world,
    of,
)

QUESTION = "Where was the director of Inception born?"


def test_a_tree_keeps_three_of_nine_and_says_why():
    resources = clerk_world(Clerk(["Finish[London]", "born in", "directed by"]))
    events = ask("agent-tot", QUESTION, ["Inception"], resources)
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
    rated = [t for t in kept if "no more than 2 states" not in t.reason]
    assert {t.score for t in rated} <= {0.2, 0.9}
    assert all("rated" in t.reason for t in rated)


def test_a_tree_ends_with_its_best_chain_and_costs_little():
    clerk = Clerk(["Finish[London]", "Christopher Nolan, born in", "directed by"])
    events = ask("agent-tot", QUESTION, ["Inception"], clerk_world(clerk))
    assert "Finish[London]" in [t.text for t in of(events, Thought)]
    assert events[-1].answers == ("London",)
    assert len(clerk.prompts) <= 12, "it has not gone on to ten steps"


def test_branches_of_a_tree_are_different_thoughts():
    clerk = Clerk(["NeighbourCheck"])
    events = ask("agent-tot", QUESTION, ["Inception"], clerk_world(clerk))
    assert any("at most 3 different next steps" in p for p in clerk.prompts)
    branches: dict[tuple[int, ...], list[str]] = {}
    thoughts = {t.id: t for t in of(events, Thought)}
    for action in (t for t in thoughts.values() if t.kind == "action"):
        branches.setdefault(thoughts[action.parents[0]].parents, []).append(action.text)
    assert max(map(len, branches.values())) == 3
    assert all(len(set(actions)) == len(actions) for actions in branches.values())


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
    resources = clerk_world(clerk)
    events = ask("agent-cot", "Which film do both star in?", ["Tom Hardy", "Leonardo DiCaprio"], resources)
    assert [t.text for t in of(events, Thought)][-1] == "Finish[Inception]"
    first, second = (e.path for e in of(events, PathFound)[:2])
    assert (first.end, second.end) == ("Inception", "Inception")
    assert {first.entities[0], second.entities[0]} == {"Tom Hardy", "Leonardo DiCaprio"}


def test_what_two_trails_share_is_not_completed_with_what_one_leads_to():
    question = "Tom Hardy starred in and Leonardo DiCaprio starred in"
    events = ask("agent-got", question, ["Tom Hardy", "Leonardo DiCaprio"], film_world())
    assert events[-1].answers == ("Inception",)
    assert events[-1].completed == ()
