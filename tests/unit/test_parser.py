"""Plans that a model writes for a question without its names: the search, the names, the wordings it learns."""

from __future__ import annotations

import math
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.lab.training.parser import Composer, noun_phrases, ordered, single_steps, wordings_of_plans
from kgdemo.lab.training.translator import add_typos, fit
from kgdemo.query.parser import NAMES, NONE, Network, Parser, parser, value_of_year, with_placeholders
from kgdemo.query.translator import BEGIN, END, PAD

ROWS = 12


def a_parser(seed: int, tokens: int) -> tuple[Parser, Network]:
    torch.manual_seed(seed)
    vocabulary = [PAD, BEGIN, END, *(f"t{i}" for i in range(tokens))]
    network = Network(vocabulary, ROWS)
    with torch.no_grad():
        network.bias += torch.randn(len(vocabulary))
    return Parser(network, vocabulary), network


def probability(network: Network, rows: torch.Tensor, plan: list[int]) -> float:
    """Of a whole plan, by one pass over it."""
    padding = torch.zeros(1, len(rows), dtype=torch.bool)
    with torch.inference_mode():
        logits = network(network.memory(rows[None], padding), padding, torch.tensor([plan[:-1]]))[0]
    steps = logits.log_softmax(-1)[torch.arange(len(plan) - 1), torch.tensor(plan[1:])]
    return math.exp(float(steps.sum()))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 9))
def test_plans_have_their_own_probability_and_the_best_comes_first(seed: int, tokens: int, length: int) -> None:
    made, network = a_parser(seed, tokens)
    rows = torch.randn(length, ROWS)
    found = made._search(rows)
    ids = {token: number for number, token in enumerate(made.tokens)}
    for proposal in found:
        plan = [ids[BEGIN], *(ids[token] for token in proposal.tokens), ids[END]]
        assert proposal.likely == pytest.approx(probability(network, rows, plan), rel=1e-3)
    shares = [proposal.likely for proposal in found]
    assert shares == sorted(shares, reverse=True)
    assert len({proposal.tokens for proposal in found}) == len(found)
    assert sum(shares) <= 1 + 1e-4
    nothing = probability(network, rows, [ids[BEGIN], ids[END]])  # the shortest plan of all is among them, or worse
    assert () in {proposal.tokens for proposal in found} or nothing <= shares[-1] + 1e-6


def test_padding_changes_nothing() -> None:
    _, network = a_parser(3, 4)
    rows = torch.randn(1, 6, ROWS)
    longer = torch.cat([rows, torch.randn(1, 3, ROWS)], dim=1)
    padding = torch.tensor([[False] * 6 + [True] * 3])
    plan = torch.tensor([[1, 3, 4]])
    with torch.inference_mode():
        plain = network(network.memory(rows, torch.zeros(1, 6, dtype=torch.bool)), padding[:, :6], plan)
        padded = network(network.memory(longer, padding), padding, plan)
    torch.testing.assert_close(plain, padded, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("whose brush did X come from", ("X", "painted by")),
        ("X, the woman who wrote it, date of death?", ("X", "author", "#died")),
        ("so the guy who directed X, what town was he born in", ("X", "directed by", "born in")),
        ("X or Y, which one is the longer river", ("MORE", "#length", "X", ",", "Y")),
        ("which river flows through both X and Y", ("X", "crossed by river", "&", "Y", "crossed by river")),
        ("why did the builders of X give up", (NONE,)),
    ],
)
def test_what_is_asked_is_read_off_the_words_around_the_names(text: str, plan: tuple[str, ...]) -> None:
    assert parser().plans(text)[0].tokens == plan


def test_what_the_search_finds_has_the_probability_that_it_has_by_itself() -> None:
    for text in ("everyone in X", "who wrote X?", "which film did X and Y both act in"):
        found = parser().plans(text)
        alone = parser().likelihoods(text, [proposal.tokens for proposal in found])
        assert alone == pytest.approx([proposal.likely for proposal in found], abs=1e-4)
    assert parser().likelihoods("who wrote X?", [("X", "no such step")]) == [0.0]
    assert parser().likelihoods("who wrote X?", []) == []


