"""An edited graph against the obvious oracle: a Python set of triples."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.errors import UserError
from kgdemo.facts import EditedFacts, StatedFacts
from kgdemo.kg.edits import ADD, LONGEST_LABEL, MAX_EDITS, REMOVE, Edit, apply, checked
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.verify import Verifier
from tests.helpers.models import random_model
from tests.helpers.oracles import backwards
from tests.helpers.strategies import graphs, labels

Triple = tuple[str, str, str]
triple_of = st.tuples(labels, st.sampled_from(["part", "~part", "part of", "new"]), labels)


def meanings(hop: Triple, relations: set[str]) -> list[Triple]:
    """What a hop may stand for, as the readme says: the edge itself, or with ``~`` the edge the other way."""
    head, relation_label, tail = hop
    return [hop] + [(tail, r, head) for r in sorted(relations) if backwards(r, relations) == relation_label]


def edited(triples: set[Triple], edits: list[Edit]) -> set[Triple]:
    """The oracle; raises KeyError where an edit makes no sense."""
    now, relations = set(triples), {r for _, r, _ in triples}
    for edit in edits:
        known = relations | {r for _, r, _ in now}
        meant = meanings(edit.triple, known)
        there = [t for t in meant if t in now]
        if bool(there) != (edit.kind == REMOVE):
            raise KeyError(edit)
        if edit.kind == REMOVE:
            now.remove(there[0])
        else:
            now.add(edit.triple if edit.triple[1] in relations else meant[-1])
    return now


@st.composite
def changes(draw) -> tuple[list[Triple], list[Edit]]:
    triples = draw(graphs())
    some = st.one_of(st.sampled_from(triples), st.sampled_from([(t, f"~{r}", h) for h, r, t in triples]), triple_of)
    return triples, draw(st.lists(st.builds(Edit, st.sampled_from([ADD, REMOVE]), some), max_size=6))


def changed(facts: StatedFacts, edits: list[Edit]) -> EditedFacts:
    """What the verifier is told of the edits."""
    return EditedFacts(facts, ((edit.kind == ADD, edit.triple) for edit in edits))


@settings(max_examples=200, deadline=None)
@given(changes())
def test_an_edited_graph_holds_what_a_set_of_triples_holds(case):
    triples, edits = case
    kg = KnowledgeGraph.from_triples(triples)
    before = set(kg.triples())
    try:
        expected = edited(set(triples), edits)
    except KeyError:
        with pytest.raises(UserError):
            apply(kg, edits)
        return
    graph = apply(kg, edits)
    assert set(graph.triples()) == expected
    assert len(graph) == len(expected)
    facts = changed(StatedFacts(triples), edits)
    around = {(h, r, t) for h in facts.entities() for r in facts.relations for t in facts.entities()}
    assert {triple for triple in around if facts.holds(*triple)} == expected
    assert set(facts.entities()) == set(graph.entities)
    assert set(facts.relations) == set(graph.relations)
    assert set(kg.triples()) == before == set(triples)
    for label in {name for h, _, t in expected for name in (h, t)}:
        walked = {(label, r, t) for r, t in graph.neighbours(label, directed=True)}
        assert walked == {t for t in expected if t[0] == label}
        returned = set(graph.neighbours(label)[len(walked) :])
        assert returned == {(backwards(r, graph.relations), h) for h, r, t in expected if t == label}


@settings(max_examples=60, deadline=None)
@given(changes())
def test_reused_token_tables_give_the_same_automaton(case):
    triples, edits = case
    kg, label_tokens = KnowledgeGraph.from_triples(triples), random_model("qwen2").label_tokens
    try:
        graph = apply(kg, edits)
    except UserError:
        return
    reused = TokenGraph(graph, label_tokens, like=TokenGraph(kg, label_tokens))
    fresh = TokenGraph(graph, label_tokens)
    for entity in range(len(graph.entities)):
        assert reused.entities.row(entity).tolist() == fresh.entities.row(entity).tolist()
        counts = [KGAutomaton(g, [entity], 2) for g in (reused, fresh)]
        assert len({automaton.paths_left(automaton.start()) for automaton in counts}) == 1
    assert reused.entity_rank.tolist() == fresh.entity_rank.tolist()


def test_what_was_removed_is_no_longer_verified_and_what_was_added_is():
    kg = KnowledgeGraph.from_triples(
        [("Inception", "directed by", "Nolan")], inverse_labels={"directed by": "directed"}
    )
    edits = [Edit(REMOVE, ("Nolan", "directed", "Inception")), Edit(ADD, ("Inception", "directed by", "Greta"))]
    assert list(apply(kg, edits).triples()) == [("Inception", "directed by", "Greta")]
    judge = Verifier(changed(StatedFacts(kg.triples(), kg.inverse_labels), edits))
    assert not judge.verify_text("Inception -> directed by -> Nolan")[1].faithful
    assert judge.verify_text("Greta -> directed -> Inception")[1].faithful
    assert judge.verify_text("Nolan -> directed -> Inception")[1].hops[0].verdict.value == "no such edge"


@pytest.mark.parametrize(
    ("edits", "says"),
    [
        ([Edit("burn", ("a", "b", "c"))], "neither"),
        ([Edit(ADD, ("a", " ", "c"))], "three parts"),
        ([Edit(ADD, ("a", "b", "c" * (LONGEST_LABEL + 1)))], "shorten"),
        ([Edit(ADD, ("a", "b", str(n))) for n in range(MAX_EDITS + 1)], "undo"),
    ],
)
def test_edits_out_of_bounds_are_one_sentence(edits, says):
    with pytest.raises(UserError, match=says):
        checked(edits)
