"""Many askers at once: ``python -m kgdemo bench load``.

Each asker is a thread that does what the page in a browser does: join the queue, read the stream of the run to its end,
ask the next question. What the server holds in memory is read from its ``/metrics`` meanwhile.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import numpy as np

from kgdemo.errors import UserError

_PATIENCE = 600.0  # seconds for one question
_WARM = 300  # questions after which memory is expected to rise no more


@dataclass(frozen=True, slots=True)
class Load:
    """The result of a load test.

    Attributes:
        askers, questions: how many.
        failed: questions whose stream ended without the end of a run.
        per_second: questions answered a second.
        median, p95, longest: seconds that a question took, the wait in the queue with it.
        memory_mb: of the server at the end.
        slope_kb: by how much memory rose a question after the first 300, by least squares; None where it were fewer.
    """

    askers: int
    questions: int
    failed: int
    per_second: float
    median: float
    p95: float
    longest: float
    memory_mb: float
    slope_kb: float | None


class Page:
    """A served page, as a browser speaks to it.

    Args:
        url: where it is served.

    Raises:
        UserError: no such page is there.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        try:
            config = json.loads(self._get("/config"))
            parts = {part["props"].get("elem_id"): part for part in config["components"]}
            by_id = {part["id"]: part for part in config["components"]}
            asking = [one for one in config["dependencies"] if [parts["kg-go"]["id"], "click"] in one["targets"]]
            (self._ask,) = asking
        except (URLError, OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(f"At {url} this demo is not served ({error}); start it, or leave --url out.") from error
        self._values = [by_id[number]["props"].get("value") for number in self._ask["inputs"]]

    def ask(self, question: str) -> bool:
        """Ask and read the stream to its end; whether the run finished."""
        session = secrets.token_hex(6)
        body = {"data": [question, *self._values[1:]], "fn_index": self._ask["id"], "session_hash": session}
        headers = {"Content-Type": "application/json"}
        finished = False
        try:
            joined = Request(f"{self.url}/gradio_api/queue/join", json.dumps(body).encode(), headers)
            with urlopen(joined, timeout=_PATIENCE):
                pass
            with urlopen(f"{self.url}/gradio_api/queue/data?session_hash={session}", timeout=_PATIENCE) as stream:
                for line in stream:
                    finished |= b"RunFinished" in line
                    if b'"process_completed"' in line:
                        return finished
        except (URLError, OSError):
            return False
        return False

    def memory(self) -> float:
        """Bytes that the server holds."""
        name = "process_resident_memory_bytes"
        lines = self._get("/metrics").decode().splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))

    def _get(self, path: str) -> bytes:
        with urlopen(self.url + path, timeout=60) as answer:
            content: bytes = answer.read()
        return content


def load(page: Page, questions: Sequence[str], askers: int) -> Load:
    """Ask all the questions, ``askers`` at a time.

    Args:
        page: who answers.
        questions: in this order; the first is asked once more before, alone, so that all is loaded.
        askers: how many ask at the same time.
    """
    page.ask(questions[0])
    left: SimpleQueue[str] = SimpleQueue()
    for question in questions:
        left.put(question)
    took: list[tuple[float, bool, float]] = []  # seconds, whether it finished, memory afterwards

    def visit() -> None:
        while True:
            try:
                question = left.get_nowait()
            except Empty:
                return
            began = time.perf_counter()
            finished = page.ask(question)
            took.append((time.perf_counter() - began, finished, page.memory()))

    began = time.perf_counter()
    visitors = [threading.Thread(target=visit) for _ in range(askers)]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join()
    seconds = time.perf_counter() - began
    waits, done, memory = (np.array(column, dtype=np.float64) for column in zip(*took, strict=True))
    settled = memory[_WARM:]
    return Load(
        askers=askers,
        questions=len(took),
        failed=int(len(done) - done.sum()),
        per_second=len(took) / seconds,
        median=float(np.median(waits)),
        p95=float(np.quantile(waits, 0.95)),
        longest=float(waits.max()),
        memory_mb=float(memory[-1]) / 1e6,
        slope_kb=float(np.polyfit(np.arange(len(settled)), settled, 1)[0]) / 1e3 if len(settled) > 1 else None,
    )


@contextmanager
def own_server() -> Iterator[str]:
    """Serve the page in a process of its own; yields its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", f"from kgdemo.ui.serve import main; main(['--port={port}'])"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(command, env=environment, **quiet) as server:
        try:
            address = f"http://127.0.0.1:{port}"
            while True:
                if server.poll() is not None:
                    raise UserError("The page could not be served; `kgdemo start` says why.")
                try:
                    with urlopen(f"{address}/healthz", timeout=5):
                        break
                except (URLError, OSError):
                    time.sleep(0.2)
            yield address
        finally:
            server.terminate()


def sentence(found: Load) -> str:
    """The figures for a person."""
    slope = "" if found.slope_kb is None else f", {found.slope_kb:+.1f} kB a question after the first {_WARM}"
    return (
        f"{found.askers} askers, {found.questions:,} questions, {found.failed} failed: {found.per_second:.2f}/s; "
        f"seconds a question: median {found.median:.1f}, 95 % within {found.p95:.1f}, longest {found.longest:.1f}; "
        f"server {found.memory_mb:.0f} MB{slope}"
    )
