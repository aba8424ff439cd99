"""The enumerated KG-Trie: the same language as the automaton, on disk and back, and a limit before memory is eaten."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.label_tokens import Pieces
from kgdemo.constraint.token_graph import TokenisedGraph
from kgdemo.constraint.trie import ExplicitTrie
from kgdemo.errors import UserError
from kgdemo.kg.graph import KnowledgeGraph
from tests.helpers.models import byte_level_tokenizer, wordpiece_tokenizer
from tests.helpers.strategies import graphs

TOKENIZERS = {
    "byte-level": byte_level_tokenizer,
    "byte-level, no path marks": lambda: byte_level_tokenizer(marks=False),
    "wordpiece": wordpiece_tokenizer,
}


def tokenised(triples, tokenizer="byte-level", directed=False) -> TokenisedGraph:
    """A graph seen through one of the tokenisers."""
    return TokenisedGraph(KnowledgeGraph.from_triples(triples), Pieces(TOKENIZERS[tokenizer]()), directed)


def assert_same_language(trie: ExplicitTrie, automaton: KGAutomaton, limit: int = 200_000) -> int:
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
@settings(max_examples=150, deadline=None)
@given(triples=graphs(), hops=st.integers(1, 3), directed=st.booleans(), data=st.data())
def test_it_speaks_the_automatons_language(tokenizer, triples, hops, directed, data):
    graph = tokenised(triples[: 10 if hops < 3 else 5], tokenizer, directed)
    topics = data.draw(st.lists(st.sampled_from(range(len(graph.kg.entities))), min_size=1, max_size=3))
    assert_same_language(ExplicitTrie.build(graph, topics, hops), KGAutomaton(graph, topics, hops))


def test_an_arrow_inside_a_label_does_not_split_a_node():
    """Ordered by labels, the rows of ``New -> …`` would stand on both sides of ``New A``."""
    triples = [("t", "r", "New"), ("t", "r", "New A"), ("t", "r", "New -> r"), ("t", "r", "New Z"), ("New", "r", "x")]
    graph = tokenised(triples)
    topics = [graph.kg.entities.find("t")]
    assert assert_same_language(ExplicitTrie.build(graph, topics, 3), KGAutomaton(graph, topics, 3)) > 10


def test_inside_an_entity_is_told_from_relation_and_end():
    graph = tokenised([("a", "part", "b")])
    trie = ExplicitTrie.build(graph, [graph.kg.entities.find("a")], 1)
    pieces, state, flags = graph.pieces, trie.start(), []
    for token in [*pieces.plain(" a -> part -> b"), *pieces.end]:
        successors = trie.successors(state)
        flags.append(successors.inside_entity)
        state = successors.take(successors.tokens.tolist().index(token))
    first, middle, last = (len(pieces.plain(text)) for text in (" a", " -> part ->", " b"))
    assert flags == [True] * first + [False] * middle + [True] * last + [False] * len(pieces.end)
    assert state.complete
    assert not state.alive


@settings(max_examples=30, deadline=None)
@given(triples=graphs(), directed=st.booleans())
def test_saved_and_opened_it_is_the_same(triples, directed, tmp_path_factory):
    graph = tokenised(triples, directed=directed)
    topics = list(range(len(graph.kg.entities)))[:2]
    folder = tmp_path_factory.mktemp("trie")
    built = ExplicitTrie.build(graph, topics, 2)
    built.save(folder, graph)
    opened = ExplicitTrie.open(folder, graph)
    assert_same_language(opened, KGAutomaton(graph, topics, 2))
    assert opened.nbytes == built.nbytes > 0


def test_a_trie_of_another_graph_or_tokeniser_is_refused(tmp_path):
    graph = tokenised([("a", "r", "b")])
    ExplicitTrie.build(graph, [0], 1).save(tmp_path, graph)
    others = [
        tokenised([("a", "r", "b"), ("b", "r", "a")]),
        tokenised([("a", "r", "b")], "wordpiece"),
        tokenised([("a", "r", "b")], directed=True),
    ]
    for other in others:
        with pytest.raises(UserError, match="another graph or tokeniser"):
            ExplicitTrie.open(tmp_path, other)
    (tmp_path / "tokens.npy").unlink()
    with pytest.raises(UserError, match="no whole KG-Trie"):
        ExplicitTrie.open(tmp_path, graph)


def test_too_many_paths_are_counted_and_refused():
    graph = tokenised([(f"e{i}", "r", f"e{j}") for i in range(12) for j in range(12)])
    with pytest.raises(UserError, match="fewer hops or entities"):
        ExplicitTrie.build(graph, [0], 9)
    paths = KGAutomaton(graph, [0], 2)
    count = paths.paths_left(paths.start())
    assert len(ExplicitTrie.build(graph, [0], 2, most_paths=count).paths) == count
    with pytest.raises(UserError, match=f"{count:,} paths of up to 2 hops"):
        ExplicitTrie.build(graph, [0], 2, most_paths=count - 1)


def test_no_topic_with_an_edge_means_an_empty_trie():
    graph = tokenised([("a", "r", "b")], directed=True)
    for topics in ([], [graph.kg.entities.find("b")]):
        trie = ExplicitTrie.build(graph, topics, 2)
        assert len(trie.paths) == 0
        assert not trie.start().alive
        assert not trie.start().complete
