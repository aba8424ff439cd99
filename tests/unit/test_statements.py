"""Facts stated by nodes of their own, as in Wikidata and Freebase: folded into one relation, and verified so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyoxigraph as ox
import pytest

from kgdemo import events
from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.label_tokens import LabelTokens
from kgdemo.constraint.token_graph import GrowingTokenGraph, TokenGraph
from kgdemo.facts import StatedFacts, Triple
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io.catalogue import StoreFacts, read_profile
from kgdemo.kg.path import Path, PathIds
from kgdemo.kg.stores import sparql
from kgdemo.kg.stores.graph import StoreGraph
from kgdemo.kg.stores.patterns import SparqlProfile
from kgdemo.kg.stores.sparql import SparqlStore
from kgdemo.pipeline import Pipeline
from kgdemo.settings import LOCAL, Settings
from kgdemo.verify import Verifier
from tests.helpers.models import byte_level_tokenizer
from tests.helpers.sparql_server import Endpoint, served
from tests.unit.test_automaton import language

_PREFIXES = """
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix wikibase: <http://wikiba.se/ontology#> .
@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wds: <http://www.wikidata.org/entity/statement/> .
@prefix wdv: <http://www.wikidata.org/value/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix p: <http://www.wikidata.org/prop/> .
@prefix ps: <http://www.wikidata.org/prop/statement/> .
@prefix psv: <http://www.wikidata.org/prop/statement/value/> .
@prefix pq: <http://www.wikidata.org/prop/qualifier/> .
@prefix fb: <http://rdf.freebase.com/ns/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
# Ada was mayor of Springfield twice, Bob of Shelbyville; what was said of Cy is deprecated.
_WIKIDATA = """
wd:Q1 rdfs:label "Ada"@en, "Ade"@de ; wdt:P31 wd:Q9 ; wdt:P39 wd:Q4 ;
  p:P39 wds:Q1-a, wds:Q1-b ; p:P26 wds:Q1-c ; p:P31 wds:Q1-d ; p:P569 wds:Q1-e .
wd:Q2 rdfs:label "Bob"@en ; wdt:P31 wd:Q9 ; p:P39 wds:Q2-a ; p:P26 wds:Q2-b .
wd:Q3 rdfs:label "Cy"@en ; wdt:P31 wd:Q9 ; p:P39 wds:Q3-a ; p:P19 wds:Q3-b .
wd:Q4 rdfs:label "mayor"@en . wd:Q5 rdfs:label "Springfield"@en . wd:Q6 rdfs:label "Shelbyville"@en .
wd:Q9 rdfs:label "human"@en .
wds:Q1-a wikibase:rank wikibase:NormalRank ; ps:P39 wd:Q4 ; pq:P642 wd:Q5 ; pq:P580 "1999" .
wds:Q1-b wikibase:rank wikibase:PreferredRank ; ps:P39 wd:Q4 ; pq:P642 wd:Q5 .
wds:Q1-c wikibase:rank wikibase:NormalRank ; ps:P26 wd:Q2 .
wds:Q1-d wikibase:rank wikibase:NormalRank ; ps:P31 wd:Q9 .
wds:Q1-e wikibase:rank wikibase:NormalRank ; ps:P569 "1960-01-01"^^xsd:date ; psv:P569 wdv:x .
wds:Q2-a wikibase:rank wikibase:NormalRank ; ps:P39 wd:Q4 ; pq:P642 wd:Q6 .
wds:Q2-b wikibase:rank wikibase:NormalRank ; ps:P26 wd:Q1 .
wds:Q3-a wikibase:rank wikibase:DeprecatedRank ; ps:P39 wd:Q4 .
wds:Q3-b wikibase:rank wikibase:NormalRank ; ps:P19 wd:Q5, _:unknown .
"""
_PROPERTIES = {"P39": "position held", "P26": "spouse", "P31": "instance of", "P19": "place of birth", "P642": "of"}
_FOLDED = [
    ("Ada", "position held", "mayor"),
    ("Ada", "spouse", "Bob"),
    ("Bob", "position held", "mayor"),
    ("Bob", "spouse", "Ada"),
    ("Cy", "place of birth", "Springfield"),
]
_QUALIFIED = [("Ada", "position held / of", "Springfield"), ("Bob", "position held / of", "Shelbyville")]
# A marriage is a mediator that leads to both of the married; Freebase states links from both of their ends.
_FREEBASE = """
fb:m.1 fb:type.object.name "Ada"@en ; fb:people.person.spouse_s fb:m.9 ; fb:people.person.nationality fb:m.3 .
fb:m.2 fb:type.object.name "Bob"@en ; fb:people.person.spouse_s fb:m.9 .
fb:m.3 fb:type.object.name "France"@en .
fb:m.9 fb:type.object.type fb:people.marriage ; fb:people.marriage.spouse fb:m.1, fb:m.2 .
fb:people.marriage fb:freebase.type_hints.mediator true .
fb:people.person.spouse_s fb:type.object.type fb:type.property ; fb:type.object.name "Spouse (or domestic partner)"@en ;
  fb:type.property.expected_type fb:people.marriage .
fb:people.marriage.spouse fb:type.object.type fb:type.property ; fb:type.object.name "Spouse"@en ;
  fb:type.property.schema fb:people.marriage ; fb:type.property.expected_type fb:people.person .
fb:people.person.nationality fb:type.object.type fb:type.property ; fb:type.object.name "Country of nationality"@en .
"""
_MARRIED = [
    ("Ada", "Spouse (or domestic partner) / Spouse", "Bob"),
    ("Bob", "Spouse (or domestic partner) / Spouse", "Ada"),
    ("Ada", "Country of nationality", "France"),
]


