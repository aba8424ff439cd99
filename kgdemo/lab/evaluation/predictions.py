"""From the events of one question to its prediction, and the predictions of a run on disk.

A run that is stopped at any moment can go on and ends in the same file: a line is appended when its question is
answered, and a half-written last line is cut away. Seconds differ from run to run, so they are in a file of their own,
``timings.jsonl``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from kgdemo.errors import UserError
from kgdemo.events import (
    WITHOUT_GRAPH,
    AnswerFinal,
    CandidatesScored,
    EntitiesLinked,
    Event,
    LMCall,
    PathFound,
    PathVerified,
    RunFailed,
    RunFinished,
    Thought,
)
from kgdemo.kg.graph import Triple
from kgdemo.kg.path import SEPARATOR
from kgdemo.lab.evaluation.metrics import (
    Prediction,
    Step,
    StepCounts,
    Steps,
    coverage_ratio,
    hit,
    ill_formed,
    triplet_f1,
    valid_steps,
)
from kgdemo.lab.questions import Question
from kgdemo.verify import Verdict, Verifier


def trace_file(out: Path, question: str) -> Path:
    """Where an evaluation keeps the run of a question, whose id may be anything, so that its hash is the name."""
    return out / "traces" / f"{blake2b(question.encode(), digest_size=8).hexdigest()}.jsonl"


@dataclass(slots=True)
class Paths:
    """The paths of one search: under the constraint, or without it."""

    found: dict[int, PathFound] = field(default_factory=dict)
    verdicts: dict[int, Verdict] = field(default_factory=dict)

    def steps(self, topics: Sequence[str], verifier: Verifier) -> StepCounts:
        """Valid and ill-formed steps; all the paths are taken for one chain, in the order shown."""
        hops: list[Triple] = [hop for event in self.found.values() if event.path for hop in event.path.hops]
        unread = sum(event.path is None for event in self.found.values())  # text that is no path: one ill triple
        valid, steps = valid_steps(self.verdicts.values())
        return StepCounts(steps, valid, len(hops) + unread, len(ill_formed(hops, topics, verifier)) + unread)

    @property
    def faithful(self) -> int:
        """Paths that the verifier found in the graph."""
        return sum(verdict.faithful for verdict in self.verdicts.values())

    def right(self, gold: Collection[str]) -> tuple[int, int]:
        """How many of the paths end in a right answer, and how many of those are in the graph."""
        right = [index for index, one in self.found.items() if one.path and hit([one.path.end], gold)]
        return len(right), sum(index in self.verdicts and self.verdicts[index].faithful for index in right)


@dataclass(slots=True)
class RunFigures:
    """Reads the events of one run.

    The search without the graph is for comparison; it does not count as the method's cost.

    Args:
        verifier: of the graph that is asked.
        edges: of the same graph.
        topics: the entities asked about.
        limit: steps that the method may take; 0 for no limit.
    """

    verifier: Verifier
    edges: Steps
    topics: tuple[str, ...] = ()
    limit: int = 0
    thoughts: dict[int, int] = field(default_factory=dict)  # how many thoughts lead to each, itself among them
    constrained: Paths = field(default_factory=Paths)
    unconstrained: Paths = field(default_factory=Paths)
    seen: set[Step] = field(default_factory=set)
    answer: AnswerFinal = field(default_factory=lambda: AnswerFinal("", (), (), ""))
    error: str = ""
    unasked: str = ""  # why the general model did not answer, where it could not be asked
    seconds: float = 0.0
    compared: float = 0.0  # seconds spent on the comparison
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def see(self, event: Event) -> None:
        """Take in one event."""
        if isinstance(event, EntitiesLinked):
            self.topics = event.chosen
        elif isinstance(event, PathFound):
            (self.constrained if event.constrained else self.unconstrained).found[event.index] = event
        elif isinstance(event, PathVerified):
            (self.constrained if event.constrained else self.unconstrained).verdicts[event.index] = event.verdict
        elif isinstance(event, Thought):
            self.seen |= self.edges.of(event.triples)
            before = max((self.thoughts.get(parent, 0) for parent in event.parents), default=0)
            self.thoughts[event.id] = before + (event.kind == "thought")
        elif isinstance(event, CandidatesScored):
            self._see_candidates(event)
        elif isinstance(event, LMCall):
            self._count_call(event)
        elif isinstance(event, AnswerFinal):
            self.answer = event
            self.unasked = event.refusal if event.failed else ""
        elif isinstance(event, (RunFinished, RunFailed)):
            self.seconds = event.t - self.compared
            self.error = event.message if isinstance(event, RunFailed) else self.unasked

    def prediction(self, question: Question, truth: frozenset[Step], hops: int = 0) -> Prediction:
        """The outcome; a method that never looks at the graph is judged by the paths it wrote.

        Args:
            question: with its right answers.
            truth: the steps of the shortest paths to them.
            hops: how long the shortest of these paths is.
        """
        own = self.constrained if self.constrained.found or not self.unconstrained.found else self.unconstrained
        right, free = own.right(question.gold), self.unconstrained.right(question.gold)
        retrieved = self.seen.union(*(self.edges.of(e.path.hops) for e in own.found.values() if e.path))
        return Prediction(
            id=question.id,
            question=question.text,
            topics=self.topics,
            gold=tuple(dict.fromkeys(question.answer_entities or question.answers)),
            answers=self.answer.answers,
            with_graph=tuple(dict.fromkeys((*self.answer.answers, *self.answer.completed))),
            paths=tuple(e.text for e in own.found.values()),
            ends=tuple(e.path.end if e.path else "" for e in own.found.values()),
            faithful=own.faithful,
            free_paths=len(self.unconstrained.verdicts),
            free_faithful=self.unconstrained.faithful,
            refused=bool(self.answer.refusal) and not self.unasked,
            seconds=self.seconds,
            lm_calls=self.calls,
            tokens_in=self.tokens_in,
            tokens_out=self.tokens_out,
            error=self.error,
            steps=own.steps(self.topics, self.verifier),
            free_steps=self.unconstrained.steps(self.topics, self.verifier),
            coverage=coverage_ratio(retrieved, truth) if truth else None,
            right_paths=right[0],
            right_faithful=right[1],
            free_right_paths=free[0],
            free_right_faithful=free[1],
            depths=tuple(len(event.path.hops) for event in own.found.values() if event.path),
            hops=hops,
            triplet_f1=triplet_f1(self._reasoned(own), truth) if truth else None,
            limited=0 < self.limit <= max(self.thoughts.values(), default=0),
        )

    def _reasoned(self, own: Paths) -> frozenset[Step]:
        """The steps of the paths that lead to an answer given; of the first path where none does."""
        paths = [event.path for event in own.found.values() if event.path]
        cited = [path for path in paths if hit([path.end], self.answer.answers)] or paths[:1]
        return self.edges.of(hop for path in cited for hop in path.hops)

    def _see_candidates(self, event: CandidatesScored) -> None:
        """Candidates that are paths; others (relations, actions, thoughts) name no edge."""
        for text in event.options:
            path, _ = self.verifier.verify_text(text) if SEPARATOR in text else (None, None)
            self.seen |= self.edges.of(path.hops) if path else set()

    def _count_call(self, call: LMCall) -> None:
        if call.purpose == WITHOUT_GRAPH:
            self.compared += call.seconds
        else:
            self.calls += call.calls
            self.tokens_in += call.tokens_in
            self.tokens_out += call.tokens_out


# the predictions of a run on disk -----------------------------------------------------------------


PREDICTIONS, TIMINGS = "predictions.jsonl", "timings.jsonl"
_TIMES = ("seconds", "processor_seconds")  # differ from run to run


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
            cut_off_broken_line(file)
        found = _predictions(self._file, self._timings)
        self.done = {p.id: p for p in found if not p.error}
        if len(self.done) < len(found):
            self._write_anew(self.done)

    def write(self, prediction: Prediction) -> None:
        """Append one prediction."""
        self.done[prediction.id] = prediction
        append(self._timings, {"id": prediction.id, **{name: getattr(prediction, name) for name in _TIMES}})
        append(self._file, _without_times(prediction))

    def arrange(self, ids: Iterable[str]) -> None:
        """Put the predictions into the order of the questions, which those that were asked again are out of."""
        first = [key for key in ids if key in self.done]
        wanted = list(dict.fromkeys([*first, *self.done]))
        if wanted != list(self.done):
            self.done = {key: self.done[key] for key in wanted}
            self._write_anew(wanted)

    def _write_anew(self, ids: Iterable[str]) -> None:
        beside = self._file.with_suffix(".new")
        beside.write_text("".join(_line(_without_times(self.done[key])) for key in ids), "utf-8")
        beside.replace(self._file)


def append(file: Path, record: Mapping[str, object]) -> None:
    """Add a record to a JSONL file."""
    with file.open("ab") as stream:
        stream.write(_line(record).encode())


def resumed_records(file: Path) -> list[dict[str, Any]]:
    """The records of a JSONL file that is to be continued; a last line that was not written whole is cut away."""
    cut_off_broken_line(file)
    return [json.loads(line) for line in whole_lines(file)]


def read_predictions(folder: Path) -> dict[str, Prediction]:
    """What ``evaluate`` has written, by the question's id.

    Raises:
        UserError: there is no such file, or it is damaged.
    """
    if not (folder / PREDICTIONS).is_file():
        raise UserError(f"{folder / PREDICTIONS} cannot be read; give the --out folder of an evaluation.")
    return {prediction.id: prediction for prediction in _predictions(folder / PREDICTIONS, folder / TIMINGS)}


def _line(record: Mapping[str, object]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def _without_times(prediction: Prediction) -> dict[str, object]:
    return {name: value for name, value in asdict(prediction).items() if name not in _TIMES}


def cut_off_broken_line(file: Path) -> None:
    """Cut away a last line that was not written whole."""
    if file.exists():
        content = file.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(file, whole)


def _predictions(file: Path, timings: Path) -> list[Prediction]:
    """The predictions of all whole lines, with their seconds where these are known."""
    try:
        times = {record.pop("id"): record for record in map(json.loads, whole_lines(timings))}
        records = map(json.loads, whole_lines(file))
        found = [Prediction.from_record({"seconds": 0.0, **one, **times.get(one["id"], {})}) for one in records]
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(f"{file} is damaged ({error}); remove it, or the lines that are no records.") from error
    return found


def whole_lines(file: Path) -> list[str]:
    """The lines of a file that were written whole; none where it is not there."""
    if not file.exists():
        return []
    content = file.read_bytes()
    return content[: content.rfind(b"\n") + 1].decode("utf-8").split("\n")[:-1]
