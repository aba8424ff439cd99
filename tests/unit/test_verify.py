"""The verifier against a plain set of triples, and its verdicts one by one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.verify import HopVerdict, Verifier, fold
from tests.helpers.strategies import graphs, labels, relations

TRIPLES = [
    ("Inception", "directed by", "Christopher Nolan"),
    ("Christopher Nolan", "born in", "London"),
    ("Guns -> Roses", "part of", "a -> b -> c"),
    ("Österreich", "/location/country/capital", "Wien"),
]
KG = KnowledgeGraph.from_triples(TRIPLES, inverse_labels={"directed by": "directed"})
VERIFIER = Verifier(KG)


@settings(max_examples=300, deadline=None)
@given(triples=graphs(), head=labels, relation=relations, tail=labels, data=st.data())
def test_a_hop_is_ok_exactly_when_its_triple_is_stored(triples, head, relation, tail, data):
    kg = KnowledgeGraph.from_triples(triples)
    if data.draw(st.booleans()):
        head, relation, tail = data.draw(st.sampled_from(triples))
        if data.draw(st.booleans()):
            head, relation, tail = tail, f"~{relation}", head
    stored = set(triples)
    expected = (head, relation, tail) in stored or (
        relation.startswith("~") and (tail, relation.removeprefix("~"), head) in stored
    )
    verdict = Verifier(kg).verify(Path((head, tail), (relation,)))
    assert verdict.faithful == expected
    assert (verdict.hops[0].verdict is HopVerdict.OK) == expected


@pytest.mark.parametrize(
    ("text", "verdicts"),
    [
        ("Inception -> directed by -> Christopher Nolan -> born in -> London", ["ok", "ok"]),
        ("Christopher Nolan -> directed -> Inception", ["ok"]),
        ("Christopher Nolan -> ~directed by -> Inception", ["ok"]),
        ("inception → DIRECTED BY → christopher nolan", ["ok"]),
        ("Christopher Nolan -> directed by -> Inception", ["edge runs the other way"]),
        ("Inception -> directed by -> London", ["no such edge"]),
        ("Inception -> directed by -> Steven Spielberg -> born in -> London", ["unknown entity", "unknown entity"]),
        ("Inception -> director place -> London", ["unknown relation"]),
        ("Guns -> Roses -> part of -> a -> b -> c", ["ok"]),
        ("<PATH> osterreich -> location country capital -> wien </PATH>", ["ok"]),
        ("Inception -> directed by", ["malformed"]),
        ("Inception", ["malformed"]),
        ("", ["malformed"]),
        ("-> ->", ["malformed"]),
    ],
)
def test_verdict_of_text(text, verdicts):
    _, verdict = VERIFIER.verify_text(text)
    assert [hop.verdict.value for hop in verdict.hops] == verdicts
    assert verdict.faithful == (set(verdicts) == {"ok"})


def test_written_text_is_given_back_in_the_graphs_spelling():
    path, _ = VERIFIER.verify_text("osterreich -> location country capital -> WIEN")
    assert path == Path(("Österreich", "Wien"), ("/location/country/capital",))


@pytest.mark.parametrize(("answer", "on_path"), [("london", True), ("Paris", False), (None, None)])
def test_answer_on_path(answer, on_path):
    _, verdict = VERIFIER.verify_text("Christopher Nolan -> born in -> London", answer)
    assert verdict.answer_on_path is on_path


def test_hostile_text_ends_soon():
    kg = KnowledgeGraph.from_triples([("a", "a", "a"), ("a -> a", "a -> a", "a -> a")])
    _, verdict = Verifier(kg).verify_text(" -> ".join(["a"] * 61) + " -> zzz")
    assert not verdict.faithful


@pytest.mark.parametrize(
    ("label", "folded"),
    [("Élan Vital!", "elan vital"), ("a_b/c", "a b c"), ("~born in", "~born in"), ("  X  ", "x"), ("日本", "日本")],
)
def test_fold(label, folded):
    assert fold(label) == folded
