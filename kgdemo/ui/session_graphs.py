"""The graphs of visitors: edited ones and brought ones, each known by a name that only its visitor has.

The browser keeps the list of edits and sends it with every question; here the edited graph is made from it,
over the arrays of the graph as it is. Whatever was not asked for longest goes first, and all goes in time.
"""

from __future__ import annotations

import binascii
import hashlib
import json
import secrets
import threading
import time
from base64 import b64decode
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kgdemo.errors import UserError
from kgdemo.facts import EditedFacts, Facts, StatedFacts
from kgdemo.kg.edits import ADD, MAX_EDITS, Edit, apply, checked
from kgdemo.kg.graph import KnowledgeGraph, Triple
from kgdemo.kg.io.catalogue import build_graph
from kgdemo.kg.io.formats import PASTED, read_upload
from kgdemo.kg.stores.graph import StoreGraph
from kgdemo.kg.xray import starters
from kgdemo.pipeline import Pipeline
from kgdemo.view.escape import visible

OWN, EDITED = "own:", "edited:"
BEHIND_STORE = (
    "The graph {name} lies behind a store: it is met question by question, and is neither counted nor changed here. "
    "To change a part of it, bring that part as triples."
)
MAX_EDITED = 8  # edited graphs of all visitors together; each is made anew from its edits when it is asked again
SECONDS_TO_LIVE = 3600.0
_ROWS_SHOWN = 5
_FAULTS_SHOWN = 20  # lines of a visitor's graph that are no triples


@dataclass(frozen=True, slots=True)
class ClientGraph:
    """The world of a question, as the browser tells it: a brought graph by its name, and edits."""

    own: str = ""
    edits: tuple[Edit, ...] = ()

    @classmethod
    def read(cls, written: str) -> ClientGraph:
        """From JSON ``{"own": name, "edits": [[kind, head, relation, tail], …]}``; empty text: the world as it is.

        Raises:
            UserError: it is none, or its edits are out of bounds.
        """
        if not written:
            return cls()
        try:
            record = json.loads(written)
            edits = [Edit(str(kind), (str(h), str(r), str(t))) for kind, h, r, t in record.get("edits", [])]
            own = str(record.get("own", ""))
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise UserError("The changes of the graph cannot be read; load the page anew.") from error
        return cls(own, checked(edits))


def held_whole(kg: KnowledgeGraph) -> KnowledgeGraph:
    """The graph, if all of it is at hand to be counted and changed.

    Raises:
        UserError: it lies behind a store.
    """
    if isinstance(kg, StoreGraph):
        raise UserError(BEHIND_STORE.format(name=kg.name))
    return kg


