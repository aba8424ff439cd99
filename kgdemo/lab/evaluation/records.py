"""The predictions of a run on disk, so that a run stopped at any moment goes on and ends in the same file.

A line is appended when its question is answered. What a stop has left half written is cut away and made anew. Seconds
differ from run to run, so they stand in a file of their own, ``timings.jsonl``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from kgdemo.errors import UserError
from kgdemo.lab.evaluation.metrics import Prediction

PREDICTIONS, TIMINGS = "predictions.jsonl", "timings.jsonl"


class Records:
    """What a run has written so far; predictions of questions that failed are dropped, so that they are asked again.

    Args:
        folder: of the run.

    Raises:
        UserError: a file in it is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._file, self._timings = folder / PREDICTIONS, folder / TIMINGS
        for file in (self._file, self._timings):
            _cut(file)
        found = _predictions(self._file, self._timings)
        self.done = {p.id: p for p in found if not p.error}
        if len(self.done) < len(found):
            self._write_anew(self.done)

    def write(self, prediction: Prediction) -> None:
        """Append one prediction."""
        self.done[prediction.id] = prediction
        append(self._timings, json.dumps({"id": prediction.id, "seconds": prediction.seconds}))
        append(self._file, _line(prediction))

    def arrange(self, ids: Iterable[str]) -> None:
        """Put the predictions into the order of the questions, which those that were asked again are out of."""
        first = [key for key in ids if key in self.done]
        wanted = list(dict.fromkeys([*first, *self.done]))
        if wanted != list(self.done):
            self.done = {key: self.done[key] for key in wanted}
            self._write_anew(wanted)

    def _write_anew(self, ids: Iterable[str]) -> None:
        beside = self._file.with_suffix(".new")
        beside.write_text("".join(_line(self.done[key]) + "\n" for key in ids), "utf-8")
        beside.replace(self._file)


def append(file: Path, line: str) -> None:
    """Add a line to a file."""
    with file.open("ab") as stream:
        stream.write(f"{line}\n".encode())


def read_predictions(folder: Path) -> dict[str, Prediction]:
    """What ``evaluate`` has written, by the question's id.

    Raises:
        UserError: there is no such file, or it is damaged.
    """
    if not (folder / PREDICTIONS).is_file():
        raise UserError(f"{folder / PREDICTIONS} cannot be read; give the --out folder of an evaluation.")
    return {prediction.id: prediction for prediction in _predictions(folder / PREDICTIONS, folder / TIMINGS)}


def _line(prediction: Prediction) -> str:
    record = prediction.record()
    del record["seconds"]
    return json.dumps(record, ensure_ascii=False)


def _cut(file: Path) -> None:
    """Cut away a last line that was not written whole."""
    if file.exists():
        content = file.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(file, whole)


def _predictions(file: Path, timings: Path) -> list[Prediction]:
    """The predictions of all whole lines, with their seconds where these are known."""
    try:
        seconds = {record["id"]: float(record["seconds"]) for record in map(json.loads, _lines(timings))}
        found = [Prediction.from_record({"seconds": 0.0, **json.loads(line)}) for line in _lines(file)]
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(f"{file} is damaged ({error}); remove it, or the lines that are no records.") from error
    return [replace(p, seconds=seconds.get(p.id, p.seconds)) for p in found]


def _lines(file: Path) -> list[str]:
    if not file.exists():
        return []
    content = file.read_bytes()
    return content[: content.rfind(b"\n") + 1].decode("utf-8").split("\n")[:-1]
