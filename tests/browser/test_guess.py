"""Guess first: by keyboard alone, on a phone and in the dark, and nothing of what comes is given away."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_everyone import complaints
from tests.browser.test_page import replay

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("look", ["desktop-light", "phone-dark"], indirect=True)
def test_a_round_is_played_by_keyboard_and_ends_in_a_score(page: Page, look: str):
    page.emulate_media(reduced_motion="reduce")  # else the stage under way pulses for ever
    replay(page)
    page.locator(".example.learn", has_text="Guess").focus()
    page.keyboard.press("Enter")
    card = page.locator(".guess")
    heading = card.get_by_role("heading")
    expect(heading).to_have_text(re.compile("token 1 of"))
    expect(heading).to_be_focused()
    turns = int(heading.inner_text().split(" ")[-1])
    for turn in range(1, turns + 1):
        expect(heading).to_have_text(re.compile(f"token {turn} of", re.IGNORECASE))
        expect(page.locator(".answer .says")).to_have_count(0)
        expect(card.locator("table")).to_have_count(0)
        page.keyboard.press("Tab")  # leave
        page.keyboard.press("Tab")  # the first token
        page.keyboard.press("Enter")
        expect(card.locator("tr.taken")).to_have_count(1)
        expect(card.locator("td", has_text="you")).to_have_count(1)
        if turn == 1:
            assert complaints(page) == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
    expect(card.get_by_role("status")).to_have_text(re.compile(rf"You foresaw \d+ of {turns} tokens"))
    expect(page.locator(".answer .says")).to_have_count(1)
    card.get_by_role("button", name="Leave").click()
    expect(card).to_be_hidden()
    expect(page.locator(".example.learn", has_text="Guess")).to_be_focused()


def test_another_run_ends_the_round(page: Page):
    page.locator(".example.learn", has_text="Guess").click()
    expect(page.locator(".guess .options button").first).to_be_visible()
    page.locator(".example:not(.walk, .learn)").nth(1).click()
    expect(page.locator(".guess")).to_be_hidden()
