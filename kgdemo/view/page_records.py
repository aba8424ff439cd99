"""What the page is sent of each event: the same record as in a trace, less what it does not show.

A run of ten beams and forty tokens would be megabytes in full; the page needs names, a few candidates
of the best beams and numbers to three places. Whole traces can be had from the run itself.
"""

from __future__ import annotations

import json
from typing import Any

from kgdemo.events import BeamWatch, CandidatesScored, DecodeStep, Event, LMCall, Operation, to_json
from kgdemo.view.escape import visible

LONGEST = 2000  # characters of one text; a hostile label of 10 kB must not fill the page
EXPLAINED = 3  # beams of a step whose forbidden and allowed tokens are shown
TOKENS = 4  # of each of them
PRUNED = 4  # discarded tokens of a step that are shown
OPTIONS = 16  # options of a decision, best first
OPERANDS = 100  # operands of a calculation, those of the result before others

Record = dict[str, Any]


def record(event: Event) -> Record:
    """The event as the page gets it."""
    body: Record = json.loads(to_json(event))
    if isinstance(event, DecodeStep):
        body["choices"] = _choices(event)
        order = _best_first(event)
        body["watched"] = [_watch(w, place in order) for place, w in enumerate(event.watched)]
    elif isinstance(event, CandidatesScored):
        body["left_out"] = max(0, len(event.options) - OPTIONS)
        for name in ("options", "scores", "kept"):
            body[name] = body[name][:OPTIONS]
    elif isinstance(event, Operation):
        body["left_out"] = max(0, len(event.operands) - OPERANDS)
        body["operands"] = _operands(event, body["operands"])
    elif isinstance(event, LMCall):
        body["prompt"], body["output"] = visible(event.prompt, LONGEST), visible(event.output, LONGEST)
    result: Record = _lean(body)
    return result


def _choices(step: DecodeStep) -> list[list[Any]]:
    """Each as ``[beam, parent, token text, log-probability, score, fate's first letter, token id]``."""
    going = [c for c in step.choices if c.fate != "pruned"]
    pruned = [c for c in step.choices if c.fate == "pruned"][:PRUNED]
    return [
        [c.beam, c.parent, c.text, round(c.log_prob, 2), round(c.score, 2), c.fate[0], c.token] for c in going + pruned
    ]


def _operands(operation: Operation, operands: list[Record]) -> list[Record]:
    """Those that are shown, in their order, each with its ``number`` from 1 on."""
    numbered = [{"number": number, **operand} for number, operand in enumerate(operands, 1)]
    first = sorted(numbered, key=lambda operand: operand["entity"] not in operation.result)[:OPERANDS]
    return sorted(first, key=lambda operand: operand["number"])


def _best_first(step: DecodeStep) -> set[int]:
    """Places of the beams that the best choices continue; beams without any choice come last."""
    parents = [c.parent for c in sorted(step.choices, key=lambda c: -c.score)]
    rank = {beam: place for place, beam in reversed(list(enumerate(parents)))}
    places = sorted(range(len(step.watched)), key=lambda i: rank.get(step.watched[i].beam, len(parents)))
    return set(places[:EXPLAINED])


def _watch(watch: BeamWatch, explained: bool) -> Record:
    body: Record = {
        "beam": watch.beam,
        "allowed": watch.allowed,
        "paths_left": watch.paths_left,
        "forbidden_mass": watch.forbidden_mass,
    }
    if explained:
        body["masked"] = [[m.text, m.prob, m.reason] for m in watch.masked[:TOKENS]]
        body["top"] = [[a.text, a.prob, a.share, a.token] for a in watch.top[:TOKENS]]
    return body


def _lean(value: Any) -> Any:
    """Floats to four places, texts without invisible marks and of bounded length."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, str):
        return visible(value, LONGEST)
    if isinstance(value, list):
        return [_lean(item) for item in value]
    if isinstance(value, dict):
        return {key: _lean(item) for key, item in value.items()}
    return value
