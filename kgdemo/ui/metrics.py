"""What an operator can watch: counts of runs, stages, refusals and memory for Prometheus, and one log line a run.

``Loading`` says how far a server has been loaded, and loads it: a few stages, one after the other, while the first
visitors read. ``SpareMemory`` keeps what the process holds near to what it needs.

Neither the counts nor the log holds a question's text, an address or the name of a visitor's graph.
``KGDEMO_LOG=json`` writes the log as JSON lines; ``KGDEMO_LOG_QUESTIONS=yes`` puts the questions in.
"""

from __future__ import annotations

import ctypes
import gc
import json
import logging
import os
import resource
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path

from kgdemo.errors import UserError
from kgdemo.events import Event, RunFailed, RunFinished
from kgdemo.kg.io.catalogue import embedded_names
from kgdemo.settings import Settings

logger = logging.getLogger(__name__)
_BOUNDS = (0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)  # seconds of a run
_MAX_VALUES = 60  # values of one label; further ones are counted as ``other``
_ABOUT = {
    "kgdemo_questions_total": "counter Questions answered, by a run of their own, a shared one or a kept one.",
    "kgdemo_runs_total": "counter Runs by method and how they ended.",
    "kgdemo_run_seconds": "histogram Seconds of the runs that finished.",
    "kgdemo_stage_seconds_total": "counter Seconds by stage of the runs that finished.",
    "kgdemo_refused_total": "counter Requests refused, by reason.",
    "kgdemo_runs_under_way": "gauge Runs under way.",
    "kgdemo_waiting": "gauge Questions that wait for their turn.",
    "process_resident_memory_bytes": "gauge Memory of the server.",
    "process_cpu_seconds_total": "counter Processor time of the server.",
    "process_start_time_seconds": "gauge When the server was started.",
}


class Metrics:
    """Counts by name and labels; safe to use from several threads."""

    def __init__(self) -> None:
        self.under_way = 0
        self._started = time.time()
        self._counts: defaultdict[tuple[str, str], float] = defaultdict(float)
        self._lock = threading.Lock()

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        """Add to a count.

        Args:
            name: as Prometheus calls it.
            amount: how much.
            labels: names and values; a label of very many values keeps the first ones.
        """
        with self._lock:
            key = (name, _written(labels))
            if key not in self._counts and sum(known == name for known, _ in self._counts) >= _MAX_VALUES:
                key = (name, _written(dict.fromkeys(labels, "other")))
            self._counts[key] += amount

    def watched(
        self, events: Generator[Event, None, None], question: str, settings: Settings
    ) -> Generator[Event, None, None]:
        """The events of a run, which is counted and logged at its end."""
        ended, seconds, began = "left", 0.0, time.perf_counter()
        with self._lock:
            self.under_way += 1
        try:
            for event in events:
                if isinstance(event, RunFinished):
                    ended, seconds = "finished", event.seconds
                    self._finished(event)
                elif isinstance(event, RunFailed):
                    ended = "refused"
                yield event
        except Exception:
            ended = "failed"
            raise
        finally:
            events.close()
            with self._lock:
                self.under_way -= 1
            self.count("kgdemo_runs_total", method=settings.method, ended=ended)
            if ended == "refused":
                self.count("kgdemo_refused_total", reason="question")
            _log(question, settings, ended, seconds or time.perf_counter() - began)

    def _finished(self, run: RunFinished) -> None:
        for bound in (*(str(bound) for bound in _BOUNDS if run.seconds <= bound), "+Inf"):
            self.count("kgdemo_run_seconds_bucket", le=bound)
        self.count("kgdemo_run_seconds_sum", run.seconds)
        self.count("kgdemo_run_seconds_count")
        for stage, ms in run.stage_ms.items():
            self.count("kgdemo_stage_seconds_total", ms / 1000, stage=stage)

    def text(self, waiting: int = 0) -> str:
        """All counts in the text format of Prometheus, version 0.0.4."""
        with self._lock:
            counts = {**self._counts, ("kgdemo_runs_under_way", ""): self.under_way}
        used = resource.getrusage(resource.RUSAGE_SELF)
        counts[("kgdemo_waiting", "")] = waiting
        counts[("process_resident_memory_bytes", "")] = memory()
        counts[("process_cpu_seconds_total", "")] = used.ru_utime + used.ru_stime
        counts[("process_start_time_seconds", "")] = self._started
        return "".join(f"{line}\n" for line in _lines(counts))


METRICS = Metrics()  # of this process, as there is one server in it


def memory() -> int:
    """Bytes of memory that this process holds now; where the system does not say, the most that it has held."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def give_back_memory() -> None:
    """Give memory that is free back to the system, where the C library can (glibc): it would keep some MB a question.

    Questions of all sizes leave holes of all sizes, and by itself only what is free at the end of the heap goes back.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


_ARENAS = 4
_M_ARENA_MAX = -8  # of mallopt(3)


