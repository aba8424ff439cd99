"""For everyone: axe-core's rules, a phone's width, a keyboard alone, and a table beside each picture."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.test_page import LOOKS, replay

pytestmark = pytest.mark.browser
SERIOUS = {"serious", "critical"}


def complaints(page: Page) -> list[str]:
    """What axe-core calls serious or critical, with the elements it means; the graph's frame is a canvas."""
    page.wait_for_function(
        "document.getAnimations().every((one) => one.playState !== 'running')"
    )  # half faded is no colour
    found = Axe().run(page, context={"exclude": [["iframe"]]}).response["violations"]
    return [f"{one['id']}: {node['html'][:200]}" for one in found if one["impact"] in SERIOUS for node in one["nodes"]]


def unfold(page: Page) -> None:
    """Open every folded card."""
    page.evaluate("for (const fold of document.querySelectorAll('.kg details')) fold.open = true")


@pytest.mark.parametrize("look", LOOKS, indirect=True)
def test_axe_finds_nothing_serious_and_nothing_is_cut_off(page: Page, look: str):
    page.emulate_media(reduced_motion="reduce")
    page.get_by_role("button", name="Settings").click()
    expect(page.get_by_label("Paths (K)").first).to_be_visible()
    unfold(page)
    assert complaints(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    replay(page)
    unfold(page)
    assert complaints(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator(".example.walk").click()
    expect(page.locator(".tour")).to_be_visible()
    for _ in range(4):  # to the step with the widest formula
        page.get_by_role("button", name="Next", exact=True).click()
    assert complaints(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_every_picture_has_a_twin_in_words(page: Page):
    replay(page)
    unfold(page)
    rows = page.locator(".card.graph .twin tbody tr")
    hops = page.locator(".card.grounded li.path .relation, .card.invented li.path .relation")
    assert rows.count() >= hops.count() > 0
    for drawing in page.locator(".kg svg:not([aria-hidden=true])").all():
        assert drawing.get_attribute("role") in ("img", "group", "tree")  # the latter two can be walked through
        assert len(drawing.get_attribute("aria-label")) > 20


def test_what_happens_is_announced(page: Page):
    replay(page)
    expect(page.locator(".kg > [role=status]")).to_have_text("Done.")
    expect(page.locator(".messages")).to_have_attribute("role", "alert")
    expect(page.locator(".answer .text")).to_have_attribute("aria-live", "polite")
