"""On a phone: the answer and the picture in the first screen, and every target as large as a finger."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import PATIENCE
from tests.browser.test_page import ask, over, replay
from tests.helpers.page import QUESTION

pytestmark = pytest.mark.browser
FIRST_SCREEN = 900  # pixels
FINGER = 44
# of everything that can be tapped and is seen; a citation is as small as its sentence, its ::after is what is hit
SMALL = """(finger) => [...document.querySelectorAll('button, a[href], summary, select, input, textarea')]
  .filter((e) => e.checkVisibility() && !e.closest('.sr-only') && e.getBoundingClientRect().width)
  .map((e) => { const { width, height } = e.getBoundingClientRect(); const hit = getComputedStyle(e, '::after');
    const larger = hit.position === 'absolute' && hit.content !== 'none';
    const more = larger ? [-2 * parseFloat(hit.left), -2 * parseFloat(hit.top)] : [0, 0];
    return [width + more[0], height + more[1], e.outerHTML.slice(0, 120)]; })
  .filter(([width, height]) => width < finger || height < finger)"""


@pytest.mark.parametrize("look", ["phone-light"], indirect=True)
def test_answer_and_picture_stand_in_the_first_screen_after_a_run(page: Page, look: str):
    page.emulate_media(reduced_motion="reduce")
    ask(page, QUESTION)
    over(page)
    expect(page.locator(".answer .says")).to_be_visible()
    page.evaluate("scrollTo(0, 0)")
    for place in (".answer .says", ".answer .marks", ".card.graph .canvas"):
        bottom = page.locator(place).evaluate("(e) => e.getBoundingClientRect().bottom")
        assert bottom <= FIRST_SCREEN, place


@pytest.mark.parametrize("look", ["phone-light"], indirect=True)
def test_so_do_those_of_every_recorded_run(page: Page, look: str):
    page.emulate_media(reduced_motion="reduce")
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
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(SMALL, FINGER) == []
    replay(page)
    page.evaluate("for (const fold of document.querySelectorAll('.kg details')) fold.open = true")
    assert page.evaluate(SMALL, FINGER) == []


@pytest.mark.parametrize("look", ["phone-light"], indirect=True)
def test_picture_reasons_and_paths_are_panes_to_be_swiped(page: Page, look: str):
    page.emulate_media(reduced_motion="reduce")
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
def test_a_finger_on_the_picture_moves_the_page(browser: Browser, address: str, look: str):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(address)
    canvas = page.frame_locator("iframe.frame").locator("canvas")
    assert canvas.evaluate("(e) => getComputedStyle(e).touchAction", timeout=PATIENCE) == "auto"
    context.close()
