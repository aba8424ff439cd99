"""A graph store that speaks SPARQL 1.1 over HTTP: Oxigraph, QLever, Virtuoso, Blazegraph, GraphDB and others.

Every query is written here. What goes into one passes ``_iri`` or ``_literal``, so neither a label nor an id that a
store once replied can change what is asked. Replies are read up to a number of bytes and checked before they are used.
"""

from __future__ import annotations

import json
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import httpx

from kgdemo.kg.stores.base import METER, Edge, Ends, Node, RelationCount, StoreError, Survey, local_name
from kgdemo.kg.stores.profile import StoreProfile

_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*\Z")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MAX_BYTES = 64_000_000  # of one reply
_TRIES = 2  # of one request
_AT_ONCE = 1000  # ids in one query
_MAX_LABEL = 400  # characters of a label that is read

_T = TypeVar("_T")
Row = Mapping[str, Mapping[str, str]]  # variable -> term, as SPARQL's JSON results write it


class SparqlStore:
    """One endpoint, read only; safe to use from several threads.

    Args:
        url: of the endpoint's queries.
        profile: how the graph is shaped.
        timeout: seconds that one request may take.
        client: the HTTP client; a new one by default.
    """

    def __init__(
        self, url: str, profile: StoreProfile | None = None, timeout: float = 10.0, client: httpx.Client | None = None
    ) -> None:
        self.url = url
        self.profile = profile or StoreProfile()
        self._timeout = timeout
        self._client = client or httpx.Client(timeout=timeout, follow_redirects=False, trust_env=False)

    # verbs -------------------------------------------------------------------------------------

    def survey(self) -> Survey:
        """See ``base.Store``."""
        if self.profile.relations:
            rows = self._select(
                f"SELECT ?relation ?label WHERE {{ {self.profile.relations} . {self._named('?named', '?label')} }}"
            )
            labels = self._by_language(rows, "relation", "label")
            relations = tuple(Node(iri, labels.get(iri, "")) for iri in sorted(_ids(rows, "relation")))
            return Survey(relations, frozenset(self.profile.symmetric))
        facts = f"?s ?p ?o . FILTER(isIRI(?o)) {self._facts('?p')} {self._entity('?s')} {self._entity('?o')}"
        counts = self._select(
            f"SELECT ?p (COUNT(*) AS ?n) (SUM(IF(?s = ?o, 0, 1)) AS ?d) WHERE {{ {facts} }} GROUP BY ?p"
        )
        both = self._select(f"SELECT ?p (COUNT(*) AS ?n) WHERE {{ {facts} ?o ?p ?s . FILTER(?s != ?o) }} GROUP BY ?p")
        turned = {iri: _number(row, "n") for row in both if (iri := _id(row, "p"))}
        different = {iri: _number(row, "d") for row in counts if (iri := _id(row, "p"))}
        labels = {node.id: node.label for node in self.labels(sorted(different))}
        symmetric = {iri for iri, count in turned.items() if count > 0.5 * different.get(iri, 0)}
        return Survey(
            tuple(Node(iri, labels.get(iri, "")) for iri in sorted(different)),
            frozenset(symmetric | set(self.profile.symmetric)),
            self._types(),
            sum(_number(row, "n") for row in counts),
        )

    def relations(self, entities: Sequence[str]) -> list[RelationCount]:
        """See ``base.Store``."""
        found = []
        for some in _batches(entities):
            rows = self._select(
                f"SELECT ?s ?p ?d (COUNT(*) AS ?n) WHERE {{ {self._around(some, ())} }} GROUP BY ?s ?p ?d"
            )
            for row in rows:
                entity, relation = _id(row, "s"), _id(row, "p")
                if entity and relation:
                    found.append(RelationCount(entity, relation, _text(row, "d") == "1", _number(row, "n")))
        return found

    def ends(
        self,
        entities: Sequence[str],
        relations: Sequence[tuple[str, bool]] = (),
        prefix: str = "",
        limit: int = 10_000,
    ) -> Ends:
        """See ``base.Store``."""
        edges: list[Edge] = []
        for some in _batches(entities):
            room = limit - len(edges)
            begins = (
                f"?o {_iri(self.profile.label)} ?b . FILTER(STRSTARTS(STR(?b), {_literal(prefix)}))" if prefix else ""
            )
            inner = f"SELECT ?s ?p ?d ?o WHERE {{ {self._around(some, relations)} {begins} }}"
            inner += f" {'ORDER BY STR(?b) ' if prefix else ''}LIMIT {room + 1}"
            said = f"{self._named('?o', '?l')} {self._typed('?o', '?t')}"
            rows = self._select(f"SELECT ?s ?p ?d ?o ?l ?t WHERE {{ {{ {inner} }} {said} }}")
            found = self._edges(rows)
            edges += found[:room]
            if len(found) > room:
                return Ends(tuple(edges), False)
        return Ends(tuple(edges), True)

    def onward(self, entity: str) -> list[tuple[str, bool, str, bool]]:
        """See ``base.Store``."""
        hops = []
        for first in (True, False):
            for second in (True, False):
                one = f"{_iri(entity)} ?p ?m" if first else f"?m ?p {_iri(entity)}"
                two = "?m ?q ?o" if second else "?o ?q ?m"
                hops.append(f"{{ {one} . {two} . BIND({int(first)} AS ?d) BIND({int(second)} AS ?e) }}")
        rows = self._select(
            f"SELECT DISTINCT ?p ?d ?q ?e WHERE {{ {' UNION '.join(hops)} FILTER(isIRI(?m) && isIRI(?o)) "
            f"{self._facts('?p')} {self._facts('?q')} {self._entity('?m')} {self._entity('?o')} }}"
        )
        return [
            (one, _text(row, "d") == "1", two, _text(row, "e") == "1")
            for row in rows
            if (one := _id(row, "p")) and (two := _id(row, "q"))
        ]

    def labels(self, ids: Sequence[str]) -> list[Node]:
        """See ``base.Store``."""
        found = []
        for some in _batches(ids):
            values = f"VALUES ?s {{ {' '.join(map(_iri, some))} }}"
            kinds = [(kind, predicate) for kind, predicate in enumerate(self._says()) if predicate]
            said = [f"{{ {values} ?s {_iri(predicate)} ?v . BIND({kind} AS ?k) }}" for kind, predicate in kinds]
            tags = ", ".join(map(_literal, self.profile.languages))
            rows = self._select(
                f"SELECT ?s ?k ?v WHERE {{ {' UNION '.join(said)} FILTER(isIRI(?v) || LANG(?v) IN ({tags})) }}"
            )
            found += self._nodes(rows)
        return found

    def find(self, texts: Sequence[str]) -> list[tuple[str, Node]]:
        """See ``base.Store``. An entity without a label is found by the last part of its id, or by its id."""
        found = []
        for some in _batches(dict.fromkeys(text for text in texts if 0 < len(text) <= _MAX_LABEL)):
            written = " ".join(self._in_language(text, lang) for text in some for lang in self.profile.languages)
            naming = "|".join(_iri(p) for p in (self.profile.label, self.profile.aliases) if p)
            ways = [f"{{ VALUES ?f {{ {written} }} ?o {naming} ?f }}"]
            by_id = {iri: text for text in some for iri in self._ids_called(text)}
            if by_id:
                there = "FILTER(EXISTS { ?o ?x ?y } || EXISTS { ?y ?x ?o })"
                ways.append(f"{{ VALUES ?o {{ {' '.join(map(_iri, by_id))} }} {there} }}")
            rows = self._select(
                f"SELECT DISTINCT ?f ?o ?l ?t WHERE {{ {' UNION '.join(ways)} {self._entity('?o')} "
                f"{self._named('?o', '?l')} {self._typed('?o', '?t')} }} LIMIT {100 * len(some)}"
            )
            labels, types = self._by_language(rows, "o", "l"), self._first_types(rows)
            pairs = dict.fromkeys(
                (_text(row, "f") or by_id.get(iri, ""), iri) for row in rows if (iri := _id(row, "o"))
            )
            found += [
                (text, Node(iri, labels.get(iri) or self._unnamed(iri), types.get(iri, ""))) for text, iri in pairs
            ]
        return found

    def exists(self, triples: Sequence[tuple[str, str, str]]) -> list[bool]:
        """See ``base.Store``."""
        stated: set[tuple[str, str, str]] = set()
        for some in _batches(dict.fromkeys(triples)):
            values = " ".join(f"({_iri(s)} {_iri(p)} {_iri(o)})" for s, p, o in some)
            rows = self._select(f"SELECT ?s ?p ?o WHERE {{ VALUES (?s ?p ?o) {{ {values} }} ?s ?p ?o }}")
            stated.update((_id(row, "s"), _id(row, "p"), _id(row, "o")) for row in rows)
        return [triple in stated for triple in triples]

    # parts of queries --------------------------------------------------------------------------

    def _around(self, entities: Sequence[str], relations: Sequence[tuple[str, bool]]) -> str:
        """Facts of these entities: ``?s``, ``?p``, ``?o`` and whether ``?s`` is the head, ``?d``."""
        values = f"VALUES ?s {{ {' '.join(map(_iri, entities))} }}"
        sides = []
        for outgoing, pattern in ((1, "?s ?p ?o"), (0, "?o ?p ?s")):
            wanted = [relation for relation, forward in relations if forward == bool(outgoing)]
            if relations and not wanted:
                continue
            over = f"VALUES ?p {{ {' '.join(map(_iri, wanted))} }}" if wanted else ""
            sides.append(f"{{ {values} {over} {pattern} . BIND({outgoing} AS ?d) }}")
        return f"{' UNION '.join(sides)} FILTER(isIRI(?o)) {self._facts('?p')} {self._entity('?o')}"

    def _facts(self, variable: str) -> str:
        begins = " || ".join(f"STRSTARTS(STR({variable}), {_literal(one)})" for one in self.profile.facts)
        out = ", ".join(map(_iri, self.profile.no_facts))
        return (f"FILTER({begins}) " if begins else "") + (f"FILTER({variable} NOT IN ({out}))" if out else "")

    def _entity(self, variable: str) -> str:
        begins = " || ".join(f"STRSTARTS(STR({variable}), {_literal(one)})" for one in self.profile.entities)
        return f"FILTER({begins})" if begins else ""

    def _named(self, subject: str, label: str) -> str:
        tags = ", ".join(_literal(lang) for lang in self.profile.languages)
        return f"OPTIONAL {{ {subject} {_iri(self.profile.label)} {label} . FILTER(LANG({label}) IN ({tags})) }}"

    def _typed(self, subject: str, variable: str) -> str:
        return f"OPTIONAL {{ {subject} {_iri(self.profile.type)} {variable} }}" if self.profile.type else ""

    def _in_language(self, text: str, language: str) -> str:
        return _literal(text) + (f"@{language}" if re.fullmatch(r"[A-Za-z]+(-[A-Za-z0-9]+)*", language) else "")

    def _unnamed(self, iri: str) -> str:
        """What an entity without a label is called: by its id, or by the last part of it where that leads back."""
        name = local_name(iri)
        return name if iri in self._ids_called(name) else iri

    def _ids_called(self, name: str) -> list[str]:
        """The ids that a name may stand for: its own, and those that the profile's beginnings make of it."""
        bases = [begin[: max(begin.rfind("/"), begin.rfind("#")) + 1] for begin in self.profile.entities]
        made = [base + name for base, begin in zip(bases, self.profile.entities, strict=True) if base]
        begins = self.profile.entities or ("http",)
        return [iri for iri in dict.fromkeys((name, *made)) if iri.startswith(begins) and _IRI.match(iri)]

    def _says(self) -> tuple[str, str, str, str]:
        return self.profile.label, self.profile.aliases, self.profile.description, self.profile.type

    # reading replies ---------------------------------------------------------------------------

    def _edges(self, rows: Sequence[Row]) -> list[Edge]:
        """Each edge once; several labels or types of an end make several rows."""
        labels, types = self._by_language(rows, "o", "l"), self._first_types(rows)
        keys = dict.fromkeys((_id(row, "s"), _id(row, "p"), _text(row, "d") == "1", _id(row, "o")) for row in rows)
        return [
            Edge(entity, relation, outgoing, Node(end, labels.get(end) or self._unnamed(end), types.get(end, "")))
            for entity, relation, outgoing, end in keys
            if entity and relation and end
        ]

    def _nodes(self, rows: Sequence[Row]) -> list[Node]:
        said: defaultdict[str, defaultdict[int, list[Mapping[str, str]]]] = defaultdict(lambda: defaultdict(list))
        for row in rows:
            if iri := _id(row, "s"):
                said[iri][_number(row, "k")].append(row.get("v", {}))
        nodes = []
        for iri, by_kind in said.items():
            label, aliases, description = (self._spoken(by_kind[kind]) for kind in range(3))
            types = sorted(term.get("value", "") for term in by_kind[3])
            nodes.append(Node(iri, "".join(label[:1]), "".join(types[:1]), tuple(aliases), "".join(description[:1])))
        return nodes

    def _spoken(self, terms: Iterable[Mapping[str, str]]) -> list[str]:
        """Texts in the profile's languages, those in the language liked best first, then in alphabetical order."""
        order = {language: place for place, language in enumerate(self.profile.languages)}
        known = [(order[lang], _clean(term.get("value", ""))) for term in terms if (lang := _tag(term)) in order]
        return [text for _, text in sorted(known) if text]

    def _by_language(self, rows: Sequence[Row], of: str, label: str) -> dict[str, str]:
        terms: defaultdict[str, list[Mapping[str, str]]] = defaultdict(list)
        for row in rows:
            if label in row and (iri := _id(row, of)):
                terms[iri].append(row[label])
        return {iri: spoken[0] for iri, own in terms.items() if (spoken := self._spoken(own))}

    def _first_types(self, rows: Sequence[Row]) -> dict[str, str]:
        types: dict[str, str] = {}
        for row in rows:
            if (iri := _id(row, "o")) and (kind := _id(row, "t")):
                types[iri] = min(kind, types.get(iri, kind))
        return types

    def _types(self) -> dict[str, str]:
        if not self.profile.type:
            return {}
        rows = self._select(f"SELECT DISTINCT ?t WHERE {{ ?s {_iri(self.profile.type)} ?t . FILTER(isIRI(?t)) }}")
        ids = sorted(_ids(rows, "t"))
        labels = {node.id: node.label for node in self.labels(ids)}
        return {iri: labels.get(iri) or local_name(iri) for iri in ids}

    # HTTP --------------------------------------------------------------------------------------

    def _select(self, query: str) -> list[Row]:
        """The rows of a query's reply.

        Raises:
            StoreError: none came, in time and in form.
        """
        for left in range(_TRIES - 1, -1, -1):
            meter = METER.get()
            if meter is not None:
                meter.charge()
            began = time.perf_counter()
            try:
                return _rows(self._reply(query))
            except httpx.TimeoutException as error:
                raise StoreError("The graph store did not answer in time; ask again, or with fewer hops.") from error
            except (httpx.HTTPError, ValueError) as error:
                if not left:
                    raise StoreError(f"The graph store gave no usable answer ({_why(error)}); ask again.") from error
            finally:
                if meter is not None:
                    meter.seconds += time.perf_counter() - began
        raise AssertionError("unreachable")

    def _reply(self, query: str) -> bytes:
        headers = {"Accept": "application/sparql-results+json"}
        body, deadline = bytearray(), time.perf_counter() + self._timeout
        with self._client.stream("POST", self.url, data={"query": query}, headers=headers) as response:
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
    if not isinstance(rows, list):
        raise ValueError("no SPARQL results")
    for row in rows:
        if not isinstance(row, dict):
            raise ValueError("no SPARQL results")
        for term in row.values():
            if not isinstance(term, dict) or not all(isinstance(text, str) for text in term.values()):
                raise ValueError("no SPARQL results")
    return rows


