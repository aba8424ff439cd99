"""Relations that a model was never trained on: which they are, the paths kept for them, and how these are ranked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kgdemo.events import HypothesisAnswer, LMCall, PathFound, PathVerified
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io.catalogue import open_graph
from kgdemo.kg.labels import relation_name, spoken
from kgdemo.kg.path import Path
from kgdemo.lab.training.templates import load_templates
from kgdemo.models.base import PromptStyle, read_relations, unseen_labels, write_relations
from kgdemo.models.causal import EMBEDDED_FOLDER
from kgdemo.query.form import understand
from kgdemo.ranking import graph_paths
from kgdemo.ranking.graph_paths import nearest_unseen, nearness
from kgdemo.ranking.scorer import BACKOFF, FEATURES, PathScorer, coverage, path_words
from kgdemo.reasoners.base import Resources
from tests.helpers.reasoning import FILMS, SpellingEmbedder, ask, film_world, of

BY_WORDS = {"constant": -1.0, "likelihood": 0.0, "lexical_coverage": 20.0, "hops": 0.0}
NONE: frozenset[str] = frozenset()
ALL = frozenset(relation for _, relation, _ in FILMS)


def world_knowing(relations: frozenset[str] | None, backoff: dict[str, float] | None = None) -> Resources:
    """A film world whose model was trained on these relations alone."""
    resources = film_world()
    ranking = dict.fromkeys(FEATURES, 0.0) | {"likelihood": 1.0}
    resources.model.style = replace(resources.model.style, ranking=ranking, relations=relations, backoff=backoff)
    return resources


# which relations are known ------------------------------------------------------------------------


def test_the_list_stands_beside_the_weights(tmp_path):
    assert read_relations(tmp_path) is None
    style = PromptStyle(backoff=BY_WORDS, relations=frozenset(("born in", "form of government")))
    style.save(tmp_path)
    assert (tmp_path / "relations.txt").read_text("utf-8") == "born in\nform of government\n"
    assert "relations" not in (tmp_path / "kgdemo.json").read_text("utf-8")
    assert PromptStyle.load(tmp_path) == style
    write_relations(tmp_path, [])
    assert read_relations(tmp_path) == frozenset()


def test_a_relation_is_known_by_its_words_whatever_graph_it_stands_in():
    kg = KnowledgeGraph.from_triples(
        [("a", "/film/film/directed_by", "b"), ("a", "Born in", "c"), ("a", "starring", "d")],
        inverse_labels={"starring": "starred in"},
    )
    assert unseen_labels(kg, frozenset(("directed by", "born in"))) == {"starring", "starred in"}
    assert unseen_labels(kg, frozenset(("directed by", "born in", "starring"))) == frozenset()
    assert len(unseen_labels(kg, frozenset())) == 6
    assert unseen_labels(kg, None) == frozenset()


def test_a_reading_that_a_known_relation_shares_is_known():
    triples = [("a", "child of", "b"), ("b", "parent", "a")]
    kg = KnowledgeGraph.from_triples(triples, inverse_labels={"child of": "parent", "parent": "child of"})
    assert unseen_labels(kg, frozenset(("parent",))) == frozenset()


def test_the_shipped_model_knows_what_it_was_trained_on_and_not_chemistry(world):
    known = read_relations(EMBEDDED_FOLDER)
    assert known is not None
    of_world = {relation_name(relation) for relation in world.relations}
    assert len(known & of_world) > 100  # what it learned is still in the graph
    added = of_world - known  # since it was trained
    assert unseen_labels(world, known | added) == frozenset()
    assert {"means", "part of"} <= unseen_labels(world, known)
    for name in ("world", "freebase"):
        assert {relation_name(relation) for relation, _ in load_templates(name)} <= known | added
    assert "ore of" in unseen_labels(open_graph("chemistry"), known)


# the paths kept for them --------------------------------------------------------------------------


def test_nearness_is_similarity_and_coverage_of_each_sequence():
    resources = film_world()
    kg, embedder = resources.kg, SpellingEmbedder()
    scorer = PathScorer(understand("in which year was it released", ["Inception"], kg), kg, embedder)
    (asked,) = embedder.encode([scorer.query.text])
    for walks in kg.relation_paths(kg.entities.find("Inception"), 2):
        for walk, near in zip(walks, nearness(kg, walks, scorer), strict=True):
            step_labels = [kg.step_labels[step] for step in walk]
            mean = embedder.encode([spoken(relation_label) for relation_label in step_labels]).mean(axis=0)
            similar = float(mean @ asked) / float(np.linalg.norm(mean))
            covered = coverage(scorer.query.content_words, path_words(step_labels), embedder)
            assert near == pytest.approx(similar + covered, abs=1e-5)
    assert len(nearness(kg, np.empty((0, 2), np.int32), scorer)) == 0


def found_by(resources: Resources, question: str, **settings) -> list[PathFound]:
    """The paths of a question about Inception, all of them verified."""
    events = ask("gcr", question, ["Inception"], resources, hops=2, compare=False, explain=0, **settings)
    assert all(event.verdict.faithful for event in of(events, PathVerified))
    assert len(of(events, HypothesisAnswer)) == len(of(events, PathFound))
    return of(events, PathFound)


def test_an_unknown_relation_is_found_though_known_ones_fill_the_beams():
    known = ALL - {"released in year"}
    question = "year released in"
    plain = found_by(world_knowing(known), question, beams=1)
    assert "released in year" not in plain[0].path.relations
    (first,) = found_by(world_knowing(known, BY_WORDS), question, beams=1)
    assert first.path == Path(("Inception", "2010"), ("released in year",))
    assert first.read
    assert first.beam == -1


def test_each_path_kept_has_an_unknown_relation_and_none_is_there_twice():
    resources = world_knowing(ALL - {"released in year", "born in"}, BY_WORDS)
    found = found_by(resources, "who starring in", beams=5)
    assert any(event.read for event in found)
    assert len({event.path for event in found}) == len(found) == 5
    groups = [event.path.relations for event in found if event.read]
    assert len(set(groups)) == len(groups)
    for event in found:
        assert not event.read or {"released in year", "born in", "~released in year", "birthplace of"} & set(
            event.path.relations
        )
        assert not event.read or event.path.relations not in {e.path.relations for e in found if not e.read}


def test_of_a_graph_with_too_many_relations_single_hops_are_read(monkeypatch):
    resources = film_world()
    kg, query = resources.kg, understand("born in", ["Inception"], resources.kg)
    scorer = PathScorer(query, kg, resources.embedder, None, unseen_labels(kg, NONE), BY_WORDS)
    asked = (resources.token_graph, resources.kg.entities.find("Inception"), scorer, set(), 30, 3)
    hops = [len(ids.steps) for ids in nearest_unseen(*asked)]
    assert set(hops) == {1, 2}
    monkeypatch.setattr(graph_paths, "_STEPS", 2)
    assert [len(ids.steps) for ids in nearest_unseen(*asked)] == [1, 1]


@pytest.mark.parametrize(
    ("relations", "weights", "settings"),
    [
        (ALL, BY_WORDS, {}),
        (None, BY_WORDS, {}),
        (ALL - {"born in"}, None, {}),
        (ALL - {"born in"}, BY_WORDS, {"ranking": "relation"}),
        (ALL - {"born in"}, BY_WORDS, {"ranking": "path"}),
    ],
)
def test_where_all_is_known_or_the_model_is_to_be_believed_nothing_changes(relations, weights, settings):
    for topics in (["Inception"], ["Inception", "London"]):
        asked = ["gcr", "who was born in it", topics]
        before, after = (
            [
                replace(event, t=0.0, **({"seconds": 0.0} if isinstance(event, LMCall) else {}))
                for event in ask(*asked, resources, hops=2, beams=4, compare=False, explain=0, **settings)
                if isinstance(event, PathFound | HypothesisAnswer | PathVerified | LMCall)
            ]
            for resources in (world_knowing(None), world_knowing(relations, weights))
        )
        assert before == after


# how they are ranked ------------------------------------------------------------------------------


def test_words_stand_for_the_probability_of_what_is_unknown():
    resources = film_world()
    query = understand("released year", ["Inception"], resources.kg)
    weights = dict.fromkeys(FEATURES, 0.0) | {"likelihood": 2.0, "learned_similarity": 1.0}
    by_words = dict(zip(BACKOFF, (-3.0, 0.5, 0.25, 1.0, 11.0, -1.5), strict=True))
    unseen = frozenset(("born in",))
    scorer = PathScorer(query, resources.kg, resources.embedder, weights, unseen, by_words)
    known = scorer.features(Path(("Inception", "2010"), ("released in year",)), -4.0, -4.0)
    assert known.likelihood == -4.0
    path = Path(("Inception", "Tom Hardy", "London"), ("starring", "born in"))
    unknown = scorer.features(path, -4.0, -2.0)
    words = coverage(query.content_words, path_words(path.relations), resources.embedder)
    assert unknown.likelihood == pytest.approx(
        -3.0 - 0.5 * 4 - 0.25 * 2 - 2 * 1.5 + unknown.learned_similarity + 11.0 * words
    )
    assert unknown.score(weights) == pytest.approx(2.0 * unknown.likelihood + unknown.learned_similarity)
    plain = PathScorer(query, resources.kg, resources.embedder, weights, unseen)
    assert plain.features(path, -4.0, -2.0).likelihood == -4.0
