"""What the page is sent of each event: the same record as in a trace, less what it does not show.

A run of ten beams and forty tokens would be megabytes in full; the page needs names, a few candidates
of the best beams and numbers to three places. Whole traces can be had from the run itself.

The browser checks each record that it reads from a file by ``schema``, which stands beside the scripts:
``python -m kgdemo.view.page_records`` writes it anew.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from enum import Enum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from kgdemo.events import (
    BeamWatch,
    CandidatesScored,
    DecodeStep,
    Event,
    Fate,
    LMCall,
    Operand,
    Operation,
    union_adapter,
)
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io.catalogue import embedded_folder, embedded_names, themes
from kgdemo.kg.xray import x_ray
from kgdemo.view.escape import visible

if TYPE_CHECKING:
    from pydantic import TypeAdapter

LONGEST = 2000  # characters of one text; a hostile label of 10 kB must not fill the page
EXPLAINED = 3  # beams of a step whose forbidden and allowed tokens are shown
TOKENS = 4  # of each of them
PRUNED = 4  # discarded tokens of a step that are shown
OPTIONS = 16  # options of a decision, best first
OPERANDS = 100  # operands of a calculation, those of the result before others
SCHEMA_FILE = "js/files/schema.js"  # in the folder of assets

Record = dict[str, Any]
_FATES: dict[Fate, Literal["k", "p", "f"]] = {"kept": "k", "pruned": "p", "finished": "f"}


class ChoiceRow(NamedTuple):
    """A token of a step."""

    beam: int
    parent: int
    text: str
    log_prob: float
    score: float
    fate: Literal["k", "p", "f"]
    token: int


class MaskedRow(NamedTuple):
    """A forbidden token."""

    text: str
    prob: float
    reason: str


class AllowedRow(NamedTuple):
    """A token that may follow."""

    text: str
    prob: float
    share: float
    token: int


@dataclass(frozen=True, slots=True)
class WatchRecord:
    """A beam; without its tokens where it is not one of the best."""

    beam: int
    allowed: int
    paths_left: int
    forbidden_mass: float
    masked: tuple[MaskedRow, ...] | None = None
    top: tuple[AllowedRow, ...] | None = None


@dataclass(frozen=True, slots=True)
class StepRecord:
    """What is sent of a ``DecodeStep``."""

    constrained: bool
    number: int
    choices: tuple[ChoiceRow, ...]
    watched: tuple[WatchRecord, ...] = ()
    paths_left: int = 0
    t: float = 0.0
    event: Literal["DecodeStep"] = "DecodeStep"


@dataclass(frozen=True, slots=True)
class OptionsRecord(CandidatesScored):
    """``CandidatesScored`` with the number of options that are not sent."""

    left_out: int = 0


@dataclass(frozen=True, slots=True)
class OperandRecord(Operand):
    """An operand with its place among all of them, from 1 on."""

    number: int = 0


@dataclass(frozen=True, slots=True)
class OperationRecord(Operation):
    """``Operation`` with the number of operands that are not sent."""

    operands: tuple[OperandRecord, ...]
    left_out: int = 0


def record_adapter() -> TypeAdapter[Any]:
    """pydantic's reader of records."""
    instead = {DecodeStep: StepRecord, CandidatesScored: OptionsRecord, Operation: OperationRecord}
    return union_adapter(*(instead.get(kind, kind) for kind in get_args(Event)))


def schema() -> dict[str, Any]:
    """The JSON schema of a record; ``kinds`` leads from ``event`` to the definition of its kind."""
    whole = record_adapter().json_schema()
    return {"kinds": whole["discriminator"]["mapping"], "$defs": _without_notes(whole["$defs"])}


def schema_script() -> str:
    """The schema as a script, since browsers load no JSON from a disk; one line a definition."""
    head = "// What the records of a run look like, as JSON schema. Written by `python -m kgdemo.view.page_records`."
    parts = {"kinds": schema()["kinds"], **schema()["$defs"]}
    kinds, *definitions = (f"{json.dumps(name)}: {json.dumps(part)}," for name, part in parts.items())
    lines = [
        head,
        "export const SCHEMA = {",
        f"  {kinds}",
        '  "$defs": {',
        *(f"    {d}" for d in definitions),
        "  },",
        "};",
    ]
    return "\n".join(lines) + "\n"


def _without_notes(definition: Any) -> Any:
    """A schema without titles and descriptions: the classes have them."""
    if isinstance(definition, dict):
        notes = {name for name in ("title", "description") if isinstance(definition.get(name), str)}
        return {name: _without_notes(part) for name, part in definition.items() if name not in notes}
    return [_without_notes(part) for part in definition] if isinstance(definition, list) else definition


