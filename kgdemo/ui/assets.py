"""The page's files: where they lie, how the browser asks for them, and the whole page as one file.

They are our own assets and pyvis's vis-network. The graph has a frame of its own, a document of a few lines around
vis-network from the installed pyvis package. It is sent once and empty; what the picture shows comes by
``postMessage``. The frame runs in a sandbox without the page's origin, so even a label that became code could reach
nothing.

The one file is a page that any web server can host and any browser opens from a disk: the page's own scripts and styles
in one document, with recorded runs, failures, tour and x-ray inside. Nothing can be asked there, and nothing is fetched
from anywhere. The same document without any run is what the page in a browser makes a file of one run from
(``files/exports.js``): it puts that run in the place of the examples.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import gradio as gr
import pyvis
from pyvis.network import Network

from kgdemo.kg.io.catalogue import open_graph
from kgdemo.methods import METHODS
from kgdemo.models.base import STYLE_FILE
from kgdemo.models.causal import EMBEDDED_FOLDER
from kgdemo.ranking.abstention import RELIABILITY_FILE
from kgdemo.settings import Settings
from kgdemo.ui.api import Endpoints
from kgdemo.view.escape import escaped, json_in_html
from kgdemo.view.page_records import x_ray_record

VIS = Path(pyvis.__file__).parent / "lib" / "vis-9.1.2"

_OPTIONS = {
    "physics": {"enabled": False},
    "layout": {"randomSeed": 1, "improvedLayout": False},
    "interaction": {"hover": True, "tooltipDelay": 150, "multiselect": False, "zoomSpeed": 0.6, "zoomView": False},
    "nodes": {"font": {"size": 15, "strokeWidth": 4}, "borderWidth": 2, "shape": "dot", "size": 9},
    "edges": {
        "arrows": {"to": {"enabled": True, "scaleFactor": 0.5}},
        "font": {"size": 12, "strokeWidth": 4, "align": "horizontal"},
        "smooth": {"enabled": True, "type": "cubicBezier", "forceDirection": "horizontal", "roundness": 0.35},
    },
}

_FRAME = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta http-equiv="Content-Security-Policy"
content="default-src 'none'; script-src {origin}; style-src 'unsafe-inline'; img-src data:">
<style>html,body,#graph{{margin:0;width:100%;height:100%;overflow:hidden;background:transparent}}
div.vis-tooltip{{position:absolute;padding:4px 8px;font:13px/1.4 system-ui,sans-serif;background:#fff;color:#1c1d21;
border:1px solid #d9d6ce;border-radius:6px;pointer-events:none;max-width:320px;white-space:normal;z-index:5}}
</style></head>
<body><div id="graph"></div><script type="application/json" id="network">{network}</script>
<script src="{vis}"></script><script src="{script}"></script></body></html>"""


def frame_document(vis_url: str, script_url: str, title: str, origin: str = "'self' http: https:") -> str:
    """The HTML of the frame.

    Args:
        vis_url: where vis-network is served.
        script_url: where the frame's own script is served.
        title: for screen readers.
        origin: Content-Security-Policy sources that scripts may come from.
    """
    net = Network(directed=True)
    net.set_options(json.dumps(_OPTIONS))
    network = {"nodes": net.nodes, "edges": net.edges, "options": net.options}
    return _FRAME.format(
        title=escaped(title),
        origin=origin,
        network=json_in_html(network),
        vis=escaped(vis_url),
        script=escaped(script_url),
    )


_PACKAGE = Path(__file__).resolve().parent.parent
_IN_THE_WHEEL = _PACKAGE / "assets"  # the build puts them into the package; a clone has them beside it
ASSETS = _IN_THE_WHEEL if _IN_THE_WHEEL.is_dir() else _PACKAGE.parent / "assets"
TRACES = ASSETS / "traces"
FAILED = ASSETS / "failures"
# put in by the browser, which alone knows under which address the page is served
BASE, ORIGIN = "__BASE__", "__ORIGIN__"


def serve() -> None:
    """Let gradio serve the assets and the installed vis-network as they are."""
    gr.set_static_paths([ASSETS, VIS])


def url(path: Path) -> str:
    """The address of a served file, relative to the page."""
    return f"gradio_api/file={path.as_posix()}"


