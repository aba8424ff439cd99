"""The KG automaton speaks exactly the language of the enumerated KG-Trie."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.automaton import AutomatonState, KGAutomaton, reason
from kgdemo.constraint.token_graph import CACHE_BYTES, TokenGraph
from kgdemo.kg.cache import LFUCache
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import PathIds
from tests.helpers.models import byte_level_tokenizer, wordpiece_tokenizer
from tests.helpers.oracles import all_paths, spelled
from tests.helpers.strategies import FORMATS, graphs

from kgdemo.constraint.label_tokens import LabelTokens  # isort: skip

TOKENIZERS = {
    "byte-level": byte_level_tokenizer,
    "byte-level, no path marks": lambda: byte_level_tokenizer(marks=False),
    "wordpiece": wordpiece_tokenizer,
}


def language(automaton: KGAutomaton, limit: int = 200_000) -> dict[tuple[int, ...], set[tuple]]:
    """Every complete token sequence, with the paths read off its leaf."""
    found: dict[tuple[int, ...], set[tuple]] = {}
    stack: list[tuple[tuple[int, ...], AutomatonState]] = [((), automaton.start())]
    while stack:
        tokens, state = stack.pop()
        limit -= 1
        assert limit, "the language is larger than the test can walk"
        if state.complete:
            found[tokens] = {(p.entities, p.steps) for p in state.paths}
        if state.alive:
            successors = automaton.successors(state)
            assert list(successors.tokens) == sorted(set(successors.tokens.tolist()))
            assert len(successors.tokens), "a living state must have a successor"
            for index, token in enumerate(successors.tokens.tolist()):
                stack.append(((*tokens, token), successors.take(index)))
    return found


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@settings(max_examples=80, deadline=None)
@given(
    triples=graphs(),
    hops=st.integers(1, 3),
    directed=st.booleans(),
    form=st.sampled_from(list(FORMATS.values())),
    data=st.data(),
)
def test_language_equals_the_enumerated_trie(tokenizer, triples, hops, directed, form, data):
    triples = triples[: 10 if hops < 3 else 5]
    kg = KnowledgeGraph.from_triples(triples)
    topics = data.draw(st.lists(st.sampled_from(list(kg.entities)), min_size=1, max_size=2))
    label_tokens = LabelTokens(TOKENIZERS[tokenizer](), form)
    graph = TokenGraph(kg, label_tokens, directed)
    automaton = KGAutomaton(graph, [kg.entities.find(t) for t in topics], hops)
    expected: dict[tuple[int, ...], set[tuple[str, ...]]] = {}
    for path in all_paths(triples, topics, hops, directed):
        expected.setdefault(spelled(label_tokens, path), set()).add(path)
    found = language(automaton)
    assert set(found) == set(expected)
    for tokens, paths in found.items():
        labels = {_labels(kg, entities, steps) for entities, steps in paths}
        assert labels == expected[tokens]
        for entities, steps in paths:
            assert tuple(token for piece in graph.spelled(PathIds(entities, steps)) for token in piece) == tokens


@settings(max_examples=150, deadline=None)
@given(triples=graphs(), hops=st.integers(1, 3))
def test_paths_left_counts_the_paths(triples, hops):
    kg = KnowledgeGraph.from_triples(triples)
    graph = TokenGraph(kg, LabelTokens(byte_level_tokenizer()))
    topic = triples[0][0]
    automaton = KGAutomaton(graph, [kg.entities.find(topic)], hops)

    def count(entity: int, left: int) -> int:
        _, targets = kg.steps(entity)
        return sum(1 + count(int(t), left - 1) for t in targets) if left else 0

    assert automaton.paths_left(automaton.start()) == count(kg.entities.find(topic), hops)


def test_every_step_narrows_the_paths_left():
    kg = KnowledgeGraph.from_triples(
        [("New", "part", "New York"), ("New", "part of", "a -> b"), ("New York", "x", "New")]
    )
    automaton = KGAutomaton(TokenGraph(kg, LabelTokens(byte_level_tokenizer())), [kg.entities.find("New")], 2)
    state, left = automaton.start(), automaton.paths_left(automaton.start())
    while state.alive:
        successors = automaton.successors(state)
        children = [successors.take(i) for i in range(len(successors.tokens))]
        counts = [automaton.paths_left(child) for child in children]
        assert sum(counts) + (1 if state.complete else 0) == left
        state, left = children[-1], counts[-1]


def test_sub_tries_stay_within_the_cache():
    triples = [(f"e{i}", "next", f"e{i + 1}") for i in range(50)]
    kg = KnowledgeGraph.from_triples(triples)
    graph = TokenGraph(kg, LabelTokens(byte_level_tokenizer()))
    graph.sub_tries = LFUCache(5000)
    automaton = KGAutomaton(graph, [kg.entities.find("e0")], 1)
    for entity in range(len(kg.entities)):
        automaton.sub_trie(entity)
    assert 1 < graph.sub_tries.state.entries < len(kg.entities)
    assert graph.sub_tries.state.size <= 5000


def test_no_topic_means_an_empty_language():
    kg = KnowledgeGraph.from_triples([("a", "r", "b")])
    automaton = KGAutomaton(
        TokenGraph(kg, LabelTokens(byte_level_tokenizer()), directed=True), [kg.entities.find("b")], 2
    )
    assert language(automaton) == {}


def _labels(kg: KnowledgeGraph, entities: tuple[int, ...], steps: tuple[int, ...]) -> tuple[str, ...]:
    labels = [kg.entities[entities[0]]]
    for step, entity in zip(steps, entities[1:], strict=True):
        labels += [kg.step_labels[step], kg.entities[entity]]
    return tuple(labels)


def reasons_along(kg: KnowledgeGraph, topic: str, path: str) -> list[str]:
    """The reason given against the token ``x`` at every step of a path."""
    label_tokens = LabelTokens(wordpiece_tokenizer())
    automaton = KGAutomaton(TokenGraph(kg, label_tokens), [kg.entities.find(topic)], 2)
    state, found = automaton.start(), []
    for token in label_tokens.plain(path):
        found.append(reason(automaton, state, 5, "x"))
        successors = automaton.successors(state)
        state = successors.take(successors.tokens.tolist().index(token))
    return [*found, reason(automaton, state, 5, "x")]


def test_a_forbidden_token_is_explained_in_words():
    kg = KnowledgeGraph.from_triples([("a", "part of", "b"), ("a", "born in", "c")])
    found = reasons_along(kg, "a", "a -> part of -> b")
    assert found[0] == "a path starts at a"
    assert any(text.startswith("a has no relation") for text in found)
    assert any(text.startswith("no edge a → part of → ") for text in found)
    assert any("only an arrow may follow" in text for text in found)
    assert found[-1] == "after “b” the path ends or goes on with an arrow"


def test_by_default_the_cache_has_room_for_an_entity_that_all_edges_meet():
    kg = KnowledgeGraph.from_triples([("hub", "holds", f"thing {number}") for number in range(3000)])
    graph = TokenGraph(kg, LabelTokens(byte_level_tokenizer()))
    hub = kg.entities.find("hub")
    size = KGAutomaton(graph, [hub], 2).sub_trie(hub).nbytes
    assert size <= graph.sub_tries.max_bytes - CACHE_BYTES
