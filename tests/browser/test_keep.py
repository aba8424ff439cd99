"""Taking runs along: links, traces and files, made in the browser and harmless whatever the graph holds."""

from __future__ import annotations

import copy
import csv
import io
import json
import random
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from kgdemo.cli import main
from kgdemo.events import AnswerFinal, from_json
from tests.browser.conftest import drawn, press
from tests.browser.test_page import ask, over, replay
from tests.helpers.reasoning import FILMS
from tests.helpers.small import QUESTION

pytestmark = pytest.mark.browser
SVG = "{http://www.w3.org/2000/svg}"
GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


def saved(page: Page, name: str) -> Path:
    """The file that a button hands over."""
    with page.expect_download() as download:
        press(page.get_by_role("button", name=name, exact=True))
    return Path(download.value.path())


def opened(page: Page, content: str) -> None:
    """Open a file with this content as a trace."""
    file = {"name": "trace.jsonl", "mimeType": "text/plain", "buffer": content.encode()}
    page.get_by_label("Open a trace", exact=True).set_input_files(files=[file])


def table(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file.read_text("utf-8"), newline="")))


def nasty(page: Page) -> None:
    """A run over every hostile label of the small graph."""
    ask(page, "What does Nasty hold?")
    over(page)


def test_a_trace_holds_the_records_sent_and_opens_as_the_same_page(page: Page):
    replay(page)
    shown = page.locator(".card.grounded .beams").inner_text(), page.locator(".answer .text").inner_text()
    content = saved(page, "Trace (JSON lines)").read_text("utf-8")
    lines = [json.loads(line) for line in content.splitlines()]
    recorded = Path("assets/traces/1-flute.jsonl").read_text("utf-8").splitlines()
    assert lines[0]["trace"] == "kgdemo trace"
    assert lines[0]["version"] == 1
    assert lines[1:] == [json.loads(line) for line in recorded]
    page.reload()
    expect(page.locator("#kg-stage")).to_have_attribute("data-ready", "true")
    opened(page, content)
    page.get_by_role("button", name="To the end").click()
    over(page)
    assert (page.locator(".card.grounded .beams").inner_text(), page.locator(".answer .text").inner_text()) == shown


def test_what_ask_prints_as_json_opens_and_plays_to_the_same_answer(page: Page, capsys, tmp_path: Path):
    films = tmp_path / "films.tsv"
    films.write_text("".join("\t".join(triple) + "\n" for triple in FILMS), "utf-8")
    page.get_by_text("Your runs").click()
    for method in ("gcr", "fidelis", "agent-tot"):
        assert main(["ask", QUESTION, "--kg", str(films), "--method", method, "--unconstrained", "--json"]) == 0
        content = capsys.readouterr().out
        answer = next(e for line in content.splitlines() if isinstance(e := from_json(line), AnswerFinal))
        assert answer.answers
        opened(page, content)
        page.get_by_role("button", name="To the end").click()
        over(page)
        for name in answer.answers:
            expect(page.locator(".answer .text")).to_contain_text(name)
        page.get_by_text("Your runs").click()
        opened(page, content.replace('"event": "AnswerFinal"', '"event": "AnswerFinally"'))
        expect(page.locator(".fold .failed")).to_contain_text("not a trace")


def test_a_file_that_is_no_trace_is_refused_in_one_sentence(page: Page):
    page.get_by_text("Your runs").click()
    newer = '{"trace": "kgdemo trace", "version": 99}'
    for content, says in (("not json at all", "not a trace"), (newer, "newer version")):
        opened(page, content)
        expect(page.locator(".fold .failed")).to_contain_text(says)
        expect(page.locator(".board")).to_have_attribute("data-origin", "opening")


WRONG = (None, -1, 1e308, "", "x" * 5000, [], {}, True, [None], {"a": 1}, "__proto__")


def altered(records: list[dict[str, Any]], chance: random.Random) -> list[dict[str, Any]]:
    """A run with one of its values, at any depth, replaced by one of another kind; records of all kinds alike."""
    kind = chance.choice(sorted({one["event"] for one in records}))
    place = chance.choice([i for i, one in enumerate(records) if one["event"] == kind])
    result = copy.deepcopy(records)
    holder: Any = result[place]
    while True:
        key = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if not (isinstance(holder[key], dict | list) and holder[key]) or chance.random() < 0.3:
            break
        holder = holder[key]
    holder[key] = chance.choice(WRONG)
    return result


