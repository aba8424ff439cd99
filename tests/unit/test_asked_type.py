"""What a question asks for in so many words."""

from __future__ import annotations

import pytest

from kgdemo.reasoning.asked_type import ANYTHING, Asked, asked_types, fits, kind_of
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
        ("What is the country's capital?", {"city"}),
    ],
)
def test_a_named_type_is_read_from_the_head_of_what_is_asked_for(question, asked):
    assert asked_types(question, TYPES) == Asked(frozenset(asked), named=True)


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
    ],
)
def test_question_words_and_roles_allow_several_types(question, allowed, not_allowed):
    asked = asked_types(question, TYPES)
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
    assert asked_types(question, TYPES) == ANYTHING


def test_only_a_known_other_type_does_not_fit():
    country = Asked(frozenset(("country",)), named=True)
    assert not fits(country, "city")
    assert fits(country, "country")
    assert fits(country, "")
    assert fits(ANYTHING, "city")


def test_the_type_of_a_number_is_read_off_it():
    kg = film_world().kg
    assert kind_of(kg, "Inception") == "film"
    assert kind_of(kg, "2010") == "year"
    assert kind_of(kg, "148 minutes") == "quantity"
    assert kind_of(kg, "London") == ""
