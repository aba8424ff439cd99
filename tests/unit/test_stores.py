"""A graph behind a store: the same steps, paths, verdicts and answers as in memory; faults stay small."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path as FilePath
from unittest.mock import patch
from urllib.parse import quote

import httpx
import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo import events
from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.label_tokens import LabelTokens
from kgdemo.constraint.token_graph import GrowingTokenGraph, TokenGraph
from kgdemo.errors import UserError
from kgdemo.facts import StatedFacts, Triple
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.kg.io.catalogue import StoreFacts, open_store, operators_stores, read_profile, shipped, with_profile
from kgdemo.kg.io.saved import SavedStore
from kgdemo.kg.path import Path, PathIds
from kgdemo.kg.stores import graph as store_graph
from kgdemo.kg.stores import sparql
from kgdemo.kg.stores.base import METER, CypherProfile, CypherStore, Meter, Store, StoreError
from kgdemo.kg.stores.graph import StoreGraph
from kgdemo.kg.stores.patterns import SparqlProfile, as_iri, as_literal
from kgdemo.kg.stores.sparql import SparqlStore
from kgdemo.linking.stores import StoreLinker
from kgdemo.pipeline import Pipeline
from kgdemo.settings import LOCAL, PUBLIC, Settings
from kgdemo.ui.asking import settings_of
from kgdemo.verify import Verifier
from tests.helpers.models import byte_level_tokenizer
from tests.helpers.sparql_server import ENTITY, RELATION, Endpoint, served, triples_of
from tests.helpers.stores import CountedStore, memory_store, written
from tests.helpers.strategies import graphs
from tests.unit.test_automaton import language

_TRIPLES = [
    ("Paris", "capital of", "France"),
    ("Paris", "located in", "France"),
    ("Lyon", "located in", "France"),
    ("France", "borders", "Spain"),
    ("Spain", "borders", "France"),
    ("Madrid", "capital of", "Spain"),
    ("Madrid", "located in", "Spain"),
    ("Victor Hugo", "born in", "Besançon"),
    ("Besançon", "located in", "France"),
    ("Victor Hugo", "died in", "Paris"),
    ('The "Louvre" \\ -> museum', "located in", "Paris"),
    ("Ouroboros", "eats", "Ouroboros"),
]
_TYPES = {
    "Paris": "city",
    "Lyon": "city",
    "Madrid": "city",
    "Besançon": "city",
    "France": "country",
    "Spain": "country",
}


@pytest.fixture(scope="module")
def local() -> KnowledgeGraph:
    info = {label: EntityInfo(kind) for label, kind in _TYPES.items()}
    return KnowledgeGraph.from_triples(_TRIPLES, "small", info=info)


@pytest.fixture
def endpoint(local: KnowledgeGraph) -> Iterator[Endpoint]:
    with served(triples_of(local)) as running:
        yield running


def _store(endpoint: Endpoint, timeout: float = 20.0) -> SparqlStore:
    return SparqlStore(endpoint.url, timeout=timeout)


@pytest.fixture(scope="module")
def folder(local: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> FilePath:
    return written(local, tmp_path_factory.mktemp("ladybug") / "small")


@pytest.fixture(params=["sparql", "cypher", "saved"])
def store(request: pytest.FixtureRequest, endpoint: Endpoint, folder: FilePath, local: KnowledgeGraph) -> Store:
    if request.param == "saved":
        return SavedStore(local)
    return _store(endpoint) if request.param == "sparql" else CypherStore(folder)


def test_steps_counts_and_relation_paths_are_those_of_the_graph_in_memory(local: KnowledgeGraph, store: Store) -> None:
    remote = StoreGraph(store, "small")
    assert (len(remote), remote.step_labels, remote.types) == (len(local), local.step_labels, local.types)
    for label in local.entities:
        here, there = local.entities.find(label), remote.entities.find(label)
        assert here is not None
        assert there is not None
        for directed in (False, True):
            assert remote.degree(there, directed) == local.degree(here, directed)
            assert remote.neighbours(label, directed) == local.neighbours(label, directed)
            for ours, theirs in zip(
                remote.relation_paths(there, 2, directed), local.relation_paths(here, 2, directed), strict=True
            ):
                assert {tuple(walk) for walk in ours.tolist()} == {tuple(walk) for walk in theirs.tolist()}
        assert remote.type_of(there) == local.type_of(here)
    assert [remote.alike(label) for label in remote.step_labels] == [local.alike(label) for label in local.step_labels]


def test_a_walk_back_finds_the_path_that_the_graph_in_memory_finds(local: KnowledgeGraph, store: Store) -> None:
    remote = StoreGraph(store, "small")
    found = []
    for kg in (local, remote):
        topic = kg.entities.find("Lyon")
        assert topic is not None
        layers = kg.reach(topic, ["located in", "borders"])
        found.append([str(kg.labelled(kg.path_to(layers, ["located in", "borders"], e))) for e in layers[-1].tolist()])
    assert found[0] == found[1]
    assert len(found[0]) == 1


@settings(max_examples=60, deadline=None)
@given(triples=graphs(), hops=st.integers(1, 2), directed=st.booleans(), few=st.integers(0, 3), data=st.data())
def test_the_paths_over_a_store_are_those_in_memory(triples, hops, directed, few, data) -> None:
    local = KnowledgeGraph.from_triples(triples[:10])
    topics = data.draw(st.lists(st.sampled_from(list(local.entities)), min_size=1, max_size=2))
    label_tokens = LabelTokens(byte_level_tokenizer())
    found = []
    with patch.multiple(store_graph, FEW_ENDS=few, MANY_ROWS=few, MAX_AHEAD=data.draw(st.sampled_from([0, 2, 256]))):
        remote = StoreGraph(memory_store(local), "small")
        for kg, graph in ((local, TokenGraph), (remote, GrowingTokenGraph)):
            places = [place for topic in topics if (place := kg.entities.find(topic)) is not None]
            automaton = KGAutomaton(graph(kg, label_tokens, directed), places, hops)
            paths = language(automaton).items()
            found.append({tokens: {str(kg.labelled(PathIds(*ids))) for ids in own} for tokens, own in paths})
    assert found[0] == found[1]


def test_all_paths_of_two_hops_are_walked_in_two_requests(local: KnowledgeGraph) -> None:
    store = memory_store(local)
    remote = StoreGraph(store, "small")
    paris = remote.entities.find("Paris")
    assert paris is not None
    store.asked.clear()
    automaton = KGAutomaton(GrowingTokenGraph(remote, LabelTokens(byte_level_tokenizer())), [paris], 2)
    assert len(language(automaton)) > 10
    assert store.asked == ["relations", "relations"]


def test_what_is_asked_of_one_end_is_asked_of_the_others_too() -> None:
    around = [("Hub", "lists", f"entry {i}") for i in range(30)] + [(f"entry {i}", "is", "a thing") for i in range(30)]
    store = memory_store(KnowledgeGraph.from_triples(around))
    remote = StoreGraph(store, "hub")
    ends = [end for _, end in remote.neighbours("Hub")]
    store.asked.clear()
    assert all(("is", "a thing") in remote.neighbours(end, directed=True) for end in ends)
    assert store.asked == ["relations"]


def test_one_request_fetches_what_was_expected(endpoint: Endpoint) -> None:
    remote = StoreGraph(_store(endpoint), "small")
    france = remote.entities.find("France")
    assert france is not None
    _, ends = remote.steps(france)
    before = len(endpoint.queries)
    remote.expect(ends)
    for end in ends.tolist():
        remote.steps(end)
    assert len(endpoint.queries) == before + 1


def test_a_hub_is_counted_and_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = KnowledgeGraph.from_triples([("Hub", "lists", f"entry {i:04}") for i in range(300)] + [("Hub", "is", "here")])
    monkeypatch.setattr(store_graph, "MAX_EDGES", 100)
    monkeypatch.setattr(store_graph, "MAX_ENDS", 20)
    with served(triples_of(hub)) as endpoint:
        remote = StoreGraph(_store(endpoint), "hub")
        place = remote.entities.find("Hub")
        assert place is not None
        steps, _ = remote.steps(place)
        assert len(steps) == 21
        assert remote.degree(place) == 301
        assert "300 ends" in remote.cut[0]
        assert remote.is_cut("Hub", "lists")
        assert not remote.is_cut("Hub", "is")
        found = remote.store.ends([(ENTITY + "Hub", RELATION + "lists", True)], limit=5)
        assert len(found.edges) == 5
        assert not found.complete


@pytest.mark.parametrize("hub_first", [True, False])
def test_what_leads_to_a_hub_itself_is_among_its_ends(monkeypatch: pytest.MonkeyPatch, hub_first: bool) -> None:
    around = [(f"entry {i:03}", "in", "Hub") for i in range(200)] + [("Maker", "made", "entry 107")]
    monkeypatch.setattr(store_graph, "MAX_ENDS", 3)
    remote = StoreGraph(memory_store(KnowledgeGraph.from_triples(around)), "hub")
    for label in ("Hub", "entry 107") if hub_first else ("entry 107", "Hub"):
        remote.neighbours(label)
    assert remote.is_cut("Hub", "~in")
    assert len(remote.neighbours("Hub")) == 4
    assert ("~in", "entry 107") in remote.neighbours("Hub")
    place, hub = remote.entities.find("entry 107"), remote.entities.find("Hub")
    assert place is not None
    assert hub is not None
    graph = GrowingTokenGraph(remote, LabelTokens(byte_level_tokenizer()))
    for _ in range(2):  # the second question finds the hub's ends as the first one left them
        paths = language(KGAutomaton(graph, [hub], 1)).values()
        said = {str(remote.labelled(PathIds(*ids))) for own in paths for ids in own}
        assert len(said) == 4
        assert "Hub -> ~in -> entry 107" in said


def test_the_ends_of_a_hub_are_not_counted_as_if_they_were_all(monkeypatch: pytest.MonkeyPatch) -> None:
    people = [f"{first} {last}" for first in ("Ann", "Bob", "Cy", "Di") for last in ("Hill", "Wood", "Marsh")]
    triples = [(one, "born in", "Big City") for one in people]
    kg = KnowledgeGraph.from_triples(triples, info={one: EntityInfo("person") for one in people})
    pipeline, said = Pipeline(LOCAL), []
    for most in (100, 5):
        monkeypatch.setattr(store_graph, "MAX_ENDS", most)
        pipeline.add_graph("remote", StoreGraph(memory_store(kg), "remote"), StatedFacts(triples))
        run = _run(pipeline, "remote", "How many people were born in Big City?", "Big City")
        said += [event.text for event in run if isinstance(event, events.AnswerFinal)]
    assert said[0].startswith("The graph holds 12 people")
    assert said[1] == "There are more of them than are read from this graph, so I cannot count them."


def test_the_ends_of_a_hub_are_counted_once_when_the_store_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    around = [("Hub", "lists", f"entry {i}") for i in range(30)] + [(f"entry {i}", "in", "Hub") for i in range(25)]
    kg = KnowledgeGraph.from_triples(
        [*around, ("Hub", "is", "here"), ("there", "lists", "Hub"), ("entry 3", "is", "x")]
    )
    monkeypatch.setattr(sparql, "_HUB", 20)
    with served(triples_of(kg)) as endpoint:
        remote = StoreGraph(_store(endpoint), "hub")
        before = len(endpoint.queries)
        for label in ("Hub", "entry 3", "here"):
            assert remote.entities.known([label]) == [label]
            here, there = kg.entities.find(label), remote.entities.find(label)
            assert here is not None
            assert there is not None
            counts = {remote.step_labels[step]: n for step, n in remote.step_counts(there).items()}
            steps = [kg.step_labels[step] for step in kg.steps(here)[0].tolist()]
            assert counts == {step: steps.count(step) for step in set(steps)}
            assert sorted(remote.neighbours(label)) == sorted(kg.neighbours(label))
        counting = [query for query in endpoint.queries[before:] if "COUNT" in query]
        assert counting
        assert not any(f"VALUES ?s {{ <{ENTITY}Hub>" in query for query in counting)


def test_two_entities_of_one_label_stay_two() -> None:
    label, store = ox.NamedNode("http://www.w3.org/2000/01/rdf-schema#label"), ox.Store()
    fargo = [ox.NamedNode(ENTITY + name) for name in ("Q1", "Q2")]
    by, made = ox.NamedNode(RELATION + "by"), ox.NamedNode(ENTITY + "Q3")
    for node in fargo:
        store.add(ox.Quad(node, label, ox.Literal("Fargo", language="en")))
    store.add(ox.Quad(made, label, ox.Literal("Coen", language="en")))
    store.add(ox.Quad(fargo[1], by, made))
    store.add(ox.Quad(fargo[0], by, fargo[1]))
    with served(store) as endpoint:
        remote, verifier = StoreGraph(_store(endpoint), "films"), Verifier(StoreFacts(_store(endpoint)))
        assert remote.neighbours("Fargo") == [("by", "Fargo (Q2)")]
        assert verifier.verify(Path(("Fargo (Q2)", "Coen"), ("by",))).faithful
        assert not verifier.verify(Path(("Fargo (Q1)", "Coen"), ("by",))).faithful


def test_the_verifier_asks_the_store_itself(local: KnowledgeGraph, endpoint: Endpoint) -> None:
    asked, stated = Verifier(StoreFacts(_store(endpoint))), Verifier(StatedFacts(_TRIPLES))
    paths = [Path((h, t), (r,)) for h, r, t in _TRIPLES] + [Path((t, h), ("~" + r,)) for h, r, t in _TRIPLES]
    paths += [Path((t, h), (r,)) for h, r, t in _TRIPLES] + [Path(("Paris", "Nowhere"), ("located in",))]
    before = len(endpoint.queries)
    asked.expect(paths, ["Lyon"])
    assert len(endpoint.queries) <= before + 2
    for path in paths:
        verdicts = [[hop.verdict for hop in verifier.verify(path).hops] for verifier in (asked, stated)]
        assert verdicts[0] == verdicts[1]
    endpoint.store.update(f"DELETE WHERE {{ <{ENTITY}Paris> <{RELATION}located%20in> ?o }}")
    assert isinstance(asked.facts, StoreFacts)
    asked.facts.forget()
    assert not asked.verify(Path(("Paris", "France"), ("located in",))).faithful


def test_names_in_a_question_are_looked_up_in_one_request(endpoint: Endpoint) -> None:
    linker = StoreLinker(StoreGraph(_store(endpoint), "small"))
    before = len(endpoint.queries)
    linking = linker.link("where did victor hugo die, in Paris?")
    assert linking.chosen == ("Victor Hugo", "Paris")
    assert len(endpoint.queries) <= before + 3


def test_other_names_and_demonyms_are_known_behind_a_store() -> None:
    kg = KnowledgeGraph.from_triples(
        [("Union of South Africa", "borders", "United States of America"), ("Italy", "borders", "Dutch")]
    )
    linker = StoreLinker(StoreGraph(memory_store(kg), "far"))
    assert linker.link("what is north of the usa?").chosen == ("United States of America",)
    assert linker.link("when did italian fascists come to power").chosen == ("Italy",)
    assert linker.link("what is Dutch").chosen == ("Dutch",)  # and no Netherlands, which would be looked up by it


def test_types_and_relations_are_no_entities(endpoint: Endpoint) -> None:
    assert [text for text, _ in _store(endpoint).find(["city", "located in", "Paris"])] == ["Paris"]


def test_texts_cannot_change_a_query() -> None:
    assert as_literal('a" } DROP\n\\') == '"a\\" } DROP\\n\\\\"'
    for bad in ("http://x/> ?s", "no iri", 'http://x/"', "http://x/\n", ""):
        with pytest.raises(StoreError):
            as_iri(bad)


def test_a_run_has_a_budget_of_requests(endpoint: Endpoint) -> None:
    store = _store(endpoint)
    token = METER.set(Meter(limit=2))
    try:
        store.find(["Paris"])
        store.find(["Lyon"])
        with pytest.raises(StoreError, match="2 requests"):
            store.find(["Madrid"])
    finally:
        METER.reset(token)


@pytest.mark.parametrize(
    "reply", [b"", b"<html>", b"[]", b'{"results": {"bindings": 3}}', b'{"results": {"bindings": [{"s": 1}]}}']
)
def test_garbage_is_one_sentence(endpoint: Endpoint, reply: bytes) -> None:
    endpoint.fault = lambda _, __: reply
    with pytest.raises(StoreError, match="no usable answer"):
        _store(endpoint).relations([ENTITY + "Paris"])


def test_a_slow_store_is_one_sentence() -> None:
    def slow(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("late", request=request)

    client = httpx.Client(transport=httpx.MockTransport(slow))
    with pytest.raises(StoreError, match="in time"):
        SparqlStore("http://store.test/query", client=client).find(["Paris"])


def test_profiles_that_ship_can_be_read_and_bad_ones_say_why(tmp_path: FilePath) -> None:
    assert {"wikidata", "dbpedia", "freebase"} <= set(shipped())
    assert all(read_profile(name, SparqlProfile).facts for name in shipped())
    assert read_profile("", SparqlProfile) == SparqlProfile()
    bad = tmp_path / "bad.json"
    for text in ('{"labels": "x"}', "[]", "{", '{"label": 3}', '{"facts": "x"}'):
        bad.write_text(text)
        with pytest.raises(UserError, match="profile"):
            read_profile(str(bad), SparqlProfile)


def test_a_profile_is_given_beside_a_store_alone() -> None:
    assert (
        with_profile("sparql:http://localhost:7878/query", "wikidata") == "sparql:http://localhost:7878/query#wikidata"
    )
    assert with_profile("sparql:http://localhost:7878/query#dbpedia", "my.json").endswith("/query#my.json")
    with pytest.raises(UserError, match="world is none"):
        with_profile("world", "wikidata")


def test_relations_that_are_labels_of_their_own_are_read_too(tmp_path: FilePath) -> None:
    ladybug = pytest.importorskip("ladybug")
    with ladybug.Database(tmp_path / "films", buffer_pool_size=100_000_000) as database:
        connection = ladybug.Connection(database)
        connection.execute("CREATE NODE TABLE Person(name STRING PRIMARY KEY)")
        connection.execute("CREATE NODE TABLE Film(name STRING PRIMARY KEY)")
        connection.execute("CREATE REL TABLE directed(FROM Person TO Film)")
        connection.execute("CREATE (:Person {name: 'Nolan'})-[:directed]->(:Film {name: 'Inception'})")
        connection.close()
    profile = CypherProfile(id="name", label="name", type="", relation="")
    remote = StoreGraph(CypherStore(tmp_path / "films", profile), "films")
    assert remote.neighbours("Inception") == [("~directed", "Nolan")]
    assert {remote.type_of(place) for place in (0, 1)} == {"Person", "Film"}
    verifier = Verifier(StoreFacts(CypherStore(tmp_path / "films", profile)))
    assert verifier.verify(Path(("Inception", "Nolan"), ("~directed",))).faithful
    with pytest.raises(UserError, match="letters"):
        CypherProfile(label="name) DETACH DELETE (o")


def test_a_folder_that_is_no_store_is_one_sentence(tmp_path: FilePath) -> None:
    with pytest.raises(UserError, match="no graph store"):
        open_store(f"cypher:{tmp_path / 'nowhere'}")
    (tmp_path / "text").write_text("no database")
    with pytest.raises(UserError, match="cannot be opened"):
        open_store(f"cypher:{tmp_path / 'text'}")


def test_visitors_choose_among_the_operators_stores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGDEMO_STORES", "films=sparql:http://localhost:1/query#wikidata")
    assert operators_stores() == {"films": "sparql:http://localhost:1/query#wikidata"}
    assert settings_of({"graph": "films"}, PUBLIC).graph == "films"
    for source in ("sparql:http://localhost:1/query", "sparql:http://169.254.169.254/", "cypher:/etc"):
        with pytest.raises(UserError):
            settings_of({"graph": source}, PUBLIC)
    with pytest.raises(UserError, match="sparql:"):
        open_store("sparql:file:///etc/passwd")
    monkeypatch.setenv("KGDEMO_STORES", "films")
    with pytest.raises(UserError, match="KGDEMO_STORES"):
        operators_stores()


# whole runs ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pipeline(local: KnowledgeGraph) -> Pipeline:
    made = Pipeline(LOCAL)
    made.add_graph("small", local, StatedFacts(_TRIPLES))
    return made


def _run(pipeline: Pipeline, source: str, question: str, topic: str) -> list[events.Event]:
    settings = replace(Settings(), graph=source, beams=4, compare=False, explain=0)
    return list(pipeline.run(question, settings, [topic]))


def _told(run: list[events.Event]) -> list[object]:
    """Paths with their scores, verdicts and the answer."""
    paths = [(e.text, pytest.approx(e.score, abs=1e-3)) for e in run if isinstance(e, events.PathFound)]
    verdicts = [e.verdict for e in run if isinstance(e, events.PathVerified)]
    answers = [(e.text, e.answers, e.citations) for e in run if isinstance(e, events.AnswerFinal)]
    return [paths, verdicts, answers]


_BASES = (ENTITY, RELATION, ENTITY)


def _facts_of(path: Path | None) -> set[Triple]:
    """The triples that a path walks, whichever way."""
    assert path is not None
    hops = zip(path.entities, path.relations, path.entities[1:], strict=False)
    return {(t, r[1:], h) if r.startswith("~") else (h, r, t) for h, r, t in hops}


_FAULTS = ("killed", "slow", "garbled", "changed")
_QUESTIONS = [("What is Paris the capital of?", "Paris"), ("Where was Victor Hugo born?", "Victor Hugo")]


@pytest.mark.parametrize("kind", ["sparql", "cypher"])
def test_a_question_over_a_store_has_the_same_paths_verdicts_and_answer(
    pipeline: Pipeline, endpoint: Endpoint, folder: FilePath, kind: str
) -> None:
    source = f"sparql:{endpoint.url}" if kind == "sparql" else f"cypher:{folder}"
    for question, topic in _QUESTIONS:
        here = _run(pipeline, "small", question, topic)
        there = _run(pipeline, source, question, topic)
        assert _told(there) == _told(here)
        assert any(isinstance(e, events.PathFound) for e in there)
        notices = [e.text for e in there if isinstance(e, events.Notice)]
        assert any("graph store answered" in text for text in notices)
    pipeline.forget_graph(source)


@pytest.mark.parametrize("few", [store_graph.FEW_ENDS, 0])
def test_the_decoder_asks_a_store_once_a_hop(
    pipeline: Pipeline, store: Store, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_graph, "FEW_ENDS", few)  # with 0 all that lies two hops away waits for its relation
    if not few:
        monkeypatch.setattr(store_graph, "MANY_ROWS", 100)
    counted = CountedStore(store)
    for question, topic in _QUESTIONS:
        pipeline.add_graph("remote", StoreGraph(counted, "small"), StatedFacts(_TRIPLES))
        counted.asked.clear()
        asked: dict[type[events.Event], int] = {}  # before the last event of each kind
        for event in pipeline.run(question, replace(Settings(), graph="remote", compare=False, explain=0), [topic]):
            asked[type(event)] = len(counted.asked)
        pipeline.forget_graph("remote")
        looked_up, decoded = asked[events.EntitiesLinked], asked[events.DecodeStep]
        assert counted.asked[:looked_up] == ["look_up"]
        assert decoded - looked_up <= Settings().hops
        assert decoded - looked_up >= 1


def test_what_a_store_no_longer_states_is_refused_and_answers_nothing(pipeline: Pipeline, endpoint: Endpoint) -> None:
    (question, topic), source = _QUESTIONS[1], f"sparql:{endpoint.url}"
    pipeline.forget_graph(source)

    def forgotten(_: int, reply: bytes) -> bytes:
        if "VALUES (?s ?p ?o)" in endpoint.queries[-1]:  # the verifier's question for facts: none of them is there now
            return b'{"results": {"bindings": []}}'
        return reply

    endpoint.fault = forgotten
    run = _run(pipeline, source, question, topic)
    verdicts = [e.verdict for e in run if isinstance(e, events.PathVerified)]
    assert verdicts
    assert not any(verdict.faithful for verdict in verdicts)
    assert not any(e.citations for e in run if isinstance(e, events.AnswerFinal))
    pipeline.forget_graph(source)


def test_what_no_name_is_found_for_is_said_and_no_word_is_corrected(pipeline: Pipeline, endpoint: Endpoint) -> None:
    source = f"sparql:{endpoint.url}"
    run = list(pipeline.run("wher is the capitol of nothing", replace(Settings(), graph=source)))
    (answer,) = [event for event in run if isinstance(event, events.AnswerFinal)]
    assert "name one as the graph spells it" in answer.refusal
    assert not any(isinstance(event, events.Notice) and "Read as" in event.text for event in run)
    pipeline.forget_graph(source)


def test_a_store_that_fails_at_any_moment_shows_nothing_unverified(
    pipeline: Pipeline, endpoint: Endpoint, local: KnowledgeGraph
) -> None:
    """Gone, slower than a request may take, garbled, or changed between two requests, at 50 random moments."""
    question, topic = _QUESTIONS[0]
    draw, failed, facts = random.Random(3), dict.fromkeys(_FAULTS, 0), sorted(set(_TRIPLES))
    survey = _store(endpoint).survey()
    for place in range(50):
        kind, moment = _FAULTS[place % len(_FAULTS)], draw.randrange(8)
        endpoint.fault, released = None, threading.Event()
        endpoint.store = triples_of(local)
        stores = [_store(endpoint, timeout=0.3 if kind == "slow" else 20.0) for _ in range(2)]
        stated: list[set[Triple]] = []  # each time that the verifier asked for facts
        gone = draw.sample(facts, 4)

        def fault(
            number: int,
            proper: bytes,
            kind: str = kind,
            moment: int = moment,
            released: threading.Event = released,
            stated: list[set[Triple]] = stated,
            gone: list[Triple] = gone,
        ) -> bytes | None:
            if number >= moment and kind == "slow":
                released.wait(5)
            if number == moment and kind == "changed":
                for triple in gone:
                    ids = [base + quote(part, safe="") for base, part in zip(_BASES, triple, strict=True)]
                    endpoint.store.remove(ox.Quad(*map(ox.NamedNode, ids)))
            if "VALUES (?s ?p ?o)" in endpoint.queries[-1]:
                stated.append(set(_TRIPLES) - (set(gone) if kind == "changed" and number > moment else set()))
            if number >= moment and kind == "garbled":
                return draw.choice(
                    [b"", b"{}", b'{"results": {"bindings": [{}]}}', proper[: len(proper) // 2], b"\xff"]
                )
            return None if number >= moment and kind == "killed" else proper

        with patch.object(SparqlStore, "survey", return_value=survey):
            facts_of_store = StoreFacts(stores[1])
            pipeline.add_graph("failing", StoreGraph(stores[0], "small"), facts_of_store)
            endpoint.queries.clear()
            endpoint.fault = fault
            run = _run(pipeline, "failing", question, topic)
        released.set()
        assert isinstance(run[-1], (events.RunFinished, events.RunFailed))
        failed[kind] += isinstance(run[-1], events.RunFailed)
        found = {e.index: e.path for e in run if isinstance(e, events.PathFound)}
        verdicts = {e.index: e.verdict for e in run if isinstance(e, events.PathVerified) and e.verdict}
        assert found.keys() == verdicts.keys()
        for index, verdict in verdicts.items():
            if verdict.faithful:
                assert any(_facts_of(found[index]) <= then for then in stated), (kind, moment, found[index])
        endpoint.fault = None
    assert all(failed[kind] for kind in ("killed", "slow", "garbled")), failed
    pipeline.forget_graph("failing")
    endpoint.store = triples_of(local)
    assert isinstance(_run(pipeline, "small", question, topic)[-1], events.RunFinished)
