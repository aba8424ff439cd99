"""Questions about several entities: the best reading against brute force, searches in step, what meets comes first."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.decoding.base import BeamSettings
from kgdemo.decoding.beam import beam_search
from kgdemo.decoding.searches import SingleTopic
from kgdemo.events import AnswerFinal, DecodeStep, HypothesisAnswer, PathFound, PathVerified
from kgdemo.ranking.graph_paths import PathReader, RelationGroup, best_interpretation, topic_log_probs
from kgdemo.ranking.scorer import relation_score
from kgdemo.settings import Settings
from tests.helpers.reasoning import FILMS, film_world, of, run

NOLAN, HARDY = "Christopher Nolan", "Tom Hardy"


def group(topic: int, log_prob: float, ends: set[int], name: str = "r") -> RelationGroup:
    """A group of one hop."""
    layers = (np.array([topic], np.int32), np.array(sorted(ends), np.int32))
    return RelationGroup(topic, (name,), log_prob, layers)


def brute_force(topics: list[list[RelationGroup]], context: float) -> float | None:
    """The score of the best reading, all readings tried; None where none of several topics wins."""
    named = {groups[0].topic for groups in topics if groups}
    telling = [[g for g in groups if set(g.ends.tolist()) - named] for groups in topics]
    topics = [groups for groups in telling if groups]
    best = None
    for choice in itertools.product(*[[None, *groups] for groups in topics]):
        used = [g for g in choice if g]
        if len(used) < 2 or not set.intersection(*[set(g.ends.tolist()) for g in used]) - named:
            continue
        own = [g.log_prob - max(o.log_prob for o in groups) for g, groups in zip(choice, topics, strict=True) if g]
        score = sum(own) + (len(topics) - len(used)) * context
        if score > (len(topics) - 1) * context + 1e-9 and (best is None or score > best):
            best = score
    return best


ENDS = st.sets(st.integers(0, 7), min_size=1, max_size=4)
TOPICS = st.lists(st.lists(st.tuples(st.floats(-6, 0, allow_nan=False), ENDS), max_size=4), min_size=1, max_size=3).map(
    lambda rows: [[group(t, p, ends, f"r{i}") for i, (p, ends) in enumerate(row)] for t, row in enumerate(rows)]
)


@hypothesis_settings(deadline=None)
@given(TOPICS)
def test_the_best_reading_is_that_of_brute_force(topics):
    relation_label, expected = best_interpretation(topics, math.log(0.05)), brute_force(topics, math.log(0.05))
    if expected is None:
        assert relation_label is None or relation_label.score == pytest.approx(
            (len([t for t in topics if t]) - 1) * math.log(0.05)
        )
        return
    assert relation_label is not None
    assert relation_label.score == pytest.approx(expected)
    meets = set.intersection(*[set(g.ends.tolist()) for g in relation_label.groups])
    assert set(relation_label.answers.tolist()) == meets - {g.topic for groups in topics for g in groups}


def test_one_topic_has_no_reading_of_several():
    assert best_interpretation([[group(0, -0.1, {5})]]) is None


def test_groups_that_do_not_meet_or_are_far_fetched_give_none():
    assert best_interpretation([[group(0, -0.1, {5})], [group(1, -0.1, {6})]]) is None
    far = [group(1, -0.1, {6}), group(1, -9.0, {5}, "s")]
    assert best_interpretation([[group(0, -0.1, {5})], far]) is None


def test_a_path_by_way_of_another_topic_says_nothing_of_its_own():
    by_way = RelationGroup(0, ("made by", "founded"), -0.1, tuple(np.array([one], np.int32) for one in (0, 1, 5)))
    beside = RelationGroup(0, ("made by", "founded"), -0.1, tuple(np.array([one], np.int32) for one in (0, 2, 5)))
    assert best_interpretation([[by_way], [group(1, -0.1, {5})]]) is None
    assert best_interpretation([[beside], [group(1, -0.1, {5})]]) is not None


def test_topics_are_normalised_where_their_labels_part():
    totals = topic_log_probs([[1, 2], [1, 3], [4]], [[math.log(0.1), -3.0], [math.log(0.1), -3.0], [math.log(0.3)]])
    assert [math.exp(t) for t in totals] == pytest.approx([0.125, 0.125, 0.75])


def test_every_topic_keeps_beams_of_its_own():
    resources = film_world()
    settings = Settings(beams=3, hops=2, compare=False, complete=False)
    events = list(run("gcr", "what?", [NOLAN, HARDY], resources, settings))
    steps = of(events, DecodeStep)
    known = {0}
    for step in steps:
        assert len({watch.beam for watch in step.watched}) == len(step.watched)
        assert {choice.parent for choice in step.choices} <= known
        known |= {choice.beam for choice in step.choices}
    assert {watch.allowed for watch in steps[0].watched} == {2}
    left = [step.paths_left for step in steps]
    assert left == sorted(left, reverse=True)


def test_paths_that_meet_come_first_and_are_cited_together():
    resources = film_world(triples=[t for t in FILMS if t[1] in ("directed by", "starring")])
    settings = Settings(beams=8, hops=1, compare=False)
    events = list(run("gcr", "films of Nolan with Hardy", [NOLAN, HARDY], resources, settings))
    found = of(events, PathFound)
    (final,) = of(events, AnswerFinal)
    assert set(final.answers) == {"Inception", "Dunkirk"}
    assert [path.path.entities[0] for path in found[:4]] in ([NOLAN, HARDY] * 2, [HARDY, NOLAN] * 2)
    assert [path.path.end for path in found[:4:2]] == [path.path.end for path in found[1:4:2]]
    assert final.citations == ((1, 2), (3, 4))
    assert "[1] and [2]" in final.text
    assert len(found) <= 8
    assert all(event.verdict.faithful for event in of(events, PathVerified))
    assert len(of(events, HypothesisAnswer)) == len(found)


def test_a_meeting_that_no_beam_found_is_read_from_the_graph_and_says_so():
    films = [(f"Film {n}", "starring", HARDY) for n in range(30)] + [("Film 29", "directed by", NOLAN)]
    films += [(f"Other {n}", "directed by", NOLAN) for n in range(30)]
    resources = film_world(triples=films)
    settings = Settings(beams=2, hops=1, compare=False)
    events = list(run("gcr", "films of Nolan with Hardy", [NOLAN, HARDY], resources, settings))
    found = of(events, PathFound)
    assert [path.path.end for path in found] == ["Film 29", "Film 29"]
    assert [path.beam >= 0 for path in found] == [not path.read for path in found]
    assert any(path.read for path in found)
    assert of(events, AnswerFinal)[-1].answers == ("Film 29",)


def test_a_path_read_from_the_graph_is_scored_as_if_decoded():
    resources = film_world()
    graph: TokenGraph = resources.token_graph
    ids = [resources.kg.entities.find(NOLAN), resources.kg.entities.find(HARDY)]
    automaton = KGAutomaton(graph, ids, 2)
    tree = resources.model.tree(resources.model.style.encode(resources.model.label_tokens, "what?", [NOLAN]))
    search = beam_search(tree, SingleTopic(automaton, 0), BeamSettings(beams=5))
    try:
        while True:
            next(search)
    except StopIteration as end:
        finished = end.value
    paths = [hypothesis.state.paths[0] for hypothesis in finished]
    for hypothesis, again in zip(finished, PathReader(graph, tree, 256).read(paths), strict=True):
        assert again is not None
        assert again.hypothesis.tokens == hypothesis.tokens
        assert again.hypothesis.log_probs == pytest.approx(hypothesis.log_probs, abs=1e-4)
        expected = relation_score(graph, again.ids, hypothesis.log_probs)
        assert again.relation_score == pytest.approx(expected, abs=1e-4)


def test_an_answer_set_is_completed_by_meetings_only():
    films = [(f"Film {n}", "starring", HARDY) for n in range(12)] + [
        (f"Film {n}", "directed by", NOLAN) for n in range(6)
    ]
    resources = film_world(triples=films)
    settings = Settings(beams=4, hops=1, compare=False)
    (final,) = of(list(run("gcr", "films?", [NOLAN, HARDY], resources, settings)), AnswerFinal)
    assert set(final.answers) == {f"Film {n}" for n in range(6)}
    assert len(final.completed) == 4
    assert all(len(numbers) == 2 for numbers in final.citations)
