"""Every figure against cases computed by hand, the intervals and the test against slow and obvious ones."""

from __future__ import annotations

import json
import random
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.cli import main
from kgdemo.errors import UserError
from kgdemo.lab.evaluation.metrics import (
    ERRORS,
    FIGURES,
    GROUPS,
    Prediction,
    StepCounts,
    accuracy,
    by_groups,
    error_of,
    exact_match,
    f1,
    hit,
    hits_at_1,
    interval,
    paired_test,
    precision,
    recall,
    rouge_l,
    substring_match,
    summarise,
    triplet_f1,
    with_intervals,
)
from kgdemo.lab.evaluation.predictions import read_predictions
from kgdemo.lab.evaluation.report import compare_runs

NAMES = st.lists(st.sampled_from(["Korea", "north Korea", "KOREA", "The Hague", "hague", "", "c++", "C"]), max_size=4)


def predicted(answers: tuple[str, ...], gold: tuple[str, ...], **more: object) -> Prediction:
    empty = Prediction("1", "q", (), gold, answers, (), (), 0, 0, 0, not answers, 1.0, 1, 2, 3)
    return replace(empty, **more)


@pytest.mark.parametrize(
    ("answers", "gold", "expected"),
    [
        # hits@1, hit, accuracy, precision, recall, f1
        (("Paris",), ("Paris",), (1, 1, 1, 1, 1, 1)),
        (("paris.",), ("Páris",), (1, 1, 1, 1, 1, 1)),
        (("Rome", "Paris"), ("Paris",), (0, 1, 0, 1 / 2, 1, 2 / 3)),
        (("Paris", "Rome", "Oslo"), ("Paris", "Oslo"), (1, 1, 0, 2 / 3, 1, 4 / 5)),
        (("Paris",), ("Paris", "Oslo", "Bern", "Rome"), (1, 1, 0, 1, 1 / 4, 2 / 5)),
        (("Paris", "PARIS"), ("Paris",), (1, 1, 1, 1, 1, 1)),
        (("the city of Paris",), ("Paris",), (0, 0, 0, 0, 0, 0)),
        ((), ("Paris",), (0, 0, 0, 0, 0, 0)),
    ],
)
def test_answers_by_hand(answers, gold, expected):
    rates = (hits_at_1, hit, accuracy, precision, recall, f1)
    assert tuple(rate(answers, gold) for rate in rates) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("answers", "gold", "expected"),
    [
        (("the city of Paris",), ("Paris",), (1, 1, 1, 1, 1, 1)),
        (("North Korea",), ("Korea",), (1, 1, 1, 1, 1, 1)),
        (("Korea",), ("North Korea",), (0, 0, 0, 0, 0, 0)),
        (("Rome", "It is A. Jolie"), ("a jolie", "Pitt"), (0, 1, 0, 1 / 2, 1 / 2, 1 / 2)),
        (("anything",), ("The",), (0, 0, 0, 0, 0, 0)),  # nothing is left of it, and so it is in nothing
    ],
)
def test_answers_by_hand_as_the_papers_scripts_match(answers, gold, expected):
    rates = (hits_at_1, hit, accuracy, precision, recall, f1)
    assert tuple(rate(answers, gold, substring_match) for rate in rates) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("answer", "right", "same"),
    [
        ("1 September 1939", "1939", True),
        ("July 1969", "1969", True),
        ("1 September 1939", "1940", False),
        ("1939", "1 September 1939", False),
        ("Boeing 747", "747", False),
        ("Club 1939", "1939", False),
    ],
)
def test_a_day_is_right_where_its_year_is_asked_for(answer: str, right: str, same: bool):
    assert exact_match(answer, right) is same


@settings(max_examples=300, deadline=None)
@given(NAMES, NAMES, st.sampled_from([exact_match, substring_match]))
def test_hit_is_never_less_than_hits_at_1_and_all_are_shares(answers, gold, match):
    rates = {rate: rate(answers, gold, match) for rate in (hits_at_1, hit, accuracy, precision, recall, f1)}
    assert all(0 <= value <= 1 for value in rates.values())
    assert rates[hits_at_1] <= rates[hit]
    assert (rates[hit] > 0) == (rates[recall] > 0) == (rates[precision] > 0)
    assert min(rates[precision], rates[recall]) <= rates[f1] + 1e-9 <= max(rates[precision], rates[recall]) + 2e-9
    assert not rates[accuracy] or rates[hits_at_1] == 1


