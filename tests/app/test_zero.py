"""A GPU that is lent for one question: used where ``spaces`` lends it, and nowhere else."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import subprocess
import sys
import threading
import types
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import gradio as gr
import pytest

from kgdemo.events import RunFailed, RunFinished
from kgdemo.models.causal import CausalModel
from kgdemo.settings import Settings
from kgdemo.ui import zero
from tests.helpers.small import QUESTION, SmallPipeline

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


@pytest.fixture
def large(pipeline: SmallPipeline) -> str:
    """Name of a path model other than the one that ships."""
    pipeline.add_model("large", pipeline.model("embedded"))
    return "large"


def test_the_embedded_model_spends_nobodys_minutes(lender, pipeline):
    events = list(zero.run(pipeline, QUESTION, Settings(beams=1, compare=False)))
    assert isinstance(events[-1], RunFinished)
    assert lender == []


def test_it_stays_on_the_processor_where_a_gpu_is_only_lent(lender, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)  # so says the lender, outside of any loan
    assert not CausalModel.load("embedded").on_gpu


def test_a_question_to_another_model_is_one_loan_over_plain_data(lender, pipeline, large):
    settings = Settings(model=large, beams=2, compare=False)
    events = list(zero.run(pipeline, QUESTION, settings, ["Inception"]))
    assert isinstance(events[-1], RunFinished)
    assert [(seconds, given[1:]) for seconds, given in lender] == [(zero.SECONDS, (QUESTION, settings, ("Inception",)))]
    assert isinstance(lender[0][1][0], int)  # not the pipeline with its models: this goes to another process


def test_leaving_early_ends_the_loan_and_the_run(lender, pipeline, large):
    before = pipeline.closed_early
    events = zero.run(pipeline, QUESTION, Settings(model=large, beams=2))
    next(events)
    events.close()
    assert pipeline.closed_early == before + 1


def test_a_loan_that_is_refused_is_told_in_the_lenders_words(lender, pipeline, large, monkeypatch):
    def refused(*_: object):
        raise gr.Error("You have exceeded your free quota.\nTry again in 2:00:00.", title="ZeroGPU quota exceeded")
        yield

    monkeypatch.setattr(zero, "_answer", refused)
    (failed,) = zero.run(pipeline, QUESTION, Settings(model=large))
    assert isinstance(failed, RunFailed)
    assert failed.message == (
        "No GPU could be borrowed for this question (ZeroGPU quota exceeded: You have exceeded your free quota. "
        "Try again in 2:00:00); ask again later."
    )


_REAL = """
import torch  # made to look as on a server that lends GPUs: the package takes no other
torch.version.cuda, torch._C._cuda_init, torch.cuda._is_in_bad_fork = "12.8", int, int
from kgdemo.ui import zero
from kgdemo.settings import Settings
from tests.helpers.small import QUESTION, SmallPipeline
pipeline = SmallPipeline()
pipeline.add_model("large", pipeline.model("embedded"))
for model in ("embedded", "large"):
    *_, last = zero.run(pipeline, QUESTION, Settings(model=model, beams=1, compare=False))
    print(type(last).__name__, getattr(last, "message", ""))
"""


@pytest.mark.skipif(importlib.util.find_spec("spaces") is None, reason="needs the package spaces")
def test_the_real_package_lends_for_other_models_only(tmp_path):
    asked: list[str] = []

    class Lender(BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append(self.path.split("?")[0])
            loan = {"idle": False, "nvidiaIndex": 0, "nvidiaUUID": "GPU-0", "allowToken": "t"}
            body = json.dumps(loan if asked[-1] == "/schedule" else {}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object): ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Lender) as server:
        threading.Thread(target=server.serve_forever).start()
        at = f"http://127.0.0.1:{server.server_port}"
        lent = {"SPACES_ZERO_GPU": "true", "SPACES_ZERO_DEVICE_API_URL": at, "HOME": str(tmp_path), "PYTHONPATH": "."}
        ran = subprocess.run(
            [sys.executable, "-c", _REAL], cwd=ROOT, env={**os.environ, **lent}, text=True, capture_output=True
        )
        server.shutdown()
    assert ran.returncode == 0, ran.stderr
    first, *_, second = ran.stdout.splitlines()
    assert first.split() == ["RunFinished"]
    assert second.startswith("RunFailed No GPU could be borrowed"), "this machine has none"
    assert asked == ["/schedule", "/allow", "/release"]


def test_elsewhere_nothing_is_imported_or_lent(pipeline, monkeypatch):
    monkeypatch.setitem(sys.modules, "spaces", None)  # importing it would fail
    monkeypatch.delenv("SPACES_ZERO_GPU", raising=False)
    importlib.reload(zero)
    assert not zero.ZERO
    assert isinstance(list(zero.run(pipeline, QUESTION, Settings(beams=1, compare=False)))[-1], RunFinished)


def test_spaces_would_be_imported_before_torch():
    assert our_imports(ROOT / "app.py") == [("kgdemo.ui.serve", "main")]
    assert our_imports(ROOT / "kgdemo" / "ui" / "serve.py")[0] == ("kgdemo.ui", "zero")
    told = "import sys, kgdemo.ui.zero; print(sorted({'torch', 'gradio', 'numpy'} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", told], cwd=ROOT, text=True, capture_output=True, check=True)
    assert ran.stdout.strip() == "[]"


def our_imports(file: Path) -> list[tuple[str, str]]:
    """What a file takes from this package, in the order of its import lines."""
    imports = [node for node in ast.parse(file.read_text()).body if isinstance(node, ast.ImportFrom)]
    return [(node.module, node.names[0].name) for node in imports if (node.module or "").startswith("kgdemo")]
