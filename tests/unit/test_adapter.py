"""The constraint inside plain ``generate()``: every path it lets through is in the graph."""

from __future__ import annotations

from functools import lru_cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.decoding.adapter import WAY_OUT, GraphLogitsProcessor
from kgdemo.errors import ModelError
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.verify import Verifier
from tests.helpers.models import byte_level_tokenizer, random_model
from tests.helpers.strategies import graphs

model_named = lru_cache(random_model)
FAMILIES = ("qwen2", "llama", "gpt2")


def written(model, kg, topics, beams, hops, tokens=120, sample=False) -> list[list[int]]:
    """What ``generate`` writes behind ``<PATH>`` for a batch of left-padded prompts; a row for each beam."""
    tokenizer = model.tokenizer
    prompts = [model.style.encode(model.label_tokens, "part of " * place, row) for place, row in enumerate(topics)]
    width, pad = max(map(len, prompts)), tokenizer.pad_token_id
    ids = torch.tensor([[pad] * (width - len(p)) + p for p in prompts])
    look = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts])
    output = model.model.generate(
        ids,
        attention_mask=look,
        logits_processor=[GraphLogitsProcessor(kg, tokenizer, topics, hops)],
        num_beams=beams,
        num_return_sequences=beams,
        max_new_tokens=tokens,
        do_sample=sample,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=pad,
    )
    return [row[width:] for row in output.tolist()]


def paths_of(kg, model, topic, hops, tokens) -> list[Path] | None:
    """The paths a text begins with, read off the automaton; None where it does not complete one."""
    automaton = KGAutomaton(TokenGraph(kg, model.label_tokens), [kg.entities.find(topic)], hops)
    state = automaton.start()
    for token in tokens:
        allowed = automaton.successors(state)
        at = allowed.tokens.tolist()
        if token not in at:
            return None
        state = allowed.take(at.index(token))
        if state.complete:
            return [
                Path(tuple(kg.entities[e] for e in ids.entities), tuple(kg.step_labels[s] for s in ids.steps))
                for ids in state.paths
            ]
    return None


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=5, deadline=None)
@given(triples=graphs(), seed=st.integers(0, 2), beams=st.integers(1, 3), hops=st.integers(1, 2), data=st.data())
def test_every_emitted_path_verifies(family, triples, seed, beams, hops, data):
    kg = KnowledgeGraph.from_triples(triples)
    model = model_named(family, seed)
    topics = data.draw(st.lists(st.sampled_from([t[0] for t in triples]), min_size=1, max_size=3))
    rows = written(model, kg, [[topic] for topic in topics], beams, hops)
    verifier = Verifier(StatedFacts(triples))
    end = model.label_tokens.end[0]
    completed = 0
    for number, row in enumerate(rows):
        paths = paths_of(kg, model, topics[number // beams], hops, row)
        assert (paths is not None) == (end in row), "an end mark stands behind a path of the graph only"
        completed += paths is not None
        assert all(verifier.verify(path).faithful for path in paths or ())
    assert completed


def test_a_batch_row_keeps_to_its_own_topic():
    kg = KnowledgeGraph.from_triples([("New York", "part of", "United States"), ("London", "part of", "New")])
    model = model_named("qwen2", 0)
    first, second = written(model, kg, [["New York"], ["London"]], 1, 1)
    assert paths_of(kg, model, "New York", 1, first)
    assert paths_of(kg, model, "London", 1, second)


def test_outside_the_path_nothing_changes():
    kg = KnowledgeGraph.from_triples([("New York", "part of", "United States")])
    model = model_named("qwen2", 0)
    processor = GraphLogitsProcessor(kg, model.tokenizer, [["New York"]], 1)
    before = model.label_tokens.plain("New York is part of")
    path = model.label_tokens.plain(" New York -> part of -> United States")
    scores = torch.randn(1, len(model.tokenizer))
    for text in (before, [*before, *model.label_tokens.start, *path, *model.label_tokens.end, *before]):
        assert torch.equal(processor(torch.tensor([text]), scores), scores)


def test_inside_the_path_allowed_tokens_keep_their_scores():
    kg = KnowledgeGraph.from_triples([("New York", "part of", "United States"), ("New York", "born in", "London")])
    model = model_named("qwen2", 0)
    processor = GraphLogitsProcessor(TokenGraph(kg, model.label_tokens), model.tokenizer, [["New York"]], 1)
    text = [*model.label_tokens.start, *model.label_tokens.plain(" New York ->")]
    scores = torch.randn(1, len(model.tokenizer))
    masked = processor(torch.tensor([text]), scores)[0]
    allowed = {model.label_tokens.plain(" part of")[0], model.label_tokens.plain(" born in")[0]}
    assert {i for i, v in enumerate(masked.tolist()) if v > WAY_OUT} == allowed
    assert all(masked[i] == scores[0, i] for i in allowed)
    assert masked[model.tokenizer.eos_token_id] == WAY_OUT
    assert int(torch.isinf(masked).sum()) == len(masked) - 3


@pytest.mark.parametrize("text", [" Nowhere", " New York -> eats"])
def test_it_fails_closed(text):
    kg = KnowledgeGraph.from_triples([("New York", "part of", "United States")])
    model = model_named("qwen2", 0)
    for topic, begun in (("Nowhere", ""), ("New York", text)):
        processor = GraphLogitsProcessor(kg, model.tokenizer, [[topic]], 1)
        ids = torch.tensor([[*model.label_tokens.start, *model.label_tokens.plain(begun)]])
        masked = processor(ids, torch.zeros(1, len(model.tokenizer)))[0]
        assert [i for i, v in enumerate(masked.tolist()) if v > -torch.inf] == [model.tokenizer.eos_token_id]


def test_what_cannot_be_is_refused():
    kg = KnowledgeGraph.from_triples([("a", "r", "b")])
    tokenizer = byte_level_tokenizer()
    processor = GraphLogitsProcessor(kg, tokenizer, [["a"], ["b"]])
    with pytest.raises(ValueError, match="no multiple"):
        processor(torch.zeros(3, 1, dtype=torch.long), torch.zeros(3, len(tokenizer)))

    class Endless:
        eos_token_id = None

    with pytest.raises(ModelError, match="end of text"):
        GraphLogitsProcessor(kg, Endless(), [["a"]])  # type: ignore[arg-type]
