"""A visitor drives the search, changes the world and brings a graph."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ARTEFACTS, press
from tests.browser.test_page import ask, over
from tests.helpers.small import NASTY, QUESTION

pytestmark = pytest.mark.browser
EDGE = "Inception → directed by → Christopher Nolan"


def run_of(page: Page) -> str:
    return page.locator(".board").get_attribute("data-run")


def next_run(page: Page, last: str) -> None:
    """Wait until another run than the last has ended."""
    expect(page.locator(".board")).not_to_have_attribute("data-run", last)
    over(page)


def force(page: Page, which: int) -> None:
    """Force one of the allowed tokens and wait for the run that goes on from it."""
    last = run_of(page)
    page.locator(".tokens tr.yes .act").nth(which).click()
    next_run(page, last)


def bring(page: Page, text: str) -> None:
    page.get_by_label("Triples, one a line").fill(text)
    page.get_by_role("button", name="Take this graph").click()


def test_a_token_is_forced_and_the_line_leads_back(page: Page):
    ask(page, QUESTION)
    over(page)
    expect(page.locator(".crumbs")).to_be_hidden()
    free = run_of(page)
    page.locator(".spark g").nth(2).dispatch_event("click")
    force(page, -1)
    crumbs = page.locator(".crumbs > .crumb")
    expect(crumbs).to_have_count(2)
    expect(crumbs.last).to_have_attribute("aria-current", "step")
    driven = run_of(page)
    written = crumbs.last.get_attribute("title")
    paths = page.locator(".card.grounded li.path .words").all_inner_texts()
    assert paths
    assert all(path.startswith(written) for path in paths), (written, paths)
    expect(page.locator(".card.grounded .ratio")).to_contain_text("paths exist")

    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    crumbs.first.click()
    expect(page.locator(".board")).to_have_attribute("data-run", free)
    over(page)
    crumbs.last.click()
    expect(page.locator(".board")).to_have_attribute("data-run", driven)
    crumbs.first.click()
    expect(page.locator(".board")).to_have_attribute("data-run", free)
    assert not [url for url in asked if "queue/join" in url]

    page.locator(".spark g").nth(2).dispatch_event("click")
    force(page, 0)
    expect(crumbs).to_have_count(2)
    crumbs.first.click()
    expect(page.locator(".crumbs .side .crumb")).to_have_count(1)


def test_a_masked_token_says_why_in_place_and_runs_nothing(page: Page):
    ask(page, QUESTION)
    over(page)
    last = run_of(page)
    page.locator(".tokens tr.no .act").first.click()
    told = page.locator(".tokens tr.told")
    expect(told).to_have_count(1)
    expect(told).to_contain_text("may not follow here")
    page.locator(".tokens tr.no .act").first.click()
    expect(told).to_have_count(0)
    expect(page.locator(".board")).to_have_attribute("data-run", last)


@pytest.mark.parametrize("look", ["desktop-light", "phone-dark"], indirect=True)
def test_an_edge_is_removed_and_both_worlds_stand_side_by_side(page: Page, look: str):
    ask(page, QUESTION)
    over(page)
    before = run_of(page)
    expect(page.locator(".compared")).to_be_hidden()
    press(page.get_by_role("button", name="+ ").last)
    press(page.get_by_role("button", name=f"Remove the edge {EDGE}"))
    expect(page.locator(".world .edits li")).to_have_count(1)
    press(page.get_by_role("button", name="Ask again on the changed graph"))
    next_run(page, before)
    answers = page.locator(".compared > table tbody td")
    expect(answers).to_have_count(2)
    expect(answers.last).not_to_have_text("asking …")
    expect(page.locator(".compared")).to_be_in_viewport()  # the page has gone to where it happens
    expect(page.locator(".compared .what")).to_contain_text("directed by")
    press(page.get_by_text("Paths and sizes, before and after"))
    rows = page.locator(".compared details tbody tr")
    expect(rows).to_have_count(3)
    triples = [int(cell.replace(",", "")) for cell in rows.nth(0).locator("td").all_inner_texts()]
    assert triples[0] == triples[1] + 1
    expect(rows.nth(2).locator("td").first).to_contain_text("gone")
    assert EDGE not in page.locator(".card.grounded .beams").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"world-{look}.png", full_page=True)
    press(page.get_by_role("button", name="Back to the original graph"))
    expect(page.locator(".board")).to_have_attribute("data-run", before)
    expect(page.locator(".world .edits li")).to_have_count(0)
    expect(page.locator(".compared")).to_be_hidden()


def test_an_edge_is_added_by_typing_and_mistakes_are_told(page: Page):
    ask(page, QUESTION)
    over(page)
    form = page.locator(".typed")
    form.get_by_label("From").fill("Inception")
    form.get_by_label("Relation").fill("directed by")
    change = page.get_by_role("button", name="Add this edge, or remove it if it is there")
    press(change)
    expect(page.locator(".world .said")).to_contain_text("three parts")
    form.get_by_label("To").fill("Lond")
    expect(page.locator("#kg-tail-names option")).to_have_attribute("value", "London")
    form.get_by_label("To").fill("Christopher Nolan")
    press(change)
    expect(page.locator(".world .edits li.remove")).to_contain_text("Christopher Nolan")
    form.get_by_label("To").fill("Somebody")
    press(change)
    expect(page.locator(".world .edits li.add")).to_contain_text("Somebody")
    expect(page.locator(".world .said")).to_be_empty()
    last = run_of(page)
    press(page.get_by_role("button", name="Ask again on the changed graph"))
    next_run(page, last)
    expect(page.locator(".compared details tbody tr").first).to_contain_text("Triples")


@pytest.mark.parametrize("look", ["desktop-light", "phone-dark"], indirect=True)
def test_a_graph_is_brought_asked_and_left(page: Page, look: str):
    expect(page.locator(".themes")).to_be_visible()
    page.locator(".own summary").click()
    expect(page.locator(".own .note").first).to_contain_text("500,000 triples")
    bring(page, "Heat\tdirected by\tMichael Mann\nHeat\tcast\n")
    expect(page.locator(".own .said")).to_contain_text("line 2")
    page.get_by_role("button", name="Take the other 1").click()
    expect(page.locator(".brought .counts")).to_contain_text("1 triples · 2 entities · 1 relations · 1 lines left out")
    bring(page, "Heat\tdirected by\tMichael Mann\nMichael Mann\tborn in\tChicago\n")
    expect(page.locator(".own .said")).to_be_empty()
    expect(page.locator(".brought .counts")).to_contain_text("2 triples · 3 entities · 2 relations")
    expect(page.locator(".asked-on")).to_be_visible()
    expect(page.locator(".themes")).to_be_hidden()  # their questions are of another graph
    page.locator(".starters button").first.click()
    over(page)
    expect(page.locator(".card.grounded .beams")).to_contain_text("Michael Mann")
    expect(page.locator(".picks")).to_contain_text("Graph: pasted text")
    expect(page.locator(".own .note").first).to_be_hidden()  # it has made room for the run
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"own-{look}.png", full_page=True)
    last = run_of(page)
    page.get_by_role("button", name="Back to the shipped graphs").click()
    ask(page, QUESTION)
    next_run(page, last)
    expect(page.locator(".chip .name")).to_contain_text("Inception")


def test_hostile_labels_of_a_brought_graph_do_nothing(page: Page):
    page.locator(".own summary").click()
    bring(page, "".join(f"Nasty\tsays {n}\t{label}\n{label}\tis\tNasty\n" for n, label in enumerate(NASTY)))
    expect(page.locator(".brought .counts")).to_contain_text(f"{2 * len(NASTY)} triples")
    ask(page, "What does Nasty say?")
    over(page)
    press(page.locator(".world .cut").first)
    expect(page.locator(".world .edits li")).to_have_count(1)
    last = run_of(page)
    press(page.get_by_role("button", name="Ask again on the changed graph"))
    next_run(page, last)
    assert page.evaluate("window.pwned") is None
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
