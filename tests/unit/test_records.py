"""Records and values that a question means in words of its own: what is taken, what is left, and what is computed."""

from __future__ import annotations

import pytest

from kgdemo.answering.records import says_order
from kgdemo.events import AnswerFinal, Operation
from kgdemo.pipeline import Pipeline
from kgdemo.query.form import plan_of
from kgdemo.query.measures import converted, unit_asked
from kgdemo.query.rewordings import in_other_words
from kgdemo.query.spelling import with_apostrophes
from kgdemo.settings import Settings


def asked(pipeline: Pipeline, question: str) -> tuple[list[Operation], AnswerFinal]:
    events = list(pipeline.run(question, Settings(compare=False, explain=0)))
    final = next(event for event in events if isinstance(event, AnswerFinal))
    return [event for event in events if isinstance(event, Operation)], final


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which film has made the most money at the box office ever?", "Avatar (2009 film)"),
        ("who was the 2nd man to walk on the moon?", "Buzz Aldrin"),
        ("First man-made satellite ever put in orbit?", "Sputnik 1"),
        ("Which country was the first one to give women the vote?", "New Zealand"),
        ("I'd like to know which bird is the tiniest of them all", "bee hummingbird"),
        ("Where is more coffee produced than in any other country?", "Brazil"),
        ("Which country grows more coffee than any other?", "Brazil"),
    ],
)
def test_a_record_in_other_words_is_answered_by_its_holder(pipeline: Pipeline, question: str, answer: str) -> None:
    operations, final = asked(pipeline, question)
    assert final.answers == (answer,)
    assert [one.kind for one in operations] == ["step"]
    assert operations[0].verified
    assert operations[0].operands[0].paths[0].end == answer


@pytest.mark.parametrize(
    "question",
    [
        "Which US president had also been a five-star general in the Second World War?",
        "What were the names of Columbus's three ships on his first voyage?",  # of a voyage, not of who sailed first
        "Can you tell me the oldest savings bank of Uruguay?",
    ],
)
def test_what_only_looks_like_a_record_is_not_answered_by_one(pipeline: Pipeline, question: str) -> None:
    _, final = asked(pipeline, question)
    assert final.refusal


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("who was on the Moon before anybody else", True),
        ("the third president", True),
        ("which lake is deepest", True),
        ("where is Lake Baikal", False),
        ("who fought in the Second World War", False),
    ],
)
def test_whether_a_question_says_an_order(text: str, says: bool) -> None:
    assert says_order(text) is says


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Mains voltage in the UK, does anyone know?", "230 V"),
        ("how hot is the suns surface", "5,500 °C"),
        ("How tall is the Eiffel Tower in feet?", "1,083 feet"),
        ("At what temperature in fahrenheit does water freeze?", "32 °F"),
        ("What date is St Patrick's Day?", "17 March"),
    ],
)
def test_a_value_in_other_words(pipeline: Pipeline, question: str, answer: str) -> None:
    operations, final = asked(pipeline, question)
    assert final.answers == (answer,)
    assert all(one.verified for one in operations)


@pytest.mark.parametrize(
    "question",
    [
        "How many hospitals are there in the UK?",
        "what colours are the shoelaces of the Olympic team?",
    ],
)
def test_a_value_that_is_not_asked_for_is_no_answer(pipeline: Pipeline, question: str) -> None:
    _, final = asked(pipeline, question)
    assert final.refusal


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Did the Ottoman Empire still exist in 1910?", "Yes"),
        ("Was Mozart still alive in 1800?", "No"),
        ("has New Zealand ever won the Rugby World Cup", "Yes"),
        ("Is Istanbul the capital of Turkey?", "No"),
        ("has Finland joined NATO", "Yes"),
        ("does Bolivia have a coastline on the ocean", "No"),
        ("does Peru have a coast?", "Yes"),
        ("Was Frida Kahlo Mexican?", "Yes"),
    ],
)
def test_yes_or_no(pipeline: Pipeline, question: str, answer: str) -> None:
    _, final = asked(pipeline, question)
    assert final.answers == (answer,)


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("what city has hosted the summer AND the winter olympics", {"Beijing"}),
        ("Which daughter of Zeus is the goddess of hunting?", {"Artemis"}),
        ("What is the biggest moon of the sixth planet from the Sun?", {"Titan (moon)"}),
        ("which planet is named after the Roman god of the sea?", {"Neptune (planet)"}),
        ("Which sign is number three in the zodiac?", {"Gemini"}),
        ("Which physicist was awarded the Nobel Prize in Physics twice?", {"John Bardeen"}),
        ("Which country has the second largest area in the world?", {"Canada"}),
        ("what is the normal body temperature of a human being", {"37 °C"}),
        ("when did england win the world cup (the men)", {"1966"}),
        ("When did Norway dissolve its union with Sweden?", {"7 June 1905"}),
        ("Is Greece or Portugal the larger country by area?", {"Greece"}),
        ("which US states have a coast on the Pacific Ocean", set("Alaska|California|Hawaii|Oregon".split("|"))),
    ],
)
def test_each_word_of_a_question_acts(pipeline: Pipeline, question: str, answers: set[str]) -> None:
    _, final = asked(pipeline, question)
    assert answers <= set(final.answers)
    assert len(final.answers) <= len(answers) + 1


@pytest.mark.parametrize(
    ("number", "unit", "asked_in", "said"),
    [
        (0.0, "°C", "fahrenheit", "32 °F"),
        (100.0, "°C", "kelvin", "373.15 K"),
        (0.0, "K", "celsius", "-273.15 °C"),
        (1609.344, "m", "miles", "1 miles"),
        (330.0, "m", "metres", ""),  # it has that unit
        (330.0, "m", "kelvin", ""),
        (5.0, "people", "feet", ""),
    ],
)
def test_a_value_in_the_unit_that_is_asked_for(number: float, unit: str, asked_in: str, said: str) -> None:
    assert converted(number, unit, asked_in) == said


def test_the_unit_is_taken_out_of_the_question() -> None:
    assert unit_asked("How tall is Big Ben in feet?") == ("feet", "How tall is Big Ben?")
    assert unit_asked("How tall is Big Ben?") == ("", "How tall is Big Ben?")
    assert plan_of("How tall is Big Ben in feet?").unit == "feet"


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("what is element number 3 in the periodic table", "which element has the atomic number 3"),
        ("which country has the second largest area in the world", "what is the second largest country in the"),
    ],
)  # fmt: skip
def test_other_words_for_the_same(question: str, other: str) -> None:
    assert in_other_words(question).startswith(other[:24])


def test_an_apostrophe_is_put_where_a_name_owns_something() -> None:
    def is_name(text: str) -> bool:
        return text.lower() in ("saturn", "sun", "suns", "paris")

    assert with_apostrophes("what is saturns biggest moon", is_name) == "what is saturn's biggest moon"
    assert with_apostrophes("how hot is the suns surface", is_name) == "how hot is the sun's surface"
    assert with_apostrophes("what is the Suns home", is_name) == "what is the Suns home"