@dataclass(frozen=True, slots=True)
class Brought:
    """A graph that a visitor brought, as the page shows it."""

    own: str
    title: str
    triples: int
    entities: int
    relations: int
    rows: tuple[Triple, ...]
    starters: tuple[str, ...]
    left_out: int = 0  # lines that are no triples


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who brought a graph.

    Attributes:
        address: as ``guard`` says.
        name: what the visitor's page calls itself, at random; several may sit behind one address.
    """

    address: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class _StoredGraph:
    """Whose a brought graph is, and how large."""

    visitor: Visitor
    triples: int


class SessionGraphs:
    """All visitors' graphs of one server; safe to use from several threads.

    A visitor who brings more than the profile allows loses the own graph that was unused longest. Where an address or
    the server is full, so does a visitor who has several, but nobody loses the last one: the newcomer is refused.

    Args:
        pipeline: where the graphs are made known.
        clock: seconds, ever rising; tests give their own.
    """

    def __init__(self, pipeline: Pipeline, clock: Callable[[], float] = time.monotonic) -> None:
        self.pipeline = pipeline
        self._clock = clock
        self._used_at: OrderedDict[str, float] = OrderedDict()  # name -> when last asked
        self._stored: dict[str, _StoredGraph] = {}  # the brought ones among them
        self._lock = threading.RLock()

    def bring(self, content: bytes, title: str, visitor: Visitor = Visitor(), lenient: bool = False) -> Brought:
        """Take in a visitor's graph.

        Args:
            content: text or file of triples, see ``kg.io.formats``.
            title: what the visitor calls it; tells the format of a file.
            visitor: whose it is.
            lenient: lines that are no triples are left out.

        Raises:
            UserError: it cannot be read or is too large, or there is no room for it.
        """
        faults: list[str] = []
        triples = self._read(content, title, faults if lenient else None)
        kg = build_graph(triples, title)
        name = OWN + secrets.token_urlsafe(16)
        with self._lock:
            self._forget_old()
            self._make_room(visitor, len(kg))
            self._stored[name] = _StoredGraph(visitor, len(kg))
            self._keep(name, kg, StatedFacts(triples))
        sizes = len(kg), len(kg.entities), len(kg.relations)
        rows = tuple((visible(h, 200), visible(r, 200), visible(t, 200)) for h, r, t in triples[:_ROWS_SHOWN])
        return Brought(name, title, *sizes, rows, tuple(starters(kg)), len(faults))

    def _read(self, content: bytes, title: str, faults: list[str] | None) -> list[Triple]:
        profile = self.pipeline.profile
        return read_upload(content, title, profile.upload_bytes, profile.upload_triples, profile.label, faults)

    def brought(self, sent: Mapping[str, Any], visitor: Visitor = Visitor()) -> dict[str, Any]:
        """``bring`` for the browser: what was brought, or ``{"error": one sentence}``.

        Where only some lines are no triples, ``faults`` says beside the error what is wrong with the first of them,
        ``bad`` how many there are, and ``good`` how many triples the others hold.

        Args:
            sent: ``text``, or a file's ``name`` and ``base64``; ``lenient``, whether lines that are no triples are left
                out.
            visitor: whose it is.
        """
        try:
            content, title = self._sent(sent)
        except (ValueError, binascii.Error):
            return {"error": "The file did not arrive whole; choose it once more."}
        try:
            return asdict(self.bring(content, title, visitor, sent.get("lenient") is True))
        except UserError as error:
            return {"error": visible(error, 400), **self._good_and_bad(content, title)}

    def _sent(self, sent: Mapping[str, Any]) -> tuple[bytes, str]:
        """What the browser has sent, and its title."""
        if "base64" not in sent:
            return str(sent.get("text", "")).encode("utf-8", "replace"), PASTED
        enough = 4 * (self.pipeline.profile.upload_bytes // 3 + 2)  # of base64, to see that it is too much
        return b64decode(str(sent["base64"])[:enough]), visible(sent.get("name", ""), 80)

    def _good_and_bad(self, content: bytes, title: str) -> dict[str, Any]:
        """Which lines of a graph that was refused are no triples; nothing where that is not what is wrong with it."""
        faults: list[str] = []
        try:
            good = len(self._read(content, title, faults))
        except UserError:
            return {}
        told = [visible(fault, 200) for fault in faults[:_FAULTS_SHOWN]]
        return {"faults": told, "bad": len(faults), "good": good} if faults else {}

    def tried(self, kg: KnowledgeGraph, written: str) -> dict[str, Any]:
        """Whether edits fit a graph, for the browser: ``{"triples": size afterwards}`` or ``{"error": …}``."""
        try:
            return {"triples": len(apply(held_whole(kg), ClientGraph.read(written).edits))}
        except UserError as error:
            return {"error": visible(error, 800)}

    def source(self, graph: str, client_graph: ClientGraph) -> str:
        """The pipeline's name of the graph that a question is asked on; made where it is not there yet.

        Args:
            graph: the graph chosen in the settings.
            client_graph: what the visitor has changed.

        Raises:
            UserError: a brought graph has been forgotten, or an edit does not fit the graph.
        """
        with self._lock:
            self._forget_old()
            if client_graph.own:
                if client_graph.own not in self._used_at:
                    raise UserError("Your graph has been forgotten, as all are after a while; bring it once more.")
                self._touch(client_graph.own)
            base = client_graph.own or graph
            if not client_graph.edits:
                return base
            record = json.dumps([base, *((edit.kind, *edit.triple) for edit in client_graph.edits)])
            name = EDITED + hashlib.sha256(record.encode()).hexdigest()
            if name in self._used_at:
                self._touch(name)
                return name
        kg = apply(held_whole(self.pipeline.graph(base)), client_graph.edits)
        stated = ((edit.kind == ADD, edit.triple) for edit in client_graph.edits)
        facts = EditedFacts(self.pipeline.facts(base), stated)
        with self._lock:
            self._keep(name, kg, facts, base)
        return name

    def _keep(self, name: str, kg: KnowledgeGraph, facts: Facts, like: str = "") -> None:
        self.pipeline.add_graph(name, kg, facts, like)
        self._touch(name)
        edited = [known for known in self._used_at if known.startswith(EDITED)]
        for known in edited[:-MAX_EDITED]:
            self._forget(known)

    def _make_room(self, visitor: Visitor, triples: int) -> None:
        """Forget graphs until one more of this visitor's may be kept.

        Raises:
            UserError: the address or the server is full of graphs that are their visitors' last.
        """
        own = self._graphs_of(visitor)
        while len(own) >= self.pipeline.profile.graphs:
            self._forget(own.pop(0))
        while full := self._full(visitor, triples):
            spare = [
                name
                for name in self._used_at
                if name in self._stored
                and (full == "server" or self._stored[name].visitor.address == visitor.address)
                and len(self._graphs_of(self._stored[name].visitor)) > 1
            ]
            going = own or spare
            if not going:
                where = "this server" if full == "server" else "your network"
                raise UserError(
                    f"There is no room for another graph from {where} at the moment; try again in some minutes, "
                    "or with a smaller one."
                )
            self._forget(going.pop(0))

    def _full(self, visitor: Visitor, triples: int) -> str:
        """What has no room for another graph of so many triples: ``address``, ``server``, or nothing."""
        profile, stored = self.pipeline.profile, self._stored.values()
        if sum(one.visitor.address == visitor.address for one in stored) >= profile.graphs_an_address:
            return "address"
        if (
            len(stored) >= profile.graphs_in_all
            or sum(one.triples for one in stored) + triples > profile.triples_in_all
        ):
            return "server"
        return ""

    def _graphs_of(self, visitor: Visitor) -> list[str]:
        """The names of a visitor's brought graphs, the one unused longest first."""
        return [name for name in self._used_at if name in self._stored and self._stored[name].visitor == visitor]

    def _touch(self, name: str) -> None:
        self._used_at[name] = self._clock()
        self._used_at.move_to_end(name)

    def _forget_old(self) -> None:
        for name in [n for n, at in self._used_at.items() if self._clock() - at > SECONDS_TO_LIVE]:
            self._forget(name)

    def _forget(self, name: str) -> None:
        del self._used_at[name]
        self._stored.pop(name, None)
        self.pipeline.forget_graph(name)


def limits(pipeline: Pipeline) -> dict[str, Any]:
    """What the page says before anything is brought or changed."""
    profile = pipeline.profile
    return {
        "triples": profile.upload_triples,
        "bytes": profile.upload_bytes,
        "edits": MAX_EDITS,
        "minutes": round(SECONDS_TO_LIVE / 60),
        "kept": profile.graphs,
    }
