"""What can be asked next: of edges that are there, about what the run was about, and about nothing twice."""

from __future__ import annotations

from kgdemo.events import (
    AnswerFinal,
    Candidate,
    EntitiesLinked,
    Event,
    NextQuestions,
    PathFound,
    RunFailed,
    RunFinished,
    RunStarted,
)
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.view.next_questions import _WORDINGS, LIMIT, next_questions, with_next

KG = KnowledgeGraph.from_triples(
    [
        ("Inception", "directed by", "Nolan"),
        ("Inception", "starring", "Page"),
        ("Nolan", "born in", "London"),
        ("Nolan", "spouse", "Emma"),
        *(("Crowd", "child", f"child {n}") for n in range(40)),
        ("Gadget", "has_part", "Wheel"),
    ]
)
STARTED = RunStarted("Who directed Inception?", "gcr", "g", 5, "m", 3, 2)


def test_topics_and_answers_come_in_turn_and_what_was_used_is_not_asked_again():
    assert next_questions(KG, ["Inception"], ["Nolan"], {"directed by"}, "Who directed Inception?") == (
        "Who stars in Inception?",
        "Where was Nolan born?",
        "Who was Nolan married to?",
    )


def test_a_relation_without_words_of_its_own_is_asked_for_in_its_words():
    assert next_questions(KG, ["Gadget"], [])[0] == "Gadget has part what?"


def test_relations_whose_words_name_nothing_are_asked_for_in_other_words_or_not_at_all():
    facts = [("Iraq War", relation, relation.upper()) for relation in ("began in year", "achieved", "took part in")]
    kg = KnowledgeGraph.from_triples([*facts, ("Iraq War", "boss", "Bo"), ("Bo", "spouse", "Li")])
    assert next_questions(kg, ["Iraq War"], []) == (
        "In which year did Iraq War begin?",
        "What is the boss of Iraq War?",
        "Who was Bo married to?",
    )


def test_there_are_three_wherever_the_graph_can_answer_three(world):
    for topics in (["Vienna"], ["New Atlantis"], ["Planet with the most moons"], ["Arcetri"], ["Nobody"], []):
        questions = next_questions(world, topics, [], {"capital of"}, "What?")
        assert len(set(questions)) == LIMIT, topics


def test_where_nothing_was_found_they_are_about_what_the_graph_knows_most_of(world):
    questions = next_questions(world, [], [], (), "What is the meaning of life?")
    assert questions[0] == "What is the capital of France?"
    assert len({question.split(" of ")[0] for question in questions}) == LIMIT  # each of another relation


def test_what_is_not_in_the_graph_or_leads_to_too_many_gives_general_questions():
    for topics in (["Nobody"], ["Crowd"], []):
        questions = next_questions(KG, topics, [])
        assert 0 < len(questions) <= LIMIT
        assert not any("Crowd" in question and "children" in question for question in questions)


def test_they_follow_the_answer_and_come_before_a_failure():
    path = Path(("Inception", "Nolan"), ("directed by",))
    run: list[Event] = [
        STARTED,
        EntitiesLinked((), ("Inception",)),
        PathFound(True, 1, str(path), -1.0, path),
        AnswerFinal("Nolan [1]", ("Nolan",), ((1,),), "m"),
        RunFinished(1.0, 1, 1, 1),
    ]
    shown = list(with_next(run, lambda: KG))
    assert [event for event in shown if not isinstance(event, NextQuestions)] == run
    assert isinstance(shown[4], NextQuestions)
    assert "Who directed Inception?" not in shown[4].questions
    failed: list[Event] = [STARTED, EntitiesLinked((), (), (Candidate("Nolan", 0.9),)), RunFailed("No entity.")]
    before, last = list(with_next(failed, lambda: KG))[-2:]
    assert isinstance(before, NextQuestions)
    assert "Where was Nolan born?" in before.questions
    assert last == failed[-1]


def test_a_run_that_fails_before_anything_is_looked_up_loads_no_graph():
    def never() -> KnowledgeGraph:
        raise AssertionError("the graph was loaded")

    assert list(with_next([RunFailed("Too many.")], never)) == [RunFailed("Too many.")]


def test_every_wording_is_of_a_relation_of_the_embedded_graph_and_names_the_entity_once(world):
    kg = world
    for relation, wording in _WORDINGS.items():
        assert relation in kg.step_labels, relation
        assert wording.count("{e}") == 1
        assert wording.endswith("?")
