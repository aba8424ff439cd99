"""The picture of a run: which nodes and edges it shows, and where.

Drawn from left to right, one column a hop, topic entities on the left; the same run always gives the same picture.
Besides the paths it holds what thoughts and decisions only looked at, so that a reader sees where a method has been
and turned back. A node keeps its place once it has one, so a picture that grows while a question is answered never
jumps. Entities and edges are built with pyvis; the browser is sent what is new.

Between two entities there is one edge for what the graph holds, however many relations and paths it stands for. It may
begin as something that a thought merely looked at and later turn out to be part of a path. The neighbours of an entity,
faded around a topic or asked for by a visitor, come with the telling ones first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from pyvis.network import Network

from kgdemo.events import (
    CandidatesScored,
    EntitiesLinked,
    Event,
    Operand,
    Operation,
    PathFound,
    PathVerified,
    Picture,
    PictureEdge,
    PictureNode,
    Thought,
)
from kgdemo.kg.graph import KnowledgeGraph, Triple
from kgdemo.kg.labels import Literal
from kgdemo.kg.path import SEPARATOR, Path
from kgdemo.view.escape import visible

MAX_NEIGHBOURS = 40  # neighbours that one answer holds; a hub has thousands
_NEIGHBOUR_LABEL = 40


def telling_first(kg: KnowledgeGraph, entity: str) -> list[tuple[str, str]]:
    """``(neighbour, relation as read from the entity)``, each neighbour once.

    Rare relations come first: twelve actors of one film would hide its director.
    """
    around = list(dict.fromkeys(kg.neighbours(entity)))
    often = Counter(relation_label for relation_label, _ in around)
    seen: dict[str, str] = {}
    for relation_label, neighbour in sorted(around, key=lambda pair: (often[pair[0]], pair[0])):
        if neighbour != entity:
            seen.setdefault(neighbour, relation_label)
    return list(seen.items())


def neighbours_of(kg: KnowledgeGraph, entity: str, limit: int = MAX_NEIGHBOURS) -> dict[str, Any]:
    """A record for the page.

    Args:
        kg: the graph of the run.
        entity: label of the node; one that the graph does not know has no neighbours.
        limit: how many are named.

    Returns:
        ``near``, each ``{id, label, relation}``, and ``more``, how many are not among them.
    """
    found = telling_first(kg, entity)
    near = [
        {"id": name, "label": visible(name, _NEIGHBOUR_LABEL), "relation": visible(relation_label, _NEIGHBOUR_LABEL)}
        for name, relation_label in found[:limit]
    ]
    return {"near": near, "more": len(found) - len(near)}


COLUMN, ROW = 280, 46  # pixels at full size; a row has room for one line of text
APART = 8  # rows between two topic entities: their neighbours lie there


@dataclass(slots=True)
class Places:
    """Columns and rows of entities."""

    _of: dict[str, tuple[int, int]] = field(default_factory=dict)
    _taken: set[tuple[int, int]] = field(default_factory=set)

    def __contains__(self, entity: str) -> bool:
        return entity in self._of

    def column(self, entity: str) -> int:
        """The column of an entity that has a place."""
        return self._of[entity][0]

    def put_topic(self, entity: str) -> tuple[int, int]:
        """A place on the left, below the topics before it; ``(x, y)``."""
        return self._take(entity, (0, APART * len(self._of)))

    def put(self, entity: str, column: int, parent: str = "", up: bool = False) -> tuple[int, int]:
        """The free place of a column that is nearest to the parent's row; ``(x, y)``.

        Args:
            entity: has no place yet.
            column: number of hops from the topic.
            parent: the entity before it.
            up: above everything instead, which is where invented entities lie.
        """
        row = self._of.get(parent, (0, 0))[1]
        rows: Iterable[int]
        if up:
            top = min((y for x, y in self._taken if x == column), default=0)
            rows = count(min(row, top - 1, -2), -1)
        else:  # the parent's own row, then one below, one above, two below …: children lie around their parent
            rows = (row + (step + 1) // 2 * (1 if step % 2 else -1) for step in count())
        return self._take(entity, (column, next(y for y in rows if (column, y) not in self._taken)))

    def at(self, entity: str) -> tuple[int, int]:
        """``(x, y)`` in pixels."""
        column, row = self._of[entity]
        return column * COLUMN, row * ROW

    def _take(self, entity: str, place: tuple[int, int]) -> tuple[int, int]:
        self._of[entity] = place
        self._taken.add(place)
        return self.at(entity)


GROUNDED, LOOKED, DROPPED, GHOST, NEIGHBOUR = "grounded", "looked", "dropped", "ghost", "neighbour"
WORTH = {DROPPED: 0, LOOKED: 1, GROUNDED: 2}  # kinds that one edge may have in turn
_RELATION_LABEL = 40


@dataclass(slots=True)
class Edges:
    """Edges by their ends and kind."""

    _by_ends: dict[tuple[str, str, str], PictureEdge] = field(default_factory=dict)  # the kinds of WORTH count as one
    _fans: dict[tuple[str, str, str], PictureEdge] = field(default_factory=dict)  # the edge that says a relation
    _bends: Counter[tuple[str, ...]] = field(default_factory=Counter)  # edges so far between two nodes
    _says: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # facts, by the edge's id
    _made: int = 0

    def add(
        self, head: str, relation: str, tail: str, kind: str, key: str = "", verdict: str = ""
    ) -> list[PictureEdge]:
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
            edge.update({"from": head, "to": tail, "kind": kind, "label": ""})
            self._says[edge["id"]] = []
        if key and key not in edge["paths"]:
            edge["paths"].append(key)
        if WORTH.get(kind, 0) < WORTH.get(edge["kind"], 0):
            return changed  # what a path has said, a thought need not say again
        if self._said_backwards(edge, head, relation, tail):
            return changed
        line = f"{head} → {relation} → {tail}" + (f" ({verdict})" if kind == GHOST else "")
        says = self._says[edge["id"]]
        if line not in says:
            says.append(line)
            edge["title"] = visible("\n".join(says), 600)
            changed += self._name(edge, head, relation, kind)
        return changed

    def lower(self, head: str, tail: str) -> list[PictureEdge]:
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

    def _known(self, head: str, relation: str, tail: str, kind: str) -> PictureEdge | None:
        if kind not in WORTH:
            return self._by_ends.get((head, tail, kind))
        edge = self._by_ends.get((head, tail, GROUNDED))
        if edge is None:  # the same fact may be read from its other end
            other = self._by_ends.get((tail, head, GROUNDED))
            same = other is not None and self._said_backwards(other, head, relation, tail)
            edge = other if other is not None and (same or kind != GROUNDED or other["kind"] != GROUNDED) else None
            if same:
                return edge
            if edge is not None and kind == GROUNDED:
                self._by_ends[head, tail, GROUNDED] = self._by_ends.pop((tail, head, GROUNDED))
        return edge

    def _new(self, head: str, tail: str, kind: str) -> PictureEdge:
        pair = tuple(sorted((head, tail)))
        number, bend = self._made, self._bends[pair]
        self._made += 1
        self._bends[pair] += 1
        edge: PictureEdge = {
            "id": f"e{number}", "from": head, "to": tail, "kind": kind, "bend": bend, "label": "", "paths": []
        }  # fmt: skip
        self._by_ends[head, tail, GROUNDED if kind in WORTH else kind] = edge
        return edge

    def _name(self, edge: PictureEdge, head: str, relation: str, kind: str) -> list[PictureEdge]:
        """Write the relation on the edge; of a fan of edges that say the same, the outermost says it."""
        if kind in (NEIGHBOUR, DROPPED):
            return []
        label = visible(relation, _RELATION_LABEL)
        other = self._fans.get((head, relation, kind))
        self._fans[head, relation, kind] = edge
        edge["label"] = "\n".join(filter(None, [edge["label"], label]))
        if other is None or other is edge:
            return []
        other["label"] = "\n".join(part for part in other["label"].split("\n") if part != label)
        return [other]

    def _said_backwards(self, edge: PictureEdge, head: str, relation: str, tail: str) -> bool:
        """Whether the edge says this fact already, read from its other end (``~relation``)."""
        relation_label = relation[1:] if relation.startswith("~") else f"~{relation}"
        return f"{tail} → {relation_label} → {head}" in self._says[edge["id"]]


MAX_NODES = 150
MAX_LOOKED = 18  # nodes that no path holds
_TOUCHED = 4  # triples drawn of one thought
_NEIGHBOURS = 8  # faded ones shown around a topic entity
_INVENTED_PATHS = 4  # more ghosts hide what is real
_OPERANDS = 12  # of a calculation that are drawn
_OPTIONS = 4  # dropped options shown of one decision
_LABEL = 40
_LOOKS = (DROPPED, LOOKED)  # groups of nodes that no path holds (yet)


def with_picture(events: Iterable[Event], graph: Callable[[], KnowledgeGraph]) -> Iterator[Event]:
    """A run with what each event adds to its picture right behind that event.

    Args:
        events: of one run.
        graph: gives the graph it was asked on; called once there is something to draw.
    """
    builder: PictureBuilder | None = None
    for event in events:
        yield event
        if builder is None and isinstance(event, (EntitiesLinked, PathVerified)):
            builder = PictureBuilder(graph())
        gained = builder.see(event) if builder is not None else None
        if gained is not None:
            yield replace(gained, t=event.t)


@dataclass(slots=True)
class PictureBuilder:
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
    _changed: dict[str, PictureNode] = field(default_factory=dict)  # nodes to send
    _gone: list[str] = field(default_factory=list)

    def see(self, event: Event) -> Picture | None:
        """What this event adds to the picture; None when nothing."""
        if isinstance(event, PathFound):
            self._paths[event.constrained, event.index] = event
            return None
        left_out = len(self._left_out)
        edges = list(self._drawn(event))
        if not (edges or self._changed or len(self._left_out) > left_out):
            return None
        changed = {edge["id"]: edge for edge in edges}
        copies = (PictureEdge(**{**edge, "paths": list(edge["paths"])}) for edge in changed.values())
        gained = Picture(tuple(self._changed.values()), tuple(copies), tuple(self._gone), len(self._left_out))
        self._changed, self._gone = {}, []
        return gained

    def _drawn(self, event: Event) -> Iterator[PictureEdge]:
        if isinstance(event, EntitiesLinked):
            for topic in event.chosen:
                self._node(topic, "topic", *self._places.put_topic(topic), visible(topic, 200))
            for topic in event.chosen:
                yield from self._surround(topic)
        elif isinstance(event, PathVerified):
            found = self._paths.get((event.constrained, event.index))
            if found is not None and found.path is not None:
                yield from self._add_path(found.path, event)
        elif isinstance(event, Operation):
            yield from self._add_operation(event)
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

    def _surround(self, topic: str) -> Iterator[PictureEdge]:
        """A fan of faded neighbours left of a topic entity, and how many more there are."""
        around = [pair for pair in telling_first(self.kg, topic) if pair[0] not in self._places]
        shown = around[:_NEIGHBOURS]
        x0, y0 = self._places.at(topic)
        for place, (entity, relation_label) in enumerate(shown):
            down = place - (len(shown) - 1) / 2
            x = x0 - 150 + round(5 * abs(down))  # on an arc around the topic
            self._node(entity, NEIGHBOUR, x, round(y0 + 24 * down), visible(entity, 200), 22)
            self._faded.add(entity)
            yield from self._edges.add(topic, relation_label, entity, NEIGHBOUR)
        more = len(around) - len(shown)
        if more > 0:
            self._node(f"more:{topic}", "more", x0 - 118, round(y0 + 24 * (len(shown) / 2 + 0.8)), f"+{more:,} more")

    # paths -----------------------------------------------------------------------------------------

    def _add_path(self, path: Path, event: PathVerified) -> Iterator[PictureEdge]:
        invented = not event.verdict.faithful
        if invented and self._ghosts >= _INVENTED_PATHS:
            return
        self._ghosts += invented
        key = f"{'g' if event.constrained else 'x'}{event.index}"
        for hop, entity in enumerate(path.entities):
            head = path.entities[hop - 1] if hop else ""
            judged = event.verdict.hops[max(hop - 1, 0)]
            found = not hop or judged.verdict.holds
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
                restates = " → ".join(judged.restates or ())
                wrong = f"{judged.verdict.value}; in the graph: {restates}" if restates else judged.verdict.value
                yield from self._edges.add(head, path.relations[hop - 1], entity, kind, key, wrong)

    # what was computed with ------------------------------------------------------------------------

    def _add_operation(self, event: Operation) -> Iterator[PictureEdge]:
        """The operands, of many those first that are the result."""
        numbered = list(enumerate(event.operands, 1))
        if len(numbered) > _OPERANDS:
            numbered.sort(key=lambda one: one[1].entity not in event.result)
        for place, (number, operand) in enumerate(numbered):
            chosen = operand.entity in event.result
            if place >= _OPERANDS and not chosen:
                self._left_out.add(operand.entity)
            else:
                yield from self._add_operand(operand, f"o{number}", chosen)

    def _add_operand(self, operand: Operand, key: str, chosen: bool) -> Iterator[PictureEdge]:
        """The paths that lead to an operand, and an edge to its value where it has one."""
        for path in operand.paths:
            for hop, entity in enumerate(path.entities):
                head, last = path.entities[hop - 1] if hop else "", hop == len(path.entities) - 1
                if not self._place(entity, "end" if last else "entity", hop, head):
                    return
                if hop:
                    yield from self._edges.add(head, path.relations[hop - 1], entity, GROUNDED, key)
        if operand.attribute in ("", "type"):
            return
        entity, value = operand.entity, str(Literal(operand.value, "" if operand.unit == "year" else operand.unit))
        if not self._place(entity, "end" if chosen else "entity", 0, ""):
            return
        if self._place(value, "value", self._places.column(entity) + 1, entity):
            yield from self._edges.add(entity, operand.attribute, value, GROUNDED, key)

    # what was only looked at -----------------------------------------------------------------------

    def _look(self, triple: Triple, thought: int, pruned: bool) -> Iterator[PictureEdge]:
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
        head, tail = self.kg.entities.find(hop[0]), self.kg.entities.find(hop[2])
        if head is None or tail is None:
            return None
        steps, ends = self.kg.steps(head)
        return hop if hop[1] in (self.kg.step_labels[step] for step in steps[ends == tail]) else None

    # nodes -----------------------------------------------------------------------------------------

    def _place(self, entity: str, group: str, column: int, parent: str, up: bool = False) -> bool:
        """Make sure that an entity is drawn, as what it is worth most; False where there is no room for it."""
        if entity in self._places:
            was = self._net.node_map[entity]["group"]
            if was in _LOOKS and was != group:
                self._paint(entity, group)
            return True
        looked = sum(node["group"] in _LOOKS for node in self._net.nodes) if group in _LOOKS else 0
        if len(self._net.nodes) >= MAX_NODES or looked >= MAX_LOOKED:
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

    def _node(self, entity: str, group: str, x: int, y: int, title: str, limit: int = _LABEL) -> None:
        self._net.add_node(entity, label=visible(title, limit), group=group, x=x, y=y, title=title)
        self._paint(entity, group)

    def _paint(self, entity: str, group: str) -> None:
        node = self._net.node_map[entity]
        node["group"] = group
        self._changed[entity] = PictureNode(
            id=node["id"], label=node["label"], group=group, x=node["x"], y=node["y"], title=node["title"]
        )
