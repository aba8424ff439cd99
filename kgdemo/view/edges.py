"""The edges of a picture: what each says, which paths and thoughts it belongs to, and how much it is worth.

Between two entities there is one edge for what the graph holds, however many relations and paths it stands
for. It may begin as something that a thought merely looked at and later turn out to be part of a path.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from kgdemo.view.escape import visible

Edge = dict[str, Any]
GROUNDED, LOOKED, DROPPED, GHOST, NEIGHBOUR = "grounded", "looked", "dropped", "ghost", "neighbour"
WORTH = {DROPPED: 0, LOOKED: 1, GROUNDED: 2}  # kinds that one edge may have in turn
_LABEL = 40


@dataclass(slots=True)
class Edges:
    """Edges by their ends and kind."""

    _by_ends: dict[tuple[str, str, str], Edge] = field(default_factory=dict)  # the kinds of WORTH count as one
    _fans: dict[tuple[str, str, str], Edge] = field(default_factory=dict)  # the edge that says a relation
    _bends: Counter[tuple[str, ...]] = field(default_factory=Counter)  # edges so far between two nodes
    _made: int = 0

    def add(self, head: str, relation: str, tail: str, kind: str, key: str = "", verdict: str = "") -> list[Edge]:
        """An edge, new or with something more to it, and another one that gave its label up to it.

        Args:
            head, relation, tail: as it is read.
            kind: grounded, looked, dropped, ghost or neighbour.
            key: the path or thought it belongs to.
            verdict: what is wrong with a ghost.
        """
        edge = self._known(head, relation, tail, kind) or self._new(head, tail, kind)
        changed = [edge]
        if WORTH.get(kind, 0) > WORTH.get(edge["kind"], 0):
            edge.update({"from": head, "to": tail, "kind": kind, "label": "", "says": []})
        if key and key not in edge["paths"]:
            edge["paths"].append(key)
        if WORTH.get(kind, 0) < WORTH.get(edge["kind"], 0):
            return changed  # what a path has said, a thought need not say again
        if _said_backwards(edge, head, relation, tail):
            return changed
        line = f"{head} → {relation} → {tail}" + (f" ({verdict})" if kind == GHOST else "")
        if line not in edge["says"]:
            edge["says"].append(line)
            edge["title"] = visible("\n".join(edge["says"]), 600)
            changed += self._name(edge, head, relation, kind)
        return changed

    def lower(self, head: str, tail: str) -> list[Edge]:
        """The edge that thoughts looked at, once all of them were dropped."""
        edge = self._by_ends.get((head, tail, GROUNDED)) or self._by_ends.get((tail, head, GROUNDED))
        if edge is None or edge["kind"] != LOOKED:
            return []
        edge["kind"] = DROPPED
        return [edge]

    def forget(self, entity: str) -> None:
        """Drop all edges of an entity."""
        for ends in [ends for ends in self._by_ends if entity in ends[:2]]:
            del self._by_ends[ends]
            self._bends[tuple(sorted(ends[:2]))] -= 1

    def _known(self, head: str, relation: str, tail: str, kind: str) -> Edge | None:
        if kind not in WORTH:
            return self._by_ends.get((head, tail, kind))
        edge = self._by_ends.get((head, tail, GROUNDED))
        if edge is None:  # the same fact may be read from its other end
            other = self._by_ends.get((tail, head, GROUNDED))
            same = other is not None and _said_backwards(other, head, relation, tail)
            edge = other if other is not None and (same or kind != GROUNDED or other["kind"] != GROUNDED) else None
            if same:
                return edge
            if edge is not None and kind == GROUNDED:
                self._by_ends[head, tail, GROUNDED] = self._by_ends.pop((tail, head, GROUNDED))
        return edge

    def _new(self, head: str, tail: str, kind: str) -> Edge:
        pair = tuple(sorted((head, tail)))
        number, bend = self._made, self._bends[pair]
        self._made += 1
        self._bends[pair] += 1
        edge: Edge = {"id": f"e{number}", "from": head, "to": tail, "kind": kind, "bend": bend, "label": ""}
        edge |= {"paths": [], "says": []}
        self._by_ends[head, tail, GROUNDED if kind in WORTH else kind] = edge
        return edge

    def _name(self, edge: Edge, head: str, relation: str, kind: str) -> list[Edge]:
        """Write the relation on the edge; of a fan of edges that say the same, the outermost says it."""
        if kind in (NEIGHBOUR, DROPPED):
            return []
        label = visible(relation, _LABEL)
        other = self._fans.get((head, relation, kind))
        self._fans[head, relation, kind] = edge
        edge["label"] = "\n".join(filter(None, [edge["label"], label]))
        if other is None or other is edge:
            return []
        other["label"] = "\n".join(part for part in other["label"].split("\n") if part != label)
        return [other]


def _said_backwards(edge: Edge, head: str, relation: str, tail: str) -> bool:
    """Whether the edge says this fact already, read from its other end (``~relation``)."""
    reading = relation[1:] if relation.startswith("~") else f"~{relation}"
    return f"{tail} → {reading} → {head}" in edge["says"]


def sent(edge: Edge) -> Edge:
    """The edge as the page gets it."""
    return {name: value for name, value in edge.items() if name != "says"}
