"""FiDeLiS: every step in the graph, and a search that stops when it should."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.events import (
    AnswerFinal,
    CandidatesScored,
    DeductionChecked,
    LMCall,
    PathFound,
    Thought,
    from_json,
    to_json,
)
from kgdemo.lab.evaluation.metrics import coverage_ratio
from kgdemo.methods.fidelis import FidelisOptions
from kgdemo.settings import Settings
from tests.helpers.fidelis import (
    QUESTION,
    STATEMENT,
    Deducing,
    all_candidates_are_in_the_graph,
    all_steps_are_in_the_graph,
    ask,
    clerk,
    deducing,
    found,
)
from tests.helpers.reasoning import FILMS, ChanceReasoner, clerk_world, film_world, of, run
from tests.helpers.strategies import graphs


@pytest.fixture(scope="module", params=["auto", "embeddings"])
def events(request):
    return ask(film_world(), FidelisOptions(decisions=request.param), beams=5, explain=2)


def test_without_a_language_model_it_ends_in_an_answer_from_verified_paths(events):
    all_steps_are_in_the_graph(events, film_world())
    all_candidates_are_in_the_graph(events, film_world())
    assert of(events, PathFound)
    assert of(events, DeductionChecked)
    assert isinstance(events[-1], AnswerFinal)
    assert events[-1].answers
    assert [from_json(to_json(event)) for event in events] == events


def test_thoughts_hang_together(events):
    known = set()
    for thought in of(events, Thought):
        assert set(thought.parents) <= known
        assert thought.id == len(known) + 1
        known.add(thought.id)
        assert (thought.fate == "pruned") == bool(thought.reason)


def test_the_search_halts_when_the_statement_can_be_deduced():
    model = deducing()
    resources = clerk_world(model)
    events = ask(resources, FidelisOptions(width=2), hops=4)
    all_steps_are_in_the_graph(events, resources)
    assert found(events) == ["Inception -> directed by -> Christopher Nolan -> born in -> London"]
    held = [e for e in of(events, DeductionChecked) if e.holds and STATEMENT in e.statement]
    assert [e.statement for e in held] == [f"{STATEMENT} London"]
    assert held[0].premises == ("Inception directed by Christopher Nolan", "Christopher Nolan born in London")
    assert all("directed by" in t.text or "starring" in t.text for t in of(events, Thought)[1:])
    assert events[-1].answers == ("London",)


def test_the_number_of_calls_is_bounded_as_in_appendix_b():
    model = deducing(wanted=["starring"])
    events = ask(clerk_world(model), FidelisOptions(width=3, depth=3), hops=3)
    by_purpose: dict[str, int] = {}
    for call in of(events, LMCall):
        by_purpose[call.purpose] = by_purpose.get(call.purpose, 0) + 1
    assert by_purpose["plan"] == by_purpose["answer"] == 1
    assert by_purpose["select"] <= 1 + 3 * 2, "one selection a path and depth: ND"
    assert by_purpose["verify"] <= 3 * 3 * 2
    assert len(model.prompts) == sum(by_purpose.values())


def test_a_step_that_does_not_follow_is_pruned_with_the_reason():
    class Sceptic(Deducing):
        def reply(self, prompt: str) -> str:
            if "Statement: Christopher Nolan born in" in prompt.rpartition("\n---\n")[2]:
                return "no"
            return super().reply(prompt)

    like = clerk()
    resources = clerk_world(Sceptic(wanted=like.wanted, writes=like.writes))
    events = ask(resources, FidelisOptions(width=2), hops=2)
    pruned = [t for t in of(events, Thought) if "does not follow" in t.reason]
    assert [t.text for t in pruned] == ["Inception -> directed by -> Christopher Nolan -> born in -> London"]
    assert not any("Nolan -> born in" in text for text in found(events))


@settings(max_examples=40, deadline=None)
@given(
    triples=graphs(),
    seed=st.integers(0, 99),
    retriever=st.sampled_from(["path-rag", "vanilla", "tog"]),
    decisions=st.sampled_from(["reasoner", "embeddings", "path-model"]),
    verifier=st.booleans(),
    hops=st.integers(1, 3),
    directed=st.booleans(),
)
def test_every_step_exists_in_the_graph(triples, seed, retriever, decisions, verifier, hops, directed):
    resources = film_world(ChanceReasoner(seed), triples)
    topics = [triples[0][0], triples[-1][2]]
    fidelis = FidelisOptions(width=2, retriever=retriever, decisions=decisions, verifier=verifier, candidates=5)
    events = ask(resources, fidelis, topics, hops=hops, directed=directed, explain=0)
    all_steps_are_in_the_graph(events, resources)
    assert all(path.path.entities[0] in topics for path in of(events, PathFound))
    assert len(set(found(events))) == len(found(events))


def test_unknown_topics_end_in_a_refusal():
    assert ask(film_world(), topics=["Nobody"])[-1].refusal
    assert ask(film_world(), FidelisOptions(last_step=False), topics=["Nobody"])[-1].refusal


def test_it_is_registered_and_stops_when_closed():
    events = run("fidelis", QUESTION, ["Inception"], film_world(), Settings(method="fidelis"))
    next(events)
    events.close()
    assert list(events) == []


def test_coverage_of_the_right_path_is_measured_from_the_events():
    resources = film_world()
    events = ask(resources)
    texts = [option for e in of(events, CandidatesScored) if e.decision == "Path-RAG" for option in e.options]
    steps = [hop for text in texts for hop in resources.verifier.verify_text(text)[0].hops]
    truth = [("Inception", "directed by", "Christopher Nolan"), ("Christopher Nolan", "born in", "London")]
    assert coverage_ratio(steps, truth) >= 0.5
    assert len(FILMS) == len(resources.kg)
