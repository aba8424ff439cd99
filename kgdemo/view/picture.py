"""The picture of a run: which nodes and edges it shows, and where.

Drawn from left to right, one column a hop, topic entities on the left. A node keeps its place once it has
one, so a picture that grows while a question is answered never jumps, and the same run always gives the
same picture. Entities and edges are built with pyvis; the browser is sent what is new.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from pyvis.network import Network

from kgdemo.events import EntitiesLinked, Event, PathFound, PathVerified
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.verify import HopVerdict
from kgdemo.view.escape import visible
from kgdemo.view.surroundings import telling_first

COLUMN, ROW = 280, 56
MOST_NODES = 150
_NEIGHBOURS = 8  # faded ones shown around a topic entity
_INVENTED_PATHS = 4  # more ghosts hide what is real
_LABEL = 40
_APART = 6  # rows between two topic entities: their neighbours lie there


@dataclass(slots=True)
class Picture:
    """Grows with the events of one run.

    Args:
        kg: the graph, for neighbours.
    """

    kg: KnowledgeGraph
    _net: Network = field(default_factory=lambda: Network(directed=True))
    _place: dict[str, tuple[int, int]] = field(default_factory=dict)  # entity -> column, row
    _taken: set[tuple[int, int]] = field(default_factory=set)
    _edges: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)  # head, tail, kind
    _fans: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)  # the edge that says a relation
    _bends: Counter[tuple[str, ...]] = field(default_factory=Counter)  # edges so far between two nodes
    _faded: set[str] = field(default_factory=set)
    _paths: dict[tuple[bool, int], PathFound] = field(default_factory=dict)
    _left_out: int = 0
    _ghosts: int = 0

    def see(self, event: Event) -> dict[str, Any] | None:
        """What this event adds to the picture, as a record for the page; None when nothing."""
        if isinstance(event, EntitiesLinked) and event.chosen:
            return self._begin(event.chosen)
        if isinstance(event, PathFound):
            self._paths[event.constrained, event.index] = event
            return None
        if isinstance(event, PathVerified):
            found = self._paths.get((event.constrained, event.index))
            if found is not None and found.path is not None:
                return self._add_path(found.path, event)
        return None

    # topics and their surroundings -----------------------------------------------------------------

    def _begin(self, topics: Sequence[str]) -> dict[str, Any]:
        before = len(self._net.nodes)
        for number, topic in enumerate(topics):
            self._place[topic] = (0, _APART * number)
            self._taken.add((0, _APART * number))
            x, y = self._position(topic)
            self._net.add_node(topic, label=visible(topic, _LABEL), group="topic", x=x, y=y, title=visible(topic, 200))
        edges = [edge for topic in topics for edge in self._surround(topic)]
        return self._record(self._net.nodes[before:], edges)

    def _surround(self, topic: str) -> list[dict[str, Any]]:
        """A fan of faded neighbours left of a topic entity, and how many more there are."""
        around = [pair for pair in telling_first(self.kg, topic) if pair[0] not in self._place]
        shown = around[:_NEIGHBOURS]
        x0, y0 = self._position(topic)
        edges = []
        for place, (entity, reading) in enumerate(shown):
            down = place - (len(shown) - 1) / 2
            x = x0 - 120 - 46 * (place % 2)
            self._net.add_node(entity, label=visible(entity, 22), group="neighbour", x=x, y=round(y0 + 34 * down))
            self._faded.add(entity)
            edges += self._edge(topic, reading, entity, "neighbour")
        more = len(around) - len(shown)
        if more > 0:
            name = f"more:{topic}"
            label = f"+{more:,} more"
            self._net.add_node(name, label=label, group="more", x=x0 - 90, y=round(y0 + 34 * (len(shown) / 2 + 0.8)))
        return edges

    # paths -----------------------------------------------------------------------------------------

    def _add_path(self, path: Path, event: PathVerified) -> dict[str, Any] | None:
        invented = not event.verdict.faithful
        if invented and self._ghosts >= _INVENTED_PATHS:
            return None
        self._ghosts += invented
        before, gone = len(self._net.nodes), [e for e in path.entities if e in self._faded]
        for entity in gone:  # it is no longer a mere neighbour: it gets a place of its own
            self._faded.discard(entity)
            self._edges = {key: e for key, e in self._edges.items() if entity not in (e["from"], e["to"])}
            self._net.node_map.pop(entity, None)
            self._net.node_ids.remove(entity)
            self._net.nodes = [node for node in self._net.nodes if node["id"] != entity]
        before -= len(gone)
        edges, key = [], f"{'g' if event.constrained else 'x'}{event.index}"
        for hop, entity in enumerate(path.entities):
            if entity not in self._place and len(self._net.nodes) >= MOST_NODES:
                self._left_out += 1
                return self._record(self._net.nodes[before:], edges, gone)
            verdict = event.verdict.hops[max(hop - 1, 0)].verdict
            found = not hop or verdict is HopVerdict.OK
            last = hop == len(path.entities) - 1
            if entity not in self.kg.entities:
                group = "ghost"
            elif found:
                group = "end" if last and not invented else "entity"
            else:
                group = "stray"  # it exists, but not where the model says
            head = path.entities[hop - 1] if hop else ""
            self._node(entity, group, hop, head, up=not found)
            if hop:
                kind = "grounded" if found else "ghost"
                edges += self._edge(head, path.relations[hop - 1], entity, kind, key, verdict.value)
        return self._record(self._net.nodes[before:], edges, gone)

    def _node(self, entity: str, group: str, column: int, parent: str = "", up: bool = False) -> None:
        if entity in self._place:
            return
        row = self._free_row(column, self._place.get(parent, (0, 0))[1], up)
        self._place[entity] = (column, row)
        self._taken.add((column, row))
        x, y = self._position(entity)
        self._net.add_node(entity, label=visible(entity, _LABEL), group=group, x=x, y=y, title=visible(entity, 200))

    def _free_row(self, column: int, parent: int, up: bool) -> int:
        """The next free row from the parent's: what was found goes down from there, what was invented up."""
        start = min(parent, -1) if up else parent
        return next(row for row in count(start, -1 if up else 1) if (column, row) not in self._taken)

    def _position(self, entity: str) -> tuple[int, int]:
        column, row = self._place[entity]
        # every other row a little to the right, so that labels do not meet
        return column * COLUMN + (34 if row % 2 else 0) * bool(column), row * ROW

    def _edge(
        self, head: str, relation: str, tail: str, kind: str, path: str = "", verdict: str = ""
    ) -> list[dict[str, Any]]:
        """The edge, new or with one relation or path more, and another one that gave its label up to it."""
        edge = self._edges.get((head, tail, kind))
        if edge is None:
            pair = tuple(sorted((head, tail)))
            number, self._bends[pair] = self._bends.total(), self._bends[pair] + 1
            bend = self._bends[pair] - 1
            edge = {"id": f"e{number}", "from": head, "to": tail, "kind": kind, "bend": bend, "paths": [], "says": []}
            self._edges[head, tail, kind] = edge
        changed = [edge]
        if path and path not in edge["paths"]:
            edge["paths"].append(path)
        line = f"{head} → {relation} → {tail}" + (f" ({verdict})" if kind == "ghost" else "")
        if line not in edge["says"]:
            edge["says"].append(line)
            edge["title"] = visible("\n".join(edge["says"]), 600)
            changed += self._name(edge, head, relation, kind)
        return changed

    def _name(self, edge: dict[str, Any], head: str, relation: str, kind: str) -> list[dict[str, Any]]:
        """Write the relation on the edge; of a fan of edges that say the same, the outermost says it."""
        edge.setdefault("label", "")
        if kind == "neighbour":
            return []
        label = visible(relation, _LABEL)
        other = self._fans.get((head, relation, kind))
        self._fans[head, relation, kind] = edge
        edge["label"] = "\n".join(filter(None, [edge["label"], label]))
        if other is None:
            return []
        other["label"] = "\n".join(part for part in other["label"].split("\n") if part != label)
        return [other]

    def _record(
        self, nodes: Sequence[dict[str, Any]], edges: Sequence[dict[str, Any]], gone: Sequence[str] = ()
    ) -> dict[str, Any]:
        keep = ("id", "label", "group", "x", "y", "title")
        return {
            "event": "Picture",
            "nodes": [{k: node[k] for k in keep if k in node} for node in nodes],
            "edges": [{k: v for k, v in edge.items() if k != "says"} for edge in edges],
            "gone": list(gone),
            "left_out": self._left_out,
        }