def test_a_set_by_hand():
    rows = [
        predicted(("a",), ("a",), ends=("b", "a"), paths=("x", "y"), faithful=2, coverage=0.5, free_paths=2),
        predicted(("b", "a"), ("a",), ends=("a",), paths=("x",), faithful=1, right_paths=1, right_faithful=1),
        predicted((), ("a",), free_right_paths=4, free_right_faithful=1, free_paths=4, free_faithful=2),
        predicted((), (), coverage=None),
    ]
    rows[0] = replace(rows[0], right_paths=1, right_faithful=0)
    metrics = summarise(rows, compared=True)
    expected = {
        "questions": 4,
        "hits@1": 1 / 3,
        "hit": 2 / 3,
        "accuracy": 1 / 3,
        "precision": (1 + 1 / 2) / 3,
        "recall": 2 / 3,
        "f1": (1 + 2 / 3) / 3,
        "path_hits@1": 1 / 3,
        "path_hit@k": 2 / 3,
        "hit@k": 2 / 3,
        "ceiling": 1 / 3,
        "faithful_ratio": 1.0,
        "faithful_ratio_correct": 1 / 2,
        "correct_paths": 2,
        "unconstrained_faithful_ratio": 2 / 6,
        "unconstrained_faithful_ratio_correct": 1 / 4,
        "unconstrained_path_hit@k": 1 / 3,
        "refused": 2 / 4,
        "refused_answerable": 1 / 3,
        "recognised": 1.0,
        "coverage_ratio": 0.5,
    }
    assert {name: metrics[name] for name in expected} == pytest.approx(expected)
    assert not [name for name in summarise(rows, compared=False) if name.startswith("unconstrained")]
    assert summarise([], compared=True)["hits@1"] == 0.0


def test_depths_texts_triples_and_costs_of_a_set_by_hand():
    steps = StepCounts(steps=4, valid=3, triples=5, ill=1)
    rows = [
        predicted(("the city of Paris",), ("Paris",), depths=(1, 2), hops=2, steps=steps, triplet_f1=0.5),
        predicted(("Rome", "Oslo"), ("Oslo",), depths=(3,), hops=1, triplet_f1=1.0, processor_seconds=2.0, seconds=3.0),
        predicted(("a",), (), hops=0, lm_calls=4, tokens_in=5, tokens_out=0, seconds=2.0),
    ]
    metrics = summarise(rows, compared=False)
    expected = {
        "hits@1_substring": 1 / 2,
        "hit_substring": 2 / 2,
        "accuracy_substring": 1 / 2,
        "precision_substring": (1 + 1 / 2) / 2,
        "recall_substring": 2 / 2,
        "f1_substring": (1 + 2 / 3) / 2,
        "hit": 1 / 2,
        "rouge_l": (2 * 1 / 5 + 2 * 1 / 3) / 2,  # one word of 4 and 1, and of 2 and 1
        "triplet_f1": 1.5 / 2,
        "depth": (1 + 2 + 3) / 3,
        "true_depth": (2 + 1) / 2,
        "validity_ratio": 3 / 4,
        "ill_formed_triples": 1 / 5,
        "lm_calls": (1 + 1 + 4) / 3,
        "tokens_in": (2 + 2 + 5) / 3,
        "tokens_out": (3 + 3 + 0) / 3,
        "seconds_per_question": (1 + 3 + 2) / 3,
        "processor_seconds_per_question": 2 / 3,
    }
    assert {name: metrics[name] for name in expected} == pytest.approx(expected)


def test_an_oracle_has_a_hits_at_1_of_one_whatever_the_paths():
    rows = [predicted((name,), (name,), ends=("other",)) for name in "abc"]
    metrics = summarise(rows, compared=False)
    assert (metrics["hits@1"], metrics["hit"], metrics["path_hits@1"]) == (1.0, 1.0, 0.0)


# how sure --------------------------------------------------------------------------------------------


