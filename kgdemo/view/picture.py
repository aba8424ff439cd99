"""The picture of a run: which nodes and edges it shows, and where.

Drawn from left to right, one column a hop, topic entities on the left; the same run always gives the same
picture. Besides the paths it holds what thoughts and decisions only looked at, so that a reader sees where a
method has been and turned back. Entities and edges are built with pyvis; the browser is sent what is new.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pyvis.network import Network

from kgdemo.events import CandidatesScored, EntitiesLinked, Event, PathFound, PathVerified, Thought
from kgdemo.kg.graph import KnowledgeGraph, Triple
from kgdemo.kg.path import SEPARATOR, Path
from kgdemo.verify import HopVerdict, Verifier
from kgdemo.view.edges import DROPPED, GHOST, GROUNDED, LOOKED, NEIGHBOUR, Edge, Edges, sent
from kgdemo.view.escape import visible
from kgdemo.view.places import Places
from kgdemo.view.surroundings import telling_first

MOST_NODES = 150
MOST_LOOKED = 18  # nodes that no path holds
_TOUCHED = 4  # triples drawn of one thought
_NEIGHBOURS = 8  # faded ones shown around a topic entity
_INVENTED_PATHS = 4  # more ghosts hide what is real
_OPTIONS = 4  # dropped options shown of one decision
_LABEL = 40
_LOOKS = (DROPPED, LOOKED)  # groups of nodes that no path holds (yet)


@dataclass(slots=True)
class Picture:
    """Grows with the events of one run.

    Args:
        kg: the graph, for neighbours.
    """

    kg: KnowledgeGraph
    _net: Network = field(default_factory=lambda: Network(directed=True))
    _places: Places = field(default_factory=Places)
    _edges: Edges = field(default_factory=Edges)
    _faded: set[str] = field(default_factory=set)
    _paths: dict[tuple[bool, int], PathFound] = field(default_factory=dict)
    _alive: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))  # looked at -> thoughts that go on
    _left_out: set[str] = field(default_factory=set)
    _ghosts: int = 0
    _changed: dict[str, dict[str, Any]] = field(default_factory=dict)  # nodes to send
    _gone: list[str] = field(default_factory=list)
    _verifier: Verifier | None = None

    def see(self, event: Event) -> dict[str, Any] | None:
        """What this event adds to the picture, as a record for the page; None when nothing."""
        if isinstance(event, PathFound):
            self._paths[event.constrained, event.index] = event
            return None
        left_out = len(self._left_out)
        edges = list(self._drawn(event))
        if not (edges or self._changed or len(self._left_out) > left_out):
            return None
        record = {
            "event": "Picture",
            "nodes": list(self._changed.values()),
            "edges": [sent(edge) for edge in {edge["id"]: edge for edge in edges}.values()],
            "gone": self._gone,
            "left_out": len(self._left_out),
        }
        self._changed, self._gone = {}, []
        return record

    def _drawn(self, event: Event) -> Iterator[Edge]:
        if isinstance(event, EntitiesLinked):
            for topic in event.chosen:
                self._node(topic, "topic", *self._places.put_topic(topic), visible(topic, 200))
            for topic in event.chosen:
                yield from self._surround(topic)
        elif isinstance(event, PathVerified):
            found = self._paths.get((event.constrained, event.index))
            if found is not None and found.path is not None:
                yield from self._add_path(found.path, event)
        elif isinstance(event, Thought):
            for place, triple in enumerate(event.triples):
                if place >= _TOUCHED and triple[2] not in self._places and triple[0] in self._places:
                    self._left_out.add(triple[2])
                    continue
                yield from self._look(triple, event.id, event.fate == "pruned")
        elif isinstance(event, CandidatesScored):
            turned_down = (text for text, kept in zip(event.options, event.kept, strict=True) if not kept)
            hops = (hop for text in turned_down if (hop := self._last_hop(text)) is not None)
            for hop, _ in zip(hops, range(_OPTIONS), strict=False):
                yield from self._look(hop, -1, True)

    # topics and their surroundings -----------------------------------------------------------------

    def _surround(self, topic: str) -> Iterator[Edge]:
        """A fan of faded neighbours left of a topic entity, and how many more there are."""
        around = [pair for pair in telling_first(self.kg, topic) if pair[0] not in self._places]
        shown = around[:_NEIGHBOURS]
        x0, y0 = self._places.at(topic)
        for place, (entity, reading) in enumerate(shown):
            down = place - (len(shown) - 1) / 2
            x = x0 - 150 + round(5 * abs(down))  # on an arc around the topic
            self._node(entity, NEIGHBOUR, x, round(y0 + 24 * down), visible(entity, 200), 22)
            self._faded.add(entity)
            yield from self._edges.add(topic, reading, entity, NEIGHBOUR)
        more = len(around) - len(shown)
        if more > 0:
            self._node(f"more:{topic}", "more", x0 - 118, round(y0 + 24 * (len(shown) / 2 + 0.8)), f"+{more:,} more")

    # paths -----------------------------------------------------------------------------------------

    def _add_path(self, path: Path, event: PathVerified) -> Iterator[Edge]:
        invented = not event.verdict.faithful
        if invented and self._ghosts >= _INVENTED_PATHS:
            return
        self._ghosts += invented
        key = f"{'g' if event.constrained else 'x'}{event.index}"
        for hop, entity in enumerate(path.entities):
            head = path.entities[hop - 1] if hop else ""
            verdict = event.verdict.hops[max(hop - 1, 0)].verdict
            found = not hop or verdict is HopVerdict.OK
            last = hop == len(path.entities) - 1
            if entity not in self.kg.entities:
                group = "ghost"
            elif found:
                group = "end" if last and not invented else "entity"
            else:
                group = "stray"  # it exists, but not where the model says
            if not self._place(entity, group, hop, head, up=not found):
                return
            if hop:
                kind = GROUNDED if found else GHOST
                yield from self._edges.add(head, path.relations[hop - 1], entity, kind, key, verdict.value)

    # what was only looked at -----------------------------------------------------------------------

    def _look(self, triple: Triple, thought: int, pruned: bool) -> Iterator[Edge]:
        """A triple that a thought touched or a decision turned down; it hangs on the end that is drawn already."""
        head, relation, tail = triple
        root, new = (head, tail) if head in self._places else (tail, head)
        if root not in self._places or head == tail:
            return
        going = self._alive[new]
        (going.discard if pruned else going.add)(thought)
        group = LOOKED if going else DROPPED
        if not self._place(new, group, self._places.column(root) + 1, root):
            return
        yield from self._edges.add(head, relation, tail, group, f"t{thought}" if thought > 0 else "")
        if not going:
            yield from self._edges.lower(head, tail)

    def _last_hop(self, text: str) -> Triple | None:
        """The last hop of a written path, where the text is a path of the graph."""
        labels = text.split(SEPARATOR)
        if len(labels) < 3 or len(labels) % 2 == 0:
            return None
        hop = (labels[-3], labels[-2], labels[-1])
        self._verifier = self._verifier or Verifier(self.kg)
        return hop if self._verifier.verify(Path.from_labels(hop)).faithful else None

    # nodes -----------------------------------------------------------------------------------------

    def _place(self, entity: str, group: str, column: int, parent: str, up: bool = False) -> bool:
        """Make sure that an entity is drawn, as what it is worth most; False where there is no room for it."""
        if entity in self._places:
            was = self._net.node_map[entity]["group"]
            if was in _LOOKS and was != group:
                self._paint(entity, group)
            return True
        looked = sum(node["group"] in _LOOKS for node in self._net.nodes) if group in _LOOKS else 0
        if len(self._net.nodes) >= MOST_NODES or looked >= MOST_LOOKED:
            self._left_out.add(entity)
            return False
        if entity in self._faded:  # it is no longer a mere neighbour: it gets a place of its own
            self._fade(entity)
        x, y = self._places.put(entity, column, parent, up)
        self._node(entity, group, x, y, visible(entity, 200))
        return True

    def _fade(self, entity: str) -> None:
        self._faded.discard(entity)
        self._edges.forget(entity)
        self._net.node_map.pop(entity)
        self._net.node_ids.remove(entity)
        self._net.nodes = [node for node in self._net.nodes if node["id"] != entity]
        self._gone.append(entity)

    def _node(self, entity: str, group: str, x: int, y: int, title: str, most: int = _LABEL) -> None:
        self._net.add_node(entity, label=visible(title, most), group=group, x=x, y=y, title=title)
        self._paint(entity, group)

    def _paint(self, entity: str, group: str) -> None:
        node = self._net.node_map[entity]
        node["group"] = group
        self._changed[entity] = {name: node[name] for name in ("id", "label", "group", "x", "y", "title")}
