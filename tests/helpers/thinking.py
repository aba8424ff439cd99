"""A run of a method that thinks aloud, written by hand: what was looked at, kept, joined and dropped, and why."""

from __future__ import annotations

import json
from collections.abc import Sequence

from kgdemo.events import (
    AnswerDelta,
    AnswerFinal,
    CandidatesScored,
    DeductionChecked,
    EntitiesLinked,
    Event,
    LMCall,
    PathFound,
    PathVerified,
    RunFinished,
    RunStarted,
    Thought,
)
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.ui.runs import records
from kgdemo.verify import Verifier
from tests.helpers.small import QUESTION, TRIPLES

KG = KnowledgeGraph.from_triples(TRIPLES, "world")
DIRECTED = ("Inception", "directed by", "Christopher Nolan")
BORN = ("Christopher Nolan", "born in", "London")
STARRING = ("Inception", "starring", "Elliot Page")
REASON = "two likelier thoughts were kept"


def thinking(written: str = "London", by: str = "a model", more: Sequence[Event] = ()) -> list[Event]:
    """The events of the run; ``written`` is what a model says in its thoughts, reasons, options and answer."""
    text = f"Inception -> {DIRECTED[1]} -> Christopher Nolan -> {BORN[1]} -> London"
    path, verdict = Verifier(StatedFacts(TRIPLES)).verify_text(text)
    options = ("Inception -> starring -> Leonardo DiCaprio", f"Inception -> {written}")
    return [
        RunStarted(QUESTION, "agent-got", "world", len(KG), "embedded", 10, 2),
        EntitiesLinked((), ("Inception",)),
        LMCall(by, "plan", written, written, 5, 5, 0.1),
        CandidatesScored("entities", ("go on", *options), (0.9, 0.4, 0.1), (True, False, False), by),
        Thought("thought", 1, (), f"Who directed it? {written}"),
        Thought("action", 2, (1,), "NeighbourCheck[Inception, directed by]"),
        Thought("observation", 3, (2,), "Christopher Nolan", ("Christopher Nolan",), (DIRECTED,)),
        Thought("thought", 4, (), "Who is in it?"),
        Thought("observation", 5, (4,), "Elliot Page", ("Elliot Page",), (STARRING,)),
        Thought("thought", 6, (3, 5), "Put both together.", ("London",), (BORN,), 0.8, "merged"),
        Thought("thought", 1, (), f"Who directed it? {written}", (), (), 0.9, "kept", "rated best"),
        Thought("thought", 4, (), "Who is in it?", (), (), 0.2, "pruned", f"{REASON} {written}"),
        Thought("observation", 5, (4,), "Elliot Page", ("Elliot Page",), (STARRING,), 0.0, "pruned"),
        DeductionChecked(f"It follows: {written}", (written,), False, by),
        *more,
        PathFound(True, 1, text, -0.5, path),
        PathVerified(True, 1, verdict),
        AnswerDelta(f"{written} [1]"),
        AnswerFinal(f"{written} [1]", (written,), ((1,),), by, (written,)),
        RunFinished(1.0, 3, 20, 20),
    ]


def as_trace(events: Sequence[Event]) -> str:
    """The run as the page saves it."""
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one, _ in records(events, lambda: KG))
