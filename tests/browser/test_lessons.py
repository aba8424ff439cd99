"""Lessons: led through by keyboard, each step on its run and its place, and on paper."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as NotInTime

from tests.browser.test_everyone import complaints

pytestmark = pytest.mark.browser
LESSONS = json.loads(Path("assets/text.en.json").read_text("utf-8"))["lessons"]["all"]


def opened(lessons: Locator, begin: Locator) -> None:
    """Open the lessons by keyboard: a key that comes before a busy page listens opens nothing and is pressed again."""
    for _ in range(3):
        lessons.press("Enter")
        with contextlib.suppress(NotInTime):
            begin.wait_for(timeout=10_000)
            return


@pytest.fixture
def motion() -> str:
    """Everything stands still at once."""
    return "reduce"


@pytest.mark.parametrize("look", ["desktop-light", "phone-dark"], indirect=True)
def test_every_lesson_is_gone_through_by_keyboard(page: Page, look: str):
    lessons = page.locator(".example.learn", has_text="Lessons")
    expect(lessons).to_have_count(1)
    for place, lesson in enumerate(LESSONS):
        begin = page.get_by_role("button", name=f"Begin: {lesson['title']}")
        if not place:
            opened(lessons, begin)
        begin.focus()
        page.keyboard.press("Enter")
        gone_through(page, lesson)
        expect(begin).to_be_focused()


def gone_through(page: Page, lesson: dict) -> None:
    """All steps of a lesson that has begun."""
    panel = page.locator(".lesson:visible")
    for number, step in enumerate(lesson["steps"], 1):
        expect(panel.locator("h2")).to_have_text(step["title"])
        expect(panel.locator("h2")).to_be_focused()
        expect(panel.locator(".count")).to_have_text(f"{lesson['title']} · {number} of {len(lesson['steps'])}")
        expect(page.locator(".walked")).to_have_count(1)
        expect(page.locator(".walked")).to_be_visible()
        expect(panel.get_by_text(step["solution"])).to_be_hidden()
        panel.locator(".solution summary").focus()
        page.keyboard.press("Enter")
        expect(panel.get_by_text(step["solution"])).to_be_visible()
        if number == 1:
            assert complaints(page) == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        panel.locator(".primary").focus()
        page.keyboard.press("Enter")
    expect(panel).to_have_count(0)
    expect(page.locator(".walked")).to_have_count(0)


def test_another_run_ends_a_lesson(page: Page):
    page.locator(".example.learn", has_text="Lessons").click()
    page.locator(".lesson-cards .primary").first.click()
    expect(page.locator(".lesson:visible")).to_have_count(1)
    page.locator(".example:not(.walk, .learn)").nth(1).click()
    expect(page.locator(".lesson:visible")).to_have_count(0)


def test_the_lessons_are_printed_with_exercises_and_notes_and_nothing_else(page: Page):
    page.add_init_script("window.print = () => { window.printed = true; }")
    page.reload()
    page.locator(".example.learn", has_text="Lessons").click()
    page.get_by_role("button", name="Print the lessons").click()
    expect(page.locator("iframe.paper")).to_have_count(1)
    paper = page.frames[-1].locator("body")
    for lesson in LESSONS:
        expect(paper).to_contain_text(lesson["title"])
        for step in lesson["steps"]:
            expect(paper).to_contain_text(step["exercise"])
        for note in lesson["teacher"]:
            expect(paper).to_contain_text(note)
    sheets = paper.locator("article")
    expect(sheets).to_have_count(len(LESSONS))
    for sheet, lesson in zip(sheets.all(), LESSONS, strict=True):  # what is handed out gives no answer away
        for hidden in [*lesson["teacher"], *(step["solution"] for step in lesson["steps"])]:
            expect(sheet).not_to_contain_text(hidden)
            expect(paper).to_contain_text(hidden)
    expect(paper.locator("button, textarea")).to_have_count(0)
