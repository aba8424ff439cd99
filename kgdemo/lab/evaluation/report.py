"""Runs of ``evaluate`` as one HTML file: ``python -m kgdemo report DIR…``.

A table with intervals, a plot, each run beside the first with a paired test, and the questions on which they differ.
The file needs nothing else and runs no script.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgdemo.errors import UserError
from kgdemo.lab.evaluation.metrics import ERRORS, GROUP_FIGURES, GROUPS, Prediction, hits_at_1, summarise
from kgdemo.lab.evaluation.predictions import compare_runs, read_predictions, with_intervals
from kgdemo.view.escape import escaped

PLOTTED = ("hits@1", "hit", "f1", "path_hits@1", "path_hit@k")
SHOWN = (*PLOTTED, "accuracy", "rouge_l", "hit_substring", "faithful_ratio", "faithful_ratio_correct", "triplet_f1")
FREE = ("unconstrained_faithful_ratio", "unconstrained_faithful_ratio_correct", "unconstrained_path_hit@k")
WRONG = ("ceiling", "right_path_f1", "refused", *(f"error_{name}" for name in ERRORS))
COSTS = ("depth", "true_depth", "lm_calls", "tokens_in", "tokens_out", "seconds_per_question")
JUDGED = ("gpt4score", "gpt4score_low", "gpt4score_high", "coherence")  # said by a model, so they cannot be made anew
MOST_CHANGED = 200  # questions listed of two runs
_COLOURS = ("#2f6f4f", "#c2702c", "#3b6ea8", "#8a4f9e", "#777777", "#b8434e")
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


def html_report(runs: Sequence[Run]) -> str:
    """The whole document."""
    parts = [f"<h1>{len(runs)} runs</h1>", _overview(runs), plot(runs), _groups(runs)]
    parts += [_beside(runs[0], other) for other in runs[1:]]
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


def as_file(svg: str) -> str:
    """A plot as a file of its own, which has to name what language it is written in."""
    return svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)


def plot(runs: Sequence[Run]) -> str:
    """Bars with their intervals, one group a figure, as SVG that stands in a page or in a file of its own."""
    width, height, gap = 16, 200, 24
    group = width * len(runs) + gap
    parts = []
    for place, name in enumerate(PLOTTED):
        for number, run in enumerate(runs):
            x, value = place * group + number * width + 40, run.metrics[name]
            low, high = run.metrics[f"{name}_low"], run.metrics[f"{name}_high"]
            colour = _COLOURS[number % len(_COLOURS)]
            title = f"{run.name}, {name}: {value:.3f} ({low:.3f} to {high:.3f})"
            parts.append(
                f'<g><title>{escaped(title)}</title><rect x="{x}" y="{height * (1 - value) + 10:.1f}" '
                f'width="{width - 3}" height="{height * value:.1f}" fill="{colour}"/>'
                f'<line x1="{x + 6.5}" x2="{x + 6.5}" '
                f'y1="{height * (1 - low) + 10:.1f}" y2="{height * (1 - high) + 10:.1f}" stroke="#1c1d21"/></g>'
            )
        parts.append(f'<text x="{place * group + 40}" y="{height + 28}">{escaped(name)}</text>')
    parts += [f'<text x="0" y="{height * (1 - v) + 14:.0f}">{v:.2f}</text>' for v in (0.0, 0.25, 0.5, 0.75, 1.0)]
    for number, run in enumerate(runs):
        y = height + 50 + 18 * number
        parts.append(f'<rect x="40" y="{y - 10}" width="12" height="12" fill="{_COLOURS[number % len(_COLOURS)]}"/>')
        parts.append(f'<text x="58" y="{y}">{escaped(run.name)}</text>')
    size = (len(PLOTTED) * group + 60, height + 50 + 18 * len(runs))
    return (
        f'<svg role="img" aria-label="Figures of the runs" width="{size[0]}" '
        f'height="{size[1]}" font-family="system-ui, sans-serif" font-size="12">{"".join(parts)}</svg>'
    )


def _beside(first: Run, other: Run) -> str:
    """Two runs: figures that differ with their test, and the questions of which one is right and the other wrong."""
    head = _row("th", ["", escaped(first.name), escaped(other.name), "difference", "95 % interval", "p"])
    rows = [
        [escaped(row.name), f"{row.first:.3f}", f"{row.second:.3f}", f"{row.second - row.first:+.3f}",
         f"{row.low:+.3f} to {row.high:+.3f}", f"{row.p:.4f}"]
        for row in compare_runs(first.folder, other.folder)
        if row.name in SHOWN
    ]  # fmt: skip
    changed = list(_changed(first, other))
    listed = "".join(_row("td", cells) for cells in changed[:MOST_CHANGED])
    more = f"<p>{len(changed) - MOST_CHANGED} more are not listed.</p>" if len(changed) > MOST_CHANGED else ""
    names = _row("th", ["question", "right", escaped(first.name), escaped(other.name)])
    return (
        f"<h2>{escaped(first.name)} and {escaped(other.name)}</h2>"
        f"<table>{head}{''.join(_row('td', cells) for cells in rows)}</table>"
        f"<details><summary>{len(changed)} questions changed</summary>"
        f'<table class="text">{names}{listed}</table>{more}</details>'
    )


def _changed(first: Run, other: Run) -> Iterator[list[str]]:
    for name, one in first.predictions.items():
        two = other.predictions.get(name)
        if two is None or not one.gold or hits_at_1(one.answers, one.gold) == hits_at_1(two.answers, two.gold):
            continue
        yield [escaped(one.question, 300), _names(one.gold), *(_answers(run) for run in (one, two))]


def _answers(prediction: Prediction) -> str:
    kind = "right" if hits_at_1(prediction.answers, prediction.gold) else "wrong"
    path = f"<br><small>{escaped(prediction.paths[0], 300)}</small>" if prediction.paths else ""
    return f'<span class="{kind}">{_names(prediction.answers) or "–"}</span>{path}'


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(escaped(name, 100) for name in names[:5]) + more


def _row(cell: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{cell}>{text}</{cell}>" for text in cells) + "</tr>"
