"""When no path answers: features, the regression that weighs them, the words of a refusal, and how it is counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from kgdemo.errors import UserError
from kgdemo.events import AnswerFinal, PathFound
from kgdemo.kg.path import Path
from kgdemo.lab.calibration.abstention import NAMES, Judged, calibrate, fit
from kgdemo.lab.evaluation.metrics import Prediction, summarise
from kgdemo.models.prompt_style import PromptStyle
from kgdemo.query.query import understand
from kgdemo.ranking.abstention import AbstentionFeatures, abstention_features, abstention_log_odds, refusal
from kgdemo.reasoners.base import Evidence, Resources
from tests.helpers.reasoning import ChanceReasoner, ask, film_world, of

WORLD = film_world()
DIRECTED = Evidence(1, Path(("Inception", "Christopher Nolan"), ("directed by",)), "", -1.0, -0.5)
STARRED = Evidence(2, Path(("Inception", "Tom Hardy"), ("starring",)), "", -4.0, -3.0)


def judged(number: int, answerable: bool, relation_log_prob: float, coverage: float) -> Judged:
    """Features of which two say something."""
    return Judged(str(number), answerable, AbstentionFeatures(relation_log_prob, coverage, 0.1, 0.0))


def made_up(count: int, overlap: float) -> list[Judged]:
    """Questions whose features lie around two centres."""
    rng = np.random.default_rng(3)
    found = []
    for number in range(count):
        right = number % 3 > 0
        centre = (-1.0, 0.6) if right else (-6.0, 0.2)
        found.append(judged(number, right, *(c + overlap * x for c, x in zip(centre, rng.normal(size=2), strict=True))))
    return found


def features_of(question: str, topics: list[str], evidence: list[Evidence]) -> AbstentionFeatures:
    """The features of a question in the film world."""
    return abstention_features(understand(question, topics, WORLD.kg), evidence, WORLD)


def refused(question: str, resources: Resources) -> AnswerFinal | None:
    """The refusal of a question about Inception whose only path leads to its director."""
    return refusal(understand(question, ["Inception"], resources.kg), [DIRECTED], resources)


def test_features_say_how_well_the_path_covers_the_question():
    asked = features_of("who directed Inception", ["Inception"], [DIRECTED, STARRED])
    other = features_of("what was the budget of Inception", ["Inception"], [DIRECTED, STARRED])
    assert asked.lexical_coverage > other.lexical_coverage
    assert asked.relation_log_prob == other.relation_log_prob == pytest.approx(np.log(np.exp(-0.5) + np.exp(-3.0)))
    half = features_of("who directed and financed Inception", ["Inception"], [DIRECTED])
    assert half.lexical_coverage < asked.lexical_coverage
    assert half.content_words > asked.content_words


def test_paths_that_meet_cover_the_question_together():
    starred = Evidence(2, Path(("Tom Hardy", "Inception"), ("starred in",)), "", -1.0, -0.5)
    directed = Evidence(1, Path(("Christopher Nolan", "Inception"), ("directed",)), "", -1.0, -0.5)
    question, topics = "directed by Nolan and starred Hardy", ["Christopher Nolan", "Tom Hardy"]
    apart = features_of(question, topics, [directed, starred])
    together = features_of(question, topics, [replace(directed, partners=(2,)), starred])
    assert together.lexical_coverage > apart.lexical_coverage
    assert together.relation_log_prob == 0.0


def test_the_question_word_and_the_kind_of_end():
    starred = Evidence(1, Path(("Tom Hardy", "Inception"), ("starred in",)), "", -1.0, -0.5)
    year = Evidence(1, Path(("Inception", "2010"), ("released in year",)), "", -1.0, -0.5)
    assert features_of("who is a friend of Hardy", ["Tom Hardy"], [starred]).type_match == -1.0
    assert features_of("when did Inception come out", ["Inception"], [year]).type_match == 1.0
    assert features_of("films with Hardy", ["Tom Hardy"], [starred]).type_match == 1.0
    assert features_of("what has Hardy done", ["Tom Hardy"], [starred]).type_match == 0.0
    assert features_of("how many films has Hardy made", ["Tom Hardy"], [starred]).type_match == -1.0
    assert features_of("height of Hardy", ["Tom Hardy"], [starred]).type_match == -1.0
    assert features_of("how did Hardy begin", ["Tom Hardy"], [starred]).type_match == 0.0


def test_a_refusal_names_the_failure_and_leaves_the_paths():
    resources = film_world()
    resources.model.style = replace(resources.model.style, abstention={"bias": 1.0})
    missing = refused("birthplace of Inception", resources)
    assert missing is not None
    assert "The graph is incomplete here: it knows “birthplace of”" in missing.text
    unrelated = refused("gdp", resources)
    assert unrelated is not None
    assert "unrelated" in unrelated.text
    assert "incomplete" not in unrelated.text
    events = ask("gcr", "gdp?", ["Inception"], resources, beams=3, compare=False)
    assert of(events, PathFound)
    (final,) = of(events, AnswerFinal)
    assert final.refusal
    assert final.answers == ()


def test_who_is_trusted_is_not_refused():
    resources = film_world()
    assert refused("gdp", resources) is None  # a model without weights is never in doubt
    resources.model.style = replace(resources.model.style, abstention={"bias": -1.0})
    assert refused("gdp", resources) is None
    judge = film_world(ChanceReasoner(1))
    judge.model.style = replace(judge.model.style, abstention={"bias": 1.0})
    assert refused("gdp", judge) is None


def test_weights_are_those_of_a_slow_descent():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2)) * [1.0, 5.0] + [0.0, 3.0]
    y = (x[:, 0] + 0.1 * x[:, 1] + rng.normal(size=60) > 0.5).astype(float)
    mean, spread = x.mean(axis=0), x.std(axis=0)
    share = np.where(y == 1, 0.5 / y.sum(), 0.5 / (1 - y).sum()) * len(y)
    slow = np.zeros(3)
    for _ in range(20_000):
        rows = np.column_stack([np.ones(60), (x - mean) / spread])
        slope = rows.T @ (share * (1 / (1 + np.exp(-rows @ slow)) - y)) + np.array([0.0, 1.0, 1.0]) * slow
        slow -= 0.02 * slope
    found = fit(x, y)
    assert found[1:] * spread == pytest.approx(slow[1:], abs=1e-3)
    assert found[0] + found[1:] @ mean == pytest.approx(slow[0], abs=1e-3)


@hypothesis_settings(deadline=None, max_examples=20)
@given(st.floats(0.01, 0.3))
def test_no_more_answerable_questions_are_refused_than_agreed(limit: float):
    questions = made_up(180, overlap=3.0)
    weights, figures = calibrate(questions, limit)
    refused = [abstention_log_odds(j.features, weights) > 1e-6 for j in questions if j.answerable]
    assert np.mean(refused) <= limit + 0.01
    assert set(weights) == {"bias", *NAMES}
    assert figures["answerable"] + figures["unanswerable"] == 180


def test_questions_that_differ_are_told_apart_and_too_few_are_refused():
    _, figures = calibrate(made_up(180, overlap=0.3))
    assert figures["recognised"] > 0.95
    assert figures["refused"] <= 0.1
    with pytest.raises(UserError, match="at least 16"):
        calibrate(made_up(20, overlap=0.3))


def test_the_weights_travel_with_the_model(tmp_path):
    style = PromptStyle(abstention={"bias": 0.5, "relation_log_prob": -1.0})
    style.save(tmp_path)
    assert PromptStyle.load(tmp_path) == style
    (tmp_path / "kgdemo.json").write_text('{"answer_mark": "", "doubt_below": null}', "utf-8")
    assert PromptStyle.load(tmp_path) == PromptStyle(answer_mark="")


def test_refusals_are_counted_apart_for_questions_without_an_answer():
    def predicted(gold: tuple[str, ...], answers: tuple[str, ...], refused: bool) -> Prediction:
        return Prediction("1", "q", (), gold, answers, (), answers, 0, 0, 0, refused, 0.0, 0, 0, 0)

    rows = [predicted(("a",), ("a",), False), predicted(("a",), (), True), predicted((), (), True)]
    metrics = summarise([*rows, predicted((), ("b",), False)], compared=False)
    assert metrics["hits@1"] == metrics["f1"] == metrics["refused_answerable"] == metrics["recognised"] == 0.5
    assert (metrics["unanswerable"], metrics["refused"], metrics["questions"]) == (2, 0.5, 4)
