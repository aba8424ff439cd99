"""Questions labelled with Freebase's relation paths become wordings of a graph's own relations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgdemo.errors import UserError
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.lab.training.templates import freebase_names, labelled_wordings

PARENT, MARRIAGE, SPOUSE = "/people/person/parents", "/people/person/spouse_s", "/people/marriage/spouse"
KG = KnowledgeGraph.from_triples([("Ann", f"{MARRIAGE}.{SPOUSE}", "Bob"), ("Cid", "child of", "Ann")])


def record(question: str, *paths: tuple[list[str], int], answers: int = 1) -> dict[str, object]:
    """One labelled question about Ann Lee; a path is its relations and the number of ends it reaches."""
    labels = [{"relations": relations, "count": count} for relations, count in paths]
    answer = [str(number) for number in range(answers)]
    return {"question": question, "topic_key": "ann_lee", "answer": answer, "relation_paths": labels}


def wordings(folder: Path, *records: dict[str, object]) -> dict[tuple[str, ...], list[str]]:
    """What the records say of the small graph."""
    file = folder / "labelled.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in records), "utf-8")
    return labelled_wordings(KG, file, {(PARENT,): ("child of",)})


def test_relations_are_translated_and_mediators_joined(tmp_path):
    parents = record("who are ann lee's parents?", ([PARENT], 2), answers=2)
    married = record("who did ann lee marry", ([MARRIAGE, SPOUSE], 1))
    assert wordings(tmp_path, parents, married) == {
        ("child of",): ["who are {e}'s parents?"],
        (f"{MARRIAGE}.{SPOUSE}",): ["who did {e} marry?"],
    }


def test_what_may_mean_something_else_is_passed_over(tmp_path):
    unnamed = record("who is her father?", ([PARENT], 1))
    inside_a_word = record("who is ann leeson's father?", ([PARENT], 1))
    unknown = record("where does ann lee live?", (["/people/person/places_lived"], 1))
    either = record("who is near ann lee?", ([PARENT], 1), (["/people/person/places_lived"], 1))
    by_accident = record("who is like ann lee?", ([PARENT], 40))
    assert wordings(tmp_path, unnamed, inside_a_word, unknown, either, by_accident) == {}


def test_of_several_paths_the_one_that_agrees_with_the_answers_is_meant(tmp_path):
    asked = record("who raised ann lee?", ([PARENT], 2), ([MARRIAGE, SPOUSE], 9), answers=2)
    assert list(wordings(tmp_path, asked)) == [("child of",)]


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match=r"no question file .*labelled\.jsonl"):
        labelled_wordings(KG, tmp_path / "labelled.jsonl", {})


def test_the_names_in_world_are_relations_of_world(world):
    known = set(world.step_labels)
    names = freebase_names("world")
    assert names
    assert all(known.issuperset(chain) for chain in names.values())
    assert not set(names) & {(), ("",)}
