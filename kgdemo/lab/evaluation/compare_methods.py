"""Several methods on one question set, a row each, as the papers' tables have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kgdemo.errors import UserError
from kgdemo.lab.evaluation.judge import Judge
from kgdemo.lab.evaluation.runner import evaluate
from kgdemo.methods import METHODS, method_named
from kgdemo.methods.registry import MethodCard
from kgdemo.models.chat import ChatModel
from kgdemo.pipeline import Pipeline
from kgdemo.settings import Given, Settings, unknown

ALL = "all"
# heading -> name of the metric, and the count without which it says nothing
_COLUMNS = {
    "Hits@1": ("hits@1", ""),
    "Hit": ("hit", ""),
    "F1": ("f1", ""),
    "path Hits@1": ("path_hits@1", "paths"),
    "path Hit@K": ("path_hit@k", "paths"),
    "faithful": ("faithful_ratio", "paths"),
    "valid steps": ("validity_ratio", "paths"),
    "coverage": ("coverage_ratio", "coverage_questions"),
    "LM calls": ("lm_calls", ""),
    "tokens in": ("tokens_in", ""),
    "tokens out": ("tokens_out", ""),
    "seconds": ("seconds_per_question", ""),
}
# of the methods that decode under the constraint only: what it does for them
_BESIDE = {"ill triples": ("ill_formed_triples", "triples")}
_WITHOUT = {
    "faithful without the graph": ("unconstrained_faithful_ratio", "unconstrained_paths"),
    "ill triples without the graph": ("unconstrained_ill_formed_triples", "unconstrained_triples"),
}
_JUDGED = {"coherence (1–5)": ("coherence", "coherence_paths")}


def methods_named(text: str) -> list[str]:
    """The methods of a list with commas; ``all`` stands for every one.

    Raises:
        UserError: there is no such method.
    """
    names = list(METHODS) if text.strip() == ALL else [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UserError(f"--method names none; choose from {', '.join(METHODS)}, or {ALL}.")
    return [method_named(name).name for name in dict.fromkeys(names)]


def compare_methods(
    pipeline: Pipeline,
    names: Sequence[str],
    questions: Path,
    settings: Settings,
    out: Path,
    limit: int | None = None,
    link: bool = False,
    judge: Judge | None = None,
    batched: int = 1,
    scorer: ChatModel | None = None,
    workers: int = 1,
) -> str:
    """Each method in a folder of its own under ``out``; the table is written after each, so that none is lost.

    Args:
        pipeline, questions, limit, link, judge, batched, scorer, workers: see ``runner.evaluate``.
        names: the methods.
        settings: for all of them; each is given those of the options that it has.
        out: for ``METHOD/`` and ``table.md``.

    Returns:
        the table, as written.

    Raises:
        UserError: no method has one of the options, or a folder holds predictions made with other settings.
    """
    cards = [method_named(name) for name in names]
    options = {card.name: _own(settings.options, card, cards) for card in cards}
    rows: list[tuple[MethodCard, dict[str, float]]] = []
    written = ""
    for card in cards:
        own = replace(settings, method=card.name, options=options[card.name])
        metrics = evaluate(
            pipeline,
            questions,
            own,
            out / card.name,
            limit,
            link,
            judge,
            batched=batched,
            scorer=scorer,
            workers=workers,
        )
        rows.append((card, metrics))
        written = table(rows, compared=settings.compare, judged=judge is not None)
        (out / "table.md").write_text(written + "\n", "utf-8")
    return written


def table(rows: Sequence[tuple[MethodCard, dict[str, float]]], compared: bool = False, judged: bool = False) -> str:
    """Metrics as a Markdown table; a dash where there was nothing to measure.

    Args:
        rows: methods and their metrics.
        compared: show how the constrained methods fare without their constraint.
        judged: show the coherence of the paths.
    """
    constraint = {**_BESIDE, **(_WITHOUT if compared else {})}
    columns = {**_COLUMNS, **constraint, **(_JUDGED if judged else {})}
    lines = ["| method | " + " | ".join(columns) + " |", "|---" + "|---:" * len(columns) + "|"]
    for card, metrics in rows:
        cells = [
            "–" if heading in constraint and not card.constrained else _cell(metrics, name, count)
            for heading, (name, count) in columns.items()
        ]
        lines.append(f"| {card.name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(metrics: dict[str, float], name: str, count: str) -> str:
    if name not in metrics or (count and not metrics.get(count)):
        return "–"
    value = metrics[name]
    return f"{value:.0f}" if name.startswith("tokens") else f"{value:.2f}" if value >= 10 else f"{value:.3f}"


def _own(given: Given, card: MethodCard, cards: Sequence[MethodCard]) -> Given:
    """The options that a method has; one that no method has is a mistake."""
    for name, _ in given:
        if not any(option.name == name for other in cards for option in other.options):
            raise unknown(name, ", ".join(c.name for c in cards), (o for c in cards for o in c.options))
    own = {option.name for option in card.options}
    mine = tuple((name, value) for name, value in given if name in own)
    card.check(mine)
    return mine
