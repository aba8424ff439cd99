"""With a model that knows the right choice, every method finds the right answer, within what its paper spends."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.events import Event, LMCall, Notice, PathVerified
from kgdemo.methods import METHODS
from kgdemo.models.causal import CausalModel
from kgdemo.reasoners.base import EmbeddedReasoner, Resources
from kgdemo.reasoners.chat import ChatReasoner, FallbackReasoner
from kgdemo.settings import Settings
from tests.helpers.reasoning import SpellingEmbedder, of, run
from tests.helpers.two_hops import Oracle, TwoHops, questions, two_hop_world

WALKS = [
    "fidelis",
    "tog",
    "agent-cot",
    "agent-tot",
    "agent-got",
    "graph-cot",
    "explore-cot",
    "explore-tot",
    "explore-got",
]


def world(at_once: int = 1) -> Resources:
    oracle = Oracle()
    oracle.at_once = at_once
    return two_hop_world(FallbackReasoner(ChatReasoner(oracle), EmbeddedReasoner(SpellingEmbedder())))


def asked(method: str, question: TwoHops, resources: Resources) -> list[Event]:
    settings = Settings(method=method, beams=10, compare=False, explain=0)
    return list(run(method, question.text, [question.topic], resources, settings))


@cache
def runs(method: str) -> list[tuple[TwoHops, list[Event]]]:
    resources = world()
    return [(question, asked(method, question, resources)) for question in questions()]


@pytest.mark.parametrize("method", WALKS)
def test_the_prompts_carry_enough_to_be_answered(method):
    right = [question.answer in events[-1].answers for question, events in runs(method)]
    assert len(right) == 50
    assert sum(right) / len(right) >= 0.95
    for _, events in runs(method):
        assert of(events, Notice) == [], "every reply was read"
        assert all(e.verdict.faithful for e in of(events, PathVerified))


@pytest.mark.parametrize(
    ("method", "calls", "tokens"), [("agent-tot", 30, 15_000), ("fidelis", 15, 15_000), ("tog", 15, 15_000)]
)
def test_a_question_costs_no_more_than_in_the_paper(method, calls, tokens):
    for _, events in runs(method):
        made = of(events, LMCall)
        assert sum(call.calls for call in made) <= calls
        assert sum(call.tokens_in for call in made) <= tokens


def test_the_oracle_errs_where_the_prompt_does_not_name_the_step():
    """That the figures above can fall: an oracle for other questions finds nothing."""
    resources = world()
    question = questions()[0]
    other = replace(question, text=questions()[1].text)
    assert asked("tog", other, resources)[-1].answers != (question.answer,)


@pytest.mark.parametrize("method", ["fidelis", "agent-got", "explore-cot", "explore-got"])
def test_decisions_side_by_side_give_the_same_run(method):
    def kinds(events: list[Event]) -> list[Event]:
        return [replace(e, seconds=0.0) if isinstance(e, LMCall) else e for e in events]

    question = questions()[7]
    one, four = (asked(method, question, world(at_once)) for at_once in (1, 4))
    assert kinds(one) == kinds(four)


def test_decoding_on_graphs_answers_from_its_chains():
    """Its chains are decoded by the shipped path model, a second a question; the oracle reads them."""
    resources = world()
    model = CausalModel.load("embedded")
    resources = replace(resources, model=model, token_graph=TokenGraph(resources.kg, model.label_tokens))
    assert METHODS["dog"].constrained
    right = [question.answer in asked("dog", question, resources)[-1].answers for question in questions()[:25]]
    assert sum(right) / len(right) >= 0.95