def test_an_altered_trace_is_refused_in_one_sentence_or_shown_to_its_end(page: Page):
    chance = random.Random(5)
    runs = [
        [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        for folder in ("traces", "failures")
        for file in sorted(Path("assets", folder).glob("*.jsonl"))
    ]
    endings = set()
    for number in range(60):
        records = altered(chance.choice(runs), chance)
        run = f"altered {number}"
        if isinstance(records[0].get("question"), str):
            records[0]["question"] = run
        opened(page, "\n".join(map(json.dumps, records)))
        ended = page.wait_for_function(
            """(run) => document.querySelector('#kg-question textarea').value === run ? 'shown'
                : document.querySelector('.fold .failed[role=alert]').textContent && 'refused'""",
            arg=run,
        ).json_value()
        endings.add(ended)
        if ended == "shown":
            page.get_by_role("button", name="To the end").click()
            drawn(page.locator(".board"))
        page.evaluate("document.querySelector('.fold .failed[role=alert]').textContent = ''")
    assert endings == {"shown", "refused"}  # and the page has complained of nothing, see its fixture


def test_hostile_text_in_a_trace_stays_text(page: Page):
    evil = '<img src=x onerror="window.pwned=1"></script><script>window.pwned=2</script>${window.pwned=3}'
    lines = Path("assets/traces/1-flute.jsonl").read_text("utf-8").replace("Salzburg", json.dumps(evil)[1:-1])
    opened(page, lines)
    page.get_by_role("button", name="To the end").click()
    over(page)
    expect(page.locator(".answer .text")).to_contain_text("<img src=x")
    offline = saved(page, "Offline page (HTML)").read_text("utf-8")
    assert "<img src=x" not in offline
    assert ET.fromstring(saved(page, "Graph (SVG)").read_text("utf-8")).tag == f"{SVG}svg"
    assert page.evaluate("window.pwned") is None
    assert page.locator(".kg img").count() == 0


def test_graphs_are_saved_as_tables_graphml_svg_and_png(page: Page):
    nasty(page)
    graph = ET.fromstring(saved(page, "GraphML").read_text("utf-8"))
    ids = {node.get("id") for node in graph.iter(f"{GRAPHML}node")}
    ends = [(edge.get("source"), edge.get("target")) for edge in graph.iter(f"{GRAPHML}edge")]
    assert "Nasty" in ids
    assert {row["id"].removeprefix("'") for row in table(saved(page, "Nodes (CSV)"))} == ids
    assert len(table(saved(page, "Edges (CSV)"))) == len(ends) > 0
    assert {row["with_graph"] for row in table(saved(page, "Paths (CSV)"))} >= {"yes"}
    assert all(end in ids for pair in ends for end in pair)
    drawn = ET.fromstring(saved(page, "Graph (SVG)").read_text("utf-8"))
    labels = {text.text for text in drawn.iter(f"{SVG}text")}
    assert "Nasty" in labels
    assert not list(drawn.iter(f"{SVG}script"))
    page.locator(".card.graph").scroll_into_view_if_needed()
    assert saved(page, "Graph (PNG)").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("look", ["desktop-light", "phone-dark"], indirect=True)
def test_the_offline_page_plays_every_view_from_a_disk(page: Page, tmp_path: Path, look: str):
    nasty(page)
    told = page.locator(".answer .text").inner_text()
    file = tmp_path / "run.html"
    file.write_bytes(saved(page, "Offline page (HTML)").read_bytes())
    context = page.context.browser.new_context(offline=True, reduced_motion="reduce", viewport=page.viewport_size)
    alone = context.new_page()
    complaints: list[str] = []
    asked: list[str] = []
    alone.on("console", lambda message: complaints.append(message.text))
    alone.on("pageerror", lambda error: complaints.append(str(error)))
    alone.on("request", lambda r: asked.append(r.url) if not r.url.startswith(("data:", "about:")) else None)
    alone.goto(file.as_uri())
    over(alone)
    expect(alone.locator(".asked")).to_have_text("What does Nasty hold?")
    expect(alone.locator(".answer .text")).to_have_text(re.compile(re.escape(told.strip()[:40])))
    if look == "phone-dark":
        alone.get_by_role("button", name="Paths", exact=True).click()
    else:
        expect(alone.locator(".canvas")).to_have_attribute("data-drawn", re.compile(r"^\d+$"))
    expect(alone.locator(".card.grounded li.path").first).to_be_visible()
    alone.locator(".card.grounded").get_by_role("button", name="Tree").click()
    expect(alone.locator(".card.grounded .tree .node").first).to_be_visible()
    expect(alone.locator(".allowed .tokens tr").first).to_be_visible()
    end = alone.locator(".where").inner_text()
    alone.get_by_role("button", name="One step back").click()
    expect(alone.locator(".where")).not_to_have_text(end)
    alone.get_by_role("button", name="To the end").click()
    over(alone)
    if look != "phone-dark":
        alone.get_by_text("The same as a table").click()
        expect(alone.locator(".twin tbody tr").first).to_contain_text("Nasty")
    alone.locator(".walk").click()
    expect(alone.locator(".tour")).to_be_visible()
    expect(alone.get_by_role("button", name="Ask it live")).to_be_hidden()  # nothing can be asked here
    assert alone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert alone.evaluate("window.pwned") is None
    assert asked == [file.as_uri()]
    assert complaints == []
    context.close()


def test_a_link_fills_the_fields_and_asks(page: Page, address: str):
    page.goto(f"{address}/?question=Who+directed+Dunkirk%3F&beams=3&hops=1&compare=false&entity=Dunkirk")
    over(page)
    expect(page.get_by_label("Your question")).to_have_value("Who directed Dunkirk?")
    expect(page.locator(".chip .name")).to_have_text("Dunkirk")
    assert page.locator(".card.grounded li.path").count() <= 3
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator(".keep .note[role=status]")).to_contain_text("clipboard")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == f"{address}/?question=Who+directed+Dunkirk%3F&beams=3&hops=1&compare=false&entity=Dunkirk"


