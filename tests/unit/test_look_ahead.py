"""Scoring ahead changes how often the model is called, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.label_tokens import LabelTokens
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.constraint.triple_chains import FreeText
from kgdemo.decoding import beam
from kgdemo.decoding.base import BeamSettings, Hypothesis, Step
from kgdemo.decoding.beam import beam_search
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.lab.benchmarks.soak import TableTree
from tests.helpers.models import FAMILIES, byte_level_tokenizer, greedy_continuations, random_model
from tests.helpers.strategies import graphs

model_named = lru_cache(random_model)
PROMPT = "which part of New York"


def finish(search) -> tuple[list[Step], list]:
    """Drain a search: its steps and what it returns."""
    steps = []
    while True:
        try:
            steps.append(next(search))
        except StopIteration as end:
            return steps, end.value


def searched(model, kg, topic, hops, limits):
    """A search for paths from one topic: its tree, its steps and what it found."""
    automaton = KGAutomaton(TokenGraph(kg, model.label_tokens), [kg.entities.find(topic)], hops)
    tree = model.tree(model.style.encode(model.label_tokens, PROMPT, [topic]))
    return tree, *finish(beam_search(tree, automaton, limits))


def shape(step: Step) -> tuple:
    """What a step decided."""
    return (
        step.number,
        [(view.hypothesis.tokens, view.allowed) for view in step.beams],
        [(choice.parent, choice.token, choice.fate) for choice in step.choices],
        [hypothesis.tokens for hypothesis in step.live],
        [hypothesis.tokens for hypothesis in step.finished],
    )


@settings(max_examples=60, deadline=None)
@given(
    triples=graphs(),
    seed=st.integers(0, 31),
    beams=st.integers(1, 6),
    keep=st.sampled_from([0, 1, 12]),
    penalty=st.sampled_from([0.0, 1.0, -1.0]),
    budget=st.sampled_from([None, 0, 8]),
)
def test_beams_without_hope_are_not_read_and_change_nothing(triples, seed, beams, keep, penalty, budget):
    kg, label_tokens = KnowledgeGraph.from_triples(triples), LabelTokens(byte_level_tokenizer())
    automaton = KGAutomaton(TokenGraph(kg, label_tokens), [kg.entities.find(triples[0][0])], 2)
    limits = BeamSettings(beams, length_penalty=penalty, keep=keep, look_ahead=budget)
    trees = [TableTree(len(label_tokens.tokenizer), seed) for _ in range(2)]
    steps, found = finish(beam_search(trees[0], automaton, limits))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(beam, "prune_hopeless", lambda choices, live, *_: (choices, live))
        every, expected = finish(beam_search(trees[1], automaton, limits))
    # all of a path but its place in the tree, where the other search has more rows before it
    assert [replace(h, node=0) for h in found] == [replace(h, node=0) for h in expected]
    for step, whole in zip(steps, every, strict=False):
        full = len(step.finished) == limits.wanted
        hopeful = [
            h for h in whole.live if not full or h.score / _longest(h, limits) ** penalty > step.finished[-1].score
        ]
        assert [h.tokens for h in step.live] == [h.tokens for h in hopeful]
        assert [choice.fate for choice in step.choices].count("kept") == len(hopeful)
    assert trees[0].size <= trees[1].size


def _longest(hypothesis: Hypothesis, limits: BeamSettings) -> int:
    return limits.max_tokens if limits.length_penalty > 0 else len(hypothesis.tokens) + 1


def figures(step: Step) -> list[float]:
    """The numbers of a step."""
    choices = [figure for choice in step.choices for figure in (choice.log_prob, choice.score)]
    return choices + [view.forbidden_mass for view in step.beams] + [h.score for h in step.finished]


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=30, deadline=None)
@given(
    triples=graphs(),
    seed=st.integers(0, 3),
    beams=st.integers(1, 6),
    hops=st.integers(1, 3),
    budget=st.sampled_from([0, 1, 5, 48]),
    normalised=st.booleans(),
    penalty=st.sampled_from([0.0, 1.0]),
    longest=st.sampled_from([256, 256, 9]),
)
def test_looking_ahead_equals_the_step_wise_search(
    family, triples, seed, beams, hops, budget, normalised, penalty, longest
):
    kg = KnowledgeGraph.from_triples(triples)
    model = model_named(family, seed)
    limits = BeamSettings(beams, longest, penalty, normalised, masked=2, look_ahead=None)
    slow, expected, paths = searched(model, kg, triples[0][0], hops, limits)
    tree, steps, found = searched(model, kg, triples[0][0], hops, replace(limits, look_ahead=budget))
    assert [shape(step) for step in steps] == [shape(step) for step in expected]
    for step, other in zip(steps, expected, strict=True):
        assert figures(step) == pytest.approx(figures(other), rel=1e-5, abs=1e-5)
    assert [h.tokens for h in found] == [h.tokens for h in paths]
    assert [h.score for h in found] == pytest.approx([h.score for h in paths], rel=1e-5, abs=1e-5)
    assert tree.calls <= slow.calls
    # whoever goes on behind a path finds its nodes where the step-wise search left them
    answers = greedy_continuations(tree, found, (), frozenset(), 3)
    assert answers == greedy_continuations(slow, paths, (), frozenset(), 3)


def test_a_forced_path_is_read_in_one_pass():
    kg = KnowledgeGraph.from_triples([("New York", "part of", "United States")])
    model = model_named("qwen2", 0)
    slow, steps, _ = searched(model, kg, "New York", 1, BeamSettings(look_ahead=None))
    tree, _, _ = searched(model, kg, "New York", 1, BeamSettings(look_ahead=0))
    assert slow.calls == len(steps)  # the prompt, and each token but the last
    assert tree.calls == 1, "the prompt comes along"
    assert tree.size == slow.size


def test_a_budget_saves_calls_where_paths_fork():
    places = ("London", "Paris", "United States", "New Mexico")
    kg = KnowledgeGraph.from_triples([("New York", r, e) for r in ("part of", "born in", "near") for e in places])
    model = model_named("llama", 1)
    calls = {}
    for budget in (None, 0, 16, 64):
        tree, _, _ = searched(model, kg, "New York", 1, BeamSettings(6, look_ahead=budget))
        calls[budget] = tree.calls
    assert calls[64] < calls[0] < calls[None]
    assert calls[16] < calls[0]


def test_what_is_certain_is_read_in_one_pass_and_nothing_else():
    """Two relations to three places make six beams: all of the graph is sure to be asked for."""
    places = ("London", "Paris", "New Mexico")
    kg = KnowledgeGraph.from_triples([("New York", r, e) for r in ("part of", "near") for e in places])
    model = model_named("qwen2", 1)
    slow, _, paths = searched(model, kg, "New York", 1, BeamSettings(8, look_ahead=None))
    tree, _, found = searched(model, kg, "New York", 1, BeamSettings(8, look_ahead=0))
    assert [h.tokens for h in found] == [h.tokens for h in paths]
    assert len(found) == 6
    assert tree.calls == 1
    assert tree.size == slow.size, "not a token more than the step-wise search reads"


def test_free_text_is_read_step_by_step_and_nothing_is_wasted():
    model = model_named("qwen2", 1)
    prompt = model.style.encode(model.label_tokens, PROMPT, ["New York"])
    sizes = []
    for budget in (None, 16):
        tree = model.tree(prompt)
        finish(beam_search(tree, FreeText(model.label_tokens.end), BeamSettings(3, max_tokens=6, look_ahead=budget)))
        sizes.append((tree.size, tree.calls))
    assert sizes[0] == sizes[1]