def test_an_interval_is_that_of_resamples_drawn_one_by_one():
    parts = [(float(i % 3 == 0), 1.0 + i % 2) for i in range(40)]
    chance, found = random.Random(1), []
    for _ in range(4000):
        drawn = chance.choices(parts, k=len(parts))
        found.append(sum(a for a, _ in drawn) / sum(b for _, b in drawn))
    found.sort()
    assert interval(parts) == pytest.approx((found[100], found[3900]), abs=0.03)
    assert interval(parts) == interval(parts)
    assert interval([]) == interval([(0, 0)]) == (0.0, 0.0)
    assert interval([(1, 1)] * 9) == (1.0, 1.0)


def test_every_ratio_has_its_interval_around_it():
    rows = [predicted(("a",), ("a",) if n % 3 else ("b",), id=str(n)) for n in range(60)]
    plain = summarise(rows, compared=False)
    metrics = with_intervals(plain, rows)
    assert {k: v for k, v in metrics.items() if k in plain} == plain
    assert metrics["hits@1_low"] < metrics["hits@1"] < metrics["hits@1_high"]
    assert all(f"{name}_low" in metrics for name in FIGURES if name in plain)
    json.dumps(metrics)


def test_the_paired_test_goes_through_all_flips_of_few_questions_and_samples_those_of_many():
    few = [1.0, 1.0, -1.0, 0.5, 0.0]
    sums = [sum(sign * d for sign, d in zip(signs, few, strict=True)) for signs in product((1, -1), repeat=5)]
    assert paired_test(few) == pytest.approx(sum(abs(s) >= 1.5 for s in sums) / len(sums))
    assert paired_test([]) == paired_test([0.0] * 9) == 1.0
    assert paired_test([1.0] * 5) == 2 / 2**5
    assert paired_test([1.0] * 40) < 0.001
    assert paired_test([1.0, -1.0] * 20) == 1.0
    assert paired_test([1.0] * 30 + [-1.0] * 20) == pytest.approx(0.203, abs=0.02)  # the sign test's own p


def test_two_runs_are_compared_over_the_questions_that_both_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for name, right in (("first", 10), ("second", 30)):
        rows = [predicted(("a",), ("a",) if n < right else ("b",), id=str(n)) for n in range(40 + right)]
        (tmp_path / name).mkdir()
        lines = "".join(json.dumps(asdict(row)) + "\n" for row in rows)
        (tmp_path / name / "predictions.jsonl").write_text(lines, "utf-8")
    first, second = (read_predictions(tmp_path / name) for name in ("first", "second"))
    row = next(row for row in compare_runs(first, second) if row.name == "hits@1")
    assert (row.first, row.second) == pytest.approx((10 / 50, 30 / 50))
    assert 0.2 < row.low < 0.4 < row.high < 0.6
    assert row.p < 0.001
    assert main(["compare", str(tmp_path / "first"), str(tmp_path / "second")]) == 0
    assert "| hits@1 | 0.200 | 0.600 | +0.400 |" in capsys.readouterr().out
    with pytest.raises(UserError, match="cannot be read"):
        read_predictions(tmp_path)
    with pytest.raises(UserError, match="no question in common"):
        compare_runs(first, {})


# texts, paths, errors, groups -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reference", "expected"),
    [
        ("police killed the gunman", "Police kill the gunman.", 6 / 8),  # Lin 2004, section 3: 3 words in order
        ("the gunman kill police", "police kill the gunman", 4 / 8),
        ("Paris", "Paris, Rome", 2 / 3),
        ("", "Paris", 0.0),
        ("—", "…", 0.0),
    ],
)
def test_rouge_l_by_hand(text, reference, expected):
    assert rouge_l(text, reference) == pytest.approx(expected)


@settings(max_examples=200, deadline=None)
@given(*[st.lists(st.sampled_from(["a", "B", "c1", "é"]), max_size=7).map(", ".join)] * 2)
def test_rouge_l_is_that_of_the_longest_of_all_common_subsequences(text, reference):
    one, other = text.lower().split(", ") if text else [], reference.lower().split(", ") if reference else []

    def longest(i: int, j: int) -> int:
        if i == len(one) or j == len(other):
            return 0
        if one[i] == other[j]:
            return 1 + longest(i + 1, j + 1)
        return max(longest(i + 1, j), longest(i, j + 1))

    whole = len(one) + len(other)
    assert rouge_l(text, reference) == pytest.approx(2 * longest(0, 0) / whole if whole else 0.0)