def record(event: Event) -> Record:
    """The event as the page gets it."""
    shown = _shown(event)
    result: Record = {"event": shown.event}
    result.update(_lean(shown))
    return result


def _shown(event: Event) -> Event | StepRecord:
    """The part of the event that the page shows."""
    if isinstance(event, DecodeStep):
        best = _best_first(event)
        watched = tuple(_watch(watch, place in best) for place, watch in enumerate(event.watched))
        return StepRecord(event.constrained, event.number, _choices(event), watched, event.paths_left, event.t)
    if isinstance(event, CandidatesScored):
        options, scores, kept = event.options[:OPTIONS], event.scores[:OPTIONS], event.kept[:OPTIONS]
        left_out = len(event.options) - len(options)
        return OptionsRecord(event.decision, options, scores, kept, event.by, event.t, left_out=left_out)
    if isinstance(event, Operation):
        operands = _operands(event)
        return OperationRecord(
            event.kind, event.text, operands, event.result, event.argument, event.verified, event.t,
            left_out=len(event.operands) - len(operands),
        )  # fmt: skip
    if isinstance(event, LMCall):
        return replace(event, prompt=visible(event.prompt, LONGEST), output=visible(event.output, LONGEST))
    return event


def _choices(step: DecodeStep) -> tuple[ChoiceRow, ...]:
    """All tokens that go on, and some that do not."""
    going = [c for c in step.choices if c.fate != "pruned"]
    pruned = [c for c in step.choices if c.fate == "pruned"][:PRUNED]
    return tuple(
        ChoiceRow(c.beam, c.parent, c.text, round(c.log_prob, 2), round(c.score, 2), _FATES[c.fate], c.token)
        for c in going + pruned
    )


def _operands(operation: Operation) -> tuple[OperandRecord, ...]:
    """Those that are shown, in their order."""
    numbered = [
        OperandRecord(o.entity, o.paths, o.attribute, o.value, o.unit, number)
        for number, o in enumerate(operation.operands, 1)
    ]
    first = sorted(numbered, key=lambda operand: operand.entity not in operation.result)[:OPERANDS]
    return tuple(sorted(first, key=lambda operand: operand.number))


def _best_first(step: DecodeStep) -> set[int]:
    """Places of the beams that the best choices continue; beams without any choice come last."""
    parents = [c.parent for c in sorted(step.choices, key=lambda c: -c.score)]
    rank = {beam: place for place, beam in reversed(list(enumerate(parents)))}
    places = sorted(range(len(step.watched)), key=lambda i: rank.get(step.watched[i].beam, len(parents)))
    return set(places[:EXPLAINED])


def _watch(watch: BeamWatch, explained: bool) -> WatchRecord:
    masked = tuple(MaskedRow(m.text, m.prob, m.reason) for m in watch.masked[:TOKENS]) if explained else None
    top = tuple(AllowedRow(a.text, a.prob, a.share, a.token) for a in watch.top[:TOKENS]) if explained else None
    return WatchRecord(watch.beam, watch.allowed, watch.paths_left, watch.forbidden_mass, masked, top)


def _lean(value: Any) -> Any:
    """As JSON has it: floats to four places, texts without invisible marks and of bounded length, no empty fields."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, Enum):
        return _lean(value.value)
    if isinstance(value, str):
        return visible(value, LONGEST)
    if isinstance(value, (list, tuple)):
        return [_lean(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _lean(item) for key, item in value.items() if item is not None}
    names = getattr(type(value), "__dataclass_fields__", ())
    if names:
        return {name: _lean(item) for name in names if (item := getattr(value, name)) is not None}
    return value


# the x-ray of a graph ----------------------------------------------------------------------------------

_NAME = 200  # characters of a name


def x_ray_record(kg: KnowledgeGraph) -> dict[str, Any]:
    """What ``kg.xray`` counts, and ``themes``: the themes of an embedded graph with their numbers of facts."""
    told = asdict(x_ray(kg))
    for relation in told["relations"]:
        relation["relation"] = visible(relation["relation"], _NAME)
        relation["kind"] = visible(relation["kind"], _NAME)
    for name in ("kinds", "hubs"):
        told[name] = [[visible(label, _NAME), number] for label, number in told[name]]
    return {**told, "name": visible(kg.name, _NAME), "themes": facts_of_themes(kg.name)}


@cache
def facts_of_themes(graph: str) -> dict[str, int]:
    """Theme -> number of its facts; empty for a graph that is not embedded."""
    if graph not in embedded_names():
        return {}
    files = themes(embedded_folder(graph))
    return {file.stem: sum(bool(line.strip()) for line in file.read_text("utf-8").split("\n")) for file in files}


if __name__ == "__main__":
    Path(__file__).resolve().parents[2].joinpath("assets", SCHEMA_FILE).write_text(schema_script(), "utf-8")
