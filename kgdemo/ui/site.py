"""The page as one file that any web server can host and any browser opens from a disk.

It is the page's own scripts and styles in one document, with recorded runs, failures, tour and x-ray inside. Nothing
can be asked there, and nothing is fetched from anywhere. The same document without any run is what the page in a
browser makes a file of one run from (``files/exports.js``): it puts that run in the place of the examples.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from kgdemo.kg.io.catalogue import open_graph
from kgdemo.methods import METHODS
from kgdemo.settings import Settings
from kgdemo.ui import assets
from kgdemo.ui.api import Endpoints
from kgdemo.ui.assets import VIS, frame_document
from kgdemo.view.escape import escaped, json_in_html
from kgdemo.view.page_records import x_ray_record

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
    (file := folder / "index.html").write_text(document(_runs(assets.TRACES), _runs(assets.FAILED), _x_ray()), "utf-8")
    return file


@cache
def empty_document() -> str:
    """The document without any run, for the browser to put one in."""
    return document([], [])


def player_of(traces: Sequence[Path]) -> str:
    """A page that plays the runs of trace files, each opened by the address ``?recorded=`` and the file's name."""
    return document([_run(assets.example(file), file) for file in traces], [], lessons=False)


def document(
    examples: list[dict[str, str]],
    failures: list[dict[str, str]],
    x_ray: dict[str, Any] | None = None,
    lessons: bool = True,
) -> str:
    """The page as one HTML document.

    Args:
        examples: recorded runs, as ``assets.examples`` names them, with their content as data addresses.
        failures: the same of the gallery.
        x_ray: what the graph of these runs knows, as the page draws it; None where it is left out.
        lessons: the examples are those that tour and lessons are made for.
    """
    taught = bool(examples) and lessons
    untaught = f"{_LIVE}, {_ONE_RUN}" + ("" if lessons else ", .walk")  # one run of the reader's own is walked through
    text = assets.text()
    script = (bundled(assets.ASSETS / "js" / "main.js") + _MOUNT).replace("</script", "<\\/script")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return _DOCUMENT.format(
        policy=_POLICY.format(script=f"'sha256-{digest}'"),
        title=escaped(text["title"]),
        subtitle=escaped(text["subtitle"]),
        static=escaped(text["site"]["static"] if taught else text["site"]["one"]),
        style="\n".join(file.read_text("utf-8") for file in sorted((assets.ASSETS / "css").glob("*.css"))),
        live=_LIVE if taught else untaught,
        boot=json_in_html({**_boot(text), "examples": examples, "failures": failures, "xray": x_ray}),
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


def _boot(text: dict[str, Any]) -> dict[str, Any]:
    """What the page is given at its making, see ``ui.stage``; files are inside it."""
    frame = frame_document(
        _data(VIS / "vis-network.min.js", "text/javascript"),
        _data(assets.ASSETS / "js" / "graph" / "frame.js", "text/javascript"),
        text["graph"]["title"],
        "data:",
    )
    cards = [{"name": c.name, "title": c.title, "constrained": c.constrained} for c in METHODS.values()]
    standard = Settings()
    fields: dict[str, Any] = {"question": "", "graph": standard.graph, "method": standard.method}
    fields |= {"beams": standard.beams, "hops": standard.hops, "model": standard.model}
    return {
        "text": text,
        "frame": frame,
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
        "reliability": assets.reliability(),
        "studies": False,
        "parameters": assets.parameters(),
    }


def _x_ray() -> dict[str, Any]:
    return x_ray_record(open_graph(Settings().graph))


def _runs(folder: Path) -> list[dict[str, str]]:
    return [_run(run, folder / f"{run['id']}.jsonl") for run in assets.examples(folder)]


def _run(known: dict[str, str], file: Path) -> dict[str, str]:
    return {**known, "url": _data(file, "application/x-ndjson")}


def _data(file: Path, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"