def _store(*turtle: str) -> ox.Store:
    store = ox.Store()
    store.load("".join([_PREFIXES, *turtle]).encode(), format=ox.RdfFormat.TURTLE)
    return store


def _properties() -> str:
    kinds = (
        f'wd:{p} rdfs:label "{label}"@en ; wikibase:propertyType wikibase:WikibaseItem ; wikibase:claim p:{p} ; '
        f"wikibase:directClaim wdt:{p} ; wikibase:statementProperty ps:{p} ; wikibase:qualifier pq:{p} .\n"
        for p, label in _PROPERTIES.items()
    )
    return "".join(kinds)


_STATEMENTS = read_profile("wikidata-statements", SparqlProfile)
_WITH_QUALIFIERS = replace(
    _STATEMENTS,
    values=(*_STATEMENTS.values, "http://www.wikidata.org/prop/qualifier/P"),
    relations=f"{{ {_STATEMENTS.relations} }} UNION {{ ?named <http://wikiba.se/ontology#claim> ?relation . "
    "?value_named <http://wikiba.se/ontology#qualifier> ?value . ?a ?relation ?b . ?b ?value ?c }",
)
_SHAPES = {
    "wikidata": (_STATEMENTS, _store(_WIKIDATA, _properties()), _FOLDED),
    "qualifiers": (_WITH_QUALIFIERS, _store(_WIKIDATA, _properties()), _FOLDED + _QUALIFIED),
    "freebase": (read_profile("freebase", SparqlProfile), _store(_FREEBASE), _MARRIED),
    "counted": (replace(read_profile("freebase", SparqlProfile), relations=""), _store(_FREEBASE), _MARRIED),
}


@pytest.fixture(params=_SHAPES)
def shape(request: pytest.FixtureRequest) -> Iterator[Shape]:
    profile, store, facts = _SHAPES[request.param]
    with served(store) as endpoint:
        yield Shape(profile, endpoint, facts)


@dataclass(frozen=True, slots=True)
class Shape:
    """A graph with statement nodes at an endpoint, and the facts that it states."""

    profile: SparqlProfile
    endpoint: Endpoint
    facts: list[Triple]

    def store(self) -> SparqlStore:
        """A connection of its own."""
        return SparqlStore(self.endpoint.url, self.profile)


def test_statements_are_read_as_relations_between_entities(shape: Shape) -> None:
    remote, local = StoreGraph(shape.store(), "remote"), KnowledgeGraph.from_triples(shape.facts)
    for label in local.entities:
        here, there = local.entities.find(label), remote.entities.find(label)
        assert here is not None
        assert there is not None
        assert sorted(remote.neighbours(label)) == sorted(local.neighbours(label))
        counts = {remote.step_labels[step]: n for step, n in remote.step_counts(there).items()}
        assert sum(counts.values()) == local.degree(here)
    met = [remote.entities[place] for place in range(len(remote.entities))]
    assert sorted(met) == sorted(local.entities)
    assert {relation for _, relation, _ in shape.facts} <= set(remote.relations)


def test_the_paths_over_statements_are_those_of_the_facts_in_memory(shape: Shape) -> None:
    label_tokens, found = LabelTokens(byte_level_tokenizer()), []
    for kg in (KnowledgeGraph.from_triples(shape.facts), StoreGraph(shape.store(), "remote")):
        ada = kg.entities.find("Ada")
        assert ada is not None
        graph = GrowingTokenGraph(kg, label_tokens) if isinstance(kg, StoreGraph) else TokenGraph(kg, label_tokens)
        paths = language(KGAutomaton(graph, [ada], 2)).items()
        found.append({tokens: {str(kg.labelled(PathIds(*ids))) for ids in own} for tokens, own in paths})
    assert found[0] == found[1]
    assert any(len(tokens) > 1 for tokens in found[0])


