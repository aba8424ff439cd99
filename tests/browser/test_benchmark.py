"""The Benchmark tab: a study started, watched, stopped, resumed, compared; one of its questions opened."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ARTEFACTS
from tests.browser.test_everyone import complaints
from tests.helpers.page import served

pytestmark = pytest.mark.browser
LONG = 600_000  # milliseconds: the study is the real one, its model is loaded and asked beside all other tests


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A page of its own, whose studies are kept where no other's are."""
    folder: Path = tmp_path_factory.mktemp("benchmark")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KGDEMO_CACHE", str(folder / "cache"))
        with served(folder / "server.log") as found:
            yield found


def test_a_study_of_four_questions_is_started_watched_stopped_and_resumed_and_a_question_opened(page: Page):
    page.get_by_role("heading", name="Benchmark", exact=True).click()
    tab = page.locator("details.benchmark")
    tab.get_by_label("What is varied").select_option("efficiency")
    expect(tab).to_contain_text("GCR asks a model twice a question")
    tab.get_by_label("Question set").select_option("chemistry_test")
    tab.get_by_label("Questions", exact=True).fill("4")
    tab.get_by_role("button", name="Start").click()
    expect(tab.get_by_role("status")).to_contain_text("of 28 questions answered; time left:", timeout=LONG)
    row = tab.locator(".figures tbody tr").first
    expect(row).to_contain_text(re.compile(r"text-rag[1-4] / 4"), timeout=LONG)
    tab.get_by_role("button", name="Stop").click()  # at once: on a busy machine the rest is soon done as well
    expect(tab).to_have_attribute("data-state", "stopped")
    expect(tab.locator("svg rect").first).to_be_attached()
    assert complaints(page) == []
    before = int(tab.get_attribute("data-done") or 0)
    assert 1 <= before < 28
    expect(tab.get_by_role("status")).to_contain_text(f"Stopped after {before} of")

    tab.get_by_role("button", name="Go on").click()
    expect(tab).to_have_attribute("data-state", "running")
    further = "before => Number(document.querySelector('details.benchmark').dataset.done) > before"
    page.wait_for_function(further, arg=before, timeout=LONG)  # what was answered is read again first, run by run
    expect(tab).to_have_attribute("data-state", "done", timeout=LONG)
    expect(tab).to_have_attribute("data-done", "28")
    last = tab.locator(".figures tbody tr").last
    expect(last).to_contain_text("gcr4 / 4")

    tab.get_by_label("second run").select_option("gcr")
    tab.get_by_role("button", name="Compare").click()
    expect(tab.locator(".differences tbody tr").filter(has_text="hits@1").first).to_be_visible()

    last.get_by_role("button", name="gcr").click()
    expect(tab.locator(".questions tbody button")).to_have_count(4)
    question = tab.locator(".questions tbody button").first
    text = question.inner_text()
    tab.scroll_into_view_if_needed()
    page.screenshot(path=ARTEFACTS / "benchmark.png", full_page=True)
    question.click()
    expect(page.locator("#kg-question textarea")).to_have_value(text)
    expect(page.locator(".board")).to_have_attribute("data-origin", "live")
    expect(page.locator(".board")).to_have_attribute("data-over", "true")


def test_what_a_study_cannot_read_is_said(page: Page, tmp_path: Path):
    (tmp_path / "broken.jsonl").write_text('{"something": "else"}\n', "utf-8")
    page.get_by_role("heading", name="Benchmark", exact=True).click()
    tab = page.locator("details.benchmark")
    tab.get_by_label("Question set").select_option("")
    tab.get_by_label("Question file").fill(str(tmp_path / "broken.jsonl"))
    tab.get_by_role("button", name="Start").click()
    expect(tab).to_have_attribute("data-state", "failed", timeout=LONG)
    expect(tab.get_by_role("alert")).to_contain_text("broken.jsonl")
