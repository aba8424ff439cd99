"""The order of paths: features, groups of paths, which paths are shown; and how the weights are fitted."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from kgdemo.decoding.base import Hypothesis
from kgdemo.errors import UserError
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.kg.path import Path, PathIds
from kgdemo.lab.training.calibration import PathGroups, cross_validated, expected_hits, fit_ranking, searched
from kgdemo.query.form import understand
from kgdemo.ranking.scorer import FEATURES, UNFITTED, PathScorer, coverage, groups_of, rank
from kgdemo.settings import Settings
from tests.helpers.reasoning import FILMS, INFO, INVERSE, SpellingEmbedder, film_world

WORLD = film_world()
GRAPH = WORLD.token_graph
TYPED = {
    **INFO,
    **{name: EntityInfo("person", (), "", {}) for name in ("Christopher Nolan", "Tom Hardy", "Elliot Page")},
}


def found(score: float, *walk: str) -> Hypothesis:
    """A finished hypothesis: entity, relation, entity, … with its score in the search."""
    kg = WORLD.kg
    ids = PathIds(
        tuple(kg.entities.find(name) for name in walk[::2]),
        tuple(list(kg.step_labels).index(relation_label) for relation_label in walk[1::2]),
    )
    size = 60
    state = SimpleNamespace(paths=[ids], complete=True, alive=False)
    return Hypothesis(tuple(range(size)), (score / size,) * size, state, 0, score)


def scorer(question: str, topic: str = "Inception", **weights: float) -> PathScorer:
    """With the given weights; the other features have none."""
    kg = KnowledgeGraph.from_triples(FILMS, "films", INVERSE, TYPED)
    every = dict.fromkeys(FEATURES, 0.0) | {"likelihood": 1.0} | weights
    return PathScorer(understand(question, [topic], kg), kg, SpellingEmbedder(), every)


def shown(finished, ranking: str, limit: int = 10, with_scorer: PathScorer | None = None) -> list[str]:
    """The paths as text."""
    return [
        str(GRAPH.kg.labelled(p.ids)) for p in rank(GRAPH, finished, ranking, limit, with_scorer or scorer("Inception"))
    ]


STARRING = [found(-2.0 - i / 10, "Inception", "starring", n) for i, n in enumerate(("Tom Hardy", "Elliot Page"))]
DIRECTED = found(-1.5, "Inception", "directed by", "Christopher Nolan")
YEAR = found(-9.0, "Inception", "released in year", "2010")
LIKELY_YEAR = found(-0.1, "Inception", "released in year", "2010")


def test_the_tails_of_a_relation_speak_for_it_together():
    order = shown([DIRECTED, *STARRING], "pooled")
    assert order[0] == "Inception -> starring -> Tom Hardy"  # e^-2 + e^-2.1 > e^-1.5
    assert order[-1].endswith("Christopher Nolan")
    assert shown([DIRECTED, *STARRING], "relation") == order
    assert shown([DIRECTED, *STARRING], "path")[0].endswith("Christopher Nolan")


def test_the_type_asked_for_outweighs_a_likelier_relation():
    asked, careless = (scorer("which person was it", type_named=weight) for weight in (12.0, 0.0))
    assert shown([DIRECTED, LIKELY_YEAR], "pooled", with_scorer=asked)[0].endswith("Nolan")
    assert shown([DIRECTED, LIKELY_YEAR], "pooled", with_scorer=careless)[0].endswith("2010")


def test_what_a_path_tells_of_its_rank_adds_up_to_its_score():
    with_scorer = scorer("Which person directed Inception?", type_named=3.0, learned_similarity=2.0)
    ranked = rank(GRAPH, [*STARRING, DIRECTED, YEAR], "pooled", 10, with_scorer)
    assert all([name for name, _ in path.weighed] == list(FEATURES) for path in ranked)
    assert all(sum(adds for _, adds in path.weighed) == pytest.approx(path.rank_score) for path in ranked)
    assert dict(ranked[-1].weighed)["type_named"] == -3.0  # a year is no person
    assert all(path.weighed == () for path in rank(GRAPH, [DIRECTED, YEAR], "path", 10))


def test_a_detour_comes_last_however_likely():
    through = found(
        -0.1, "Inception", "directed by", "Christopher Nolan", "directed", "Inception", "starring", "Tom Hardy"
    )
    order = shown([through, YEAR], "pooled")
    assert order == [
        "Inception -> released in year -> 2010",
        "Inception -> directed by -> Christopher Nolan -> directed -> Inception -> starring -> Tom Hardy",
    ]


def test_the_best_group_is_shown_and_the_likeliest_paths_beside_it():
    asked = scorer("which person was it", type_named=4.0)
    rare = found(-3.0, "Inception", "directed by", "Christopher Nolan")
    order = shown([rare, LIKELY_YEAR], "pooled", limit=2, with_scorer=asked)
    assert order == ["Inception -> directed by -> Christopher Nolan", "Inception -> released in year -> 2010"]
    assert shown([rare, LIKELY_YEAR], "pooled", limit=1, with_scorer=asked) == order[:1]
    assert shown([], "pooled") == []
    with pytest.raises(ValueError, match="scorer"):
        rank(GRAPH, [YEAR], "pooled", 3)


def test_a_group_holds_one_kind_of_end():
    asked = scorer("which person is in it", type_named=5.0)
    groups = groups_of(GRAPH, rank(GRAPH, STARRING, "path", 9), asked)
    assert len(groups) == 1
    assert groups[0].features.type_named == 0.0
    assert asked.fits("London")  # no type is known of it, which speaks against nothing
    year = groups_of(GRAPH, rank(GRAPH, [YEAR], "path", 9), asked)[0]
    assert year.features.type_named == -1.0
    assert year.score == pytest.approx(-9.0 - 5.0)
    assert asked.features(Path(("Inception", "2010"), ("released in year",)), -9.0, -9.0) == year.features


def test_the_likelihood_of_a_relation_is_shared_by_its_ends_of_any_kind():
    typed = TYPED | {"Elliot Page": EntityInfo("character")}
    kg = KnowledgeGraph.from_triples(FILMS, "films", INVERSE, typed)
    asked = PathScorer(understand("which person is in it", ["Inception"], kg), kg, SpellingEmbedder(), UNFITTED)
    first, second = groups_of(GRAPH, rank(GRAPH, STARRING, "path", 9), asked)
    assert (
        first.features.likelihood
        == second.features.likelihood
        == pytest.approx(math.log(math.exp(-2) + math.exp(-2.1)))
    )
    assert first.features.type_named > second.features.type_named


def test_a_model_without_weights_is_taken_at_its_word():
    plain = PathScorer(understand("which person is in it", ["Inception"], WORLD.kg), WORLD.kg, WORLD.embedder)
    assert plain.weights == UNFITTED
    (group,) = groups_of(GRAPH, rank(GRAPH, [DIRECTED], "path", 1), plain)
    assert group.score == pytest.approx(-1.5)


def test_coverage_is_the_mean_of_the_nearest():
    embedder = SpellingEmbedder()
    assert coverage(["born", "year"], ["born", "in", "year"], embedder) == pytest.approx(1.0)
    one, other = embedder.encode(["born", "directed"])
    assert coverage(["born", "directed"], ["born"], embedder) == pytest.approx((1 + one @ other) / 2)


# fitting the weights ----------------------------------------------------------------------------


def made_up(count: int, weights: np.ndarray, seed: int = 0) -> list[PathGroups]:
    """Questions whose right group was drawn from a softmax with these weights."""
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(count):
        features = rng.normal(size=(6, len(FEATURES)))
        scores = features @ weights
        chance = np.exp(scores - scores.max())
        right = np.zeros(6)
        right[rng.choice(6, p=chance / chance.sum())] = 1.0
        drawn.append(PathGroups(features, right))
    return drawn


def test_the_weights_that_made_the_questions_are_found():
    true = np.array([0.5, 2.0, -1.0])
    weights = fit_ranking(made_up(1500, true), ridge=0.0)
    assert [weights[name] for name in FEATURES] == pytest.approx(true, abs=0.25)


def test_the_fit_is_a_maximum():
    questions = made_up(60, np.array([1.0, -0.5, 2.0]), seed=3)

    def likelihood(weights: dict[str, float]) -> float:
        row, total = np.array([weights[name] for name in FEATURES]), 0.0
        for one in questions:
            chance = np.exp(one.features @ row)
            total += math.log(chance @ one.right / chance.sum() + 1e-3)
        return total

    best = fit_ranking(questions, ridge=0.0)
    for name in FEATURES:
        for step in (-0.2, 0.2):
            assert likelihood(best) > likelihood({**best, name: best[name] + step})


def test_hits_are_those_of_the_best_group():
    sure = PathGroups(np.array([[1.0, 0, 0], [2.0, 0, 0]]), np.array([1.0, 0.25]))
    assert expected_hits(dict.fromkeys(FEATURES, 0.0) | {"likelihood": 1.0}, [sure]) == 0.25
    assert expected_hits(dict.fromkeys(FEATURES, 0.0) | {"likelihood": -1.0}, [sure]) == 1.0
    told = made_up(48, np.array([30.0, 0.0, 0.0]))
    assert cross_validated(told) > 0.8
    with pytest.raises(UserError, match="at least 16"):
        fit_ranking(told[:10])


def test_candidates_are_read_from_a_search(tmp_path):
    resources = film_world()
    file = tmp_path / "questions.jsonl"
    lines = [
        '{"id": "1", "question": "who directed it", "q_entity": ["Inception"], "a_entity": ["Christopher Nolan"]}',
        '{"id": "2", "question": "who", "q_entity": ["Inception", "London"], "a_entity": ["Tom Hardy"]}',
        '{"id": "3", "question": "who", "q_entity": ["Inception"], "a_entity": ["Nobody"]}',
    ]
    file.write_text("\n".join(lines), "utf-8")
    pipeline = SimpleNamespace(resources=lambda settings: resources)
    (found_one,) = searched(pipeline, file, replace(Settings(), beams=10, hops=1))
    assert found_one.question.id == "1"
    assert found_one.candidates.features.shape == (3, len(FEATURES))  # directed by, starring, released in year
    assert sorted(found_one.candidates.right) == [0.0, 0.0, 1.0]
    assert not found_one.unseen.any()


def test_both_directions_of_a_symmetric_relation_are_one_group():
    both = [("Paris", "twin of", "Rome"), ("Rome", "twin of", "Paris"), ("Tokyo", "twin of", "Paris")]
    more = [("Paris", "mayor", "Anne"), ("Oslo", "twin of", "Lima"), ("Lima", "twin of", "Oslo")]
    graph = film_world(triples=[*both, *more]).token_graph
    twins = graph.kg

    def decoded(score: float, relation_label: str, end: str) -> Hypothesis:
        ids = PathIds(
            (twins.entities.find("Paris"), twins.entities.find(end)), (list(twins.step_labels).index(relation_label),)
        )
        state = SimpleNamespace(paths=[ids], complete=True, alive=False)
        return Hypothesis(tuple(range(60)), (score / 60,) * 60, state, 0, score)

    finished = [
        decoded(-1.0, "mayor", "Anne"),
        decoded(-1.5, "twin of", "Rome"),
        decoded(-1.6, "~twin of", "Rome"),
        decoded(-1.7, "~twin of", "Tokyo"),
    ]
    weights = dict.fromkeys(FEATURES, 0.0) | {"likelihood": 1.0}
    scorer = PathScorer(understand("?", ["Paris"], twins), twins, SpellingEmbedder(), weights)
    ranked = rank(graph, finished, "pooled", 10, scorer)
    # together they outweigh the mayor, and Rome is told once
    assert [(twins.entities[p.ids.entities[-1]], twins.step_labels[p.ids.steps[0]]) for p in ranked] == [
        ("Rome", "twin of"),
        ("Tokyo", "~twin of"),
        ("Anne", "mayor"),
    ]
