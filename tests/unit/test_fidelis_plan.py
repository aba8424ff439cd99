"""FiDeLiS's plan: keywords, steps and the declarative statement."""

from __future__ import annotations

import pytest

from kgdemo.kg.path import Path
from kgdemo.methods.fidelis import PLACEHOLDER, FidelisOptions, read_plan, statement_of
from kgdemo.query.form import understand
from tests.helpers.fidelis import (
    PLAN,
    QUESTION,
    STATEMENT,
    ask,
    deducing,
)
from tests.helpers.reasoning import clerk_world, film_world

QUERY = understand(QUESTION, ["Inception"], film_world().kg)


def test_a_plan_in_three_parts_is_read():
    plan = read_plan(PLAN, QUERY)
    assert plan.keywords == "director, born"
    assert plan.steps.startswith("find the director")
    assert plan.filled(Path(("Inception", "London"), ("r",))) == f"{STATEMENT} London"


@pytest.mark.parametrize("text", ["director, inception, born", "a | b", f"| | {PLACEHOLDER}", "a | b | no slot", ""])
def test_other_plans_are_keywords_and_the_statement_is_made_by_rule(text):
    plan = read_plan(text, QUERY)
    assert plan.keywords
    assert "inception" not in plan.keywords or "," not in plan.keywords
    assert plan.statement == f"{PLACEHOLDER} was the director of Inception born"


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("who directed Inception?", f"{PLACEHOLDER} directed Inception"),
        ("In which city was he born", f"{PLACEHOLDER} city was he born"),
        ("capital of Austria", f"capital of Austria: {PLACEHOLDER}"),
    ],
)
def test_a_question_becomes_a_statement(question, statement):
    assert statement_of(question) == statement


def test_the_plan_is_a_hint_for_the_selection():
    with_plan, without = deducing(), deducing()
    ask(clerk_world(with_plan))
    ask(clerk_world(without), FidelisOptions(planning=False))
    assert any("find the birthplace" in p for p in with_plan.prompts[1:])
    assert not any("find the birthplace" in p for p in without.prompts[1:])
    assert any(STATEMENT in p for p in without.prompts), "the statement stays"
