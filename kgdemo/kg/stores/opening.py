"""Stores by name: those that the operator of a server lists, and at home any that a source names.

A source is ``sparql:URL`` or ``cypher:FOLDER`` with the profile behind a ``#``, which says how the graph is shaped:
``sparql:https://query.wikidata.org/sparql#wikidata``. What stands behind the ``#`` of a URL is never sent.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from kgdemo.errors import UserError
from kgdemo.kg.stores.base import Store
from kgdemo.kg.stores.facts import StoreFacts
from kgdemo.kg.stores.graph import StoreGraph

SPARQL, CYPHER = "sparql:", "cypher:"
_PROFILES = Path(__file__).parent / "profiles"
_Profile = TypeVar("_Profile")


def operators_stores(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The stores in ``KGDEMO_STORES``, name -> source: ``NAME=sparql:URL#PROFILE``, several with spaces between them.

    Raises:
        UserError: an entry is none.
    """
    stores = {}
    for entry in environment.get("KGDEMO_STORES", "").split():
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
    from kgdemo.kg.stores.sparql import SparqlProfile, SparqlStore

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
