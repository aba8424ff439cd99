"""The seam to a graph store: read-only verbs that take many things at once; and the store that runs in this process.

A verb is one round trip, so a search that asks for all entities of a hop together waits once a hop. No verb takes query
text: ids, labels and numbers go in, and the store's own class writes and escapes the query.

A run is charged for what it asks. ``metered`` puts a ``Meter`` around each step of the run's generator, and a store
charges whichever meter is in force where it is called.

``CypherStore`` is LadybugDB, which speaks Cypher and runs within this process, from a folder on this machine: all its
queries are here. Ids and labels go in as parameters; the names of properties come from the profile, where they are
checked. Nodes of all tables are entities and relationships of all tables are facts. A store elsewhere is ``sparql``'s.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from kgdemo.errors import UserError, first_line

MAX_LABEL = 400  # characters of a label that is read


class StoreError(UserError):
    """A store that is gone, too slow, or answers nonsense; what a run has shown before stays."""


@dataclass(frozen=True, slots=True)
class Node:
    """An entity or relation as a store knows it; ``label`` and ``type`` are empty where it has none."""

    id: str
    label: str = ""
    type: str = ""
    aliases: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """A fact seen from one of its ends.

    Attributes:
        entity, relation: ids.
        outgoing: the entity is the fact's head.
        end: its other end.
    """

    entity: str
    relation: str
    outgoing: bool
    end: Node


@dataclass(frozen=True, slots=True)
class Ends:
    """Edges, and whether there are no more than these."""

    edges: tuple[Edge, ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class RelationEnds:
    """How many ends a relation leads to from an entity, in one direction.

    Attributes:
        ends: all of them, where they are few enough to be read along; else none.
    """

    entity: str
    relation: str
    outgoing: bool
    count: int
    ends: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Survey:
    """What is asked once, when a store is opened.

    Attributes:
        relations: the predicates that are facts.
        symmetric: ids of those stored in both directions for most of their facts.
        types: id -> label of the types; empty where the profile lists none.
        facts: how many there are; 0 where the store is too large to be counted.
    """

    relations: tuple[Node, ...]
    symmetric: frozenset[str] = frozenset()
    types: dict[str, str] = field(default_factory=dict)
    facts: int = 0


Step = tuple[str, str, bool]  # entity, relation, and whether the entity is the head


class Store(Protocol):
    """What a graph and a verifier ask of a store. Every method raises ``StoreError`` where no answer is to be had."""

    def survey(self, relations_alone: bool = False) -> Survey:
        """The relations of the store, and what is known of it as a whole unless they alone are asked for."""

    def relations(self, entities: Sequence[str], few: int = 0) -> list[RelationEnds]:
        """Which relations these entities have, in which direction, to how many ends.

        Args:
            entities: ids.
            few: where a relation leads to so many ends at the most, they come along.
        """

    def ends(self, steps: Sequence[Step], limit: int = 10_000) -> Ends:
        """Where these relations lead from these entities.

        Args:
            steps: (entity, relation, outgoing).
            limit: of edges in all; which of more come is the store's choice.
        """

    def labels(self, ids: Sequence[str]) -> list[Node]:
        """Label, type, aliases and description of these ids; one that it has none of is left out."""

    def find(self, texts: Sequence[str]) -> list[tuple[str, Node]]:
        """The entities whose label or alias is exactly one of these texts, each with that text."""

    def search(self, texts: Sequence[str]) -> list[tuple[str, Node]]:
        """Entities with names that one of these texts may be a misspelling of, each with its name.

        What comes is the store's guess, to be compared with the texts; nothing where it has no way to search names.
        """

    def look_up(self, texts: Sequence[str], few: int) -> tuple[list[tuple[str, Node]], list[RelationEnds]]:
        """``find`` and ``relations`` of what is found, in one request.

        Args:
            texts: labels; those that are aliases alone, or ids, may be found without their relations.
            few: as for ``relations``.

        Returns:
            what ``find`` gives, and relations of entities among that; of one without any it is not known here whether
            it has none.
        """

    def exists(self, triples: Sequence[tuple[str, str, str]]) -> list[bool]:
        """Whether each of these (head, relation, tail) ids is a fact of the store at this moment."""


@dataclass(slots=True)
class Meter:
    """What one run has asked of stores.

    Attributes:
        limit: requests that it may make.
        requests, seconds, received: made so far, the time waited for them, and bytes of their replies.
    """

    limit: int = 400
    requests: int = 0
    seconds: float = 0.0
    received: int = 0

    def charge(self) -> None:
        """Count a request.

        Raises:
            StoreError: the run has made as many as it may.
        """
        if self.requests >= self.limit:
            raise StoreError(
                f"This question needs more than the {self.limit} requests to the graph store that one may make; ask "
                "with fewer paths or hops."
            )
        self.requests += 1

    def said(self) -> str:
        """In words for the page."""
        count = "1 request" if self.requests == 1 else f"{self.requests} requests"
        return f"The graph store answered {count} in {self.seconds:.2f} s, {self.received / 1000:,.0f} kB."


METER: ContextVar[Meter | None] = ContextVar("METER", default=None)


@contextmanager
def charged() -> Iterator[None]:
    """One request, charged to the meter in force with the time that it takes.

    Raises:
        StoreError: the run has made as many as it may.
    """
    meter = METER.get()
    if meter is not None:
        meter.charge()
    began = time.perf_counter()
    try:
        yield
    finally:
        if meter is not None:
            meter.seconds += time.perf_counter() - began


_Event = TypeVar("_Event")


def metered(events: Iterator[_Event], meter: Meter) -> Iterator[_Event]:
    """The events of a run whose requests are charged to a meter, whichever thread takes the next one."""
    while True:
        token = METER.set(meter)
        try:
            event = next(events)
        except StopIteration:
            return
        finally:
            METER.reset(token)
        yield event


def readable(texts: Iterable[str]) -> list[str]:
    """Those texts that may be labels, each once."""
    return list(dict.fromkeys(text for text in texts if 0 < len(text) <= MAX_LABEL))


def local_name(id_: str) -> str:
    """The last part of an id: ``Q42`` of ``http://www.wikidata.org/entity/Q42``."""
    return id_.rstrip("/#").replace("#", "/").rsplit("/", 1)[-1] or id_


