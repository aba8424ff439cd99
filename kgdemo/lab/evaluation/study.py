"""The papers' tables and figures as one command each: ``python -m kgdemo study NAME --questions FILE --out DIR``.

A recipe is a few variants of one setting. Each is a run of ``evaluate`` in a folder of its own, which goes on where it
was stopped; then all are written as a table (Markdown and CSV), a plot (SVG, PNG) and a report (HTML). The progress is
in ``study.json``, rewritten every few seconds, where the page reads it. Where all recipes are run, variants with the
same settings are answered once (``with_all_options``).

``compare_methods`` is the plainest study: several methods on one question set, a row each. ``study_all`` runs all
recipes on one or more question sets, and ``write_section`` puts what they come to into a README: ``kgdemo study all``.
"""

from __future__ import annotations

import csv
import json
import math
import platform
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from statistics import mean

from kgdemo import __version__
from kgdemo.errors import UserError
from kgdemo.lab.evaluation.metrics import FIGURES, Prediction, hits_at_1, interval, ratio
from kgdemo.lab.evaluation.predictions import PREDICTIONS, TIMINGS
from kgdemo.lab.evaluation.recipes import RECIPES, Recipe
from kgdemo.lab.evaluation.report import Run, markdown_table, read_runs, write_plot, write_report
from kgdemo.lab.evaluation.runner import answer_by_question, evaluate
from kgdemo.lab.evaluation.workers import Workers
from kgdemo.methods import METHODS, method_named
from kgdemo.methods.registry import MethodCard
from kgdemo.pipeline import Pipeline
from kgdemo.settings import Given, Settings, options_of, pairs, unknown

_COLUMNS = (
    *(
        "hits@1",
        "hit",
        "accuracy",
        "f1",
        "recall",
        "rouge_l",
        "path_hits@1",
        "path_hit@k",
        "faithful_ratio",
        "faithful_ratio_correct",
    ),
    *("lm_calls", "tokens_in", "tokens_out", "seconds_per_question", "processor_seconds_per_question"),
)
FREE = ("unconstrained_path_hit@k", "unconstrained_faithful_ratio", "unconstrained_faithful_ratio_correct")


@dataclass(frozen=True, slots=True)
class Studied:
    """What a recipe has come to.

    Attributes:
        table: as written.
        runs: one a variant.
    """

    table: str
    runs: list[Run]


def study(
    pipeline: Pipeline,
    name: str,
    questions: Path,
    settings: Settings,
    out: Path,
    limit: int | None = None,
    workers: Workers | None = None,
    known: dict[Settings, Path] | None = None,
) -> Studied:
    """Run a recipe.

    Args:
        pipeline: answers the questions.
        name: of the recipe.
        questions: the set.
        settings: what the recipe leaves open.
        out: one folder a variant, ``table.md``, ``table.csv``, ``plot.svg``, ``plot.png``, ``report.html`` and
            ``study.json``.
        limit: only the first so many questions.
        workers: answer, see ``evaluate``.
        known: folders of finished runs of the same questions, by their settled settings: such a run stands for each
            variant of the same settings. Those of this recipe are added.

    Raises:
        UserError: there is no such recipe, or a folder holds predictions made with other settings.
    """
    if name not in RECIPES:
        raise UserError(f"There is no recipe {name!r}; choose one of {', '.join(RECIPES)}.")
    recipe, written, known = RECIPES[name], "", {} if known is None else known
    out.mkdir(parents=True, exist_ok=True)
    progress, runs = Progress(out, name, recipe), list[Run]()
    for variant, changes in recipe.variants.items():
        own, folder = variant_settings(settings, changes), out / variant
        _copy_predictions(known.setdefault(with_all_options(own), folder), folder)
        evaluate(pipeline, questions, own, folder, limit, workers=workers, watch=partial(progress.see, variant))
        runs += read_runs([folder])
        written = table(recipe, runs, pipeline.chat.name or "none: the embedded reasoner")
        (out / "table.md").write_text(written + "\n", "utf-8")
        _write_csv(out / "table.csv", runs)
    write_report(runs, out / "report.html")
    write_plot(runs, out / "plot")
    return Studied(written, runs)


def with_all_options(settings: Settings) -> Settings:
    """The same settings with every option of the method given, so that two that mean the same are equal."""
    defaults = {option.name: option.default for option in method_named(settings.method).options}
    return replace(settings, options=tuple(sorted({**defaults, **dict(settings.options)}.items())))


def _copy_predictions(known: Path, folder: Path) -> None:
    """Copy what a run of the same settings has answered."""
    if known != folder:
        folder.mkdir(exist_ok=True)
        for name in (PREDICTIONS, TIMINGS):
            shutil.copyfile(known / name, folder / name)


_WATCHED = ("hits@1", "hit", "f1", "path_hits@1", "path_hit@k", "faithful_ratio")
_EVERY = 2.0  # seconds from one writing to the next at least: it takes a part of the time of a question


