"""What of a message is only talk around its question, and what is left when it goes."""

from __future__ import annotations

from collections.abc import Generator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.events import Event
from kgdemo.lab.training.talk import Example, marked, train
from kgdemo.pipeline import Pipeline
from kgdemo.query.talk import cut, talk, without_talk
from kgdemo.reading import Reading
from kgdemo.reading import read as understood


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("Who painted The Hay Wain", "Who painted The Hay Wain"),
        ("Evening all, hope everyone is keeping dry! Who painted The Hay Wain?", "Who painted The Hay Wain?"),
        ("who painted the hay wain, my aunt has it on a biscuit tin", "who painted the hay wain"),
        ("what is the capital of Peru pls and thx", "what is the capital of Peru"),
        ("How high is Ben Nevis? A round figure will do.", "How high is Ben Nevis?"),
        ("Who sang Thank You for the Music?", "Who sang Thank You for the Music?"),
        ("painter, one ear, sunflowers - who", "painter, one ear, sunflowers - who"),
        ("thanks!", "thanks!"),
    ],
)
def test_what_is_left_of_a_message(typed: str, asked: str) -> None:
    assert without_talk(typed) == asked


@settings(deadline=None)
@given(st.text(max_size=60))
def test_no_word_is_made_up_and_no_text_is_too_odd(typed: str) -> None:
    assert set(without_talk(typed).split("?")[0].lower()) <= set(typed.lower()) | set(". ")
    assert all(0 <= start < end <= len(typed) and 0 <= likely <= 1 for start, end, likely in talk(typed))


def test_signs_between_words_that_stood_apart() -> None:
    text = "I saw the “Hay Wain”. Lovely. Who, dear me, painted it (by the way)?"
    words = [text.index(word) for word in ("Hay", "Wain", "Who", "painted", "it")]
    kept = [
        (start, start + len(word)) for start, word in zip(words, ("Hay", "Wain", "Who", "painted", "it"), strict=True)
    ]
    assert cut(text, kept) == "“Hay Wain. Who painted it?"


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("Lovely book club tonight, we are on Emma. Who wrote it?", "Emma"),  # which the talk names alone
        ("Good morning! My sister says I am wrong, who wrote Emma?", "who wrote Emma?"),
        ("Is it raining in Kisumu right now?", "right now"),
    ],
)
def test_how_a_message_is_read(pipeline: Pipeline, typed: str, read: str) -> None:
    reading = run_to_its_end(understood(typed, (), pipeline.opened("world")))
    assert reading is not None
    assert read in reading.text


def run_to_its_end(made: Generator[Event, None, Reading | None]) -> Reading | None:
    while True:
        try:
            next(made)
        except StopIteration as end:
            return end.value


def test_marks_of_a_message() -> None:
    assert marked("{{Hi,}} who{{, um,}} won") == ("Hi, who, um, won", [(0, 3), (7, 12)])


def test_a_tagger_learns_which_rows_are_talk() -> None:
    generator = torch.Generator().manual_seed(0)
    rows = [torch.randn(8, 768, generator=generator) for _ in range(96)]
    tagger = train([Example(one, (one[:, 0] > 0).float()) for one in rows])
    seen = torch.cat([tagger(one[None])[0] > 0 for one in rows])
    told = torch.cat([one[:, 0] > 0 for one in rows])
    assert (seen == told).float().mean() > 0.8
