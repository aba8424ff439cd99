"""GCR end to end on a small world: every event in its place, every path verified, answers cited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from kgdemo.answering import answer_sets
from kgdemo.answering.answer_sets import complete
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.errors import ModelError
from kgdemo.events import (
    AnswerFinal,
    ConstraintReady,
    DecodeStep,
    HypothesisAnswer,
    LMCall,
    Notice,
    PathFound,
    PathVerified,
    from_json,
    to_json,
)
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.methods.registry import METHODS, method_named, register
from kgdemo.query.answer_type import AnswerType
from kgdemo.query.form import understand
from kgdemo.reasoners.base import EmbeddedReasoner, Evidence, Resources
from kgdemo.settings import Settings
from kgdemo.verify import Verifier
from tests.helpers.models import random_model
from tests.helpers.oracles import verifier_of
from tests.helpers.reasoning import run

TRIPLES = [
    ("New York", "part of", "United States"),
    ("New York", "part", "Queens"),
    ("New York", "part", "Bronx"),
    ("Inception", "directed by", "Christopher Nolan"),
    ("Christopher Nolan", "born in", "London"),
]


class LetterEmbedder:
    """Counts letters: crude, but similar texts are similar."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.array([[text.lower().count(c) for c in "abcdefghijklmnopqrstuvwxyz"] for text in texts], np.float32)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def small_world(family: str = "qwen2", triples=TRIPLES) -> Resources:
    """A world of a few triples and a random model."""
    kg = KnowledgeGraph.from_triples(triples, "small")
    model = random_model(family, seed=1)
    embedder = LetterEmbedder()
    verifier, token_graph = Verifier(StatedFacts(triples)), TokenGraph(kg, model.label_tokens)
    return Resources(kg, verifier, model, token_graph, EmbeddedReasoner(embedder), embedder)


@pytest.fixture(scope="module", params=["qwen2", "bert"])
def events(request):
    resources = small_world(request.param)
    settings = Settings(beams=4, hops=2, explain=3)
    return list(run("gcr", "what is part of New York?", ["New York"], resources, settings))


def of(events, kind):
    return [event for event in events if isinstance(event, kind)]


def test_stages_come_in_the_papers_order(events):
    kinds = [type(event) for event in events]
    order = [ConstraintReady, DecodeStep, PathFound, LMCall, AnswerFinal]
    assert [kinds.index(kind) for kind in order] == sorted(kinds.index(kind) for kind in order)
    assert kinds[-1] is AnswerFinal


def test_every_grounded_path_is_verified_and_has_a_hypothesis(events):
    found = [e for e in of(events, PathFound) if e.constrained]
    verified = {e.index: e.verdict for e in of(events, PathVerified) if e.constrained}
    assert [e.index for e in found] == [1, 2, 3, 4]
    assert all(verified[e.index].faithful for e in found)
    assert {e.index for e in of(events, HypothesisAnswer) if e.constrained} == set(verified)


def test_unconstrained_paths_are_judged_too(events):
    free = [e for e in of(events, PathFound) if not e.constrained]
    assert len(free) == len([e for e in of(events, PathVerified) if not e.constrained])


def test_beams_of_a_step_continue_beams_of_an_earlier_one(events):
    for constrained in (True, False):
        known = {0}
        for step in (e for e in of(events, DecodeStep) if e.constrained == constrained):
            assert {choice.parent for choice in step.choices} <= known
            known |= {choice.beam for choice in step.choices}


def test_forbidden_tokens_come_with_a_reason(events):
    masked = [m for step in of(events, DecodeStep) for watch in step.watched for m in watch.masked]
    assert masked
    assert all(m.reason and 0 <= m.prob <= 1 for m in masked)


def test_paths_left_never_grow(events):
    left = [step.paths_left for step in of(events, DecodeStep) if step.constrained]
    assert left == sorted(left, reverse=True)


def test_the_answer_cites_paths_that_exist(events):
    final = of(events, AnswerFinal)[-1]
    indices = {e.index for e in of(events, PathFound) if e.constrained}
    assert final.answers
    assert len(final.citations) == len(final.answers)
    assert all(set(numbers) <= indices for numbers in final.citations)


def test_events_survive_json(events):
    assert [from_json(to_json(event)) for event in events] == events


def test_without_comparison_nothing_runs_unconstrained():
    settings = Settings(beams=2, compare=False)
    resources = small_world()
    events = list(run("gcr", "what?", ["Inception"], resources, settings))
    assert all(e.constrained for e in of(events, DecodeStep))


