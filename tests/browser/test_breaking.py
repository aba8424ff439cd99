"""Breaking the world: the smallest cut of an answer, and what falls with an edge."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_everyone import complaints
from tests.browser.test_page import ask, over
from tests.helpers.small import QUESTION

pytestmark = pytest.mark.browser


@pytest.fixture
def motion() -> str:
    """Everything stands still at once."""
    return "reduce"


@pytest.mark.parametrize("look", ["desktop-light", "phone-dark"], indirect=True)
def test_the_smallest_cut_is_found_taken_out_and_tells_what_falls(page: Page, look: str):
    ask(page, QUESTION)
    over(page)
    search = page.get_by_role("button", name=re.compile("smallest cut"))
    search.focus()
    page.keyboard.press("Enter")
    said = page.locator(".cut-said")
    expect(said).to_contain_text(re.compile(r"change this answer"))
    edges = said.locator("li").all_inner_texts()
    said.get_by_role("button", name="Make this cut").click()
    expect(page.locator(".world .edits li")).to_have_count(len(edges))
    row = page.locator(".falls tbody tr").first
    expect(row.locator("th")).to_have_text(QUESTION)
    expect(row.locator(".changed")).to_be_visible()
    assert row.locator("td").first.inner_text() != row.locator("td").last.inner_text()
    expect(page.locator(".falls .note")).to_contain_text("other recorded answers")
    assert complaints(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator(".world .edits .out").first.click()
    expect(page.locator(".world .edits li")).to_have_count(len(edges) - 1)
