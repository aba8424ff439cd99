"""A GPU that is lent for one question: used where ``spaces`` lends it, and nowhere else."""

from __future__ import annotations

import ast
import importlib
import sys
import types
from pathlib import Path

import pytest

from kgdemo.events import RunFinished
from kgdemo.settings import Settings
from kgdemo.ui import zero
from tests.helpers.page import QUESTION

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def lender(monkeypatch):
    """A stand-in for ``spaces`` on a server that lends GPUs; a list of the loans."""
    loans: list[tuple] = []

    def gpu(duration):
        def lend(function):
            def on_gpu(*given):
                loans.append((duration, given))
                yield from function(*given)

            return on_gpu

        return lend

    monkeypatch.setitem(sys.modules, "spaces", types.SimpleNamespace(GPU=gpu))
    monkeypatch.setenv("SPACES_ZERO_GPU", "true")
    importlib.reload(zero)
    yield loans
    monkeypatch.undo()
    importlib.reload(zero)


def test_each_question_is_one_loan_over_plain_data(lender, pipeline):
    settings = Settings(beams=2, compare=False)
    events = list(zero.run(pipeline, QUESTION, settings, ["Inception"]))
    assert isinstance(events[-1], RunFinished)
    assert [(seconds, given[1:]) for seconds, given in lender] == [(zero.SECONDS, (QUESTION, settings, ("Inception",)))]
    assert isinstance(lender[0][1][0], int)  # not the pipeline with its models: this goes to another process


def test_leaving_early_ends_the_loan_and_the_run(lender, pipeline):
    before = pipeline.closed_early
    events = zero.run(pipeline, QUESTION, Settings(beams=2))
    next(events)
    events.close()
    assert pipeline.closed_early == before + 1


def test_elsewhere_nothing_is_imported_or_lent(pipeline, monkeypatch):
    monkeypatch.setitem(sys.modules, "spaces", None)  # importing it would fail
    monkeypatch.delenv("SPACES_ZERO_GPU", raising=False)
    importlib.reload(zero)
    assert not zero.ZERO
    assert isinstance(list(zero.run(pipeline, QUESTION, Settings(beams=1, compare=False)))[-1], RunFinished)


def test_spaces_would_be_imported_before_torch():
    assert our_imports(ROOT / "app.py") == [("kgdemo.ui.serve", "main")]
    assert our_imports(ROOT / "kgdemo" / "ui" / "serve.py")[0] == ("kgdemo.ui", "zero")
    above = ast.parse(Path(zero.__file__).read_text()).body
    modules = [a.name for node in above if isinstance(node, ast.Import) for a in node.names]
    modules += [node.module for node in above if isinstance(node, ast.ImportFrom)]
    assert all(name.split(".")[0] in sys.stdlib_module_names for name in modules)


def our_imports(file: Path) -> list[tuple[str, str]]:
    """What a file takes from this package, in the order of its import lines."""
    imports = [node for node in ast.parse(file.read_text()).body if isinstance(node, ast.ImportFrom)]
    return [(node.module, node.names[0].name) for node in imports if (node.module or "").startswith("kgdemo")]