def distinct_labels(relations: Sequence[Node]) -> dict[str, str]:
    """Label -> id; relations of one label, and those without one, are told apart by their ids."""
    found: dict[str, str] = {}
    for node in relations:
        label = node.label or local_name(node.id)
        if label in found:
            label = f"{label} ({local_name(node.id)})"
        found[node.id if label in found else label] = node.id
    return found


# a store that speaks Cypher -----------------------------------------------------------------------

_TIMEOUT = 10.0  # seconds that one request may take
_BUFFER = 512_000_000  # bytes of a graph that are held in memory
_SURVEY = 6  # times longer than for a question may the store take for what is asked when it is opened
_COUNTED = 500_000  # facts, up to which those that are stored in both directions are counted
_SLIPS = 2  # letters that a name may differ by


@dataclass(frozen=True, slots=True)
class CypherProfile:
    """The shape of a property graph.

    Attributes:
        id, label: the properties of nodes that tell them apart and that name them.
        type, description: of nodes too; an empty type is the node's own label, an empty description none.
        relation: the property of a relationship that names it; empty: its own label does.
        leave_out: relations that are no facts.
        symmetric: those that say the same in both directions, where the store is too large for that to be counted.
    """

    id: str = "id"
    label: str = "label"
    type: str = "type"
    description: str = ""
    relation: str = "relation"
    leave_out: tuple[str, ...] = ()
    symmetric: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in (self.id, self.label, self.type, self.description, self.relation):
            if name and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
                raise UserError(f"The store profile names the property {name[:60]!r}; write letters, digits and _.")


