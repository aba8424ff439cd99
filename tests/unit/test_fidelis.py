"""FiDeLiS: candidates by equation 2, every step in the graph, and a search that stops when it should."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.evaluation.ratios import coverage_ratio, validity_ratio
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
from kgdemo.kg.path import Path
from kgdemo.reasoning.base import World
from kgdemo.reasoning.fidelis import PLACEHOLDER, FidelisOptions, read_plan, statement_of
from kgdemo.settings import Settings
from tests.helpers.oracles import spelled
from tests.helpers.reasoning import FILMS, ChanceReasoner, Clerk, clerk_world, film_world, of, run
from tests.helpers.strategies import graphs
from tests.unit.test_decoding import plain_score

QUESTION = "Where was the director of Inception born?"
PLAN = f"director, born | find the director; find the birthplace | the director of Inception was born in {PLACEHOLDER}"
STATEMENT = "the director of Inception was born in"


def ask(world: World, fidelis: FidelisOptions | None = None, topics: Sequence[str] = ("Inception",), **chosen):
    return list(run("fidelis", QUESTION, topics, world, Settings(compare=False, **chosen), fidelis))


def clerk(**chosen) -> Clerk:
    """A chat model that likes directors and birthplaces, plans, and finds every step to follow."""
    writes = {"Prepare a walk": PLAN}
    return Clerk(**{"wanted": ["born in", "directed by"], "writes": writes, **chosen})


class Deducing(Clerk):
    """A clerk that finds every step to follow, and the statement once London is in its place."""

    def reply(self, prompt: str) -> str:
        if prompt.splitlines()[-1] == "Does it follow?":
            statement = next(line for line in prompt.splitlines() if line.startswith("Statement:"))
            return "no" if STATEMENT in statement and "London" not in statement else "yes"
        return super().reply(prompt)


def deducing(**chosen) -> Deducing:
    like = clerk()
    return Deducing(**{"wanted": like.wanted, "writes": like.writes, **chosen})


def found(events: Sequence[Event]) -> list[str]:
    return [str(e.path) for e in of(events, PathFound)]


def all_steps_are_in_the_graph(events: Sequence[Event], world: World) -> None:
    assert validity_ratio(e.verdict for e in of(events, PathVerified)) == 1.0
    for thought in of(events, Thought):
        assert all(world.verifier.verify(Path.from_labels(t)).faithful for t in thought.triples)


def all_candidates_are_in_the_graph(events: Sequence[Event], world: World) -> None:
    """Of labels without arrows, which their texts can be read by."""
    for scored in of(events, CandidatesScored):
        if scored.decision in ("Path-RAG", "vanilla retriever"):
            assert all(world.verifier.verify_text(option)[1].faithful for option in scored.options)


# the plan ----------------------------------------------------------------------------------------


def test_a_plan_in_three_parts_is_read():
    plan = read_plan(PLAN, QUESTION, ["Inception"])
    assert plan.keywords == "director, born"
    assert plan.steps.startswith("find the director")
    assert plan.filled(Path(("Inception", "London"), ("r",))) == f"{STATEMENT} London"


@pytest.mark.parametrize("text", ["director, inception, born", "a | b", f"| | {PLACEHOLDER}", "a | b | no slot", ""])
def test_other_plans_are_keywords_and_the_statement_is_made_by_rule(text):
    plan = read_plan(text, QUESTION, ["Inception"])
    assert plan.keywords
    assert "inception" not in plan.keywords or "," not in plan.keywords
    assert plan.statement == f"{PLACEHOLDER} was the director of Inception born"


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("who directed Inception?", f"{PLACEHOLDER} directed Inception"),
        ("In which city was he born", f"{PLACEHOLDER} city was he born"),
        ("capital of Austria", f"capital of Austria: {PLACEHOLDER}"),
    ],
)
def test_a_question_becomes_a_statement(question, statement):
    assert statement_of(question) == statement


# the search --------------------------------------------------------------------------------------


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
    world = clerk_world(model)
    events = ask(world, FidelisOptions(width=2), hops=4)
    all_steps_are_in_the_graph(events, world)
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
            if prompt.splitlines()[-1] == "Does it follow?" and "Statement: Christopher Nolan born in" in prompt:
                return "no"
            return super().reply(prompt)

    like = clerk()
    world = clerk_world(Sceptic(wanted=like.wanted, writes=like.writes))
    events = ask(world, FidelisOptions(width=2), hops=2)
    pruned = [t for t in of(events, Thought) if "does not follow" in t.reason]
    assert [t.text for t in pruned] == ["Inception -> directed by -> Christopher Nolan -> born in -> London"]
    assert not any("Nolan -> born in" in text for text in found(events))


def test_the_plan_is_a_hint_for_the_selection():
    with_plan, without = deducing(), deducing()
    ask(clerk_world(with_plan))
    ask(clerk_world(without), FidelisOptions(planning=False))
    assert any("find the birthplace" in p for p in with_plan.prompts[1:])
    assert not any("find the birthplace" in p for p in without.prompts[1:])
    assert any(STATEMENT in p for p in without.prompts), "the statement stays"


def test_without_beam_search_one_path_is_kept():
    events = ask(clerk_world(deducing()), FidelisOptions(beam_search=False))
    depth_of = [len(t.triples) for t in of(events, Thought) if t.fate == "kept" and t.triples]
    assert depth_of == [1, 2]


def test_without_the_verifier_nothing_is_checked_and_the_search_goes_to_its_depth():
    model = deducing()
    events = ask(clerk_world(model), FidelisOptions(verifier=False, width=2), hops=3)
    assert not of(events, DeductionChecked)
    assert {len(e.path.relations) for e in of(events, PathFound)} == {3}


def test_without_the_last_step_the_ends_are_the_answer():
    model = deducing()
    events = ask(clerk_world(model), FidelisOptions(last_step=False))
    assert events[-1].answers == ("London",)
    assert events[-1].citations[0][0] == 1
    assert not any(call.purpose == "answer" for call in of(events, LMCall))


def test_adequacy_asks_for_enough_instead_of_the_statement():
    model = clerk(enough="born in")
    events = ask(clerk_world(model), FidelisOptions(adequacy=True, width=1))
    assert not any(STATEMENT in p for p in model.prompts[1:])
    assert found(events) == ["Inception -> directed by -> Christopher Nolan -> born in -> London"]


@pytest.mark.parametrize("decisions", ["embeddings", "path-model"])
def test_small_models_can_take_the_beam_decisions(decisions):
    """Appendix B: no selection by the language model; it plans and answers."""
    model = deducing()
    events = ask(clerk_world(model), FidelisOptions(decisions=decisions))
    asked = {call.purpose for call in of(events, LMCall) if call.by == "clerk"}
    assert "select" not in asked
    assert {"plan", "answer"} <= asked
    assert found(events)


@pytest.mark.parametrize("retriever", ["vanilla", "tog"])
def test_other_retrievers_can_stand_in_for_path_rag(retriever):
    world = clerk_world(deducing())
    events = ask(world, FidelisOptions(retriever=retriever))
    all_steps_are_in_the_graph(events, world)
    all_candidates_are_in_the_graph(events, world)
    assert "Inception -> directed by -> Christopher Nolan -> born in -> London" in found(events)
    assert not any(e.decision == "Path-RAG" for e in of(events, CandidatesScored))


def test_the_path_model_scores_paths_as_it_would_write_them():
    world = film_world()
    model, pieces = world.model, world.model.pieces
    events = ask(world, FidelisOptions(width=10), beams=30, hops=2, ranking="path", explain=0)
    prompt = model.style.encode(pieces, QUESTION, ["Inception"])
    paths = of(events, PathFound)
    assert {len(e.path.relations) for e in paths} == {1, 2}
    for path in paths[:8]:
        labels = [path.path.entities[0], *(x for _, r, t in path.path.hops for x in (r, t))]
        ids = torch.tensor([[*prompt, *spelled(pieces, labels)]])
        assert path.score == pytest.approx(plain_score(model, ids, len(prompt)), abs=1e-3)


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
    world = film_world(ChanceReasoner(seed), triples)
    topics = [triples[0][0], triples[-1][2]]
    fidelis = FidelisOptions(width=2, retriever=retriever, decisions=decisions, verifier=verifier, candidates=5)
    events = ask(world, fidelis, topics, hops=hops, directed=directed, explain=0)
    all_steps_are_in_the_graph(events, world)
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
    world = film_world()
    events = ask(world)
    texts = [option for e in of(events, CandidatesScored) if e.decision == "Path-RAG" for option in e.options]
    steps = [hop for text in texts for hop in world.verifier.verify_text(text)[0].hops]
    truth = [("Inception", "directed by", "Christopher Nolan"), ("Christopher Nolan", "born in", "London")]
    assert coverage_ratio(steps, truth) >= 0.5
    assert len(FILMS) == len(world.kg)
