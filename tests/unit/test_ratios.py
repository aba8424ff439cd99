"""Figures on the steps themselves, counted by hand."""

from __future__ import annotations

from kgdemo.facts import StatedFacts
from kgdemo.kg.path import Path
from kgdemo.lab.evaluation.metrics import coverage_ratio, ill_formed, valid_steps
from kgdemo.verify import Verifier
from tests.helpers.reasoning import film_world


def test_ratios():
    resources = film_world()
    good = resources.verifier.verify(Path.from_labels(("Inception", "directed by", "Christopher Nolan")))
    half = resources.verifier.verify(Path(("Inception", "Christopher Nolan", "Paris"), ("directed by", "born in")))
    assert valid_steps([good, half]) == (2, 3)
    assert coverage_ratio([], []) == 1.0
    truth = [("Inception", "directed by", "Christopher Nolan"), ("Christopher Nolan", "born in", "London")]
    assert coverage_ratio(truth[:1], truth) == 0.5


def test_ill_formed_counts_both_properties():
    verifier = Verifier(StatedFacts([("a", "r", "b"), ("b", "r", "c"), ("x", "r", "y")]))
    good, apart, invented = ("b", "r", "c"), ("x", "r", "y"), ("a", "r", "c")
    assert ill_formed([("a", "r", "b"), good, apart, invented], ["a"], verifier) == [apart, invented]
    assert ill_formed([good, ("a", "r", "b")], ["c"], verifier) == [], "from the tail as well"
    assert ill_formed([good], ["a"], verifier) == [good], "nothing has reached b yet"
