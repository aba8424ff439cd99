"""Runs of ``evaluate`` as one HTML file: ``python -m kgdemo report DIR…``.

A table with intervals, a plot, each run beside the first with a paired test, and the questions on which they differ.
The file needs nothing else and runs no script. Of runs that were kept (``evaluate --traces``) each of these questions
opens its run: a folder beside the file has, for each evaluation, a page that plays them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from types import MappingProxyType
from urllib.parse import quote

from PIL import Image, ImageDraw, ImageFont

from kgdemo.errors import UserError
from kgdemo.lab.evaluation.metrics import (
    ERRORS,
    FIGURES,
    GROUP_FIGURES,
    GROUPS,
    Prediction,
    hits_at_1,
    interval,
    paired_test,
    summarise,
    with_intervals,
)
from kgdemo.lab.evaluation.predictions import read_predictions, trace_file
from kgdemo.view.escape import escaped

PLOTTED = ("hits@1", "hit", "f1", "path_hits@1", "path_hit@k")
SHOWN = (*PLOTTED, "accuracy", "rouge_l", "hit_substring", "faithful_ratio", "faithful_ratio_correct", "triplet_f1")
FREE = ("unconstrained_faithful_ratio", "unconstrained_faithful_ratio_correct", "unconstrained_path_hit@k")
WRONG = ("ceiling", "right_path_f1", "refused", *(f"error_{name}" for name in ERRORS))
COSTS = (
    "depth",
    "true_depth",
    "lm_calls",
    "tokens_in",
    "tokens_out",
    "seconds_per_question",
    "processor_seconds_per_question",
)
JUDGED = ("gpt4score", "gpt4score_low", "gpt4score_high", "coherence")  # said by a model, so they cannot be made anew
MOST_CHANGED = 200  # questions listed of two runs
_COLOURS = ("#2f6f4f", "#c2702c", "#3b6ea8", "#8a4f9e", "#777777", "#b8434e", "#b59b1f", "#2f8f9a")
_STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1c1d21}
table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}
td,th{padding:.25rem .6rem;border-bottom:1px solid #ddd;text-align:right;vertical-align:top}
td:first-child,th:first-child,.text td{text-align:left}small{color:#666;white-space:nowrap}.right{color:#2f6f4f}
.wrong{color:#b8434e}svg text{font:12px system-ui,sans-serif}summary{cursor:pointer;margin:1rem 0;font-weight:600}"""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of ``evaluate``, read back."""

    name: str
    folder: Path
    settings: Mapping[str, object]
    predictions: Mapping[str, Prediction]
    metrics: Mapping[str, float]


def read_runs(folders: Sequence[Path]) -> list[Run]:
    """The runs of folders; that of a comparison of methods holds one in each of its own folders.

    Raises:
        UserError: a folder has no predictions.
    """
    found: list[Path] = []
    for folder in folders:
        inner = sorted(file.parent for file in folder.glob("*/predictions.jsonl"))
        found += [folder] if (folder / "predictions.jsonl").is_file() or not inner else inner
    names = [folder.name for folder in found]
    return [_run(folder, folder.name if names.count(folder.name) == 1 else str(folder)) for folder in found]


def _run(folder: Path, name: str) -> Run:
    predictions = read_predictions(folder)
    try:
        settings = json.loads((folder / "settings.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{folder} has no settings.json ({error}); give the --out folder of an evaluation.") from error
    rows = list(predictions.values())
    metrics = with_intervals(summarise(rows, bool(settings.get("compare"))), rows)
    written = folder / "metrics.json"
    known = json.loads(written.read_text("utf-8")) if written.is_file() else {}
    judged = {figure: known[figure] for figure in JUDGED if figure in known}
    return Run(name, folder, settings, predictions, {**metrics, **judged})


def write_report(runs: Sequence[Run], file: Path) -> None:
    """Write the report, and pages that play what it lists where the runs were kept.

    Args:
        runs: the first is compared with each of the others.
        file: for the report; the pages go to the folder of its name with ``_runs`` behind it.
    """
    from kgdemo.ui.assets import player_of  # imports gradio, which ``compare`` does without

    changed = [name for other in runs[1:] for name in list(_changed(runs[0], other))[:MOST_CHANGED]]
    folder = file.with_name(f"{file.stem}_runs")
    pages: dict[tuple[str, str], str] = {}
    for number, run in enumerate(runs, 1):
        kept = {name: trace for name in changed if (trace := trace_file(run.folder, name)).is_file()}
        if not kept:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        page = folder / f"{number}.html"
        page.write_text(player_of(list(dict.fromkeys(kept.values()))), "utf-8")
        for name, trace in kept.items():
            pages[run.name, name] = f"{quote(folder.name)}/{page.name}?recorded={trace.stem}"
    file.write_text(html_report(runs, pages), "utf-8")


def html_report(runs: Sequence[Run], pages: Mapping[tuple[str, str], str] = MappingProxyType({})) -> str:
    """The whole document.

    Args:
        runs: the first is compared with each of the others.
        pages: where the run of a question plays, by the name of the evaluation and the question's id.
    """
    parts = [f"<h1>{len(runs)} runs</h1>", _overview(runs), plot(runs), _groups(runs)]
    parts += [_beside(runs[0], other, pages) for other in runs[1:]]
    parts.append("<h2>Settings</h2>")
    for run in runs:
        written = escaped(json.dumps(run.settings, indent=1))
        parts.append(f"<details><summary>{escaped(run.name)}</summary><pre>{written}</pre></details>")
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Runs compared</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"><style>{_STYLE}</style></head>'
        f"<body>{''.join(parts)}</body></html>\n"
    )


def _overview(runs: Sequence[Run]) -> str:
    wanted = (*SHOWN, "gpt4score", "coherence", *FREE, *WRONG, *COSTS)
    names = [name for name in wanted if any(name in run.metrics for run in runs)]
    head = _row("th", ["", *(f"{escaped(run.name)} <small>{len(run.predictions)}</small>" for run in runs)])
    body = [_row("td", [escaped(name), *(_figure(run.metrics, name) for run in runs)]) for name in names]
    return f"<table>{head}{''.join(body)}</table>"


def _figure(metrics: Mapping[str, float], name: str) -> str:
    if name not in metrics:
        return "–"
    low, high = metrics.get(f"{name}_low"), metrics.get(f"{name}_high")
    between = "" if low is None or high is None else f" <small>{low:.3f}–{high:.3f}</small>"
    return f"{metrics[name]:.3f}{between}"


def _groups(runs: Sequence[Run]) -> str:
    """Questions by the hops and by the number of their answers (GCR tables 15 and 16)."""
    head = _row("th", ["", "", *(escaped(run.name) for run in runs)])
    body = []
    for group in GROUPS:
        count = max(run.metrics.get(f"questions_{group}", 0) for run in runs)
        for name in GROUP_FIGURES if count else ():
            cells = [_figure(run.metrics, f"{name}_{group}") for run in runs]
            body.append(_row("td", [f"{group.replace('_', ' ')} <small>{count}</small>", name, *cells]))
    return f"<h2>By hops and by number of answers</h2><table>{head}{''.join(body)}</table>"


# A plot ------------------------------------------------------------------------------------------

_INK, _BASE, _HEIGHT, _WIDTH, _LEFT = "#1c1d21", 10, 200, 16, 40  # of a bar, and where the first one stands


@dataclass(frozen=True, slots=True)
class _Box:
    """A coloured rectangle."""

    x: float
    y: float
    width: float
    height: float
    colour: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class _Whisker:
    """An interval: a line from top to bottom."""

    x: float
    top: float
    bottom: float


@dataclass(frozen=True, slots=True)
class _Text:
    """Text whose baseline begins here."""

    x: float
    y: float
    text: str


_Shape = _Box | _Whisker | _Text


def _drawn(runs: Sequence[Run]) -> tuple[list[_Shape], int, int]:
    """Bars with their intervals, one group a figure, and what they stand for; then the width and height of it all."""
    shapes: list[_Shape] = []
    group = _WIDTH * len(runs) + 24
    for place, name in enumerate(PLOTTED):
        for number, run in enumerate(runs):
            x, value = place * group + number * _WIDTH + _LEFT, run.metrics[name]
            low, high = run.metrics[f"{name}_low"], run.metrics[f"{name}_high"]
            title = f"{run.name}, {name}: {value:.3f} ({low:.3f} to {high:.3f})"
            colour = _COLOURS[number % len(_COLOURS)]
            shapes.append(_Box(x, _at(value), _WIDTH - 3, _HEIGHT * value, colour, title))
            shapes.append(_Whisker(x + 6.5, _at(high), _at(low)))
        shapes.append(_Text(place * group + _LEFT, _HEIGHT + 28, name))
    shapes += [_Text(0, _at(value) + 4, f"{value:.2f}") for value in (0.0, 0.25, 0.5, 0.75, 1.0)]
    for number, run in enumerate(runs):
        y = _HEIGHT + 50 + 18 * number
        shapes.append(_Box(_LEFT, y - 10, 12, 12, _COLOURS[number % len(_COLOURS)]))
        shapes.append(_Text(_LEFT + 18, y, run.name))
    return shapes, len(PLOTTED) * group + 60, _HEIGHT + 50 + 18 * len(runs)


def _at(value: float) -> float:
    """How far from the top a value stands."""
    return _HEIGHT * (1 - value) + _BASE


def plot(runs: Sequence[Run]) -> str:
    """Bars with their intervals, one group a figure, as SVG that stands in a page."""
    shapes, width, height = _drawn(runs)
    return (
        f'<svg role="img" aria-label="Figures of the runs" width="{width}" height="{height}" '
        f'font-family="system-ui, sans-serif" font-size="12">{"".join(map(_as_svg, shapes))}</svg>'
    )


def _as_svg(shape: _Shape) -> str:
    if isinstance(shape, _Text):
        return f'<text x="{shape.x}" y="{shape.y:.0f}">{escaped(shape.text)}</text>'
    if isinstance(shape, _Whisker):
        return f'<line x1="{shape.x}" x2="{shape.x}" y1="{shape.bottom:.1f}" y2="{shape.top:.1f}" stroke="{_INK}"/>'
    title = f"<title>{escaped(shape.title)}</title>" if shape.title else ""
    size = f'width="{shape.width}" height="{shape.height:.1f}"'
    return f'<rect x="{shape.x}" y="{shape.y:.1f}" {size} fill="{shape.colour}">{title}</rect>'


def write_plot(runs: Sequence[Run], file: Path, png: bool = True) -> None:
    """The plot as a file of its own: ``.svg``, which names its language, and beside it ``.png``, twice as large.

    Args:
        runs: what is plotted.
        file: the name of both, without an ending.
        png: whether the second is wanted.
    """
    svg = plot(runs).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    file.with_name(f"{file.name}.svg").write_text(svg + "\n", "utf-8")
    if not png:
        return
    shapes, width, height = _drawn(runs)
    scale = 2
    image = Image.new("RGB", (width * scale, height * scale), "white")
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(12 * scale)
    for shape in shapes:
        if isinstance(shape, _Text):
            draw.text((shape.x * scale, shape.y * scale), shape.text, _INK, font, anchor="ls")
        elif isinstance(shape, _Whisker):
            draw.line([(shape.x * scale, end * scale) for end in (shape.top, shape.bottom)], _INK, scale)
        elif shape.height:
            corners = (shape.x, shape.y, shape.x + shape.width, shape.y + shape.height)
            draw.rectangle(tuple(corner * scale for corner in corners), shape.colour)
    image.save(file.with_name(f"{file.name}.png"), optimize=True)


# Two runs ----------------------------------------------------------------------------------------


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


def compare_runs(first: Mapping[str, Prediction], second: Mapping[str, Prediction]) -> list[Difference]:
    """The figures of answers and paths of two runs.

    Args:
        first, second: predictions by the question's id.

    Raises:
        UserError: they have no question in common.
    """
    both = [name for name in first if name in second]
    if not both:
        raise UserError("The runs have no question in common; give two runs over the same set.")
    rows = []
    for name, figure in FIGURES.items():
        pairs = [(figure(first[i]), figure(second[i])) for i in both]
        ratios = [(a[0] / a[1], b[0] / b[1]) for a, b in pairs if a[1] and b[1]]
        if not ratios:
            continue
        differences = [b - a for a, b in ratios]
        low, high = interval([(difference, 1) for difference in differences])
        one, other = (mean(column) for column in zip(*ratios, strict=True))
        rows.append(Difference(name, one, other, low, high, paired_test(differences)))
    return rows


def differences_table(rows: Sequence[Difference]) -> str:
    """The differences as a Markdown table."""
    columns = ("figure", "first", "second", "difference", "95 % interval", "p")
    return markdown_table(columns, [_difference_cells(row) for row in rows])


def _difference_cells(row: Difference) -> list[str]:
    figures = [row.name, f"{row.first:.3f}", f"{row.second:.3f}", f"{row.second - row.first:+.3f}"]
    return [*figures, f"{row.low:+.3f} to {row.high:+.3f}", f"{row.p:.4f}"]


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table whose first column is text and whose other columns are figures."""
    head, *body = ("|" + "".join(f" {cell} |" if cell else " |" for cell in row) for row in (columns, *rows))
    return "\n".join([head, "|---" + "|---:" * (len(columns) - 1) + "|", *body])


