"""The answer: a sentence with citations, two marks that are two things, and what can be asked next."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_keep import opened as open_trace
from tests.browser.test_page import ask, over, replay
from tests.helpers.small import QUESTION

pytestmark = pytest.mark.browser


def test_the_answer_is_a_sentence_and_its_marks_say_two_things(page: Page):
    replay(page)
    expect(page.locator(".answer .says")).to_have_text(
        re.compile(r"The Magic Flute was composed by Wolfgang Amadeus Mozart, who was born in Salzburg ?1\.")
    )
    marks = page.locator(".answer .mark")
    expect(marks.nth(0)).to_contain_text("the cited path is in the graph")
    expect(marks.nth(1)).to_contain_text(re.compile(r"the model is (> )?\d+ % sure that this is what was asked"))
    green = page.evaluate("getComputedStyle(document.querySelector('.card.grounded h2')).color")
    for text in (marks.nth(1).locator("dd"), page.locator(".card.grounded .ratio span")):
        assert text.evaluate("(e) => getComputedStyle(e).color") != green  # green would read as "right"


def test_after_an_answer_a_click_asks_a_next_question(page: Page):
    ask(page, QUESTION)
    over(page)
    following = page.locator(".next-questions button")
    question = following.first.inner_text()
    assert question != QUESTION
    run = page.locator(".board").get_attribute("data-run")
    following.first.click()
    expect(page.locator(".board")).not_to_have_attribute("data-run", run)
    over(page)
    expect(page.get_by_label("Your question")).to_have_value(question)
    expect(page.locator(".asked")).to_have_text(question)


def test_after_a_refusal_there_are_questions_too(page: Page):
    ask(page, "What is the colour of nothing at all?")
    expect(page.locator(".card.answer")).to_contain_text("No entity")
    expect(page.locator(".next-questions button")).to_have_count(3)


def test_a_refusal_without_a_picture_says_so_in_its_place_and_the_answer_stays_where_it_was(page: Page):
    page.emulate_media(reduced_motion="reduce")
    replay(page)
    answer = page.locator(".card.answer")
    before = answer.bounding_box()
    events = [json.loads(line) for line in Path("assets/traces/1-flute.jsonl").read_text("utf-8").splitlines()]
    told = {event["event"]: event for event in events}
    reason = "It asks for a judgement, and a graph holds facts, not opinions."
    run = [
        told["RunStarted"] | {"question": "What is the best song ever?"},
        told["EntitiesLinked"] | {"mentions": [], "chosen": []},
        told["AnswerFinal"] | {"text": reason, "answers": [], "citations": [], "refusal": reason},
        told["RunFinished"],
    ]
    open_trace(page, "\n".join(map(json.dumps, run)))
    expect(page.locator(".answer .says")).to_have_text(reason)
    expect(page.locator(".answer .by")).to_contain_text("No large language model took part.")
    after = answer.bounding_box()
    assert before
    assert after
    assert (after["x"], after["width"]) == (before["x"], before["width"])
    place = page.locator(".card.graph .waiting")
    expect(place).to_contain_text("nothing to draw")
    place.get_by_role("button", name="What this graph knows").click()
    expect(page.locator(".xray .relations tbody tr").first).to_be_visible()
    expect(page.get_by_label("Find a relation")).to_be_focused()


def test_while_paths_are_written_the_likeliest_one_is_read_where_the_answer_will_stand(page: Page):
    page.emulate_media(reduced_motion="reduce")
    replay(page)
    page.get_by_role("button", name="To the start").click()
    expect(page.locator(".answer .so-far")).to_be_empty()
    step = page.get_by_label("Step of the run").last
    step.fill("12")
    written, newest = page.locator(".answer .so-far"), page.locator(".answer .so-far .token")
    expect(newest).to_have_count(1)
    before = written.inner_text()
    assert before.startswith("the magic flute → composed by")
    assert newest.inner_text() == page.locator(".card.grounded .beams li.live .token").first.inner_text()
    page.get_by_role("button", name="To the end").click()
    expect(written).to_have_count(0)


def test_without_the_graph_there_are_three_verdicts_and_a_reworded_hop_names_its_edge(page: Page):
    page.get_by_text("When it goes wrong").click()
    page.locator(".failure", has_text="An ambiguous relation").click()
    page.get_by_role("button", name="To the end").click()
    over(page)
    ratio = page.locator(".card.invented .ratio")
    expect(ratio).to_have_text(re.compile(r"^\d+ in the graph · [1-9]\d* in other words · \d+ invented$"))
    page.locator(".card.invented .foot button").click()
    reworded = page.locator(".card.invented .verdict.reworded")
    expect(reworded.first).to_contain_text("in other words: Jurassic Park (film) → directed by → Steven Spielberg")
    expect(page.locator(".card.grounded .verdict:not(.ok)")).to_have_count(0)


def test_a_follow_up_knows_what_was_answered_last(page: Page):
    ask(page, "Who directed Inception?")
    over(page)
    run = page.locator(".board").get_attribute("data-run")
    ask(page, "and who starred in it?")
    expect(page.locator(".board")).not_to_have_attribute("data-run", run)
    over(page)
    expect(page.locator(".notices")).to_contain_text("“it” is taken for Inception.")
    expect(page.locator(".chip .name")).to_contain_text("Inception")
    page.wait_for_url(re.compile(r"entity=Inception"))
