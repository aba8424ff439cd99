"""The document of the graph's frame: our own few lines around vis-network from the installed pyvis package.

It is sent once and empty; what the picture shows comes by ``postMessage``. The frame runs in a sandbox
without the page's origin, so even a label that became code could reach nothing.
"""

from __future__ import annotations

import json
from pathlib import Path

import pyvis
from pyvis.network import Network

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
