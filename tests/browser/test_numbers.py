"""A number that stands in two places is the same number, under the same name."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_keep import GRAPHML, saved, table
from tests.browser.test_page import replay

pytestmark = pytest.mark.browser
COLUMNS = {"yes": ("grounded", "g"), "no": ("invented", "x")}


def listed(page: Page, column: str) -> dict[str, str]:
    """Path number -> search score, as the list shows it."""
    card = page.locator(f".card.{column}")
    if card.locator(".foot button[aria-expanded=false]").count():
        card.locator(".foot button").click()
    expect(card.locator("li.path")).to_have_count(10)
    return {
        row.locator(".rank").inner_text(): row.locator(".score").inner_text() for row in card.locator("li.path").all()
    }


def drawn_in_tree(page: Page, column: str) -> dict[str, set[str]]:
    """Path key -> the scores behind the leaves of the tree."""
    card = page.locator(f".card.{column}")
    card.locator(".choice button", has_text="Tree").click()
    leaves = card.locator(".node.finished[data-keys]").evaluate_all(
        "(all) => all.map((leaf) => [JSON.parse(leaf.dataset.keys), leaf.querySelector('.score')?.textContent ?? ''])"
    )
    found: dict[str, set[str]] = {}
    for keys, score in leaves:
        for key in keys:
            found.setdefault(key, set()).update({score} - {""})
    return found


def test_scores_and_counts_are_equal_in_list_tree_table_trace_and_graphml(page: Page):
    replay(page)
    rows = table(saved(page, "Paths (CSV)"))
    trace = [json.loads(line) for line in saved(page, "Trace (JSON lines)").read_text("utf-8").splitlines()[1:]]
    graph = ET.fromstring(saved(page, "GraphML").read_text("utf-8"))
    in_graphml = {
        key
        for edge in graph.iter(f"{GRAPHML}edge")
        for data in edge
        if data.get("key") == "paths"
        for key in (data.text or "").split()
    }
    for with_graph, (column, letter) in COLUMNS.items():
        of_column = {row["index"]: row for row in rows if row["with_graph"] == with_graph}
        table_scores = {i: f"{float(row['search_score']):.2f}".replace("-", "−") for i, row in of_column.items()}
        assert listed(page, column) == table_scores
        tree = drawn_in_tree(page, column)
        assert tree
        assert all(scores <= {table_scores[key[1:]]} for key, scores in tree.items())
        found = {
            str(e["index"]): e
            for e in trace
            if e["event"] == "PathFound" and e["constrained"] == (column == "grounded")
        }
        assert {i: e["score"] for i, e in found.items()} == {
            i: float(row["path_log_probability"]) for i, row in of_column.items()
        }
        exist = [row for row in of_column.values() if row["in_graph"] == "yes"]
        ratio = page.locator(f".card.{column} .ratio")
        if column == "invented":
            expect(ratio).to_have_text(re.compile(rf"^{len(exist)} in the graph · \d+ in other words · \d+ invented$"))
            assert sum(map(int, re.findall(r"\d+", ratio.inner_text()))) == len(of_column)
        else:
            expect(ratio).to_have_text(f"{len(exist)} of {len(of_column)} paths exist")
            assert {key for key in in_graphml if key[0] == letter} == {f"g{i}" for i in of_column}
            verify = page.locator(".stages li").nth(3)
            expect(verify).to_contain_text(re.compile(rf"{len(exist)} of {len(of_column)}"))


def shown(number: float) -> str:
    """A score as the page writes it."""
    return f"{number:.2f}".replace("-", "−")


def test_ranks_citations_weights_and_counts_are_those_of_the_trace_wherever_they_stand(page: Page):
    page.emulate_media(reduced_motion="reduce")
    replay(page)
    rows = {row["index"]: row for row in table(saved(page, "Paths (CSV)")) if row["with_graph"] == "yes"}
    trace = [json.loads(line) for line in saved(page, "Trace (JSON lines)").read_text("utf-8").splitlines()[1:]]
    graph = ET.fromstring(saved(page, "GraphML").read_text("utf-8"))
    told = {event["event"]: event for event in trace}  # of each kind the last one
    paths = {str(e["index"]): e for e in trace if e["event"] == "PathFound" and e["constrained"]}
    listed(page, "grounded")  # all are unfolded
    card = page.locator(".card.grounded")

    # each path: its rank and words, its scores, and what its place in the list weighs
    for row in card.locator("li.path").all():
        path = paths[row.locator(".rank").inner_text()]
        number = str(path["index"])
        assert rows[number]["path"] == path["text"]
        assert row.locator(".region.held").inner_text().replace(" → ", " -> ").split() == path["text"].split()
        why = row.locator(".score").get_attribute("title")
        assert f"Search score {row.locator('.score').inner_text()}:" in why
        assert f"with all its names it is {shown(path['score'])}." in why
        weights = [weight for _, weight in path["weighed"]]
        label = row.locator(".weighed").get_attribute("aria-label")
        assert re.findall(r"−?\d+\.\d\d", label) == [shown(weight) for weight in (*weights, sum(weights))]

    # the edges of each path in the picture's file
    in_graphml: dict[str, set[tuple[str | None, str, str | None]]] = {}
    for edge in graph.iter(f"{GRAPHML}edge"):
        data = {part.get("key"): part.text or "" for part in edge}
        for key in data["paths"].split():
            for relation in data["relation"].split("; "):
                in_graphml.setdefault(key, set()).add((edge.get("source"), relation, edge.get("target")))
    for number, path in paths.items():
        entities, relations = path["path"]["entities"], path["path"]["relations"]
        ends = {(head, tail) for head, _, tail in in_graphml[f"g{number}"]}
        for head, relation, tail in zip(entities, relations, entities[1:], strict=False):
            assert (head, tail) in ends
            assert (head, relation, tail) in in_graphml[f"g{number}"]

    # citations: in the sentence, in the list of what it rests on, in the trace
    cited = sorted({str(number) for group in told["AnswerFinal"]["citations"] for number in group})
    assert sorted(set(page.locator(".answer .says .cite").all_inner_texts())) == cited
    proof = page.locator(".proof li")
    assert proof.locator(".number").all_inner_texts() == cited
    for line in proof.all():
        number, words = line.locator("span").all_inner_texts()
        assert words == rows[number]["path"].replace(" -> ", " → ")

    # counts of the stages, beside the tokens, and of the run
    stages = page.locator(".stages li")
    expect(stages.nth(1)).to_contain_text(f"{told['ConstraintReady']['paths']:,} paths")
    expect(page.locator(".mass .left")).to_contain_text(f"paths left {told['ConstraintReady']['paths']:,} → ")
    steps = [event for event in trace if event["event"] == "DecodeStep" and event["constrained"]]
    expect(stages.nth(2)).to_contain_text(f"{len(steps)} tokens")
    run = told["RunFinished"]
    cost = f"{run['seconds']:.1f} s · {run['tokens_out']:,} tokens written · model calls: {run['lm_calls']}"
    expect(page.locator(".answer .by")).to_contain_text(cost)
    for column, words in (("grounded", "with the graph"), ("invented", "without")):
        of = [e for e in trace if e["event"] == "PathVerified" and e["constrained"] == (column == "grounded")]
        faithful = sum(event["verdict"]["faithful"] for event in of)
        expect(page.locator(".answer .by")).to_contain_text(f"{faithful} of {len(of)} {words}")
    sure = page.locator(".mark.answers dd").inner_text()
    share = re.search(r"\d+ %", sure)
    page.locator(".dial summary").click()
    assert share
    expect(page.locator(".dial")).to_contain_text(f"This question is answered: {share[0]} sure.")
