"""How many things a question speaks of, and how many were found."""

from __future__ import annotations

import pytest

from kgdemo.answering.computation import MethodRun
from kgdemo.answering.objections import not_so_many, order_unread
from kgdemo.events import AnswerFinal, Operation


@pytest.mark.parametrize(
    ("question", "found", "said"),
    [
        ("which five countries are permanent members", 4, "five countries"),
        ("who are the 3 tenors", 3, ""),
        ("the four rocky inner planets", 8, "four rocky inner planets"),
        ("what are the seven wonders", 7, ""),
        ("which of the four tournaments is played on clay", 1, ""),  # one of them is asked for
        ("name two countries that border France", 8, ""),  # any two
        ("which countries border France", 8, ""),
        ("which one of them", 1, ""),
    ],
)
def test_a_list_of_another_length_is_told(question: str, found: int, said: str) -> None:
    told = not_so_many(question, [f"thing {number}" for number in range(found)])
    assert said in told
    assert bool(told) is bool(said)


@pytest.mark.parametrize(
    ("question", "found", "said", "unread"),
    [
        ("who was the most beautiful woman", 12, "12 from Greek mythology", "most beautiful"),
        ("who was the most beautiful woman", 1, "1 from Greek mythology", ""),  # which may be her
        ("which cities are the largest cities of a country", 12, "country -> largest city -> city", ""),
        ("which people live in most countries", 12, "12 people", "most countries"),
        ("which gods are there", 12, "12 gods", ""),
    ],
)
def test_what_picks_one_of_many_has_to_be_said_of_them(question: str, found: int, said: str, unread: str) -> None:
    ran = MethodRun(final=AnswerFinal("", tuple(map(str, range(found))), (), ""))
    assert order_unread(question, ran, [Operation("step", said, (), ())]) == unread