def test_triplet_f1_by_hand():
    assert triplet_f1(["ab", "bc"], ["ab", "bd", "de"]) == pytest.approx(2 * (1 / 2) * (1 / 3) / (1 / 2 + 1 / 3))
    assert triplet_f1(["ab"], ["ab"]) == 1.0
    assert triplet_f1([], ["ab"]) == triplet_f1([], []) == 0.0


@settings(max_examples=60, deadline=None)
@given(st.sets(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdef"), min_size=1))
def test_a_public_scorer_agrees(found, gold):
    """Answers as labels of one question: scikit-learn's precision, recall and F-measure over these labels."""
    from sklearn.metrics import precision_recall_fscore_support
    from sklearn.preprocessing import MultiLabelBinarizer

    labels = MultiLabelBinarizer(classes=list("abcdef")).fit([])
    true, told = labels.transform([gold]), labels.transform([found])
    expected = precision_recall_fscore_support(true, told, average="samples", zero_division=0)[:3]
    assert [rate(sorted(found), gold) for rate in (precision, recall, f1)] == pytest.approx(list(expected))
    assert triplet_f1(found, gold) == pytest.approx(expected[2])
    assert accuracy(sorted(found), gold) == (found == gold)


def test_errors_by_hand():
    wrong = {"answers": ("b",), "gold": ("a",)}
    rows = [
        predicted(("a",), ("a",), error="x", limited=True),
        predicted(**wrong, error="the model is down", ends=("a",)),
        predicted(**wrong, ends=("c", "a"), coverage=0.5),
        predicted(**wrong, ends=("c",), limited=True),
        predicted(**wrong, ends=("c",), coverage=0.0, limited=True),
        predicted(**wrong, ends=("c",), coverage=0.0),
        predicted((), ()),
    ]
    assert [error_of(row) for row in rows] == ["", "failed", "not_returned", "no_path", "limit", "wrong_path", ""]
    metrics = summarise(rows, compared=False)
    assert {metrics[f"error_{name}"] for name in ERRORS} == {1 / 6}


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_hit_and_errors_add_up_to_one_and_every_group_is_within(data):
    def one(number: int) -> Prediction:
        names = st.lists(st.sampled_from("abc"), max_size=3).map(tuple)
        answers, gold, ends = data.draw(names), data.draw(names), data.draw(names)
        more = data.draw(st.fixed_dictionaries({"limited": st.booleans(), "error": st.sampled_from(["", "x"])}))
        coverage, hops = data.draw(st.sampled_from([(None, 0), (0.5, 1), (0.0, 2), (1.0, 3)]))
        return predicted(answers, gold, ends=ends, coverage=coverage, hops=hops, id=str(number), **more)

    rows = [one(number) for number in range(4)] + [predicted(("a",), ("a",))]
    metrics = summarise(rows, compared=False)
    assert metrics["hit"] + sum(metrics[f"error_{name}"] for name in ERRORS) == pytest.approx(1.0)
    assert metrics["hits@1"] <= metrics["hit"]
    groups = by_groups(rows)
    by_answers = [groups.get(f"questions_{name}", 0) for name in GROUPS if "answer" in name]
    assert sum(by_answers) == sum(bool(row.gold) for row in rows)


def test_groups_by_hand():
    rows = [
        predicted(("a",), ("a",), hops=1),
        predicted(("b",), ("a",), hops=1),
        predicted(("a",), ("a", "b"), hops=2),
        predicted(("a",), tuple("abcdefghij"), hops=3),
        predicted((), (), hops=1),
    ]
    found = by_groups(rows)
    expected = {
        "questions_1_hop": 2,
        "f1_1_hop": 1 / 2,
        "questions_2_hops": 1,
        "f1_2_hops": 2 / 3,
        "questions_3_hops_or_more": 1,
        "hit_3_hops_or_more": 1.0,
        "questions_1_answer": 2,
        "hits@1_1_answer": 1 / 2,
        "f1_2_to_4_answers": 2 / 3,
        "questions_10_answers_or_more": 1,
        "f1_10_answers_or_more": 2 / 11,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert "questions_5_to_9_answers" not in found
    assert found["f1_1_hop_low"] <= found["f1_1_hop"] <= found["f1_1_hop_high"]
    assert with_intervals(summarise(rows, compared=False), rows).items() >= found.items()
