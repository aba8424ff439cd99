"""The lean forward pass of BERT says what transformers' says."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.models.base import PROMPT_END, extend_chain
from kgdemo.models.bert import LeanBert
from kgdemo.models.causal import EMBEDDED, CausalModel
from kgdemo.models.token_tree import PooledTokenTree
from tests.unit.test_decoding import model_named

needs_onednn = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this PyTorch carries no oneDNN")


@needs_onednn
@settings(max_examples=80, deadline=None)
@given(bidirectional=st.booleans(), seed=st.integers(0, 2), data=st.data())
def test_any_token_tree_gets_the_same_log_probabilities(bidirectional, seed, data):
    model = model_named("bert", seed)
    assert isinstance(model.reader.model, LeanBert)
    token = st.integers(0, model.vocabulary - 1)
    prompt = data.draw(st.lists(token, min_size=1, max_size=12))
    lean = PooledTokenTree(model.reader, prompt, bidirectional)
    slow = PooledTokenTree(model.model, prompt, bidirectional)
    for _ in range(data.draw(st.integers(1, 4))):
        tokens = data.draw(st.lists(token, min_size=1, max_size=6))
        parents = [data.draw(st.integers(PROMPT_END, lean.size + place - 1)) for place in range(len(tokens))]
        nodes, rows = lean.extend(parents, tokens)
        others, expected = slow.extend(parents, tokens)
        assert nodes == others
        assert torch.allclose(rows, expected, atol=1e-5)
    assert torch.allclose(lean.prompt_log_probs(), slow.prompt_log_probs(), atol=1e-5)


@needs_onednn
def test_the_embedded_model_is_read_so_and_other_models_are_not():
    assert isinstance(CausalModel.load(EMBEDDED).reader.model, LeanBert)
    other = model_named("qwen2", 0)
    assert other.reader.model is other.model


def test_a_model_on_another_device_or_in_half_precision_is_left_to_transformers():
    model = model_named("bert", 0).model
    assert not LeanBert.suits(type(model)(model.config).to(torch.bfloat16))
    assert not LeanBert.suits(type(model)(model.config).to("meta"))


@needs_onednn
@settings(max_examples=40, deadline=None)
@given(bidirectional=st.booleans(), seed=st.integers(0, 2), data=st.data())
def test_the_lens_on_the_last_layer_is_what_the_model_itself_says(bidirectional, seed, data):
    model = model_named("bert", seed)
    token = st.integers(0, model.vocabulary - 1)
    prompt = data.draw(st.lists(token, min_size=1, max_size=12))
    tokens = data.draw(st.lists(token, min_size=0, max_size=6))
    lens = model.reader.model.logit_lens(prompt, tokens, bidirectional)
    tree = PooledTokenTree(model.reader, prompt, bidirectional)
    expected = extend_chain(tree, PROMPT_END, tokens)[1] if tokens else tree.prompt_log_probs()
    assert lens.shape == (model.model.config.num_hidden_layers + 1, model.vocabulary)
    assert torch.allclose(lens[-1], expected, atol=1e-5)
    assert torch.allclose(lens.exp().sum(dim=-1), torch.ones(len(lens)), atol=1e-4)
