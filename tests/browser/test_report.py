"""A report opened from a disk: a question that changed opens its recorded run, and nothing is asked of anybody."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from kgdemo.cli import main
from kgdemo.lab.evaluation.metrics import Prediction
from kgdemo.lab.evaluation.predictions import trace_file
from kgdemo.ui.assets import TRACES

pytestmark = pytest.mark.browser


def written(folder: Path, right: bool) -> Path:
    """A run of the recorded questions, all of them right or all of them wrong."""
    (folder / "traces").mkdir(parents=True)
    empty = Prediction("", "", (), ("gold",), (), (), ("gold",), 1, 2, 1, False, 1.0, 1, 2, 3)
    rows = []
    for file in sorted(TRACES.glob("*.jsonl")):
        shutil.copy(file, trace_file(folder, file.stem))
        rows.append(replace(empty, id=file.stem, question=file.stem, answers=("gold" if right else "other",)))
    (folder / "predictions.jsonl").write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows), "utf-8")
    (folder / "settings.json").write_text("{}", "utf-8")
    return folder


def test_a_question_that_changed_opens_its_run(browser: Browser, tmp_path: Path):
    runs = [str(written(tmp_path / name, name == "one")) for name in ("one", "two")]
    assert main(["report", *runs, "--out", str(tmp_path / "report.html")]) == 0
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((tmp_path / "report.html").as_uri())
    page.get_by_text("5 questions changed").click()
    page.get_by_role("row").filter(has_text="5-vienna").get_by_role("link", name="open its run").last.click()
    expect(page).to_have_url(re.compile(r"/report_runs/2\.html\?recorded="))
    expect(page.locator(".answer .says")).to_contain_text("German")
    expect(page.locator(".walk")).to_be_hidden()  # tour and lessons are made for other runs
    page.goto((tmp_path / "report.html").as_uri())
    page.get_by_text("5 questions changed").click()
    page.get_by_role("row").filter(has_text="1-flute").get_by_role("link", name="open its run").first.click()
    expect(page.locator(".answer .says")).to_contain_text("Salzburg")
    assert complaints == []
    context.close()
