"""Prompts lie in files that people may read, change and choose."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kgdemo.reasoners.base
from kgdemo.errors import UserError
from kgdemo.methods import METHODS
from kgdemo.reasoners.base import SHIPPED, prompts_in
from tests.unit.test_oracle import WALKS, runs

FOLDER = Path(kgdemo.reasoners.base.__file__).parent / "prompts"


def test_an_own_file_takes_the_place_of_the_shipped_one(tmp_path):
    (tmp_path / "relations.md").write_text("Which way?\n", "utf-8")
    own = prompts_in(str(tmp_path))
    assert own.text("relations") == "Which way?"
    assert own.text("paths") == SHIPPED.text("paths")
    assert prompts_in("") == SHIPPED


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("relation.md", "Which?", "prompt of nothing"),
        ("select.md", "Choose of $options about $question: $task", "no place for \\$limit"),
        ("relations.md", "Which $way?", "a place for \\$way"),
        ("relations.md", "x" * 30_000, "30,000 characters"),
    ],
)
def test_a_prompt_that_cannot_work_is_refused(tmp_path, name, text, words):
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(UserError, match=words):
        prompts_in(str(tmp_path))
    with pytest.raises(UserError, match="is no folder"):
        prompts_in(str(tmp_path / name))


def test_what_is_filled_in_is_no_template():
    hostile = "$task ${limit} {question} $$ %s"
    prompt = SHIPPED.select(hostile, "Choose.", ["$limit", "b"], 7)
    assert f"Question: {hostile}" in prompt
    assert "1. $limit" in prompt


def test_every_file_is_used_and_nothing_is_left_open_in_what_a_model_is_told():
    told = [call.prompt for method in WALKS for _, events in runs(method) for call in events if hasattr(call, "prompt")]
    assert told
    assert not [prompt for prompt in told if re.search(r"\$[a-z]", prompt)]
    code = "".join(
        file.read_text("utf-8")
        for folder in ("methods", "reasoners")
        for file in (FOLDER.parents[1] / folder).rglob("*.py")
    )
    names = {file.stem for file in FOLDER.glob("*.md")}
    forms = {name.removesuffix("-task") for name in names if name.endswith("-task")}
    assert {name for name in names if f'"{name}"' not in code} == {
        f"{form}-task" for form in forms if f'"{form}-task"' not in code
    }
    assert len(METHODS) > len(WALKS)


def test_the_real_question_stands_below_the_examples():
    for prompt in (
        SHIPPED.plan("q?", SHIPPED.text("fidelis-plan")),
        SHIPPED.select("q?", SHIPPED.text("paths"), ["a"], 1),
    ):
        examples, _, asked = prompt.rpartition("\n---\n")
        assert "Example" in examples
        assert "Example" not in asked
        assert "q?" in asked
