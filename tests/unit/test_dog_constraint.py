"""DoG's constraint: chains are well-formed whatever the graph and the model (sections 2.2 and 2.3)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.label_tokens import PATH_START, LabelTokens
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.constraint.triple_chains import ChainConstraint, ChainState, MarkWatch, QueryGraph, TripleTokens, TripleTrie
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.verify import Verifier
from tests.helpers.models import byte_level_tokenizer, random_model, wordpiece_tokenizer
from tests.helpers.oracles import around, labels_of, spelled
from tests.helpers.strategies import graphs

QUESTION = "Where was the director of Inception born?"
TOKENIZERS = {
    "byte-level": byte_level_tokenizer,
    "byte-level, no path marks": lambda: byte_level_tokenizer(marks=False),
    "wordpiece": wordpiece_tokenizer,
}


def language(trie: TripleTrie) -> dict[tuple[int, ...], set[tuple[str, str, str]]]:
    """Every complete token sequence with the triples at its leaf."""
    kg, found = trie.graph.kg, {}
    stack = [((), trie.start())]
    while stack:
        tokens, state = stack.pop()
        if state.complete:
            found[tokens] = {triple for leaf in state.leaves for triple in labels_of(kg, leaf.link)}
        if state.alive:
            successors = trie.successors(state)
            assert list(successors.tokens) == sorted(set(successors.tokens.tolist()))
            assert len(successors.tokens), "a living state must have a successor"
            children = [successors.take(i) for i in range(len(successors.tokens))]
            assert max(map(trie.paths_left, children)) <= trie.paths_left(state)
            stack += [((*tokens, t), child) for t, child in zip(successors.tokens.tolist(), children, strict=True)]
    return found


@settings(max_examples=150, deadline=None)
@given(triples=graphs(), data=st.data())
def test_the_subgraph_is_what_touches_a_visited_entity(triples, data):
    kg = KnowledgeGraph.from_triples(triples)
    visited = data.draw(st.lists(st.sampled_from(list(kg.entities)), min_size=1, max_size=3))
    query = QueryGraph(kg, collapse=False)
    links = query.links([kg.entities.find(v) for v in visited])
    assert {triple for link in links for triple in labels_of(kg, link)} == around(triples, set(visited))
    assert all(kg.entities[link.first] in visited for link in links)
    assert len({link.path for link in links}) == len(links)


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@settings(max_examples=60, deadline=None)
@given(triples=graphs(), data=st.data())
def test_the_trie_speaks_exactly_the_triples_in_reach(tokenizer, triples, data):
    kg = KnowledgeGraph.from_triples(triples)
    visited = data.draw(st.lists(st.sampled_from(list(kg.entities)), min_size=1, max_size=2))
    label_tokens = LabelTokens(TOKENIZERS[tokenizer]())
    links = QueryGraph(kg, collapse=False).links([kg.entities.find(v) for v in visited])
    trie = TripleTrie(TokenGraph(kg, label_tokens), links, TripleTokens.STORED, [label_tokens.end])
    expected: dict[tuple[int, ...], set] = {}
    for triple in around(triples, set(visited)):
        expected.setdefault(spelled(label_tokens, triple), set()).add(triple)
    assert language(trie) == expected


@settings(max_examples=60, deadline=None)
@given(triples=graphs(), data=st.data())
def test_walked_triples_begin_at_the_visited_end(triples, data):
    kg = KnowledgeGraph.from_triples(triples)
    start = data.draw(st.sampled_from(list(kg.entities)))
    label_tokens = LabelTokens(byte_level_tokenizer())
    links = QueryGraph(kg, collapse=False).links([kg.entities.find(start)])
    graph = TokenGraph(kg, label_tokens)
    ends = [label_tokens.end, label_tokens.arrow]
    walked = language(TripleTrie(graph, links, TripleTokens.WALKED, ends))
    onward = language(TripleTrie(graph, links, TripleTokens.ONWARD, ends))
    head = tuple(label_tokens.plain(f" {start}"))
    expected = {
        (
            *label_tokens.plain(f" {start}"),
            *label_tokens.arrow,
            *label_tokens.plain(f" {r}"),
            *label_tokens.arrow,
            *label_tokens.plain(f" {t}"),
            *end,
        )
        for r, t in kg.neighbours(start)
        for end in ends
    }
    assert set(walked) == expected
    assert {(*head, *tokens) for tokens in onward} == expected


def test_mediators_are_stepped_over_and_their_relations_joined():
    triples = [
        ("Ann", "education", "m.0x1"),
        ("m.0x1", "institution", "Oxford"),
        ("m.0x1", "degree", "BA"),
        ("Bob", "education", "m.0x2"),
        ("m.0x2", "institution", "Oxford"),
    ]
    kg = KnowledgeGraph.from_triples(triples)
    query = QueryGraph(kg)
    ann = query.links([kg.entities.find("Ann")])
    assert {link.labels(kg) for link in ann} == {
        ("Ann", "education-institution", "Oxford"),
        ("Ann", "education-degree", "BA"),
    }
    oxford = query.links([kg.entities.find("Oxford")])
    assert {link.labels(kg)[0] for link in oxford} == {"Ann", "Bob", "Oxford"}, "stored direction where there is one"
    assert ("Bob", "education-institution", "Oxford") in {link.labels(kg) for link in oxford}
    verifier = Verifier(StatedFacts(triples))
    for link in [*ann, *oxford]:
        path = Path(
            tuple(kg.entities[e] for e in link.path.entities), tuple(kg.step_labels[s] for s in link.path.steps)
        )
        assert verifier.verify(path).faithful
    label_tokens = LabelTokens(byte_level_tokenizer())
    trie = TripleTrie(TokenGraph(kg, label_tokens), ann, TripleTokens.STORED, [label_tokens.end])
    assert spelled(label_tokens, ("Ann", "education-degree", "BA")) in language(trie)


def test_a_type_says_what_is_a_mediator_too():
    info = {"event 1": EntityInfo("mediator"), "m.0abc": EntityInfo("person")}
    triples = [("a", "r", "event 1"), ("event 1", "s", "b"), ("a", "t", "m.0abc")]
    kg = KnowledgeGraph.from_triples(triples, info=info)
    links = QueryGraph(kg).links([kg.entities.find("a")])
    assert {link.labels(kg)[2] for link in links} == {"b", "m.0abc"}


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_a_mark_is_seen_however_it_is_cut_into_tokens(data):
    texts = ["<", "<P", "P", "AT", "ATH", "H", ">", "<PATH>", "x<PATH>", "<PATH>y", "H>", "H>z", "a", " ", "><", ">P"]
    watch = MarkWatch(texts, PATH_START)
    text, matched = "", 0
    for _ in range(data.draw(st.integers(1, 12))):
        token = data.draw(st.integers(0, len(texts) - 1))
        finishing, over = (set(part.tolist()) for part in watch.hits(matched))
        extended = text + texts[token]
        at = extended.find(PATH_START)
        assert (token in finishing) == (at >= 0 and at + len(PATH_START) == len(extended))
        assert (token in over) == (at >= 0 and at + len(PATH_START) < len(extended))
        if at >= 0:
            break
        text, matched = extended, watch.after(matched, token)
        assert text.endswith(PATH_START[:matched])


def test_the_mark_may_not_be_written_when_no_triple_is_left():
    kg = KnowledgeGraph.from_triples([("a", "r", "b")])
    model = random_model("qwen2", 0)
    query = QueryGraph(kg)
    constraint = ChainConstraint(TokenGraph(kg, model.label_tokens), query, model.stop_ids, model.vocabulary)
    (link,) = query.links([kg.entities.find("a")])
    done = ChainState((kg.entities.find("a"),)).extended(link)
    free = constraint.free_text(done)
    assert free.start().alive
    assert model.label_tokens.start[0] not in free.successors(free.start()).tokens.tolist()
    assert not constraint.trie(done).start().alive
