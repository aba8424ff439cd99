"""The walk through a run, the gallery of failures, and how it works."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import press
from tests.browser.test_page import over

pytestmark = pytest.mark.browser
TEXT = json.loads(Path("assets/text.en.json").read_text("utf-8"))
STEPS = TEXT["tour"]["steps"]


def test_the_walk_has_seven_steps_and_each_is_one_action():
    assert len(STEPS) == 7
    assert all(step["act"].startswith("Try it: ") for step in STEPS.values())


def test_the_walk_goes_by_keyboard_shows_each_stage_and_leaves_by_escape(page: Page):
    page.emulate_media(reduced_motion="reduce")
    page.reload()
    expect(page.locator("#kg-stage")).to_have_attribute("data-ready", "true")
    start = page.locator(".example.walk")
    start.focus()
    page.keyboard.press("Enter")
    for number, step in enumerate(STEPS.values(), 1):
        expect(page.locator(".tour .count")).to_contain_text(f"{number} of {len(STEPS)}")
        heading = page.locator(".tour h2")
        expect(heading).to_have_text(step["title"])
        expect(heading).to_be_focused()
        expect(page.locator(".walked")).to_have_count(1)
        expect(page.locator(".walked")).to_be_in_viewport()
        assert page.locator(".tour math").count() + page.locator(".tour .algorithm li").count() > 0
        if number < len(STEPS):
            page.get_by_role("button", name="Next", exact=True).focus()
            page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.locator(".tour")).to_be_hidden()
    expect(page.locator(".walked")).to_have_count(0)
    expect(start).to_be_focused()


def test_the_walk_blocks_nothing_and_sees_what_the_visitor_does(page: Page):
    page.locator(".example.walk").click()
    act = page.locator(".tour .act")
    expect(act).not_to_have_class("act done")
    page.locator(".legend").get_by_role("button", name="neighbours").click()
    expect(act).to_have_class("act done")
    page.get_by_role("button", name="Next", exact=True).click()
    expect(act).to_have_class("act")
    press(page.locator(".example:not(.walk, .learn)").nth(1))
    expect(page.locator(".tour")).to_be_hidden()


def test_each_failure_is_told_and_replays(page: Page):
    page.get_by_text(TEXT["gallery"]["title"]).click()
    for case, said in TEXT["gallery"]["cases"].items():
        page.locator(".failure", has_text=said["title"]).click()
        expect(page.locator(".banner h2")).to_have_text(said["title"])
        expect(page.locator(".banner")).to_contain_text(said["look"])
        expect(page.locator(".banner h2")).to_be_in_viewport()  # the page has gone to where it plays
        expect(page.locator(".answer")).to_be_in_viewport()
        page.get_by_role("button", name="To the end").click()
        over(page)
        refused = page.locator(".card.grounded .verdict.no").count()
        assert (refused > 0) == (case == "5-fails-open")
        expect(page.locator(".notices", has_text="broken on purpose")).to_have_count(int(case == "5-fails-open"))
        page.locator(".example:not(.walk, .learn)").first.click()
        expect(page.locator(".banner")).to_be_hidden()


def test_how_it_works_draws_three_ways(page: Page):
    for way in TEXT["how"]["ways"].values():
        expect(page.get_by_role("img", name=way["picture"])).to_be_visible()
