"""The vocabulary of a run: everything that crosses from reasoning to showing.

The page, the command line, the recorded trace, the evaluation and the API all read this one stream; a
trace read back from a file is the same stream. Events are frozen, carry the seconds since the run's
start in ``t``, and go to JSON and back without loss.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Union

from kgdemo.errors import UserError
from kgdemo.kg.path import Path
from kgdemo.verify import Verdict

SCHEMA = 1
ON_PATH, IN_GRAPH, NOWHERE = "path", "graph", "nowhere"  # where an answer of a general model was found
WITHOUT_GRAPH = "without the constraint"  # the purpose of a model call made for comparison only


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity that a mention may mean."""

    entity: str
    score: float
    type: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Mention:
    """A stretch of the question, ``question[start:end]``, and the entities it may mean, best first."""

    text: str
    start: int
    end: int
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class TokenChoice:
    """One token considered at a step.

    Attributes:
        beam: id of the beam this token makes; ids are unique within a run's branch.
        parent: id of the beam it continues.
        text: the token as people read it.
        log_prob: of this token, over the full vocabulary.
        score: sum of log-probabilities so far.
        fate: ``kept``, ``pruned`` or ``finished``.
    """

    beam: int
    parent: int
    token: int
    text: str
    log_prob: float
    score: float
    fate: str


@dataclass(frozen=True, slots=True)
class MaskedToken:
    """A token the model wanted and the graph forbade, with the reason in words."""

    text: str
    prob: float
    reason: str


@dataclass(frozen=True, slots=True)
class AllowedToken:
    """A token that may follow, its probability before the graph spoke and after."""

    token: int
    text: str
    prob: float
    share: float


@dataclass(frozen=True, slots=True)
class BeamWatch:
    """What the graph did to one live beam: how much may follow, how much was forbidden and why."""

    beam: int
    text: str
    allowed: int
    paths_left: int
    forbidden_mass: float
    masked: tuple[MaskedToken, ...] = ()
    top: tuple[AllowedToken, ...] = ()


# the events --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A question is asked; ``forced`` are the tokens that every path must begin with, where there are any."""

    question: str
    method: str
    graph: str
    triples: int
    model: str
    beams: int
    hops: int
    forced: tuple[int, ...] = ()
    schema: int = SCHEMA
    t: float = 0.0


@dataclass(frozen=True, slots=True)
class EntitiesLinked:
    """Mentions found and the topic entities taken; ``nearest`` are suggestions where nothing was found."""

    mentions: tuple[Mention, ...]
    chosen: tuple[str, ...]
    nearest: tuple[Candidate, ...] = ()
    given: bool = False
    ms: float = 0.0
    t: float = 0.0


@dataclass(frozen=True, slots=True)
class ConstraintReady:
    """The KG-Trie stands: how many paths it holds and how long it took.

    ``cache_hit_rate`` is the share of its parts that questions so far found built already (appendix B.1).
    """

    kind: str
    topics: tuple[str, ...]
    hops: int
    paths: int
    ms: float
    cache_hit_rate: float = 0.0
    t: float = 0.0


@dataclass(frozen=True, slots=True)
class DecodeStep:
    """One step of a beam search, in the constrained branch or in the free one beside it."""

    constrained: bool
    number: int
    choices: tuple[TokenChoice, ...]
    watched: tuple[BeamWatch, ...] = ()
    paths_left: int = 0
    t: float = 0.0


@dataclass(frozen=True, slots=True)
class PathFound:
    """A finished path. ``path`` is None where free text is no path; ``index`` counts from 1 in each branch.

    Attributes:
        read: it was not decoded but read from the graph: decoded relations lead there too, or the model was never
            trained on a relation of its.
    """

    constrained: bool
    index: int
    text: str
    score: float
    path: Path | None = None
    beam: int = -1
    relation_score: float = 0.0
    read: bool = False
    t: float = 0.0


@dataclass(frozen=True, slots=True)
class PathVerified:
    """The verifier's judgement of a path."""

    constrained: bool
    index: int
    verdict: Verdict
    t: float = 0.0


@dataclass(frozen=True, slots=True)
class HypothesisAnswer:
    """The answer the path model wrote after a path (GCR section 4.3)."""

    constrained: bool
    index: int
    text: str
    t: float = 0.0


