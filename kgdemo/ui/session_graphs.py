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
from kgdemo.kg.io.upload import PASTED, read_upload, starters
from kgdemo.pipeline import Pipeline
from kgdemo.view.escape import visible

OWN, EDITED = "own:", "edited:"
MAX_KEPT = 8  # of each of the two kinds, for all visitors together
SECONDS_KEPT = 3600.0
_ROWS_SHOWN = 5


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
            told = json.loads(written)
            edits = [Edit(str(kind), (str(h), str(r), str(t))) for kind, h, r, t in told.get("edits", [])]
            own = str(told.get("own", ""))
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise UserError(f"The changes of the graph cannot be read ({error}); load the page anew.") from error
        return cls(own, checked(edits))


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


class SessionGraphs:
    """All visitors' graphs of one server; safe to use from several threads.

    Args:
        pipeline: where the graphs are made known.
        clock: seconds, ever rising; tests give their own.
    """

    def __init__(self, pipeline: Pipeline, clock: Callable[[], float] = time.monotonic) -> None:
        self.pipeline = pipeline
        self._clock = clock
        self._asked: OrderedDict[str, float] = OrderedDict()  # name -> when last asked
        self._lock = threading.RLock()

    def bring(self, content: bytes, title: str) -> Brought:
        """Take in a visitor's graph.

        Args:
            content: text or file of triples, see ``kg.upload``.
            title: what the visitor calls it; tells the format of a file.

        Raises:
            UserError: it cannot be read or is too large.
        """
        profile = self.pipeline.profile
        triples = read_upload(content, title, profile.upload_bytes, profile.upload_triples)
        kg = build_graph(triples, title)
        name = OWN + secrets.token_urlsafe(16)
        with self._lock:
            self._keep(name, kg, StatedFacts(triples))
        sizes = len(kg), len(kg.entities), len(kg.relations)
        rows = tuple((visible(h, 200), visible(r, 200), visible(t, 200)) for h, r, t in triples[:_ROWS_SHOWN])
        return Brought(name, title, *sizes, rows, tuple(starters(kg)))

    def brought(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """``bring`` for the browser: what was brought, or ``{"error": one sentence}``.

        Args:
            sent: ``text``, or a file's ``name`` and ``base64``.
        """
        try:
            if "base64" not in sent:
                return asdict(self.bring(str(sent.get("text", "")).encode("utf-8", "replace"), PASTED))
            enough = 4 * (self.pipeline.profile.upload_bytes // 3 + 2)  # of base64, to see that it is too much
            content = b64decode(str(sent["base64"])[:enough])
            return asdict(self.bring(content, visible(sent.get("name", ""), 80)))
        except UserError as error:
            return {"error": visible(error, 400)}
        except (ValueError, binascii.Error):
            return {"error": "The file did not arrive whole; choose it once more."}

    def tried(self, kg: KnowledgeGraph, written: str) -> dict[str, Any]:
        """Whether edits fit a graph, for the browser: ``{"triples": size afterwards}`` or ``{"error": …}``."""
        try:
            return {"triples": len(apply(kg, ClientGraph.read(written).edits))}
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
                if client_graph.own not in self._asked:
                    raise UserError("Your graph has been forgotten, as all are after a while; bring it once more.")
                self._touch(client_graph.own)
            base = client_graph.own or graph
            if not client_graph.edits:
                return base
            told = json.dumps([base, *((edit.kind, *edit.triple) for edit in client_graph.edits)])
            name = EDITED + hashlib.sha256(told.encode()).hexdigest()
            if name in self._asked:
                self._touch(name)
                return name
        kg = apply(self.pipeline.graph(base), client_graph.edits)
        stated = ((edit.kind == ADD, edit.triple) for edit in client_graph.edits)
        facts = EditedFacts(self.pipeline.facts(base), stated)
        with self._lock:
            self._keep(name, kg, facts, base)
        return name

    def _keep(self, name: str, kg: KnowledgeGraph, facts: Facts, like: str = "") -> None:
        self.pipeline.add_graph(name, kg, facts, like)
        self._touch(name)
        kind = OWN if name.startswith(OWN) else EDITED
        of_kind = [known for known in self._asked if known.startswith(kind)]
        for known in of_kind[:-MAX_KEPT]:
            self._forget(known)

    def _touch(self, name: str) -> None:
        self._asked[name] = self._clock()
        self._asked.move_to_end(name)

    def _forget_old(self) -> None:
        for name in [n for n, at in self._asked.items() if self._clock() - at > SECONDS_KEPT]:
            self._forget(name)

    def _forget(self, name: str) -> None:
        del self._asked[name]
        self.pipeline.forget_graph(name)


def limits(pipeline: Pipeline) -> dict[str, Any]:
    """What the page says before anything is brought or changed."""
    profile = pipeline.profile
    return {
        "triples": profile.upload_triples,
        "bytes": profile.upload_bytes,
        "edits": MAX_EDITS,
        "minutes": round(SECONDS_KEPT / 60),
        "kept": MAX_KEPT,
    }
