"""How sure a figure is: bootstrap intervals of one run, and a paired test between two runs over the same questions.

A figure is a ratio of sums over questions (a mean where each question counts one), so a question is what is drawn anew,
with all its paths. The test of two runs flips the sign of each question's difference at random (Fisher's randomisation
test): it assumes nothing of how the differences are spread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kgdemo.errors import UserError
from kgdemo.lab.evaluation.metrics import FIGURES, GROUP_FIGURES, GROUPS, Parts, Prediction
from kgdemo.lab.evaluation.predictions import read_predictions

RESAMPLES, FLIPS = 2_000, 10_000
_EXACT = 12  # questions that differ, up to which all ways to flip them are gone through


def interval(parts: Sequence[Parts], level: float = 0.95, seed: int = 0) -> tuple[float, float]:
    """The percentile bootstrap interval of a ratio of sums.

    Args:
        parts: numerator and denominator of each question.
        level: share of the resamples that lie within.
        seed: the same seed gives the same interval.

    Returns:
        low and high; both 0 where there is nothing to measure.
    """
    rows = np.array([part for part in parts if part[1]], dtype=np.float64).reshape(-1, 2)
    if not len(rows):
        return 0.0, 0.0
    rng, found = np.random.default_rng(seed), []
    for _ in range(0, RESAMPLES, 100):  # a hundred at a time: a large set must not fill the memory
        drawn = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=100) @ rows
        found.append(drawn[:, 0] / drawn[:, 1])
    low, high = np.quantile(np.concatenate(found), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def with_intervals(metrics: Mapping[str, float], predictions: Sequence[Prediction]) -> dict[str, float]:
    """The metrics, for each ratio of sums over questions ``NAME_low`` and ``NAME_high``, and those of groups."""
    found = dict(metrics)
    for name, figure in FIGURES.items():
        if name in metrics:
            found[f"{name}_low"], found[f"{name}_high"] = interval([figure(p) for p in predictions])
    return found | by_groups(predictions)


def by_groups(predictions: Sequence[Prediction]) -> dict[str, float]:
    """``questions_GROUP`` and, with intervals, ``f1_GROUP`` and the like, of each group that has questions."""
    found: dict[str, float] = {}
    for group, fits in GROUPS.items():
        own = [p for p in predictions if p.gold and fits(p)]
        if not own:
            continue
        found[f"questions_{group}"] = len(own)
        for name in GROUP_FIGURES:
            parts = [FIGURES[name](p) for p in own]
            found[f"{name}_{group}"] = sum(part for part, _ in parts) / sum(whole for _, whole in parts)
            found[f"{name}_{group}_low"], found[f"{name}_{group}_high"] = interval(parts)
    return found


def paired_test(differences: Sequence[float], seed: int = 0) -> float:
    """How often chance alone makes a difference as large as this one: the two-sided p of a randomisation test.

    Args:
        differences: of each question, second run less first.
        seed: of the flips; up to 12 questions that differ, all flips are gone through.
    """
    given: NDArray[np.float64] = np.array([d for d in differences if d], dtype=np.float64)
    if not len(given):
        return 1.0
    seen = abs(given.sum()) - 1e-9
    if len(given) <= _EXACT:
        signs = 1 - 2 * ((np.arange(2 ** len(given))[:, None] >> np.arange(len(given))) & 1)
        return float((abs(signs @ given) >= seen).mean())
    rng = np.random.default_rng(seed)
    as_large = sum(
        int((abs(rng.choice((-1, 1), (100, len(given))) @ given) >= seen).sum()) for _ in range(FLIPS // 100)
    )
    return (as_large + 1) / (FLIPS + 1)


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure of two runs over the questions that both have.

    Attributes:
        first, second: the figure.
        low, high: the 95 % bootstrap interval of second less first.
        p: of the paired test.
    """

    name: str
    first: float
    second: float
    low: float
    high: float
    p: float


def compare_runs(first: Path, second: Path) -> list[Difference]:
    """The figures of answers and paths of two runs that ``evaluate`` has written.

    Args:
        first, second: their folders.

    Raises:
        UserError: a folder has no predictions, or they have no question in common.
    """
    one, other = read_predictions(first), read_predictions(second)
    both = [name for name in one if name in other]
    if not both:
        raise UserError(f"{first} and {second} have no question in common; give two runs over the same set.")
    rows = []
    for name, figure in FIGURES.items():
        pairs = [(figure(one[i]), figure(other[i])) for i in both]
        means = [(a[0] / a[1], b[0] / b[1]) for a, b in pairs if a[1] and b[1]]
        if not means:
            continue
        differences = [b - a for a, b in means]
        low, high = interval([(difference, 1) for difference in differences])
        count = len(means)
        figures = sum(a for a, _ in means) / count, sum(b for _, b in means) / count
        rows.append(Difference(name, *figures, low, high, paired_test(differences)))
    return rows


def as_table(rows: Sequence[Difference]) -> str:
    """The differences as a Markdown table."""
    lines = ["| figure | first | second | difference | 95 % interval | p |", "|---|---:|---:|---:|---:|---:|"]
    for row in rows:
        change = f"{row.second - row.first:+.3f} | {row.low:+.3f} to {row.high:+.3f}"
        lines.append(f"| {row.name} | {row.first:.3f} | {row.second:.3f} | {change} | {row.p:.4f} |")
    return "\n".join(lines)
