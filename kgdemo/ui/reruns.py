"""A question asked again on a changed graph, for its answer alone: what the page compares when the world is broken.

Such a run is not shown, so nothing of it is sent but the answer and the edges that it rests on. It counts as a question
of its visitor, and only one is made at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any

from kgdemo.events import AnswerFinal, Event, PathFound, RunFailed
from kgdemo.kg.path import Path
from kgdemo.pipeline import Pipeline
from kgdemo.ui.asking import Visits, ask
from kgdemo.ui.fields import NAMES, Fields
from kgdemo.ui.runs import SharedRuns
from kgdemo.ui.session_graphs import SessionGraphs
from kgdemo.view.escape import visible

_WAIT = 60.0  # seconds for another visitor's
_LONGEST = 400  # characters of a sentence
_MOST_ANSWERS = 200


class Reruns:
    """Asks again.

    Args:
        pipeline: answers the questions.
        session_graphs: makes the changed graphs.
        visits: counts what visitors ask.
        runs: shared by all visitors.
    """

    def __init__(self, pipeline: Pipeline, session_graphs: SessionGraphs, visits: Visits, runs: SharedRuns) -> None:
        self._pipeline = pipeline
        self._session_graphs = session_graphs
        self._visits = visits
        self._runs = runs
        self._one = threading.Semaphore(1)

    def answer(self, asked: Mapping[str, Any], address: str) -> dict[str, Any]:
        """The answer to a question on a changed graph.

        Args:
            asked: ``question``; ``values`` of the page's fields by name; ``changes``, as the page sends them with a
                question; ``entities`` to start from, linked from the question where there are none.
            address: the visitor's.

        Returns:
            ``answers``, ``text``, and ``edges``, the hops of the paths that the answer cites; or ``error``.
        """
        given, named = asked.get("values"), asked.get("entities")
        values = {name: value for name, value in given.items() if name in NAMES[1:]} if isinstance(given, dict) else {}
        entities = [str(name) for name in named][:20] if isinstance(named, list) else []
        fields = Fields(str(asked.get("question", "")), {**values, "compare": False}, str(asked.get("changes", "")))
        if not self._one.acquire(timeout=_WAIT):
            return {"error": "Others are breaking the world just now; try again in a minute."}
        try:
            events = ask(self._pipeline, fields, entities, self._session_graphs, (), self._visits, address, self._runs)
            return _told(events)
        finally:
            self._one.release()


def _told(events: Iterable[Event]) -> dict[str, Any]:
    paths: dict[int, Path] = {}
    final: AnswerFinal | None = None
    for event in events:
        if isinstance(event, PathFound) and event.constrained and event.path is not None:
            paths[event.index] = event.path
        elif isinstance(event, AnswerFinal):
            final = event
        elif isinstance(event, RunFailed):
            return {"error": visible(event.message, _LONGEST)}
    if final is None:
        return {"error": "The run ended without an answer."}
    cited = dict.fromkeys(number for citation in final.citations for number in citation if number in paths)
    edges = dict.fromkeys(hop for number in cited for hop in paths[number].hops)
    return {
        "answers": [visible(answer, _LONGEST) for answer in final.answers[:_MOST_ANSWERS]],
        "text": visible(final.text, _LONGEST),
        "edges": [list(edge) for edge in edges],
    }
