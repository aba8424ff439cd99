"""The enumerated KG-Trie: the same language as the automaton, on disk and back, and a limit before memory is eaten."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.label_tokens import LabelTokens
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.constraint.trie import EnumeratedTrie
from kgdemo.errors import UserError
from kgdemo.kg.graph import KnowledgeGraph
from tests.helpers.models import byte_level_tokenizer, wordpiece_tokenizer
from tests.helpers.strategies import FORMATS, graphs

TOKENIZERS = {
    "byte-level": byte_level_tokenizer,
    "byte-level, no path marks": lambda: byte_level_tokenizer(marks=False),
    "wordpiece": wordpiece_tokenizer,
}


def token_graph(triples, tokenizer="byte-level", directed=False, form=None) -> TokenGraph:
    """A graph seen through one of the tokenisers."""
    return TokenGraph(KnowledgeGraph.from_triples(triples), LabelTokens(TOKENIZERS[tokenizer](), form), directed)


def assert_same_language(trie: EnumeratedTrie, automaton: KGAutomaton, limit: int = 200_000) -> int:
    """Walk both together and compare every state; the number of states."""
    stack, seen = [(trie.start(), automaton.start())], 0
    while stack:
        ours, theirs = stack.pop()
        seen += 1
        assert seen < limit, "the language is larger than the test can walk"
        assert ours.complete == theirs.complete
        assert ours.alive == theirs.alive
        assert {(p.entities, p.steps) for p in ours.paths} == {(p.entities, p.steps) for p in theirs.paths}
        assert len(ours.paths) == len(set(ours.paths))
        assert trie.paths_left(ours) == automaton.paths_left(theirs)
        if theirs.alive:
            a, b = trie.successors(ours), automaton.successors(theirs)
            assert a.tokens.tolist() == b.tokens.tolist()
            assert a.inside_entity or not b.inside_entity
            stack += [(a.take(i), b.take(i)) for i in range(len(a.tokens))]
    return seen


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@settings(max_examples=60, deadline=None)
@given(
    triples=graphs(),
    hops=st.integers(1, 3),
    directed=st.booleans(),
    form=st.sampled_from(list(FORMATS.values())),
    data=st.data(),
)
def test_it_speaks_the_automatons_language(tokenizer, triples, hops, directed, form, data):
    graph = token_graph(triples[: 10 if hops < 3 else 5], tokenizer, directed, form)
    topics = data.draw(st.lists(st.sampled_from(range(len(graph.kg.entities))), min_size=1, max_size=3))
    assert_same_language(EnumeratedTrie.build(graph, topics, hops), KGAutomaton(graph, topics, hops))


def test_an_arrow_inside_a_label_does_not_split_a_node():
    """Ordered by labels, the rows of ``New -> …`` would stand on both sides of ``New A``."""
    triples = [("t", "r", "New"), ("t", "r", "New A"), ("t", "r", "New -> r"), ("t", "r", "New Z"), ("New", "r", "x")]
    graph = token_graph(triples)
    topics = [graph.kg.entities.find("t")]
    assert assert_same_language(EnumeratedTrie.build(graph, topics, 3), KGAutomaton(graph, topics, 3)) > 10


def test_inside_an_entity_is_told_from_relation_and_end():
    graph = token_graph([("a", "part", "b")])
    trie = EnumeratedTrie.build(graph, [graph.kg.entities.find("a")], 1)
    label_tokens, state, flags = graph.label_tokens, trie.start(), []
    for token in [*label_tokens.plain(" a -> part -> b"), *label_tokens.end]:
        successors = trie.successors(state)
        flags.append(successors.inside_entity)
        state = successors.take(successors.tokens.tolist().index(token))
    first, middle, last = (len(label_tokens.plain(text)) for text in (" a", " -> part ->", " b"))
    assert flags == [True] * first + [False] * middle + [True] * last + [False] * len(label_tokens.end)
    assert state.complete
    assert not state.alive


@settings(max_examples=30, deadline=None)
@given(triples=graphs(), directed=st.booleans())
def test_saved_and_opened_it_is_the_same(triples, directed, tmp_path_factory):
    graph = token_graph(triples, directed=directed)
    topics = list(range(len(graph.kg.entities)))[:2]
    folder = tmp_path_factory.mktemp("trie")
    built = EnumeratedTrie.build(graph, topics, 2)
    built.save(folder, graph)
    opened = EnumeratedTrie.open(folder, graph)
    assert_same_language(opened, KGAutomaton(graph, topics, 2))
    assert opened.nbytes == built.nbytes > 0


def test_a_trie_of_another_graph_or_tokeniser_is_refused(tmp_path):
    graph = token_graph([("a", "r", "b")])
    EnumeratedTrie.build(graph, [0], 1).save(tmp_path, graph)
    others = [
        token_graph([("a", "r", "b"), ("b", "r", "a")]),
        token_graph([("a", "r", "b")], "wordpiece"),
        token_graph([("a", "r", "b")], directed=True),
    ]
    for other in others:
        with pytest.raises(UserError, match="another graph or tokeniser"):
            EnumeratedTrie.open(tmp_path, other)
    (tmp_path / "tokens.npy").unlink()
    with pytest.raises(UserError, match="no whole KG-Trie"):
        EnumeratedTrie.open(tmp_path, graph)


def test_too_many_paths_are_counted_and_refused():
    graph = token_graph([(f"e{i}", "r", f"e{j}") for i in range(12) for j in range(12)])
    with pytest.raises(UserError, match="fewer hops or entities"):
        EnumeratedTrie.build(graph, [0], 9)
    paths = KGAutomaton(graph, [0], 2)
    count = paths.paths_left(paths.start())
    assert len(EnumeratedTrie.build(graph, [0], 2, max_paths=count).paths) == count
    with pytest.raises(UserError, match=f"{count:,} paths of up to 2 hops"):
        EnumeratedTrie.build(graph, [0], 2, max_paths=count - 1)


def test_no_topic_with_an_edge_means_an_empty_trie():
    graph = token_graph([("a", "r", "b")], directed=True)
    for topics in ([], [graph.kg.entities.find("b")]):
        trie = EnumeratedTrie.build(graph, topics, 2)
        assert len(trie.paths) == 0
        assert not trie.start().alive
        assert not trie.start().complete
