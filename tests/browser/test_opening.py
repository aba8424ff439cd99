"""The first seconds: what this is, what can be asked, and a run that plays, all without a click."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from kgdemo.facts import tsv_triples
from kgdemo.kg.io.catalogue import embedded_folder, embedded_names, themes
from tests.browser.conftest import drawn
from tests.browser.test_page import ask, replay
from tests.helpers.small import QUESTION

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
    expect(page.locator(".recording .term")).to_have_attribute("data-why", TEXT["recording"]["says"])
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


@pytest.mark.parametrize("look", ["desktop-light", "phone-dark"], indirect=True)
def test_the_map_of_themes_says_how_much_is_known_and_its_questions_are_asked(page: Page, look: str):
    graph = embedded_folder("world")
    sizes = {file.stem: len(list(tsv_triples(file))) for file in themes(graph)}
    total = f"{sum(sizes.values()):,}"
    expect(page.get_by_role("heading", name=f"Ask about {total} facts in {len(sizes)} themes")).to_be_visible()
    first = Path("assets/traces/1-flute.jsonl").read_text("utf-8").split("\n")[0]
    assert f"{json.loads(first)['triples']:,}" == total  # the recorded run says the same
    across = {}
    for theme in page.locator(".theme").all():
        name = theme.get_attribute("data-theme")
        expect(theme).to_have_accessible_name(f"{name} {sizes[name]:,} facts")
        across[name] = theme.locator("i").evaluate("(disc) => parseFloat(getComputedStyle(disc).width)")
    assert set(across) == set(sizes)
    for name, facts in sizes.items():  # areas are in proportion
        assert (across[name] / across["films"]) ** 2 == pytest.approx(facts / sizes["films"], rel=0.05)
    page.locator(".theme[data-theme=music]").click()
    expect(page.locator(".theme[aria-pressed=true]")).to_have_attribute("data-theme", "music")
    questions = page.locator(".theme-questions button")
    expect(questions).to_have_text(TEXT["themes"]["world"]["music"])
    questions.first.click()
    expect(page.locator(".board")).to_have_attribute("data-origin", "live")
    expect(page.get_by_label("Your question")).to_have_value(TEXT["themes"]["world"]["music"][0])
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


def test_each_theme_of_each_embedded_graph_has_questions():
    assert set(TEXT["themes"]) == set(embedded_names())
    for name, questions in TEXT["themes"].items():
        assert set(questions) == {file.stem for file in themes(embedded_folder(name))}
        assert {len(asked) for asked in questions.values()} == {3}


@pytest.mark.parametrize("look", ["desktop-light", "phone-dark"], indirect=True)
def test_terms_are_explained_to_a_pointer_a_finger_and_a_keyboard(page: Page, look: str):
    page.emulate_media(reduced_motion="reduce")
    replay(page)
    box = page.get_by_role("tooltip")
    stage = page.locator(".stages").get_by_role("button", name=TEXT["stages"]["decode"])
    stage.click()
    expect(box).to_have_text(TEXT["stages"]["about"]["decode"])
    expect(stage).to_have_accessible_description(TEXT["stages"]["about"]["decode"])
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    page.keyboard.press("Tab")  # to the next stage
    expect(box).to_have_text(TEXT["stages"]["about"]["verify"])
    if look.startswith("phone"):
        page.get_by_role("button", name="Paths", exact=True).click()
    for word in page.locator(".regions .term, .card .note .term, .marks .term").all():
        if look.startswith("desktop"):
            word.scroll_into_view_if_needed()
            word.hover()
        else:
            word.focus()
        expect(box).to_have_text(word.get_attribute("data-why"))
        place = box.bounding_box()
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= page.viewport_size["width"]
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur(); document.querySelector('.kg').scrollIntoView()")
    stage.focus()  # the page scrolls to it, and so does its explanation
    drawn(stage)
    below = box.bounding_box()["y"] - stage.bounding_box()["y"]
    assert abs(below) < 150
    expect(box).to_be_in_viewport()
    assert page.locator(".regions .term").inner_text() == "token"
