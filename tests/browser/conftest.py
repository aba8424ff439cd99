"""The page in a real Chromium: everything that is not this machine is blocked, and must not even be asked for."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Locator, Page, Request, expect, sync_playwright

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
def motion() -> str:
    """What the visitor says of motion; modules that want a still page say ``reduce``."""
    return "no-preference"


@pytest.fixture(scope="session")
def profile(browser: Browser) -> Iterator[Callable[[str], BrowserContext]]:
    """A visitor of each look, for all tests: the page's scripts are fetched and compiled once, not for every test."""
    made: dict[str, BrowserContext] = {}

    def of(look: str) -> BrowserContext:
        if look not in made:
            size = {"width": 390, "height": 844} if look.startswith("phone") else {"width": 1280, "height": 900}
            scheme = "dark" if look.endswith("dark") else "light"
            made[look] = browser.new_context(viewport=size, color_scheme=scheme)
            made[look].set_default_timeout(PATIENCE)
        return made[look]

    yield of
    for context in made.values():
        context.close()


@pytest.fixture
def page(profile: Callable[[str], BrowserContext], address: str, look: str, motion: Any) -> Iterator[Page]:
    """The page, loaded and ready; fails when anything foreign was asked for or anything went to the console.

    Of what visitors before it have done nothing is left but the cache.
    """
    context = profile(look)
    foreign: list[str] = []
    complaints: list[str] = []

    # told of each request, not asked to let it pass: that would take half a second of each page, and every cache
    def noted(request: Request) -> None:
        if not request.url.startswith((address, "blob:")):
            foreign.append(request.url)

    context.on("request", noted)
    page = context.new_page()
    page.emulate_media(reduced_motion=motion)
    kept = {"origin": address, "storageTypes": "local_storage,indexeddb,service_workers,cookies"}
    context.new_cdp_session(page).send("Storage.clearDataForOrigin", kept)
    page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address)
    expect(page.locator("#kg-stage")).to_have_attribute("data-ready", "true")
    yield page
    for one in context.pages:
        one.close()
    context.remove_listener("request", noted)
    context.clear_permissions()
    assert not foreign
    assert not complaints