def test_the_verifier_asks_for_both_triples_of_a_statement(shape: Shape) -> None:
    verifier = Verifier(StoreFacts(shape.store()))
    paths = [Path((h, t), (r,)) for h, r, t in shape.facts]
    stated = {str(path) for path in paths}
    turned = [Path((t, h), (r,)) for h, r, t in shape.facts]
    before = len(shape.endpoint.queries)
    verifier.expect([*paths, *turned])
    assert len(shape.endpoint.queries) == before + 2
    assert all(verifier.verify(path).faithful for path in paths)
    assert [verifier.verify(path).faithful for path in turned] == [str(path) in stated for path in turned]
    for entity in {head for head, _, _ in shape.facts}:  # both triples are there, but lead back to where they began
        for relation in {relation for _, relation, _ in shape.facts}:
            assert not verifier.verify(Path((entity, entity), (relation,))).faithful


@pytest.mark.parametrize("gone", ["wd:Q2 p:P39 wds:Q2-a", "wds:Q2-a ps:P39 wd:Q4"])
def test_a_fact_is_stated_by_both_triples_or_not_at_all(gone: str) -> None:
    with served(_store(_WIKIDATA, _properties())) as endpoint:
        facts = StoreFacts(SparqlStore(endpoint.url, _STATEMENTS))
        assert facts.holds("Bob", "position held", "mayor")
        endpoint.store.update(_PREFIXES.replace("@prefix", "PREFIX").replace("> .", ">") + f"DELETE DATA {{ {gone} }}")
        facts.forget()
        assert not facts.holds("Bob", "position held", "mayor")
        assert facts.holds("Ada", "position held", "mayor")


def test_what_is_deprecated_is_no_fact() -> None:
    with served(_store(_WIKIDATA, _properties())) as endpoint:
        remote = StoreGraph(SparqlStore(endpoint.url, _STATEMENTS), "remote")
        assert remote.neighbours("Cy") == [("place of birth", "Springfield")]
        assert not StoreFacts(SparqlStore(endpoint.url, _STATEMENTS)).holds("Cy", "position held", "mayor")


def test_hubs_over_statements_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparql, "_HUB", 2)
    wed = [f"fb:m.4{i}" for i in range(4)]
    terms = [f'{one} fb:type.object.name "{one}"@en ; fb:people.person.spouse_s fb:m.9 .\n' for one in wed]
    profile, spouse = _SHAPES["counted"][0], "Spouse (or domestic partner) / Spouse"
    with served(_store(_FREEBASE, *terms, f"fb:m.9 fb:people.marriage.spouse {', '.join(wed)} .")) as endpoint:
        remote = StoreGraph(SparqlStore(endpoint.url, profile), "remote")
        before = len(endpoint.queries)
        ada = remote.entities.find("Ada")
        assert ada is not None
        counts = {remote.step_labels[step]: n for step, n in remote.step_counts(ada, directed=True).items()}
        assert counts == {spouse: 5, "Country of nationality": 1}
        counting = [query for query in endpoint.queries[before:] if "COUNT" in query]
        assert counting
        assert not any("VALUES ?s { <http://rdf.freebase.com/ns/m.1>" in query for query in counting)
        assert len(remote.neighbours("Ada", directed=True)) == 6


def test_a_question_over_statements_is_answered_as_over_the_facts_in_memory() -> None:
    pipeline = Pipeline(LOCAL)
    pipeline.add_graph("local", KnowledgeGraph.from_triples(_FOLDED), StatedFacts(_FOLDED))
    told = []
    with served(_store(_WIKIDATA.replace("wdt:P31 wd:Q9", "wdt:P1 wd:Q9"), _properties())) as endpoint:
        facts = StoreFacts(SparqlStore(endpoint.url, _STATEMENTS))
        pipeline.add_graph("remote", StoreGraph(SparqlStore(endpoint.url, _STATEMENTS), "remote"), facts)
        for graph in ("local", "remote"):
            settings = replace(Settings(), graph=graph, beams=4, compare=False, explain=0)
            run = list(pipeline.run("Who is the spouse of Ada?", settings, ["Ada"]))
            paths = [(e.text, pytest.approx(e.score, abs=1e-3)) for e in run if isinstance(e, events.PathFound)]
            verdicts = [e.verdict for e in run if isinstance(e, events.PathVerified)]
            told.append([paths, verdicts, [(e.text, e.answers) for e in run if isinstance(e, events.AnswerFinal)]])
    assert told[0] == told[1]
    assert told[0][2][0][1] == ("Bob",)