@dataclass(frozen=True, slots=True)
class Thought:
    """A thought, action or observation, tied to the graph nodes it touched.

    Attributes:
        kind: ``thought``, ``action`` or ``observation``.
        id, parents: place in the tree or graph of thoughts.
        fate: ``open``, ``kept``, ``pruned`` or ``merged``; ``reason`` says why.
    """

    kind: str
    id: int
    parents: tuple[int, ...]
    text: str
    entities: tuple[str, ...] = ()
    triples: tuple[tuple[str, str, str], ...] = ()
    score: float = 0.0
    fate: str = "open"
    reason: str = ""
    t: float = 0.0


@dataclass(frozen=True, slots=True)
class CandidatesScored:
    """Options weighed at a decision, best first; ``kept`` says which go on."""

    decision: str
    options: tuple[str, ...]
    scores: tuple[float, ...]
    kept: tuple[bool, ...]
    by: str
    t: float = 0.0


@dataclass(frozen=True, slots=True)
class DeductionChecked:
    """Whether a statement follows from premises, as a reasoner sees it."""

    statement: str
    premises: tuple[str, ...]
    holds: bool
    by: str
    t: float = 0.0


@dataclass(frozen=True, slots=True)
class LMCall:
    """One question put to a language model; ``calls`` is 2 when it had to be asked again.

    ``passes``: forward passes through a model of this process, as far as they are counted.
    """

    by: str
    purpose: str
    prompt: str
    output: str
    tokens_in: int
    tokens_out: int
    seconds: float
    calls: int = 1
    passes: int = 0
    t: float = 0.0


@dataclass(frozen=True, slots=True)
class AnswerDelta:
    """The next piece of the streamed answer."""

    text: str
    t: float = 0.0


@dataclass(frozen=True, slots=True)
class Operand:
    """One thing that an operation works on.

    Attributes:
        entity: what it is.
        paths: the grounded paths by which the graph leads to it; none where it is a topic, or one of all of a kind.
        attribute: of which it has a value: an attribute of the graph's literals, or a relation to a year.
        value, unit: the value as the source states it; see ``kg.literals``.
    """

    entity: str
    paths: tuple[Path, ...] = ()
    attribute: str = ""
    value: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """An answer that was computed from grounded paths and stated values, for the verifier to compute again.

    Attributes:
        kind: ``count``, ``holds``, ``value``, ``greatest``, ``least``, ``nth``, ``filter``, ``both``, ``difference``.
        text: the calculation in plain words.
        operands: what it works on.
        result: what comes out: entities, a number, ``yes`` or ``no``.
        argument: what the kind needs besides: the place of ``nth``, the bound of ``filter`` (``< 1980``).
        verified: the verifier computed the same from the sources alone.
    """

    kind: str
    text: str
    operands: tuple[Operand, ...]
    result: tuple[str, ...]
    argument: str = ""
    verified: bool = False
    t: float = 0.0


@dataclass(frozen=True, slots=True)
class AnswerFinal:
    """The answer.

    Attributes:
        text: the sentence shown, with citations like ``[1]``.
        answers: the entities or values answered; empty when there is no answer.
        citations: for each answer the indices of the paths that support it.
        by: which reasoner spoke.
        completed: entities read from the graph because a cited relation leads to them too. They are among the answers
            of our own reasoner, and beside those of a general language model, whose answers are its own.
        places: for each answer of a general language model, whether it is on a path it cites (``path``), elsewhere in
            the graph (``graph``), or not in it at all (``nowhere``); empty for our own reasoner.
        refusal: why there is no answer, empty when there is one.
        failed: there is none because the model could not be asked; the refusal is not its own.
    """

    text: str
    answers: tuple[str, ...]
    citations: tuple[tuple[int, ...], ...]
    by: str
    completed: tuple[str, ...] = ()
    refusal: str = ""
    failed: bool = False
    places: tuple[str, ...] = ()
    t: float = 0.0


@dataclass(frozen=True, slots=True)
class NextQuestions:
    """What can be asked next; added to a run for those who show it (``view.next_questions.with_next``)."""

    questions: tuple[str, ...]
    t: float = 0.0


