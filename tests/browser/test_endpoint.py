"""The page with a general language model at an endpoint, which answers, refuses, talks nonsense or says nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_page import ask, over
from tests.helpers.endpoint import Endpoint, serve
from tests.helpers.page import served
from tests.helpers.small import QUESTION

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with serve(Endpoint(status=500)) as running:
        yield running


@pytest.fixture(scope="module")
def address(endpoint: Endpoint, tmp_path_factory) -> Iterator[str]:
    """The page of this module, in place of the one that all others share."""
    with served(tmp_path_factory.mktemp("endpoint") / "server.log", endpoint.url) as found:
        yield found


def test_a_good_reply_is_the_answer_and_cites_paths(page: Page, endpoint: Endpoint):
    endpoint.mode, endpoint.replies = "stream", ["Elliot Page [1]"]
    ask(page, QUESTION)
    over(page)
    expect(page.locator(".answer .text")).to_contain_text("Elliot Page")
    expect(page.locator(".answer .cite").first).to_be_visible()
    expect(page.locator(".answer")).to_contain_text("by m")


def test_what_the_model_says_without_the_graph_stands_beside_it(page: Page, endpoint: Endpoint):
    endpoint.mode = "stream"
    endpoint.reply = lambda prompt: "Elliot Page [1]" if "->" in prompt else "Hollywood"
    ask(page, QUESTION)
    over(page)
    expect(page.locator(".card.invented .alone")).to_contain_text("m, asked without the graph: Hollywood")
    expect(page.locator(".answer .text")).to_contain_text("Elliot Page")
    endpoint.reply = None


def test_an_answer_that_is_not_on_its_path_is_flagged_and_not_repaired(page: Page, endpoint: Endpoint):
    endpoint.mode, endpoint.replies = "stream", ["Atlantis [1]"]
    ask(page, QUESTION)
    over(page)
    expect(page.locator(".answer .text")).to_contain_text("Atlantis")
    expect(page.locator(".answer .misplaced")).to_contain_text("“Atlantis” is on no path that the answer cites for it")
    expect(page.locator(".answer .misplaced")).to_contain_text("nowhere in the graph")


def test_grounded_paths_stay_and_the_failure_is_said(page: Page, endpoint: Endpoint):
    run = ""
    for mode, words in (
        ("error", "failed with status 500"),
        ("nonsense", "no chat completion"),
        ("hang", "did not answer within 2 seconds"),
        ("breaks off", "broke off"),
    ):
        endpoint.mode = mode
        ask(page, QUESTION)
        expect(page.locator(".board")).not_to_have_attribute("data-run", run)
        over(page)
        expect(page.locator(".notices .notice")).to_contain_text(words)
        expect(page.locator(".card.grounded .ratio")).to_contain_text(re.compile(r"(\d+) of \1 paths exist"))
        expect(page.locator(".card.grounded li.path").first).to_be_visible()
        expect(page.locator(".answer .text")).to_contain_text("could not be asked")
        run = page.locator(".board").get_attribute("data-run") or ""
