"""The page: its fields, the stage below them, and what happens when somebody asks.

The stage is one component that draws a run: what it is given at its making, and what it may ask the server for.
"""

from __future__ import annotations

import importlib.util
import json
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import gradio as gr
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from kgdemo.errors import UserError
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io.catalogue import embedded_names
from kgdemo.methods import METHODS
from kgdemo.pipeline import Pipeline
from kgdemo.settings import Settings, profile_from
from kgdemo.ui import assets, zero
from kgdemo.ui.api import Endpoints
from kgdemo.ui.asking import Loading, Visits, ask, changed_question, default_model, names_like, warming
from kgdemo.ui.classroom import Rooms
from kgdemo.ui.classroom import routes as class_routes
from kgdemo.ui.fields import NAMES, Fields, filled, page_fields, settings_of
from kgdemo.ui.guard import HANDLERS, Guard, Page, Refused, address_of
from kgdemo.ui.metrics import METRICS
from kgdemo.ui.reruns import Reruns
from kgdemo.ui.runs import EventStream, SharedRuns
from kgdemo.ui.session_graphs import ClientGraph, SessionGraphs, Visitor, limits
from kgdemo.view.escape import json_in_html
from kgdemo.view.picture import neighbours_of
from kgdemo.view.xray_record import x_ray_record

_FIRST_VIEW = 4.0  # seconds: a page that is being opened goes before the loading of the model

# What the visitor has changed in the graph is kept by the browser, which sends it with every question.
_WITH_WORLD = "(...values) => [...values.slice(0, -1), document.querySelector('#kg-stage')?.asked?.() ?? '']"


def create_app(pipeline: Pipeline | None = None, warm: bool = True) -> Page:
    """Build the page.

    Args:
        pipeline: answers the questions; by default one with the profile that the environment names.
        warm: load graph and model in the background.
    """
    pipeline = pipeline or Pipeline(profile_from())
    assets.serve()
    standard = Settings(model=default_model())
    loading = warming(pipeline, standard) if warm else Loading()
    text = assets.text()
    page = Page(title=text["title"], analytics_enabled=False)
    with page:
        gr.HTML(_header(text), elem_id="kg-header", apply_default_css=False)
        with gr.Row(elem_id="kg-ask", equal_height=True):
            question = gr.Textbox(
                label=text["ask"]["label"],
                placeholder=text["ask"]["placeholder"],
                max_lines=4,
                scale=8,
                elem_id="kg-question",
            )
            go = gr.Button(text["ask"]["go"], variant="primary", elem_id="kg-go", scale=0, min_width=96)
            stop = gr.Button(text["ask"]["stop"], elem_id="kg-stop", scale=0, min_width=88)
        with gr.Accordion(text["settings"]["title"], open=False, elem_id="kg-settings"):
            fields = page_fields(pipeline.profile, standard)
        line = gr.HTML("", elem_id="kg-line", apply_default_css=False)
        world = gr.Textbox(visible=False)  # filled in by _WITH_WORLD
        event_stream, session_graphs, runs = EventStream(), SessionGraphs(pipeline), SharedRuns(pipeline)
        visits = Visits(pipeline.profile.questions_a_minute)
        reruns = Reruns(pipeline, session_graphs, visits, runs)
        stage = make_run_view(
            pipeline,
            event_stream,
            session_graphs,
            visits,
            reruns,
            loading,
            text,
            [field.value for field in (question, *fields)],
        )
        _events(runs, event_stream, session_graphs, visits, [question, *fields, world], go, stop, line, stage)
        _inputs(page, pipeline, [question, *fields])
        Endpoints(pipeline, visits, runs).register()
    page.queue(default_concurrency_limit=4, max_size=64)
    if warm and zero.borrows(pipeline, standard):
        loading.finish()  # models have to be on the GPU before the page is served
    elif warm:
        loading.start(_FIRST_VIEW)
    page.profile, page.loading = pipeline.profile, loading
    return page


