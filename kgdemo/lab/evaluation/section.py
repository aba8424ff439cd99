"""All recipes on one or more question sets, and what they come to as a section of a README: ``kgdemo study all``."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kgdemo import __version__
from kgdemo.errors import UserError
from kgdemo.lab.evaluation.recipes import RECIPES, Recipe
from kgdemo.lab.evaluation.report import Run, write_plot
from kgdemo.lab.evaluation.runner import answer_by_question
from kgdemo.lab.evaluation.study import FREE, Studied, changed, settled, study
from kgdemo.lab.evaluation.workers import Workers
from kgdemo.pipeline import Pipeline
from kgdemo.settings import Settings

BEGIN, END = "<!-- studies: begin -->", "<!-- studies: end -->"
# metric -> its heading
_COLUMNS = {
    "hits@1": "Hits@1",
    "hit": "Hit",
    "f1": "F1",
    "path_hits@1": "path Hits@1",
    "path_hit@k": "path Hit@K",
    "faithful_ratio": "faithful",
    "lm_calls": "LM calls",
    "processor_seconds_per_question": "processor s",
    **{name: name.replace("unconstrained_", "without the graph: ").replace("_", " ") for name in FREE},
}
_WITH_INTERVAL = ("hits@1", "path_hits@1")


@dataclass(frozen=True, slots=True)
class StudySet:
    """A question set that all recipes are run on.

    Attributes:
        name: for its folder and its rows.
        graph: what is asked.
        questions: the file.
        limit: only the first so many; None for as many as are asked of every set.
    """

    name: str
    graph: str
    questions: Path
    limit: int | None = None


Finished = dict[str, dict[str, list[Run]]]  # recipe -> set -> runs of its variants


def study_all(
    pipeline: Pipeline,
    sets: Sequence[StudySet],
    settings: Settings,
    out: Path,
    limit: int | None = None,
    workers: Workers | None = None,
) -> Iterator[tuple[str, Studied, Finished]]:
    """Run all recipes on all sets: first every question by every variant, then recipe by recipe what that comes to.

    Args:
        pipeline, limit, workers: see ``study.study``.
        sets: each gets a folder in ``out``, with one folder a recipe.
        settings: what the recipes leave open; the graph is the set's.
        out: for the folders.

    Yields:
        after each recipe its name, what it has come to, and all that is finished.

    Raises:
        UserError: a folder holds predictions made with other settings.
    """
    finished: Finished = {}
    for one in sets:
        own, known = replace(settings, graph=one.graph), dict[Settings, Path]()
        runs = {folder: wanted for wanted, folder in _different(own, out / one.name).items()}
        number = limit if one.limit is None else one.limit
        answer_by_question(pipeline, one.questions, runs, number, workers)
        for name in RECIPES:
            done = study(pipeline, name, one.questions, own, out / one.name / name, number, workers, known)
            finished.setdefault(name, {})[one.name] = done.runs
            yield name, done, finished


def _different(settings: Settings, out: Path) -> dict[Settings, Path]:
    """The settings of all variants of all recipes, each once, and the folder of the first that has them."""
    found: dict[Settings, tuple[Settings, Path]] = {}
    for name, recipe in RECIPES.items():
        for variant, changes in recipe.variants.items():
            own = changed(settings, changes)
            found.setdefault(settled(own), (own, out / name / variant))
    return dict(found.values())


def write_section(readme: Path, finished: Finished, command: str) -> None:
    """Put what the recipes have come to between the two marks of a README, with their plots beside it.

    Args:
        readme: holds ``BEGIN`` and ``END``; plots go to the folder ``figures`` beside it, one folder a set.
        finished: see ``study_all``.
        command: what made them, to be told.

    Raises:
        UserError: the README has no such marks.
    """
    before, found, rest = readme.read_text("utf-8").partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not (found and ended):
        raise UserError(f"{readme} has no lines {BEGIN} and {END}; put them where the tables are to stand.")
    parts = [f"`{command}`", _cost(finished)]
    for name, sets in finished.items():
        parts += [f"**{name}** ({RECIPES[name].after}). {RECIPES[name].reports}", _table(RECIPES[name], sets)]
        for of, runs in sets.items():
            folder = readme.parent / "figures" / of
            folder.mkdir(parents=True, exist_ok=True)
            write_plot(runs, folder / name, png=False)
        parts.append(" ".join(f"![{name}, {of}](figures/{of}/{name}.svg)" for of in sets))
    beside = readme.with_suffix(".new")
    beside.write_text(f"{before}{BEGIN}\n" + "\n\n".join(parts) + f"\n{END}{after}", "utf-8")
    beside.replace(readme)


def _cost(finished: Finished) -> str:
    """What was asked, and the processor time that it took; variants of the same settings were answered once."""
    variants = [(of, run) for sets in finished.values() for of, runs in sets.items() for run in runs]
    different = {(of, _settings(run)): run for of, run in variants}
    questions = {of: len(run.predictions) for of, run in variants}
    seconds = sum(p.processor_seconds for run in different.values() for p in run.predictions.values())
    asked = " and ".join(f"{number} questions of {of}" for of, number in questions.items())
    return (
        f"{len(finished)} recipes, {asked}: {len(variants)} variants, of which {len(different)} differ (the same "
        f"settings are answered once), in {seconds / 60:.0f} minutes of processor time. Brackets: 95 % intervals. "
        f"Columns whose figure is the same in all rows are told below the table. "
        f"Python {platform.python_version()}, kgdemo {__version__}."
    )


def _settings(run: Run) -> Settings:
    """Of a run, as it was asked."""
    known = {name: value for name, value in run.settings.items() if name in Settings.__dataclass_fields__}
    options = run.settings["options"]
    assert isinstance(options, dict)
    return settled(replace(Settings(**{**known, "forced": ()}), options=tuple(options.items())))  # type: ignore[arg-type]


def _table(recipe: Recipe, sets: Mapping[str, Sequence[Run]]) -> str:
    """One table for all sets; what is the same in all rows is no column, but a line below."""
    runs = [run for of in sets.values() for run in of]
    cells = {name: [_cell(run, name) for run in runs] for name in _COLUMNS if any(name in run.metrics for run in runs)}
    same = {name: column[0] for name, column in cells.items() if len(set(column)) == 1 and len(runs) > 1}
    shown = [name for name in cells if name not in same]
    lines = ["| | " + " | ".join(_COLUMNS[name] for name in shown) + " |", "|---" + "|---:" * len(shown) + "|"]
    for of, own in sets.items():
        lines.append(f"| *{of}* |" + " |" * len(shown))
        lines += [f"| {run.name} | " + " | ".join(_cell(run, name) for name in shown) + " |" for run in own]
    told = ", ".join(f"{_COLUMNS[name]} {value}" for name, value in same.items())
    return "\n".join([*lines, *(["", f"Everywhere: {told}."] if told else [])])


def _cell(run: Run, name: str) -> str:
    if name not in run.metrics or (name == "faithful_ratio" and not run.metrics["paths"]):
        return "–"
    value, low, high = (run.metrics.get(key) for key in (name, f"{name}_low", f"{name}_high"))
    between = f" [{low:.2f}, {high:.2f}]" if name in _WITH_INTERVAL and low is not None else ""
    return f"{value:.2f}{between}"
