"""What a description fits: every word is accounted for by what the graph states, or the member is ruled out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.answering import described as described_by
from kgdemo.answering.computation import SAYS_LITTLE
from kgdemo.answering.described import Described, Found
from kgdemo.answering.description import Description
from kgdemo.answering.fitting import Fitting
from kgdemo.answering.operands import Sets, operand_of
from kgdemo.answering.operations import described
from kgdemo.answering.telling import Fit
from kgdemo.events import AnswerFinal, Operation
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.kg.stores.base import StoreError
from kgdemo.kg.stores.graph import StoreGraph
from kgdemo.models.embedding import sentence_embedder
from kgdemo.pipeline import Pipeline
from kgdemo.query.form import understand
from kgdemo.settings import Settings
from tests.helpers.stores import memory_store


def no_office(noun: str) -> str:
    return ""


def fitting(kg: KnowledgeGraph, question: str) -> Found:
    return Described(Sets(kg), sentence_embedder(), no_office).fitting(question)


def asked(pipeline: Pipeline, question: str) -> tuple[list[Operation], AnswerFinal]:
    events = list(pipeline.run(question, Settings(compare=False, explain=0)))
    final = next(event for event in events if isinstance(event, AnswerFinal))
    return [event for event in events if isinstance(event, Operation)], final


@pytest.mark.parametrize(
    ("question", "members"),
    [
        ("which programming language was designed by a Dutch programmer and first appeared in 1991", {"Python"}),
        ("Which of the Beatles was born in 1942", {"Paul McCartney"}),
        ("which halogen is a liquid at room temperature", {"Bromine"}),
        ("Which planet has no moons and is not Mercury", {"Venus"}),
        ("which element is liquid at room temperature but isn't a metal", {"Bromine"}),
        ("which river flows through Vienna and Budapest", {"Danube"}),
        ("Who wrote Pippi Longstocking", {"Astrid Lindgren"}),
        ("which cartoonist created Tintin", {"Hergé"}),
        ("which countries use the euro and drive on the left", {"Cyprus", "Ireland", "Malta"}),
    ],
)
def test_what_fits_every_word_is_found(world: KnowledgeGraph, question: str, members: set[str]) -> None:
    assert {member.split(" (")[0] for member in fitting(world, question).members} == members


@pytest.mark.parametrize(
    "question",
    [
        "which halogen is a liquid at room temperature and was discovered by Isaac Newton",  # nothing joins the two
        "which river flows through Vienna and was painted by Vermeer",
        "Which of the Beatles was born in 1902",
        "which planet is inhabited by dragons",  # a word that no statement says
        "what is the largest planet",  # an order, which is computed elsewhere
        "who was the teacher of the philosopher who wrote The Republic",  # asks for somebody else than it describes
        "What are the four big moons of Jupiter that Galileo saw and named after Zeus",  # fewer fit than it says
        "when did the Beatles split up",
        "",
        ",",
    ],
)
def test_what_is_not_accounted_for_rules_out(world: KnowledgeGraph, question: str) -> None:
    assert not fitting(world, question).members


def test_a_further_clause_that_nothing_says_is_owned_to(world: KnowledgeGraph) -> None:
    found = fitting(world, "which river flows through Vienna and Budapest and hums old songs")
    assert set(found.members) == {"Danube"}
    assert "hums" in found.unsaid


def test_each_name_year_and_number_counts_as_a_condition(world: KnowledgeGraph) -> None:
    assert fitting(world, "which river flows through Vienna and Budapest").conditions == 2
    assert fitting(world, "which cartoonist created Tintin").conditions == 1


@pytest.mark.parametrize(
    ("words", "clauses", "negated"),
    [
        ("planet has no moons and is not Mercury", [{"moons"}, {"mercury"}], [True, True]),
        ("language was designed by a Dutch programmer", [{"designed", "dutch", "programmer"}], [False]),
        ("bird that cannot fly but swims", [{"fly"}, {"swims"}], [True, False]),
        ("planet", [], []),
    ],
)
def test_a_description_is_read_clause_by_clause(
    world: KnowledgeGraph, words: str, clauses: list[set[str]], negated: list[bool]
) -> None:
    read = Description(world, words.split(), range(1), SAYS_LITTLE)
    assert [{read.words[place] for place in phrase.places} for phrase in read.phrases] == clauses
    assert [phrase.negated for phrase in read.phrases] == negated


@pytest.mark.parametrize(
    ("words", "bounds"),
    [
        ("born in 1942", ["= 1942"]),
        ("released before 1980", ["< 1980"]),
        ("released in the 1990s", [">= 1990 and <= 1999"]),
        ("active in the 1800s", [">= 1800 and <= 1899"]),
        ("assassinated in the 19th century", [">= 1801 and <= 1900"]),
        ("with 88 keys", []),
    ],
)
def test_years_decades_and_centuries_are_bounds(world: KnowledgeGraph, words: str, bounds: list[str]) -> None:
    assert list(Description(world, words.split(), range(0), SAYS_LITTLE).bounds.values()) == bounds


def test_a_group_is_narrowed_by_what_joins_its_members() -> None:
    triples = [(river, "instance of", "northern river") for river in ("Elbe", "Weser", "Tweed")]
    triples += [("northern river", "has instance", river) for river in ("Elbe", "Weser", "Tweed")]
    triples += [
        ("Elbe", "located in", "Germany"),
        ("Weser", "located in", "Germany"),
        ("Tweed", "located in", "Scotland"),
    ]
    info = {"Germany": EntityInfo("country"), "northern river": EntityInfo("kind")}
    kg = KnowledgeGraph.from_triples([*triples, ("Germany", "borders", "Norway")], info=info)
    assert set(fitting(kg, "which northern rivers are in Germany").members) == {"Elbe", "Weser"}


def test_members_may_fit_by_different_means(pipeline: Pipeline) -> None:
    kg = pipeline.opened("world").kg
    paths = [Path((year, one), ("release year of",)) for year, one in (("1991", "Python (programming language)"),)]
    dated = operand_of(kg, "Python (programming language)", ("released",))
    assert dated is not None
    java = Path(("programming language", "Java (programming language)"), ("has instance",))
    members = {
        "Java (programming language)": Fit([java]),
        "Python (programming language)": Fit(paths, [(dated, "= 1991")]),
    }
    query = understand("which programming languages appeared in 1991", (), kg)
    fitted = Fitting(query, lambda _: iter(()), pipeline.resources(Settings()), lambda _: (), False)
    for order in (list(members), list(members)[::-1]):
        events = list(fitted.events(Found("languages", {one: members[one] for one in order})))
        assert [(event.kind, len(event.result)) for event in events if isinstance(event, Operation)] == [
            ("step", 2),
            ("filter", 1),
        ]
        assert all(event.verified for event in events if isinstance(event, Operation))


_OF_TWO_NAMES = [
    ("which river flows through Vienna and Budapest", {"Danube"}),
    (
        "which programming language was designed by a Dutch programmer and appeared in 1991",
        {"Python (programming language)"},
    ),
    ("which countries border Germany and France", {"Belgium", "Luxembourg", "Switzerland"}),
    ("which river flows through Vienna", set()),  # one name: what the search finds is the answer
]


@pytest.mark.parametrize(("question", "members"), _OF_TWO_NAMES)
def test_behind_a_store_members_are_looked_for_around_what_is_named(
    pipeline: Pipeline, question: str, members: set[str]
) -> None:
    store = memory_store(pipeline.opened("world").kg)
    found = fitting(StoreGraph(store, "world"), question)
    assert set(found.members) == members
    assert len(store.asked) <= 12


def test_behind_a_store_the_same_is_answered_as_in_memory(pipeline: Pipeline) -> None:
    kg = pipeline.opened("world").kg
    query = understand("which river flows through Vienna and Budapest", (), kg)
    here, resources = [], pipeline.resources(Settings())
    for graph in (kg, StoreGraph(memory_store(kg), "world")):
        events = list(described(query, replace(resources, kg=graph), lambda _: (), False))
        assert all(event.verified for event in events if isinstance(event, Operation))
        here.append([event for event in events if isinstance(event, AnswerFinal)])
    assert here[0] == here[1]
    assert here[0]


def test_behind_a_store_no_more_is_read_than_a_question_may(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    question, store = _OF_TWO_NAMES[0][0], memory_store(pipeline.opened("world").kg)
    assert fitting(StoreGraph(store, "world"), question).members
    monkeypatch.setattr(described_by, "_MOST_READ", 10)  # edges around what is named
    assert not fitting(StoreGraph(store, "world"), question).members
    monkeypatch.undo()
    monkeypatch.setattr(described_by, "_MOST_MET", 0)  # things that may fit it
    assert not fitting(StoreGraph(store, "world"), question).members


def test_behind_a_store_that_fails_nothing_is_described(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    question, store = _OF_TWO_NAMES[0][0], memory_store(pipeline.opened("world").kg)

    def too_slow(*_: object) -> None:
        raise StoreError("The graph store did not answer in time.")

    monkeypatch.setattr(store, "relations", too_slow)
    graph = StoreGraph(store, "world")
    with pytest.raises(StoreError):
        fitting(graph, question)
    resources = replace(pipeline.resources(Settings()), kg=graph)
    assert not list(described(understand(question, (), graph), resources, lambda _: (), False))


_LIKED, _OWNED = ("Amber", "Basalt", "Copper"), ("Xylophone", "Yacht", "Zither")
_MEMBERS = tuple(f"Robot {n}" for n in range(6))
_EDGES = st.sets(st.tuples(st.sampled_from(_MEMBERS), st.sampled_from(_LIKED + _OWNED)), min_size=1)


@settings(max_examples=60, deadline=None)
@given(edges=_EDGES, liked=st.sampled_from(_LIKED), owned=st.sampled_from(_OWNED), negated=st.booleans())
def test_what_fits_two_conditions_is_what_both_lead_to(
    edges: set[tuple[str, str]], liked: str, owned: str, negated: bool
) -> None:
    relation = {**dict.fromkeys(_LIKED, "likes"), **dict.fromkeys(_OWNED, "owns")}
    triples = [(member, relation[end], end) for member, end in sorted(edges)]
    triples += [(member, "made in", "Factory") for member in _MEMBERS]
    info = {member: EntityInfo("robot", ()) for member in _MEMBERS}
    kg = KnowledgeGraph.from_triples(triples, info=info)
    joined = {member for member in _MEMBERS if (member, owned) in edges}
    expected = {m for m in _MEMBERS if (m, liked) in edges} - joined if negated else joined
    if not negated:
        expected = {member for member in joined if (member, liked) in edges}
    elif not joined:  # nothing is known to own it, so the clause tells none of them apart
        expected = set()
    second = "does not own" if negated else "owns"
    found = fitting(kg, f"which robot likes {liked} and {second} {owned}")
    assert set(found.members) == expected
    assert all(path.end == member for member, fit in found.members.items() for path in fit.paths)


@pytest.mark.parametrize(
    ("question", "answers", "kinds"),
    [
        ("Which planet has no moons and is not Mercury?", {"Venus (planet)"}, {"filter"}),
        ("which element is liquid at room temperature but isn't a metal?", {"Bromine"}, {"step", "without"}),
        ("Which US presidents were assassinated in the 19th century?", {"Abraham Lincoln", "James A. Garfield"}, set()),
        (
            "programming languages that first appeared in the 1990s",
            {"JavaScript", "Python (programming language)"},
            set(),
        ),
    ],
)
def test_what_fits_is_the_answer_and_each_step_is_checked(
    pipeline: Pipeline, question: str, answers: set[str], kinds: set[str]
) -> None:
    operations, final = asked(pipeline, question)
    assert answers <= set(final.answers)
    assert operations
    assert all(operation.verified for operation in operations)
    assert kinds <= {operation.kind for operation in operations}


def test_several_answers_are_narrowed_to_those_that_each_clause_fits(pipeline: Pipeline) -> None:
    operations, final = asked(pipeline, "Which country joined the European Union and used to be part of Yugoslavia?")
    assert set(final.answers) == {"Croatia", "Slovenia"}
    assert operations[-1].verified


def test_where_nothing_joins_a_clause_that_is_said(pipeline: Pipeline) -> None:
    _, final = asked(pipeline, "Which country borders Brazil and was founded by Genghis Khan?")
    assert final.refusal
    assert not final.answers


_FILMS = [
    ("Fury", "has genre", "western"),
    ("The Fury", "directed by", "Ann Lee"),
    ("The Fury", "has genre", "horror"),
    ("The Fury", "release year", "1978"),
    ("Scarface Two", "directed by", "Ann Lee"),
    ("Scarface Two", "has genre", "crime"),
    ("Scarface Two", "release year", "1983"),
    ("World's Greatest Aunt", "directed by", "Ann Lee"),
    ("World's Greatest Aunt", "has genre", "comedy"),
    ("World's Greatest Aunt", "release year", "1991"),
]


@pytest.mark.parametrize(
    ("question", "topic", "answers"),
    [
        ("what are the genres of the films directed by Ann Lee", "Ann Lee", {"horror", "crime", "comedy"}),
        ("what genres do the films directed by Ann Lee fall under", "Ann Lee", {"horror", "crime", "comedy"}),
        ("when did the films directed by Ann Lee release", "Ann Lee", {"1978", "1983", "1991"}),
        ("what are the genres of the films whose director also directed The Fury", "The Fury", {"crime", "comedy"}),
        (
            "what genres do the films that share directors with World's Greatest Aunt fall under",
            "World's Greatest Aunt",
            {"horror", "crime"},
        ),
    ],
)
def test_what_is_asked_of_several_films_is_asked_of_all_of_them(question, topic, answers) -> None:
    films = Pipeline()
    kg = KnowledgeGraph.from_triples(_FILMS, "films")
    films.add_graph("films", kg, StatedFacts(_FILMS))
    settings = Settings(graph="films", hops=3, compare=False, explain=0)
    final = [one for one in films.run(question, settings, entities=[topic]) if isinstance(one, AnswerFinal)][-1]
    assert answers <= set(final.answers), final
