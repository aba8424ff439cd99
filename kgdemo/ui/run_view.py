"""The stage below the fields: what it is given at its making, and what it may ask the server for."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import gradio as gr

from kgdemo.errors import UserError
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io.catalogue import embedded_names
from kgdemo.methods import METHODS
from kgdemo.pipeline import Pipeline
from kgdemo.ui import assets
from kgdemo.ui.api import Endpoints
from kgdemo.ui.asking import Loading, Visits, names_like
from kgdemo.ui.event_stream import EventStream
from kgdemo.ui.fields import NAMES
from kgdemo.ui.guard import address_of
from kgdemo.ui.reruns import Reruns
from kgdemo.ui.session_graphs import ClientGraph, SessionGraphs, Visitor, limits
from kgdemo.view.escape import json_in_html
from kgdemo.view.surroundings import neighbours_of
from kgdemo.view.xray_record import x_ray_record

_LONGEST = 100  # characters of what is typed in a search field

# The stage's template is constant: gradio evaluates templates as code, so no text of anyone's may enter it.
_TEMPLATE = '<div class="kg-stage" id="kg-stage"></div>'
_ON_LOAD = """
const boot = JSON.parse(props.value);
const stage = element.querySelector('#kg-stage');
import(new URL(boot.main, document.baseURI).href).then((page) => page.mount({
  stage, boot, server, watch, value: () => props.value, again: (data) => trigger('again', data),
}));
"""


def has_mcp() -> bool:
    """Whether the package that serves MCP tools is installed."""
    return importlib.util.find_spec("mcp") is not None


def make_run_view(
    pipeline: Pipeline,
    event_stream: EventStream,
    session_graphs: SessionGraphs,
    visits: Visits,
    reruns: Reruns,
    loading: Loading,
    text: dict[str, Any],
    standard: list[Any],
) -> gr.HTML:
    """The element that draws runs.

    Args:
        pipeline: answers the questions.
        event_stream: the runs under way.
        session_graphs: visitors' graphs.
        visits: counts what visitors ask for.
        reruns: asks again on a changed graph.
        loading: how far the server has come with its loading.
        text: all words of the page.
        standard: what stands in the fields at first, in the order of ``NAMES``.
    """
    boot = {
        "main": assets.url(assets.ASSETS / "js" / "main.js"),
        "frame": assets.frame(),
        "text": text,
        "examples": assets.examples(),
        "failures": assets.examples(assets.FAILED),
        "chat": pipeline.chat.name,
        "methods": [
            {"name": card.name, "title": card.title, "constrained": card.constrained} for card in METHODS.values()
        ],
        "drivable": [card.name for card in METHODS.values() if card.drivable],
        "limits": limits(pipeline),
        "fields": NAMES,
        "standard": dict(zip(NAMES, standard, strict=True)),
        "endpoints": Endpoints.settings(),
        "mcp": has_mcp(),
        "graphs": embedded_names(),
        "reliability": assets.reliability(),
    }

    def missed(arguments: Any) -> str:
        have = _fields(arguments).get("have")
        return event_stream.missed(_text(arguments, "run"), have if isinstance(have, int) else 0)

    def graph_of(arguments: Any) -> KnowledgeGraph:
        """The graph of the run that is shown; a recorded one was asked on an embedded graph."""
        name = _text(arguments, "graph")
        try:
            shown = event_stream.graph(_text(arguments, "run"))
        except UserError:  # a visitor's graph that has been forgotten
            shown = None
        return shown or pipeline.graph(name if name in embedded_names() else "world")

    def entities(arguments: Any) -> list[str]:
        return names_like(graph_of(arguments).entities, _text(arguments, "written"))

    def relations(arguments: Any) -> list[str]:
        return names_like(graph_of(arguments).relations, _text(arguments, "written"))

    def change(arguments: Any) -> dict[str, Any]:
        return session_graphs.tried(graph_of(arguments), json.dumps({"edits": _fields(arguments).get("edits")}))

    def bring(arguments: Any, request: gr.Request) -> dict[str, Any]:
        visitor = Visitor(address_of(request), _text(arguments, "visitor"))
        try:
            visits.count(visitor.address)
        except UserError as error:
            return {"error": str(error)}
        return session_graphs.brought(_fields(arguments), visitor)

    def rerun(arguments: Any, request: gr.Request) -> dict[str, Any]:
        return reruns.answer(_fields(arguments), address_of(request))

    def xray(arguments: Any) -> dict[str, Any]:
        named = _text(arguments, "graph")
        known = named in embedded_names() or (named and pipeline.profile.open_models)
        try:
            changes = ClientGraph.read(str(_fields(arguments).get("changes") or ""))
            return x_ray_record(pipeline.graph(session_graphs.source(named if known else "world", changes)))
        except UserError as error:
            return {"error": str(error)}

    def near(arguments: Any) -> dict[str, Any]:
        return neighbours_of(graph_of(arguments), str(_fields(arguments).get("entity", "")))

    def loaded(_: Any) -> dict[str, object]:
        return loading.state()

    return gr.HTML(
        json_in_html(boot),
        html_template=_TEMPLATE,
        js_on_load=_ON_LOAD,
        server_functions=[missed, entities, near, relations, change, bring, rerun, xray, loaded],
        apply_default_css=False,
        elem_id="kg-stage-holder",
    )


# What the browser sends may be anything: what is missing, or of another type, reads as empty.


def _fields(arguments: Any) -> dict[str, Any]:
    return arguments if isinstance(arguments, dict) else {}


def _text(arguments: Any, name: str) -> str:
    value = _fields(arguments).get(name)
    return value[:_LONGEST] if isinstance(value, str) else ""
