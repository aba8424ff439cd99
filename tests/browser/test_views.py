"""What a visitor can see and do on a run: tree, picture, steps, forbidden tokens, comparison, other methods."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import press
from tests.browser.test_everyone import complaints
from tests.browser.test_keep import opened
from tests.browser.test_page import ask, over, replay
from tests.helpers.small import FAILING, QUESTION

pytestmark = pytest.mark.browser


def show_tree(page: Page, card: str) -> None:
    page.locator(f".card.{card} .choice button", has_text="Tree").click()


@pytest.mark.parametrize("look", ["desktop-light", "phone-dark"], indirect=True)
def test_the_tree_tells_kept_finished_and_dropped_apart_and_fits_the_window(page: Page, look: str):
    replay(page)
    for card in ("grounded", "invented"):
        show_tree(page, card)
        tree = page.locator(f".card.{card} .tree")
        expect(page.locator(f".card.{card} ol.beams")).to_be_hidden()
        expect(tree.locator(".node.finished").first).to_be_attached()
        dashes = [
            tree.locator(f".node.{fate} rect").first.evaluate("e => getComputedStyle(e).strokeDasharray")
            for fate in ("kept", "finished", "pruned")
        ]
        assert dashes[:2] == ["none", "none"]
        assert dashes[2] != "none"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tree = page.locator(".card.grounded .tree")
    tree.get_by_label("show dropped").uncheck()
    expect(tree.locator(".node.pruned")).to_have_count(0)
    single = "(nodes) => nodes.filter((n) => n.getAttribute('aria-level') === '1').length"
    assert tree.locator(".node").evaluate_all(single) == 1  # every path starts with the topic entity: one merged run


def test_every_path_ends_in_a_leaf_of_the_tree_and_the_keys_walk_it(page: Page):
    replay(page, 1)
    show_tree(page, "grounded")
    tree = page.locator(".card.grounded .tree")
    paths = page.evaluate(
        """() => { const keys = new Set([...document.querySelectorAll('.card.grounded .node.finished[data-keys]')]
        .flatMap((n) => JSON.parse(n.dataset.keys))); return [...keys].filter((k) => k.startsWith('g')).length; }"""
    )
    recorded = [json.loads(line) for line in Path("assets/traces/2-austria.jsonl").read_text("utf-8").splitlines()]
    searched = [e for e in recorded if e["event"] == "PathFound" and e["constrained"] and e["beam"] >= 0]
    assert paths == len(searched) > 5
    tree.locator(".node").first.focus()
    first = tree.locator(".detail").inner_text()
    page.keyboard.press("ArrowRight")
    expect(tree.locator(".detail")).not_to_have_text(first)
    expect(tree.locator(".detail")).to_contain_text("search score")
    page.keyboard.press("ArrowLeft")
    expect(tree.locator(".detail")).to_have_text(first)
    expect(page.locator(".where")).to_have_text(re.compile(r"step (\d+) / \1$"))  # the transport did not take the keys


def test_a_leaf_lights_its_path_and_a_click_follows_its_beam(page: Page):
    replay(page)
    show_tree(page, "grounded")
    leaf = page.locator(".card.grounded .node.finished[data-keys='[\"g2\"]']")
    leaf.hover()
    press(page.locator(".card.graph .twin summary"))
    leaf.hover()
    expect(page.locator(".twin tr.lit").first).to_be_attached()
    before = page.locator(".allowed .spark").get_attribute("aria-label")
    leaf.click()
    expect(page.locator(".allowed .spark")).not_to_have_attribute("aria-label", before)


def test_the_first_different_token_is_marked_in_both_columns_and_each_hop_has_its_verdict(page: Page):
    replay(page)
    for card in ("grounded", "invented"):
        mark = page.locator(f".card.{card} li.path .fork")
        expect(mark).to_have_count(1)
        said = page.locator(f".card.{card} .note .fork").inner_text()
        assert mark.inner_text().lower() == said.lower()
        ratio = (
            r"\d+ of \d+ paths exist" if card == "grounded" else r"\d+ in the graph · \d+ in other words · \d+ invented"
        )
        expect(page.locator(f".card.{card} .head .ratio")).to_contain_text(re.compile(ratio))
    expect(page.locator(".card.invented li.path").first.locator(".verdict")).to_have_count(2)
    expect(page.locator(".card.grounded li.path .region.held")).to_have_count(5)
    expect(page.locator(".card.invented li.path .region.held")).to_have_count(0)
    expect(page.locator(".card.grounded li.path .freely.region.free")).to_have_count(5)


def test_steps_go_by_token_by_hop_and_by_stage_and_keys_do_the_same(page: Page):
    replay(page)
    where = page.locator(".where")
    counts = {}
    for size in ("token", "hop", "stage"):
        page.get_by_label("Size of a step").select_option(size)
        page.get_by_role("button", name="To the start").click()
        last, steps = "", 0
        while where.inner_text() != last and steps < 300:
            last, steps = where.inner_text(), steps + 1
            page.get_by_role("button", name="One step forward").click()
            page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        counts[size] = steps - 1
        over(page)
    assert counts["token"] > counts["hop"] > counts["stage"] >= 5
    page.locator(".rail .where").click()  # leaves the field
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Home")
    expect(where).to_contain_text("step 0 /")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".stages li.done")).to_contain_text("Find names")
    page.get_by_label("Your question").focus()
    written = where.inner_text()
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    assert where.inner_text() == written
    assert page.get_by_label("Your question").input_value().startswith(" ")


def test_the_space_key_plays_and_pauses(page: Page):
    replay(page)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_the_line_of_forbidden_mass_chooses_the_token_that_is_explained(page: Page):
    replay(page)
    points = page.locator(".spark [role=button]")
    assert points.count() > 3
    points.nth(2).click()
    expect(page.locator(".allowed .note").first).to_contain_text("the token you chose")
    share = page.locator(".spark .here").get_attribute("aria-label").split(": ")[1].removesuffix(" forbidden")
    expect(page.locator(".mass .big")).to_have_text(share)
    note = page.locator(".allowed .note").first.inner_text()
    page.locator(".spark .here").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".allowed .note").first).not_to_have_text(note)
    expect(page.locator(".spark .here")).to_be_focused()
    page.get_by_role("button", name="back", exact=True).click()
    expect(page.locator(".allowed .note").first).not_to_contain_text("the token you chose")


def test_the_picture_is_drawn_while_it_is_out_of_sight(page: Page):
    page.locator(".failure").first.evaluate("(card) => card.closest('details').open = true")
    page.locator(".failure").first.click()  # far below the picture, to which the page goes
    expect(page.locator(".canvas")).to_be_in_viewport()
    page.evaluate("window.scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' })")
    over(page)
    assert page.evaluate("document.querySelector('.canvas').getBoundingClientRect().bottom < 0")
    expect(page.locator(".canvas")).to_have_attribute("data-drawn", re.compile(r"^\d\d+$"))
    inked = """(canvas) => { const copy = document.createElement('canvas'); copy.width = canvas.width;
      copy.height = canvas.height; const pen = copy.getContext('2d'); pen.drawImage(canvas, 0, 0);
      return pen.getImageData(0, 0, copy.width, copy.height).data.filter((v, i) => i % 4 === 3 && v).length; }"""
    still = page.locator(".canvas > canvas")
    expect(still).to_be_visible()
    expect(still).to_have_attribute("data-nodes", page.locator(".canvas").get_attribute("data-drawn"))
    assert still.evaluate(inked) > 1000
    page.locator(".card.graph").scroll_into_view_if_needed()
    expect(still).to_be_hidden()  # the frame itself is seen now


def test_a_node_is_found_expanded_and_taken_out(page: Page):
    ask(page, QUESTION)
    over(page)
    drawn = page.locator(".canvas")
    find = page.get_by_label("Find in the picture")
    find.fill("no such thing")
    find.press("Enter")
    expect(page.locator(".chosen")).to_contain_text("no such node")
    find.fill("christopher")
    find.press("Enter")
    expect(page.locator(".chosen b")).to_have_text("Christopher Nolan")
    press(page.get_by_role("button", name="Show neighbours"))
    expect(page.locator(".chosen")).to_contain_text("Jonathan Nolan")
    expect(page.locator("#kg-nodes option[value='Dunkirk']")).to_have_count(1)
    press(page.get_by_role("button", name="Take out"))
    expect(page.locator("#kg-nodes option[value='Christopher Nolan']")).to_have_count(0)
    press(page.get_by_role("button", name="Bring back 1"))
    expect(page.locator("#kg-nodes option[value='Christopher Nolan']")).to_have_count(1)
    nodes = page.locator("#kg-nodes option").count()
    expect(drawn).to_have_attribute("data-drawn", str(nodes))


def test_a_high_picture_begins_at_its_topic_and_goes_to_what_is_found(page: Page):
    records = [json.loads(line) for line in Path("assets/traces/1-flute.jsonl").read_text("utf-8").splitlines()]
    ends = [
        {"id": f"end {n}", "label": f"end {n}", "group": "end", "x": 280, "y": 46 * (n - 50), "title": f"end {n}"}
        for n in range(101)
    ]
    picture = next(record for record in records if record["event"] == "Picture")
    picture["nodes"] = [*picture["nodes"], *ends]
    page.get_by_text("Your runs").click()
    opened(page, "\n".join(map(json.dumps, records)))
    page.get_by_role("button", name="To the end").click()
    over(page)
    canvas = page.locator(".canvas")
    expect(canvas).to_have_class(re.compile("scrolled"))
    share = (
        "(e) => (e.scrollTop + e.clientHeight / 2) / e.scrollHeight"  # of the picture above the middle of what is seen
    )
    assert canvas.evaluate(share) == pytest.approx(0.5, abs=0.1)
    find = page.get_by_label("Find in the picture")
    for name, place in (("end 80", 0.8), ("end 20", 0.2)):
        find.fill(name)
        find.press("Enter")
        expect(page.locator(".chosen b")).to_have_text(name)
        assert canvas.evaluate(share) == pytest.approx(place, abs=0.1)


def test_another_method_answers_the_same_question_and_both_stand_in_one_table(page: Page):
    ask(page, QUESTION)
    over(page)
    expect(page.locator("#kg-stop")).to_have_class(re.compile("idle"))
    expect(page.locator(".card.methods")).to_be_hidden()
    run = page.locator(".board").get_attribute("data-run")
    picker = page.get_by_label("Compare with another method")
    picker.select_option("rog")
    press(page.get_by_role("button", name="Run it"))
    expect(page.locator(".board")).not_to_have_attribute("data-run", run)
    over(page)
    rows = page.locator(".methods tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_have_attribute("aria-current", "true")
    press(rows.first.get_by_role("button"))
    expect(page.locator(".board")).to_have_attribute("data-run", run)
    expect(rows.first).to_have_attribute("aria-current", "true")
    expect(page.locator(".stages li.done")).to_have_count(5)


def test_a_run_that_fails_says_at_which_stage(page: Page):
    ask(page, FAILING)
    expect(page.locator(".messages .failed")).to_be_visible()
    expect(page.locator(".stages li.failed")).to_have_count(1)
    expect(page.locator(".stages li.failed")).to_contain_text("Find names")
    expect(page.locator(".stages li.now")).to_have_count(0)


@pytest.mark.parametrize("look", ["desktop-light", "phone-dark"], indirect=True)
def test_the_layers_of_a_token_are_looked_into_on_demand_and_told_as_a_table(page: Page, look: str):
    page.emulate_media(reduced_motion="reduce")
    replay(page)
    share = float(page.locator(".tokens tr.yes .figure").first.inner_text().split()[0]) / 100
    asked: list[str] = []

    def answer(route):
        """What the embedded model would say; this server's model is of another kind."""
        if route.request.post_data_json["fn_name"] == "layers":
            asked.append(route.request.url)
            route.fulfill(json={"layers": [[0.001, 0.002], [0.2, 0.1], [share, 0.8]]})
        else:
            route.fallback()

    page.route(re.compile("component_server"), answer)
    strip = page.locator(".layers")
    expect(strip).to_be_visible()
    assert asked == []
    strip.locator("summary").click()
    expect(strip.locator("tbody tr")).to_have_count(3)
    page.locator(".card.allowed .spark .there").nth(3).dispatch_event("click")  # another token, of another share
    expect(strip.get_by_role("status")).to_contain_text("cannot be read once more")
    page.get_by_role("button", name="back", exact=True).click()
    expect(strip.locator("tbody tr")).to_have_count(3)
    expect(strip.get_by_role("status")).to_contain_text("ahead in the last layer")
    assert complaints(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
