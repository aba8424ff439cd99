"""The x-ray of a graph against plain counting."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.kg.xray import HUBS, x_ray
from tests.helpers.strategies import graphs


@settings(max_examples=100, deadline=None)
@given(triples=graphs(), data=st.data())
def test_an_x_ray_counts_what_is_stated(triples, data):
    stated = set(triples)
    entities = {label for h, _, t in stated for label in (h, t)}
    types = {e: data.draw(st.sampled_from(["", "film", "person"])) for e in sorted(entities)}
    kg = KnowledgeGraph.from_triples(triples, info={e: EntityInfo(kind) for e, kind in types.items() if kind})
    seen = x_ray(kg)
    assert (seen.triples, seen.entities) == (len(stated), len(entities))
    assert dict(seen.kinds) == {k: n for k, n in Counter(types.values()).items() if k}
    assert [one.facts for one in seen.relations] == sorted((one.facts for one in seen.relations), reverse=True)
    for one in seen.relations:
        heads = {h for h, r, _ in stated if r == one.relation}
        assert one.facts == sum(r == one.relation for _, r, _ in stated)
        of_kind = Counter(types[head] for head in heads if types[head])
        assert one.known == (of_kind[one.kind] if of_kind else len(heads))
        assert not of_kind or one.known == max(of_kind.values())
        assert one.of == (list(types.values()).count(one.kind) if one.kind else len({h for h, _, _ in stated}))
    degrees = Counter([h for h, _, _ in stated] + [t for _, _, t in stated])
    assert sorted((n for _, n in seen.hubs), reverse=True) == sorted(degrees.values(), reverse=True)[:HUBS]
    assert all(degrees[entity] == n for entity, n in seen.hubs)


def test_the_embedded_graph_knows_the_spouses_of_some_people(world):
    seen = x_ray(world)
    spouse = next(one for one in seen.relations if one.relation == "spouse")
    assert spouse.kind == "person"
    assert 0 < spouse.known < spouse.of
    assert sum(one.facts for one in seen.relations) + seen.left_out >= seen.triples