def test_an_answer_is_completed_and_says_so():
    resources = small_world()
    evidence = [Evidence(1, Path(("New York", "Queens"), ("part",)))]
    final = AnswerFinal("Queens [1]", ("Queens",), ((1,),), "test")
    (completed,) = complete(final, evidence, resources, directed=False)
    assert completed.answers == ("Queens", "Bronx")
    assert completed.completed == ("Bronx",)
    assert completed.citations == ((1,), (1,))


def test_an_answer_is_completed_with_ends_of_the_type_asked_for_only():
    triples = [("Egypt", "contains", place) for place in ("Cairo", "Giza", "Nile")]
    kinds = {"Cairo": "city", "Giza": "city", "Nile": "river"}
    info = {name: EntityInfo(kind, (), "", {}) for name, kind in kinds.items()}
    kg = KnowledgeGraph.from_triples(triples, "egypt", {}, info)
    resources = replace(small_world(), kg=kg, verifier=verifier_of(kg))
    evidence = [Evidence(1, Path(("Egypt", "Cairo"), ("contains",)))]
    final = AnswerFinal("Cairo [1]", ("Cairo",), ((1,),), "test")
    cities = AnswerType(frozenset({"city"}), named=True)
    assert [e.answers for e in complete(final, evidence, resources, False, cities)] == [("Cairo", "Giza")]
    assert [set(e.answers) for e in complete(final, evidence, resources, False)] == [{"Cairo", "Giza", "Nile"}]
    rivers = AnswerType(frozenset({"river"}), named=True)  # the cited end is none: then the type decides nothing
    assert [set(e.answers) for e in complete(final, evidence, resources, False, rivers)] == [{"Cairo", "Giza", "Nile"}]


def test_of_many_ends_the_few_of_the_type_asked_for_are_an_answer(monkeypatch):
    kinds = {"Nile": "river", "Ismailia Canal": "river", "Sinai": "place"} | {f"city {n}": "city" for n in range(100)}
    info = {name: EntityInfo(kind) for name, kind in kinds.items()}
    kg = KnowledgeGraph.from_triples([("Egypt", "contains", name) for name in kinds], "egypt", {}, info)
    resources = replace(small_world(), kg=kg, verifier=verifier_of(kg))
    evidence = [Evidence(1, Path(("Egypt", "Nile"), ("contains",)))]
    final = AnswerFinal("Nile [1]", ("Nile",), ((1,),), "test")
    rivers = AnswerType(frozenset({"river"}), named=True)  # Sinai may be one, but the Nile is
    assert [e.answers for e in complete(final, evidence, resources, False, rivers)] == [("Nile", "Ismailia Canal")]
    (everything,) = complete(final, evidence, resources, False)
    assert set(everything.answers) == set(kinds)
    monkeypatch.setattr(answer_sets, "MAX_MEMBERS", 50)
    notice, kept = complete(final, evidence, resources, False)
    assert isinstance(notice, Notice)
    assert kept == final


def test_a_refusal_is_not_completed():
    final = AnswerFinal("no", (), (), "test", refusal="nothing fits")
    assert list(complete(final, [], small_world(), directed=False)) == [final]


def test_a_method_is_added_by_registering_it():
    def toy(query, resources, settings):
        yield AnswerFinal(f"{query.topics[0]} is all I know", query.topics, ((),), "toy")

    register("toy", "Toy", "nobody", "Answers with the topic.")(toy)
    try:
        resources = small_world()
        (final,) = method_named("toy").run(understand("q", ["New York"], resources.kg), resources, Settings())
        assert final.answers == ("New York",)
        with pytest.raises(ValueError, match="registered twice"):
            register("toy", "Toy", "nobody", "again")(run)
    finally:
        del METHODS["toy"]


def test_a_question_longer_than_the_model_reads_is_one_sentence():
    resources = small_world("bert")
    with pytest.raises(ModelError, match="too long for the model"):
        list(run("gcr", "word " * 1100, ["Inception"], resources, Settings(beams=2)))


def test_a_walk_that_comes_back_ranks_last():
    resources = small_world()
    settings = Settings(beams=10, hops=2, compare=False)
    events = list(run("gcr", "what?", ["Inception"], resources, settings))
    back = [e.path.end == "Inception" for e in of(events, PathFound)]
    assert any(back)
    assert back == sorted(back)
