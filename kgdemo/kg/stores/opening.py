"""Stores by name: those that the operator of a server lists, and at home any that a source names.

A source is ``sparql:URL`` or ``cypher:FOLDER`` with the profile behind a ``#``, which says how the graph is shaped:
``sparql:https://query.wikidata.org/sparql#wikidata``. What stands behind the ``#`` of a URL is never sent.

What a store states, for the verifier, is asked of the store itself, by a connection and a memory of its own
(``StoreFacts``). Names become ids by the store's ``find``, hops become triples by the store's ``exists``. Nothing is
taken from the graph that the decoder walks. What a run is about to have judged is announced (``expect``), so that it
costs two requests.
"""

from __future__ import annotations

import dataclasses
import json
import os
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from kgdemo.errors import UserError
from kgdemo.facts import Facts, Triple
from kgdemo.kg.stores.base import Store, distinct_labels, local_name
from kgdemo.kg.stores.graph import StoreGraph

_MAX_KEPT = 20_000  # names and triples


class StoreFacts(Facts):
    """``Facts`` of a store, whose values are not read; safe to use from several threads.

    A name stands for every entity that is called so: a hop is stated where it is for any of them. Of a name with an id
    in brackets (``Fargo (Q222720)``) only the entity with that id is meant.

    Args:
        store: used for this alone.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._relations = distinct_labels(store.survey(relations_alone=True).relations)
        self.relations, self.inverse_labels = self._relations.keys(), {}
        self._lock = threading.RLock()
        self._ids: dict[str, frozenset[str]] = {}
        self._stated: dict[Triple, bool] = {}

    def entities(self) -> Iterator[str]:
        """See ``Facts``; those of a store are not listed, so a name counts only as the store spells it."""
        return iter(())

    def has_entity(self, label: str) -> bool:
        """See ``Facts``."""
        return bool(self._called([label])[label])

    def holds(self, head: str, relation: str, tail: str) -> bool:
        """See ``Facts``."""
        self.expect([(head, relation, tail)])
        with self._lock:
            return self._stated.get((head, relation, tail), False)

    def forget(self) -> None:
        """See ``Facts``."""
        with self._lock:
            self._ids.clear()
            self._stated.clear()

    def expect(self, triples: Iterable[Triple], names: Iterable[str] = ()) -> None:
        """See ``Facts``: all names in one request, all triples in another."""
        with self._lock:
            if len(self._ids) + len(self._stated) > _MAX_KEPT:
                self.forget()
            asked = [t for t in dict.fromkeys(triples) if t not in self._stated and t[1] in self._relations]
            ids = self._called((*names, *(label for head, _, tail in asked for label in (head, tail))))
            meant = {
                (head, self._relations[triple[1]], tail): triple
                for triple in asked
                for head in ids[triple[0]]
                for tail in ids[triple[2]]
            }
            found = dict.fromkeys(asked, False)
            if meant:
                for there, triple in zip(self._store.exists(list(meant)), meant.values(), strict=True):
                    found[triple] |= there
            self._stated.update(found)

    def _called(self, labels: Iterable[str]) -> dict[str, frozenset[str]]:
        """Label -> the ids of the entities that it stands for."""
        with self._lock:
            wanted = list(dict.fromkeys(labels))
            missing = [label for label in wanted if label not in self._ids]
            if missing:
                self._ids.update(self._find(missing))
            return {label: self._ids[label] for label in wanted}

    def _find(self, labels: list[str]) -> dict[str, frozenset[str]]:
        stems = {label: label.rpartition(" (")[0] for label in labels if label.endswith(")")}
        found = self._store.find([*labels, *stems.values()])
        called = {label: {node.id for text, node in found if text == label == node.label} for label in labels}
        for label, stem in stems.items():
            bracket = label[len(stem) + 2 : -1]
            called[label] |= {n.id for _, n in found if n.label == stem and local_name(n.id) == bracket}
        return {label: frozenset(ids) for label, ids in called.items()}


SPARQL, CYPHER = "sparql:", "cypher:"
_PROFILES = Path(__file__).parent / "profiles"
_Profile = TypeVar("_Profile")


def operators_stores() -> dict[str, str]:
    """The stores in ``KGDEMO_STORES``, name -> source: ``NAME=sparql:URL#PROFILE``, several with spaces between them.

    Raises:
        UserError: an entry is none.
    """
    stores = {}
    for entry in os.environ.get("KGDEMO_STORES", "").split():
        name, _, source = entry.partition("=")
        if not name.isidentifier() or not source.startswith((SPARQL, CYPHER)):
            raise UserError(f"KGDEMO_STORES holds {entry[:60]!r}; write NAME=sparql:URL#PROFILE or NAME=cypher:FOLDER.")
        stores[name] = source
    return stores


def is_store(source: str) -> bool:
    """Whether a source names a store."""
    return source.startswith((SPARQL, CYPHER)) or source in operators_stores()


def with_profile(source: str, profile: str) -> str:
    """The source of a store with another profile.

    Raises:
        UserError: it names no store.
    """
    if not is_store(source):
        raise UserError(
            f"--profile says how a store is shaped, as in --kg sparql:URL or cypher:FOLDER; {source} is none."
        )
    return f"{operators_stores().get(source, source).partition('#')[0]}#{profile}"


def open_store(source: str) -> StoreGraph:
    """The graph in a store.

    Raises:
        UserError: the source or its profile is none, or the store does not answer.
    """
    place = _place(source)[0]
    called = urlsplit(place.removeprefix(SPARQL)).hostname if place.startswith(SPARQL) else Path(place).stem
    return StoreGraph(_connected(source), source if source in operators_stores() else called or "store")


def open_store_facts(source: str) -> StoreFacts:
    """What a store states, by a connection of its own; raises as ``open_store`` does."""
    return StoreFacts(_connected(source))


def _connected(source: str) -> Store:
    """A new connection; what it needs is not loaded for other graphs."""
    place, profile = _place(source)
    if place.startswith(CYPHER):
        from kgdemo.kg.stores.cypher import CypherProfile, CypherStore

        return CypherStore(Path(place.removeprefix(CYPHER)), read_profile(profile, CypherProfile))
    from kgdemo.kg.stores.patterns import SparqlProfile
    from kgdemo.kg.stores.sparql import SparqlStore

    url = place.removeprefix(SPARQL)
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise UserError("A store is named by its address, as in sparql:http://localhost:7878/query; give it so.")
    return SparqlStore(url, read_profile(profile, SparqlProfile))


def _place(source: str) -> tuple[str, str]:
    """Where a store is, with what it speaks before it, and the name of its profile."""
    place, _, profile = operators_stores().get(source, source).partition("#")
    return place, profile


# how a graph is shaped ---------------------------------------------------------------------------


def shipped() -> list[str]:
    """The names of the profiles that ship with the project."""
    return sorted(file.stem for file in _PROFILES.glob("*.json"))


def read_profile(named: str, kind: type[_Profile]) -> _Profile:
    """A profile by the name of a shipped one, or from a JSON file; the default one for an empty name.

    Args:
        named: which.
        kind: ``SparqlProfile`` or ``CypherProfile``, whose fields the file may have.

    Raises:
        UserError: there is no such profile, or the file is none.
    """
    if not named:
        return kind()
    path = _PROFILES / f"{named}.json" if named in shipped() else Path(named)
    try:
        record = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(
            f"There is no store profile {named!r} ({type(error).__name__}); choose {', '.join(shipped())} or give a "
            "JSON file."
        ) from error
    return _checked(record, named, kind)


def _checked(record: Any, named: str, kind: type[_Profile]) -> _Profile:
    known = {field.name: field.default for field in dataclasses.fields(kind)}  # type: ignore[arg-type]  # all are
    if not isinstance(record, dict) or (strange := set(record) - set(known)):
        what = f"has unknown entries {', '.join(sorted(strange))}" if isinstance(record, dict) else "is no object"
        raise UserError(f"The store profile {named} {what}; it may have {', '.join(known)}.")
    values: dict[str, Any] = {}
    for name, value in record.items():
        default = known[name]
        if isinstance(default, tuple) and isinstance(value, list) and all(isinstance(one, str) for one in value):
            value = tuple(value)
        if type(value) is not type(default):
            raise UserError(f"The store profile {named} has no proper value for {name}.")
        values[name] = value
    return kind(**values)
