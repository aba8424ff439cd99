"""Answers without the graph: what they write is looked up and judged, and their chains vote."""

from __future__ import annotations

from contextlib import closing

import pytest
import torch

from kgdemo.constraint.triple_chains import FreeText
from kgdemo.decoding.searches import SamplingSettings, sample
from kgdemo.events import DecodeStep, HypothesisAnswer, LMCall, Notice, PathFound, PathVerified
from kgdemo.methods import without_graph as baselines_free
from kgdemo.methods.search_branch import FreePath
from kgdemo.models.endpoint import OpenAIChat
from kgdemo.reasoners.chat import ChatReasoner
from kgdemo.settings import ChatSettings
from kgdemo.verify import HopVerdict
from tests.helpers.endpoint import Endpoint, serve
from tests.helpers.reasoning import Clerk, ask, clerk_world, film_world, of

FREE = ["direct", "cot", "self-consistency"]

QUESTION = "Where was the director of Inception born?"


@pytest.mark.parametrize("method", FREE)
def test_free_paths_are_judged_and_support_no_answer(method):
    resources = film_world()
    events = ask(method, QUESTION, ["Inception"], resources, beams=3)
    found = of(events, PathFound)
    assert not [e for e in found if e.constrained]
    assert {e.index for e in found} == {e.index for e in of(events, PathVerified)}
    assert all(not e.constrained for e in of(events, DecodeStep))
    assert [e.by for e in of(events, LMCall)] == [resources.model.name]
    assert any("does not look at the graph" in e.text for e in of(events, Notice))
    assert not any(events[-1].citations)
    assert len(found) <= {"direct": 1, "cot": 3, "self-consistency": 3}[method]


def test_a_chat_models_chain_is_looked_up_and_the_answer_stays_its_own():
    clerk = Clerk(writes={"as one chain": "inception → directed by → Tom Hardy → born in → london", "Reply": "Paris"})
    events = ask("cot", QUESTION, ["Inception"], clerk_world(clerk))
    (verified,) = of(events, PathVerified)
    assert [hop.verdict for hop in verified.verdict.hops] == [HopVerdict.NO_EDGE, HopVerdict.MATCHED]
    assert of(events, PathFound)[0].path.end == "London", "as the graph spells it"
    assert "inception → directed by" in clerk.prompts[-1], "the chain is in the last prompt"
    assert events[-1].answers == ("Paris",)


def test_a_direct_answer_may_name_several():
    clerk = Clerk(writes={"what you know": "Tom Hardy; Elliot Page."})
    events = ask("direct", "Who starred in Inception?", ["Inception"], clerk_world(clerk))
    assert events[-1].answers == ("Tom Hardy", "Elliot Page")
    assert len(clerk.prompts) == 1


@pytest.mark.parametrize("method", ["direct", "cot"])
def test_half_a_name_is_no_answer(method):
    cut = Endpoint(replies=["Lon"], mode="cut")
    with serve(cut) as endpoint, closing(OpenAIChat(ChatSettings("m", endpoint.url, "none"))) as chat:
        events = ask(method, QUESTION, ["Inception"], film_world(ChatReasoner(chat)))
    assert events[-1].answers == ()
    assert events[-1].refusal


def test_self_consistency_takes_the_answer_of_most_chains():
    written = [
        FreePath("a -> r -> Paris", None, "Paris", -1.0, False),
        FreePath("b -> r -> London", None, "London", -3.0, False),
        FreePath("c -> r -> london", None, "london", -2.0, True),
    ]
    assert [chain.text for chain in baselines_free.majority(written)] == ["c -> r -> london", "b -> r -> London"]
    assert baselines_free.majority(written[:2]) == written[:1], "of two with one vote the likelier"
    assert baselines_free.majority([FreePath("x", None, "", 0.0, False)]) == []


def test_a_seed_draws_the_same_chains_again_and_another_draws_others():
    resources = film_world()

    def texts(seed: int) -> list[str]:
        drawn = baselines_free.SamplingOptions(seed=seed)
        events = ask("self-consistency", QUESTION, ["Inception"], resources, drawn, beams=5)
        return [found.text for found in of(events, PathFound)]

    assert texts(3) == texts(3)
    assert len({tuple(texts(seed)) for seed in range(4)}) > 1


CHAINS = ["Inception -> set in -> Paris", "Inception -> shot in -> London", "Inception -> made in -> London"]


def test_a_chat_models_chains_are_independent_samples_and_they_vote():
    chains = iter(CHAINS)
    with serve(Endpoint(reply=lambda _: next(chains))) as endpoint:
        settings = ChatSettings("m", endpoint.url, "key", 10.0, at_once=1)
        resources = film_world(ChatReasoner(OpenAIChat(settings)))
        events = ask("self-consistency", QUESTION, ["Inception"], resources, beams=3)
    assert len(set(endpoint.prompts)) == 1, "none is told of the others"
    assert [body["temperature"] for body in endpoint.bodies] == [0.7] * 3
    assert events[-1].answers == ("London",)
    assert [e.text for e in of(events, HypothesisAnswer)] == ["Paris", "London", "London"]


def test_a_model_that_cannot_be_sampled_from_is_asked_for_different_chains():
    class Writer(Clerk):
        def reply(self, prompt: str) -> str:
            return CHAINS[len(self.prompts) - 1]

    writer = Writer()
    events = ask("self-consistency", QUESTION, ["Inception"], clerk_world(writer), beams=3)
    assert CHAINS[0] in writer.prompts[1]
    assert events[-1].answers == ("London",)


def test_where_some_chains_fail_the_others_vote():
    failing = Endpoint(replies=[CHAINS[1]], faults=lambda number: "error 500" if number == 2 else "")
    with serve(failing) as endpoint:
        settings = ChatSettings("m", endpoint.url, "key", 10.0, at_once=1, retries=0)
        resources = film_world(ChatReasoner(OpenAIChat(settings)))
        events = ask("self-consistency", QUESTION, ["Inception"], resources, beams=3)
    assert events[-1].answers == ("London",)
    assert any("The vote is among 2 chains." in e.text for e in of(events, Notice))


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
