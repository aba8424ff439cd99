"""Every walk of the graph against plain recursion over the list of triples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from tests.helpers.oracles import all_paths, backwards
from tests.helpers.strategies import graphs


def says_the_same(kg: KnowledgeGraph, one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether relation paths are the same, but for the direction of symmetric relations."""
    return len(one) == len(other) and all(a in kg.alike(b) for a, b in zip(one, other, strict=True))


def comes_back(names: set[str], walk: tuple[str, ...]) -> bool:
    """Whether a walk of at least two hops visits its topic again, or goes over a relation and back to where it was."""

    def same_relation(one: str, other: str) -> bool:
        return one == other or backwards(one, names) == other or one == backwards(other, names)

    back = (walk[i] == walk[i + 4] and same_relation(walk[i + 1], walk[i + 3]) for i in range(0, len(walk) - 4, 2))
    return len(walk) > 3 and (walk[0] in walk[2::2] or any(back))


def as_walk(path: Path) -> tuple[str, ...]:
    """A path's labels, entities and relations by turns."""
    return (path.entities[0], *(label for _, relation, tail in path.hops for label in (relation, tail)))


def ids(kg: KnowledgeGraph, labels: set[str]) -> np.ndarray:
    """Entity ids, sorted."""
    return np.array(sorted(i for label in labels if (i := kg.entities.find(label)) is not None), np.int32)


@settings(deadline=None)
@given(graphs(), st.booleans(), st.data())
def test_one_hop_is_every_edge_that_touches_the_entities(triples, directed, data):
    kg = KnowledgeGraph.from_triples(triples)
    chosen = data.draw(st.sets(st.sampled_from(sorted({label for h, _, t in triples for label in (h, t)}))))
    expected = {(h, r, t) for h, r, t in triples if h in chosen}
    if not directed:
        names = {relation for _, relation, _ in triples}
        expected |= {(t, backwards(r, names), h) for h, r, t in triples if t in chosen}
    edges = list(zip(*(part.tolist() for part in kg.edges_from(ids(kg, chosen), directed)), strict=True))
    assert len(edges) == len(set(edges))
    assert {(kg.entities[s], kg.step_labels[r], kg.entities[t]) for s, r, t in edges} == expected
    steps = kg.steps_from(ids(kg, chosen), directed).tolist()
    assert steps == sorted({step for _, step, _ in edges})
    for step in steps:
        ends = {target for _, taken, target in edges if taken == step}
        assert kg.follow(ids(kg, chosen), [step]).tolist() == sorted(ends)
    for source, step, target in edges:
        head, relation, tail = kg.stored(source, step, target)
        assert kg.has_triple(kg.entities[head], kg.relations[relation], kg.entities[tail])
        assert kg.stored(target, kg.inverse(step), source) == (head, relation, tail)
        assert kg.relation_of(step) == relation


@settings(deadline=None)
@given(graphs(), st.data())
def test_reach_paths_over_and_path_to_agree_with_walks(triples, data):
    kg = KnowledgeGraph.from_triples(triples, "g")
    topic = data.draw(st.sampled_from(sorted({head for head, _, _ in triples})))
    directed = data.draw(st.booleans())
    walks = list(all_paths(triples, [topic], 2, directed))
    if not walks:
        return
    relations = data.draw(st.sampled_from(walks))[1::2]
    start = kg.entities.find(topic)
    same = [walk for walk in walks if says_the_same(kg, walk[1::2], relations)]
    layers, names = kg.reach(start, relations, directed), {relation for _, relation, _ in triples}
    expected = {walk[-1] for walk in same} - ({topic} if len(relations) > 1 else set())
    assert {kg.entities[int(end)] for end in layers[-1]} == expected
    straight = {walk[-1] for walk in same if not comes_back(names, walk)}
    for end in layers[-1].tolist():
        path = kg.labelled(kg.path_to(layers, relations, end, directed))
        assert any((path.entities, path.relations) == (walk[::2], walk[1::2]) for walk in same)
        assert kg.is_detour(path) == comes_back(names, as_walk(path)) == (path.end not in straight)
    found = [kg.labelled(path) for path in kg.paths_over(start, relations, directed)]
    assert all((path.entities, path.relations) in {(walk[::2], walk[1::2]) for walk in same} for path in found)
    assert not any(kg.is_detour(path) for path in found)
    assert sorted(path.end for path in found) == sorted(straight)


@settings(max_examples=60, deadline=None)
@given(graphs(), st.integers(1, 3), st.booleans())
def test_relation_paths_are_those_of_all_walks(triples, hops, directed):
    kg = KnowledgeGraph.from_triples(triples)
    for topic, label in enumerate(kg.entities):
        expected = {path[1::2] for path in all_paths(triples, [label], hops, directed)}
        found = [path for own in kg.relation_paths(topic, hops, directed) for path in own.tolist()]
        assert {tuple(kg.step_labels[step] for step in path) for path in found} == expected
        assert len({tuple(path) for path in found}) == len(found)


def test_an_edge_from_an_entity_to_itself_leads_there_and_a_longer_walk_home_leads_nowhere():
    kg = KnowledgeGraph.from_triples([("Singapore", "capital", "Singapore"), ("Rome", "capital of", "Italy")], "g")
    singapore, rome = kg.entities.find("Singapore"), kg.entities.find("Rome")
    layers = kg.reach(singapore, ("capital",))
    assert layers[-1].tolist() == [singapore]
    assert kg.path_to(layers, ("capital",), singapore).entities == (singapore, singapore)
    assert [path.entities for path in kg.paths_over(singapore, ("capital",))] == [(singapore, singapore)]
    with pytest.raises(ValueError, match="no path"):
        kg.path_to(layers, ("capital",), rome)
    assert len(kg.reach(singapore, ("capital", "capital"))[-1]) == 0
    assert len(kg.reach(rome, ("capital of", "~capital of"))[-1]) == 0
    assert kg.paths_over(rome, ("capital of", "~capital of")) == []


def test_of_many_ends_the_first_are_taken():
    kg = KnowledgeGraph.from_triples([("hub", "has", f"part {number:02}") for number in range(30)])
    found = kg.paths_over(kg.entities.find("hub"), ("has",), limit=3)
    assert [kg.labelled(path).end for path in found] == ["part 00", "part 01", "part 02"]
