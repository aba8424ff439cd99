"""The whole product tried as those who use it do: hostile runs at random, and many askers of a served page at once.

``bench soak --whole``: a hostile graph × a hostile question × any method and its options × one of three doors: what the
page calls, what programs call, and the command line. Each run must end in an answer or in one clear sentence, in time
and within the memory given; every path called grounded must be stated by the graph's own lines. A fault is told with
its seed.

``bench load``: each asker is a thread that does what the page in a browser does: join the queue, read
the stream of the run to its end, ask the next question. What the server holds in memory is read from its ``/metrics``
meanwhile.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import numpy as np

from kgdemo.errors import UserError
from kgdemo.events import Event, PathFound, PathVerified, RunFailed, RunFinished, from_json
from kgdemo.facts import StatedFacts, Triple
from kgdemo.kg.io.catalogue import build_graph
from kgdemo.lab.benchmarks.soak import NASTY, random_model
from kgdemo.methods import METHODS
from kgdemo.models.causal import EMBEDDED, CausalModel
from kgdemo.pipeline import Pipeline
from kgdemo.settings import LOCAL, PUBLIC, RANKINGS, ChatSettings, Profile, Settings
from kgdemo.ui.api import Endpoints
from kgdemo.ui.asking import NAMES, ON_PAGE, Fields, Server, ask
from kgdemo.ui.guard import Refused, Visits
from kgdemo.ui.metrics import memory
from kgdemo.ui.runs import lines_of
from kgdemo.verify import Verifier

Command = Callable[[list[str]], int]
DOORS = ("page",) * 6 + ("program",) * 3 + ("command",)
_SCRIPTS = (
    "abcdefghij klmnop qrstuvwxyz",
    "éèüßøŁ ñçšž",
    "абвгд ежзийк",
    "αβγδ εζηθ",
    "日本語東京 都市人口",
    "हिन्दी भारत",
    "العربية مدينة",
    "עברית עיר",
    "🎬👩‍👩‍👧🇫🇷 ❤️",
    "\x00\x01\x1b\x7f\x85\u2028\u2029",
    "\u200b\u200d\u202e\u2066\ufeff\u0301",
    "0123456789 .,-–−+×²½",
    "<>&\"'`${}[]()|\\/#%=@~^*_",
)
_HALF = "\ud800x\udfff"  # halves of characters: JSON can hold them
_FORMS = (
    "What does {a} {r}?",
    "Who {r} {a}?",
    "How many {r} of {a} are there?",
    "Is {a} {r} {b}?",
    "Which is larger, {a} or {b}?",
    "What {r} both {a} and {b}?",
    "When was {a} {r}?",
    "{a}",
    "{a} {a} {a} {b} {r}?",
    "{b} -> {r} -> {a}",
)
_MAX_BYTES = 2_000_000_000  # of memory that all runs together may add to this process
_PYTHON = re.compile(r"Traceback|<class|object at 0x|NoneType|Error\(|has no attribute|not subscriptable")


@dataclass(slots=True)
class WholeTally:
    """Counts over the runs; ``faults`` say the seed, the door and what was wrong."""

    runs: int = 0
    answered: int = 0
    refused: int = 0
    paths: int = 0
    slowest: float = 0.0
    largest: int = 0
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class WholeCase:
    """The parameters of one run; all of them follow from the seed."""

    seed: int
    door: str
    triples: tuple[Triple, ...]
    question: str
    values: dict[str, Any]
    entities: tuple[str, ...]
    edits: tuple[tuple[str, str, str, str], ...]
    profile: Profile
    embedded: bool  # the model that ships instead of a small random one


def soak_whole(
    runs: int,
    first_seed: int,
    tally: WholeTally,
    command: Command,
    seconds: int = 20,
    shipped: float = 0.1,
) -> Iterator[int]:
    """Run again and again, and add up in ``tally``.

    Args:
        runs: how many.
        first_seed: of the first; the others follow.
        tally: where to add up.
        command: the command line.
        seconds: a run's deadline; it may be over by one second.
        shipped: share of the runs with the model that ships; the others have a small random one.

    Yields:
        the seed of every run, once it is judged.
    """
    models = (random_model("qwen2", seed=3), random_model("bert", seed=3))
    before = memory()
    for seed in range(first_seed, first_seed + runs):
        case = draw(seed, seconds, shipped)
        began, faults = time.perf_counter(), len(tally.faults)
        try:
            with _alarm(seconds + 30):
                wrong = _DOORS[case.door](case, models[seed % 2], command, tally)
        except Exception as error:  # noqa: BLE001 - whatever breaks off is what is looked for
            wrong = f"broke off with {type(error).__name__}: {str(error)[:200]}"
        took, more = time.perf_counter() - began, memory() - before
        tally.runs += 1
        tally.slowest, tally.largest = max(tally.slowest, took), max(tally.largest, more)
        if not wrong and took > seconds + 1 + (30 if case.door == "command" else 0):  # which loads all anew
            wrong = f"took {took:.1f} s"
        if not wrong and more > _MAX_BYTES:
            wrong = f"has added {more / 1e9:.1f} GB"
        if wrong and len(tally.faults) == faults:
            tally.faults.append(f"seed {seed}, {case.door}, {case.values['method']}: {wrong}")
        yield seed


def draw(seed: int, seconds: int, shipped: float = 0.1) -> WholeCase:
    """The case of a seed."""
    rng = random.Random(seed)
    profile = replace(rng.choice((LOCAL, PUBLIC, PUBLIC)), seconds=seconds, questions_a_minute=0)
    longest = 100_000 if rng.random() < 0.05 else 2_000 if rng.random() < 0.2 else 60
    if rng.random() < 0.9:
        longest = min(longest, profile.label or longest)
    names = [label(rng, longest) for _ in range(rng.randint(1, 25))]
    relations = [label(rng, min(longest, 200)) for _ in range(rng.randint(1, 6))]
    triples = [(rng.choice(names), rng.choice(relations), rng.choice(names)) for _ in range(rng.randint(1, 60))]
    if rng.random() < 0.3:
        triples += triples[: rng.randint(1, 10)]
    if rng.random() < 0.3:
        triples += [(name, relations[0], name) for name in names[:3]]
    if rng.random() < 0.15:
        hub = names[0]
        triples += [(hub, relations[0], f"{rng.choice(NASTY)} {n}") for n in range(rng.choice((500, 5_000)))]
    a, b = rng.choice(names), rng.choice(names)
    question = rng.choice(_FORMS).format(a=a[:150], b=b[:100], r=rng.choice(relations)[:60])
    if rng.random() < 0.1:
        question = label(rng, 100_000 if rng.random() < 0.2 else 500)
    method = rng.choice(list(METHODS))
    values = {
        **{setting.name: getattr(Settings(), setting.name) for setting in ON_PAGE},
        "method": method,
        "beams": rng.choice((1, 2, 3, 5, 10, 12)),
        "hops": rng.randint(1, 4),
        "ranking": rng.choice(list(RANKINGS)),
        "compare": rng.random() < 0.3,
        "options": _options(rng, method),
    }
    edits = [(rng.choice(("add", "remove")), *rng.choice(triples)) for _ in range(rng.choice((0, 0, 0, 2)))]
    return WholeCase(
        seed,
        door=rng.choice(DOORS),
        triples=tuple(triples),
        question=question,
        values=values,
        entities=(rng.choice(triples)[0].strip(),) if rng.random() < 0.5 else (),
        edits=tuple(edits),
        profile=profile,
        embedded=rng.random() < shipped,
    )


def label(rng: random.Random, longest: int) -> str:
    """A name of any script, of marks alone, of one word of any length; never empty."""
    if rng.random() < 0.2:
        return rng.choice(NASTY)
    if rng.random() < 0.002:
        return _HALF
    scripts = [rng.choice(_SCRIPTS) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
    size = rng.randint(1, 20) if rng.random() < 0.8 else rng.randint(1, longest)
    text = "".join(rng.choice(rng.choice(scripts)) for _ in range(min(size, 200)))
    return (text * (size // len(text) + 1))[:size].strip() or "x"


def _options(rng: random.Random, method: str) -> str:
    chosen = []
    for option in METHODS[method].options:
        if rng.random() < 0.2:
            values = list(option.choices) or ["yes", "no"] if option.kind is not int else ["1", "2", "3"]
            if rng.random() < 0.1:
                values = ["yes", "no", str(rng.randint(0, 12)), "0.5", "auto", "-1", "x" * 50]
            chosen.append(f"{option.name}={rng.choice(values)}")
    return ", ".join(chosen)


def _by_page(case: WholeCase, model: CausalModel, _: Command, tally: WholeTally) -> str:
    pipeline = _pipeline(case, model)
    server = Server(pipeline, visits=Visits(0))
    answer = server.graphs.brought(_upload(case))
    if "error" in answer:
        tally.refused += 1
        return _not_a_sentence(str(answer["error"]))
    client_graph = json.dumps({"own": answer["own"], "edits": [list(edit) for edit in case.edits]})
    fields = Fields(case.question, {name: case.values[name] for name in NAMES[1:]}, client_graph)
    events = list(ask(server, fields, case.entities))
    kg = pipeline.graph(str(answer["own"]))
    for batch in server.stream.sent(lines_of(events, lambda: kg), lambda: kg):
        json.loads(batch)
    return _judged(events, case.triples, case.edits, tally)


def _by_program(case: WholeCase, model: CausalModel, _: Command, tally: WholeTally) -> str:
    pipeline = _pipeline(case, model)
    triples = _stripped(case.triples)
    pipeline.add_graph("world", build_graph(triples, "world"), StatedFacts(triples))
    endpoints = Endpoints(Server(pipeline, visits=Visits(0)))
    values = {name: case.values[name] for name in ("method", "beams", "hops", "options")}
    try:
        found = endpoints.ask(case.question, **values)
        endpoints.link(case.question)
        endpoints.verify_path(" -> ".join(triples[0]))
    except Refused as refused:
        tally.refused += 1
        return _not_a_sentence(str(refused.message))
    json.dumps(found)
    tally.answered += 1
    tally.paths += len(found["paths"])
    unstated = [path["text"] for path in found["paths"] if not path["verified"]]
    return f"a path is not in the graph: {unstated[0][:200]!r}" if unstated else ""


def _by_command(case: WholeCase, _: CausalModel, command: Command, tally: WholeTally) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "graph.jsonl"
        file.write_text(_json_lines(case.triples), "utf-8")
        given = [f"--{name}={case.values[name]}" for name in ("method", "beams", "hops", "ranking")]
        options = [f"--option={case.values['options']}"] if case.values["options"] else []
        out, said = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
            try:
                code = command(["ask", f"--kg={file}", "--json", *given, *options, "--", case.question])
            except SystemExit as ended:  # of the parser of arguments
                code = 2 if ended.code == 2 else 1
    events = [from_json(line) for line in out.getvalue().split("\n") if line]
    if code == 2:
        tally.refused += 1
        return _not_a_sentence(said.getvalue().strip().split("\n")[-1])
    return f"ended with {code}" if code else _judged(events, _stripped(case.triples), (), tally)


_DOORS: dict[str, Callable[[WholeCase, CausalModel, Command, WholeTally], str]] = {
    "page": _by_page,
    "program": _by_program,
    "command": _by_command,
}


def _pipeline(case: WholeCase, model: CausalModel) -> Pipeline:
    pipeline = Pipeline(case.profile, ChatSettings())
    if not case.embedded:
        pipeline.add_model(EMBEDDED, model)
    return pipeline


def _upload(case: WholeCase) -> dict[str, str]:
    """As a visitor pastes the triples, where some lines are none, or sends them as a file of JSON lines."""
    if case.seed % 5 == 0:
        text = "\n".join("\t".join(triple) for triple in case.triples)
        mark = "\ufeff"  # that of a file where it comes first, and no part of the first label: so put one before it
        return {"text": mark + text if text.startswith(mark) else text}
    return {"name": "graph.jsonl", "base64": b64encode(_json_lines(case.triples).encode()).decode()}


def _json_lines(triples: tuple[Triple, ...]) -> str:
    return "\n".join(json.dumps(dict(zip(("head", "relation", "tail"), triple, strict=True))) for triple in triples)


def _stripped(triples: tuple[Triple, ...]) -> tuple[Triple, ...]:
    """The triples as a reader of files has them."""
    stripped = ((head.strip(), relation.strip(), tail.strip()) for head, relation, tail in triples)
    whole = (triple for triple in stripped if all(triple) and not any(half in "".join(triple) for half in _HALF[::2]))
    return tuple(whole) or (("a", "r", "b"),)


def _judged(
    events: list[Event], triples: tuple[Triple, ...], edits: tuple[tuple[str, str, str, str], ...], tally: WholeTally
) -> str:
    """What is wrong with the events of a run; edges of hostile graphs that were edited are judged by their events."""
    if not events:
        return "no event at all"
    last = events[-1]
    if isinstance(last, RunFailed):
        tally.refused += 1
        return _not_a_sentence(last.message)
    if not isinstance(last, RunFinished):
        return f"ended with {type(last).__name__}"
    tally.answered += 1
    verdicts = {event.index: event.verdict for event in events if isinstance(event, PathVerified) and event.constrained}
    found = [event for event in events if isinstance(event, PathFound) and event.constrained]
    tally.paths += len(found)
    verifier = Verifier(StatedFacts(_stripped(triples)))
    for event in found:
        verdict = verdicts.get(event.index)
        if verdict is None or not verdict.faithful:
            return f"a path is not in the graph: {event.text[:200]!r}"
        if not edits and event.path is not None and not verifier.verify(event.path).faithful:
            return f"a path is not stated: {event.text[:200]!r}"
    return ""


def _not_a_sentence(text: str) -> str:
    """Empty for one or two clear sentences, else what is wrong with the text."""
    clear = 15 < len(text) < 1500 and "\n" not in text and not _PYTHON.search(text)
    return "" if clear else f"said {text[:300]!r}"


@contextlib.contextmanager
def _alarm(seconds: int) -> Iterator[None]:
    """Raise ``TimeoutError`` after so many seconds, where the system has SIGALRM."""

    def ring(*_: object) -> None:
        raise TimeoutError(f"no end after {seconds} s")

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


# --------------------------------------------------------------------------------------------------
# Many askers at once.


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


@contextlib.contextmanager
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


def load_sentence(found: Load) -> str:
    """The figures for a person."""
    slope = "" if found.slope_kb is None else f", {found.slope_kb:+.1f} kB a question after the first {_WARM}"
    return (
        f"{found.askers} askers, {found.questions:,} questions, {found.failed} failed: {found.per_second:.2f}/s; "
        f"seconds a question: median {found.median:.1f}, 95 % within {found.p95:.1f}, longest {found.longest:.1f}; "
        f"server {found.memory_mb:.0f} MB{slope}"
    )
