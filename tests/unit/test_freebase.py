"""Kinds of entities, read off the names of a Freebase graph's relations."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdemo.kg.graph import EntityInfo
from kgdemo.kg.io.catalogue import build_graph, open_graph

CAPITAL, NATIONALITY = "/location/country/capital", "/people/person/nationality"
CONTAINS, LIVED = "/location/location/contains", "/people/person/places_lived./people/place_lived/location"
FILM, SERIES = "/film/actor/film./film/performance/film", "/tv/tv_network/programs./tv/tv_network_duration/program"


def kinds(*triples: tuple[str, str, str]) -> dict[str, str]:
    """Entity -> kind, of those that have one."""
    return {label: info.type for label, info in build_graph(triples).info.items()}


def test_both_ends_of_an_edge_are_told():
    assert kinds(("France", CAPITAL, "Paris"), ("Zola", NATIONALITY, "France")) == {
        "France": "country",
        "Paris": "city",
        "Zola": "person",
    }
    assert kinds(("Zola", LIVED, "Médan")) == {"Zola": "person", "Médan": "place"}
    assert kinds(("France", "location.country.capital", "Paris")) == {"France": "country", "Paris": "city"}


def test_most_edges_decide():
    shown = [("NBC", SERIES, "ER"), ("HBO", SERIES, "ER"), ("Noah Wyle", FILM, "ER")]
    assert kinds(*shown)["ER"] == "series"
    assert kinds(*shown[:1], *shown[2:], ("George Clooney", FILM, "ER"))["ER"] == "film"


def test_a_general_kind_gives_way_to_any_other():
    contained = [("Europe", CONTAINS, "Paris"), ("Seine", CONTAINS, "Paris"), ("Gaul", CONTAINS, "Paris")]
    assert kinds(*contained)["Paris"] == "place"
    assert kinds(*contained, ("France", CAPITAL, "Paris"))["Paris"] == "city"


@pytest.mark.parametrize("relation", ["capital", "directed by", "http://example.org/capital", "/", "a.b", "/x/y/z"])
def test_other_names_tell_nothing(relation):
    assert kinds(("France", relation, "Paris")) == {}


def test_what_is_given_is_not_overridden():
    own = {"France": EntityInfo("republic"), "Paris": EntityInfo(aliases=("Lutetia",)), "Rome": EntityInfo("city")}
    kg = build_graph([("France", CAPITAL, "Paris"), ("Spain", CAPITAL, "Madrid")], info=own)
    assert kg.info == {
        "France": EntityInfo("republic"),
        "Paris": EntityInfo("city", ("Lutetia",)),
        "Spain": EntityInfo("country"),
        "Madrid": EntityInfo("city"),
    }
    assert build_graph([]).info == {}


def test_a_graph_file_has_them(tmp_path):
    file = tmp_path / "france.tsv"
    file.write_text(f"France\t{CAPITAL}\tParis\n", "utf-8")
    kg = open_graph(str(file))
    assert kg.types == {"country", "city"}


EDGES = st.lists(
    st.tuples(
        st.sampled_from("abcd"),
        st.sampled_from([CAPITAL, NATIONALITY, FILM, SERIES, "made"]),
        st.sampled_from("abcd"),
    ),
    min_size=1,
    max_size=20,
    unique=True,
)
TOLD = {  # relation -> what it says of its head and of its tail
    CAPITAL: ("country", "city"),
    NATIONALITY: ("person", "country"),
    FILM: ("person", "film"),
    SERIES: ("company", "series"),
    "made": ("", ""),
}


@given(EDGES)
def test_no_kind_is_told_by_more_edges(edges):
    told: dict[str, Counter[str]] = {label: Counter() for label in "abcd"}
    for head, relation, tail in edges:
        told[head][TOLD[relation][0]] += 1
        told[tail][TOLD[relation][1]] += 1
    found = kinds(*edges)
    for label, counted in told.items():
        own = {kind: n for kind, n in counted.items() if kind not in ("", "company")}
        if own:
            assert own[found[label]] == max(own.values())
        else:
            assert found.get(label, "") == ("company" if counted["company"] else "")
