"""A graph store that speaks SPARQL 1.1 over HTTP: Oxigraph, QLever, Virtuoso, Blazegraph, GraphDB and others.

The verbs of a store as queries, and what their replies say. The shape of a graph is a matter of ``patterns``. A query's
reply is read up to a number of bytes and checked before use (``Endpoint``).
"""

from __future__ import annotations

import json
import logging
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar
from urllib.parse import urlsplit

import httpx

from kgdemo.errors import UserError
from kgdemo.kg.stores.base import (
    MAX_LABEL,
    METER,
    Edge,
    Ends,
    Node,
    RelationEnds,
    Step,
    StoreError,
    Survey,
    charged,
    local_name,
    readable,
)
from kgdemo.kg.stores.patterns import (
    SEARCHES,
    SPELLINGS,
    Patterns,
    Row,
    SparqlProfile,
    as_iri,
    as_literal,
    found_by,
    id_in,
    ids_in,
    number_in,
    text_in,
)

logger = logging.getLogger(__name__)
_AT_ONCE = 1000  # ids in one query
_SURVEY = 6.0  # times longer than for a question may the store take for what is asked when it is opened
_SAMPLE = 500  # facts of a relation, by which it is told whether it says the same in both directions
_HUB = 20_000  # ends of one relation of an entity, from which on they are counted when the store is opened
_FEW_FACTS = 1_000_000  # of a store whose labels are all gone through for a mistyped name
_MOST_FOUND = 300  # entities that a text search gives for one text
_MAX_HUBS = 1_000  # that are known; what is one beside them is counted when a search comes near it
_BACK = "(IF(?d = 0, 0, ?none) AS ?back)"  # bound for tails alone: what heads need not say makes replies shorter

_MAX_BYTES = 64_000_000  # of one reply
_TRIES = 2  # of one request
_HERE = ("localhost", "127.0.0.1", "::1")

