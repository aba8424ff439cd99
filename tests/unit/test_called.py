"""What is called by another name or described, and plans weighed by what the graph can do."""

from __future__ import annotations

import pytest

from kgdemo.answering.computation import MethodRun
from kgdemo.answering.objections import is_not_between
from kgdemo.events import AnswerFinal, Operand, Operation
from kgdemo.kg.path import Path
from kgdemo.pipeline import Pipeline
from kgdemo.settings import Settings


def asked(pipeline: Pipeline, question: str) -> tuple[AnswerFinal, list[Operation]]:
    events = list(pipeline.run(question, Settings(graph="world", compare=False)))
    final = next(event for event in reversed(events) if isinstance(event, AnswerFinal))
    return final, [event for event in events if isinstance(event, Operation)]


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("king of pop", {"Michael Jackson"}),  # all that is asked is whose name it is
        ("boot shaped country in europe", {"Italy"}),  # and not what is told of it
        ("who was the Iron Lady", {"Margaret Thatcher"}),  # no film of that name
        ("dutch painter fella that cut off his own ear", {"Vincent van Gogh"}),  # each word is told of him
        ("portuguese footballer cr7", {"Cristiano Ronaldo"}),
        ("What was the first mammal ever cloned from an adult cell?", {"Dolly (sheep)"}),  # an order within a mark
        ("black and white bear that eats bamboo all day", {"giant panda"}),  # the words of a mark in another order
        ("Which wives of Henry VIII had their heads cut off?", {"Anne Boleyn", "Catherine Howard"}),  # and of a kind
        ("the sunshine state's capital", {"Tallahassee"}),  # more is asked than whose name it is
        ("Big Apple population", {"8,300,000 people"}),
        ("everyone in BTS", set("J-Hope|Jimin|Jungkook|Suga (rapper)|V (singer)|Jin (singer)|RM (rapper)".split("|"))),
        ("how far away is the moon", {"384,400 km"}),
        ("Who recorded Under Pressure together with Queen?", {"David Bowie"}),
        ("Who did Muhammad Ali fight in the Rumble in the Jungle?", {"George Foreman"}),
        ("Which planet is between Saturn and Neptune?", {"Uranus (planet)"}),
        ("Which element lies between carbon and oxygen?", {"Nitrogen"}),
        ("What's longer, a mile or a kilometre?", {"Mile"}),  # neither is asked about alone
        ("Which did Orwell publish first, Animal Farm or Nineteen Eighty-Four?", {"Animal Farm (novel)"}),
        ("Are AC/DC an Australian band?", {"Yes"}),
        ("nokia is a japanese company right?", {"No"}),
        ("Was Ringo Starr the drummer in the Beatles?", {"Yes"}),
    ],
)
def test_it_is_answered_and_checked(pipeline: Pipeline, question: str, answers: set[str]) -> None:
    final, operations = asked(pipeline, question)
    assert set(final.answers) == answers
    assert all(operation.verified for operation in operations)


@pytest.mark.parametrize(
    "question",
    [
        "capital of the Big Apple",  # a city has none
        "Was Freddie Mercury the drummer in Queen?",  # a member of the band need not be
        "Did Michelangelo paint the floor of the Sistine Chapel?",  # where he is buried says nothing of it
    ],
)
def test_what_does_not_decide_it_is_no_answer(pipeline: Pipeline, question: str) -> None:
    assert asked(pipeline, question)[0].refusal


def test_what_two_things_share_does_not_lie_between_them() -> None:
    def both(relation: str) -> list[Operation]:
        paths = tuple(Path((planet, "z"), (relation,)) for planet in ("x", "y"))
        return [Operation("both", "", (Operand("z", paths),), ("z",))]

    question = "What lies between x and y?"
    assert is_not_between(question, MethodRun(), both("orbits"))
    assert not is_not_between(question, MethodRun(), both("coast on"))
    assert not is_not_between("Which star do x and y orbit?", MethodRun(), both("orbits"))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is Adele from London?", ("Yes",)),
        ("Is Adele from Manchester?", ()),  # which lies in the country whose citizen she is
        ("Is Lego a Swedish company?", ("No",)),
        ("Who directed Apocalypse Now?", ("Francis Ford Coppola",)),  # a word of the name, not of the question
        ("How many feet are in a mile?", ("5280",)),  # a unit is what is counted, not what is asked about
    ],
)
def test_a_word_of_the_question_is_what_it_is_there(pipeline: Pipeline, question: str, answer: tuple[str, ...]) -> None:
    assert asked(pipeline, question)[0].answers == answer
