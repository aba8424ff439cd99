"""Questions said in other words, centuries and names that begin with a word: read, computed, and computed again."""

from __future__ import annotations

import pytest

from kgdemo.answering.spans import _century
from kgdemo.events import Operand, Operation
from kgdemo.query.form import plan_of
from kgdemo.query.query import Form
from kgdemo.query.rewordings import in_other_words
from kgdemo.verify_operations import _CHECKS


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("Clyde Tombaugh found Pluto in which year", "when did Clyde Tombaugh discover Pluto"),
        ("year Darwin published On the Origin of Species", "when did Darwin publish On the Origin of Species"),
        ("which one's longer, the Danube or the Rhine", "which one is longer, the Danube or the Rhine"),
        ("who ruled in the twentieth century", "who ruled in the 20th century"),
        ("Of Rome and Paris, which city is further north", "which city is further north, Rome or Paris"),
        ("which has more moons mars or neptune", "which has more moons, mars or neptune"),
        ("Which mountain is Africa's second highest", "what is the second highest mountain in Africa"),
        ("has Finland joined NATO", "is Finland in NATO"),
        ("What currency will I need for my trip to Vietnam", "what is the currency of Vietnam"),
        ("who is married to the god of war", "who is the spouse of the god of war"),
        ("who wrote The Trial", "who wrote The Trial"),
    ],
)
def test_it_is_said_in_the_words_that_are_read(said: str, read: str):
    assert in_other_words(said) == read


def test_what_is_outside_a_place_whose_century_and_whose_name_are_asked_for():
    assert plan_of("what is the highest mountain outside Asia").without == "Asia"
    assert plan_of("in what century was Mozart born").century
    assert plan_of("which popes were called Gregory").initial == "Gregory"
    assert plan_of("When did Nelson Mandela become president of South Africa?").attributes == ("in office from",)
    assert plan_of("what's Zeus's phone number?").form is Form.UNANSWERABLE


@pytest.mark.parametrize(("year", "century"), [(1, "1st"), (100, "1st"), (101, "2nd"), (1100, "11th"), (2001, "21st")])
def test_a_century_is_computed_twice(year: int, century: str):
    assert _century(year) == f"{century} century"
    operation = Operation("century", "", (Operand("it", (), "born", str(year)),), (f"{century} century",))
    assert _CHECKS["century"](operation)
    assert not _CHECKS["century"](Operation("century", "", operation.operands, ("5th century",)))
    assert _century(-year) == f"{century} century BC"