_T = TypeVar("_T")


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
        self.profile = profile or SparqlProfile()
        self._search = self.profile.search
        if self._search and self._search not in (ways := (*SEARCHES, SPELLINGS)):
            raise UserError(f"A store's profile has no search {self._search!r}; it may have {', '.join(ways)}.")
        self._patterns = Patterns(self.profile)
        self._endpoint = Endpoint(url, timeout, client)
        self._relations: tuple[str, ...] = ()
        self._hubs: dict[str, dict[tuple[str, bool], int]] = {}  # entity -> relation, outgoing -> ends

    # verbs -------------------------------------------------------------------------------------

    def survey(self, relations_alone: bool = False) -> Survey:
        """See ``base.Store``."""
        if self.profile.relations:
            return Survey(self._listed(), frozenset(self.profile.symmetric))
        patterns = self._patterns
        rows = self._endpoint.select(patterns.in_use(), _SURVEY)
        counts = {relation: number_in(row, "n") for row in rows if (relation := patterns.relation_of(row))}
        symmetric = self._relations_among(sorted(counts), 1 if relations_alone else _SAMPLE)
        labels = {node.id: node.label for node in self.labels(sorted({p for r in symmetric for p in r.split(" ")}))}
        relations = tuple(Node(one, _joined([labels.get(p, "") for p in one.split(" ")])) for one in sorted(symmetric))
        if relations_alone:
            return Survey(relations)
        self._find_hubs({relation: counts[relation] for relation in symmetric})
        both = frozenset(relation for relation, is_symmetric in symmetric.items() if is_symmetric)
        facts = sum(counts[relation] for relation in symmetric)
        if not self._search and facts <= _FEW_FACTS:
            self._search = "labels"
        return Survey(relations, both | set(self.profile.symmetric), self._types(), facts)

    def _listed(self) -> tuple[Node, ...]:
        """The relations that the profile's pattern binds, named as what it says carries their labels."""
        bound = "?relation ?value ?named ?value_named" if self.profile.statement else "?relation ?named"
        rows = self._endpoint.select(f"SELECT DISTINCT {bound} WHERE {{ {self.profile.relations} }}", _SURVEY)
        named: dict[str, tuple[str, str]] = {}  # relation -> what carries its labels
        for row in rows:
            relation, value = id_in(row, "relation"), id_in(row, "value")
            if relation:
                named[f"{relation} {value}" if value else relation] = id_in(row, "named"), id_in(row, "value_named")
        labels = {node.id: node.label for node in self.labels(sorted({n for two in named.values() for n in two if n}))}
        return tuple(Node(one, _joined([labels.get(n, "") for n in named[one]])) for one in sorted(named))

    def _find_hubs(self, counts: Mapping[str, int]) -> None:
        """Learn which relations have very many ends at one entity, so that these ends are not counted again.

        A store counts by going through what it counts. A million ends take it a second, each time that a search comes
        near them.

        Args:
            counts: facts of each relation.
        """
        self._relations = tuple(counts)
        hubs: defaultdict[str, dict[tuple[str, bool], int]] = defaultdict(dict)
        patterns = self._patterns

        def grouped(relation: str, outgoing: bool) -> str:
            end, other = ("?head", "?tail") if outgoing else ("?tail", "?head")
            return (
                f"{{ SELECT ({as_literal(relation)} AS ?r) ({end} AS ?s) ({patterns.count(other)} AS ?n) "
                f"({int(outgoing)} AS ?d) WHERE {{ {patterns.fact(relation, '?head', '?tail')} "
                f"{patterns.real('?tail')} }} GROUP BY {end} HAVING({patterns.count(other)} > {_HUB}) }}"
            )

        large = [relation for relation, count in counts.items() if count > _HUB]
        for some in _batches((grouped(relation, way) for relation in large for way in (True, False)), 4):
            try:
                rows = self._endpoint.select(f"SELECT ?s ?r ?d ?n WHERE {{ {' UNION '.join(some)} }}", _SURVEY)
            except StoreError as error:  # hubs that are not known cost time, and nothing else
                logger.warning("Hubs of %s relations are not known beforehand: %s", len(some), error)
                continue
            for row in rows:
                if iri := id_in(row, "s"):
                    hubs[iri][text_in(row, "r"), text_in(row, "d") == "1"] = number_in(row, "n")
        most = sorted(hubs, key=lambda iri: -max(hubs[iri].values()))[:_MAX_HUBS]
        self._hubs = {iri: hubs[iri] for iri in most}

    def _relations_among(self, relations: Sequence[str], sample: int) -> dict[str, bool]:
        """The relations that join entities, and whether most of so many facts of theirs are stored both ways."""
        found: dict[str, bool] = {}
        patterns = self._patterns
        for some in _batches(relations, 50):
            sampled = (
                f"{{ SELECT ({as_literal(relation)} AS ?r) (COUNT(*) AS ?n) (COUNT(?two) AS ?k) (COUNT(?both) AS ?b) "
                f"WHERE {{ {{ SELECT ?s ?o WHERE {{ {patterns.fact(relation, '?s', '?o')} {patterns.real('?o')} "
                f"{patterns.entity('?s')} }} LIMIT {sample} }} BIND(IF(?s != ?o, 1, ?none) AS ?two) "
                f"OPTIONAL {{ {patterns.fact(relation, '?o', '?s')} FILTER(?s != ?o) BIND(1 AS ?both) }} }} }}"
                for relation in some
            )
            for row in self._endpoint.select(f"SELECT ?r ?n ?k ?b WHERE {{ {' UNION '.join(sampled)} }}", _SURVEY):
                if number_in(row, "n"):
                    found[text_in(row, "r")] = 2 * number_in(row, "b") > number_in(row, "k")
        return found

    def relations(self, entities: Sequence[str], few: int = 0) -> list[RelationEnds]:
        """See ``base.Store``."""
        found: list[RelationEnds] = []
        for some in _batches(entities):
            hubs = [entity for entity in some if entity in self._hubs]
            plain = " ".join(as_iri(entity) for entity in some if entity not in self._hubs)
            values = f"VALUES ?s {{ {plain} }}" if plain else ""
            found += self._counted(self._endpoint.select(self._counts(values, few, hubs=hubs)))
            found += [RelationEnds(hub, *step, count) for hub in hubs for step, count in self._hubs[hub].items()]
        return found

    def _counts(self, values: str, few: int, distinct: bool = False, hubs: Sequence[str] = ()) -> str:
        """A query for the relations of the entities ``?s`` that a pattern binds, with their few ends.

        Args:
            values: the pattern; may be empty.
            few: as for ``relations``.
            distinct: the pattern may bind an entity several times, whose ends are counted once all the same.
            hubs: more entities, whose relations with very many ends are left out.
        """
        others = [
            (hub, relation, outgoing)
            for hub in hubs
            for relation in self._relations
            for outgoing in (True, False)
            if (relation, outgoing) not in self._hubs[hub]
        ]
        relation, count = self._patterns.relation, "COUNT(DISTINCT ?o)" if distinct else self._patterns.count("?o")
        facts = self._patterns.either_way(values, "?o", others)
        counts = f"SELECT ?s {relation} ?d ({count} AS ?n) WHERE {{ {facts} }} GROUP BY ?s {relation} ?d"
        if not few:
            return f"SELECT ?s {relation} {_BACK} ?n WHERE {{ {{ {counts} }} }}"
        # ends are counted here where they come along, and nothing is said of them that their rows say by themselves; an
        # unbound end would be joined to every label there is, so the entity itself stands in its place
        inner = (
            f"SELECT ?s {relation} ?d (IF(BOUND(?e), ?none, ?n) AS ?many) (COALESCE(?e, ?s) AS ?o) "
            f"WHERE {{ {{ {counts} }} "
            f"OPTIONAL {{ {self._patterns.either_way(values, '?e', others)} FILTER(?n <= {few}) }} }}"
        )
        bound = f"?s {relation} {_BACK} (?many AS ?n) ?o ?l ?t"
        return f"SELECT {bound} WHERE {{ {{ {inner} }} {self._patterns.said('?o')} }}"

    def ends(self, steps: Sequence[Step], limit: int = 10_000) -> Ends:
        """See ``base.Store``."""
        patterns, edges = self._patterns, list[Edge]()
        for some in _batches(steps):
            room = limit - len(edges)
            bound = f"{patterns.each}?s {patterns.relation} ?d ?o"
            inner = f"SELECT {bound} WHERE {{ {patterns.along(some, '?o')} }} LIMIT {room + 1}"
            asked = f"SELECT ?s {patterns.relation} {_BACK} ?o ?l ?t WHERE {{ {{ {inner} }} {patterns.said('?o')} }}"
            found = self._edges(self._endpoint.select(asked))
            edges += found[:room]
            if len(found) > room:
                return Ends(tuple(edges), False)
        return Ends(tuple(edges), True)

    def labels(self, ids: Sequence[str]) -> list[Node]:
        """See ``base.Store``."""
        found, p = [], self.profile
        for some in _batches(ids):
            values = f"VALUES ?s {{ {' '.join(map(as_iri, some))} }}"
            kinds = [
                (kind, predicate)
                for kind, predicate in enumerate((p.label, p.aliases, p.description, p.type))
                if predicate
            ]
            said = [f"{{ {values} ?s {as_iri(predicate)} ?v . BIND({kind} AS ?k) }}" for kind, predicate in kinds]
            tags = ", ".join(map(as_literal, self.profile.languages))
            rows = self._endpoint.select(
                f"SELECT ?s ?k ?v WHERE {{ {' UNION '.join(said)} FILTER(isIRI(?v) || LANG(?v) IN ({tags})) }}"
            )
            found += self._nodes(rows)
        return found

    def find(self, texts: Sequence[str]) -> list[tuple[str, Node]]:
        """See ``base.Store``. An entity without a label is found by the last part of its id, or by its id."""
        found = []
        for some in _batches(readable(texts)):
            found += self._named_so(self._endpoint.select(self._found(some)), some)
        return found

    def search(self, texts: Sequence[str]) -> list[tuple[str, Node]]:
        """See ``base.Store``."""
        some = readable(texts)
        found = found_by(self._search or SPELLINGS, some, self._naming, _MOST_FOUND, self._patterns.called)
        if not found:
            return []
        rows = self._endpoint.select(
            f"SELECT DISTINCT ?f ?o ?l ?t WHERE {{ {found} {self._patterns.entity('?o')} "
            f"{self._patterns.stated_of('?o')} {self._patterns.said('?o')} }}"
        )
        return self._named_so(rows, [])

    def look_up(self, texts: Sequence[str], few: int) -> tuple[list[tuple[str, Node]], list[RelationEnds]]:
        """See ``base.Store``."""
        found: list[tuple[str, Node]] = []
        counted: list[RelationEnds] = []
        for some in _batches(readable(texts)):
            no_hub = f"FILTER(?s NOT IN ({', '.join(map(as_iri, self._hubs))}))" if self._hubs else ""
            values = f"VALUES ?f {{ {self._patterns.called(some)} }} ?s {as_iri(self.profile.label)} ?f . {no_hub}"
            # one that is called so in several languages is bound as often, so its ends are counted once each
            counts = self._counts(values, few, distinct=True)
            bound = f"?f ?s {self._patterns.relation} ?back ?n ?o ?l ?t"
            rows = self._endpoint.select(f"SELECT {bound} WHERE {{ {{ {self._found(some)} }} UNION {{ {counts} }} }}")
            found += self._named_so([row for row in rows if "s" not in row], some)
            counted += self._counted([row for row in rows if "s" in row])
        return found, counted

    def _found(self, texts: Sequence[str]) -> str:
        """A query for the entities ``?o`` that are called by these texts, ``?f``, or have them as ids."""
        ways = [f"{{ VALUES ?f {{ {self._patterns.called(texts)} }} ?o {self._naming} ?f }}"]
        by_id = self._texts_of_ids(texts)
        if by_id:
            there = "FILTER(EXISTS { ?o ?i ?j } || EXISTS { ?i ?j ?o })"
            ways.append(f"{{ VALUES ?o {{ {' '.join(map(as_iri, by_id))} }} {there} }}")
        return (
            f"SELECT DISTINCT ?f ?o ?l ?t WHERE {{ {' UNION '.join(ways)} {self._patterns.entity('?o')} "
            f"{self._patterns.stated_of('?o')} {self._patterns.said('?o')} }} LIMIT {100 * len(texts)}"
        )

    @property
    def _naming(self) -> str:
        """The predicates that name an entity, as a query writes them."""
        return "|".join(as_iri(p) for p in (self.profile.label, self.profile.aliases) if p)

    def _named_so(self, rows: Sequence[Row], texts: Sequence[str]) -> list[tuple[str, Node]]:
        """The entities in ``?o``, each with the text that it was found by."""
        by_id = self._texts_of_ids(texts)
        labels, types = self._by_language(rows, "o", "l"), self._first_types(rows)
        pairs = dict.fromkeys(
            (text_in(row, "f") or by_id.get(iri, ""), iri) for row in rows if (iri := id_in(row, "o"))
        )
        return [
            (text, Node(iri, labels.get(iri) or self._patterns.unnamed(iri), types.get(iri, ""))) for text, iri in pairs
        ]

    def _texts_of_ids(self, texts: Sequence[str]) -> dict[str, str]:
        return {iri: text for text in texts for iri in self._patterns.ids_called(text)}

    def exists(self, triples: Sequence[tuple[str, str, str]]) -> list[bool]:
        """See ``base.Store``."""
        stated: set[tuple[str, str, str]] = set()
        for some in _batches(dict.fromkeys(triples)):
            rows = self._endpoint.select(
                f"SELECT DISTINCT ?s {self._patterns.relation} ?o WHERE {{ {self._patterns.stated(some)} }}"
            )
            stated.update((id_in(row, "s"), self._patterns.relation_of(row), id_in(row, "o")) for row in rows)
        return [triple in stated for triple in triples]

    # reading replies ---------------------------------------------------------------------------

    def _step(self, row: Row) -> Step:
        return id_in(row, "s"), self._patterns.relation_of(row), "back" not in row

    def _edges(self, rows: Sequence[Row]) -> list[Edge]:
        """Each edge once; several labels or types of an end make several rows."""
        nodes = self._ends_of(rows)
        keys = dict.fromkeys((*self._step(row), id_in(row, "o")) for row in rows)
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
            if "n" in row:
                counts[self._step(row)] = number_in(row, "n")
            else:
                ends[self._step(row)][id_in(row, "o")] = None
        counts |= {step: len(own) for step, own in ends.items()}
        return [
            RelationEnds(*step, count, tuple(nodes[end] for end in ends.get(step, ()) if end))
            for step, count in counts.items()
            if step[0] and step[1]
        ]

    def _ends_of(self, rows: Sequence[Row]) -> dict[str, Node]:
        """The entities in ``?o`` by their ids; many rows say the same of one."""
        told = {tuple(text_in(row, name) for name in ("o", "l", "t")): row for row in rows}
        rows = list(told.values())
        labels, types = self._by_language(rows, "o", "l"), self._first_types(rows)
        return {
            end: Node(end, labels.get(end) or self._patterns.unnamed(end), types.get(end, ""))
            for end in ids_in(rows, "o")
        }

    def _nodes(self, rows: Sequence[Row]) -> list[Node]:
        said: defaultdict[str, defaultdict[int, list[Mapping[str, str]]]] = defaultdict(lambda: defaultdict(list))
        for row in rows:
            if iri := id_in(row, "s"):
                said[iri][number_in(row, "k")].append(row.get("v", {}))
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
            if label in row and (iri := id_in(row, of)):
                terms[iri].append(row[label])
        return {iri: spoken[0] for iri, own in terms.items() if (spoken := self._spoken(own))}

    def _first_types(self, rows: Sequence[Row]) -> dict[str, str]:
        types: dict[str, str] = {}
        for row in rows:
            if (iri := id_in(row, "o")) and (kind := id_in(row, "t")):
                types[iri] = min(kind, types.get(iri, kind))
        return types

    def _types(self) -> dict[str, str]:
        if not self.profile.type:
            return {}
        rows = self._endpoint.select(
            f"SELECT DISTINCT ?t WHERE {{ ?s {as_iri(self.profile.type)} ?t . FILTER(isIRI(?t)) }}", _SURVEY
        )
        ids = sorted(ids_in(rows, "t"))
        labels = {node.id: node.label for node in self.labels(ids)}
        return {iri: labels.get(iri) or local_name(iri) for iri in ids}


def _joined(labels: Iterable[str]) -> str:
    """The label of a relation of one or two predicates."""
    return " / ".join(dict.fromkeys(label for label in labels if label))


def _tag(term: Mapping[str, str]) -> str:
    return term.get("xml:lang", "")


def _clean(text: str) -> str:
    """A label as one line; a longer one than is read counts as none."""
    return " ".join(text.split()) if len(text) <= MAX_LABEL else ""


def _batches(items: Iterable[_T], size: int = _AT_ONCE) -> Iterable[list[_T]]:
    every = list(items)
    return (every[first : first + size] for first in range(0, len(every), size))
