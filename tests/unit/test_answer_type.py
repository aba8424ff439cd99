"""What a question asks for in so many words."""

from __future__ import annotations

import pytest

from kgdemo.query.answer_type import ANYTHING, AnswerType, Fit, answer_type_of, fits, kind_of
from tests.helpers.reasoning import film_world

TYPES = frozenset(
    "person city country film game games region university language currency symbol team formula company".split()
)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Which country was Mozart born in?", {"country"}),
        ("in what city is the louvre", {"city"}),
        ("countries that border Peru", {"country"}),
        ("movies with de niro", {"film"}),
        ("name a game by Miyamoto", {"game"}),
        ("games by Miyamoto", {"game", "games"}),
        ("what former american state is smallest", {"region"}),
        ("hi, can you tell me which universities he went to", {"university"}),
        ("whats the currency in japan", {"currency"}),
        ("what is the currency of the country of sushi", {"currency"}),
        ("official languages of the country", {"language"}),
        ("languages spoken in Peru", {"language"}),
        ("rust formula", {"formula"}),
        ("nationality of the architect of the louvre", {"country"}),
        ("symbol of iron", {"symbol"}),
        ("what province is it in", {"region"}),
        ("what school did she go to", {"university"}),
        ("What is the country's capital?", {"city"}),
        ("the city in which the composer was born", {"city"}),
        ("the louvre is in which city", {"city"}),
    ],
)
def test_a_named_type_is_read_from_the_head_of_what_is_asked_for(question, asked):
    assert answer_type_of(question, TYPES) == AnswerType(frozenset(asked), named=True)


@pytest.mark.parametrize(
    ("question", "allowed", "not_allowed"),
    [
        ("who wrote Dune", "person", "year"),
        ("tell me where he was born", "city", "person"),
        ("when did it begin", "year", "city"),
        ("how many people live there", "quantity", "city"),
        ("the author of Dune", "person", "book"),
        ("marie curie's husband", "person", "city"),
        ("film star born in Rome", "person", "film"),
        ("after whom is it named", "deity", "year"),
        ("which film director made it", "person", "film"),
    ],
)
def test_question_words_and_roles_allow_several_types(question, allowed, not_allowed):
    asked = answer_type_of(question, TYPES)
    assert not asked.named
    assert fits(asked, allowed)
    assert not fits(asked, not_allowed)


@pytest.mark.parametrize(
    "question",
    [
        "what did the city give him",
        "what is the husband of Isis the god of",
        "what colour is it",
        "how did he begin",
        "",
    ],
)
def test_a_question_that_does_not_say_asks_for_anything(question):
    assert answer_type_of(question, TYPES) == ANYTHING


def test_only_a_known_other_type_does_not_fit():
    country = AnswerType(frozenset(("country",)), named=True)
    assert not fits(country, "city")
    assert fits(country, "country") is Fit.YES
    assert fits(country, "") is Fit.YES
    assert fits(ANYTHING, "city") is Fit.YES


def test_what_is_known_as_a_place_only_may_be_any_kind_of_place():
    country, person = (AnswerType(frozenset((kind,)), named=True) for kind in ("country", "person"))
    assert fits(country, "place") is Fit.PERHAPS
    assert fits(person, "place") is Fit.NO
    assert fits(answer_type_of("where is it", TYPES), "place") is Fit.YES


@pytest.mark.parametrize(
    "question",
    ["who is Adam Sandler?", "who's betty white", "whos galileo", "Who was Lenin and why was he important?"],
)
def test_who_somebody_is_does_not_ask_for_another(question):
    assert answer_type_of(question, TYPES) == ANYTHING


@pytest.mark.parametrize(
    "question",
    [
        "who was the president after him",
        "who is he playing for",
        "who was she married too",
        "who's the wife of Adam Sandler",
        "who is angelina jolie husband name",
        "who directed Jaws and Tenet",
        "who",
    ],
)
def test_who_did_something_asks_for_somebody(question):
    assert fits(answer_type_of(question, TYPES), "person")
    assert not fits(answer_type_of(question, TYPES), "film")


def test_the_type_of_a_number_is_read_off_it():
    kg = film_world().kg
    assert kind_of(kg, "Inception") == "film"
    assert kind_of(kg, "2010") == "year"
    assert kind_of(kg, "148 minutes") == "quantity"
    assert kind_of(kg, "London") == ""
    assert kind_of(kg, "50 Cent") == "", "a name with a number in it is no quantity"
