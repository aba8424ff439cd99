"""The page in a real Chromium: everything that is not this machine is blocked, and must not even be asked for."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Locator, Page, expect, sync_playwright

ARTEFACTS = Path(__file__).resolve().parents[1] / "artefacts"
FLAGS = (
    "--no-sandbox --disable-gpu --disable-background-networking "
    "--disable-component-update --disable-sync --no-first-run"
)
BLOCKED = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"  # every host, by name or by number
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE = 120_000  # milliseconds; a busy machine is slow, a broken page is broken for ever
expect.set_options(timeout=PATIENCE)


def drawn(place: Locator) -> None:
    """Let two frames be drawn: what has just appeared stands where it will stay, and holds what it will hold.

    Gradio, for one, puts a field's first value in once more just after the settings have opened.
    """
    place.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")


@pytest.fixture(autouse=True)
def _steady_clicks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scroll before each click, and let what was scrolled be drawn.

    A sandboxed frame is drawn by a process of its own, and right after scrolling Chromium still sends clicks to
    where the frame has been.
    """
    click = Locator.click

    def steady(self: Locator, **options: Any) -> None:
        for left in (2, 1, 0):
            try:
                self.scroll_into_view_if_needed()
                break
            except Error as error:  # what was drawn anew meanwhile is looked for again, as a click itself does
                if not left or "not attached" not in str(error):
                    raise
        drawn(self)
        click(self, **options)

    monkeypatch.setattr(Locator, "click", steady)


def press(button: Locator) -> None:
    """Click; see ``_steady_clicks``."""
    button.click()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: install chromium to run the browser tests")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS.split(), BLOCKED])
        yield started
        started.close()


@pytest.fixture(params=["desktop-light"])
def look(request) -> str:
    """Window and theme; tests that care name others."""
    return request.param


@pytest.fixture
def page(browser: Browser, address: str, look: str) -> Iterator[Page]:
    """The page, loaded and ready; fails when anything foreign was asked for or anything went to the console."""
    size = {"width": 390, "height": 844} if look.startswith("phone") else {"width": 1280, "height": 900}
    context = browser.new_context(viewport=size, color_scheme="dark" if look.endswith("dark") else "light")
    context.set_default_timeout(PATIENCE)
    foreign: list[str] = []
    complaints: list[str] = []

    # told of each request, not asked to let it pass: that would take half a second of each page, and every cache
    context.on("request", lambda r: None if r.url.startswith((address, "blob:")) else foreign.append(r.url))
    page = context.new_page()
    page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address)
    expect(page.locator("#kg-stage")).to_have_attribute("data-ready", "true")
    yield page
    assert not foreign
    assert not complaints
    context.close()
