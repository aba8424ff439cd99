"""The README of the methods is what the code has: the table, and the method it adds, run as every method is run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path as File

import pytest

from kgdemo.answering.answer_sets import conclude, show
from kgdemo.cli import main
from kgdemo.events import AnswerFinal, Event, PathVerified
from kgdemo.kg.path import Path
from kgdemo.lab.evaluation.runner import evaluate
from kgdemo.lab.evaluation.study import compare_methods
from kgdemo.methods import METHODS
from kgdemo.methods.registry import as_markdown, register
from kgdemo.query.query import Query
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings, pairs
from tests.helpers.reasoning import of
from tests.helpers.small import SmallPipeline

README = (File(__file__).parents[2] / "kgdemo" / "methods" / "README.md").read_text("utf-8")
NAMES = {
    "Event": Event,
    "Iterator": Iterator,
    "Path": Path,
    "Query": Query,
    "Resources": Resources,
    "Settings": Settings,
    "conclude": conclude,
    "register": register,
    "show": show,
}


@pytest.fixture
def one_hop():
    """The README's method, registered while the test runs."""
    (code,) = re.findall(r"```python\n(@register.*?)```", README, re.DOTALL)
    assert len(code.strip().splitlines()) <= 10
    before = dict(METHODS)
    exec(code, dict(NAMES))
    (name,) = set(METHODS) - set(before)
    yield name
    del METHODS[name]


def test_the_readmes_table_is_the_registrys():
    assert as_markdown() in README, "run `python -m kgdemo methods --markdown` and paste its table"


def test_the_readmes_options_are_the_methods_own():
    named = re.findall(r"--method (\S+) --option (\w+=\w+)`((?:(?:\s\([^)]*\))?,?\s(?:or\s)?`\w+=\w+`)*)", README)
    checked = set()
    for method, first, further in named:
        for option in [first, *re.findall(r"\w+=\w+", further)]:
            METHODS[method].check(pairs([option]))
            checked.add((method, option))
    assert ("fidelis", "adequacy=yes") in checked, "the last of a long list"


def test_every_method_names_its_paper_and_the_four_papers_with_the_section():
    for card in METHODS.values():
        assert re.search(r"\d{4} \([\w -]+\)", card.paper), card.name
        own = re.search(r"\((GCR|DoG|FiDeLiS|Grounding)\)", card.paper) is not None
        assert own == (re.search(r"\), (section \d|appendix [A-Z])", card.paper) is not None), card.name
        assert card.title
        assert card.summary.endswith(".")


def test_the_readmes_method_runs_in_the_pipeline(one_hop):
    asked = Settings(method=one_hop, compare=False)
    events = list(SmallPipeline().run("Who directed Inception?", asked, ["Inception"]))
    verdicts = of(events, PathVerified)
    assert len(verdicts) == 3
    assert all(e.verdict.faithful for e in verdicts)
    (final,) = of(events, AnswerFinal)
    assert final.answers


def test_it_is_listed(one_hop, capsys):
    assert main(["methods"]) == 0
    assert "one-hop: One hop (nobody 2026 (Nothing))" in capsys.readouterr().out
    assert main(["methods", "--markdown"]) == 0
    assert "| `one-hop` | **One hop.**" in capsys.readouterr().out


def test_it_is_evaluated(one_hop, tmp_path):
    questions = tmp_path / "questions.jsonl"
    line = {"id": "1", "question": "Who directed Inception?", "q_entity": ["Inception"], "answer": ["Elliot Page"]}
    questions.write_text(json.dumps(line) + "\n", "utf-8")
    compare_methods(partial(evaluate, SmallPipeline(), questions), [one_hop, "kaping"], Settings(), tmp_path / "out")
    metrics = json.loads((tmp_path / "out" / one_hop / "metrics.json").read_text())
    assert metrics["hit@k"] == 1.0
    assert metrics["faithful_ratio"] == 1.0
