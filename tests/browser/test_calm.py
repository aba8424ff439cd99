"""Streaming stays calm: little is sent, the picture's frame is made once, and who waits is told how long."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import ARTEFACTS, PATIENCE
from tests.browser.test_page import ask, over, replay
from tests.helpers.small import ENDLESS, LONG, QUESTION

pytestmark = pytest.mark.browser
MAX_SENT = 600_000  # bytes of a run of ten beams and forty tokens


def test_a_long_run_sends_little_in_all(page: Page):
    wire = page.context.new_cdp_session(page)
    wire.send("Network.enable")
    streams: set[str] = set()
    sent: list[int] = []

    def answered(what: dict) -> None:
        if "/queue/data" in what["response"]["url"]:
            streams.add(what["requestId"])

    wire.on("Network.responseReceived", answered)
    wire.on("Network.dataReceived", lambda what: sent.append(what["dataLength"]) if what["requestId"] in streams else 0)
    ask(page, LONG)
    over(page)
    expect(page.locator(".stages")).to_contain_text("40 tokens")
    assert 50_000 < sum(sent) < MAX_SENT


def test_the_frame_of_the_picture_is_made_once_and_then_told_what_is_new(page: Page):
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    replay(page)
    page.evaluate("document.querySelector('iframe.frame').mine = true")
    drawn = page.locator(".canvas").get_attribute("data-drawn")
    ask(page, QUESTION)
    over(page)
    expect(page.locator(".canvas")).not_to_have_attribute("data-drawn", drawn or "")
    assert page.evaluate("document.querySelector('iframe.frame').mine") is True
    for script in ("vis-network.min.js", "frame.js"):
        assert sum(url.endswith(script) for url in asked) <= 1


def test_who_waits_is_told_the_place_in_the_queue_and_has_his_turn(page: Page, browser: Browser, address: str):
    busy = []
    for _ in range(2):  # as many as are answered at a time
        context = browser.new_context()
        context.set_default_timeout(PATIENCE)
        other = context.new_page()
        other.goto(address)
        expect(other.locator("#kg-stage")).to_have_attribute("data-ready", "true")
        ask(other, ENDLESS)
        expect(other.locator(".board")).to_have_attribute("data-origin", "live")
        busy.append(other)
    ask(page, QUESTION)
    expect(page.locator("#kg-line")).to_contain_text(re.compile(r"queue: \d+/\d+"))
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / "waiting.png")
    for other in busy:
        other.get_by_role("button", name="Stop", exact=True).click()
        expect(other.get_by_role("status").filter(has_text="Stopped.")).to_have_count(1)
    over(page)
    expect(page.locator(".answer .says")).not_to_be_empty()
    for other in busy:
        other.context.close()
