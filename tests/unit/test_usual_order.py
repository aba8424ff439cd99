"""Questions that state something before they ask, or ask at their end, in the usual order; short words written out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdemo.query.spelling import in_full, in_roman, in_whole_words
from kgdemo.query.word_order import in_usual_order


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("If the elephant is the heaviest of the mammals, which comes second?", "what is the second heaviest mammal?"),
        ("Asia is the largest continent. Which is number two in size?", "what is the second largest continent?"),
        ("Obama was the first black president. Who was the second?", "Who was the second black president?"),
        ("Gagarin orbited the Earth first, who was second?", "who orbited the Earth second?"),
        ("After Everest, which peak comes third for height?", "what is the third highest peak?"),
        ("Sydney had the first World Expo. What city got the second?", "What city hosted the second World Expo?"),
        ("Debut was Björk's first album. What was her third album?", "What was Björk's third album?"),
        (
            "Mali won the cup first. Which country was the second to win it?",
            "Which country was the second to win the cup?",
        ),
        ("Between Oslo and Rome, which is further north?", "which is further north, Oslo or Rome?"),
        ("Who wrote the song together with John Lennon?", "besides John Lennon, who wrote the song?"),
        ("Pelé played for which club?", "which club Pelé played for?"),
        ("Cork comes from which tree?", "which tree does Cork come from?"),
        ("The bridge was opened in Porto in which year?", "in which year was The bridge opened in Porto?"),
        ("The Rhine is in Germany?", "The Rhine is in Germany, right?"),
        ("titles of the three Dune books", "name the three Dune books"),
        ("Founders of Intel, names", "name the Founders of Intel"),
        ("the four main food groups", "name the four food groups"),
        ("all 4 beatles names", "name the 4 beatles"),
        ("all four of ABBA by name", "who are the members of ABBA?"),
        ("After the ostrich, what's the next tallest bird?", "what is the second tallest bird?"),
        ("the capital of Mongolia, what's it called?", "what is the capital of Mongolia?"),
        ("which car company's older, Ford or Fiat", "which car company is older, Ford or Fiat"),
        ("what's been around longer, tea or beer?", "which is older, tea or beer?"),
        ("Russia's the biggest country by land, so who's number two", "what is the second biggest country by land?"),
        ("is Thor supposed to be Odin's son", "is Thor Odin's son"),
        ("whats heavier gold or lead", "which is heavier, gold or lead?"),
        ("How many columns stand around the temple?", "How many columns are there around the temple?"),
    ],
)
def test_a_question_in_the_usual_order(typed: str, asked: str) -> None:
    assert in_usual_order(typed) == asked


@pytest.mark.parametrize(
    "typed",
    [
        "Who wrote Emma and in what year?",
        "In the film Jaws, the shark attacks which town?",
        "Everest is the highest mountain in the world. What is its height?",
        "Which is the second largest planet?",
        "the tower that leans",
        "What is Thor's hammer called?",
        "Name a river that is in Spain?",
        "CAPITAL OF CANADA STOP NOT TORONTO STOP PLEASE ADVISE "
        * 30,  # which is read at once, however many words it has
    ],
)
def test_what_is_in_order_stays(typed: str) -> None:
    assert in_usual_order(typed) == typed


@given(st.text(max_size=80))
def test_any_text_stays_a_text(typed: str) -> None:
    assert isinstance(in_usual_order(in_whole_words(typed)), str)


def test_short_words_and_symbols() -> None:
    assert in_whole_words("wot did woody n buzz do b4 the end") == "what did woody and buzz do before the end"
    assert in_whole_words("What is N in chemistry?") == "What is N in chemistry?"
    assert in_whole_words("whats older") == "what is older"


def test_numbers_of_kings_are_those_of_names() -> None:
    names = {"Louis XVI", "Henry VIII"}
    assert in_roman("who was louis 16ths wife", names.__contains__) == "who was Louis XVI's wife"
    assert in_roman("Henry the 8th", names.__contains__) == "Henry VIII"
    assert in_roman("the 8th planet, route 66th", names.__contains__) == "the 8th planet, route 66th"


def test_two_of_a_kind_and_shortened_mountains() -> None:
    names = {"African elephant", "Asian elephant", "Mount Elgon"}
    asked = in_full("which elephant is bigger, the African or the Asian?", names.__contains__)
    assert asked == "which is bigger, African elephant or Asian elephant?"
    assert in_full("how high is mt. Elgon", names.__contains__) == "how high is Mount Elgon"
    assert in_full("which river is longer, the Nile or the Rhine?", names.__contains__).startswith("which river")
