"""How many things a question speaks of, and how many were found."""

from __future__ import annotations

import pytest

from kgdemo.answering.clauses import not_so_many


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