class Progress:
    """How far a recipe has come, in ``study.json``; a reader never finds half of it.

    Args:
        out: folder of the recipe.
        name, recipe: which.
    """

    def __init__(self, out: Path, name: str, recipe: Recipe) -> None:
        self._file = out / "study.json"
        self._about = {"recipe": name, **asdict(recipe)}
        self._seconds = {variant: list[float]() for variant in recipe.variants}  # of the questions answered
        self._written = -_EVERY
        self._rows: dict[str, dict[str, object]] = {
            variant: {"name": variant, "done": 0, "of": None, "metrics": {}, "right": []} for variant in recipe.variants
        }

    def see(self, variant: str, predictions: Sequence[Prediction], number: int) -> None:
        """One more question of a variant is answered.

        Args:
            variant: its name.
            predictions: its predictions so far.
            number: how many there will be; of the variants that are still to come it is the same.
        """
        now = time.monotonic()
        if now < self._written + _EVERY and 0 < len(predictions) < number:
            return
        self._written = now
        metrics: dict[str, float] = {}
        for name in _WATCHED if predictions else ():
            parts = [FIGURES[name](p) for p in predictions]
            metrics[name] = ratio(parts)
            metrics[f"{name}_low"], metrics[f"{name}_high"] = interval(parts)
        if predictions:
            metrics["lm_calls"] = mean(p.lm_calls for p in predictions)
            metrics["seconds_per_question"] = mean(p.seconds for p in predictions)
        right = [p.id for p in predictions if hits_at_1(p.answers, p.gold)]
        done = {"name": variant, "done": len(predictions), "of": number, "metrics": metrics, "right": right}
        self._rows[variant] = done
        self._seconds[variant] = [p.seconds for p in predictions]
        known = {**self._about, "rows": list(self._rows.values()), "seconds_left": self._left(number)}
        beside = self._file.with_suffix(".new")
        beside.write_text(json.dumps(known, ensure_ascii=False) + "\n", "utf-8")
        beside.replace(self._file)

    def _left(self, number: int) -> float | None:
        """Seconds until all is done, as long as a question has taken so far; None before the first."""
        taken = [seconds for row in self._seconds.values() for seconds in row if seconds]
        questions = sum(number - len(row) for row in self._seconds.values())
        return math.ceil(10 * questions * mean(taken)) / 10 if taken else None  # 0 only when all is done


def variant_settings(settings: Settings, changes: str) -> Settings:
    """The settings of a variant; what is no setting is an option of its method."""
    declared = {setting.name: setting for setting in options_of(Settings)}
    given = pairs([changes])
    known = {name: declared[name].read(value) for name, value in given if name in declared}
    return replace(settings, **known, options=tuple(pair for pair in given if pair[0] not in declared))


def table(recipe: Recipe, runs: Sequence[Run], general_model: str) -> str:
    """The variants as a Markdown table, with what the paper reports and how to compare."""
    columns = [name for name in (*_COLUMNS, *FREE) if any(name in run.metrics for run in runs)]
    figures = markdown_table(["", *columns], ([run.name, *(_cell(run, name) for name in columns)] for run in runs))
    first = runs[0]
    return (
        f"After {recipe.after}. {recipe.reports}\n\n{figures}\n\n"
        f"{len(first.predictions)} questions of {Path(str(first.settings.get('questions'))).name} on "
        f"{Path(str(first.settings.get('graph'))).name}; path model {first.settings.get('model')}, general model "
        f"{general_model}; kgdemo {__version__}, Python {platform.python_version()}. Brackets: 95 % intervals."
        f" {recipe.compares}"
    )


def _cell(run: Run, name: str, digits: int = 3, with_interval: bool = True) -> str:
    if name not in run.metrics:
        return "–"
    value, low, high = (run.metrics.get(key) for key in (name, f"{name}_low", f"{name}_high"))
    between = f" [{low:.2f}, {high:.2f}]" if with_interval and low is not None else ""
    return f"{value:.{digits}f}{between}"


def _write_csv(file: Path, runs: Sequence[Run]) -> None:
    names = list(dict.fromkeys(name for run in runs for name in run.metrics))
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["variant", *names])
        writer.writerows([run.name, *(run.metrics.get(name, "") for name in names)] for run in runs)


ALL = "all"
# heading -> name of the metric, and the count without which it says nothing
_METHOD_COLUMNS = {
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
    measure: Callable[[Settings, Path], dict[str, float]], names: Sequence[str], settings: Settings, out: Path
) -> str:
    """Each method in a folder of its own under ``out``; the table is written after each, so that none is lost.

    Args:
        measure: ``runner.evaluate`` with everything but settings and folder given.
        names: the methods.
        settings: for all of them; each is given those of the options that it has.
        out: for ``METHOD/`` and ``table.md``.

    Returns:
        the table, as written.

    Raises:
        UserError: no method has one of the options, or a folder holds predictions made with other settings.
    """
    cards = [method_named(name) for name in names]
    runs = [replace(settings, method=card.name, options=_own(settings.options, card, cards)) for card in cards]
    rows: list[tuple[MethodCard, dict[str, float]]] = []
    written = ""
    for card, own in zip(cards, runs, strict=True):
        rows.append((card, measure(own, out / card.name)))
        written = methods_table(rows)
        (out / "table.md").write_text(written + "\n", "utf-8")
    return written


