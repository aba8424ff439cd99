"""Methods chosen in the page: each runs to a cited answer, and its thoughts and candidates are shown."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from kgdemo.methods import METHODS
from tests.browser.test_page import ask, over
from tests.helpers.small import QUESTION

pytestmark = pytest.mark.browser


def choose(page: Page, method: str) -> None:
    """Take a method in the settings."""
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Method", exact=True).click()
    page.get_by_role("option", name=METHODS[method].title, exact=True).click()


def test_every_registered_method_can_be_chosen(page: Page):
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Method", exact=True).click()
    titles = page.get_by_role("listbox").get_by_role("option").all_inner_texts()
    assert [title.strip().removeprefix("✓").strip() for title in titles] == [card.title for card in METHODS.values()]


@pytest.mark.parametrize("method", ["fidelis", "agent-got", "kaping"])
def test_a_method_chosen_in_the_settings_answers_from_verified_paths(page: Page, method: str):
    choose(page, method)
    ask(page, QUESTION)
    over(page)
    expect(page.locator(".card.grounded .ratio")).to_contain_text(re.compile(r"(\d+) of \1 paths? exist"))
    expect(page.locator(".answer .text")).not_to_be_empty()
    expect(page.locator(".answer .cite").first).to_be_visible()
