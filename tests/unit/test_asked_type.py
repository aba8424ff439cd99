"""What a question asks for in so many words, and what ranking makes of it."""

from __future__ import annotations

import pytest

from kgdemo.reasoning.asked_type import WRONG_TYPE, asked_types, type_log_odds

TYPES = frozenset(("person", "city", "country", "film", "game", "games", "region", "university", "language"))


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
        ("What is the country's capital?", set()),
        ("what did the city give him", set()),
        ("capital of the country where sushi comes from", set()),
        ("film star born in Rome", set()),
        ("who wrote Dune", set()),
        ("what colour is it", set()),
        ("", set()),
    ],
)
def test_the_asked_type_is_read_from_the_words_around_what_and_which(question, asked):
    assert asked_types(question, TYPES) == asked


def test_only_a_known_other_type_speaks_against_an_end():
    country = frozenset(("country",))
    assert type_log_odds(country, "city") == WRONG_TYPE < 0
    assert type_log_odds(country, "country") == type_log_odds(country, "") == type_log_odds(frozenset(), "city") == 0