@cache
def text() -> dict[str, Any]:
    """All text that a visitor reads, from one file."""
    result: dict[str, Any] = json.loads((ASSETS / "text.en.json").read_text("utf-8"))
    return result


def frame() -> str:
    """The document of the graph's frame."""
    vis = BASE + url(VIS / "vis-network.min.js")
    return frame_document(vis, BASE + url(ASSETS / "js" / "graph" / "frame.js"), text()["graph"]["title"], ORIGIN)


@cache
def reliability() -> dict[str, Any] | None:
    """How sure the embedded model's abstention is; None where it was measured with other weights than it has now."""
    file = EMBEDDED_FOLDER / RELIABILITY_FILE
    told: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    same = told.get("abstention") == json.loads((EMBEDDED_FOLDER / STYLE_FILE).read_text("utf-8")).get("abstention")
    return {name: told[name] for name in ("graph", "slope", "intercept", "points")} if told and same else None


@cache
def parameters() -> int:
    """How many parameters the embedded path model has, as the head of its file of weights says; 0 without the file."""
    file = EMBEDDED_FOLDER / "model.safetensors"
    if not file.is_file():
        return 0
    with file.open("rb") as stream:
        head = json.loads(stream.read(int.from_bytes(stream.read(8), "little")))
    return sum(math.prod(tensor["shape"]) for name, tensor in head.items() if name != "__metadata__")


def examples(folder: Path = TRACES) -> list[dict[str, str]]:
    """The recorded runs of a folder, each ``{id, question, graph, url}``, in the order of their names."""
    return [example(file) for file in sorted(folder.glob("*.jsonl"))]


def example(file: Path) -> dict[str, str]:
    """What the page knows of a recorded run before it is opened."""
    with file.open(encoding="utf-8") as stream:
        first = json.loads(stream.readline())
    return {"id": file.stem, "question": first["question"], "graph": first["graph"], "url": url(file)}


# the page as one file -----------------------------------------------------------------------------------

_IMPORT = re.compile(r"^import \{([^}]*)\} from '([^']+)';$", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.MULTILINE)
# what asks a server; on this page it would lead nowhere
_LIVE = (
    ".themes, .next-questions, .recording .plain, .world, .bring, .versus, .program, .loading, .linking .add, "
    ".with-class, .layers"
)
# the document's one script, by its hash, and the scripts of the picture's frame, which come as data addresses
_POLICY = (
    "default-src 'none'; script-src {script} data:; style-src 'unsafe-inline'; img-src data: blob:; connect-src data:"
)
_ONE_RUN = ".learn, .lessons, .fold.failures-fold, .xray, .hole"  # needs the recorded runs, or their graph

_DOCUMENT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title><link rel="icon" href="data:,"><style>{style}
.kg :is({live}) {{ display: none !important; }} .kg .asked {{ display: block !important; }}</style></head>
<body><div class="gradio-container"><main>
<div id="kg-header"><div><div><h1>{title}</h1><p>{subtitle}</p></div></div></div>
<p class="static">{static}</p>
<div class="kg-stage" id="kg-stage"></div></main></div>
<script type="application/json" id="boot">{boot}</script>
<script>{script}</script></body></html>
"""
_MOUNT = """
document.body.classList.toggle('dark', matchMedia('(prefers-color-scheme: dark)').matches);
const none = async () => [];
globalThis.kgLinked = true; // its address may name a recorded run
const boot = JSON.parse(document.getElementById('boot').textContent);
page.mount({ stage: document.getElementById('kg-stage'), boot,
  watch() {}, value: () => '', again() {}, settle() {},
  server: { entities: none, relations: none, missed: async () => '', near: async () => ({ near: [], more: 0 }),
    change: async () => ({}), layers: async () => ({ error: '' }),
    rerun: async () => ({ error: '' }), bring: async () => ({ error: '' }),
    xray: async () => boot.xray ?? { error: '' },
    loaded: async () => ({ done: 1, stages: 1, stage: '', failed: '' }) } });
"""


def write_site(folder: Path) -> Path:
    """Write ``index.html`` into a folder, which is made where it is not there.

    Returns:
        the file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (file := folder / "index.html").write_text(document(_runs(TRACES), _runs(FAILED), _x_ray()), "utf-8")
    return file


@cache
def empty_document() -> str:
    """The document without any run, for the browser to put one in."""
    return document([], [])


