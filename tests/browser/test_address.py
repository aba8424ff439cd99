"""Every state is in the address: links open the same step elsewhere, Back and Forward lead through the questions."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import drawn
from tests.browser.test_edits import force, next_run, run_of
from tests.browser.test_page import ask, over, replay
from tests.helpers.small import QUESTION

pytestmark = pytest.mark.browser
NUMBERS = """() => ['.where', '.card.grounded', '.card.invented .tree', '.card.allowed', '.linking']
  .map((place) => [...document.querySelectorAll(place)].filter((e) => !e.closest('[hidden]')).map((e) => e.innerText)
  .join('|').replace(/[0-9.,]+ m?s\\b/g, ''))"""


def elsewhere(browser: Browser, link: str) -> Page:
    """The link in another browser."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.goto(link)
    expect(page.locator("#kg-stage")).to_have_attribute("data-ready", "true")
    return page


def test_a_link_made_after_an_edit_a_forced_token_and_three_steps_opens_the_same(page: Page, browser: Browser):
    ask(page, QUESTION)
    over(page)
    before = run_of(page)
    page.get_by_role("button", name=re.compile(r"Remove the edge Inception → starring")).first.click()
    page.get_by_role("button", name="Ask again on the changed graph").click()
    next_run(page, before)
    page.locator(".spark g").nth(2).dispatch_event("click")
    force(page, -1)
    page.locator(".card.invented .choice button", has_text="Tree").click()
    page.get_by_role("button", name="To the start").click()
    for _ in range(3):
        page.get_by_role("button", name="One step forward").click()
    expect(page.locator(".where")).to_have_text(re.compile(r"^step 3 / "))
    page.wait_for_url(re.compile(r"step=3"))
    crumb = page.locator(".crumbs > .crumb").last.inner_text()
    for part in ("edit=", "forced=", "trees=without", "question="):
        assert part in page.url
    shown = page.evaluate(NUMBERS)
    other = elsewhere(browser, page.url)
    expect(other.locator(".where")).to_have_text(page.locator(".where").inner_text())
    assert other.evaluate(NUMBERS) == shown
    expect(other.locator(".crumbs > .crumb").last).to_have_text(crumb)
    expect(other.locator(".card.invented .tree")).to_be_visible()
    for seen in (page, other):
        seen.get_by_role("button", name="To the end").click()
    expect(other.locator(".world .edits li")).to_have_count(1)
    expect(page.locator(".methods tbody tr").last).to_contain_text("tokens forced · without Inception → starring")
    numbers = ".card.grounded li.path"
    assert other.locator(numbers).all_inner_texts() == page.locator(numbers).all_inner_texts() != []
    other.context.close()


def test_back_and_forward_lead_through_four_questions(page: Page):
    questions = [f"Where was the director of Inception born{end}?" for end in ("", ", then", " at last", " again")]
    for question in questions:
        last = run_of(page)
        ask(page, question)
        next_run(page, last)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for question in [*reversed(questions[:-1])]:
        page.go_back()
        expect(page.locator(".asked")).to_have_text(question)
        expect(page.get_by_label("Your question")).to_have_value(question)
    page.go_back()
    expect(page.locator(".board")).to_have_attribute("data-origin", "opening")
    for question in questions:
        page.go_forward()
        expect(page.locator(".asked")).to_have_text(question)
    assert not [url for url in asked if "queue/join" in url]


def test_back_and_forward_bring_the_settings_along(page: Page):
    paths = page.get_by_label("Paths (K)").first
    for beams in ("4", "3"):
        page.locator("#kg-settings button").first.click()
        expect(paths).to_be_visible()
        drawn(paths)
        paths.fill(beams)
        paths.blur()
        expect(page.locator(".picks")).to_contain_text(f"{beams} paths")
        page.locator("#kg-settings button").first.click()
        last = run_of(page)
        ask(page, f"{QUESTION[:-1]}, {beams} times?")
        next_run(page, last)
    page.go_back()
    expect(page.locator(".picks")).to_contain_text("4 paths")
    page.go_forward()
    expect(page.locator(".picks")).to_contain_text("3 paths")
    expect(page.get_by_label("Your question")).to_have_value(re.compile("3 times"))


def test_a_recorded_run_has_an_address_with_its_step(page: Page, browser: Browser):
    replay(page)
    page.get_by_label("Step of the run").last.fill("8")
    page.wait_for_url(re.compile(r"recorded=1-flute&step=8$"))
    other = elsewhere(browser, page.url)
    expect(other.locator(".where")).to_have_text(page.locator(".where").inner_text())
    expect(other.locator(".recording")).to_be_visible()
    other.context.close()


def test_what_an_address_says_wrongly_is_left_out(page: Page, address: str):
    page.goto(
        f"{address}/?question=Who+directed+Dunkirk%3F&entity=Dunkirk&edit=%5B1%5D&edit=x&forced=a,-1&step=-4&trees=evil"
    )
    over(page)
    expect(page.locator(".world .edits li")).to_have_count(0)
    page.wait_for_url(re.compile(r"\?question=Who\+directed\+Dunkirk%3F&entity=Dunkirk$"))
