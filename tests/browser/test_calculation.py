"""An answer that was computed shows its calculation, and each operand leads to what it stands on."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_keep import saved, table
from tests.browser.test_page import ask, over

pytestmark = pytest.mark.browser


def test_a_computed_answer_shows_what_it_stands_on(page: Page):
    ask(page, "Is Christopher Nolan born in England?")
    over(page)
    part = page.locator(".calculation")
    expect(part.locator(".formula")).to_have_text("→ yes")
    expect(part.locator(".verdict.ok")).to_be_visible()
    operand = part.get_by_role("button", name="England")
    operand.click()
    proof = part.locator(".stands-on")
    expect(proof).to_have_text("Christopher Nolan → born in → London → located in → England")
    (row,) = table(saved(page, "Calculation (CSV)"))
    assert (row["operand"], row["result"], row["verified"]) == ("England", "yes", "yes")
    assert row["paths"] == proof.inner_text()
    operand.click()
    expect(proof).to_have_count(0)


def test_where_nothing_was_computed_there_is_no_calculation(page: Page):
    page.locator(".example:not(.walk, .learn)").first.click()
    page.get_by_role("button", name="To the end").click()
    over(page)
    expect(page.locator(".calculation")).to_be_hidden()
    expect(page.get_by_role("button", name="Calculation (CSV)")).to_be_hidden()
