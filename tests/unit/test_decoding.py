"""The promise: whatever the graph and whatever the model, every path decoded under the constraint is in the graph."""

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
from kgdemo.decoding.beam import beam_search
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.models.base import PROMPT_END
from kgdemo.ranking.scorer import rank, relation_score
from kgdemo.verify import Verifier
from tests.helpers.models import FAMILIES, greedy_continuations, random_model
from tests.helpers.oracles import all_paths, spelled
from tests.helpers.strategies import graphs

model_named = lru_cache(random_model)
PROMPT = "which part of New York"


def finish(search) -> tuple[list, list[Hypothesis]]:
    """Drain a search: its steps and what it returns."""
    steps = []
    while True:
        try:
            steps.append(next(search))
        except StopIteration as end:
            return steps, end.value


def decode(kg, topic, family, seed, beams, hops, directed=False, penalty=0.0):
    """Paths decoded by a random model, as the methods do it."""
    model = model_named(family, seed)
    graph = TokenGraph(kg, model.label_tokens, directed)
    automaton = KGAutomaton(graph, [kg.entities.find(topic)], hops)
    tree = model.tree(model.style.encode(model.label_tokens, PROMPT, [topic]))
    _, finished = finish(beam_search(tree, automaton, BeamSettings(beams, length_penalty=penalty)))
    paths = []
    for found in rank(graph, finished, "path", beams):
        entities = tuple(kg.entities[e] for e in found.ids.entities)
        paths.append(Path(entities, tuple(kg.step_labels[s] for s in found.ids.steps)))
    return finished, paths


@settings(max_examples=300, deadline=None)
@given(
    triples=graphs(),
    family=st.sampled_from(["qwen2", "bert"]),
    seed=st.integers(0, 3),
    beams=st.integers(1, 6),
    hops=st.integers(1, 3),
    directed=st.booleans(),
)
def test_every_emitted_path_verifies_and_none_is_missing(triples, family, seed, beams, hops, directed):
    kg = KnowledgeGraph.from_triples(triples)
    topic = triples[0][0]
    _, paths = decode(kg, topic, family, seed, beams, hops, directed)
    verifier = Verifier(StatedFacts(triples))
    assert all(verifier.verify(path).faithful for path in paths)
    assert len(set(paths)) == len(paths)
    exist = set()
    for path in all_paths(triples, [topic], hops, directed):
        exist.add(path)
        if len(exist) > beams:
            break
    assert len(paths) == min(beams, len(exist))


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=15, deadline=None)
@given(triples=graphs(), seed=st.integers(0, 3))
def test_scores_are_full_vocabulary_log_probabilities(family, triples, seed):
    """Each path's score, computed again by one plain forward pass over prompt and path."""
    kg = KnowledgeGraph.from_triples(triples)
    model = model_named(family, seed)
    prompt = model.style.encode(model.label_tokens, PROMPT, [triples[0][0]])
    finished, _ = decode(kg, triples[0][0], family, seed, beams=3, hops=2)
    for hypothesis in finished:
        ids = torch.tensor([[*prompt, *hypothesis.tokens]])
        assert hypothesis.total == pytest.approx(plain_score(model, ids, len(prompt)), abs=1e-3)


def plain_score(model, ids: torch.Tensor, prompt: int) -> float:
    """Sum of log-probabilities of ``ids`` after the prompt, without cache or tree."""
    length = ids.shape[1]
    look = torch.ones(length, length, dtype=torch.bool).tril()
    if model.style.bidirectional:
        look[:prompt, :prompt] = True
    mask = torch.zeros(length, length).masked_fill(~look, torch.finfo(torch.float32).min)[None, None]
    positions = torch.arange(length)[None]
    with torch.inference_mode():
        logits = model.model(input_ids=ids, attention_mask=mask, position_ids=positions, use_cache=False).logits
    log_probs = torch.log_softmax(logits[0, prompt - 1 : -1].float(), dim=-1)
    return float(log_probs.gather(1, ids[0, prompt:, None]).sum())


@settings(max_examples=40, deadline=None)
@given(triples=graphs(), seed=st.integers(0, 3))
def test_a_wide_beam_finds_the_most_probable_path(triples, seed):
    """With more beams than prefixes the search is exhaustive, so it must agree with brute force."""
    triples = triples[:4]
    kg = KnowledgeGraph.from_triples(triples)
    topic = triples[0][0]
    model = model_named("qwen2", seed)
    finished, _ = decode(kg, topic, "qwen2", seed, beams=400, hops=2)
    prompt = model.style.encode(model.label_tokens, PROMPT, [topic])
    brute = {
        tokens: plain_score(model, torch.tensor([[*prompt, *tokens]]), len(prompt))
        for tokens in {spelled(model.label_tokens, path) for path in all_paths(triples, [topic], 2, False)}
    }
    assert {h.tokens for h in finished} == set(brute)
    assert finished[0].total == pytest.approx(max(brute.values()), abs=1e-3)


