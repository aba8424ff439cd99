"""Searches that grow one tree find what they find alone, in fewer passes."""

from __future__ import annotations

from functools import lru_cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.constraint.triple_chains import FreeText
from kgdemo.decoding.base import BeamSettings, Hypothesis
from kgdemo.decoding.beam import beam_search, continuations
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.models.base import PROMPT_END, JointTree, in_step, read_out
from tests.helpers.models import greedy_continuations, random_model
from tests.helpers.strategies import graphs
from tests.unit.test_look_ahead import finish, shape

model_named = lru_cache(random_model)
PROMPT = "which part of New York"


def in_turn(*searches) -> list[tuple[list, list]]:
    """Drain searches step by step in turn: the steps of each and what it returns."""
    steps, found, running = [[] for _ in searches], [[] for _ in searches], list(range(len(searches)))
    while running:
        for place in list(running):
            try:
                steps[place].append(next(searches[place]))
            except StopIteration as end:
                found[place] = end.value
                running.remove(place)
    return list(zip(steps, found, strict=True))


@settings(max_examples=30, deadline=None)
@given(triples=graphs(), seed=st.integers(0, 3), beams=st.integers(1, 5), budget=st.sampled_from([None, 0, 16]))
def test_two_searches_of_one_tree_find_what_they_find_alone(triples, seed, beams, budget):
    kg, model = KnowledgeGraph.from_triples(triples), model_named("qwen2", seed)
    topic = triples[0][0]
    automaton = KGAutomaton(TokenGraph(kg, model.label_tokens), [kg.entities.find(topic)], 2)
    free = FreeText(model.label_tokens.end)
    limits, short = BeamSettings(beams, look_ahead=budget), BeamSettings(beams, max_tokens=8, look_ahead=budget)
    prompt = model.style.encode(model.label_tokens, PROMPT, [topic])
    trees = model.tree(prompt), model.tree(prompt)
    alone = [finish(beam_search(trees[0], automaton, limits)), finish(beam_search(trees[1], free, short))]
    joint = JointTree(model.tree(prompt))
    together = in_turn(beam_search(joint, automaton, limits), beam_search(joint, free, short))
    for (steps, found), (expected, paths) in zip(together, alone, strict=True):
        assert [shape(step) for step in steps] == [shape(step) for step in expected]
        assert [h.tokens for h in found] == [h.tokens for h in paths]
        assert [h.score for h in found] == pytest.approx([h.score for h in paths], rel=1e-5, abs=1e-5)
    assert joint.calls <= trees[0].calls + trees[1].calls
    assert joint.size <= trees[0].size + trees[1].size
    # the nodes that paths end with are those of the tree
    answers = greedy_continuations(joint, together[0][1], (), frozenset(), 3)
    assert answers == greedy_continuations(trees[0], alone[0][1], (), frozenset(), 3)


def test_what_was_added_is_read_in_one_pass_and_a_node_added_twice_is_one():
    tree = model_named("qwen2", 0).tree([5, 6, 7])
    joint = JointTree(tree)
    one, two = joint.add(PROMPT_END, 8), joint.add(PROMPT_END, 9)
    behind = joint.add(one, 10)
    assert joint.add(PROMPT_END, 9) == two
    assert (joint.size, tree.size, tree.calls) == (3, 0, 0)
    rows = joint.read([two])
    assert (tree.size, tree.calls) == (3, 1)
    _, expected = model_named("qwen2", 0).tree([5, 6, 7]).extend([PROMPT_END, PROMPT_END, 0], [8, 9, 10])
    assert torch.allclose(rows[0], expected[1], atol=1e-5)
    assert torch.allclose(joint.read([one, behind]), expected[[0, 2]], atol=1e-5)
    assert tree.calls == 1


def test_a_row_that_is_kept_no_longer_is_read_again():
    tree = model_named("qwen2", 0).tree([5, 6, 7])
    joint = JointTree(tree)
    first = joint.add(PROMPT_END, 8)
    row = joint.read([first]).clone()
    node = first
    for token in range(9, 20):
        node = joint.add(node, token)
        joint.read([node])
    assert torch.allclose(joint.read([first]), row, atol=1e-5)
    assert joint.add(PROMPT_END, 8) != first


@settings(max_examples=30, deadline=None)
@given(triples=graphs(), seed=st.integers(0, 3), right=st.integers(0, 4), wrong=st.integers(3, 300))
def test_a_draft_changes_no_answer_and_a_right_one_saves_passes(triples, seed, right, wrong):
    kg, model = KnowledgeGraph.from_triples(triples), model_named("llama", seed)
    topic = triples[0][0]
    automaton = KGAutomaton(TokenGraph(kg, model.label_tokens), [kg.entities.find(topic)], 1)
    tree = model.tree(model.style.encode(model.label_tokens, PROMPT, [topic]))
    _, found = finish(beam_search(tree, automaton, BeamSettings(3)))
    suffix, stop = (11, 12), frozenset({3})
    before = tree.calls
    plain = greedy_continuations(tree, found, suffix, stop, 6)
    passes, before = tree.calls - before, tree.calls
    assert greedy_continuations(tree, found, suffix, stop, 6, plain) == plain
    assert tree.calls - before == min(1, len(found))
    drafts = [(*answer[:right], wrong) for answer in plain]
    before = tree.calls
    assert greedy_continuations(tree, found, suffix, stop, 6, drafts) == plain
    assert tree.calls - before <= passes


def test_a_row_that_was_promised_is_not_read_again():
    model = model_named("qwen2")
    joint = JointTree(model.tree(model.style.encode(model.label_tokens, PROMPT, [])))
    known = joint.add(PROMPT_END, 5)
    row = joint.read([known])[0]
    assert joint.add(PROMPT_END, 5) == known
    for token in range(10, 18):  # more passes than are kept come between
        joint.read([joint.add(PROMPT_END, token)])
    calls = joint.calls
    assert torch.equal(joint.read([known])[0], row)
    assert joint.calls == calls
    joint.read([known])  # it was promised once
    assert joint.calls == calls + 1


def test_readings_in_step_read_what_they_read_alone_in_the_passes_of_the_longest():
    model = model_named("llama", 1)
    prompt = model.style.encode(model.label_tokens, PROMPT, [])
    joint, alone = JointTree(model.tree(prompt)), [model.tree(prompt) for _ in range(3)]
    starts = [Hypothesis((20 + number,), (-1.0,), FreeText((7,)).start()) for number in range(3)]
    lengths = (1, 6, 3)  # tokens that each continues its start by; the last of them is not read

    expected = [
        greedy_continuations(*own, (), frozenset(), n)
        for *own, n in zip(alone, [[s] for s in starts], lengths, strict=True)
    ]
    together = in_step(*(continuations(joint, [s], (), frozenset(), n) for s, n in zip(starts, lengths, strict=True)))
    assert read_out(together) == expected
    assert [tree.calls for tree in alone] == [1, 6, 3]
    assert joint.calls == 6
    assert read_out(in_step()) == []
