"""The seam to a graph store: read-only verbs, each of which takes many things at once.

A verb is one round trip, so a search that asks for all entities of a hop together waits once a hop. No verb takes query
text: ids, labels and numbers go in, and the store's own module writes and escapes the query.

A run is charged for what it asks. ``metered`` puts a ``Meter`` around each step of the run's generator, and a store
charges whichever meter is in force where it is called.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from kgdemo.errors import UserError

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
