"""Mistyped names behind a store: what one letter makes of a text, what a text search is asked, and what is linked."""

from __future__ import annotations

from collections.abc import Iterator

import pyoxigraph as ox
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from kgdemo import events
from kgdemo.errors import UserError
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.kg.io.catalogue import StoreFacts
from kgdemo.kg.io.saved import SavedStore
from kgdemo.kg.labels import LabelTable
from kgdemo.kg.stores import sparql
from kgdemo.kg.stores.base import METER, CypherStore, Meter, Store
from kgdemo.kg.stores.graph import StoreGraph
from kgdemo.kg.stores.patterns import (
    RDFS_LABEL,
    SEARCHES,
    SPELLINGS,
    Patterns,
    SparqlProfile,
    as_iri,
    found_by,
    one_slip_from,
    words_to_look_for,
)
from kgdemo.kg.stores.sparql import SparqlStore
from kgdemo.linking.stores import StoreLinker
from kgdemo.pipeline import Pipeline
from kgdemo.settings import LOCAL, Settings
from tests.helpers.sparql_server import Endpoint, served, triples_of
from tests.helpers.stores import CountedStore, memory_store, written

_TRIPLES = [
    ("Victor Hugo", "born in", "Besançon"),
    ("Leonardo da Vinci", "born in", "Vinci"),
    ("Vinci", "located in", "Italy"),
    ("Besançon", "located in", "France"),
    ("Brazil (country)", "borders", "Peru"),
    ("Farce", "instance of", "genre"),
]


@pytest.fixture(scope="module")
def local() -> KnowledgeGraph:
    return KnowledgeGraph.from_triples(_TRIPLES, "small", info={"France": EntityInfo("country")})


@pytest.fixture(scope="module")
def endpoint(local: KnowledgeGraph) -> Iterator[Endpoint]:
    with served(triples_of(local)) as running:
        yield running


@pytest.fixture(params=["labels", "spellings", "cypher", "saved"])
def store(
    request: pytest.FixtureRequest, endpoint: Endpoint, local: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory
) -> Store:
    if request.param == "saved":
        return SavedStore(local)
    if request.param == "cypher":
        return CypherStore(written(local, tmp_path_factory.mktemp("ladybug") / "small"))
    return SparqlStore(endpoint.url, SparqlProfile(search=request.param), timeout=20.0)


@pytest.mark.parametrize(
    ("question", "entity"),
    [
        ("Where was Victor Hgo born?", "Victor Hugo"),
        ("where was leonardo da vimci born", "Leonardo da Vinci"),
        ("Which countries border Frnace?", "France"),  # and not Farce, which is as near to it
        ("Where is Besançom?", "Besançon"),
        ("where was leonerdo da vinci born", "Leonardo da Vinci"),  # though a word of it is a name by itself
    ],
)
def test_a_name_with_one_wrong_letter_is_found(store: Store, question: str, entity: str) -> None:
    found = StoreLinker(StoreGraph(store, "small")).link(question)
    assert found.chosen == (entity,)
    assert found.mentions[0].candidates[0].score < 1


@pytest.mark.parametrize(
    "question", ["Who was born in France?", "which towns are located in Italy", "hello there", "Qwrtzuiop Zxcvb"]
)
def test_words_that_are_no_slips_name_nothing_more(store: Store, question: str) -> None:
    chosen = StoreLinker(StoreGraph(store, "small")).link(question).chosen
    assert set(chosen) <= {"France", "Italy"}


def test_a_text_search_is_asked_once_and_only_where_a_word_is_left_over(local: KnowledgeGraph) -> None:
    counted = CountedStore(memory_store(local))
    linker = StoreLinker(StoreGraph(counted, "small"))
    linker.link("where was Victor Hugo born?")
    assert "search" not in counted.asked
    linker.link("where was Victr Hugo born in Itly by Lenardo?")
    assert counted.asked.count("search") == 1


def test_what_is_too_far_away_is_suggested(local: KnowledgeGraph) -> None:
    linker = StoreLinker(StoreGraph(memory_store(local), "small"))
    assert [one.entity for one in linker.nearest("Frnce")] == ["France"]
    assert [one.entity for one in linker.nearest("france")] == ["France"]
    assert linker.nearest("Xyzzy") == ()
    assert linker.nearest("Frnce " * 400) == ()  # no store is asked for what is no name