@dataclass(frozen=True, slots=True)
class Picture:
    """What the picture of the run gains; added to a run for those who draw it (``view.picture.with_picture``).

    Attributes:
        nodes, edges: new ones, and those that look different now.
        gone: ids of nodes that are no longer shown.
        left_out: how many nodes there was no room for so far.
    """

    nodes: tuple[dict[str, Any], ...] = ()
    edges: tuple[dict[str, Any], ...] = ()
    gone: tuple[str, ...] = ()
    left_out: int = 0
    t: float = 0.0


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the visitor should know that does not end the run."""

    text: str
    t: float = 0.0


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The end of a run and what it cost; ``look_ahead``: ``off``, ``forced``, or how many likely tokens it scored."""

    seconds: float
    lm_calls: int
    tokens_in: int
    tokens_out: int
    stage_ms: dict[str, float] = field(default_factory=dict)
    look_ahead: str = ""
    t: float = 0.0


@dataclass(frozen=True, slots=True)
class RunFailed:
    """The run stopped with a message for the user; what came before stays."""

    message: str
    t: float = 0.0


Event = Union[
    RunStarted,
    EntitiesLinked,
    ConstraintReady,
    DecodeStep,
    PathFound,
    PathVerified,
    HypothesisAnswer,
    Thought,
    CandidatesScored,
    DeductionChecked,
    LMCall,
    AnswerDelta,
    Operation,
    AnswerFinal,
    NextQuestions,
    Picture,
    Notice,
    RunFinished,
    RunFailed,
]
_KINDS: dict[str, type] = {kind.__name__: kind for kind in typing.get_args(Event)}


# JSON --------------------------------------------------------------------------------------------


def to_json(event: Event) -> str:
    """One event as one line of JSON, its kind under ``event``."""
    body = dataclasses.asdict(event)
    return json.dumps({"event": type(event).__name__, **body}, ensure_ascii=False)


def from_json(line: str) -> Event:
    """Read an event back.

    Raises:
        UserError: the line is not an event of this schema.
    """
    try:
        record = json.loads(line)
        name = record.pop("event")
        if name not in _KINDS:
            raise ValueError(f"there is no event called {str(name)[:40]!r}")
        result: Event = _build(_KINDS[name], record)
        return result
    except KeyError as error:
        raise UserError("This is not a recorded trace of this demo (a line names no event).") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise UserError(f"This is not a recorded trace of this demo ({error}).") from error


def write_trace(events: Iterable[Event]) -> str:
    """A trace file: one event a line."""
    return "".join(to_json(event) + "\n" for event in events)


def read_trace(text: str) -> Iterator[Event]:
    """Read a trace file.

    Raises:
        UserError: it is not one; the line is named.
    """
    for number, line in enumerate(text.split("\n"), 1):  # not splitlines: labels may hold other line separators
        if line.strip():
            try:
                yield from_json(line)
            except UserError as error:
                raise UserError(f"Line {number}: {error}") from error


def _build(kind: Any, value: Any) -> Any:
    """Turn plain JSON into ``kind``, following its annotations."""
    origin = typing.get_origin(kind)
    if origin in (Union, types.UnionType):
        inner = [option for option in typing.get_args(kind) if option is not type(None)]
        return None if value is None else _build(inner[0], value)
    if origin is tuple:
        parts = typing.get_args(kind)
        if len(parts) == 2 and parts[1] is Ellipsis:
            return tuple(_build(parts[0], item) for item in value)
        return tuple(_build(part, item) for part, item in zip(parts, value, strict=True))
    if dataclasses.is_dataclass(kind):
        hints, given, title = typing.get_type_hints(kind), {}, getattr(kind, "__name__", "")
        for name, item in value.items():
            if name not in hints:
                raise TypeError(f"{title} has no field {name[:40]!r}")
            try:
                given[name] = _build(hints[name], item)
            except (TypeError, ValueError) as error:
                raise TypeError(f"{title}.{name}: {error}") from error
        return kind(**given)  # type: ignore[operator]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if origin is dict or kind is Any:
        return value
    if kind is float and isinstance(value, int):
        return float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"{str(value)[:40]!r} is not a {kind.__name__}")
    return value
