"""A visitor's walk through the page: replay, ask, stop, overrule, and make every mistake."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ARTEFACTS
from tests.helpers.small import CLOSED, ENDLESS, QUESTION

pytestmark = pytest.mark.browser
LOOKS = ["desktop-light", "desktop-dark", "phone-light", "phone-dark"]


def ask(page: Page, question: str) -> None:
    page.get_by_label("Your question").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()


def over(page: Page) -> None:
    expect(page.locator(".board")).to_have_attribute("data-over", "true")


def replay(page: Page, number: int = 0) -> None:
    """An example, at its end; the first one by default."""
    page.locator(".example:not(.walk, .learn)").nth(number).click()
    page.get_by_role("button", name="To the end").click()
    over(page)


@pytest.mark.parametrize("look", LOOKS, indirect=True)
def test_an_example_replays_without_a_model_and_fits_the_window(page: Page, look: str):
    replay(page)
    expect(page.locator(".card.grounded .verdict.ok")).to_have_count(5)
    expect(page.locator(".card.invented li.path")).to_have_count(5)
    expect(page.locator(".answer .cite").first).to_be_visible()
    expect(page.locator(".tokens tr.no").first).to_contain_text(re.compile("no edge|the graph has"))  # the reason
    expect(page.locator(".mass .left")).to_contain_text("paths left")
    frame = page.frame_locator("iframe.frame")
    expect(frame.locator("canvas")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    ARTEFACTS.mkdir(exist_ok=True)
    page.locator(".card.graph").scroll_into_view_if_needed()
    page.screenshot(path=ARTEFACTS / f"replay-{look}.png", full_page=True)


def test_a_question_streams_paths_and_ends_in_a_cited_answer(page: Page):
    ask(page, QUESTION)
    expect(page.locator(".chip .name")).to_contain_text("Inception")
    over(page)
    expect(page.locator(".card.grounded .ratio")).to_contain_text(re.compile(r"(\d+) of \1 paths exist"))
    expect(page.locator(".answer .text")).not_to_be_empty()
    expect(page.locator(".stages li.done")).to_have_count(5)


def test_stepping_back_and_forth_costs_no_server(page: Page):
    replay(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    where = page.locator(".where")
    last = where.inner_text()
    page.get_by_role("button", name="One step back").click()
    expect(where).not_to_have_text(last)
    page.get_by_label("Step of the run").last.fill("8")
    expect(page.locator(".card.grounded .token").first).to_be_visible()
    expect(page.locator(".stages li.now")).to_contain_text("Write")
    page.get_by_role("button", name="To the end").click()
    expect(where).to_have_text(last)
    assert asked == []


def test_stop_ends_the_run_and_the_next_question_works(page: Page, server_log: Path):
    ask(page, ENDLESS)
    expect(page.locator(".board")).to_have_attribute("data-origin", "live")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_role("status").filter(has_text="Stopped.")).to_have_count(1)
    first = page.locator(".board").get_attribute("data-run")
    ask(page, QUESTION)
    expect(page.locator(".board")).not_to_have_attribute("data-run", first)
    over(page)
    expect(page.locator(".answer .text")).not_to_be_empty()
    assert CLOSED in server_log.read_text()


def test_the_visitor_overrules_the_linked_entity(page: Page):
    ask(page, QUESTION)
    over(page)
    page.get_by_label("Add an entity").fill("Lond")
    page.get_by_role("button", name="London", exact=True).click()
    page.get_by_role("button", name="Leave out Inception").click()
    run = page.locator(".board").get_attribute("data-run")
    page.get_by_role("button", name="Ask again with these").click()
    expect(page.locator(".board")).not_to_have_attribute("data-run", run)
    over(page)
    expect(page.locator(".card.grounded li.path .entity").first).to_have_text("London")


def test_hovering_a_citation_lights_its_path(page: Page):
    replay(page)
    page.locator(".answer .cite").first.hover()
    expect(page.locator(".card.grounded li.path.lit")).to_have_count(1)


def test_a_mistake_is_one_sentence_and_nothing_is_lost(page: Page):
    for question, says in (("   ", "empty"), ("x" * 10_000, "characters")):
        ask(page, question)
        expect(page.locator(".messages .failed")).to_contain_text(says)
        expect(page.get_by_label("Your question")).to_have_value(question)


def test_hostile_text_does_nothing(page: Page):
    ask(page, '<img src=x onerror="window.pwned=1"> ${window.pwned=2} {{3}} </PATH> Nasty?')
    over(page)
    expect(page.locator(".asked")).to_contain_text("<img src=x")
    page.get_by_role("button", name=re.compile(r"^\+ \d+ more")).first.click()
    assert page.evaluate("window.pwned") is None
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".kg img").count() == 0
