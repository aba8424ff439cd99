"""The x-ray of a graph, the way from a refusal to its hole, and the honesty dial."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_edits import bring
from tests.browser.test_everyone import complaints
from tests.browser.test_keep import opened
from tests.browser.test_page import replay
from tests.helpers.small import NASTY

pytestmark = pytest.mark.browser
FLUTE = Path("assets/traces/1-flute.jsonl").read_text("utf-8")


def refused(missing: str) -> str:
    """The trace of a run that is refused because the graph lacks a relation."""
    records = [json.loads(line) for line in FLUTE.splitlines()]
    for record in records:
        if record["event"] == "Answerability":
            record |= {"log_odds": 2.0, "missing": missing}
        elif record["event"] == "AnswerFinal":
            record |= {"text": "It is not there.", "answers": [], "citations": [], "refusal": "It is not there."}
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.mark.parametrize("look", ["desktop-light", "phone-dark"], indirect=True)
def test_a_refusal_leads_to_its_hole(page: Page, look: str):
    page.emulate_media(reduced_motion="reduce")
    page.locator(".mine-runs summary, .card.fold:has-text('Your runs') > summary").first.click()
    opened(page, refused("sibling"))
    page.get_by_role("button", name="What the graph knows of “sibling”").click()
    rows = page.locator(".xray .relations tbody tr")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(re.compile(r"sibling.*1 of 1 \(person\)"))
    expect(page.get_by_label("Find a relation")).to_be_focused()
    page.get_by_label("Find a relation").fill("")
    expect(rows).to_have_count(12)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="largest holes")).to_have_attribute("aria-pressed", "true")
    expect(rows.first.locator("small")).not_to_have_text("100 %")
    assert complaints(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_x_ray_is_that_of_a_graph_that_was_brought(page: Page):
    page.locator(".xray summary").click()
    expect(page.locator(".xray > .note")).to_contain_text("world: ")
    page.locator(".own summary").click()
    bring(page, "".join(f"Nasty\tsays {n}\t{label}\n{label}\tis\tNasty\n" for n, label in enumerate(NASTY)))
    expect(page.locator(".xray > .note")).to_contain_text(f"pasted text: {2 * len(NASTY)} facts")
    expect(page.locator(".xray .relations tbody tr").first).to_contain_text(f"is{len(NASTY)}{len(NASTY)} of ")
    assert page.evaluate("window.pwned") is None
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("look", ["desktop-dark", "phone-light"], indirect=True)
def test_the_dial_holds_an_answer_back_and_tells_what_that_costs(page: Page, look: str):
    page.emulate_media(reduced_motion="reduce")
    page.locator(".example", has_text="Austria").click()
    page.evaluate("for (const fold of document.querySelectorAll('.kg details.why, .kg details.dial')) fold.open = true")
    told = page.locator(".dial .note")
    expect(told).to_contain_text("(100 %)")
    expect(told).to_contain_text("This question is answered")
    expect(page.get_by_role("img", name=re.compile("Wrong answers against questions answered"))).to_be_visible()
    dial = page.get_by_label("Answer only if it is at least")
    dial.focus()
    page.keyboard.press("End")
    expect(page.locator(".answer .says")).to_contain_text(
        re.compile(r"It does not answer: \d+ % sure, and you asked for 99 %")
    )
    expect(told).to_contain_text("would not be answered")
    assert complaints(page) == []
    page.keyboard.press("Home")
    expect(page.locator(".answer .says")).to_contain_text("Germany")
    replay(page)
    expect(page.locator(".answer .mark.answers")).to_contain_text(
        re.compile(r"the model is (> )?\d+ % sure that this is what was asked")
    )
