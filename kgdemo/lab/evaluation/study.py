"""The papers' tables and figures as one command each: ``python -m kgdemo study NAME --questions FILE --out DIR``.

A recipe is a few variants of one setting. Each is a run of ``evaluate`` in a folder of its own, which goes on where it
was stopped; then all are written as a table (Markdown and CSV) and as a report (HTML, with a plot).
"""

from __future__ import annotations

import csv
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kgdemo import __version__
from kgdemo.errors import UserError
from kgdemo.lab.evaluation.report import Run, html_report, read_runs
from kgdemo.lab.evaluation.runner import evaluate
from kgdemo.pipeline import Pipeline
from kgdemo.settings import Settings, options_of, pairs

_COLUMNS = (
    *("hits@1", "hit", "f1", "recall", "path_hits@1", "path_hit@k", "faithful_ratio", "faithful_ratio_correct"),
    *("lm_calls", "tokens_in", "tokens_out", "seconds_per_question"),
)
_PARTS = ("planning", "beam_search", "verifier", "last_step")
_STRATEGIES = tuple(f"{how}-{shape}" for how in ("agent", "explore") for shape in ("cot", "tot", "got"))
_FREE = ("unconstrained_path_hit@k", "unconstrained_faithful_ratio", "unconstrained_faithful_ratio_correct")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is varied, and what the paper says of it.

    Attributes:
        after: the table or figure.
        variants: name -> method and other settings, as ``name=value``; what is no setting is an option of the method.
        reports: what the paper reports, in a sentence.
    """

    after: str
    variants: Mapping[str, str]
    reports: str


RECIPES: dict[str, Recipe] = {
    "constraint": Recipe(
        "GCR, figure 5",
        {"gcr": "method=gcr compare=yes"},
        "With the constraint all reasoning behind right answers is in the graph; without it less is, and on WebQSP "
        "fewer answers are right.",
    ),
    "beams": Recipe(
        "GCR, figure 4",
        {f"beams-{k:02}": f"method=gcr beams={k}" for k in (1, 3, 5, 10, 20)},
        "Hit and recall rise with K, F1 is best at 10, and time rises slightly.",
    ),
    "hops": Recipe(
        "GCR, figure 7",
        {f"hops-{hops}": f"method=gcr hops={hops}" for hops in (1, 2, 3, 4)},
        "Two hops are best; three and four bring noise.",
    ),
    "ablations": Recipe(
        "GCR, table 3",
        {
            "gcr": "method=gcr",
            "without-path-model": "method=gcr path_model=no",
            "without-general-model": "method=gcr general_model=no",
        },
        "Without either model both Hit and F1 fall.",
    ),
    "efficiency": Recipe(
        "GCR, table 2; FiDeLiS, table 7",
        {name: f"method={name}" for name in ("text-rag", "graph-rag", "rog", "tog", "fidelis", "agent-cot", "gcr")},
        "GCR asks a model twice a question, agents many times.",
    ),
    "visibility": Recipe(
        "DoG, section 5.2",
        {name: f"method=dog visibility={name}" for name in ("full", "local", "hidden")},
        "What of the graph stands in the prompt, beside the constraint.",
    ),
    "fidelis-ablations": Recipe(
        "FiDeLiS, table 2",
        {
            "fidelis": "method=fidelis",
            "vanilla-retriever": "method=fidelis retriever=vanilla",
            "tog-retriever": "method=fidelis retriever=tog",
            **{f"without-{part}": f"method=fidelis {part}=no" for part in _PARTS},
        },
        "Every part left out costs Hits@1; the beam search most.",
    ),
    "alpha": Recipe(
        "FiDeLiS, equation 2",
        {f"alpha-{value}": f"method=fidelis alpha={value}" for value in ("0", "0.1", "0.3", "0.5", "1")},
        "The weight of the look-ahead.",
    ),
    "width": Recipe(
        "FiDeLiS, figure 6",
        {f"width-{width}": f"method=fidelis width={width}" for width in (1, 2, 3, 4)},
        "The number of paths kept at each step.",
    ),
    "grounding": Recipe(
        "Grounding, section 6",
        {name: f"method={name}" for name in ("cot", *_STRATEGIES)},
        "The best are at least 26.5 % above a chain of thought from memory.",
    ),
}  # fmt: skip


def study(
    pipeline: Pipeline, name: str, questions: Path, settings: Settings, out: Path, limit: int | None = None
) -> str:
    """Run a recipe.

    Args:
        pipeline: answers the questions.
        name: of the recipe.
        questions: the set.
        settings: what the recipe leaves open.
        out: one folder a variant, ``table.md``, ``table.csv`` and ``report.html``.
        limit: only the first so many questions.

    Returns:
        the table, as written.

    Raises:
        UserError: there is no such recipe, or a folder holds predictions made with other settings.
    """
    if name not in RECIPES:
        raise UserError(f"There is no recipe {name!r}; choose one of {', '.join(RECIPES)}.")
    recipe, written = RECIPES[name], ""
    for place, (variant, changes) in enumerate(recipe.variants.items()):
        evaluate(pipeline, questions, changed(settings, changes), out / variant, limit)
        runs = [run for done in list(recipe.variants)[: place + 1] for run in read_runs([out / done])]
        written = table(recipe, runs, pipeline.chat.name or "none: the embedded reasoner")
        (out / "table.md").write_text(written + "\n", "utf-8")
        _write_csv(out / "table.csv", runs)
        (out / "report.html").write_text(html_report(runs), "utf-8")
    return written


def changed(settings: Settings, changes: str) -> Settings:
    """The settings of a variant; what is no setting is an option of its method."""
    declared = {setting.name: setting for setting in options_of(Settings)}
    given = pairs([changes])
    known = {name: declared[name].read(value) for name, value in given if name in declared}
    return replace(settings, **known, options=tuple(pair for pair in given if pair[0] not in declared))


def table(recipe: Recipe, runs: Sequence[Run], general_model: str) -> str:
    """The variants as a Markdown table, with what the paper reports and how to compare."""
    columns = [name for name in (*_COLUMNS, *_FREE) if any(name in run.metrics for run in runs)]
    lines = [f"After {recipe.after}. {recipe.reports}", ""]
    lines += ["| | " + " | ".join(columns) + " |", "|---" + "|---:" * len(columns) + "|"]
    lines += [f"| {run.name} | " + " | ".join(_cell(run, name) for name in columns) + " |" for run in runs]
    first = runs[0]
    lines += [
        "",
        f"{len(first.predictions)} questions of {Path(str(first.settings.get('questions'))).name} on "
        f"{Path(str(first.settings.get('graph'))).name}; path model {first.settings.get('model')}, general model "
        f"{general_model}; kgdemo {__version__}, Python {platform.python_version()}. Brackets: 95 % intervals."
        " The paper's figures are of other models, and of its own sets: only the direction of a difference compares.",
    ]
    return "\n".join(lines)


def _cell(run: Run, name: str) -> str:
    if name not in run.metrics:
        return "–"
    value, low, high = (run.metrics.get(key) for key in (name, f"{name}_low", f"{name}_high"))
    between = "" if low is None else f" [{low:.2f}, {high:.2f}]"
    return f"{value:.3f}{between}"


def _write_csv(file: Path, runs: Sequence[Run]) -> None:
    names = list(dict.fromkeys(name for run in runs for name in run.metrics))
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["variant", *names])
        writer.writerows([run.name, *(run.metrics.get(name, "") for name in names)] for run in runs)
