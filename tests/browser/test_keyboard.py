"""A whole visit by keyboard alone: no pointer is used, and at every stop of the Tab key the focus is seen."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import ARTEFACTS, drawn
from tests.browser.test_page import over
from tests.helpers.small import QUESTION

pytestmark = pytest.mark.browser
STOPS = 150  # of the Tab key from one end of the page to the other, at most
# what is wrong with the element that has the focus: out of the window, or without a mark around it or its first shape
UNSEEN = """() => {
  const e = document.activeElement;
  if (e === document.body || e.closest('.sr-only')) return '';
  const { left, top, right, bottom } = e.getBoundingClientRect();
  const outside = right <= 0 || bottom <= 0 || left >= innerWidth || top >= innerHeight;
  if (outside) return 'out of sight: ' + e.outerHTML.slice(0, 120);
  const marked = (s) => (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1) || s.boxShadow !== 'none';
  const shape = e.querySelector?.('rect, circle');
  if (marked(getComputedStyle(e)) || e.matches('textarea') || (shape && e instanceof SVGElement)) return '';
  return 'no mark: ' + e.outerHTML.slice(0, 120);
}"""


@pytest.fixture
def motion() -> str:
    """Everything stands still at once."""
    return "reduce"


def tab_to(page: Page, goal: Locator, key: str = "Tab") -> None:
    """Press Tab until the goal has the focus; every stop on the way can be seen."""
    for _ in range(STOPS):
        if goal.evaluate("(e) => e === document.activeElement"):
            return
        page.keyboard.press(key)
        drawn(page.locator("body"))
        assert page.evaluate(UNSEEN) == ""
    raise AssertionError(f"{key} does not lead to {goal}")


@pytest.mark.parametrize("look", ["desktop-light", "phone-dark"], indirect=True)
def test_a_whole_visit_without_a_pointer(page: Page, look: str):
    phone = look.startswith("phone")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])

    # a theme is chosen, and a question of one's own is asked
    tab_to(page, page.locator(".theme[data-theme=books]"))
    page.keyboard.press("Enter")
    expect(page.locator(".theme[data-theme=books]")).to_have_attribute("aria-pressed", "true")
    tab_to(page, page.get_by_label("Your question"), "Shift+Tab")
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".board")).to_have_attribute("data-origin", "live")
    over(page)

    # the answer is read, and its citation lights up its path
    tab_to(page, page.locator(".answer .cite").first)
    expect(page.locator(".card.grounded li.path.lit")).to_have_count(1)
    tab_to(page, page.locator(".marks .term").first)
    expect(page.get_by_role("tooltip")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("tooltip")).to_be_hidden()

    # the picture in words
    tab_to(page, page.locator(".card.graph .twin summary"))
    page.keyboard.press("Enter")
    expect(page.locator(".card.graph .twin tbody tr").first).to_be_visible()

    # step by step
    tab_to(page, page.get_by_role("button", name="One step back"))
    end = page.locator(".where").inner_text()
    page.keyboard.press("Enter")
    expect(page.locator(".where")).not_to_have_text(end)
    page.keyboard.press("Home")
    expect(page.locator(".where")).to_have_text(re.compile("^step 0 /"))
    page.keyboard.press("ArrowRight")
    expect(page.locator(".where")).to_have_text(re.compile("^step 1 /"))
    page.keyboard.press("End")
    expect(page.locator(".where")).to_have_text(end)

    # the tree of what was tried
    key = "Tab"
    if phone:
        tab_to(page, page.get_by_role("button", name="Paths", exact=True), "Shift+Tab")
        page.keyboard.press("Enter")
    tab_to(page, page.locator(".card.grounded").get_by_role("button", name="Tree"), key)
    page.keyboard.press("Enter")
    node = page.locator(".card.grounded .tree .node[tabindex='0']")
    tab_to(page, node)
    first = node.get_attribute("aria-label")
    page.keyboard.press("ArrowLeft")  # to what it continues
    expect(node).not_to_have_attribute("aria-label", first)
    expect(node).to_be_focused()
    page.locator(".card.grounded .tree").evaluate("(e) => e.scrollIntoView({ block: 'center' })")
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"keyboard-{look}.png")

    # the link to this step, a lesson, and what the graph knows
    tab_to(page, page.get_by_role("button", name="Copy link"))
    page.keyboard.press("Enter")
    expect(page.locator(".keep .note[role=status]")).to_contain_text("clipboard")
    assert "question=Where+was" in page.evaluate("navigator.clipboard.readText()")
    tab_to(page, page.locator(".lessons > summary"))
    page.keyboard.press("Enter")
    tab_to(page, page.locator(".lesson-cards .primary").first)
    page.keyboard.press("Enter")
    panel = page.locator(".lesson:visible")
    expect(panel.locator("h2")).to_be_focused()
    tab_to(page, panel.get_by_role("button", name="Next", exact=True))
    page.keyboard.press("Enter")
    expect(panel.locator(".count")).to_contain_text("2 of")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    tab_to(page, page.locator(".xray > summary"))
    page.keyboard.press("Enter")
    expect(page.locator(".xray .relations tbody tr").first).to_be_visible()
    tab_to(page, page.get_by_label("Find a relation"))
    page.keyboard.type("born")
    expect(page.locator(".xray .relations tbody tr").first).to_contain_text("born in")
