"""What the page is told of a model's layers, and what it may ask."""

from __future__ import annotations

import math

import pytest
import torch

from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.models.base import PROMPT_END, extend_chain
from kgdemo.models.causal import EMBEDDED, CausalModel
from kgdemo.query.query import types_of
from kgdemo.ui.page import layers_record
from tests.unit.test_bert import needs_onednn
from tests.unit.test_decoding import model_named

KG = KnowledgeGraph.from_triples(
    [("The Magic Flute", "composed by", "Wolfgang Amadeus Mozart")], info={"The Magic Flute": EntityInfo("opera")}
)
QUESTION, TOPICS = "Who composed The Magic Flute?", ["The Magic Flute"]


@needs_onednn
def test_the_last_layer_says_what_the_search_was_told():
    model = CausalModel.load(EMBEDDED)
    tokens = model.label_tokens.plain("the magic flute")
    prompt = model.style.encode(model.label_tokens, QUESTION, TOPICS, types_of(TOPICS, KG))
    expected = extend_chain(model.tree(prompt), PROMPT_END, tokens)[1]
    first, second = torch.topk(expected, 2).indices.tolist()
    asked = {"question": QUESTION, "topics": TOPICS, "tokens": tokens, "taken": second}
    told = layers_record(model, KG, {**asked, "forbidden": model.token_text(first)}, 300)
    assert len(told["layers"]) == model.model.config.num_hidden_layers + 1
    for found, token in zip(told["layers"][-1], (second, first), strict=True):
        assert found == pytest.approx(math.exp(expected[token]), abs=1e-5)


ASKED = {"question": "Who?", "topics": [], "tokens": [1, 2], "taken": 3, "forbidden": "x"}


@needs_onednn
@pytest.mark.parametrize(
    "change",
    [
        {"question": None},
        {"question": "x" * 301},
        {"topics": "x"},
        {"topics": ["x"] * 21},
        {"topics": [1]},
        {"tokens": [True]},
        {"tokens": [10**9]},
        {"tokens": [-1]},
        {"tokens": [1] * 257},
        {"tokens": ["1"]},
        {"taken": None},
        {"forbidden": 3},
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(change):
    assert "cannot be read" in layers_record(model_named("bert", 0), KG, {**ASKED, **change}, 300)["error"]


@needs_onednn
def test_a_token_that_nobody_would_write_and_a_model_of_another_kind_are_told():
    assert (
        "invented token" in layers_record(model_named("bert", 0), KG, {**ASKED, "forbidden": "no token"}, 300)["error"]
    )
    assert "cannot be looked into" in layers_record(model_named("qwen2", 0), KG, ASKED, 300)["error"]
