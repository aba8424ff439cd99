"""The page: its fields, the stage below them that draws runs, and what happens when somebody asks.

The stage is one component. Besides small look-ups it may ask the server for a question asked again on a changed graph,
for its answer alone, which the page compares when the world is broken; and at which layer of the model the graph's
token overtakes the invented one, a logit lens on one token of a shown run. The text before that token is read once
more, so that no run pays for what few look at; only a BERT on a CPU is read so, the embedded model among them.
"""

from __future__ import annotations

import importlib.util
import json
import math
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import gradio as gr
import torch
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse
from starlette.routing import Route

from kgdemo.errors import UserError
from kgdemo.events import AnswerFinal, Event, PathFound, RunFailed
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io.catalogue import embedded_names
from kgdemo.kg.path import Path
from kgdemo.methods import METHODS
from kgdemo.models.base import PathModel
from kgdemo.models.bert import LeanBert
from kgdemo.models.causal import EMBEDDED, CausalModel
from kgdemo.pipeline import Pipeline
from kgdemo.query.query import types_of
from kgdemo.settings import Settings, profile_from
from kgdemo.ui import assets, zero
from kgdemo.ui.api import Endpoints
from kgdemo.ui.asking import (
    NAMES,
    Fields,
    Server,
    ask,
    ask_for_page,
    changed_question,
    default_model,
    filled,
    page_fields,
    warming,
)
from kgdemo.ui.assets import empty_document
from kgdemo.ui.benchmark import routes as benchmark_routes
from kgdemo.ui.classroom import Rooms
from kgdemo.ui.classroom import routes as class_routes
from kgdemo.ui.guard import HANDLERS, Guard, Page, Refused, address_of
from kgdemo.ui.metrics import METRICS, Loading
from kgdemo.ui.session_graphs import ClientGraph, Visitor, held_whole, limits
from kgdemo.view.escape import json_in_html, visible
from kgdemo.view.page_records import facts_of_themes, x_ray_record
from kgdemo.view.picture import neighbours_of

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


# the stage, and what it is given at its making ---------------------------------------------------------

OFFLINE = "/offline"  # the document that a run is put into, see ``ui.assets``
_TYPED = 100  # characters of what is typed in a search field
_MAX_NAMES = 8  # offered for it

# The stage's template is constant: gradio evaluates templates as code, so no text of anyone's may enter it.
_TEMPLATE = '<div class="kg-stage" id="kg-stage"></div>'
_ON_LOAD = """
const boot = JSON.parse(props.value);
const stage = element.querySelector('#kg-stage');
import(new URL(boot.main, document.baseURI).href).then((page) => page.mount({
  stage, boot, server, watch, value: () => props.value, again: (data) => trigger('again', data),
  settle: () => trigger('settle'),
}));
"""


def has_mcp() -> bool:
    """Whether the package that serves MCP tools is installed."""
    return importlib.util.find_spec("mcp") is not None


def make_stage(server: Server, standard: list[Any]) -> gr.HTML:
    """The element that draws runs.

    Args:
        server: what it may ask for.
        standard: what stands in the fields at first, in the order of ``NAMES``.
    """
    return gr.HTML(
        json_in_html(_boot(server.pipeline, standard)),
        html_template=_TEMPLATE,
        js_on_load=_ON_LOAD,
        server_functions=[*_about_runs(server), *_about_graphs(server), *_about_server(server)],
        apply_default_css=False,
        elem_id="kg-stage-holder",
    )


def _boot(pipeline: Pipeline, standard: list[Any]) -> dict[str, Any]:
    """What the page's scripts are given; ``Boot`` of ``core/types.js``."""
    cards = METHODS.values()
    return {
        "main": assets.url(assets.ASSETS / "js" / "main.js"),
        "frame": assets.frame(),
        "text": assets.text(),
        "examples": assets.examples(),
        "failures": assets.examples(assets.FAILED),
        "chat": pipeline.chat.name,
        "budget": {name: getattr(pipeline.chat, name) for name in ("calls", "tokens", "seconds", "money")},
        "methods": [{"name": card.name, "title": card.title, "constrained": card.constrained} for card in cards],
        "drivable": [card.name for card in cards if card.drivable],
        "limits": limits(pipeline),
        "fields": NAMES,
        "standard": dict(zip(NAMES, standard, strict=True)),
        "endpoints": Endpoints.settings(),
        "mcp": has_mcp(),
        "graphs": embedded_names(),
        "themes": {name: facts_of_themes(name) for name in embedded_names()},
        "offline": OFFLINE.lstrip("/"),
        "reliability": assets.reliability(),
        "studies": pipeline.profile.studies,
        "parameters": assets.parameters() if default_model() == EMBEDDED else 0,
    }


