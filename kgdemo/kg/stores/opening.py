"""Stores by name: those that the operator of a server lists, and at home any that a source names.

A source is ``sparql:URL`` with the profile behind a ``#``, as in ``sparql:https://query.wikidata.org/sparql#wikidata``.
What stands behind the ``#`` of a URL is never sent.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kgdemo.errors import UserError
from kgdemo.kg.stores.facts import StoreFacts
from kgdemo.kg.stores.graph import StoreGraph
from kgdemo.kg.stores.profile import read_profile

if TYPE_CHECKING:
    from kgdemo.kg.stores.sparql import SparqlStore

SPARQL = "sparql:"


def operators_stores(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The stores in ``KGDEMO_STORES``, name -> source: ``NAME=sparql:URL#PROFILE``, several with spaces between them.

    Raises:
        UserError: an entry is none.
    """
    stores = {}
    for entry in environment.get("KGDEMO_STORES", "").split():
        name, _, source = entry.partition("=")
        if not name.isidentifier() or not source.startswith(SPARQL):
            raise UserError(f"KGDEMO_STORES holds {entry[:60]!r}; write NAME=sparql:URL#PROFILE.")
        stores[name] = source
    return stores


def is_store(source: str) -> bool:
    """Whether a source names a store."""
    return source.startswith(SPARQL) or source in operators_stores()


def with_profile(source: str, profile: str) -> str:
    """The source of a store with another profile.

    Raises:
        UserError: it names no store.
    """
    if not is_store(source):
        raise UserError(f"--profile says how a store is shaped, as in --kg sparql:URL; {source} is none.")
    return f"{operators_stores().get(source, source).partition('#')[0]}#{profile}"


def open_store(source: str) -> StoreGraph:
    """The graph in a store.

    Raises:
        UserError: the source or its profile is none, or the store does not answer.
    """
    name = source if source in operators_stores() else urlsplit(_url(source)[0]).hostname or "store"
    return StoreGraph(_connected(source), name)


def open_store_facts(source: str) -> StoreFacts:
    """What a store states, by a connection of its own; raises as ``open_store`` does."""
    return StoreFacts(_connected(source))


def _connected(source: str) -> SparqlStore:
    from kgdemo.kg.stores.sparql import SparqlStore  # with a client for HTTP, which other graphs need not load

    url, profile = _url(source)
    return SparqlStore(url, read_profile(profile))


def _url(source: str) -> tuple[str, str]:
    """The address and the profile of a source."""
    url, _, profile = operators_stores().get(source, source).removeprefix(SPARQL).partition("#")
    try:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return url, profile
    except ValueError:
        pass
    raise UserError("A store is named by its address, as in sparql:http://localhost:7878/query; give it so.")
