"""Class mode: a teacher and three phones in windows of their own, through a run and to the end of the room."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import ARTEFACTS, PATIENCE
from tests.browser.test_everyone import complaints
from tests.browser.test_page import replay
from tests.browser.test_phone import FINGER, SMALL

pytestmark = pytest.mark.browser


@pytest.fixture
def phones(browser: Browser) -> Iterator[list[Page]]:
    """Three phones; each fails when its page complains or is wider than its window."""
    looks = ("light", "dark", "light")
    contexts = [browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=look) for look in looks]
    found, said = [], []
    for context in contexts:
        context.set_default_timeout(PATIENCE)
        phone = context.new_page()
        phone.on("console", lambda m: said.append(m.text) if m.type in ("error", "warning") else None)
        phone.on("pageerror", lambda error: said.append(str(error)))
        found.append(phone)
    yield found
    assert said == []
    for context in contexts:
        context.close()


def fits(phone: Page) -> None:
    assert complaints(phone) == []
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert phone.evaluate(SMALL, FINGER) == []


def test_a_class_guesses_a_run_token_by_token(page: Page, address: str, phones: list[Page]):
    page.set_viewport_size({"width": 1440, "height": 900})
    page.emulate_media(reduced_motion="reduce")
    replay(page)
    page.locator(".with-class").click()
    room = page.locator(".classroom")
    code = room.locator(".code").inner_text()
    expect(room.locator(".here")).to_have_text("0 here")
    assert complaints(page) == []
    for phone in phones[:2]:
        phone.goto(f"{address}/class/{code}")
        expect(phone.get_by_text("You are in.")).to_be_visible()
    phones[2].goto(f"{address}/class")  # one types the code
    phones[2].get_by_label("Code of the room").fill(code.lower())
    fits(phones[2])
    phones[2].get_by_role("button", name="Join").click()
    expect(room.locator(".here")).to_have_text("3 here")

    room.get_by_role("button", name="Begin with").click()
    for place, phone in enumerate(phones):
        expect(phone.locator(".options button").first).to_be_visible()
        expect(phone.locator("table")).to_have_count(0)  # nothing is given away
        phone.locator(".options button").nth(min(place, 1)).click()
        expect(phone.get_by_role("status")).to_contain_text("You chose")
    fits(phones[0])
    expect(room.locator(".here")).to_have_text("3 of 3 have chosen")
    expect(page.locator(".answer .says")).to_have_count(0)  # the run itself waits for the class
    room.get_by_role("button", name="Show what the graph says").click()
    expect(room.locator("tr.taken")).to_have_count(1)
    votes = room.locator("tbody td:nth-child(2)").all_inner_texts()
    assert sorted(votes)[-2:] == ["1", "2"]
    for phone in phones:
        expect(phone.locator("tr.taken")).to_have_count(1)
        assert phone.locator("tbody td:nth-child(2)").all_inner_texts() == votes
        expect(phone.locator("td", has_text="you")).to_have_count(1)
    fits(phones[1])
    assert complaints(page) == []
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / "class-teacher.png")
    phones[0].screenshot(path=ARTEFACTS / "class-phone.png")

    while room.get_by_role("button", name="Next token").count():
        room.get_by_role("button", name="Next token").click()
        room.get_by_role("button", name="Show what the graph says").click()
        expect(room.locator("tr.taken")).to_have_count(1)
    room.get_by_role("button", name="To the answer").click()
    expect(room.get_by_text("The class’s favourite")).to_be_visible()
    expect(page.locator(".answer .says")).to_have_count(1)
    for phone in phones:
        expect(phone.get_by_text("You foresaw")).to_contain_text(re.compile(r"\d+ of \d+"))
        expect(phone.locator(".says")).to_contain_text("was born in Salzburg.")

    page.locator(".example:not(.walk, .learn)").nth(1).click()  # the room goes on with another run
    expect(room.get_by_role("button", name="Begin with")).to_be_visible()
    expect(phones[0].get_by_text("The teacher is choosing")).to_be_visible()
    room.get_by_role("button", name="End the room").click()
    expect(room).to_be_hidden()
    for phone in phones:
        expect(phone.get_by_text("The room has ended.")).to_be_visible()


def test_a_code_of_no_room_is_told_and_another_can_be_typed(browser: Browser, address: str):
    phone = browser.new_page()
    phone.goto(f"{address}/class/ABCDEF")
    expect(phone.get_by_role("status")).to_contain_text("no room with this code")
    expect(phone.get_by_label("Code of the room")).to_be_visible()
    phone.close()


def test_a_teacher_who_leaves_ends_nothing_at_once_and_a_phone_that_leaves_is_counted_out(
    page: Page, address: str, phones: list[Page]
):
    page.locator(".with-class").click()
    room = page.locator(".classroom")
    code = room.locator(".code").inner_text()
    for phone in phones[:2]:
        phone.goto(f"{address}/class/{code}")
    expect(room.locator(".here")).to_have_text("2 here")
    phones[0].goto("about:blank")
    expect(room.locator(".here")).to_have_text("1 here")
    page.goto("about:blank")
    phones[0].goto(f"{address}/class/{code}")
    expect(phones[0].get_by_text("You are in.")).to_be_visible()