def test_names_are_left_out_in_their_order(world: KnowledgeGraph) -> None:
    text, marks = with_placeholders("Did Mozart ever meet Haydn?", ["Joseph Haydn", "Wolfgang Amadeus Mozart"], world)
    assert text == "Did X ever meet Y?"
    assert marks == {"Wolfgang Amadeus Mozart": "X", "Joseph Haydn": "Y"}
    three = ["Paris", "Rome", "Berlin"]
    assert with_placeholders("Paris, Rome or Berlin?", three, world) == ("Paris, Rome or Berlin?", {})
    assert with_placeholders("Where is it?", ["Paris"], world) == ("Where is it?", {})


@pytest.mark.parametrize(
    ("step", "said"), [("born in year", "#born"), ("published in year", "#released"), ("born in", "born in")]
)
def test_a_step_to_a_year_is_a_value(step: str, said: str) -> None:
    assert value_of_year(step) == said


@pytest.mark.parametrize(
    ("plan", "text", "put"),
    [
        (("Y", "a", "&", "X", "b"), "of Y and X", (("X", "a", "&", "Y", "b"), "of X and Y")),
        (("X", "a", "&", "Y", "b"), "of Y and X", (("X", "b", "&", "Y", "a"), "of X and Y")),
        (("MORE", "#v", "X", ",", "Y", "r"), "Y or X", (("MORE", "#v", "X", "r", ",", "Y"), "X or Y")),
        (("IS", "Y", "X", "r"), "is Y of X", (("IS", "X", "Y", "r"), "is X of Y")),
        (("X", "a"), "of X", (("X", "a"), "of X")),
    ],
)
def test_the_first_name_in_a_wording_is_x(plan: tuple[str, ...], text: str, put: tuple[tuple[str, ...], str]) -> None:
    assert ordered(plan, text) == put


def test_wordings_name_what_their_plans_begin_from(world: KnowledgeGraph) -> None:
    inverse = world.inverse_labels
    for plan, text in [*single_steps(inverse), *wordings_of_plans()]:
        named = {
            name for name in NAMES if name in text.replace("'", " ").replace(",", " ").split() or f"{name}" in text
        }
        assert plan == (NONE,) or {token for token in plan if token in NAMES} <= named, (plan, text)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6))
def test_what_is_composed_speaks_of_its_names_once(seed: int) -> None:
    phrases = {"a": ["the a of X"], "b": ["X's b", "whoever bs X"], "c": ["the c that X has"]}
    single = [
        (("X", "b"), "who is the b of X?"),
        (("X", "#v"), "how v is X"),
        (("MORE", "#v", "X", ",", "Y"), "X or Y?"),
    ]
    before = {"b": [("a", 1.0)], "#v": [("b", 2.0), ("c", 1.0)], "c": [("b", 1.0)], "a": [("z", 1.0)]}
    drawn = Composer(single, phrases, before, Random(seed)).draw()
    if drawn is not None:
        plan, text = drawn
        assert [text.count(name) for name in NAMES] == [plan.count(name) for name in NAMES]
        assert len(plan) > 1


def test_noun_phrases_have_one_name(world: KnowledgeGraph) -> None:
    for phrases in noun_phrases(world.inverse_labels).values():
        assert all(phrase.count("X") >= 1 for phrase in phrases)


@given(st.text("abc XY?", min_size=1), st.integers(0, 100))
def test_roughened_text_keeps_its_names(text: str, seed: int) -> None:
    rough = add_typos(text, Random(seed))
    assert [rough[1:].count(name) for name in NAMES] == [text[1:].count(name) for name in NAMES]


def test_fitting_makes_a_plan_likelier() -> None:
    made, network = a_parser(1, 3)
    rows, plan = torch.randn(4, ROWS), [1, 3, 4, 2]
    before = probability(network, rows, plan)

    def loss(own: Network) -> torch.Tensor:
        logits = own(own.memory(rows[None]), None, torch.tensor([plan[:-1]]))[0].log_softmax(-1)
        return -logits[torch.arange(len(plan) - 1), torch.tensor(plan[1:])].mean()

    fit(network.train(), loss, minutes=0.02, rate=1e-3, warm_up=3)
    network.eval()
    assert probability(network, rows, plan) > before
    assert made._search(rows)[0].tokens
