"""The first seconds: what this is, what can be asked, and a run that plays, all without a click."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from kgdemo.kg.io.catalogue import embedded_folder, embedded_names, themes
from tests.browser.test_page import ask
from tests.helpers.page import QUESTION

pytestmark = pytest.mark.browser
TEXT = json.loads(Path("assets/text.en.json").read_text("utf-8"))
SHIFTS = """window.shifted = 0; new PerformanceObserver((list) => {
  for (const shift of list.getEntries()) if (!shift.hadRecentInput) window.shifted += shift.value;
}).observe({ type: 'layout-shift', buffered: true });"""


@pytest.mark.parametrize("look", ["desktop-light", "phone-dark"], indirect=True)
def test_a_recorded_run_plays_by_itself_and_nothing_jumps(page: Page, look: str):
    page.add_init_script(SHIFTS)
    page.reload()
    board = page.locator(".board")
    expect(board).to_have_attribute("data-origin", "opening")
    expect(page.get_by_text(TEXT["start"]["title"])).to_be_in_viewport()
    expect(page.locator(".theme").first).to_be_in_viewport()
    expect(page.locator(".recording")).to_contain_text("recorded")
    expect(page.locator(".recording")).to_be_in_viewport()
    expect(page.locator(".answer .says")).to_contain_text("was born in Salzburg")  # it has played to its end
    expect(page.get_by_label("Your question")).to_have_value("")
    assert page.evaluate("window.shifted") < 0.05
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_who_wants_no_motion_sees_the_last_frame_at_once(page: Page):
    page.emulate_media(reduced_motion="reduce")
    page.reload()
    expect(page.locator(".board")).to_have_attribute("data-origin", "opening")
    first, last = page.locator(".where").inner_text().removeprefix("step ").split(" / ")
    assert first == last


def test_a_theme_asks_its_question_and_the_recording_makes_room(page: Page):
    expect(page.locator(".theme")).to_have_count(len(TEXT["themes"]["world"]))
    page.locator(".theme").first.click()
    expect(page.locator(".board")).to_have_attribute("data-origin", "live")
    expect(page.get_by_label("Your question")).to_have_value(next(iter(TEXT["themes"]["world"].values())))
    expect(page.locator(".themes")).to_be_hidden()
    expect(page.locator(".recording")).to_be_hidden()


@pytest.mark.parametrize("look", ["desktop-light", "phone-dark"], indirect=True)
def test_what_introduces_goes_when_a_question_is_sent_and_not_when_its_run_begins(page: Page, look: str):
    expect(page.locator(".intro")).to_be_visible()
    held: list[Route] = []
    page.route(re.compile("queue/join"), lambda route: held.append(route))  # the question has to wait
    ask(page, QUESTION)
    expect(page.locator(".intro")).to_be_hidden()
    expect(page.locator(".recording")).to_be_hidden()
    expect(page.locator(".board")).to_have_attribute("data-origin", "opening")  # the run that was shown stays till then
    held[0].continue_()
    expect(page.locator(".board")).to_have_attribute("data-origin", "live")


def test_recordings_are_those_of_the_graph_that_is_asked(page: Page):
    recordings = page.locator(".example:not(.walk, .learn)")
    expect(recordings.first).to_be_visible()
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Knowledge graph").first.click()
    page.get_by_role("option", name="chemistry", exact=True).click()
    expect(recordings.first).to_be_hidden()
    expect(page.locator(".theme")).to_have_count(len(TEXT["themes"]["chemistry"]))
    expect(page.locator(".picks")).to_contain_text("Graph: chemistry")


def test_each_theme_of_each_embedded_graph_has_a_question():
    assert set(TEXT["themes"]) == set(embedded_names())
    for name, questions in TEXT["themes"].items():
        assert set(questions) == {file.stem for file in themes(embedded_folder(name))}
