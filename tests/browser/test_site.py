"""The static site: recorded runs, failures and the tour, from a server and from a disk, asking nobody for anything."""

from __future__ import annotations

import functools
import http.server
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from kgdemo.cli import main
from kgdemo.facts import tsv_triples
from kgdemo.kg.io.catalogue import embedded_folder, themes
from tests.browser.test_page import over, replay

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    assert main(["site", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def server(site: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_address[1]}/index.html"
        serving.shutdown()


@pytest.fixture(params=["server", "disk"])
def alone(request, browser: Browser, site: Path) -> Iterator[Page]:
    """The site, opened; fails when anything but itself was asked for or anything went to the console."""
    url = request.getfixturevalue("server") if request.param == "server" else (site / "index.html").as_uri()
    page = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce").new_page()
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda r: asked.append(r.url) if not r.url.startswith(("data:", url, "about:")) else None)
    page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(url)
    yield page
    assert asked == []
    assert complaints == []
    page.context.close()


def test_a_run_a_failure_and_the_tour_play(alone: Page):
    expect(alone.locator(".board")).to_have_attribute("data-origin", "opening")
    replay(alone)
    expect(alone.locator(".answer .says")).to_contain_text("was born in Salzburg")
    expect(alone.locator(".canvas")).to_have_attribute("data-drawn", re.compile(r"^\d\d$"))
    alone.get_by_text("When it goes wrong").click()
    alone.locator(".failure").first.click()
    alone.get_by_role("button", name="To the end").click()
    over(alone)
    expect(alone.locator(".banner")).to_be_visible()
    alone.locator(".walk").click()
    expect(alone.locator(".tour .count")).to_contain_text("1 of")
    alone.keyboard.press("Escape")
    alone.locator(".xray > summary").click()
    facts = sum(len(list(tsv_triples(file))) for file in themes(embedded_folder("world")))
    expect(alone.locator(".xray .note")).to_contain_text(f"world: {facts:,} facts")
    expect(alone.locator(".xray .relations tbody tr").first).to_contain_text(re.compile(r"\d+ of [\d,]+ \("))
    expect(alone.locator(".next-questions")).to_be_hidden()  # nothing can be asked here
