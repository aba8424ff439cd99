"""Methods that think aloud: their thoughts as a tree beside the picture, and the answer in short above it all."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from kgdemo.view.escape import visible
from tests.browser.conftest import ARTEFACTS, press
from tests.browser.test_everyone import complaints
from tests.browser.test_keep import opened
from tests.browser.test_page import ask, over, replay
from tests.helpers.small import NASTY, QUESTION
from tests.helpers.thinking import REASON, as_trace, thinking

pytestmark = pytest.mark.browser
DASHED = "(mark) => getComputedStyle(mark).strokeDasharray"


@pytest.fixture
def motion() -> str:
    """Everything stands still at once."""
    return "reduce"


def think(page: Page, written: str = "London") -> None:
    """A hand-written run of a method that thinks, at its end."""
    opened(page, as_trace(thinking(written)))
    over(page)


@pytest.mark.parametrize("look", ["desktop-light", "phone-dark"], indirect=True)
def test_thoughts_stand_beside_the_picture_with_what_was_dropped_and_why(page: Page, look: str):
    think(page)
    rows = page.locator(".card.thoughts .rows li")
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("kept: rated best")
    expect(rows.first).to_contain_text("NeighbourCheck[Inception, directed by]")
    expect(page.locator(".thoughts li.pruned .fate")).to_contain_text(f"dropped: {REASON}")
    expect(page.locator(".thoughts li.merged .fate")).to_contain_text("joins the thoughts 1, 4")
    assert page.locator(".thoughts li.merged").get_attribute("style") == "--level:1"
    expect(page.locator(".thoughts .lines path")).to_have_count(2)  # from each of the two that were joined
    dashes = [rows.nth(place).locator(".mark path").first.evaluate(DASHED) for place in (0, 1, 2)]
    assert sum(dash != "none" for dash in dashes) == 1  # told apart by shape, not by colour alone
    expect(page.locator(".card.allowed")).to_be_hidden()  # this method decodes nothing
    expect(page.locator(".card.invented")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"thoughts-{look}.png", full_page=True)
    page.evaluate("for (const fold of document.querySelectorAll('.kg details')) fold.open = true")
    assert complaints(page) == []


def test_a_thought_lights_what_it_looked_at_and_decisions_name_what_was_turned_down(page: Page):
    think(page)
    page.evaluate("document.querySelector('.card.graph .twin').open = true")
    looked = page.locator(".twin tr", has_text="only looked at")
    expect(looked.filter(has_text="Elliot Page")).to_have_count(1)
    expect(looked.filter(has_text="Leonardo DiCaprio")).to_have_count(1)  # turned down, and drawn
    page.locator(".card.thoughts li.pruned").hover()
    expect(looked.filter(has_text="Elliot Page")).to_have_class(re.compile("lit"))
    expect(looked.filter(has_text="Leonardo DiCaprio")).not_to_have_class(re.compile("lit"))
    press(page.locator(".card.thoughts summary"))
    expect(page.locator(".decisions .no").first).to_contain_text("Leonardo DiCaprio")


def test_stepping_back_takes_a_judgement_back(page: Page):
    think(page)
    page.get_by_role("button", name="To the start").click()
    expect(page.locator(".card.thoughts")).to_be_hidden()
    for _ in range(9):
        page.get_by_role("button", name="One step forward").click()
    expect(page.locator(".thoughts .rows li").first).to_be_visible()
    expect(page.locator(".thoughts li.pruned")).to_have_count(0)
    page.get_by_role("button", name="To the end").click()
    expect(page.locator(".thoughts li.pruned")).to_have_count(1)


def test_what_a_model_writes_stays_text(page: Page):
    for written in NASTY:
        think(page, written)
        page.evaluate("for (const fold of document.querySelectorAll('.kg details')) fold.open = true")
        expect(page.locator(".answer .text")).to_contain_text(visible(written, 60).removesuffix("…"))
        assert page.evaluate("window.pwned") is None, written
        assert page.locator(".kg img").count() == 0, written
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), written


def test_a_method_that_thinks_is_asked_from_the_page(page: Page):
    ask(page, QUESTION)
    over(page)
    run = page.locator(".board").get_attribute("data-run")
    page.get_by_label("Compare with another method").select_option("agent-tot")
    press(page.get_by_role("button", name="Run it"))
    expect(page.locator(".board")).not_to_have_attribute("data-run", run)
    over(page)
    expect(page.locator(".thoughts .rows li").first).to_contain_text("Inception")
    expect(page.locator(".thoughts li.pruned .fate").first).to_contain_text(re.compile("dropped: .+"))


def test_the_answer_stands_right_under_the_question(page: Page):
    replay(page)
    answer = page.locator(".card.answer")
    expect(answer.locator(".says")).to_contain_text("was born in Salzburg")
    assert answer.bounding_box()["y"] < page.locator(".card.grounded").bounding_box()["y"]
    page.get_by_role("button", name="To the start").click()
    page.get_by_role("button", name="One step forward").click()
    expect(answer).to_contain_text("Looking for entities.")
    page.get_by_role("button", name="To the end").click()
    answer.locator(".cite").first.hover()
    expect(page.locator(".card.grounded li.path.lit")).to_have_count(1)


@pytest.mark.parametrize("look", ["phone-light"], indirect=True)
def test_on_a_phone_the_answer_is_in_the_first_screen(page: Page, look: str):
    replay(page)
    page.evaluate("scrollTo(0, 0)")
    bottom = page.locator(".answer .says").evaluate("(e) => e.getBoundingClientRect().bottom")
    assert bottom <= 844
