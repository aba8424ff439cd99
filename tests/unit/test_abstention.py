"""When no path answers: features, the regression that weighs them, the words of a refusal, and how it is counted."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from kgdemo.errors import UserError
from kgdemo.events import AnswerFinal, PathFound
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.lab.evaluation.metrics import Prediction, summarise
from kgdemo.lab.training.calibration import ABSTENTION, LabelledFeatures, fit_abstention
from kgdemo.models.base import PROMPT_END, JointTree, PromptStyle, extend_chain, read_out
from kgdemo.query.form import understand
from kgdemo.ranking import abstention
from kgdemo.ranking.abstention import (
    AbstentionFeatures,
    RelationBelief,
    abstained,
    abstention_features,
    abstention_log_odds,
    believing,
    relation_beliefs,
)
from kgdemo.reasoners.base import Evidence, Resources
from tests.helpers.reasoning import ChanceReasoner, ask, film_world, of

WORLD = film_world()
DIRECTED = Evidence(1, Path(("Inception", "Christopher Nolan"), ("directed by",)), "", -1.0, -0.5)
STARRED = Evidence(2, Path(("Inception", "Tom Hardy"), ("starring",)), "", -4.0, -3.0)


def judged(number: int, answerable: bool, log_prob: float, similarity: float) -> LabelledFeatures:
    """Features of which two say something."""
    return LabelledFeatures(str(number), answerable, AbstentionFeatures(log_prob, 0.0, 0.0, similarity, 0.0))


def made_up(count: int, overlap: float) -> list[LabelledFeatures]:
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
    query = understand(question, topics, WORLD.kg)
    return abstention_features(query, evidence[0], relation_beliefs(query, evidence[0].path, WORLD), WORLD)


def refused(question: str, resources: Resources) -> AnswerFinal | None:
    """The refusal of a question about Inception whose only path leads to its director."""
    events = abstained(understand(question, ["Inception"], resources.kg), [DIRECTED], resources)
    return next((event for event in events if isinstance(event, AnswerFinal)), None)


def test_the_first_path_gives_the_features():
    features = features_of("who directed Inception", ["Inception"], [DIRECTED, STARRED])
    assert features.first_log_prob == -0.5
    assert features.learned_similarity == 0.0  # this model has none
    longer = Path(("Inception", "Christopher Nolan", "London"), ("directed by", "born in"))
    query = understand("where was the director of Inception born", ["Inception"], WORLD.kg)
    beliefs = relation_beliefs(query, longer, WORLD)
    two = features_of(query.text, ["Inception"], [replace(DIRECTED, path=longer, relation_score=-99.0)])
    assert two.first_log_prob == -15.0  # less says nothing more
    assert two.held_relations == pytest.approx(beliefs[0].held_log_prob + beliefs[1].held_log_prob)


def test_beliefs_read_in_the_tree_of_the_search_are_the_same_and_no_prompt_is_read_again(monkeypatch):
    path = Path(("Inception", "Christopher Nolan", "London"), ("directed by", "born in"))
    query = understand("where was the director of Inception born", ["Inception"], WORLD.kg)
    model = WORLD.model
    tree = model.tree(model.style.encode(model.label_tokens, query.text, query.topics, query.topic_types))
    extend_chain(tree, PROMPT_END, [5, 6, 7])  # the search has been here
    alone = relation_beliefs(query, path, WORLD)
    made: list[object] = []
    monkeypatch.setattr(type(model), "tree", lambda *_: made.append(_))
    for own, before in zip(read_out(believing(path, WORLD, JointTree(tree))), alone, strict=True):
        assert own.wanted == before.wanted
        assert own.wanted_log_prob == pytest.approx(before.wanted_log_prob, abs=1e-4)
        assert own.held_log_prob == pytest.approx(before.held_log_prob, abs=1e-4)
    assert made == []


def stated_of_its_like(kg: KnowledgeGraph, entity: str) -> set[str]:
    """The labels that the graph states of any entity of the same type, read off its triples; all where it has none."""
    if entity not in kg.info:
        return set(kg.step_labels)
    like = [other for other, known in kg.info.items() if known.type == kg.info[entity].type]
    return {label for other in like for label, _ in kg.neighbours(other)}


def test_beliefs_are_shares_among_what_is_stated_of_such_things():
    path = Path(("Inception", "Christopher Nolan", "London"), ("directed by", "born in"))
    query = understand("where was the director of Inception born", ["Inception"], WORLD.kg)
    graph, model = WORLD.token_graph, WORLD.model
    arrow = list(graph.label_tokens.arrow)
    prompt = model.style.encode(model.label_tokens, query.text, query.topics)
    before: list[int] = []
    for hop, belief in enumerate(relation_beliefs(query, path, WORLD)):
        before += [*graph.entities.row(WORLD.kg.entities.find(path.entities[hop])).tolist(), *arrow]
        shares = {}
        possible = stated_of_its_like(WORLD.kg, path.entities[hop])
        for step, label in enumerate(WORLD.kg.step_labels):  # one label at a time, each in a tree of its own
            if label not in possible:
                continue
            tree, tokens = model.tree(prompt), [*graph.steps.row(step).tolist(), arrow[0]]
            nodes, row = extend_chain(tree, PROMPT_END, before)
            log_prob = float(row[tokens[0]])
            for token, following in pairwise(tokens):
                nodes, row = extend_chain(tree, nodes[-1], [token])
                log_prob += float(row[following])
            shares[label] = np.exp(log_prob)
        total = sum(shares.values())
        assert belief.wanted == max(shares, key=lambda label: shares[label])
        assert belief.wanted_log_prob == pytest.approx(np.log(max(shares.values()) / total), abs=1e-3)
        held = {label for label, _ in WORLD.kg.neighbours(path.entities[hop])}
        held_share = sum(share for label, share in shares.items() if label in held) / total
        assert belief.held_log_prob == pytest.approx(np.log(held_share), abs=1e-3)
        before += [*graph.steps.row(WORLD.kg.steps_called(path.relations[hop])[0]).tolist(), *arrow]


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


def test_a_refusal_names_the_failure_and_leaves_the_paths(monkeypatch):
    resources = film_world()
    resources.model.style = replace(resources.model.style, abstention={"bias": 1.0})
    monkeypatch.setattr(abstention, "relation_beliefs", lambda *_: [RelationBelief("born in", -0.05, -3.0)])
    missing = refused("birthplace of Inception", resources)
    assert missing is not None
    expected = "“born in” (95% among the relations of a film), and the graph states none for Inception."
    assert expected in missing.text
    held = RelationBelief("directed by", -0.1, -0.05)  # a relation that the topic has is not missing
    monkeypatch.setattr(abstention, "relation_beliefs", lambda *_: [held])
    unlikely = refused("gdp", resources)
    assert unlikely is not None
    assert "does not cover what is asked with “gdp”" in unlikely.text
    monkeypatch.undo()
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


@hypothesis_settings(deadline=None, max_examples=20)
@given(st.floats(0.01, 0.3))
def test_no_more_answerable_questions_are_refused_than_agreed(limit: float):
    questions = made_up(180, overlap=3.0)
    weights, figures = fit_abstention(questions, limit)
    refused = [abstention_log_odds(j.features, weights) > 1e-6 for j in questions if j.answered]
    assert np.mean(refused) <= limit + 0.01
    assert set(weights) == {"bias", *ABSTENTION}
    assert figures["answered"] + figures["unanswered"] == 180


def test_questions_that_differ_are_told_apart_and_too_few_are_refused():
    _, figures = fit_abstention(made_up(180, overlap=0.3))
    assert figures["recognised"] > 0.95
    assert figures["refused"] <= 0.1
    with pytest.raises(UserError, match="at least 16"):
        fit_abstention(made_up(20, overlap=0.3))


def test_the_weights_travel_with_the_model(tmp_path):
    style = PromptStyle(abstention={"bias": 0.5, "first_log_prob": -1.0})
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
