"""DoG's constraint: chains are well-formed whatever the graph and the model (sections 2.2 and 2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.chains import ChainConstraint
from kgdemo.constraint.free import FreeText, MarkWatch
from kgdemo.constraint.pieces import PATH_START, Pieces
from kgdemo.constraint.query_graph import Link, QueryGraph
from kgdemo.constraint.tokenised import TokenisedGraph
from kgdemo.constraint.triples import Spelling, TripleTrie
from kgdemo.decoding.sampling import SamplingSettings, sample
from kgdemo.evaluation.ratios import ill_formed
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.verify import Verifier
from tests.helpers.models import byte_level_tokenizer, random_model, wordpiece_tokenizer
from tests.helpers.oracles import around, spelled
from tests.helpers.reasoning import film_world
from tests.helpers.strategies import graphs
from tests.unit.test_decoding import finish

QUESTION = "Where was the director of Inception born?"
TOKENIZERS = {
    "byte-level": byte_level_tokenizer,
    "byte-level, no path marks": lambda: byte_level_tokenizer(marks=False),
    "wordpiece": wordpiece_tokenizer,
}
model_named = lru_cache(random_model)


def labels_of(kg: KnowledgeGraph, link: Link) -> list[tuple[str, str, str]]:
    return [(kg.entities[h], kg.relations[r], kg.entities[t]) for h, r, t in link.triples]


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
    pieces = Pieces(TOKENIZERS[tokenizer]())
    links = QueryGraph(kg, collapse=False).links([kg.entities.find(v) for v in visited])
    trie = TripleTrie(TokenisedGraph(kg, pieces), links, Spelling.STORED, [pieces.end])
    expected: dict[tuple[int, ...], set] = {}
    for triple in around(triples, set(visited)):
        expected.setdefault(spelled(pieces, triple), set()).add(triple)
    assert language(trie) == expected


@settings(max_examples=60, deadline=None)
@given(triples=graphs(), data=st.data())
def test_walked_triples_begin_at_the_visited_end(triples, data):
    kg = KnowledgeGraph.from_triples(triples)
    start = data.draw(st.sampled_from(list(kg.entities)))
    pieces = Pieces(byte_level_tokenizer())
    links = QueryGraph(kg, collapse=False).links([kg.entities.find(start)])
    graph = TokenisedGraph(kg, pieces)
    ends = [pieces.end, pieces.arrow]
    walked = language(TripleTrie(graph, links, Spelling.WALKED, ends))
    onward = language(TripleTrie(graph, links, Spelling.ONWARD, ends))
    head = tuple(pieces.plain(f" {start}"))
    expected = {
        (*pieces.plain(f" {start}"), *pieces.arrow, *pieces.plain(f" {r}"), *pieces.arrow, *pieces.plain(f" {t}"), *end)
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
    verifier = Verifier(kg)
    for link in [*ann, *oxford]:
        path = Path(tuple(kg.entities[e] for e in link.path.entities), tuple(kg.readings[s] for s in link.path.steps))
        assert verifier.verify(path).faithful
    pieces = Pieces(byte_level_tokenizer())
    trie = TripleTrie(TokenisedGraph(kg, pieces), ann, Spelling.STORED, [pieces.end])
    assert spelled(pieces, ("Ann", "education-degree", "BA")) in language(trie)


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
        grown = text + texts[token]
        at = grown.find(PATH_START)
        assert (token in finishing) == (at >= 0 and at + len(PATH_START) == len(grown))
        assert (token in over) == (at >= 0 and at + len(PATH_START) < len(grown))
        if at >= 0:
            break
        text, matched = grown, watch.after(matched, token)
        assert text.endswith(PATH_START[:matched])


class Eager:
    """A token tree whose model is eager to begin triples; random models hardly ever are."""

    def __init__(self, tree, mark: int, bias: float) -> None:
        self.tree, self.mark, self.bias = tree, mark, bias

    def _pushed(self, rows: torch.Tensor) -> torch.Tensor:
        rows = rows.clone()
        rows[..., self.mark] += self.bias
        return torch.log_softmax(rows, dim=-1)

    def prompt_log_probs(self) -> torch.Tensor:
        return self._pushed(self.tree.prompt_log_probs())

    def extend(self, parents, tokens):
        nodes, rows = self.tree.extend(parents, tokens)
        return nodes, self._pushed(rows)


def sampled_chains(kg: KnowledgeGraph, topics: Sequence[str], family: str, seed: int, count: int, tokens: int):
    """Chains that a random model writes under the constraint, finished or not."""
    model = model_named(family, seed % 3)
    ids = [kg.entities.find(topic) for topic in topics]
    graph = TokenisedGraph(kg, model.pieces)
    constraint = ChainConstraint(graph, QueryGraph(kg, collapse=False), ids, model.stop_ids, model.vocabulary)
    tree = Eager(model.tree(model.style.encode(model.pieces, QUESTION, topics)), model.pieces.start[0], 9.0)
    live = ()
    search = sample(tree, constraint, SamplingSettings(count, tokens, temperature=1.0, seed=seed))
    while True:
        try:
            step = next(search)
        except StopIteration as end:
            return [h.state for h in (*live, *end.value)]
        live = step.live


@pytest.mark.parametrize("family", ["qwen2", "bert"])
def test_no_ill_formed_triple_in_thousands(family):
    """Table 3 (b): 0.00 %, for any model; 2,500 triples a family."""
    rng = Random(family)
    count = 0
    for seed in range(30):
        triples = [(rng.choice("abcdefghijkl"), rng.choice("rst"), rng.choice("abcdefghijkl")) for _ in range(30)]
        kg = KnowledgeGraph.from_triples(triples)
        verifier, topics = Verifier(kg), [triples[0][0], triples[1][2]]
        for state in sampled_chains(kg, topics, family, seed, count=32, tokens=140):
            chain = [triple for link in state.links for triple in labels_of(kg, link)]
            assert not ill_formed(chain, topics, verifier)
            assert len(set(chain)) == len(chain), "a triple is used once"
            count += len(chain)
        if count >= 2500:
            break
    assert count >= 2500


@settings(max_examples=25, deadline=None)
@given(triples=graphs(), family=st.sampled_from(["qwen2", "bert"]), seed=st.integers(0, 9))
def test_chains_over_nasty_labels_are_well_formed(triples, family, seed):
    kg = KnowledgeGraph.from_triples(triples)
    topics = [triples[0][0]]
    for state in sampled_chains(kg, topics, family, seed, count=4, tokens=50):
        chain = [triple for link in state.links for triple in labels_of(kg, link)]
        assert not ill_formed(chain, topics, Verifier(kg))


def test_without_the_constraint_most_triples_are_ill():
    world = film_world()
    model = world.model
    tree = Eager(model.tree(model.style.encode(model.pieces, QUESTION, ["Inception"])), model.pieces.start[0], 6.0)
    steps, _ = finish(sample(tree, FreeText(model.pieces.end), SamplingSettings(20, 60, temperature=1.0)))
    texts = [model.pieces.tokenizer.decode(list(h.tokens)) for h in (*steps[-1].live, *steps[-1].finished)]
    spans = [span for text in texts for span in text.split(PATH_START) if span]
    assert sum(world.verifier.verify_text(span)[1].faithful for span in spans) < 0.05 * len(spans)


def test_the_mark_may_not_be_written_when_no_triple_is_left():
    kg = KnowledgeGraph.from_triples([("a", "r", "b")])
    model = model_named("qwen2", 0)
    query = QueryGraph(kg)
    constraint = ChainConstraint(
        TokenisedGraph(kg, model.pieces), query, [kg.entities.find("a")], model.stop_ids, model.vocabulary
    )
    (link,) = query.links([kg.entities.find("a")])
    done = constraint.start().grown(link)
    assert done.alive
    assert model.pieces.start[0] not in constraint.successors(done).tokens.tolist()
    assert not constraint.trie(done).start().alive