# what the stage may ask for; gradio calls these by their names ----------------------------------------

ServerFunction = Callable[..., Any]


def _about_runs(server: Server) -> list[ServerFunction]:
    """What belongs to a run that is shown."""

    def missed(arguments: Any) -> str:
        have = _fields(arguments).get("have")
        return server.stream.missed(_text(arguments, "run"), have if isinstance(have, int) else 0)

    def entities(arguments: Any) -> list[str]:
        return names_like(_graph_of(server, arguments).entities, _text(arguments, "written"))

    def relations(arguments: Any) -> list[str]:
        return names_like(_graph_of(server, arguments).relations, _text(arguments, "written"))

    def near(arguments: Any) -> dict[str, Any]:
        graph = _graph_of(server, arguments)
        return neighbours_of(graph, str(_fields(arguments).get("entity", "")))

    def layers(arguments: Any) -> dict[str, Any]:
        graph = _graph_of(server, arguments)
        return layers_record(
            server.pipeline.model(default_model()), graph, _fields(arguments), server.pipeline.profile.question
        )

    return [missed, entities, relations, near, layers]


def _about_graphs(server: Server) -> list[ServerFunction]:
    """Graphs that are changed, brought, or looked through."""

    def change(arguments: Any) -> dict[str, Any]:
        edits = json.dumps({"edits": _fields(arguments).get("edits")})
        return server.graphs.tried(_graph_of(server, arguments), edits)

    def bring(arguments: Any, request: gr.Request) -> dict[str, Any]:
        visitor = Visitor(address_of(request), _text(arguments, "visitor"))
        try:
            server.visits.count(visitor.address)
        except UserError as error:
            return {"error": str(error)}
        return server.graphs.brought(_fields(arguments), visitor)

    def xray(arguments: Any) -> dict[str, Any]:
        named = _text(arguments, "graph")
        known = named in embedded_names() or (named and server.pipeline.profile.open_models)
        try:
            changes = ClientGraph.read(str(_fields(arguments).get("changes") or ""))
            kg = server.pipeline.graph(server.graphs.source(named if known else "world", changes))
            return x_ray_record(held_whole(kg))
        except UserError as error:
            return {"error": str(error)}

    return [change, bring, xray]


def _about_server(server: Server) -> list[ServerFunction]:
    """A question asked again for its answer alone, and how far the server has loaded."""
    reruns = Reruns(server)

    def rerun(arguments: Any, request: gr.Request) -> dict[str, Any]:
        return reruns.answer(_fields(arguments), address_of(request))

    def loaded(_: Any) -> dict[str, object]:
        return server.loading.state()

    return [rerun, loaded]


def _graph_of(server: Server, arguments: Any) -> KnowledgeGraph:
    """The graph of the run that is shown; a recorded one was asked on an embedded graph."""
    name = _text(arguments, "graph")
    try:
        shown = server.stream.graph(_text(arguments, "run"))
    except UserError:  # a visitor's graph that has been forgotten
        shown = None
    return shown or server.pipeline.graph(name if name in embedded_names() else "world")


def names_like(labels: Iterable[str], written: str) -> list[str]:
    """Entities or relations whose name starts with, or else holds, what a visitor has typed."""
    wanted = written.strip().casefold()
    if len(wanted) < 2:
        return []
    starts: list[str] = []
    holds: list[str] = []
    for label in labels:
        folded = label.casefold()
        if folded.startswith(wanted):
            starts.append(label)
        elif len(holds) < _MAX_NAMES and wanted in folded:
            holds.append(label)
    return (sorted(starts, key=len) + holds)[:_MAX_NAMES]


# What the browser sends may be anything: what is missing, or of another type, reads as empty.


def _fields(arguments: Any) -> dict[str, Any]:
    return arguments if isinstance(arguments, dict) else {}