def _why(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) and str(error).startswith(("status", "no SP")) else "unreachable"


def _iri(text: str) -> str:
    """An IRI as a query writes it.

    Raises:
        StoreError: it is none.
    """
    if not _IRI.match(text):
        raise StoreError(f"{text[:60]!r} is no id that may be asked for.")
    return f"<{text}>"


def _literal(text: str) -> str:
    """A text as a query writes it."""
    return '"' + "".join(_ESCAPES.get(c, c if c >= " " else f"\\u{ord(c):04x}") for c in text) + '"'


def _id(row: Row, name: str) -> str:
    """The IRI that a variable is bound to; empty for anything else, an id that no query could name included."""
    term = row.get(name, {})
    iri = term.get("value", "")
    return iri if term.get("type") == "uri" and _IRI.match(iri) else ""


def _ids(rows: Iterable[Row], name: str) -> set[str]:
    return {iri for row in rows if (iri := _id(row, name))}


def _text(row: Row, name: str) -> str:
    return row.get(name, {}).get("value", "")


def _number(row: Row, name: str) -> int:
    """A whole number.

    Raises:
        ValueError: it is none.
    """
    try:
        return int(float(_text(row, name)))
    except (ValueError, OverflowError) as error:
        raise StoreError("The graph store counted something that is no number; ask again.") from error


def _tag(term: Mapping[str, str]) -> str:
    return term.get("xml:lang", "")


def _clean(text: str) -> str:
    """A label as one line; a longer one than is read counts as none."""
    return " ".join(text.split()) if len(text) <= _MAX_LABEL else ""


def _batches(items: Iterable[_T]) -> Iterable[list[_T]]:
    every = list(items)
    return (every[first : first + _AT_ONCE] for first in range(0, len(every), _AT_ONCE))
