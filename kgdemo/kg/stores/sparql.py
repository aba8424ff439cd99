"""A graph store that speaks SPARQL 1.1 over HTTP: Oxigraph, QLever, Virtuoso, Blazegraph, GraphDB and others.

Every query is written here. What goes into one passes ``_iri`` or ``_literal``, so neither a label nor an id that a
store once replied can change what is asked. Replies are read up to a number of bytes and checked before they are used.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import httpx

from kgdemo.kg.stores.base import METER, Edge, Ends, Node, RelationEnds, Step, StoreError, Survey, local_name

logger = logging.getLogger(__name__)
RDFS_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*\Z")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MAX_BYTES = 64_000_000  # of one reply
_TRIES = 2  # of one request
_AT_ONCE = 1000  # ids in one query
_SURVEY = 6.0  # times longer than for a question may the store take for what is asked when it is opened
_SAMPLE = 500  # facts of a relation, by which it is told whether it says the same in both directions
_HUB = 20_000  # ends of one relation of an entity, from which on they are counted when the store is opened
_MAX_HUBS = 1_000  # that are known; what is one beside them is counted when a search comes near it
_MAX_LABEL = 400  # characters of a label that is read

_T = TypeVar("_T")
Row = Mapping[str, Mapping[str, str]]  # variable -> term, as SPARQL's JSON results write it


@dataclass(frozen=True, slots=True)
class SparqlProfile:
    """The shape of a graph in a store of RDF.

    Attributes:
        label, aliases, description, type: the predicates that say these of an entity; empty: none does.
        languages: of labels, the one liked best first; ``""`` is text without a language.
        facts: beginnings of the predicates that are facts; none: every predicate is one.
        leave_out: predicates that are no facts, beside those that name, describe and type.
        entities: beginnings of the ids that may be ends of facts; none: every IRI.
        relations: a graph pattern that binds ``?relation`` to the facts' predicates and ``?named`` to what carries
            their labels; for stores too large to list the predicates in use.
        symmetric: predicates that say the same in both directions, where they are not counted.
        counted: the store is small enough to go through all its facts once, when it is opened.
    """

    label: str = RDFS_LABEL
    aliases: str = ""
    description: str = ""
    type: str = RDF_TYPE
    languages: tuple[str, ...] = ("en", "")
    facts: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    relations: str = ""
    symmetric: tuple[str, ...] = ()
    counted: bool = True

    @property
    def no_facts(self) -> tuple[str, ...]:
        """The predicates that are no facts."""
        named = (self.label, self.aliases, self.description, self.type)
        return tuple(dict.fromkeys(iri for iri in (*named, *self.leave_out) if iri))


class SparqlStore:
    """One endpoint, read only; safe to use from several threads.

    Args:
        url: of the endpoint's queries.
        profile: how the graph is shaped.
        timeout: seconds that one request may take.
        client: the HTTP client; a new one by default.
    """

    def __init__(
        self, url: str, profile: SparqlProfile | None = None, timeout: float = 10.0, client: httpx.Client | None = None
    ) -> None:
        self.url = url
        self.profile = profile or SparqlProfile()
        self._timeout = timeout
        self._predicates: tuple[str, ...] = ()
        self._hubs: dict[str, dict[tuple[str, bool], int]] = {}  # entity -> relation, outgoing -> ends
        self._client = client or httpx.Client(timeout=timeout, follow_redirects=False, trust_env=False)

    # verbs -------------------------------------------------------------------------------------

    def survey(self, relations_alone: bool = False) -> Survey:
        """See ``base.Store``."""
        if self.profile.relations:
            rows = self._select(
                f"SELECT ?relation ?label WHERE {{ {self.profile.relations} . {self._named('?named', '?label')} }}"
            )
            labels = self._by_language(rows, "relation", "label")
            relations = tuple(Node(iri, labels.get(iri, "")) for iri in sorted(_ids(rows, "relation")))
            return Survey(relations, frozenset(self.profile.symmetric))
        counted = "SELECT ?p (COUNT(*) AS ?n) WHERE { ?s ?p ?o } GROUP BY ?p"
        rows = self._select(f"SELECT ?p ?n WHERE {{ {{ {counted} }} {self._facts('?p')} }}", _SURVEY)
        counts = {iri: _number(row, "n") for row in rows if (iri := _id(row, "p"))}
        symmetric = self._relations_among(sorted(counts), 1 if relations_alone else _SAMPLE)
        labels = {node.id: node.label for node in self.labels(sorted(symmetric))}
        relations = tuple(Node(iri, labels.get(iri, "")) for iri in sorted(symmetric))
        if relations_alone:
            return Survey(relations)
        self._find_hubs({iri: counts[iri] for iri in symmetric})
        both = frozenset(iri for iri, is_symmetric in symmetric.items() if is_symmetric)
        return Survey(
            relations, both | set(self.profile.symmetric), self._types(), sum(counts[iri] for iri in symmetric)
        )

    def _find_hubs(self, counts: Mapping[str, int]) -> None:
        """Learn which relations have very many ends at one entity, so that nobody goes through these ends again.

        A store counts by going through what it counts. A million ends take it a second, each time that a search comes
        near them.

        Args:
            counts: facts of each relation.
        """
        self._predicates = tuple(counts)
        hubs: defaultdict[str, dict[tuple[str, bool], int]] = defaultdict(dict)
        grouped = (
            f"{{ SELECT ({_iri(relation)} AS ?p) ({end} AS ?s) (COUNT(*) AS ?n) ({outgoing} AS ?d) WHERE {{ "
            f"?head {_iri(relation)} ?tail . {self._real('?tail')} }} GROUP BY {end} HAVING(COUNT(*) > {_HUB}) }}"
            for relation, count in counts.items()
            if count > _HUB
            for outgoing, end in ((1, "?head"), (0, "?tail"))
        )
        for some in _batches(grouped, 4):
            try:
                rows = self._select(f"SELECT ?s ?p ?d ?n WHERE {{ {' UNION '.join(some)} }}", _SURVEY)
            except StoreError as error:  # hubs that are not known cost time, and nothing else
                logger.warning("Hubs of %s relations are not known beforehand: %s", len(some), error)
                continue
            for row in rows:
                if iri := _id(row, "s"):
                    hubs[iri][_id(row, "p"), _text(row, "d") == "1"] = _number(row, "n")
        most = sorted(hubs, key=lambda iri: -max(hubs[iri].values()))[:_MAX_HUBS]
        self._hubs = {iri: hubs[iri] for iri in most}

    def _relations_among(self, predicates: Sequence[str], sample: int) -> dict[str, bool]:
        """The predicates that join entities, and whether most of so many facts of theirs are stored both ways."""
        found: dict[str, bool] = {}
        for some in _batches(predicates, 50):
            sampled = (
                f"{{ SELECT ({iri} AS ?p) (COUNT(*) AS ?n) (COUNT(?two) AS ?k) (COUNT(?both) AS ?m) WHERE {{ "
                f"{{ SELECT ?s ?o WHERE {{ ?s {iri} ?o . {self._real('?o')} {self._entity('?s')} }} LIMIT {sample} }} "
                f"BIND(IF(?s != ?o, 1, ?none) AS ?two) "
                f"OPTIONAL {{ ?o {iri} ?s . FILTER(?s != ?o) BIND(1 AS ?both) }} }} }}"
                for iri in map(_iri, some)
            )
            for row in self._select(f"SELECT ?p ?n ?k ?m WHERE {{ {' UNION '.join(sampled)} }}", _SURVEY):
                if (iri := _id(row, "p")) and _number(row, "n"):
                    found[iri] = 2 * _number(row, "m") > _number(row, "k")
        return found

    def relations(self, entities: Sequence[str], few: int = 0) -> list[RelationEnds]:
        """See ``base.Store``."""
        found: list[RelationEnds] = []
        for some in _batches(entities):
            hubs = [entity for entity in some if entity in self._hubs]
            plain = " ".join(_iri(entity) for entity in some if entity not in self._hubs)
            values = f"VALUES ?s {{ {plain} }}" if plain else ""
            found += self._counted(self._select(self._counts(values, few, hubs=hubs)))
            found += [RelationEnds(hub, *step, count) for hub in hubs for step, count in self._hubs[hub].items()]
        return found

    def _counts(self, values: str, few: int, count: str = "COUNT(*)", hubs: Sequence[str] = ()) -> str:
        """A query for the relations of the entities ``?s`` that a pattern binds, with their few ends.

        Args:
            values: the pattern; may be empty.
            few: as for ``relations``.
            count: how ends are counted.
            hubs: more entities, whose relations with very many ends are left out.
        """
        facts = self._either_way(values, "?o", hubs)
        counts = f"SELECT ?s ?p ?d ({count} AS ?n) WHERE {{ {facts} }} GROUP BY ?s ?p ?d"
        if not few:
            return counts
        # an unbound end would be joined to every label there is, so the entity itself stands in its place
        inner = (
            f"SELECT ?s ?p ?d ?n (BOUND(?e) AS ?b) (COALESCE(?e, ?s) AS ?o) WHERE {{ {{ {counts} }} "
            f"OPTIONAL {{ {self._either_way(values, '?e', hubs)} FILTER(?n <= {few}) }} }}"
        )
        return f"SELECT ?s ?p ?d ?n ?b ?o ?l ?t WHERE {{ {{ {inner} }} {self._said('?o')} }}"

    def ends(self, steps: Sequence[Step], prefix: str = "", limit: int = 10_000) -> Ends:
        """See ``base.Store``."""
        edges: list[Edge] = []
        for some in _batches(steps):
            room = limit - len(edges)
            sides = []
            for outgoing, pattern in ((1, "?s ?p ?o"), (0, "?o ?p ?s")):
                pairs = [f"({_iri(e)} {_iri(relation)})" for e, relation, forward in some if forward == bool(outgoing)]
                if pairs:
                    sides.append(f"{{ VALUES (?s ?p) {{ {' '.join(pairs)} }} {pattern} . BIND({outgoing} AS ?d) }}")
            begins = (
                f"?o {_iri(self.profile.label)} ?b . FILTER(STRSTARTS(STR(?b), {_literal(prefix)}))" if prefix else ""
            )
            inner = f"SELECT ?s ?p ?d ?o WHERE {{ {' UNION '.join(sides)} {self._real('?o')} {begins} }}"
            inner += f" {'ORDER BY STR(?b) ' if prefix else ''}LIMIT {room + 1}"
            found = self._edges(self._select(f"SELECT ?s ?p ?d ?o ?l ?t WHERE {{ {{ {inner} }} {self._said('?o')} }}"))
            edges += found[:room]
            if len(found) > room:
                return Ends(tuple(edges), False)
        return Ends(tuple(edges), True)

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
        for some in _batches(_readable(texts)):
            found += self._named_so(self._select(self._found(some)), some)
        return found

    def look_up(self, texts: Sequence[str], few: int) -> tuple[list[tuple[str, Node]], list[RelationEnds]]:
        """See ``base.Store``."""
        found: list[tuple[str, Node]] = []
        counted: list[RelationEnds] = []
        for some in _batches(_readable(texts)):
            written = " ".join(self._in_language(text, lang) for text in some for lang in self.profile.languages)
            no_hub = f"FILTER(?s NOT IN ({', '.join(map(_iri, self._hubs))}))" if self._hubs else ""
            values = f"VALUES ?f {{ {written} }} ?s {_iri(self.profile.label)} ?f . {no_hub}"
            # one that is called so in several languages is bound as often, so its ends are counted once each
            counts = self._counts(values, few, "COUNT(DISTINCT ?o)")
            rows = self._select(
                f"SELECT ?f ?s ?p ?d ?n ?b ?o ?l ?t WHERE {{ {{ {self._found(some)} }} UNION {{ {counts} }} }}"
            )
            found += self._named_so([row for row in rows if "s" not in row], some)
            counted += self._counted([row for row in rows if "s" in row])
        return found, counted

    def _found(self, texts: Sequence[str]) -> str:
        """A query for the entities ``?o`` that are called by these texts, ``?f``, or have them as ids."""
        written = " ".join(self._in_language(text, lang) for text in texts for lang in self.profile.languages)
        naming = "|".join(_iri(p) for p in (self.profile.label, self.profile.aliases) if p)
        ways = [f"{{ VALUES ?f {{ {written} }} ?o {naming} ?f }}"]
        by_id = self._texts_of_ids(texts)
        if by_id:
            there = "FILTER(EXISTS { ?o ?i ?j } || EXISTS { ?i ?j ?o })"
            ways.append(f"{{ VALUES ?o {{ {' '.join(map(_iri, by_id))} }} {there} }}")
        return (
            f"SELECT DISTINCT ?f ?o ?l ?t WHERE {{ {' UNION '.join(ways)} {self._entity('?o')} "
            f"{self._stated_of('?o')} {self._said('?o')} }} LIMIT {100 * len(texts)}"
        )

    def _named_so(self, rows: Sequence[Row], texts: Sequence[str]) -> list[tuple[str, Node]]:
        """The entities in ``?o``, each with the text that it was found by."""
        by_id = self._texts_of_ids(texts)
        labels, types = self._by_language(rows, "o", "l"), self._first_types(rows)
        pairs = dict.fromkeys((_text(row, "f") or by_id.get(iri, ""), iri) for row in rows if (iri := _id(row, "o")))
        return [(text, Node(iri, labels.get(iri) or self._unnamed(iri), types.get(iri, ""))) for text, iri in pairs]

    def _texts_of_ids(self, texts: Sequence[str]) -> dict[str, str]:
        return {iri: text for text in texts for iri in self._ids_called(text)}

    def exists(self, triples: Sequence[tuple[str, str, str]]) -> list[bool]:
        """See ``base.Store``."""
        stated: set[tuple[str, str, str]] = set()
        for some in _batches(dict.fromkeys(triples)):
            values = " ".join(f"({_iri(s)} {_iri(p)} {_iri(o)})" for s, p, o in some)
            rows = self._select(f"SELECT ?s ?p ?o WHERE {{ VALUES (?s ?p ?o) {{ {values} }} ?s ?p ?o }}")
            stated.update((_id(row, "s"), _id(row, "p"), _id(row, "o")) for row in rows)
        return [triple in stated for triple in triples]

    # parts of queries --------------------------------------------------------------------------

    def _either_way(self, values: str, end: str, hubs: Sequence[str] = ()) -> str:
        """Facts of the entities ``?s``: predicates ``?p``, the other ends, and whether ``?s`` is the head, ``?d``."""
        sides = []
        for outgoing, pattern in ((1, f"?s ?p {end}"), (0, f"{end} ?p ?s")):
            others = [
                f"({_iri(hub)} {_iri(relation)})"
                for hub in hubs
                for relation in self._predicates
                if (relation, bool(outgoing)) not in self._hubs[hub]
            ]
            bound = [values] if values else []
            bound += [f"VALUES (?s ?p) {{ {' '.join(others)} }}"] if others else []
            sides += [f"{{ {one} {pattern} . BIND({outgoing} AS ?d) }}" for one in bound]
        sides = sides or [f"{{ VALUES ?s {{ }} ?s ?p {end} }}"]
        return f"{' UNION '.join(sides)} {self._real(end)} {self._facts('?p')}"

    def _real(self, end: str) -> str:
        """That an end of a fact is an entity."""
        return f"FILTER(isIRI({end})) {self._entity(end)}"

    def _said(self, entity: str) -> str:
        """The labels and types of an entity, ``?l`` and ``?t``."""
        return f"{self._named(entity, '?l')} {self._typed(entity, '?t')}"

    def _facts(self, variable: str) -> str:
        begins = " || ".join(f"STRSTARTS(STR({variable}), {_literal(one)})" for one in self.profile.facts)
        out = ", ".join(map(_iri, self.profile.no_facts))
        return (f"FILTER({begins}) " if begins else "") + (f"FILTER({variable} NOT IN ({out}))" if out else "")

    def _entity(self, variable: str) -> str:
        begins = " || ".join(f"STRSTARTS(STR({variable}), {_literal(one)})" for one in self.profile.entities)
        return f"FILTER({begins})" if begins else ""

    def _stated_of(self, variable: str) -> str:
        """That something is no predicate, and no mere type: of which things are, but of which nothing is stated."""
        filters = f"FILTER NOT EXISTS {{ ?a {variable} ?b }}"
        if self.profile.type:
            is_type = f"EXISTS {{ ?c {_iri(self.profile.type)} {variable} }}"
            filters += f" FILTER(!{is_type} || EXISTS {{ {variable} ?x ?y . FILTER(isIRI(?y)) {self._facts('?x')} }})"
        return filters

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
        nodes = self._ends_of(rows)
        keys = dict.fromkeys((_id(row, "s"), _id(row, "p"), _text(row, "d") == "1", _id(row, "o")) for row in rows)
        return [
            Edge(entity, relation, outgoing, nodes[end])
            for entity, relation, outgoing, end in keys
            if entity and relation and end
        ]

    def _counted(self, rows: Sequence[Row]) -> list[RelationEnds]:
        """Each relation of each entity with its count, and its ends where the rows hold them."""
        nodes = self._ends_of(rows)
        counts: dict[Step, int] = {}
        ends: defaultdict[Step, dict[str, None]] = defaultdict(dict)
        for row in rows:
            step = _id(row, "s"), _id(row, "p"), _text(row, "d") == "1"
            counts[step] = _number(row, "n")
            if _text(row, "b") in ("true", "1"):
                ends[step][_id(row, "o")] = None
        return [
            RelationEnds(*step, count, tuple(nodes[end] for end in ends[step] if end))
            for step, count in counts.items()
            if step[0] and step[1]
        ]

    def _ends_of(self, rows: Sequence[Row]) -> dict[str, Node]:
        """The entities in ``?o`` by their ids."""
        labels, types = self._by_language(rows, "o", "l"), self._first_types(rows)
        return {end: Node(end, labels.get(end) or self._unnamed(end), types.get(end, "")) for end in _ids(rows, "o")}

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
        rows = self._select(
            f"SELECT DISTINCT ?t WHERE {{ ?s {_iri(self.profile.type)} ?t . FILTER(isIRI(?t)) }}", _SURVEY
        )
        ids = sorted(_ids(rows, "t"))
        labels = {node.id: node.label for node in self.labels(ids)}
        return {iri: labels.get(iri) or local_name(iri) for iri in ids}

    # HTTP --------------------------------------------------------------------------------------

    def _select(self, query: str, patience: float = 1.0) -> list[Row]:
        """The rows of a query's reply.

        Args:
            query: what is asked.
            patience: how many times the usual seconds it may take.

        Raises:
            StoreError: none came, in time and in form.
        """
        for left in range(_TRIES - 1, -1, -1):
            meter = METER.get()
            if meter is not None:
                meter.charge()
            began = time.perf_counter()
            try:
                return _rows(self._reply(query, patience * self._timeout))
            except httpx.TimeoutException as error:
                raise StoreError("The graph store did not answer in time; ask again, or with fewer hops.") from error
            except (httpx.HTTPError, ValueError) as error:
                if not left:
                    raise StoreError(f"The graph store gave no usable answer ({_why(error)}); ask again.") from error
            finally:
                if meter is not None:
                    meter.seconds += time.perf_counter() - began
        raise AssertionError("unreachable")

    def _reply(self, query: str, seconds: float) -> bytes:
        headers = {"Accept": "application/sparql-results+json"}
        body, deadline = bytearray(), time.perf_counter() + seconds
        asked = self._client.stream("POST", self.url, data={"query": query}, headers=headers, timeout=seconds)
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
    term = row.get(name)
    return _checked(term.get("value", "")) if term is not None and term.get("type") == "uri" else ""


@lru_cache(maxsize=100_000)
def _checked(iri: str) -> str:
    return iri if _IRI.match(iri) else ""


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


def _readable(texts: Iterable[str]) -> Iterable[str]:
    """Those texts that may be labels, each once."""
    return dict.fromkeys(text for text in texts if 0 < len(text) <= _MAX_LABEL)


def _batches(items: Iterable[_T], size: int = _AT_ONCE) -> Iterable[list[_T]]:
    every = list(items)
    return (every[first : first + size] for first in range(0, len(every), size))
