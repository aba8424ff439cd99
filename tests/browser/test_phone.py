"""On a phone: the answer and the picture in the first screen, and every target as large as a finger."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import PATIENCE
from tests.browser.test_keep import opened as open_trace
from tests.browser.test_page import ask, over, replay
from tests.helpers.small import QUESTION

pytestmark = pytest.mark.browser
FIRST_SCREEN = 900  # pixels
FINGER = 44
# of everything that can be tapped and is seen; a citation is as small as its sentence, its ::after is what is hit
SMALL = """(finger) => [...document.querySelectorAll('button, a[href], summary, select, input, textarea')]
  .filter((e) => e.checkVisibility() && !e.closest('.sr-only') && e.getBoundingClientRect().width)
  .map((e) => { const part = e.matches('[type=radio], [type=checkbox]') && e.closest('label');
    const { width, height } = (part || e).getBoundingClientRect(); const hit = getComputedStyle(e, '::after');
    const larger = !part && hit.position === 'absolute' && hit.content !== 'none';
    const more = larger ? [-2 * parseFloat(hit.left), -2 * parseFloat(hit.top)] : [0, 0];
    return [width + more[0], height + more[1], e.outerHTML.slice(0, 120)]; })
  .filter(([width, height]) => width < finger || height < finger)"""


@pytest.fixture
def motion() -> str:
    """Everything stands still at once."""
    return "reduce"


@pytest.mark.parametrize("look", ["phone-light"], indirect=True)
def test_answer_and_picture_stand_in_the_first_screen_after_a_run(page: Page, look: str):
    ask(page, QUESTION)
    over(page)
    expect(page.locator(".answer .says")).to_be_visible()
    page.evaluate("scrollTo(0, 0)")
    for place in (".answer .says", ".answer .marks", ".card.graph .canvas"):
        bottom = page.locator(place).evaluate("(e) => e.getBoundingClientRect().bottom")
        assert bottom <= FIRST_SCREEN, place


@pytest.mark.parametrize("look", ["phone-light"], indirect=True)
def test_so_do_those_of_every_recorded_run(page: Page, look: str):
    recorded = page.locator(".example:not(.walk, .learn)")
    for number in range(recorded.count()):
        recorded.nth(number).click()
        page.get_by_role("button", name="To the end").click()
        over(page)
        page.evaluate("scrollTo(0, 0)")
        bottom = page.locator(".card.graph .canvas").evaluate("(e) => e.getBoundingClientRect().bottom")
        assert bottom <= FIRST_SCREEN, recorded.nth(number).inner_text()


@pytest.mark.parametrize("look", ["phone-light"], indirect=True)
def test_every_target_is_as_large_as_a_finger(page: Page, look: str):
    assert page.evaluate(SMALL, FINGER) == []
    replay(page)
    page.evaluate("for (const fold of document.querySelectorAll('.kg details')) fold.open = true")
    assert page.evaluate(SMALL, FINGER) == []
    expect(page.locator("#kg-settings")).to_be_hidden()
    page.get_by_role("button", name="Settings, Graph: world").click()
    expect(page.get_by_label("Paths (K)").first).to_be_visible()
    cut_off = "(all) => all.filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.innerText)"
    page.wait_for_function("document.getAnimations().every((one) => one.playState !== 'running')")
    assert page.locator("#kg-settings label").evaluate_all(cut_off) == []
    assert page.evaluate(SMALL, FINGER) == []


@pytest.mark.parametrize("look", ["phone-light"], indirect=True)
def test_picture_reasons_and_paths_are_panes_to_be_swiped(page: Page, look: str):
    replay(page)
    page.evaluate("scrollTo(0, 0)")
    names = page.locator(".panes > .choice button")
    expect(names).to_have_text(["Picture", "Reasons", "Paths"])
    expect(names.first).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".card.graph .canvas")).to_be_in_viewport()
    track = page.locator(".track")
    track.evaluate("(e) => e.scrollTo({ left: e.clientWidth })")  # what a finger does
    expect(names.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".reasons summary").first).to_be_in_viewport()
    names.nth(2).focus()
    page.keyboard.press("Enter")
    expect(names.nth(2)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".card.grounded h2")).to_be_in_viewport()
    heights = "(e) => [e.clientHeight, e.querySelector('.pane.paths').clientHeight]"
    track_height, pane_height = track.evaluate(heights)
    assert track_height == pane_height  # no hole below a short pane, and nothing cut off
    expect(page.locator(".picks .pick").first).to_be_visible()  # the graph that is asked


@pytest.mark.parametrize("look", ["phone-light"], indirect=True)
def test_a_large_picture_shows_its_first_paths_and_all_on_request(page: Page, look: str):
    replay(page)
    canvas, part = page.locator(".card.graph .canvas"), page.locator(".card.graph .part")
    drawn, of = map(int, re.findall(r"\d+", part.locator("span").inner_text()))
    assert drawn < of
    expect(canvas).to_have_attribute("data-drawn", str(drawn))
    page.get_by_role("button", name=f"Show all {of}").click()
    expect(canvas).not_to_have_attribute("data-drawn", str(drawn))
    assert int(canvas.get_attribute("data-drawn") or "") >= of
    page.get_by_role("button", name="Show the first paths only").click()
    expect(canvas).to_have_attribute("data-drawn", str(drawn))
    rows = page.locator(".card.graph .twin tbody tr")
    page.locator(".card.graph .twin summary").click()
    assert rows.count() > drawn  # the table holds what is not drawn, too

    find = page.get_by_label("Find in the picture")
    find.fill("Salzburg")  # what a touch does
    find.press("Enter")
    expect(page.locator(".chosen li").first).to_have_text("Wolfgang Amadeus Mozart → born in → Salzburg")
    find.fill("1756")  # it is not among the first paths
    find.press("Enter")
    expect(page.get_by_role("button", name="Show the first paths only")).to_be_visible()


@pytest.mark.parametrize("look", ["phone-light"], indirect=True)
def test_the_walk_can_always_be_gone_on_with(page: Page, look: str):
    page.locator(".example.walk").click()
    walk = page.locator(".tour")
    forward = walk.get_by_role("button", name="Next", exact=True)
    for _ in range(6):
        expect(forward).to_be_in_viewport(ratio=1)
        inside = forward.evaluate(
            "(e, walk) => e.getBoundingClientRect().bottom <= walk.getBoundingClientRect().bottom",
            walk.element_handle(),
        )
        assert inside
        forward.click()
    expect(walk.get_by_role("button", name="To the page")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("look", ["phone-light"], indirect=True)
def test_a_finger_on_the_picture_moves_the_page(browser: Browser, address: str, look: str):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(address)
    canvas = page.frame_locator("iframe.frame").locator("canvas")
    assert canvas.evaluate("(e) => getComputedStyle(e).touchAction", timeout=PATIENCE) == "auto"
    context.close()


@pytest.mark.parametrize("look", ["phone-light"], indirect=True)
def test_a_long_answer_leaves_room_for_the_picture_and_is_read_on_request(page: Page, look: str):
    names = [f"Village number {number} of the Long Valley" for number in range(30)]
    events = [json.loads(line) for line in Path("assets/traces/1-flute.jsonl").read_text("utf-8").splitlines()]
    for event in events:
        if event["event"] in ("AnswerDelta", "AnswerFinal"):
            event["text"] = f"{', '.join(names)}: all of the valley."
        if event["event"] == "AnswerFinal":
            event |= {"answers": names, "citations": [[]] * len(names)}
    open_trace(page, "\n".join(map(json.dumps, events)))
    page.get_by_role("button", name="To the end").click()
    over(page)
    expect(page.locator(".answer .says strong")).to_have_count(len(names))
    canvas, text = page.locator(".card.graph .canvas"), page.locator(".answer .text")
    bottom = "(e) => e.getBoundingClientRect().bottom + scrollY"
    assert canvas.evaluate(bottom) <= FIRST_SCREEN
    last = text.locator("strong").last
    assert last.evaluate(bottom) > text.evaluate(bottom)  # it is cut off
    page.get_by_role("button", name="Read all of it").click()
    expect(page.get_by_role("button", name="Show less")).to_be_visible()
    assert last.evaluate(bottom) <= text.evaluate(bottom)
    page.get_by_role("button", name="Show less").click()
    assert canvas.evaluate(bottom) <= FIRST_SCREEN


@pytest.mark.parametrize("look", ["phone-light"], indirect=True)
def test_each_question_is_looked_at_from_its_first_pane(page: Page, look: str):
    ask(page, "What is the colour of nothing at all?")  # no picture, so its first pane is another
    over(page)
    names = page.locator(".panes > .choice button")
    expect(names.filter(has_text="Picture")).to_be_hidden()
    expect(names.filter(has_text="Reasons")).to_have_attribute("aria-pressed", "true")
    run = page.locator(".board").get_attribute("data-run")
    ask(page, QUESTION)
    expect(page.locator(".board")).not_to_have_attribute("data-run", run or "")
    over(page)
    expect(names.filter(has_text="Picture")).to_have_attribute("aria-pressed", "true")
    page.evaluate("scrollTo(0, 0)")
    expect(page.locator(".card.graph .canvas")).to_be_in_viewport()