def player_of(traces: Sequence[Path]) -> str:
    """A page that plays the runs of trace files, each opened by the address ``?recorded=`` and the file's name."""
    return document([_run(example(file), file) for file in traces], [], lessons=False)


def document(
    examples: list[dict[str, str]],
    failures: list[dict[str, str]],
    x_ray: dict[str, Any] | None = None,
    lessons: bool = True,
) -> str:
    """The page as one HTML document.

    Args:
        examples: recorded runs, as ``examples`` names them, with their content as data addresses.
        failures: the same of the gallery.
        x_ray: what the graph of these runs knows, as the page draws it; None where it is left out.
        lessons: the examples are those that tour and lessons are made for.
    """
    taught = bool(examples) and lessons
    untaught = f"{_LIVE}, {_ONE_RUN}" + ("" if lessons else ", .walk")  # one run of the reader's own is walked through
    words = text()
    script = (bundled(ASSETS / "js" / "main.js") + _MOUNT).replace("</script", "<\\/script")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return _DOCUMENT.format(
        policy=_POLICY.format(script=f"'sha256-{digest}'"),
        title=escaped(words["title"]),
        subtitle=escaped(words["subtitle"]),
        static=escaped(words["site"]["static"] if taught else words["site"]["one"]),
        style="\n".join(file.read_text("utf-8") for file in sorted((ASSETS / "css").glob("*.css"))),
        live=_LIVE if taught else untaught,
        boot=json_in_html({**_boot(words), "examples": examples, "failures": failures, "xray": x_ray}),
        script=script,
    )


def bundled(main: Path) -> str:
    """A script and all that it imports as one classic script, its exports in ``page``.

    Browsers load no modules from a disk. Each module becomes a function that returns its exports; the modules import
    named things only, and nobody imports in a circle.
    """
    order: dict[Path, str] = {}

    def add(file: Path) -> None:
        if file in order:
            return
        source = file.read_text("utf-8")
        for found in _IMPORT.finditer(source):
            add((file.parent / found[2]).resolve())
        names = ", ".join(_EXPORT.findall(source))

        def taken(found: re.Match[str]) -> str:
            return f"const {{{found[1].replace(' as ', ': ')}}} = modules[{key((file.parent / found[2]).resolve())}];"

        body = _EXPORT.sub("", _IMPORT.sub(taken, source))
        order[file] = f"modules[{key(file)}] = (() => {{\n{body}\nreturn {{ {names} }};\n}})();"

    def key(file: Path) -> str:
        return json.dumps(file.relative_to(main.parent).as_posix())

    main = main.resolve()
    add(main)
    return "const modules = {};\n" + "\n".join(order.values()) + f"\nconst page = modules[{key(main)}];"


def _boot(words: dict[str, Any]) -> dict[str, Any]:
    """What the page is given at its making, see ``ui.page``; files are inside it."""
    picture = frame_document(
        _data(VIS / "vis-network.min.js", "text/javascript"),
        _data(ASSETS / "js" / "graph" / "frame.js", "text/javascript"),
        words["graph"]["title"],
        "data:",
    )
    cards = [{"name": c.name, "title": c.title, "constrained": c.constrained} for c in METHODS.values()]
    standard = Settings()
    fields: dict[str, Any] = {"question": "", "graph": standard.graph, "method": standard.method}
    fields |= {"beams": standard.beams, "hops": standard.hops, "model": standard.model}
    return {
        "text": words,
        "frame": picture,
        "chat": "",
        "methods": cards,
        "drivable": [],
        "limits": {"triples": 0, "bytes": 0, "edits": 0, "minutes": 0, "kept": 0},
        "fields": list(fields),
        "standard": fields,
        "endpoints": Endpoints.settings(),
        "mcp": False,
        "graphs": [],
        "themes": {},  # they are chosen to ask about
        "offline": "",
        "reliability": reliability(),
        "studies": False,
        "parameters": parameters(),
    }


def _x_ray() -> dict[str, Any]:
    return x_ray_record(open_graph(Settings().graph))


def _runs(folder: Path) -> list[dict[str, str]]:
    return [_run(run, folder / f"{run['id']}.jsonl") for run in examples(folder)]


def _run(known: dict[str, str], file: Path) -> dict[str, str]:
    return {**known, "url": _data(file, "application/x-ndjson")}


def _data(file: Path, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"
