"""What programs may call: four plain functions, also offered as MCP tools where gradio's extra is installed."""

from __future__ import annotations

import inspect
from contextlib import closing
from dataclasses import asdict, replace
from typing import Any

import gradio as gr
from gradio.context import LocalContext
from gradio.events import api

from kgdemo.errors import UserError
from kgdemo.events import AnswerFinal, EntitiesLinked, Event, Notice, PathFound, PathVerified, RunFailed, RunFinished
from kgdemo.settings import Settings, Shown, shown
from kgdemo.ui.asking import Server, default_model, settings_of
from kgdemo.ui.guard import Refused, address_of

STANDARD = Settings()
_LONGEST_PATH = 2000


class Endpoints:
    """The public functions of one server."""

    def __init__(self, server: Server) -> None:
        self.server, self.pipeline = server, server.pipeline

    def register(self) -> None:
        """Add the endpoints to the page being built; questions share the queue of the page's own."""
        api(self.ask, api_name="ask", concurrency_id="lm")
        api(self.paths, api_name="paths", concurrency_id="lm")
        api(self.verify_path, api_name="verify_path")
        api(self.link, api_name="link")

    @classmethod
    def settings(cls) -> dict[str, list[str]]:
        """The names of the settings that each endpoint takes, read off its signature."""
        known = [setting.name for setting in shown(Shown.API)]
        endpoints = (cls.ask, cls.paths, cls.verify_path, cls.link)
        return {
            call.__name__: [name for name in inspect.signature(call).parameters if name in known] for call in endpoints
        }

    def ask(
        self,
        question: str,
        graph: str = STANDARD.graph,
        method: str = STANDARD.method,
        beams: int = STANDARD.beams,
        hops: int = STANDARD.hops,
        options: str = "",
        request: gr.Request | None = None,
    ) -> dict[str, Any]:
        """Answer a question from a knowledge graph, with the reasoning paths that support the answer.

        Args:
            question: a question that names at least one entity of the graph.
            graph: name of an embedded knowledge graph.
            method: reasoning method, for example gcr.
            beams: number of reasoning paths (K).
            hops: longest reasoning path (L).
            options: the method's own settings, as "name=value, name=value".

        Returns:
            answer text, answers, cited paths, linked entities, what the page would point out, and what the run cost.
        """
        events = self._run(question, request, graph=graph, method=method, beams=beams, hops=hops, options=options)
        final = next((e for e in events if isinstance(e, AnswerFinal)), None)
        cost = next((e for e in events if isinstance(e, RunFinished)), None)
        return {
            "answer": final.text if final else "",
            "answers": list(final.answers) if final else [],
            "citations": [list(c) for c in final.citations] if final else [],
            "places": list(final.places) if final else [],
            "completed": list(final.completed) if final else [],
            "by": final.by if final else "",
            "entities": [name for e in events if isinstance(e, EntitiesLinked) for name in e.chosen],
            "paths": _paths(events),
            "notices": [e.text for e in events if isinstance(e, Notice)],
            "seconds": cost.seconds if cost else 0.0,
            "lm_calls": cost.lm_calls if cost else 0,
        }

    def paths(
        self,
        question: str,
        graph: str = STANDARD.graph,
        beams: int = STANDARD.beams,
        hops: int = STANDARD.hops,
        request: gr.Request | None = None,
    ) -> list[dict[str, Any]]:
        """Decode the reasoning paths for a question; each one exists in the knowledge graph.

        Args:
            question: a question that names at least one entity of the graph.
            graph: name of an embedded knowledge graph.
            beams: number of reasoning paths (K).
            hops: longest reasoning path (L).

        Returns:
            paths, best first, each with its text, score and whether every hop was verified.
        """
        return _paths(self._run(question, request, graph=graph, beams=beams, hops=hops))

    def verify_path(self, path: str, graph: str = STANDARD.graph) -> dict[str, Any]:
        """Check a written path, "entity -> relation -> entity …", hop by hop against a knowledge graph.

        Args:
            path: the path as text, its parts joined by arrows.
            graph: name of an embedded knowledge graph.

        Returns:
            the path as the graph spells it, a verdict for each hop, and whether all of them hold.
        """
        settings = self._settings(graph=graph)
        if len(_text("path", path)) > _LONGEST_PATH:
            raise Refused(f"The path has {len(path)} characters; at most {_LONGEST_PATH} can be checked.", "values")
        found, verdict = self.pipeline.resources(settings).verifier.verify_text(path)
        hops = [{**asdict(hop), "verdict": hop.verdict.value} for hop in verdict.hops]
        return {"text": str(found) if found else None, "faithful": verdict.faithful, "hops": hops}

    def link(self, question: str, graph: str = STANDARD.graph) -> dict[str, Any]:
        """Find the entities of a knowledge graph that a question names.

        Args:
            question: free text.
            graph: name of an embedded knowledge graph.

        Returns:
            mentions with their candidates, the entities chosen, and the nearest names where none was found.
        """
        if len(_text("question", question)) > self.pipeline.profile.question:
            raise Refused(
                f"The question is longer than {self.pipeline.profile.question} characters; shorten it.", "values"
            )
        linked = self.pipeline.linker(self._settings(graph=graph).graph).link(question)
        return {
            "mentions": [asdict(mention) for mention in linked.mentions],
            "chosen": list(linked.chosen),
            "nearest": [candidate.entity for candidate in linked.nearest],
        }

    def _run(self, question: str, request: gr.Request | None, **values: Any) -> list[Event]:
        _text("question", question)
        try:
            self.server.visits.count(address_of(request))
        except UserError as error:
            raise Refused(error) from None
        settings = replace(self._settings(**values), compare=False, explain=0)
        events: list[Event] = []
        with closing(self.server.runs.run(question, settings)) as running:
            for event in running:
                events.append(event)
                if _asker_has_gone():
                    raise Refused("Nobody waits for this answer any more.")
        failed = next((e.message for e in events if isinstance(e, RunFailed)), None)
        if failed:
            raise Refused(failed)
        return events

    def _settings(self, **values: Any) -> Settings:
        """The settings of a call; a program may name only what is embedded, at home too."""
        for name in ("graph", "method", "options"):
            if values.get(name) is not None:
                _text(name, values[name])
        try:
            settings = settings_of(values, replace(self.pipeline.profile, open_models=False))
        except UserError as error:
            raise Refused(error, "settings") from None
        return replace(settings, model=default_model())


def _text(name: str, value: object) -> str:
    """The value of a parameter, which has to be a text; programs may send anything."""
    if not isinstance(value, str):
        raise Refused(f"The parameter {name} has to be a text; write it in quotes.", "values")
    return value


def _asker_has_gone() -> bool:
    """Whether the connection that waits for this call's answer was closed; gradio marks the call in its queue."""
    page, event_id = LocalContext.blocks.get(None), LocalContext.event_id.get(None)
    if page is None or event_id is None:
        return False
    waiting = page._queue.event_ids_to_events.get(event_id)
    return waiting is not None and not waiting.alive


def _paths(events: list[Event]) -> list[dict[str, Any]]:
    sure = {e.index for e in events if isinstance(e, PathVerified) and e.constrained and e.verdict.faithful}
    return [
        {"index": e.index, "text": e.text, "score": round(e.score, 4), "verified": e.index in sure}
        for e in events
        if isinstance(e, PathFound) and e.constrained
    ]
