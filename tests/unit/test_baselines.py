"""The methods to compare with: without the graph, by retrieval, by plan, by beams over relations; and all over HTTP."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.free import FreeText
from kgdemo.decoding.sampling import SamplingSettings, sample
from kgdemo.events import (
    AnswerFinal,
    CandidatesScored,
    DecodeStep,
    HypothesisAnswer,
    LMCall,
    Notice,
    PathFound,
    PathVerified,
    Thought,
    from_json,
    to_json,
)
from kgdemo.kg.path import Path
from kgdemo.models.chat import OpenAIChat
from kgdemo.reasoning import baselines_free, retrieval
from kgdemo.reasoning.branches import FreePath
from kgdemo.reasoning.chat import ChatReasoner
from kgdemo.settings import ChatSettings, Settings
from kgdemo.verify import HopVerdict
from tests.helpers.endpoint import Endpoint, serve
from tests.helpers.reasoning import ChanceReasoner, Clerk, ask, clerk_world, film_world, of
from tests.helpers.strategies import graphs

FREE = ["direct", "cot", "self-consistency"]
GROUNDED = ["text-rag", "graph-rag", "kaping", "rog", "tog"]
EVERY = [*FREE, *GROUNDED, "agent-cot", "agent-tot", "agent-got", "explore-cot", "explore-tot", "explore-got"]
QUESTION = "Where was the director of Inception born?"


# with any reasoner -------------------------------------------------------------------------------


@pytest.mark.parametrize("method", GROUNDED)
def test_grounded_baselines_answer_from_verified_paths(method):
    world = film_world()
    events = ask(method, "Who starred in Inception?", ["Inception"], world, beams=4)
    assert isinstance(events[-1], AnswerFinal)
    found = of(events, PathFound)
    assert len(found) <= 4
    verdicts = {e.index: e.verdict for e in of(events, PathVerified)}
    assert all(e.constrained and verdicts[e.index].faithful for e in found)
    assert [from_json(to_json(event)) for event in events] == events


@settings(max_examples=60, deadline=None)
@given(triples=graphs(), method=st.sampled_from(GROUNDED), seed=st.integers(0, 99), hops=st.integers(1, 3))
def test_on_any_graph_they_show_nothing_that_it_lacks(triples, method, seed, hops):
    world = film_world(ChanceReasoner(seed) if seed % 2 else None, triples)
    events = ask(method, f"part of {triples[0][0]}?", [triples[0][0], "Atlantis"], world, hops=hops, beams=3)
    assert isinstance(events[-1], AnswerFinal)
    assert all(e.verdict.faithful for e in of(events, PathVerified))
    for triple in (t for thought in of(events, Thought) for t in thought.triples):
        assert world.verifier.verify(Path.from_labels(triple)).faithful


@pytest.mark.parametrize("method", EVERY)
def test_every_method_runs_over_http_with_a_chat_model(method):
    clerk = Clerk(
        ["Finish[London]", "born in", "directed by"],
        writes={
            "as one chain": "Inception -> directed by -> Steven Spielberg -> born in -> Cincinnati",
            "relation paths": "directed by -> born in; composed by",
            "List the entities": "Inception",
            "what you know": "London; Paris",
            "chain of thought": "Cincinnati",
        },
        enough="born in -> London",
    )
    with serve(Endpoint(reply=clerk.reply)) as endpoint:
        reasoner = ChatReasoner(OpenAIChat(ChatSettings("m", endpoint.url, "key", 10.0)))
        world = film_world(reasoner)
        events = ask(method, QUESTION, ["Inception"], world, beams=3)
        asked = len(endpoint.prompts)
    assert isinstance(events[-1], AnswerFinal)
    assert events[-1].answers
    assert asked
    assert sum(call.calls for call in of(events, LMCall)) == asked, "every call is told"
    assert all(e.verdict.faithful for e in of(events, PathVerified) if e.constrained)


# without the graph -------------------------------------------------------------------------------


@pytest.mark.parametrize("method", FREE)
def test_free_paths_are_judged_and_support_no_answer(method):
    world = film_world()
    events = ask(method, QUESTION, ["Inception"], world, beams=3)
    found = of(events, PathFound)
    assert not [e for e in found if e.constrained]
    assert {e.index for e in found} == {e.index for e in of(events, PathVerified)}
    assert all(not e.constrained for e in of(events, DecodeStep))
    assert [e.by for e in of(events, LMCall)] == [world.model.name]
    assert any("does not look at the graph" in e.text for e in of(events, Notice))
    assert not any(events[-1].citations)
    assert len(found) <= {"direct": 1, "cot": 3, "self-consistency": 3}[method]


def test_a_chat_models_chain_is_looked_up_and_the_answer_stays_its_own():
    clerk = Clerk(writes={"as one chain": "inception → directed by → Tom Hardy → born in → london", "Reply": "Paris"})
    events = ask("cot", QUESTION, ["Inception"], clerk_world(clerk))
    (verified,) = of(events, PathVerified)
    assert [hop.verdict for hop in verified.verdict.hops] == [HopVerdict.NO_EDGE, HopVerdict.OK]
    assert of(events, PathFound)[0].path.end == "London", "as the graph spells it"
    assert "inception → directed by" in clerk.prompts[-1], "the chain is in the last prompt"
    assert events[-1].answers == ("Paris",)


def test_a_direct_answer_may_name_several():
    clerk = Clerk(writes={"what you know": "Tom Hardy; Elliot Page."})
    events = ask("direct", "Who starred in Inception?", ["Inception"], clerk_world(clerk))
    assert events[-1].answers == ("Tom Hardy", "Elliot Page")
    assert len(clerk.prompts) == 1


def test_self_consistency_takes_the_answer_of_most_chains():
    written = [
        FreePath("a -> r -> Paris", None, "Paris", -1.0, False),
        FreePath("b -> r -> London", None, "London", -3.0, False),
        FreePath("c -> r -> london", None, "london", -2.0, True),
    ]
    assert [chain.text for chain in baselines_free.majority(written)] == ["c -> r -> london", "b -> r -> London"]
    assert baselines_free.majority(written[:2]) == written[:1], "of two with one vote the likelier"
    assert baselines_free.majority([FreePath("x", None, "", 0.0, False)]) == []


def test_a_chat_model_is_asked_for_different_chains_and_they_vote():
    chains = iter(["Inception -> set in -> Paris", "Inception -> shot in -> London", "Inception -> made in -> London"])
    with serve(Endpoint(reply=lambda _: next(chains))) as endpoint:
        world = film_world(ChatReasoner(OpenAIChat(ChatSettings("m", endpoint.url, "key", 10.0))))
        events = ask("self-consistency", QUESTION, ["Inception"], world, beams=3)
        assert "Inception -> set in -> Paris" in endpoint.prompts[1]
    assert events[-1].answers == ("London",)
    assert [e.text for e in of(events, HypothesisAnswer)] == ["Paris", "London", "London"]


class Coin:
    """A token tree over three tokens: heads (0), tails (1) and the end (2), always with the same chances."""

    log_probs = torch.tensor([0.6, 0.3, 0.1]).log()

    def prompt_log_probs(self) -> torch.Tensor:
        return self.log_probs

    def extend(self, parents, tokens):
        return list(range(len(parents))), self.log_probs.expand(len(parents), -1)


def drawn(**chosen) -> list:
    search = sample(Coin(), FreeText((2,)), SamplingSettings(**chosen))
    try:
        while True:
            next(search)
    except StopIteration as end:
        return end.value


def test_samples_end_follow_the_chances_and_can_be_repeated():
    chains = drawn(count=400, max_tokens=200, temperature=1.0)
    assert len(chains) == 400
    assert all(chain.tokens[-1] == 2 and 2 not in chain.tokens[:-1] for chain in chains)
    tokens = [token for chain in chains for token in chain.tokens]
    assert tokens.count(0) / len(tokens) == pytest.approx(0.6, abs=0.03)
    assert tokens.count(2) / len(tokens) == pytest.approx(0.1, abs=0.02)
    first = chains[0]
    assert first.score == pytest.approx(sum(float(Coin.log_probs[t]) for t in first.tokens), abs=1e-4)
    assert [c.tokens for c in drawn(count=400, max_tokens=200, temperature=1.0)] == [c.tokens for c in chains]


def test_a_chain_cut_by_the_length_limit_is_none():
    assert len(drawn(count=200, max_tokens=1, temperature=1.0)) < 60
    assert drawn(count=20, max_tokens=5, temperature=0.01) == [], "the likeliest token alone never ends"


# retrieval ---------------------------------------------------------------------------------------


def test_text_rag_finds_facts_by_their_words_alone():
    events = ask("text-rag", "Who starred in Titanic?", [], film_world(), beams=3)
    first = of(events, PathFound)[0].path
    assert first == Path(("Titanic", "Leonardo DiCaprio"), ("starring",))
    assert of(events, CandidatesScored)[0].by == "sentence embeddings"


def test_graph_rag_reaches_one_hop_further_than_text_rag():
    hops = {}
    for method in ("text-rag", "graph-rag"):
        events = ask(method, "director of Inception, born in which city", [], film_world(), beams=30)
        hops[method] = {len(e.path.relations) for e in of(events, PathFound)}
    assert hops == {"text-rag": {1}, "graph-rag": {1, 2}}


def test_kaping_takes_the_k_triples_of_the_topic_nearest_to_the_question():
    events = ask("kaping", "Who directed Dunkirk?", ["Inception"], film_world(), beams=3)
    found = [e.path for e in of(events, PathFound)]
    assert len(found) == 3
    assert {path.entities[0] for path in found} == {"Inception"}, "the topics decide, not the question's words"
    assert found[0].relations == ("directed by",)
    scores = [e.score for e in of(events, PathFound)]
    assert scores == sorted(scores, reverse=True)


def test_a_hub_is_cut_to_the_relations_near_the_question():
    triples = [("hub", "part", f"n{i}") for i in range(500)] + [("hub", "born in", "London")]
    world = film_world(triples=triples)
    found = retrieval.facts("where born", retrieval.starts_at(["hub"]), world, Settings(), most=50)
    assert len(found) == 50
    assert found[0].end == "London"


def test_nodes_are_found_by_name():
    world = film_world()
    assert retrieval.nodes("Tom Hardy", world, 1) == ["Tom Hardy"]
    assert retrieval.nodes("what did hardy play in", world, 1) == ["Tom Hardy"]
    assert retrieval.nodes("zzz", world, 1) == []


# plans and beams ---------------------------------------------------------------------------------


def test_plans_that_the_graph_cannot_carry_out_are_pruned_with_the_reason():
    plans = "directed by -> born in; composed by; born in -> capital of"
    clerk = Clerk(writes={"relation paths": plans})
    events = ask("rog", QUESTION, ["Inception"], clerk_world(clerk))
    thoughts = of(events, Thought)
    assert [t.fate for t in thoughts] == ["kept", "pruned", "pruned"]
    assert "no relation “composed by”" in thoughts[1].reason
    assert "starts at" in thoughts[2].reason
    assert "~directed by" not in clerk.prompts[0], "relations are named as the schema reads them"
    (found,) = of(events, PathFound)
    assert str(found.path) == "Inception -> directed by -> Christopher Nolan -> born in -> London"


def test_think_on_graph_keeps_three_beams_and_three_hops():
    clerk = Clerk(["starring", "released"])
    events = ask("tog", QUESTION, ["Inception"], clerk_world(clerk), hops=4)
    depths = [t for t in of(events, Thought) if t.kind == "observation"]
    assert 1 < len(depths) <= 3
    assert all(len(t.triples) <= 3 for t in depths)
    assert all(sum(e.kept) <= 3 for e in of(events, CandidatesScored))
    assert len(of(events, PathFound)) <= 3


def test_think_on_graph_stops_when_it_is_enough():
    clerk = Clerk(["directed by"], enough="Christopher Nolan")
    events = ask("tog", "Who directed Inception?", ["Inception"], clerk_world(clerk))
    assert len([t for t in of(events, Thought) if t.kind == "observation"]) == 1
