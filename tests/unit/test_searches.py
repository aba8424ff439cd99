"""The other searches (diverse, greedy, sampled) and the length penalty, against slow plain versions of them."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.decoding.adapter import GraphLogitsProcessor
from kgdemo.decoding.base import BeamSettings
from kgdemo.decoding.beam import beam_search
from kgdemo.decoding.searches import DiverseSettings, SamplingSettings, diverse_search, greedy_path, sample
from kgdemo.errors import UserError
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.methods.search_branch import constrained_branch
from kgdemo.settings import LOCAL, SEARCHES, Settings, check
from kgdemo.verify import Verifier
from tests.helpers.models import random_model
from tests.helpers.strategies import graphs
from tests.unit.test_look_ahead import figures, finish, shape

model_named = lru_cache(random_model)
PROMPT = "which part of New York"


def resources(triples, hops, family="qwen2", seed=0):
    """A graph, a constraint over it from its first head, a model and its prompt."""
    kg = KnowledgeGraph.from_triples(triples)
    model = model_named(family, seed)
    automaton = KGAutomaton(TokenGraph(kg, model.label_tokens), [kg.entities.find(triples[0][0])], hops)
    return kg, automaton, model, model.style.encode(model.label_tokens, PROMPT, [triples[0][0]])


def slow_diverse(automaton, row_behind, beams, groups, penalty, most_tokens):
    """Group beam search as transformers described it: lists, loops, and every row computed anew."""
    size = beams // groups
    live = [[((), 0.0, automaton.start())] for _ in range(groups)]
    done: list[list] = [[] for _ in range(groups)]
    for _ in range(most_tokens):
        said: list[int] = []
        for group in range(groups):
            hypotheses = [h for h in live[group] if h[2].alive]
            if not hypotheses or (
                len(done[group]) == size and max(h[1] for h in hypotheses) <= min(h[1] for h in done[group])
            ):
                live[group] = []
                continue
            found = []
            for place, (tokens, score, state) in enumerate(hypotheses):
                row, allowed = row_behind(tokens), automaton.successors(state)
                for index, token in enumerate(allowed.tokens.tolist()):
                    value = score + float(row[token]) - penalty * said.count(token)
                    found.append((value, place, index, (*tokens, token), allowed.take(index)))
            found = sorted(found, key=lambda c: (-c[0], c[1], c[2]))[: 2 * size]
            done[group] += [(tokens, value) for value, _, _, tokens, state in found if state.complete]
            done[group] = sorted(done[group], key=lambda h: -h[1])[:size]
            live[group] = [(tokens, value, state) for value, _, _, tokens, state in found if state.alive][:size]
            said += [tokens[-1] for tokens, _, _ in live[group]]
    best: dict[tuple[int, ...], float] = {}
    for tokens, value in (h for group in done for h in group):
        best[tokens] = max(value, best.get(tokens, value))
    return best


@settings(max_examples=30, deadline=None)
@given(
    triples=graphs(),
    seed=st.integers(0, 3),
    groups=st.integers(1, 3),
    size=st.integers(1, 2),
    penalty=st.sampled_from([0.0, 0.5, 3.0]),
    look_ahead=st.sampled_from([None, 0, 6]),
)
def test_diverse_search_equals_group_beam_search(triples, seed, groups, size, penalty, look_ahead):
    _, automaton, model, prompt = resources(triples[:5], 2, seed=seed)
    search = BeamSettings(groups * size, look_ahead=look_ahead)
    _, found = finish(diverse_search(model.tree(prompt), automaton, DiverseSettings(search, groups, penalty)))

    @lru_cache
    def row_behind(tokens):
        return model.tree([*prompt, *tokens]).prompt_log_probs()

    expected = slow_diverse(automaton, row_behind, groups * size, groups, penalty, 256)
    assert {h.tokens for h in found} == set(expected)
    assert [h.score for h in found] == pytest.approx([expected[h.tokens] for h in found], rel=1e-4, abs=1e-4)
    assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)


@settings(max_examples=15, deadline=None)
@given(triples=graphs(), beams=st.integers(1, 4), seed=st.integers(0, 3))
def test_one_group_is_the_plain_search(triples, beams, seed):
    _, automaton, model, prompt = resources(triples, 2, seed=seed)
    limits = BeamSettings(beams, graph_normalised=True, masked=2)
    expected, paths = finish(beam_search(model.tree(prompt), automaton, limits))
    steps, found = finish(diverse_search(model.tree(prompt), automaton, DiverseSettings(limits, 1)))
    assert [shape(step) for step in steps] == [shape(step) for step in expected]
    assert [figures(step) for step in steps] == [pytest.approx(figures(step), abs=1e-5) for step in expected]
    assert [h.tokens for h in found] == [h.tokens for h in paths]


def test_groups_that_must_differ_write_different_relations():
    relations = ("part of", "born in", "grenzt an", "x")
    kg_triples = [("New York", relation, "London") for relation in relations]
    _, automaton, model, prompt = resources(kg_triples, 1)
    limits = DiverseSettings(BeamSettings(4), groups=4, penalty=1000.0)
    _, found = finish(diverse_search(model.tree(prompt), automaton, limits))
    assert len({h.state.paths[0].steps for h in found}) >= 3


def test_beams_that_do_not_split_are_refused():
    with pytest.raises(ValueError, match="even groups"):
        DiverseSettings(BeamSettings(5), groups=2)


@settings(max_examples=15, deadline=None)
@given(triples=graphs(), seed=st.integers(0, 3))
def test_greedy_takes_the_best_allowed_token_each_time(triples, seed):
    _, automaton, model, prompt = resources(triples, 2, seed=seed)
    _, found = finish(greedy_path(model.tree(prompt), automaton, 256))
    tokens, state = [], automaton.start()
    while state.alive and not state.complete:
        row, allowed = model.tree([*prompt, *tokens]).prompt_log_probs(), automaton.successors(state)
        index = max(range(len(allowed.tokens)), key=lambda i: float(row[int(allowed.tokens[i])]))
        tokens.append(int(allowed.tokens[index]))
        state = allowed.take(index)
    assert [h.tokens for h in found] == ([tuple(tokens)] if state.complete else [])


@pytest.mark.parametrize("search", SEARCHES)
@settings(max_examples=15, deadline=None)
@given(triples=graphs(), beams=st.integers(1, 4), hops=st.integers(1, 3), family=st.sampled_from(["gpt2", "bert"]))
def test_every_search_writes_only_what_the_graph_knows(search, triples, beams, hops, family):
    kg, automaton, model, prompt = resources(triples, hops, family)
    branch = constrained_branch(model, prompt, automaton, BeamSettings(beams), search)
    while branch.advance() is not None:
        pass
    verifier = Verifier(StatedFacts(triples))
    assert search == "sample" or branch.finished
    for hypothesis in branch.finished:
        for ids in hypothesis.state.paths:
            labels = tuple(kg.entities[e] for e in ids.entities)
            assert verifier.verify(Path(labels, tuple(kg.step_labels[s] for s in ids.steps))).faithful


def test_sampling_where_nothing_may_be_written_returns_nothing():
    kg = KnowledgeGraph.from_triples([("a", "r", "b")])
    model = model_named("qwen2", 0)
    automaton = KGAutomaton(TokenGraph(kg, model.label_tokens, directed=True), [kg.entities.find("b")], 1)
    assert finish(sample(model.tree([1, 2]), automaton, SamplingSettings(3))) == ([], [])


def test_an_unknown_search_is_refused():
    with pytest.raises(UserError, match="choose one of beam"):
        check("Who?", replace(Settings(), search="magic"), LOCAL)


FORKS = [
    (head, relation, place)
    for head, relation in (("New York", "part of"), ("New York", "born in"))
    for place in ("London", "New", "United States")
]


@pytest.mark.parametrize("family", ["qwen2", "llama", "gpt2"])
@pytest.mark.parametrize("penalty", [-1.0, 0.0, 0.6, 1.0, 2.0])
def test_with_its_rule_for_ends_the_search_is_that_of_transformers(penalty, family):
    """``generate`` under the same constraint, ``</PATH>`` ending the text: same paths, same order, same scores."""
    compared = 0
    for seed in range(2):
        for beams in (2, 4, 6):
            kg, automaton, model, prompt = resources([*FORKS, ("London", "part", "New")], 2, family, seed)
            limits = BeamSettings(beams, 60, length_penalty=penalty, late_ends=False)
            _, found = finish(beam_search(model.tree(prompt), automaton, limits))
            theirs = generated(model, kg, prompt, limits)
            assert [h.tokens for h in found] == [tokens for tokens, _ in theirs]
            assert [h.score for h in found] == pytest.approx([score for _, score in theirs], rel=1e-5)
            compared += len(found)
    assert compared >= 20


@pytest.mark.parametrize("penalty", [-1.0, 0.0, 0.6, 1.0])
def test_paths_that_end_late_are_more_probable_or_the_same(penalty):
    """What transformers drops, an end beyond the K best continuations, is ours: our list is never the worse one."""
    more = 0
    for seed in range(6):
        kg, automaton, model, prompt = resources([*FORKS, ("London", "part", "New")], 2, "llama", seed)
        limits = BeamSettings(4, 60, length_penalty=penalty)
        _, found = finish(beam_search(model.tree(prompt), automaton, limits))
        theirs = generated(model, kg, prompt, limits)
        ours = {h.tokens: h.score for h in found}
        assert len(found) >= len(theirs)
        for h, (tokens, score) in zip(found, theirs, strict=False):
            assert h.score >= score - 1e-4
            assert tokens not in ours or ours[tokens] == pytest.approx(score, abs=1e-4)
        more += ours.keys() != {tokens for tokens, _ in theirs}
    assert more, "the rule matters somewhere, or this test shows nothing"


def generated(model, kg, prompt, limits: BeamSettings) -> list[tuple[tuple[int, ...], float]]:
    """Finished paths of transformers' beam search, with their scores."""
    (end,) = model.label_tokens.end
    theirs = model.model.generate(
        torch.tensor([prompt]),
        attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
        logits_processor=[GraphLogitsProcessor(kg, model.tokenizer, [["New York"]], 2)],
        num_beams=limits.beams,
        num_return_sequences=limits.beams,
        max_new_tokens=limits.max_tokens,
        length_penalty=limits.length_penalty,
        early_stopping="never",
        do_sample=False,
        eos_token_id=end,
        pad_token_id=end,
        output_scores=True,
        return_dict_in_generate=True,
    )
    texts = [row[len(prompt) :] for row in theirs.sequences.tolist()]
    return [
        (tuple(text[: text.index(end) + 1]), score)
        for text, score in zip(texts, theirs.sequences_scores.tolist(), strict=True)
        if end in text
    ]