@settings(max_examples=60, deadline=None)
@given(triples=graphs(), seed=st.integers(0, 3), beams=st.integers(1, 4), more=st.integers(1, 8))
def test_keeping_more_paths_leaves_the_best_as_they_were(triples, seed, beams, more):
    model, kg = model_named("bert", seed), KnowledgeGraph.from_triples(triples)
    automaton = KGAutomaton(TokenGraph(kg, model.label_tokens, False), [kg.entities.find(triples[0][0])], 2)
    prompt = model.style.encode(model.label_tokens, PROMPT, [triples[0][0]])
    found = [
        finish(beam_search(model.tree(prompt), automaton, BeamSettings(beams, keep=keep)))[1]
        for keep in (0, beams + more)
    ]
    assert [h.tokens for h in found[1][:beams]] == [h.tokens for h in found[0]]
    assert len({h.tokens for h in found[1]}) == len(found[1]) <= beams + more
    assert [h.score for h in found[1]] == sorted((h.score for h in found[1]), reverse=True)


def test_the_free_search_writes_what_the_model_likes():
    model = model_named("qwen2", 1)
    prompt = model.style.encode(model.label_tokens, PROMPT, ["New York"])
    tree = model.tree(prompt)
    steps, _ = finish(beam_search(tree, FreeText(model.label_tokens.end), BeamSettings(beams=3, max_tokens=5)))
    first = steps[0].choices[0]
    assert first.token == int(tree.prompt_log_probs().argmax())
    assert len(steps) == 5


def test_a_path_cut_by_the_length_limit_is_not_a_path():
    kg = KnowledgeGraph.from_triples([("New York", "part of", "United States")])
    model = model_named("qwen2", 0)
    graph = TokenGraph(kg, model.label_tokens)
    tree = model.tree(model.style.encode(model.label_tokens, PROMPT, ["New York"]))
    automaton = KGAutomaton(graph, [kg.entities.find("New York")], 1)
    _, finished = finish(beam_search(tree, automaton, BeamSettings(max_tokens=3)))
    assert finished == []


def test_closing_the_search_stops_it():
    kg = KnowledgeGraph.from_triples([("New York", "part of", "United States")])
    model = model_named("qwen2", 0)
    tree = model.tree(model.style.encode(model.label_tokens, PROMPT, ["New York"]))
    automaton = KGAutomaton(TokenGraph(kg, model.label_tokens), [kg.entities.find("New York")], 1)
    search = beam_search(tree, automaton, BeamSettings())
    next(search)
    search.close()
    with pytest.raises(StopIteration):
        next(search)


def test_forbidden_mass_and_masked_tokens_add_up():
    kg = KnowledgeGraph.from_triples([("New York", "part of", "United States"), ("New York", "part", "New")])
    model = model_named("llama", 2)
    tree = model.tree(model.style.encode(model.label_tokens, PROMPT, ["New York"]))
    automaton = KGAutomaton(TokenGraph(kg, model.label_tokens), [kg.entities.find("New York")], 2)
    steps, _ = finish(beam_search(tree, automaton, BeamSettings(beams=4, masked=3)))
    for step in steps:
        for view in step.beams:
            allowed = set(automaton.successors(view.hypothesis.state).tokens.tolist())
            assert not allowed & {token for token, _ in view.masked}
            assert {token for token, _ in view.top} <= allowed
            assert 0.0 <= view.forbidden_mass <= 1.0
            assert len(allowed) == view.allowed


def test_greedy_continuation_equals_plain_greedy():
    model = model_named("gpt2", 1)
    prompt = model.style.encode(model.label_tokens, PROMPT, ["New York"])
    tree = model.tree(prompt)
    first = int(tree.prompt_log_probs().argmax())
    start = Hypothesis((first,), (0.0,), FreeText(model.label_tokens.end).start(), PROMPT_END)
    (written,) = greedy_continuations(tree, [start], (), frozenset(), 6)
    ids = [*prompt, first]
    for token in written:
        with torch.inference_mode():
            logits = model.model(input_ids=torch.tensor([ids]), use_cache=False).logits
        assert token == int(logits[0, -1].argmax())
        ids.append(token)
    assert len(written) == 6


def test_relation_score_leaves_entities_out():
    kg = KnowledgeGraph.from_triples([("New York", "part of", "United States")])
    model = model_named("qwen2", 0)
    graph = TokenGraph(kg, model.label_tokens)
    finished, _ = decode(kg, "New York", "qwen2", 0, beams=1, hops=1)
    (path,) = finished[0].state.paths
    label_tokens = model.label_tokens
    at = len(label_tokens.plain(" New York")) + len(label_tokens.arrow)
    relation = finished[0].log_probs[at : at + len(label_tokens.plain(" part of"))]
    end = finished[0].log_probs[-len(label_tokens.end) :]
    assert relation_score(graph, path, finished[0].log_probs) == pytest.approx(sum(relation) + sum(end))
    assert relation_score(graph, path, finished[0].log_probs, {"part of"}) == pytest.approx(sum(end))
