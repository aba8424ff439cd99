"""The weights of relations that a model does not know: fitted on those held out, measured over relations."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from kgdemo.lab.questions import Question
from kgdemo.lab.training import calibration
from kgdemo.lab.training.calibration import (
    FOLDS,
    PLAIN,
    LabelledExample,
    PathGroups,
    SearchedQuestion,
    fit_backoff,
    hits_over_relations,
    labelled_examples,
    searched,
)
from kgdemo.ranking.scorer import BACKOFF, FEATURES
from kgdemo.settings import Settings
from tests.helpers.reasoning import film_world
from tests.helpers.training import film_graph

RANKING = dict(zip(FEATURES, (0.5, 2.0, 2.5), strict=True))


def test_what_is_fitted_stands_in_place_of_the_probability_alone():
    rng = np.random.default_rng(1)
    features, right = rng.normal(size=(4, len(FEATURES))), np.array([0.0, 1.0, 0.0, 0.0])
    unseen, hops = np.array([True, False, True, False]), np.array([1, 1, 2, 2])
    known, coverage = np.array([-1.0, -2.0, -3.0, -4.0]), rng.normal(size=4)
    question = Question("1", "where was tom born", ("Tom Hardy",), ("London",))
    found = SearchedQuestion(question, PathGroups(features, right), coverage, unseen, hops, known)
    (one,) = labelled_examples(film_graph(), [found], {"born in"}, RANKING, "asked")
    assert one.held_out == {"born in"}
    weights = dict(zip(BACKOFF, (-2.0, 0.3, 0.6, 2.0, 7.0, -1.0), strict=True))
    scores = one.candidates.given + one.candidates.features @ np.array(list(weights.values()))
    for group, own in enumerate(features):
        said = dict(zip(FEATURES, own, strict=True))
        if unseen[group]:
            words = 2.0 * said["learned_similarity"] + 7.0 * coverage[group]
            said["likelihood"] = -2.0 + 0.3 * own[0] + 0.6 * known[group] + words - hops[group]
        assert scores[group] == pytest.approx(sum(RANKING[name] * value for name, value in said.items()))
    plain = one.candidates.given + one.candidates.features @ np.array([PLAIN[name] for name in BACKOFF])
    assert plain == pytest.approx(features @ np.array(list(RANKING.values())))


def test_questions_of_either_kind_are_told_apart_and_unclear_ones_left_out():
    group = PathGroups(np.zeros((1, len(FEATURES))), np.ones(1))
    questions = [("Jaws", "Steven Spielberg"), ("Tom Hardy", "London"), ("Jaws", "Michael Caine")]
    found = [
        SearchedQuestion(
            Question("1", "?", (topic,), (end,)), group, np.zeros(1), np.zeros(1, bool), np.ones(1), np.zeros(1)
        )
        for topic, end in questions
    ]
    kinds = [one.held_out for one in labelled_examples(film_graph(), found, {"born in"}, RANKING, "asked")]
    assert kinds == [frozenset(), {"born in"}]


def drawn(count: int, weights: np.ndarray, seed: int = 0) -> list[LabelledExample]:
    """Questions whose right group was drawn from a softmax with these weights; two groups of six are known."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(count):
        abstention_features = (
            np.column_stack([np.ones(6), rng.normal(size=(6, len(BACKOFF) - 1))]) * (np.arange(6) > 1)[:, None]
        )
        given = rng.normal(size=6)
        chance = np.exp(given + abstention_features @ weights)
        right = np.zeros(6)
        right[rng.choice(6, p=chance / chance.sum())] = 1.0
        names = frozenset((f"r{number % 11}",)) if right[2:].any() else frozenset()
        made.append(LabelledExample(PathGroups(abstention_features, right, given), names, "made up"))
    return made


def test_the_weights_that_made_the_questions_are_found():
    true = np.array([-0.8, 0.5, -0.5, 0.8, 2.0, -0.5])
    weights = fit_backoff(drawn(2500, true))
    others = BACKOFF[1:]  # the constant depends on how many questions there are of either kind, which is made even
    assert [weights[name] for name in others] == pytest.approx(true[1:], abs=0.3)


def test_of_every_set_either_kind_counts_the_same(monkeypatch):
    plain = PathGroups(np.zeros((1, len(BACKOFF))), np.ones(1))
    kinds = [("a", ()), ("a", ()), ("a", ()), ("a", ("r",)), ("b", ("r",)), ("b", ("s",)), ("b", ())]
    questions = [LabelledExample(plain, frozenset(names), source) for source, names in kinds]
    fitted: list[float] = []

    def fit(found):
        fitted.extend(one.counts for one in found)
        return np.ones(len(BACKOFF))

    monkeypatch.setattr(calibration, "fit", fit)
    fit_backoff(questions)
    assert sum(fitted) == pytest.approx(len(questions))
    assert fitted == pytest.approx([7 / 12] * 3 + [7 / 4] + [7 / 8] * 2 + [7 / 4])


def test_no_question_is_judged_by_weights_fitted_on_its_relation(monkeypatch):
    questions = drawn(120, np.array([0.0, 1.0, 0.0, 0.0, 1.0, 0.0]))
    questions[3] = replace(questions[3], held_out=frozenset(("r1", "r7")))
    rests: list[set[int]] = []
    by_id = {id(one.candidates.right): one for one in questions}

    def fit(found):
        rests.append({id(candidates.right) for candidates in found})
        return np.ones(len(BACKOFF))

    def judged(one, weights):
        fitted_on = [by_id[key] for key in rests[-1]]
        assert id(one.right) not in rests[-1]
        assert not by_id[id(one.right)].held_out & frozenset().union(*(other.held_out for other in fitted_on))
        return 1.0

    monkeypatch.setattr(calibration, "fit", fit)
    monkeypatch.setattr(calibration, "first_right", judged)
    figures = hits_over_relations(questions)["made up"]
    assert figures["seen_questions"] + figures["held_out_questions"] == 120
    assert figures["held_out_questions"] == sum(bool(one.held_out) for one in questions)
    assert len(rests) == FOLDS
    assert all(len(rest) > 60 for rest in rests)


def test_a_search_says_which_groups_the_model_does_not_know(tmp_path):
    resources = film_world()
    known = frozenset(("starring", "born in", "capital of", "released in year"))
    resources.model.style = replace(resources.model.style, ranking=RANKING, relations=known, backoff=PLAIN)
    line = {"id": "1", "question": "who directed it", "q_entity": ["Inception"], "a_entity": ["Christopher Nolan"]}
    (tmp_path / "questions.jsonl").write_text(json.dumps(line), "utf-8")
    pipeline = SimpleNamespace(resources=lambda settings: resources)
    (one,) = searched(pipeline, tmp_path / "questions.jsonl", replace(Settings(), beams=4, hops=1))
    assert one.unseen.tolist().count(True) == 1
    assert one.hops.tolist() == [1] * len(one.unseen)
    assert one.candidates.right[one.unseen].tolist() == [1.0]
