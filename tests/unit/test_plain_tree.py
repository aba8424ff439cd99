"""Models that take no 4-D mask: found out by trying, read in plain batches, with the same results."""

from __future__ import annotations

from functools import lru_cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.decoding.base import BeamSettings
from kgdemo.decoding.beam import beam_search
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.models.base import PROMPT_END, extend_chain
from kgdemo.models.token_tree import PlainTokenTree, PooledTokenTree, fits_pool
from kgdemo.verify import Verifier
from tests.helpers.models import random_model
from tests.helpers.strategies import graphs
from tests.unit.test_look_ahead import figures, finish, shape

model_named = lru_cache(random_model)
PROMPT = "which part of New York"


@pytest.mark.parametrize(("family", "pooled"), [("qwen2", True), ("llama", True), ("gpt2", True), ("bloom", False)])
def test_a_model_is_tried_out(family, pooled):
    model = model_named(family, 0)
    assert fits_pool(model.model) is pooled
    assert type(model.tree([1, 2, 3])) is (PooledTokenTree if pooled else PlainTokenTree)


@pytest.mark.parametrize("family", ["qwen2", "llama", "gpt2"])
@settings(max_examples=15, deadline=None)
@given(triples=graphs(), beams=st.integers(1, 4), hops=st.integers(1, 2), look_ahead=st.sampled_from([None, 0, 12]))
def test_both_trees_give_the_same_search(family, triples, beams, hops, look_ahead):
    kg = KnowledgeGraph.from_triples(triples)
    model = model_named(family, 1)
    automaton = KGAutomaton(TokenGraph(kg, model.label_tokens), [kg.entities.find(triples[0][0])], hops)
    prompt = model.style.encode(model.label_tokens, PROMPT, [triples[0][0]])
    limits = BeamSettings(beams, look_ahead=look_ahead)
    expected, paths = finish(beam_search(PooledTokenTree(model.model, prompt, False), automaton, limits))
    steps, found = finish(beam_search(PlainTokenTree(model.model, prompt), automaton, limits))
    assert [shape(step) for step in steps] == [shape(step) for step in expected]
    for step, other in zip(steps, expected, strict=True):
        assert figures(step) == pytest.approx(figures(other), rel=1e-5, abs=1e-5)
    assert [h.tokens for h in found] == [h.tokens for h in paths]


@pytest.mark.parametrize("family", ["bloom", "opt"])
@settings(max_examples=15, deadline=None)
@given(triples=graphs(), beams=st.integers(1, 4))
def test_scores_are_those_of_single_texts(family, triples, beams):
    """Whatever tree was chosen: each path read again alone, with no cache, mask or padding."""
    kg = KnowledgeGraph.from_triples(triples)
    model = model_named(family, 0)
    automaton = KGAutomaton(TokenGraph(kg, model.label_tokens), [kg.entities.find(triples[0][0])], 2)
    prompt = model.style.encode(model.label_tokens, PROMPT, [triples[0][0]])
    _, found = finish(beam_search(model.tree(prompt), automaton, BeamSettings(beams)))
    assert found
    verifier = Verifier(StatedFacts(triples))
    for hypothesis in found:
        with torch.inference_mode():
            logits = model.model(input_ids=torch.tensor([[*prompt, *hypothesis.tokens]]), use_cache=False).logits[0]
        rows = torch.log_softmax(logits[len(prompt) - 1 : -1].float(), dim=-1)
        alone = rows.gather(1, torch.tensor(hypothesis.tokens)[:, None])[:, 0].tolist()
        assert hypothesis.log_probs == pytest.approx(alone, rel=1e-4, abs=1e-4)
        for ids in hypothesis.state.paths:
            labels = tuple(kg.entities[e] for e in ids.entities)
            assert verifier.verify(Path(labels, tuple(kg.step_labels[s] for s in ids.steps))).faithful


def test_half_precision_reads_alike_in_both_trees():
    model = random_model("qwen2", 2)
    model.model.to(torch.bfloat16)
    assert fits_pool(model.model)
    prompt = model.style.encode(model.label_tokens, PROMPT, ["New York"])
    forks = ([PROMPT_END, PROMPT_END, 0, 1, 2], [5, 6, 7, 8, 9])
    pooled = PooledTokenTree(model.model, prompt, False).extend(*forks)[1]
    plain = PlainTokenTree(model.model, prompt).extend(*forks)[1]
    assert pooled.dtype == plain.dtype == torch.float32
    assert (pooled.exp() - plain.exp()).abs().max() < 2e-2


def test_texts_that_another_begins_with_are_read_once():
    model = model_named("bloom", 0)
    tree = model.tree([1, 2, 3])
    nodes, rows = tree.extend([PROMPT_END, 0, 1, 0], [4, 5, 6, 7])
    assert (nodes, tree.size, tree.calls) == ([0, 1, 2, 3], 4, 1)
    _, again = extend_chain(model.tree([1, 2, 3]), PROMPT_END, [4, 5, 6])
    assert torch.allclose(rows[2], again, atol=1e-5)