def _text(arguments: Any, name: str) -> str:
    value = _fields(arguments).get(name)
    return value[:_TYPED] if isinstance(value, str) else ""


# a question asked again, for its answer alone -----------------------------------------------------------

_WAIT = 60.0  # seconds for another visitor's
_SENTENCE = 400  # characters of a sentence
_MOST_ANSWERS = 200


class Reruns:
    """Asks again; one at a time."""

    def __init__(self, server: Server) -> None:
        self._server = server
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
            return _answer_record(ask(self._server, fields, entities, address=address))
        finally:
            self._one.release()


def _answer_record(events: Iterable[Event]) -> dict[str, Any]:
    paths: dict[int, Path] = {}
    final: AnswerFinal | None = None
    for event in events:
        if isinstance(event, PathFound) and event.constrained and event.path is not None:
            paths[event.index] = event.path
        elif isinstance(event, AnswerFinal):
            final = event
        elif isinstance(event, RunFailed):
            return {"error": visible(event.message, _SENTENCE)}
    if final is None:
        return {"error": "The run ended without an answer."}
    cited = dict.fromkeys(number for citation in final.citations for number in citation if number in paths)
    edges = dict.fromkeys(hop for number in cited for hop in paths[number].hops)
    return {
        "answers": [visible(answer, _SENTENCE) for answer in final.answers[:_MOST_ANSWERS]],
        "text": visible(final.text, _SENTENCE),
        "edges": [list(edge) for edge in edges],
    }


# a look into the layers of the model -------------------------------------------------------------------

_MOST_TOPICS = 20
_MOST_TOKENS = 256
_LIKELY = 2000  # of the last layer's tokens, among which the forbidden one is looked for by its text


def layers_record(model: PathModel, kg: KnowledgeGraph, asked: Mapping[str, Any], longest: int) -> dict[str, Any]:
    """The probabilities of two tokens after each layer, for the browser.

    Args:
        model: the one that wrote the run.
        kg: the graph of the run.
        asked: ``question``; ``topics``, its entities; ``tokens``, ids before the token; ``taken``, the id of the
            graph's token; ``forbidden``, the text of the invented one.
        longest: characters of a question.

    Returns:
        ``layers``, pairs (graph's token, invented one), of the embeddings first; or ``error``.
    """
    lean = model.reader.model if isinstance(model, CausalModel) else None
    if not isinstance(lean, LeanBert):
        return {"error": "This model’s layers cannot be looked into here; the embedded model’s can, on a CPU."}
    try:
        question, topics, tokens, taken, forbidden = _token_asked(asked, longest, model.vocabulary)
        prompt = model.style.encode(model.label_tokens, question, topics, types_of(topics, kg))
        if len(prompt) + len(tokens) > model.context:
            raise UserError("The text before this token is longer than the model reads.")
    except UserError as error:
        return {"error": str(error)}
    log_probs = lean.logit_lens(prompt, tokens, model.style.bidirectional)
    likely: list[int] = torch.topk(log_probs[-1], min(_LIKELY, model.vocabulary)).indices.tolist()
    invented = next((token for token in likely if token != taken and model.token_text(token) == forbidden), None)
    if invented is None:
        return {"error": "The invented token is not among those that the model finds likely here."}
    pairs = log_probs[:, [taken, invented]].tolist()
    return {"layers": [[round(math.exp(value), 6) for value in pair] for pair in pairs]}


def _token_asked(asked: Mapping[str, Any], longest: int, vocabulary: int) -> tuple[str, list[str], list[int], int, str]:
    question, topics, tokens = asked.get("question"), asked.get("topics"), asked.get("tokens")
    taken, forbidden = asked.get("taken"), asked.get("forbidden")
    fits = (
        isinstance(question, str)
        and len(question) <= longest
        and isinstance(topics, list)
        and len(topics) <= _MOST_TOPICS
        and all(isinstance(topic, str) and len(topic) <= longest for topic in topics)
        and isinstance(tokens, list)
        and len(tokens) <= _MOST_TOKENS
        and all(type(token) is int and 0 <= token < vocabulary for token in [*tokens, taken])
        and isinstance(forbidden, str)
    )
    if not fits:
        raise UserError("What was asked for cannot be read; load the page anew.")
    return question, topics, tokens, taken, forbidden  # type: ignore[return-value]  # checked above