def _beside(first: Run, other: Run, pages: Mapping[tuple[str, str], str]) -> str:
    """Two runs: figures that differ with their test, and the questions of which one is right and the other wrong."""
    head = _row("th", ["", escaped(first.name), escaped(other.name), "difference", "95 % interval", "p"])
    differences = compare_runs(first.predictions, other.predictions)
    rows = [_difference_cells(row) for row in differences if row.name in SHOWN]
    changed = list(_changed(first, other))
    listed = "".join(_row("td", _question(name, (first, other), pages)) for name in changed[:MOST_CHANGED])
    more = f"<p>{len(changed) - MOST_CHANGED} more are not listed.</p>" if len(changed) > MOST_CHANGED else ""
    names = _row("th", ["question", "right", escaped(first.name), escaped(other.name)])
    return (
        f"<h2>{escaped(first.name)} and {escaped(other.name)}</h2>"
        f"<table>{head}{''.join(_row('td', cells) for cells in rows)}</table>"
        f"<details><summary>{len(changed)} questions changed</summary>"
        f'<table class="text">{names}{listed}</table>{more}</details>'
    )


def _changed(first: Run, other: Run) -> Iterator[str]:
    """The ids of the questions of which one run has the right answer first and the other has not."""
    for name, one in first.predictions.items():
        two = other.predictions.get(name)
        if two is None or not one.gold or hits_at_1(one.answers, one.gold) == hits_at_1(two.answers, two.gold):
            continue
        yield name


def _question(name: str, runs: Sequence[Run], pages: Mapping[tuple[str, str], str]) -> list[str]:
    """A question's cells: its text, what is right, and what each run answers."""
    asked = runs[0].predictions[name]
    answers = [_answers(run.predictions[name], pages.get((run.name, name), "")) for run in runs]
    return [escaped(asked.question, 300), _names(asked.gold), *answers]


def _answers(prediction: Prediction, page: str) -> str:
    kind = "right" if hits_at_1(prediction.answers, prediction.gold) else "wrong"
    path = f"<br><small>{escaped(prediction.paths[0], 300)}</small>" if prediction.paths else ""
    opens = f' <a href="{escaped(page)}">open its run</a>' if page else ""
    return f'<span class="{kind}">{_names(prediction.answers) or "–"}</span>{opens}{path}'


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(escaped(name, 100) for name in names[:5]) + more


def _row(cell: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{cell}>{text}</{cell}>" for text in cells) + "</tr>"
