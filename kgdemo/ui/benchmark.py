"""The Benchmark tab: a recipe of the papers started, watched, stopped and resumed, its runs compared.

The laboratory is above this room, so nothing of it is imported: a study is the command ``kgdemo study`` in a process of
its own, at a lower priority, and what it has come to is read from the files that it writes. That process ends with
the server; started again with the same choice, it goes on where it was. One runs at a time. A study takes minutes of a
processor, so only a server whose profile allows it (``Profile.studies``) has this tab, and no public one does.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from kgdemo.errors import UserError
from kgdemo.kg.io.catalogue import embedded_names
from kgdemo.settings import Profile, cache_folder
from kgdemo.ui.guard import in_one_sentence, object_sent
from kgdemo.view.escape import visible

COMMAND = (sys.executable, "-m", "kgdemo")
ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "tests" / "fixtures"  # in a clone
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,120}")
_SHOWN = 2_000  # questions of a run
_LONGEST = 400  # characters of a text
_BODY = 10_000  # bytes of a request

_Short = Annotated[str, StringConstraints(min_length=1, max_length=300)]
_RunName = Annotated[list[_Short], Field(min_length=2, max_length=2)]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Choice(_Shape):
    """What is to be run.

    Attributes:
        recipe: its name.
        questions: name of a shipped set, or a file on this machine.
        size: the first so many questions.
        graph: what is asked; that of a shipped set is its own.
        beams, hops: K and L, where the recipe leaves them open.
    """

    recipe: _Short
    questions: _Short
    size: Annotated[int, Field(ge=1, le=5_000)]
    graph: _Short
    beams: Annotated[int, Field(ge=1, le=50)]
    hops: Annotated[int, Field(ge=1, le=4)]


class Compared(_Shape):
    """Two runs, each as study and variant."""

    first: _RunName
    second: _RunName


class Studies:
    """The studies of a server.

    Args:
        folder: where they are kept, one folder each; by default beside the other things that are kept.
        command: what runs ``kgdemo``; tests give another.
    """

    def __init__(self, folder: Path | None = None, command: Sequence[str] = COMMAND) -> None:
        self._folder = folder or (cache_folder() or Path(tempfile.gettempdir()) / "kgdemo") / "studies"
        self._command = tuple(command)
        self._process: subprocess.Popen[bytes] | None = None
        self._running = ""
        self._failed: dict[str, str] = {}
        self._lock = threading.Lock()
        atexit.register(self.stop)

    @cached_property
    def recipes(self) -> list[dict[str, Any]]:
        """What can be run: name, table or figure, variants, and what the paper reports."""
        return self._told("recipes", "--json")

    @cached_property
    def sets(self) -> list[dict[str, Any]]:
        """The question sets of a clone, with the graph that each is about."""
        found = []
        for file in sorted(SHIPPED.glob("*.jsonl")):
            graph = next((name for name in embedded_names() if file.stem.startswith(name)), "")
            number = sum(bool(line.strip()) for line in file.read_text("utf-8").splitlines())
            found += [{"name": file.stem, "graph": graph, "questions": number}] if graph else []
        return found

    def names(self) -> list[str]:
        """The studies that there are, the newest first."""
        if not self._folder.is_dir():
            return []
        found = [one for one in self._folder.iterdir() if (one / "choice.json").is_file()]
        return [one.name for one in sorted(found, key=lambda one: -(one / "choice.json").stat().st_mtime)]

    def start(self, choice: Choice) -> str:
        """Start a study, or go on with it where it was stopped.

        Returns:
            its name, the same for the same choice.

        Raises:
            UserError: another is running, or there is no such recipe or set.
        """
        shipped = {one["name"]: one["graph"] for one in self.sets}
        file = SHIPPED / f"{choice.questions}.jsonl" if choice.questions in shipped else Path(choice.questions)
        if choice.recipe not in [one["name"] for one in self.recipes]:
            raise UserError(f"There is no recipe {choice.recipe[:60]!r}; load the page anew.")
        if not file.exists():
            raise UserError(f"There is no question file {visible(file, 200)} on this machine; write its whole path.")
        graph = shipped.get(choice.questions, choice.graph)
        digest = blake2b(json.dumps([str(file), graph, choice.beams, choice.hops]).encode(), digest_size=4).hexdigest()
        stem = re.sub(r"[^A-Za-z0-9_-]", "-", file.stem)[:40] or "set"
        name = f"{choice.recipe}.{stem}.{choice.size}.{digest}"
        with self._lock:
            if self.running:
                raise UserError("Another study is running on this server; stop it, or wait until it is done.")
            out = self._folder / name
            out.mkdir(parents=True, exist_ok=True)
            (out / "choice.json").write_text(choice.model_dump_json() + "\n", "utf-8")
            given = {"questions": file, "out": out, "limit": choice.size, "kg": graph}
            given |= {"beams": choice.beams, "hops": choice.hops}
            self._failed.pop(name, None)
            self._process = self._begun(
                out, "study", choice.recipe, "--attached", *(f"--{k}={v}" for k, v in given.items())
            )
            self._running = name
        return name

    def stop(self) -> None:
        """End the study that is running; what it has answered is kept."""
        with self._lock:
            if self._process is not None and self._process.poll() is None:
                self._process.terminate()
            if self._process is not None:
                self._ended(self._process)
            self._running = ""

    @property
    def running(self) -> str:
        """The study that is running; empty where none is."""
        process, name = self._process, self._running
        if process is None or process.poll() is None:
            return name if process is not None else ""
        self._ended(process)
        if process.returncode and name:
            lines = (self._folder / name / "log.txt").read_text("utf-8", "replace").strip().splitlines()
            self._failed[name] = lines[-1] if lines else f"The study ended with status {process.returncode}."
        self._running = ""
        return ""

    def state(self, name: str) -> dict[str, Any]:
        """How far a study has come: its choice, a row of figures a variant, and the seconds left.

        Raises:
            UserError: there is none of this name.
        """
        out = self._out(name)
        running = self.running == name
        file = out / "study.json"
        known = json.loads(file.read_text("utf-8")) if file.is_file() else {"rows": [], "seconds_left": None}
        rows = known["rows"]
        done = bool(rows) and all(row["done"] == row["of"] for row in rows)
        state = "running" if running else "failed" if name in self._failed else "done" if done else "stopped"
        choice = json.loads((out / "choice.json").read_text("utf-8"))
        return {
            **known,
            "name": name,
            "choice": choice,
            "state": state,
            "complaint": visible(self._failed.get(name, ""), _LONGEST),
        }

    def questions(self, name: str, variant: str) -> dict[str, Any]:
        """What a variant has answered: each question with its answers, and whether the first of them is right.

        Raises:
            UserError: there is no such study or variant.
        """
        state = self.state(name)
        row = next((row for row in state["rows"] if row["name"] == variant), None)
        if row is None:
            raise UserError("This study has no such variant; load the page anew.")
        file = self._out(name) / variant / "predictions.jsonl"
        content = file.read_bytes() if file.is_file() else b""
        lines = content[: content.rfind(b"\n") + 1].decode("utf-8").splitlines()[:_SHOWN]
        right = set(row["right"])
        settings = dict(pair.split("=", 1) for pair in state["variants"][variant].split())
        asked = [json.loads(line) for line in lines]
        return {
            "method": settings["method"],
            "questions": [
                {
                    "question": visible(one["question"], _LONGEST),
                    "topics": [visible(topic, _LONGEST) for topic in one["topics"]],
                    "answers": [visible(answer, _LONGEST) for answer in one["answers"][:5]],
                    "gold": [visible(answer, _LONGEST) for answer in one["gold"][:5]],
                    "right": one["id"] in right,
                }
                for one in asked
            ],
        }

    def compare(self, two: Compared) -> list[dict[str, Any]]:
        """The figures of two runs over the questions that both have, with the paired test.

        Raises:
            UserError: a run is not there, or they have no question in common.
        """
        folders = []
        for name, variant in (two.first, two.second):
            if not _NAME.fullmatch(variant):
                raise UserError("This study has no such variant; load the page anew.")
            folders.append(str(self._out(name) / variant))
        return self._told("compare", *folders, "--json")

    def _ended(self, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        if process.stdin is not None:
            process.stdin.close()

    def _out(self, name: str) -> Path:
        if not _NAME.fullmatch(name) or not (self._folder / name / "choice.json").is_file():
            raise UserError("There is no such study on this server; load the page anew.")
        return self._folder / name

    def _begun(self, out: Path, *arguments: str) -> subprocess.Popen[bytes]:
        """A process that ends when its standard input does, with this server at the latest."""
        nice = ("nice", "-n", "5") if shutil.which("nice") else ()
        with (out / "log.txt").open("wb") as log:
            return subprocess.Popen(
                [*nice, *self._command, *arguments], stdin=subprocess.PIPE, stdout=log, stderr=log, env=_environment()
            )

    def _told(self, *arguments: str) -> list[dict[str, Any]]:
        """What a command prints as JSON, an object a line.

        Raises:
            UserError: it failed; its own sentence.
        """
        done = subprocess.run([*self._command, *arguments], capture_output=True, env=_environment(), check=False)
        if done.returncode:
            lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise UserError(lines[-1] if lines else "The laboratory's command line cannot be run here.")
        return [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]


def _environment() -> dict[str, str]:
    where = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])  # from whichever folder we run
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": where}


# addresses -----------------------------------------------------------------------------------------


def routes(profile: Profile, studies: Studies | None = None) -> list[Route]:
    """What the server answers under ``/benchmark``; nothing where the profile allows no studies.

    ``GET /benchmark`` lists recipes, sets and studies; ``POST /benchmark`` starts a ``Choice``;
    ``POST /benchmark/stop`` ends what runs; ``POST /benchmark/compare`` compares two runs; ``GET /benchmark/STUDY`` is
    how far it has come, and ``GET /benchmark/STUDY/VARIANT`` what has been answered.

    Args:
        profile: of the server.
        studies: made here unless given.
    """
    if not profile.studies:
        return []
    known = studies or Studies()

    async def listed(_: Request) -> Any:
        recipes = await run_in_threadpool(lambda: known.recipes)
        return {"recipes": recipes, "sets": known.sets, "studies": known.names()[:50], "running": known.running}

    async def started(request: Request) -> Any:
        return {"name": await run_in_threadpool(known.start, await _sent(request, Choice))}

    async def stopped(request: Request) -> Any:
        await object_sent(request, _BODY)
        await run_in_threadpool(known.stop)
        return {}

    async def compared(request: Request) -> Any:
        return {"rows": await run_in_threadpool(known.compare, await _sent(request, Compared))}

    async def state(request: Request) -> Any:
        return known.state(request.path_params["study"])

    async def questions(request: Request) -> Any:
        return known.questions(request.path_params["study"], request.path_params["variant"])

    return [
        Route("/benchmark", _answering(listed)),
        Route("/benchmark", _answering(started), methods=["POST"]),
        Route("/benchmark/stop", _answering(stopped), methods=["POST"]),
        Route("/benchmark/compare", _answering(compared), methods=["POST"]),
        Route("/benchmark/{study}", _answering(state)),
        Route("/benchmark/{study}/{variant}", _answering(questions)),
    ]


def _answering(handle: Callable[[Request], Awaitable[Any]]) -> Callable[[Request], Awaitable[Response]]:
    """What a handler returns as JSON, mistakes as one sentence."""

    async def answer(request: Request) -> Response:
        return JSONResponse(await handle(request))

    return in_one_sentence(answer, "benchmark")


async def _sent(request: Request, shape: type[BaseModel]) -> Any:
    """The body of a request, in its shape.

    Raises:
        UserError: it is of another.
    """
    try:
        return shape.model_validate(await object_sent(request, _BODY))
    except ValidationError as error:
        raise UserError("What was asked for does not have the form of a study; load the page anew.") from error