def test_the_path_model_reads_the_name_as_the_graph_spells_it(endpoint: Endpoint) -> None:
    pipeline, made = Pipeline(LOCAL), [SparqlStore(endpoint.url, timeout=20.0) for _ in range(2)]
    pipeline.add_graph("far", StoreGraph(made[0], "far"), StoreFacts(made[1]))
    run = list(pipeline.run("where was Victr Hugo born", Settings(graph="far", compare=False, explain=0)))
    assert any(isinstance(one, events.Notice) and "Victor Hugo" in one.text for one in run)
    final = [one for one in run if isinstance(one, events.AnswerFinal)][-1]
    assert final.answers == ("Besançon",)


letters = st.text(alphabet="abAB é", max_size=5)


@settings(deadline=None)
@given(st.lists(letters.filter(bool), max_size=30), letters)
@example(["ab (c)", "ab (d)", "b"], "abb")
def test_labels_one_slip_away_are_those_of_a_look_at_every_label(labels: list[str], text: str) -> None:
    table = LabelTable.from_labels(labels)
    plain = {label: label.split(" (")[0] for label in table}
    near = {label for label in table if OSA.distance(plain[label], text) == 1}
    found = {table[place] for place in table.one_slip_from(text)}
    assert found <= near
    assert {plain[label] for label in found} == {plain[label] for label in near}


@settings(deadline=None)
@given(st.text(alphabet="abcdefg", min_size=1, max_size=9), st.data())
def test_the_spellings_of_a_word_hold_every_slip(word: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(word)))
    letter = data.draw(st.sampled_from("abxyz"))
    slips = {word[:place] + letter + word[place:], word[:place] + word[place + 1 :]}
    slips.add(word[:place] + letter + word[place + 1 :])
    slips.add(word[:place] + word[place + 1 : place + 2] + word[place : place + 1] + word[place + 2 :])
    for slip in slips - {word, ""}:
        assert word in one_slip_from(slip)
        assert word.title() in one_slip_from(slip.title())
    assert all(OSA.distance(word, one) == 1 for one in one_slip_from(word))


@pytest.mark.parametrize("search", [*SEARCHES, SPELLINGS])
@settings(max_examples=40, deadline=None)
@given(text=st.text(max_size=60))
@example(text="\"'*) OR ('x\" } DROP ALL # \\")
@example(text="~000")
def test_no_text_can_change_what_a_search_asks(search: str, text: str) -> None:
    called = Patterns(SparqlProfile()).called
    found = found_by(search, [text, "Leonardo da Vimci", "Rusia"], as_iri(RDFS_LABEL), 300, called)
    ox.Store().query(f"SELECT ?o ?f WHERE {{ {found} }}")  # it is read, and not run before its rows are taken
    assert "DROP" not in found.replace('"', "").upper() or "DROP" in text.upper()
    for words in words_to_look_for(text):
        assert all(word.rstrip("*").replace("_", "").isalnum() for word in words)


def test_virtuoso_is_asked_for_beginnings_of_four_letters_or_more() -> None:
    found = found_by("virtuoso", ["Leonardo da Vimci"], as_iri(RDFS_LABEL), 300, Patterns(SparqlProfile()).called)
    assert "('leon*' AND 'vimc*') OR ('vimc*') OR ('leona*')" in found


def test_a_profile_names_a_search_that_is_known() -> None:
    with pytest.raises(UserError, match="virtuoso, qlever, wikidata, labels, spellings"):
        SparqlStore("http://127.0.0.1:1/", SparqlProfile(search="lucene"))


def test_the_labels_of_a_large_store_are_not_gone_through(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparql, "_FEW_FACTS", 1)
    store = SparqlStore(endpoint.url, timeout=20.0)
    store.survey()
    meter = Meter()
    token = METER.set(meter)
    try:
        assert [name for name, _ in store.search(["Frnce"])] == ["France"]
    finally:
        METER.reset(token)
    assert meter.requests == 1
    assert "CONTAINS" not in endpoint.queries[-1]