def launch_arguments(page: Page, stopping: threading.Event) -> dict[str, Any]:
    """What gradio takes at the launch instead of at the page's making.

    Args:
        page: what is served.
        stopping: set once the server is to stop.
    """

    def healthz(_: Request) -> JSONResponse:
        state = page.loading.progress()
        status = (
            "stopping" if stopping.is_set() else "failed" if state["failed"] else "loading" if state["stage"] else "ok"
        )
        health = {"status": status, "loaded": state["done"], "to_load": state["stages"], "waiting": len(page._queue)}
        return JSONResponse(health, 503 if status in ("stopping", "failed") else 200)

    def metrics(_: Request) -> PlainTextResponse:
        return PlainTextResponse(METRICS.text(len(page._queue)), media_type="text/plain; version=0.0.4")

    return {
        "theme": gr.themes.Base(
            font=["Inter", "system-ui", "sans-serif"], font_mono=["JetBrains Mono", "ui-monospace", "monospace"]
        ),
        "css_paths": sorted((assets.ASSETS / "css").glob("*.css")),
        "footer_links": ["api"],
        "ssr_mode": False,
        "mcp_server": has_mcp(),
        "show_error": True,
        "app_kwargs": {
            "middleware": [Middleware(Guard, profile=page.profile, stopping=stopping)],
            "routes": [Route("/healthz", healthz), Route("/metrics", metrics), *class_routes(Rooms(page.profile))],
            "exception_handlers": HANDLERS,
        },
    }


def _header(text: dict[str, Any]) -> str:
    return f"<h1>{text['title']}</h1><p>{text['subtitle']}</p>"


def _events(
    runs: SharedRuns,
    event_stream: EventStream,
    session_graphs: SessionGraphs,
    visits: Visits,
    fields: list[gr.components.Component],
    go: gr.Button,
    stop: gr.Button,
    line: gr.HTML,
    stage: gr.HTML,
) -> None:
    pipeline = runs.pipeline

    def run(request: gr.Request, *values: Any) -> Iterator[str]:
        yield from answered(request, Fields.of(values))

    def again(request: gr.Request, event: gr.EventData, *values: Any) -> Iterator[str]:
        try:
            submitted = changed_question(Fields.of(values), event._data)
        except UserError as error:
            raise Refused(error) from None
        yield from answered(request, *submitted)

    def answered(
        request: gr.Request, submitted: Fields, chosen: Sequence[str] = (), forced: Sequence[int] = ()
    ) -> Iterator[str]:
        events = ask(pipeline, submitted, chosen, session_graphs, forced, visits, address_of(request), runs)

        def graph() -> KnowledgeGraph:
            named = settings_of(submitted.values, pipeline.profile).graph
            return pipeline.graph(session_graphs.source(named, ClientGraph.read(submitted.client_graph)))

        yield from event_stream.batches(events, graph)

    common: dict[str, Any] = {
        "inputs": fields,
        "outputs": stage,
        "js": _WITH_WORLD,
        "show_progress": "full",  # the place in the queue; the stage itself is never covered
        "show_progress_on": line,
        "concurrency_id": "lm",
        "concurrency_limit": pipeline.profile.at_once,
        "api_visibility": "private",
    }
    # "once" would swallow a question that is asked while a stopped run winds up; the page drops the older of two runs
    common["trigger_mode"] = "multiple"
    line_of_text = fields[0]
    assert isinstance(line_of_text, gr.Textbox)
    asking = gr.on([go.click, line_of_text.submit], run, **common)
    asking_again = stage.again(again, cancels=[asking], **common)
    stop.click(None, cancels=[asking, asking_again], api_visibility="private")


def _inputs(page: gr.Blocks, pipeline: Pipeline, fields: list[gr.components.Component]) -> None:
    """Tell the browser what stands in the fields, and fill them from a share link.

    Both may happen before the stage's script has been loaded, so they leave a mark besides sounding an event.
    """

    def fill(request: gr.Request) -> list[Any]:
        values = filled(request.query_params, pipeline.profile)
        return [gr.update(value=values[name]) if name in values else gr.skip() for name in NAMES]

    tell = "(...values) => { window.kgFields = values; window.dispatchEvent(new Event('kg-fields')); }"
    gr.on([field.change for field in fields], None, fields, js=tell, api_visibility="private")  # type: ignore[attr-defined]
    linked = page.load(fill, None, fields, queue=False, show_progress="hidden", api_visibility="private")
    linked.then(
        None,
        js="() => { window.kgLinked = true; window.dispatchEvent(new Event('kg-linked')); }",
        api_visibility="private",
    )


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
