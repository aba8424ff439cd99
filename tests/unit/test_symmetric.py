"""Relations that say the same in both directions: found in the data, ranked as one, and read to their ends as one."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdemo.events import AnswerFinal
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.reasoners.base import EmbeddedReasoner, Evidence
from tests.helpers.oracles import verifier_of
from tests.helpers.reasoning import SpellingEmbedder

# of four borders three are stored in both directions
BORDERS = [
    ("Austria", "borders", "Italy"),
    ("Italy", "borders", "Austria"),
    ("Austria", "borders", "Hungary"),
    ("Hungary", "borders", "Austria"),
    ("Germany", "borders", "Austria"),
    ("Germany", "borders", "Poland"),
    ("Poland", "borders", "Germany"),
    ("Austria", "capital", "Vienna"),
    ("Italy", "capital", "Rome"),
]
KG = KnowledgeGraph.from_triples(BORDERS, "borders")


def test_a_relation_stored_both_ways_reads_the_same_both_ways():
    assert KG.alike("borders") == KG.alike("~borders") == ("borders", "~borders")
    assert KG.alike("capital") == ("capital",)
    assert KG.alike("~capital") == ("~capital",)
    assert KG.alike("no such relation") == ("no such relation",)
    declared = KnowledgeGraph.from_triples(BORDERS, "borders", {"borders": "borders"})
    assert declared.alike("borders") == ("borders",)


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from("rs"), st.sampled_from("abcde")), min_size=1))
def test_most_of_its_edges_are_stored_both_ways(triples):
    kg, stored = KnowledgeGraph.from_triples(triples), set(triples)
    for relation in {r for _, r, _ in stored}:
        edges = [(h, t) for h, r, t in stored if r == relation and h != t]
        turned = Counter((t, relation, h) in stored for h, t in edges)
        both = kg.alike(relation)
        assert both == kg.alike(f"~{relation}") or (relation,) == both
        assert (len(both) == 2) == (turned[True] > turned[False])


def ends(topic: str, *relations: str, directed: bool = False) -> dict[str, Path]:
    """The paths from a topic over these relations, by their ends; all of them verified."""
    paths = [KG.labelled(ids) for ids in KG.paths_over(KG.entities.find(topic), relations, directed)]
    assert all(verifier_of(KG).verify(path).faithful for path in paths)
    return {path.end: path for path in paths}


def test_the_edges_of_either_direction_are_answers():
    found = ends("Austria", "borders")
    assert set(found) == {"Italy", "Hungary", "Germany"}
    assert found["Germany"].relations == ("~borders",)  # as it is stored
    assert set(ends("Austria", "borders", directed=True)) == {"Italy", "Hungary"}
    assert set(ends("Poland", "~borders", "borders")) == {"Austria"}


@pytest.mark.parametrize("relation", ["borders", "~borders"])
def test_they_are_reached_and_walked_to(relation: str):
    austria = KG.entities.find("Austria")
    layers = KG.reach(austria, (relation,))
    assert {KG.entities[end] for end in layers[-1]} == {"Italy", "Hungary", "Germany"}
    for end in layers[-1].tolist():
        assert verifier_of(KG).verify(KG.labelled(KG.path_to(layers, (relation,), end))).faithful


def test_what_was_found_in_either_direction_is_cited_by_its_own_path():
    steps = {relation_label: step for step, relation_label in enumerate(KG.step_labels)}
    walks = [("borders", "Italy"), ("~borders", "Germany"), ("capital", "Vienna")]
    evidence = [
        Evidence(number, Path(("Austria", end), (relation_label,)), end, said=KG.said([steps[relation_label]]))
        for number, (relation_label, end) in enumerate(walks, 1)
    ]
    final = list(EmbeddedReasoner(SpellingEmbedder()).answer("what borders Austria", evidence))[-1]
    assert isinstance(final, AnswerFinal)
    assert (final.answers, final.citations) == (("Italy", "Germany"), ((1,), (2,)))


def test_a_path_that_comes_back_to_its_topic_is_no_answer_beside_one_that_goes_on():
    relations = ("directed by", "~directed by")
    evidence = [
        Evidence(1, Path(("Alien", "Ridley Scott", "Gladiator"), relations)),
        Evidence(2, Path(("Alien", "Ridley Scott", "Alien"), relations), detour=True),
    ]
    final = list(EmbeddedReasoner(SpellingEmbedder()).answer("films with the director of Alien", evidence))[-1]
    assert isinstance(final, AnswerFinal)
    assert final.answers == ("Gladiator",)
