"""Reasoning on graphs and think on graph: plans, beams, and what became of the rest."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace

import pytest

from kgdemo.events import CandidatesScored, DeductionChecked, PathFound, Thought
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.methods.hop_lists import EmbeddingWalk, HopList, openings
from kgdemo.query.form import understand
from kgdemo.settings import Settings
from tests.helpers.reasoning import FILMS, Clerk, ask, clerk_world, film_world, of

QUESTION = "Where was the director of Inception born?"


def test_plans_that_the_graph_cannot_carry_out_are_pruned_with_the_reason():
    plans = "directed by -> born in; composed by; born in -> capital of"
    clerk = Clerk(writes={"relation paths": plans})
    events = ask("rog", QUESTION, ["Inception"], clerk_world(clerk))
    thoughts = of(events, Thought)
    assert [t.fate for t in thoughts] == ["kept", "pruned", "pruned"]
    assert "no relation “composed by”" in thoughts[1].reason
    assert "starts at" in thoughts[2].reason
    assert "~directed by" not in clerk.prompts[0], "relations are named as the schema reads them"
    (found,) = of(events, PathFound)
    assert str(found.path) == "Inception -> directed by -> Christopher Nolan -> born in -> London"


def test_think_on_graph_keeps_three_beams_and_three_hops():
    clerk = Clerk(["starring", "released"])
    events = ask("tog", QUESTION, ["Inception"], clerk_world(clerk), hops=4)
    kept = [t for t in of(events, Thought) if t.fate == "kept"]
    deepest = max(t.text.count(" -> ") // 2 for t in kept)
    assert 1 < deepest <= 3
    for depth in range(1, deepest + 1):
        assert 1 <= sum(t.text.count(" -> ") == 2 * depth for t in kept) <= 3
    assert all(sum(e.kept) <= 3 for e in of(events, CandidatesScored))
    assert len(of(events, PathFound)) <= 3


def test_what_think_on_graph_drops_hangs_in_the_tree_with_the_reason():
    more = [("Inception", "composed by", "Hans Zimmer"), ("Inception", "edited by", "Lee Smith")]
    resources = clerk_world(Clerk(["starring", "released"]), [*FILMS, *more])
    thoughts = of(ask("tog", QUESTION, ["Inception"], resources), Thought)
    by_id = {thought.id: thought for thought in thoughts}
    dropped = [thought for thought in thoughts if thought.fate == "pruned"]
    assert all(thought.reason for thought in dropped)
    relations = [thought for thought in dropped if not thought.triples]
    paths = [thought for thought in dropped if thought.triples]
    assert {thought.text for thought in relations} & {"Inception -> composed by", "Inception -> edited by"}
    assert paths
    assert not {thought.text for thought in paths} & {thought.text for thought in thoughts if thought.fate == "kept"}
    for thought in thoughts:
        assert all(resources.verifier.verify(Path.from_labels(triple)).faithful for triple in thought.triples)
        for parent in thought.parents:
            assert by_id[parent].fate == "kept"
            assert thought.text.startswith(by_id[parent].text)


def test_think_on_graph_stops_when_it_is_enough():
    clerk = Clerk(["directed by"], enough="Christopher Nolan")
    events = ask("tog", "Who directed Inception?", ["Inception"], clerk_world(clerk))
    assert not any(thought.parents for thought in of(events, Thought)), "one hop deep"


@pytest.mark.parametrize(
    ("question", "holds"),
    [
        ("When was the film released?", True),  # what lies ahead is films
        ("Which film was released in the year of Inception?", False),  # what was found is a year
    ],
)
def test_without_a_language_model_it_is_enough_when_the_kind_asked_for_was_found(question, holds):
    info = {name: EntityInfo("film") for name in ("Inception", "Shutter Island")}
    kg = KnowledgeGraph.from_triples(
        [("Inception", "released in year", "2010"), ("Shutter Island", "released in year", "2010")], info=info
    )
    resources = replace(film_world(), kg=kg)
    found = Path(("Inception", "2010"), ("released in year",))
    query, ahead = understand(question, ["Inception"], kg), openings(found, resources, Settings(hops=2))
    assert [opening.ends for opening in ahead] == [("Shutter Island",)]
    *_, said = steps = list(outcome(EmbeddingWalk(resources).enough(query, [HopList((found,))], ahead)))
    assert said == (holds, HopList((found,)) if holds else None)
    assert [e.holds for e in of(steps[:-1], DeductionChecked)] == [holds]


def outcome(search: Generator) -> Iterator:
    """What a generator yields, and then what it returns."""
    yield (yield from search)
