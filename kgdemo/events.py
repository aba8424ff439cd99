"""The vocabulary of a run: everything that crosses from reasoning to showing.

The page, the command line, the recorded trace, the evaluation and the API all read this one stream; a
trace read back from a file is the same stream. Events are frozen and carry the seconds since the run's start in ``t``.
They are a tagged union: ``event`` names the kind, in Python and in JSON. pydantic reads them back and checks them.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args

from typing_extensions import NotRequired, TypedDict

from kgdemo.errors import UserError
from kgdemo.kg.path import Path
from kgdemo.verify import Verdict

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

SCHEMA = 1
ON_PATH, IN_GRAPH, NOWHERE = "path", "graph", "nowhere"  # where an answer of a general model was found
WITHOUT_GRAPH = "without the constraint"  # the purpose of a model call made for comparison only
Fate = Literal["kept", "pruned", "finished"]  # of a beam


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
    fate: Fate


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
    event: Literal["RunStarted"] = "RunStarted"


@dataclass(frozen=True, slots=True)
class EntitiesLinked:
    """Mentions found and the topic entities taken; ``nearest`` are suggestions where nothing was found."""

    mentions: tuple[Mention, ...]
    chosen: tuple[str, ...]
    nearest: tuple[Candidate, ...] = ()
    given: bool = False
    ms: float = 0.0
    t: float = 0.0
    event: Literal["EntitiesLinked"] = "EntitiesLinked"


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
    event: Literal["ConstraintReady"] = "ConstraintReady"


@dataclass(frozen=True, slots=True)
class DecodeStep:
    """One step of a beam search, in the constrained branch or in the free one beside it."""

    constrained: bool
    number: int
    choices: tuple[TokenChoice, ...]
    watched: tuple[BeamWatch, ...] = ()
    paths_left: int = 0
    t: float = 0.0
    event: Literal["DecodeStep"] = "DecodeStep"


@dataclass(frozen=True, slots=True)
class PathFound:
    """A finished path. ``path`` is None where free text is no path; ``index`` counts from 1 in each branch.

    Attributes:
        read: it was not decoded but read from the graph: decoded relations lead there too, or the model was never
            trained on a relation of its.
        weighed: the features that paths were ranked by, with what each adds to this one's score; may be empty.
    """

    constrained: bool
    index: int
    text: str
    score: float
    path: Path | None = None
    beam: int = -1
    relation_score: float = 0.0
    read: bool = False
    weighed: tuple[tuple[str, float], ...] = ()
    t: float = 0.0
    event: Literal["PathFound"] = "PathFound"


@dataclass(frozen=True, slots=True)
class PathVerified:
    """The verifier's judgement of a path."""

    constrained: bool
    index: int
    verdict: Verdict
    t: float = 0.0
    event: Literal["PathVerified"] = "PathVerified"


@dataclass(frozen=True, slots=True)
class HypothesisAnswer:
    """The answer the path model wrote after a path (GCR section 4.3)."""

    constrained: bool
    index: int
    text: str
    t: float = 0.0
    event: Literal["HypothesisAnswer"] = "HypothesisAnswer"


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
    event: Literal["Thought"] = "Thought"


@dataclass(frozen=True, slots=True)
class CandidatesScored:
    """Options weighed at a decision, best first; ``kept`` says which go on."""

    decision: str
    options: tuple[str, ...]
    scores: tuple[float, ...]
    kept: tuple[bool, ...]
    by: str
    t: float = 0.0
    event: Literal["CandidatesScored"] = "CandidatesScored"


@dataclass(frozen=True, slots=True)
class DeductionChecked:
    """Whether a statement follows from premises, as a reasoner sees it."""

    statement: str
    premises: tuple[str, ...]
    holds: bool
    by: str
    t: float = 0.0
    event: Literal["DeductionChecked"] = "DeductionChecked"


@dataclass(frozen=True, slots=True)
class LMCall:
    """One question put to a language model; ``calls`` is 2 when it had to be asked again.

    ``passes``: forward passes through a model of this process, as far as they are counted. ``cost``: in money, where
    prices are known.
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
    cost: float = 0.0
    t: float = 0.0
    event: Literal["LMCall"] = "LMCall"


@dataclass(frozen=True, slots=True)
class Waiting:
    """A language model has been asked and says nothing yet; told once a second, and a run can be stopped there.

    Attributes:
        by: who was asked.
        seconds: for how long.
    """

    by: str
    seconds: float
    t: float = 0.0
    event: Literal["Waiting"] = "Waiting"


@dataclass(frozen=True, slots=True)
class AnswerDelta:
    """The next piece of the streamed answer."""

    text: str
    t: float = 0.0
    event: Literal["AnswerDelta"] = "AnswerDelta"


@dataclass(frozen=True, slots=True)
class Operand:
    """One thing that an operation works on.

    Attributes:
        entity: what it is.
        paths: the grounded paths by which the graph leads to it; none where it is a topic, or one of all of a kind.
        attribute: of which it has a value: an attribute of the graph's literals, or a relation to a year.
        value, unit: the value as the source states it; see ``kg.labels``.
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
    event: Literal["Operation"] = "Operation"


