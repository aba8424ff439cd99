"""Where the page's files lie and how the browser asks for them: our own assets and pyvis's vis-network.

The graph has a frame of its own, a document of a few lines around vis-network from the installed pyvis package. It is
sent once and empty; what the picture shows comes by ``postMessage``. The frame runs in a sandbox without the page's
origin, so even a label that became code could reach nothing.
"""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import gradio as gr
import pyvis
from pyvis.network import Network

from kgdemo.models.causal import EMBEDDED_FOLDER
from kgdemo.models.prompt_style import STYLE_FILE
from kgdemo.ranking.abstention import RELIABILITY_FILE
from kgdemo.view.escape import escaped, json_in_html

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

_DOCUMENT = """<!doctype html>
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
    return _DOCUMENT.format(
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
