"""Asking a SPARQL endpoint over HTTP: a query's reply is read up to a number of bytes and checked before use."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping
from functools import lru_cache
from urllib.parse import urlsplit

import httpx

from kgdemo.kg.stores.base import METER, StoreError, charged

_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*\Z")
_MAX_BYTES = 64_000_000  # of one reply
_TRIES = 2  # of one request
_HERE = ("localhost", "127.0.0.1", "::1")

Row = Mapping[str, Mapping[str, str]]  # variable -> term, as SPARQL's JSON results write it


class Endpoint:
    """Where queries are sent; safe to use from several threads.

    Args:
        url: of the endpoint's queries.
        timeout: seconds that one request may take.
        client: the HTTP client; a new one by default.
    """

    def __init__(self, url: str, timeout: float, client: httpx.Client | None = None) -> None:
        self.url = url
        self._timeout = timeout
        self._headers = {"Accept": "application/sparql-results+json"}
        if urlsplit(url).hostname in _HERE:
            self._headers["Accept-Encoding"] = "identity"  # packing takes longer than sending does
        self._client = client or httpx.Client(timeout=timeout, follow_redirects=False, trust_env=False)

    def select(self, query: str, patience: float = 1.0) -> list[Row]:
        """The rows of a query's reply.

        Args:
            query: what is asked.
            patience: how many times the usual seconds it may take.

        Raises:
            StoreError: none came, in time and in form.
        """
        for left in range(_TRIES - 1, -1, -1):
            try:
                with charged():
                    return _rows(self._reply(query, patience * self._timeout))
            except httpx.TimeoutException as error:
                raise StoreError("The graph store did not answer in time; ask again, or with fewer hops.") from error
            except (httpx.HTTPError, ValueError) as error:
                if not left:
                    raise StoreError(f"The graph store gave no usable answer ({_why(error)}); ask again.") from error
        raise AssertionError("unreachable")

    def _reply(self, query: str, seconds: float) -> bytes:
        body, deadline = bytearray(), time.perf_counter() + seconds
        asked = self._client.stream("POST", self.url, data={"query": query}, headers=self._headers, timeout=seconds)
        with asked as response:
            if response.status_code != 200:
                raise ValueError(f"status {response.status_code}")
            for piece in response.iter_bytes():
                body += piece
                if len(body) > _MAX_BYTES:
                    raise StoreError("The graph store's answer is too long to be read; ask with fewer hops.")
                if time.perf_counter() > deadline:  # the client's own time-out is that of one piece
                    raise httpx.ReadTimeout("the whole answer took too long")
        if (meter := METER.get()) is not None:
            meter.received += len(body)
        return bytes(body)


def _rows(body: bytes) -> list[Row]:
    """The rows of SPARQL's JSON results.

    Raises:
        ValueError: it is no such thing.
    """
    try:
        rows = json.loads(body)["results"]["bindings"]
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError("no SPARQL results") from error
    if not isinstance(rows, list) or not _all_of(dict, rows):
        raise ValueError("no SPARQL results")
    terms = [term for row in rows for term in row.values()]
    if not _all_of(dict, terms) or not _all_of(str, (text for term in terms for text in term.values())):
        raise ValueError("no SPARQL results")
    return rows


def _all_of(kind: type, values: Iterable[object]) -> bool:
    """Whether all values are of this very type; a reply may have a hundred thousand."""
    return set(map(type, values)) <= {kind}


def _why(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) and str(error).startswith(("status", "no SP")) else "unreachable"


def is_iri(text: str) -> bool:
    """Whether a query may name something by this text."""
    return bool(_IRI.match(text))


def id_in(row: Row, name: str) -> str:
    """The IRI that a variable is bound to; empty for anything else, an id that no query could name included."""
    term = row.get(name)
    return _checked(term.get("value", "")) if term is not None and term.get("type") == "uri" else ""


@lru_cache(maxsize=100_000)
def _checked(iri: str) -> str:
    return iri if _IRI.match(iri) else ""


def ids_in(rows: Iterable[Row], name: str) -> set[str]:
    """The IRIs that a variable is bound to in some of these rows."""
    return {iri for row in rows if (iri := id_in(row, name))}


def text_in(row: Row, name: str) -> str:
    """What a variable is bound to, as text; empty where it is not."""
    return row.get(name, {}).get("value", "")


def number_in(row: Row, name: str) -> int:
    """The whole number that a variable is bound to.

    Raises:
        StoreError: it is none.
    """
    try:
        return int(float(text_in(row, name)))
    except (ValueError, OverflowError) as error:
        raise StoreError("The graph store counted something that is no number; ask again.") from error