def test_a_link_to_a_file_of_the_server_asks_nothing_by_itself(page: Page, address: str):
    page.goto(f"{address}/?question=Who%3F&graph=/etc/passwd&beams=99&hops=x")
    expect(page.get_by_label("Your question")).to_have_value("Who?")
    page.wait_for_function("() => window.kgLinked")
    expect(page.locator(".board")).to_have_attribute("data-origin", "idle")
    page.get_by_role("button", name="Settings").click()
    expect(page.get_by_label("Paths (K)").first).to_have_value("10")


def test_runs_are_listed_bounded_and_cleared(page: Page):
    page.evaluate("""() => localStorage.setItem('kgdemo.runs', JSON.stringify(Array.from({ length: 90 },
        (_, i) => ({ question: `q${i}`, answer: '<b>a</b>', time: 'x' }))))""")
    page.reload()
    expect(page.locator("#kg-stage")).to_have_attribute("data-ready", "true")
    ask(page, QUESTION)
    over(page)
    page.get_by_text("Your runs").click()
    expect(page.locator(".past li a").first).to_have_text(QUESTION)
    expect(page.locator(".past li a")).to_have_count(30)
    kept = json.loads(page.evaluate("localStorage.getItem('kgdemo.runs')"))
    assert set(kept[0]) == {
        "time",
        "answer",
        "question",
        "graph",
        "method",
        "beams",
        "hops",
        "compare",
        "ranking",
        "complete",
    }
    page.get_by_role("button", name="Clear this list").click()
    expect(page.locator(".past")).to_contain_text("Nothing asked yet")
    assert json.loads(page.evaluate("localStorage.getItem('kgdemo.runs')")) == []


def test_the_program_follows_the_fields(page: Page):
    page.get_by_text("Ask from a program").click()
    page.get_by_label("Your question").fill('Who wrote "Dune" – 沙丘 😀?')
    code = page.locator(".program pre").first
    expect(code).to_contain_text('"Who wrote \\"Dune\\" \\u2013 \\u6c99\\u4e18 \\U0001f600?"')
    compile(code.inner_text(), "snippet", "exec")
    replay(page)
    page.get_by_label("What to call").select_option("verify_path")
    expect(code).to_contain_text('"The Magic Flute -> composed by -> Wolfgang Amadeus Mozart -> born in -> Salzburg"')
    for endpoint in ("ask", "paths", "verify_path", "link"):
        page.get_by_label("What to call").select_option(endpoint)
        expect(code).to_contain_text(f'api_name="/{endpoint}"')
        compile(code.inner_text(), "snippet", "exec")


def test_the_choices_beside_the_title_follow_the_fields_and_open_the_settings(page: Page):
    picks = page.locator(".picks")
    expect(picks).to_contain_text("Graph: world")
    expect(picks).to_contain_text("10 paths, 2 hops")
    picks.get_by_role("button").first.click()
    beams = page.get_by_label("number input for Paths (K)")
    drawn(beams)
    beams.fill("4")
    beams.press("Tab")
    expect(picks).to_contain_text("4 paths, 2 hops")