def methods_table(rows: Sequence[tuple[MethodCard, dict[str, float]]]) -> str:
    """Methods and their metrics as a Markdown table; a dash where there was nothing to measure.

    How the constrained methods fare without their constraint, and the coherence of the paths, are columns where they
    were measured.
    """
    measured = {name for _, metrics in rows for name in metrics}
    constraint = {**_BESIDE, **{heading: of for heading, of in _WITHOUT.items() if of[0] in measured}}
    judged = {heading: of for heading, of in _JUDGED.items() if of[0] in measured}
    columns = {**_METHOD_COLUMNS, **constraint, **judged}
    written = []
    for card, metrics in rows:
        cells = [
            "–" if heading in constraint and not card.constrained else _method_cell(metrics, name, count)
            for heading, (name, count) in columns.items()
        ]
        written.append([card.name, *cells])
    return markdown_table(["method", *columns], written)


def _method_cell(metrics: dict[str, float], name: str, count: str) -> str:
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


# All recipes, as a section of a README: ``kgdemo study all`` ----------------------------------------

BEGIN, END = "<!-- studies: begin -->", "<!-- studies: end -->"
# metric -> its heading
_SECTION_COLUMNS = {
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
        pipeline, limit, workers: see ``study``.
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
        runs = {folder: wanted for wanted, folder in _distinct_runs(own, out / one.name).items()}
        number = limit if one.limit is None else one.limit
        answer_by_question(pipeline, one.questions, runs, number, workers)
        for name in RECIPES:
            done = study(pipeline, name, one.questions, own, out / one.name / name, number, workers, known)
            finished.setdefault(name, {})[one.name] = done.runs
            yield name, done, finished


def _distinct_runs(settings: Settings, out: Path) -> dict[Settings, Path]:
    """The settings of all variants of all recipes, each once, and the folder of the first that has them."""
    found: dict[Settings, tuple[Settings, Path]] = {}
    for name, recipe in RECIPES.items():
        for variant, changes in recipe.variants.items():
            own = variant_settings(settings, changes)
            found.setdefault(with_all_options(own), (own, out / name / variant))
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
        parts += [f"**{name}** ({RECIPES[name].after}). {RECIPES[name].reports}", _section_table(RECIPES[name], sets)]
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
    different = {(of, _settings_of(run)): run for of, run in variants}
    questions = {of: len(run.predictions) for of, run in variants}
    seconds = sum(p.processor_seconds for run in different.values() for p in run.predictions.values())
    asked = " and ".join(f"{number} questions of {of}" for of, number in questions.items())
    return (
        f"{len(finished)} recipes, {asked}: {len(variants)} variants, of which {len(different)} differ (the same "
        f"settings are answered once), in {seconds / 60:.0f} minutes of processor time. Brackets: 95 % intervals. "
        f"Columns whose figure is the same in all rows are told below the table. "
        f"Python {platform.python_version()}, kgdemo {__version__}."
    )


def _settings_of(run: Run) -> Settings:
    """Of a run, as it was asked."""
    known = {name: value for name, value in run.settings.items() if name in Settings.__dataclass_fields__}
    options = run.settings["options"]
    assert isinstance(options, dict)
    return with_all_options(replace(Settings(**{**known, "forced": ()}), options=tuple(options.items())))  # type: ignore[arg-type]


def _section_table(recipe: Recipe, sets: Mapping[str, Sequence[Run]]) -> str:
    """One table for all sets; what is the same in all rows is no column, but a line below."""
    runs = [run for of in sets.values() for run in of]
    cells = {
        name: [_section_cell(run, name) for run in runs]
        for name in _SECTION_COLUMNS
        if any(name in run.metrics for run in runs)
    }
    same = {name: column[0] for name, column in cells.items() if len(set(column)) == 1 and len(runs) > 1}
    shown = [name for name in cells if name not in same]
    rows = list[list[str]]()
    for of, own in sets.items():
        rows.append([f"*{of}*", *([""] * len(shown))])
        rows += [[run.name, *(_section_cell(run, name) for name in shown)] for run in own]
    written = markdown_table(["", *(_SECTION_COLUMNS[name] for name in shown)], rows)
    everywhere = ", ".join(f"{_SECTION_COLUMNS[name]} {value}" for name, value in same.items())
    return f"{written}\n\nEverywhere: {everywhere}." if everywhere else written


def _section_cell(run: Run, name: str) -> str:
    if name == "faithful_ratio" and not run.metrics["paths"]:
        return "–"
    return _cell(run, name, 2, name in _WITH_INTERVAL)
