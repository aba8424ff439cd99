"""The notebook of the repository runs as it stands, and reads from a run what the page shows of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path("assets/run.ipynb")
RUNS = sorted(Path("assets").glob("*/*.jsonl"))


def cells(kind: str) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"] if cell["cell_type"] == kind]


def test_its_outputs_are_stripped_and_it_is_short():
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells("code"))
    assert len(cells("code")) <= 6


@pytest.mark.parametrize("run", RUNS, ids=lambda path: path.stem)
def test_its_cells_read_every_recorded_run(run: Path, capsys: pytest.CaptureFixture[str]):
    space: dict[str, Any] = {}
    for cell in cells("code"):
        source = "".join(cell["source"]).replace("assets/traces/1-flute.jsonl", run.as_posix())
        exec(compile(source, str(NOTEBOOK), "exec"), space)
    said = capsys.readouterr().out
    records = [json.loads(line) for line in run.read_text("utf-8").splitlines()]
    final = next(record for record in records if record["event"] == "AnswerFinal")
    found = [record for record in records if record["event"] == "PathFound"]
    assert final["text"] in said
    assert all(f"{path['score']:8.2f}  {path['text']}" in said for path in found)
    assert len(space["graph"]) > 3
    assert "</html>" in space["page"]