class CypherStore:
    """One folder of LadybugDB, read only; safe to use from several threads, which wait for each other.

    Args:
        folder: of the database.
        profile: how the graph is shaped.

    Raises:
        UserError: LadybugDB is not installed, or the folder holds no database of it.
    """

    def __init__(self, folder: Path, profile: CypherProfile | None = None) -> None:
        try:
            import ladybug
        except ImportError as error:
            raise UserError("Graphs in LadybugDB need it installed; run pip install ladybug.") from error
        self.profile = profile or CypherProfile()
        self._lock = threading.Lock()
        self._few = False  # facts, as far as is known
        if not folder.exists():
            raise UserError(f"There is no graph store {folder}; give the path of a LadybugDB database.")
        try:
            database = ladybug.Database(folder, read_only=True, buffer_pool_size=_BUFFER, max_num_threads=1)
            self._connection = ladybug.Connection(database, num_threads=1)
        except RuntimeError as error:
            raise UserError(f"{folder} cannot be opened as a graph store ({first_line(error)[:120]}).") from error

    # verbs -------------------------------------------------------------------------------------

    def survey(self, relations_alone: bool = False) -> Survey:
        """See ``Store``."""
        rows = self._ask(f"MATCH ()-[f]->() RETURN {self._relation}, count(*)", patience=_SURVEY)
        counts = {str(name): int(count) for name, count in rows if name is not None}
        counts = {name: count for name, count in counts.items() if name not in self.profile.leave_out}
        relations = tuple(Node(name, name) for name in sorted(counts))
        if relations_alone:
            return Survey(relations)
        kinds = self._ask(f"MATCH (o) RETURN DISTINCT {self._type('o')}", patience=_SURVEY)
        types = {str(kind): str(kind) for (kind,) in kinds if kind}
        facts = sum(counts.values())
        self._few = facts <= _COUNTED
        symmetric = self._both_ways() if facts <= _COUNTED else ()
        return Survey(relations, frozenset((*symmetric, *self.profile.symmetric)), types, facts)

    def _both_ways(self) -> list[str]:
        """The relations of which most facts are stored in both directions."""
        two, name = f"s.{self.profile.id} <> o.{self.profile.id}", self._relation
        facts = dict(self._ask(f"MATCH (s)-[f]->(o) WHERE {two} RETURN {name}, count(*)", patience=_SURVEY))
        both = self._ask(
            f"MATCH (s)-[f]->(o)-[g]->(s) WHERE {two} AND {name} = {self._called('g')} RETURN {name}, count(*)",
            patience=_SURVEY,
        )
        return [relation for relation, count in both if 2 * count > facts[relation]]

    def relations(self, entities: Sequence[str], few: int = 0) -> list[RelationEnds]:
        """See ``Store``."""
        ways, given = self._counts(f"s.{self.profile.id} IN $ids", few)
        return _counted(self._ask(ways, {"ids": list(entities), **given}))

    def _counts(self, which: str, few: int) -> tuple[str, dict[str, Any]]:
        """A query for the relations of the nodes ``s`` of which something holds, with their few ends."""
        collected = f"collect({self._node('o')})" if few else "[]"
        few_led = "CASE WHEN n <= $few THEN led ELSE [] END" if few else "led"
        ways = (
            f"MATCH {pattern} WHERE {which} {self._is_fact} WITH s.{self.profile.id} AS entity, "
            f"{self._relation} AS relation, count(*) AS n, {collected} AS led "
            f"RETURN entity, relation, {outgoing} AS outgoing, n, {few_led} AS led"
            for pattern, outgoing in _WAYS
        )
        return " UNION ALL ".join(ways), {**({"few": few} if few else {}), **self._left_out}

    def ends(self, steps: Sequence[Step], limit: int = 10_000) -> Ends:
        """See ``Store``."""
        ways, given = [], {"limit": limit + 1, **self._left_out}
        for pattern, outgoing in _WAYS:
            own = [(entity, relation) for entity, relation, forward in steps if str(forward).lower() == outgoing]
            if own:
                given[f"ids_{outgoing}"] = list(dict.fromkeys(entity for entity, _ in own))
                given[f"steps_{outgoing}"] = [f"{relation} {entity}" for entity, relation in own]
                ways.append(
                    f"MATCH {pattern} WHERE s.{self.profile.id} IN $ids_{outgoing} {self._is_fact} "
                    f"AND concat({self._relation}, ' ', s.{self.profile.id}) IN $steps_{outgoing} "
                    f"RETURN s.{self.profile.id}, {self._relation}, {outgoing} AS outgoing, {self._node('o')} AS node "
                    f"LIMIT $limit"
                )
        rows = self._ask(" UNION ALL ".join(ways), given)
        edges = tuple(Edge(entity, relation, outgoing, _node(end)) for entity, relation, outgoing, end in rows)
        return Ends(edges[:limit], len(edges) <= limit)

    def labels(self, ids: Sequence[str]) -> list[Node]:
        """See ``Store``."""
        rows = self._ask(f"MATCH (o) WHERE o.{self.profile.id} IN $ids RETURN {self._node('o')}", {"ids": list(ids)})
        return [_node(node) for (node,) in rows]

    def find(self, texts: Sequence[str]) -> list[tuple[str, Node]]:
        """See ``Store``; an entity without a label is found by its id."""
        rows = self._ask(f"MATCH (o) WHERE {self._is_called('o')} RETURN {self._node('o')}", {"texts": readable(texts)})
        return [(node.label or node.id, node) for (read,) in rows for node in [_node(read)]]

    def search(self, texts: Sequence[str]) -> list[tuple[str, Node]]:
        """See ``Store``; all labels are gone through, so it is not asked of a graph with many."""
        label, given = f"lower(o.{self.profile.label})", readable(texts)
        if not given or not self._few:
            return []
        near = " OR ".join(f"levenshtein({label}, $text{i}) <= {_SLIPS}" for i in range(len(given)))
        rows = self._ask(
            f"MATCH (o) WHERE {near} RETURN {self._node('o')}", {f"text{i}": t.lower() for i, t in enumerate(given)}
        )
        return [(node.label, node) for (read,) in rows for node in [_node(read)]]

    def look_up(self, texts: Sequence[str], few: int) -> tuple[list[tuple[str, Node]], list[RelationEnds]]:
        """See ``Store``."""
        found = (
            f"MATCH (o) WHERE {self._is_called('o')} RETURN o.{self.profile.id} AS entity, '' AS relation, "
            f"true AS outgoing, 0 AS n, [{self._node('o')}] AS led"
        )
        counts, given = self._counts(self._is_called("s"), max(1, few))
        rows = self._ask(f"{found} UNION ALL {counts}", {"texts": readable(texts), **given})
        nodes = [_node(led[0]) for _, _, _, n, led in rows if not n]
        return [(node.label or node.id, node) for node in nodes], _counted([row for row in rows if row[3]])

    def exists(self, triples: Sequence[tuple[str, str, str]]) -> list[bool]:
        """See ``Store``."""
        identity = self.profile.id
        heads, relations, tails = (sorted({triple[place] for triple in triples}) for place in range(3))
        rows = self._ask(
            f"MATCH (s)-[f]->(o) WHERE s.{identity} IN $heads AND o.{identity} IN $tails "
            f"AND {self._relation} IN $relations {self._is_fact} RETURN s.{identity}, {self._relation}, o.{identity}",
            {"heads": heads, "relations": relations, "tails": tails, **self._left_out},
        )
        stated = {(head, relation, tail) for head, relation, tail in rows}
        return [triple in stated for triple in triples]

    # parts of queries --------------------------------------------------------------------------

    @property
    def _relation(self) -> str:
        """What a relationship ``f`` is called."""
        return self._called("f")

    def _called(self, relationship: str) -> str:
        return f"{relationship}.{self.profile.relation}" if self.profile.relation else f"label({relationship})"

    @property
    def _is_fact(self) -> str:
        return f"AND NOT {self._relation} IN $left_out" if self.profile.leave_out else ""

    @property
    def _left_out(self) -> dict[str, Any]:
        return {"left_out": list(self.profile.leave_out)} if self.profile.leave_out else {}

    def _is_called(self, node: str) -> str:
        """That a node has one of the given texts as its label, or as its id where it has no label."""
        label, identity = f"{node}.{self.profile.label}", f"{node}.{self.profile.id}"
        return f"({label} IN $texts OR ({label} IS NULL AND {identity} IN $texts))"

    def _type(self, node: str) -> str:
        return f"{node}.{self.profile.type}" if self.profile.type else f"label({node})"

    def _node(self, node: str) -> str:
        """What is read of a node."""
        said = f"{node}.{self.profile.description}" if self.profile.description else "''"
        label, identity = f"{node}.{self.profile.label}", f"{node}.{self.profile.id}"
        return f"{{id: {identity}, label: {label}, type: {self._type(node)}, description: {said}}}"

    # asking ------------------------------------------------------------------------------------

    def _ask(self, query: str, given: dict[str, Any] | None = None, patience: int = 1) -> list[list[Any]]:
        """The rows of a query's result.

        Raises:
            StoreError: there is none, in time.
        """
        try:
            with charged(), self._lock:
                self._connection.set_query_timeout(int(1000 * patience * _TIMEOUT))
                result: Any = self._connection.execute(query, given or {})
                rows: list[list[Any]] = result.get_all()
                result.close()
        except RuntimeError as error:
            if "Interrupted" in str(error):
                raise StoreError("The graph store did not answer in time; ask again, or with fewer hops.") from error
            raise StoreError(
                f"The graph store gave no usable answer ({first_line(error)[:120]}); ask again."
            ) from error
        return rows


_WAYS = (("(s)-[f]->(o)", "true"), ("(s)<-[f]-(o)", "false"))


def _node(read: dict[str, Any]) -> Node:
    said = {name: " ".join(str(read.get(name) or "").split()) for name in ("label", "type", "description")}
    label = said["label"] if len(said["label"]) <= MAX_LABEL else ""
    return Node(str(read["id"]), label, said["type"], description=said["description"])


def _counted(rows: Sequence[Sequence[Any]]) -> list[RelationEnds]:
    return [
        RelationEnds(entity, relation, outgoing, n, tuple(map(_node, led)))
        for entity, relation, outgoing, n, led in rows
        if relation is not None
    ]
