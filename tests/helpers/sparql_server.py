"""A SPARQL endpoint on this machine, over a graph in memory, that can be told to fail."""

from __future__ import annotations

import http.server
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyoxigraph as ox

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.stores.patterns import RDF_TYPE, RDFS_LABEL

ENTITY, RELATION, TYPE = "http://kg.test/entity/", "http://kg.test/relation/", "http://kg.test/type/"


@dataclass
class Endpoint:
    """A running endpoint.

    Attributes:
        store: what it answers from.
        queries: those it was asked, in order.
        fault: given the number of a request from 0 on and the proper reply; returns what is sent, None to hang up.
    """

    store: ox.Store
    url: str = ""
    queries: list[str] = field(default_factory=list)
    fault: Callable[[int, bytes], bytes | None] | None = None


def triples_of(kg: KnowledgeGraph) -> ox.Store:
    """A graph as RDF: labels in English, types as ``rdf:type``, ids of quoted labels."""
    named, quads = ox.NamedNode, []

    def iri(base: str, label: str) -> ox.NamedNode:
        return named(base + urllib.parse.quote(label, safe=""))

    for base, labels in ((ENTITY, kg.entities), (RELATION, kg.relations), (TYPE, sorted(kg.types))):
        for label in labels:
            quads.append(ox.Quad(iri(base, label), named(RDFS_LABEL), ox.Literal(label, language="en")))
    for label, known in kg.info.items():
        if known.type:
            quads.append(ox.Quad(iri(ENTITY, label), named(RDF_TYPE), iri(TYPE, known.type)))
    for head, relation, tail in kg.triples():
        quads.append(ox.Quad(iri(ENTITY, head), iri(RELATION, relation), iri(ENTITY, tail)))
    store = ox.Store()
    store.bulk_extend(quads)
    return store


@contextmanager
def served(store: ox.Store) -> Iterator[Endpoint]:
    """An endpoint on a free port, gone at the end."""
    endpoint = Endpoint(store)

    class Handler(http.server.BaseHTTPRequestHandler):
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            query = urllib.parse.parse_qs(body)["query"][0]
            number = len(endpoint.queries)
            endpoint.queries.append(query)
            results: Any = endpoint.store.query(query)
            reply: bytes | None = results.serialize(format=ox.QueryResultsFormat.JSON)
            if endpoint.fault is not None:
                assert reply is not None
                reply = endpoint.fault(number, reply)
            if reply is None:
                self.close_connection = True
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    endpoint.url = f"http://127.0.0.1:{server.server_port}/query"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
