"""GCR without one of its two models (table 3), and with a path model that is shown examples (table 4)."""

from __future__ import annotations

from kgdemo.constraint.label_tokens import PATH_END, PATH_START
from kgdemo.events import (
    AnswerFinal,
    CandidatesScored,
    DecodeStep,
    HypothesisAnswer,
    LMCall,
    Notice,
    PathFound,
    PathVerified,
)
from kgdemo.methods.gcr import GcrOptions
from kgdemo.models.base import EXAMPLES, PromptStyle
from tests.helpers.oracles import all_paths
from tests.helpers.reasoning import FILMS, INVERSE, Clerk, ask, clerk_world, film_world, of

QUESTION = "Where was the director of Inception born?"


def test_without_the_path_model_the_general_one_is_given_every_path_within_l_hops():
    clerk = Clerk()
    events = ask("gcr", QUESTION, ["Inception"], clerk_world(clerk), GcrOptions(path_model=False))
    assert not of(events, DecodeStep)
    shown = {(e.path.entities, e.path.relations) for e in of(events, PathFound)}
    expected = {(walk[::2], walk[1::2]) for walk in all_paths(FILMS, ["Inception"], 2, directed=False)}
    read = {
        (entities, tuple(INVERSE.get(r[1:], r) if r.startswith("~") else r for r in relations))
        for entities, relations in expected
        if len(set(entities)) == len(entities)  # no walk back
    }
    assert shown == read
    assert all(e.verdict.faithful for e in of(events, PathVerified))
    assert [call.purpose for call in of(events, LMCall)] == ["answer"]
    assert len(clerk.prompts) == 1
    assert all(str(e.path) in clerk.prompts[0] for e in of(events, PathFound))


def test_without_the_path_model_the_embedded_reasoner_takes_the_nearest():
    events = ask("gcr", QUESTION, ["Inception"], film_world(), GcrOptions(path_model=False), beams=3)
    assert len(of(events, PathFound)) == 3
    (weighed,) = of(events, CandidatesScored)
    assert sum(weighed.kept) == 3
    assert isinstance(events[-1], AnswerFinal)
    assert events[-1].answers


def test_a_hub_is_cut_and_that_is_said():
    triples = [("hub", "part", f"n{i}") for i in range(500)]
    events = ask("gcr", "what part?", ["hub"], film_world(triples=triples), GcrOptions(path_model=False), beams=3)
    (given,) = of(events, Notice)
    assert "given 160" in given.text
    assert len(events[-1].answers) == 500, "the answer set is whole"
    assert len(of(events, CandidatesScored)[0].options) == 160


def test_without_the_general_model_the_hypothesis_answers_are_the_answer():
    clerk = Clerk()
    events = ask("gcr", QUESTION, ["Inception"], clerk_world(clerk), GcrOptions(general_model=False), compare=False)
    written = [e.text for e in of(events, HypothesisAnswer)]
    assert list(events[-1].answers) == list(dict.fromkeys(filter(None, written)))
    for answer, cited in zip(events[-1].answers, events[-1].citations, strict=True):
        assert [e.index for e in of(events, HypothesisAnswer) if e.text == answer] == list(cited)
    assert clerk.prompts == []


def test_without_both_the_ends_of_the_paths_are_left():
    options = GcrOptions(path_model=False, general_model=False)
    events = ask("gcr", QUESTION, ["Inception"], film_world(), options, beams=3)
    assert set(events[-1].answers) == {e.path.end for e in of(events, PathFound)}


def test_examples_stand_before_the_question_in_the_path_models_prompt_and_paths_stay_in_the_graph():
    few, none = (
        ask("gcr", QUESTION, ["Inception"], film_world(), GcrOptions(examples=number), compare=False)
        for number in (3, 0)
    )
    prompts = [next(call.tokens_in for call in of(events, LMCall)) for events in (few, none)]
    model = film_world().model
    lengths = [len(model.style.with_examples(n).encode(model.label_tokens, QUESTION, ["Inception"])) for n in (3, 0)]
    assert prompts[0] - prompts[1] == lengths[0] - lengths[1] > 0
    assert len(of(few, PathFound)) == len(of(none, PathFound)) > 0
    assert all(e.verdict.faithful for e in of(few, PathVerified))


def test_examples_are_whole_paths_between_the_marks_and_the_question_comes_last():
    style = PromptStyle().with_examples(2)
    before, after = style.template.split("{question}")
    assert before.count("Example") == before.count(PATH_START) == before.count(PATH_END) == 2
    assert "{" not in before
    assert before.index(EXAMPLES[0][0]) < before.index(EXAMPLES[1][0])
    assert after == PromptStyle().template.split("{question}")[1]
    assert PromptStyle().with_examples(0) == PromptStyle()
