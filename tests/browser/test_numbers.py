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
