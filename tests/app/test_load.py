"""The load test asks as a browser does, counts what fails, and measures memory."""

from __future__ import annotations

import pytest

from kgdemo.errors import UserError
from kgdemo.lab.benchmarks.product import Page, load, load_sentence
from tests.helpers.small import FAILING, QUESTION


def test_askers_share_the_questions_and_those_without_an_end_are_counted(address: str):
    found = load(Page(address), [QUESTION, "Who directed Dunkirk?", FAILING, QUESTION], 3)
    assert (found.askers, found.questions) == (3, 4)
    assert found.failed == 1, "a run that cannot go on has no answer"
    assert 0 < found.median <= found.p95 <= found.longest
    assert found.per_second > 0
    assert found.memory_mb > 100
    assert found.slope_kb is None
    assert load_sentence(found).startswith("3 askers, 4 questions, 1 failed: ")


def test_where_no_page_is_served_a_sentence_says_so():
    with pytest.raises(UserError, match="this demo is not served"):
        Page("http://127.0.0.1:1")