@dataclass(frozen=True, slots=True)
class Answerability:
    """What the calibrated abstention says of the paths, before anything is answered from them.

    Attributes:
        log_odds: that the best path does not answer, see ``ranking.abstention``; above 0 the answer is refused.
        missing: the relation that the model looks for and the graph does not state here, where that is the reason.
    """

    log_odds: float
    missing: str = ""
    t: float = 0.0
    event: Literal["Answerability"] = "Answerability"


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
    event: Literal["AnswerFinal"] = "AnswerFinal"


@dataclass(frozen=True, slots=True)
class NextQuestions:
    """What can be asked next; added to a run for those who show it (``view.next_questions.with_next``)."""

    questions: tuple[str, ...]
    t: float = 0.0
    event: Literal["NextQuestions"] = "NextQuestions"


class PictureNode(TypedDict):
    """An entity in the picture and its place there."""

    id: str
    label: str
    group: str
    x: int
    y: int
    title: NotRequired[str]


PictureEdge = TypedDict(  # "from" is a keyword: the other form cannot name it
    "PictureEdge",
    {
        "id": str,
        "from": str,
        "to": str,
        "kind": str,
        "bend": int,
        "paths": list[str],
        "label": str,
        "title": NotRequired[str],
    },
)


@dataclass(frozen=True, slots=True)
class Picture:
    """What the picture of the run gains; added to a run for those who draw it (``view.picture.with_picture``).

    Attributes:
        nodes, edges: new ones, and those that look different now.
        gone: ids of nodes that are no longer shown.
        left_out: how many nodes there was no room for so far.
    """

    nodes: tuple[PictureNode, ...] = ()
    edges: tuple[PictureEdge, ...] = ()
    gone: tuple[str, ...] = ()
    left_out: int = 0
    t: float = 0.0
    event: Literal["Picture"] = "Picture"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the visitor should know that does not end the run."""

    text: str
    t: float = 0.0
    event: Literal["Notice"] = "Notice"


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
    event: Literal["RunFinished"] = "RunFinished"


@dataclass(frozen=True, slots=True)
class RunFailed:
    """The run stopped with a message for the user; what came before stays."""

    message: str
    t: float = 0.0
    event: Literal["RunFailed"] = "RunFailed"


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
    Waiting,
    AnswerDelta,
    Operation,
    Answerability,
    AnswerFinal,
    NextQuestions,
    Picture,
    Notice,
    RunFinished,
    RunFailed,
]


@dataclass(slots=True)
class RunTotals:
    """What a run has cost, added up over its events."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    stage_ms: dict[str, float] = field(default_factory=dict)

    def see(self, event: Event) -> None:
        """Add what one event cost."""
        if isinstance(event, LMCall):
            self.calls += event.calls
            self.tokens_in += event.tokens_in
            self.tokens_out += event.tokens_out
            self.stage_ms[event.purpose] = self.stage_ms.get(event.purpose, 0.0) + 1000 * event.seconds
        elif isinstance(event, EntitiesLinked):
            self.stage_ms["linking"] = event.ms
        elif isinstance(event, ConstraintReady):
            self.stage_ms["constraint"] = event.ms

    def finished(self, seconds: float, look_ahead: str) -> RunFinished:
        """The end of the run; the arguments are fields of ``RunFinished``."""
        return RunFinished(seconds, self.calls, self.tokens_in, self.tokens_out, self.stage_ms, look_ahead, t=seconds)


def to_json(event: Event) -> str:
    """One event as one line of JSON, its kind first."""
    return json.dumps({"event": event.event, **asdict(event)}, ensure_ascii=False)


def from_json(line: str) -> Event:
    """Read an event back.

    Raises:
        UserError: the line is not an event of this schema; what is wrong with it is said.
    """
    from pydantic import ValidationError

    try:
        return _reader().validate_json(line)
    except ValidationError as error:
        raise UserError(f"This is not a recorded trace of this demo ({_reason(error)}).") from error


def union_adapter(*kinds: Any) -> TypeAdapter[Any]:
    """pydantic's reader of a union of kinds told apart by ``event``; it converts nothing and allows no other fields."""
    from pydantic import ConfigDict, Field, TypeAdapter

    strict = ConfigDict(strict=True, extra="forbid")
    return TypeAdapter(Annotated[Union[kinds], Field(discriminator="event")], config=strict)


@cache
def _reader() -> TypeAdapter[Event]:
    """Made when a trace is read: a run only writes events and does not wait for pydantic."""
    return union_adapter(*get_args(Event))


def _reason(error: ValidationError) -> str:
    """The first thing that is wrong, with the field's name."""
    first = error.errors(include_url=False)[0]
    *outer, name = (str(part) for part in first["loc"] or ("",))
    where = ".".join([*outer, name])
    if first["type"] == "union_tag_invalid":
        return f"there is no event called {str(first['ctx']['tag'])[:40]!r}"
    if not where:
        return "a line names no event"
    if first["type"] == "missing":
        return f"{where} is missing"
    if first["type"] == "unexpected_keyword_argument":
        return f"{'.'.join(outer)} has no field {name[:40]!r}"
    return f"{where} is {str(first['input'])[:40]!r}: {first['msg'][:1].lower()}{first['msg'][1:]}"
