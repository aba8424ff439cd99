"""The cache keeps what is used most within its size, and counts honestly."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.label_tokens import LabelTokens
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.kg.cache import LFUCache
from kgdemo.kg.graph import KnowledgeGraph
from tests.helpers.models import byte_level_tokenizer
from tests.helpers.strategies import graphs


@dataclass(frozen=True)
class Block:
    """A value of a known size."""

    key: int
    nbytes: int


@settings(deadline=None)
@given(
    sizes=st.lists(st.integers(1, 12), min_size=1, max_size=6),
    asked=st.lists(st.integers(0, 5), max_size=60),
    limit=st.integers(1, 25),
)
def test_it_does_what_a_list_searched_from_end_to_end_would(sizes, asked, limit):
    cache: LFUCache[Block] = LFUCache(limit)
    kept: list[tuple[int, int, int]] = []  # (uses, when, key), the oracle
    served = 0
    for when, key in enumerate(asked):
        size = sizes[key % len(sizes)]
        built = []
        value = cache.get(key, lambda key=key, size=size, built=built: built.append(1) or Block(key, size))
        assert value == Block(key, size)
        known = [entry for entry in kept if entry[2] == key]
        assert bool(built) != bool(known)
        if known:
            served += 1
            kept.remove(known[0])
            kept.append((known[0][0] + 1, when, key))
        elif size <= limit:
            while sum(sizes[k % len(sizes)] for _, _, k in kept) + size > limit:
                kept.remove(min(kept))
            kept.append((1, when, key))
        state = cache.state
        assert (state.lookups, state.served, state.entries) == (when + 1, served, len(kept))
        assert state.size == sum(sizes[k % len(sizes)] for _, _, k in kept) <= limit
        assert state.hit_rate == served / (when + 1)


def test_what_grows_while_it_is_kept_is_measured_again():
    @dataclass
    class Growing:
        nbytes: int

    cache: LFUCache[Growing] = LFUCache(10)
    one = cache.get("one", lambda: Growing(2))
    cache.get("two", lambda: Growing(6))
    one.nbytes = 5
    assert cache.get("one", lambda: Growing(2)) is one
    state = cache.state
    assert (state.entries, state.size) == (1, 5)  # the other, asked for less often, has gone
    one.nbytes = 11
    assert cache.get("one", lambda: Growing(2)) is one
    assert (cache.state.entries, cache.state.size) == (0, 0)


def test_visited_nodes_count_as_memory():
    kg = KnowledgeGraph.from_triples([("a", "r", "b"), ("a", "r", "c")])
    graph = TokenGraph(kg, LabelTokens(byte_level_tokenizer()))
    automaton = KGAutomaton(graph, [kg.entities.find("a")], 1)
    before = automaton.sub_trie(kg.entities.find("a")).nbytes
    state = automaton.start()
    while state.alive:
        state = automaton.successors(state).take(0)
    assert automaton.sub_trie(kg.entities.find("a")).nbytes > before


def test_a_fresh_cache_has_served_nothing():
    assert LFUCache(10).state.hit_rate == 0.0


def test_questions_share_sub_tries():
    kg = KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "r", "c")])
    graph = TokenGraph(kg, LabelTokens(byte_level_tokenizer()))
    first, second = (KGAutomaton(graph, [kg.entities.find(topic)], 2) for topic in ("a", "c"))
    between = kg.entities.find("b")
    assert first.sub_trie(between) is second.sub_trie(between)
    assert graph.sub_tries.state.served == 1


@settings(deadline=None)
@given(triples=graphs(), directed=st.booleans())
def test_built_offline_or_on_demand_sub_tries_are_the_same(triples, directed):
    kg = KnowledgeGraph.from_triples(triples)
    label_tokens = LabelTokens(byte_level_tokenizer())
    lazy, whole = TokenGraph(kg, label_tokens, directed), TokenGraph(kg, label_tokens, directed)
    whole.presort()
    assert whole.nbytes > lazy.nbytes
    for entity in range(len(kg.entities)):
        for ours, theirs in zip(lazy.sorted_steps(entity), whole.sorted_steps(entity), strict=True):
            assert ours.tolist() == theirs.tolist()
