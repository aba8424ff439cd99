"""Where the page's files lie and how the browser asks for them: our own assets and pyvis's vis-network."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import gradio as gr

from kgdemo.models.causal import EMBEDDED_FOLDER
from kgdemo.models.prompt_style import STYLE_FILE
from kgdemo.ranking.abstention import RELIABILITY_FILE
from kgdemo.view.frame import VIS, frame_document

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


def examples(folder: Path = TRACES) -> list[dict[str, str]]:
    """The recorded runs of a folder, each ``{id, question, url}``, in the order of their names."""
    found = []
    for file in sorted(folder.glob("*.jsonl")):
        with file.open(encoding="utf-8") as stream:
            first = json.loads(stream.readline())
        found.append({"id": file.stem, "question": first["question"], "url": url(file)})
    return found
