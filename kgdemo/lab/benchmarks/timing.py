"""What both benchmarks share: rows, side-by-side timing in one process, and the table for people.

Timings are medians of interleaved repeats, ours and the reference by turns, so that whatever else the
machine does falls on both. Targets are reported, never asserted.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median
from typing import TypeVar

Made = TypeVar("Made")
Other = TypeVar("Other")
Clock = Callable[[], float]  # seconds


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a benchmark.

    Attributes:
        name: what was timed.
        ours_ms, reference_ms: medians; the reference's is None where it was not run, and ``note`` says why.
        ratio: reference_ms / ours_ms.
        equal: whether both gave the same result; None where there is nothing to compare with.
        target: what we want of this row, in words.
        note: what a reader should know.
        repeats: how often each was run.
        extra: further figures by name.
    """

    name: str
    ours_ms: float
    reference_ms: float | None = None
    ratio: float | None = None
    equal: bool | None = None
    target: str = ""
    note: str = ""
    repeats: int = 1
    extra: Mapping[str, float | None] | None = None


def timed(call: Callable[[], Made], clock: Clock = time.perf_counter) -> tuple[float, Made]:
    """Milliseconds that a call took, and what it returned."""
    began = clock()
    made = call()
    return 1000 * (clock() - began), made


def side_by_side(
    name: str,
    ours: Callable[[], Made],
    reference: Callable[[], Other],
    same: Callable[[Made, Other], bool],
    repeats: int,
    clock: Clock,
    target: str = "",
    note: str = "",
    reference_once: bool = False,
) -> Row:
    """Time two ways to the same result by turns; ``same`` is asked about the last two results, untimed.

    ``reference_once`` is for a reference that takes seconds: only ours is repeated then.
    """
    mine, theirs = [], []
    for number in range(repeats):
        ms, made = timed(ours, clock)
        mine.append(ms)
        if number == 0 or not reference_once:
            ms, other = timed(reference, clock)
            theirs.append(ms)
    ours_ms, reference_ms = median(mine), median(theirs)
    ratio = reference_ms / ours_ms if ours_ms else None
    return Row(name, ours_ms, reference_ms, ratio, same(made, other), target, note, repeats)


def alone(name: str, ours: Callable[[], object], repeats: int, clock: Clock, target: str = "", note: str = "") -> Row:
    """Time something the reference approach has no answer to, or would take too long for."""
    return Row(name, median(timed(ours, clock)[0] for _ in range(repeats)), target=target, note=note, repeats=repeats)


def machine() -> str:
    """The machine in words: cores, processor, GPU."""
    import torch

    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [
            line.split(":", 1)[1] for line in info.read_text("utf-8").splitlines() if line.startswith("model name")
        ]
        cpu = " ".join(names[0].replace("(R)", "").replace("(TM)", "").split()) if names else cpu
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    gpu = torch.cuda.get_device_name(0) if torch.cuda.is_available() else "no GPU"
    return f"{cores} CPU cores, {cpu}, {gpu}"


def sentence(row: Row) -> str:
    """A row for a person at a terminal."""
    text = f"{row.name}: {_duration(row.ours_ms)}"
    if row.reference_ms is not None and row.ratio is not None:
        text += f", reference {_duration(row.reference_ms)}, {row.ratio:.1f}x"
    if row.equal is not None:
        text += ", same result" if row.equal else ", RESULTS DIFFER"
    extra = ", ".join(f"{name} {value:.3g}" for name, value in (row.extra or {}).items() if value is not None)
    return "; ".join(part for part in (text, extra, row.note) if part)


def markdown(rows: Iterable[Row], command: str) -> str:
    """The rows as a Markdown table under a line that names command, machine and date."""
    heading = f"`python -m kgdemo {command}`, {machine()}, {date.today().isoformat()}:"
    lines = [heading, "", "| | ours | reference | ratio | same result | target |", "|---|---:|---:|---:|---|---|"]
    for row in rows:
        theirs = "–" if row.reference_ms is None else _duration(row.reference_ms)
        ratio = "–" if row.ratio is None else f"{row.ratio:,.0f}x" if row.ratio >= 10 else f"{row.ratio:.1f}x"
        equal = {None: "–", True: "yes", False: "no"}[row.equal]
        cells: Sequence[str] = (row.name, _duration(row.ours_ms), theirs, ratio, equal, row.target or "–")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _duration(ms: float) -> str:
    if ms >= 1000:
        return f"{ms / 1000:.1f} s"
    return f"{ms:.1f} ms" if ms >= 1 else f"{ms:.2f} ms"
