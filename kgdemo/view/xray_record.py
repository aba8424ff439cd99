"""The x-ray of a graph as the page gets it: names that are safe to show, and the themes of an embedded graph."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import Any

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io.catalogue import embedded_folder, embedded_names, themes
from kgdemo.kg.xray import x_ray
from kgdemo.view.escape import visible

_LONGEST = 200  # characters of a name


def x_ray_record(kg: KnowledgeGraph) -> dict[str, Any]:
    """What ``kg.xray`` counts, and ``themes``: the themes of an embedded graph with their numbers of facts."""
    told = asdict(x_ray(kg))
    for relation in told["relations"]:
        relation["relation"] = visible(relation["relation"], _LONGEST)
        relation["kind"] = visible(relation["kind"], _LONGEST)
    for name in ("kinds", "hubs"):
        told[name] = [[visible(label, _LONGEST), number] for label, number in told[name]]
    return {**told, "name": visible(kg.name, _LONGEST), "themes": _facts_of_themes(kg.name)}


@cache
def _facts_of_themes(graph: str) -> dict[str, int]:
    if graph not in embedded_names():
        return {}
    files = themes(embedded_folder(graph))
    return {file.stem: sum(bool(line.strip()) for line in file.read_text("utf-8").split("\n")) for file in files}
