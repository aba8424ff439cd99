"""The page: its fields, the stage below them, and what happens when somebody asks."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import gradio as gr
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse
from starlette.routing import Route

from kgdemo.errors import UserError
from kgdemo.pipeline import Pipeline
from kgdemo.settings import Settings, profile_from
from kgdemo.ui import assets, zero
from kgdemo.ui.api import Endpoints
from kgdemo.ui.asking import Loading, Server, ask_for_page, changed_question, default_model, warming
from kgdemo.ui.benchmark import routes as benchmark_routes
from kgdemo.ui.classroom import Rooms
from kgdemo.ui.classroom import routes as class_routes
from kgdemo.ui.fields import NAMES, Fields, filled, page_fields
from kgdemo.ui.guard import HANDLERS, Guard, Page, Refused, address_of
from kgdemo.ui.metrics import METRICS
from kgdemo.ui.site import empty_document
from kgdemo.ui.stage import OFFLINE, has_mcp, make_stage

# Tabs of which gradio remembers all components, 50 kB each and what they show; by itself it does so of 10,000. Nothing
# here is kept there: a tab that is forgotten is made anew with its next question.
_SESSIONS = 100
_FIRST_VIEW = 4.0  # seconds: a page that is being opened goes before the loading of the model

# What the visitor has changed in the graph is kept by the browser, which sends it with every question.
_WITH_CLIENT_GRAPH = "(...values) => [...values.slice(0, -1), document.querySelector('#kg-stage')?.asked?.() ?? '']"


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
        client_graph = gr.Textbox(visible=False)  # filled in by _WITH_CLIENT_GRAPH
        server = Server(pipeline, loading)
        stage = make_stage(server, [field.value for field in (question, *fields)])
        _events(server, [question, *fields, client_graph], go, stop, line, stage)
        _inputs(page, pipeline, [question, *fields], stage)
        Endpoints(server).register()
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

    def offline(_: Request) -> HTMLResponse:
        return HTMLResponse(empty_document())

    return {
        "theme": gr.themes.Base(
            font=["Inter", "system-ui", "sans-serif"], font_mono=["JetBrains Mono", "ui-monospace", "monospace"]
        ),
        "css_paths": sorted((assets.ASSETS / "css").glob("*.css")),
        "footer_links": ["api"],
        "ssr_mode": False,
        "mcp_server": has_mcp(),
        "show_error": True,
        "state_session_capacity": _SESSIONS,
        "app_kwargs": {
            "middleware": [Middleware(Guard, profile=page.profile, stopping=stopping)],
            "routes": [
                Route("/healthz", healthz),
                Route("/metrics", metrics),
                *class_routes(Rooms(page.profile)),
                *benchmark_routes(page.profile),
                Route(OFFLINE, offline),
            ],
            "exception_handlers": HANDLERS,
        },
    }


def _header(text: dict[str, Any]) -> str:
    return f"<h1>{text['title']}</h1><p>{text['subtitle']}</p>"


def _events(
    server: Server,
    fields: list[gr.components.Component],
    go: gr.Button,
    stop: gr.Button,
    line: gr.HTML,
    stage: gr.HTML,
) -> None:
    """Ask when the button or the stage says so, and stop."""

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
        lines = ask_for_page(server, submitted, chosen, forced, address_of(request))
        yield from server.stream.sent(lines, lambda: server.graph(submitted))

    common: dict[str, Any] = {
        "inputs": fields,
        "outputs": stage,
        "js": _WITH_CLIENT_GRAPH,
        "show_progress": "full",  # the place in the queue; the stage itself is never covered
        "show_progress_on": line,
        "concurrency_id": "lm",
        "concurrency_limit": server.pipeline.profile.at_once,
        "api_visibility": "private",
    }
    # "once" would swallow a question that is asked while a stopped run winds up; the page drops the older of two runs
    common["trigger_mode"] = "multiple"
    line_of_text = fields[0]
    assert isinstance(line_of_text, gr.Textbox)
    asking = gr.on([go.click, line_of_text.submit], run, **common)
    asking_again = stage.again(again, cancels=[asking], **common)
    stop.click(None, cancels=[asking, asking_again], api_visibility="private")


def _inputs(page: gr.Blocks, pipeline: Pipeline, fields: list[gr.components.Component], stage: gr.HTML) -> None:
    """Tell the browser what stands in the fields, and fill them from a share link, or by Back and Forward.

    The first two may happen before the stage's script has been loaded, so they leave a mark besides sounding an event.
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
    stage.settle(None, None, fields, js="() => window.kgSettled", api_visibility="private")