def few_arenas() -> None:
    """Let all threads take memory from a few pools, where the C library can (glibc): by itself it makes one a thread.

    Each keeps holes of its own. To be called before threads are started.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, _ARENAS)


_OFTEN = 10.0  # seconds between two times at which memory is given back
_MUCH = 200_000_000  # bytes by which memory may grow before it is given back earlier


class SpareMemory:
    """Gives free memory back after runs, but not after each.

    The next run would be given the same pages anew, one by one: that took a tenth of a question's processor time.

    Args:
        give_back: gives all that is free back.
        held: bytes that the process holds.
        clock: seconds, ever rising; tests give their own.
    """

    def __init__(
        self,
        give_back: Callable[[], None] = give_back_memory,
        held: Callable[[], int] = memory,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._give_back, self._held, self._clock = give_back, held, clock
        self._last, self._left = clock(), held()  # when memory was given back, and what was held then
        self._lock = threading.Lock()

    def run_ended(self) -> None:
        """A run has ended; what it held is free."""
        with self._lock:
            if self._clock() - self._last < _OFTEN and self._held() < self._left + _MUCH:
                return
            self._last = self._clock()
            self._give_back()
            self._left = self._held()


SPARE_MEMORY = SpareMemory()  # of this process


def _lines(counts: Mapping[tuple[str, str], float]) -> Iterator[str]:
    for metric, about in _ABOUT.items():
        kind, words = about.split(" ", 1)
        yield f"# HELP {metric} {words}"
        yield f"# TYPE {metric} {kind}"
        for (name, labels), value in counts.items():
            if name == metric or (kind == "histogram" and name.startswith(metric)):
                yield f"{name}{labels} {float(value)!r}"


def _written(labels: Mapping[str, str]) -> str:
    def quoted(value: str) -> str:
        return value[:80].replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

    return "{" + ",".join(f'{name}="{quoted(value)}"' for name, value in labels.items()) + "}" if labels else ""


# how far the server has been loaded -------------------------------------------------------------------------

Stage = tuple[str, Callable[[], object]]


class Loading:
    """What is loaded while the first visitors read, stage by stage in a thread of its own, and how far that has got.

    Args:
        stages: name (a key of the page's text) and what to do.
    """

    def __init__(self, stages: Sequence[Stage] = ()) -> None:
        self._stages = stages
        self._done = 0
        self._failed = ""
        self._seen = threading.Event()

    def start(self, within: float = 0.0) -> threading.Thread:
        """Begin once a page stands and asks how far this has got; the thread ends by itself.

        Args:
            within: seconds after which to begin in any case. Until then a page that is being opened has the
                processor to itself.
        """

        def begin() -> None:
            self._seen.wait(within)
            self.finish()

        thread = threading.Thread(target=begin, name="warm-up", daemon=True)
        thread.start()
        return thread

    def finish(self) -> None:
        """Do it all here and now."""
        gc.disable()  # what is loaded stays: it is not gone through for garbage, neither now nor again and again later
        try:
            for _, load in self._stages:
                load()
                self._done += 1
        except UserError as error:
            logger.warning("%s", error)
            self._failed = str(error)
        finally:
            gc.freeze()
            gc.enable()

    def state(self) -> dict[str, object]:
        """``progress``, for a page, which is there now; so the loading begins."""
        self._seen.set()
        return self.progress()

    def progress(self) -> dict[str, object]:
        """Stages done, how many there are, the one under way (empty when none is), what went wrong."""
        going = self._done < len(self._stages) and not self._failed
        stage = self._stages[self._done][0] if going else ""
        return {"done": self._done, "stages": len(self._stages), "stage": stage, "failed": self._failed}


# the log ----------------------------------------------------------------------------------------------------


class JsonLines(logging.Formatter):
    """Each record as one line of JSON, with the fields that its maker has given in ``extra``."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def start_logging() -> None:
    """Write the log to standard error: plain, or JSON lines where ``KGDEMO_LOG`` says ``json``."""
    handler = logging.StreamHandler()
    as_json = os.environ.get("KGDEMO_LOG") == "json"
    handler.setFormatter(JsonLines() if as_json else logging.Formatter("%(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    logging.getLogger("httpx").setLevel(logging.WARNING)  # the server's calls to itself


def _log(question: str, settings: Settings, ended: str, seconds: float) -> None:
    graph = settings.graph if settings.graph in embedded_names() else "a visitor's or a file"
    fields = {
        "method": settings.method,
        "graph": graph,
        "beams": settings.beams,
        "hops": settings.hops,
        "characters": len(question),
        "ended": ended,
        "seconds": round(seconds, 3),
    }
    if os.environ.get("KGDEMO_LOG_QUESTIONS", "").lower() in ("yes", "true", "1"):
        fields["question"] = question
    logger.info("run: %s on %s, %s after %.2f s", settings.method, graph, ended, seconds, extra={"fields": fields})
