"""Graphs by name, file or folder: the embedded ones, whatever triple file a user has, saved ones, and stores.

``open_graph`` gives the graph that is walked, ``open_facts`` what its sources state, for the verifier. An embedded
graph is a folder of files: ``schema.tsv``, and for each theme facts, entities and values.

A store is one of those that the operator of a server lists, or at home any: ``sparql:URL`` or ``cypher:FOLDER`` with
the profile behind a ``#``, which says how the graph is shaped: ``sparql:https://query.wikidata.org/sparql#wikidata``.
What stands behind the ``#`` of a URL is never sent.

What a store states, for the verifier, is asked of the store itself, by a connection and a memory of its own
(``StoreFacts``). Names become ids by the store's ``find``, hops become triples by the store's ``exists``. Nothing is
taken from the graph that the decoder walks. What a run is about to have judged is announced (``expect``), so that it
costs two requests.
"""

from __future__ import annotations

import csv
import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from kgdemo.errors import GraphFormatError, UserError
from kgdemo.facts import Facts, SavedFacts, StatedFacts, tsv_statements, tsv_triples
from kgdemo.kg.cache import ArrayCache, key_of
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph, Triple
from kgdemo.kg.io.formats import (
    SUFFIXES,
    entity_rows,
    joined,
    kind_of,
    read_entity_info,
    read_triples,
    with_entity_kinds,
)
from kgdemo.kg.io.published import published, unknown_graph
from kgdemo.kg.io.saved import arrays_of, graph_of, is_saved_graph, open_saved, save, save_triples
from kgdemo.kg.labels import Literal, read_literals
from kgdemo.kg.stores.base import CypherProfile, CypherStore, Store, distinct_labels, local_name
from kgdemo.kg.stores.graph import StoreGraph

_HERE = Path(__file__).parent.parent / "data"
SCHEMA_FILE = "schema.tsv"
_INFO = ("type", "aliases", "description", "attributes")  # of an entity, in the order of ``EntityInfo``
_RECORD = "told"  # the array of a cached graph with all that is no array, as JSON
_LABEL_BYTES = 100  # of an embedded graph's files for each entity, at least
SPARQL, CYPHER = "sparql:", "cypher:"
_PROFILES = Path(__file__).parent.parent / "stores" / "profiles"
_Profile = TypeVar("_Profile")
_MAX_KEPT = 20_000  # names and triples


@dataclass(frozen=True, slots=True)
class Relation:
    """One line of a schema.

    Attributes:
        domain, range: entity types allowed as head and tail.
        inverse: how the relation reads backwards.
        kind: ``one`` (at most one tail a head), ``many`` or ``symmetric``.
        gloss: what it means, in plain English.
    """

    name: str
    domain: tuple[str, ...]
    range: tuple[str, ...]
    inverse: str
    kind: str
    gloss: str


def embedded_names() -> list[str]:
    """The graphs that ship with the project."""
    return sorted(folder.parent.name for folder in _HERE.glob(f"*/{SCHEMA_FILE}"))


def known_names() -> list[str]:
    """The graphs that any visitor may choose: those that ship, and the stores that the operator lists."""
    return [*embedded_names(), *(name for name in operators_stores() if name not in embedded_names())]


def embedded_folder(name: str) -> Path:
    """The folder of an embedded graph.

    Raises:
        GraphFormatError: there is none of that name.
    """
    if name not in embedded_names():
        raise GraphFormatError(f"There is no embedded graph {name!r}; choose {', '.join(embedded_names())}.")
    return _HERE / name


def open_graph(source: str, entities: Path | None = None, cache: ArrayCache | None = None) -> KnowledgeGraph:
    """Open an embedded graph by name, a saved graph by its folder, a file or published graph by path, a store's by URL.

    Args:
        source: which graph.
        entities: a side file with what is known of a triple file's entities, see ``formats``.
        cache: where a large embedded graph is kept as arrays, so that its files are read line by line but once.

    Raises:
        GraphFormatError: there is no such graph, or a file cannot be read.
    """
    if entities and not _is_triple_file(source):
        raise GraphFormatError(f"{source} brings its own entities; give a side file of entities with a triple file.")
    if source in embedded_names():
        return _embedded(_HERE / source, cache)
    if is_store(source):
        return open_store(source)
    path = Path(source)
    if is_saved_graph(path):
        return open_saved(path)
    info = read_entity_info(entities) if entities else None
    if found := published(path):
        return build_graph(found.triples(), graph_name(path), {**found.info(), **(info or {})})
    _known_kind(path)
    return build_graph(read_triples(path), graph_name(path), info)


def build_graph(
    triples: Iterable[Triple], name: str = "graph", info: Mapping[str, EntityInfo] | None = None
) -> KnowledgeGraph:
    """A graph from triples of unknown origin: a file, an upload, a question's own subgraph.

    Args:
        triples, name, info: as for ``KnowledgeGraph.from_triples``. Where ``info`` gives an entity no type, the type
            that relations named in Freebase's way imply is taken.
    """
    return with_entity_kinds(KnowledgeGraph.from_triples(triples, name, info=info))


def open_facts(source: str) -> StatedFacts | SavedFacts | StoreFacts:
    """What the files of a graph state, for the verifier: read anew, and nothing of it by way of ``open_graph``.

    Tab-separated files, the embedded ones among them, are read by code of the verifier's own. The other formats have
    one parser.

    Args:
        source: as for ``open_graph``.

    Raises:
        GraphFormatError: there is no such graph, or a file cannot be read.
    """
    if source in embedded_names():
        folder = _HERE / source
        inverse = {relation.name: relation.inverse for relation in read_schema(folder).values()}
        described = [*folder.glob("*.entities.tsv"), *literal_files(folder)]
        statements = (statement for file in described for statement in tsv_statements(file))
        return StatedFacts((t for theme in themes(folder) for t in tsv_triples(theme)), inverse, statements)
    if is_store(source):
        return open_store_facts(source)
    path = Path(source)
    if is_saved_graph(path):
        return SavedFacts(path)
    return StatedFacts(_stated(path))


def _stated(path: Path) -> Iterable[Triple]:
    """The triples of a file as the verifier reads them."""
    if found := published(path):
        return found.triples()
    tabs = _known_kind(path) == ".tsv" and path.is_file()
    return tsv_triples(path) if tabs else read_triples(path)


def _known_kind(path: Path) -> str:
    if not path.suffix and not path.exists():
        raise GraphFormatError(
            f"There is no graph {str(path)!r}; choose {', '.join(embedded_names())} or give a triple file."
        )
    if Path(path.name.removesuffix(".gz")).suffix.lower() not in SUFFIXES:
        raise unknown_graph(path.name)
    return kind_of(path.name)


def graph_name(path: Path) -> str:
    """What a graph from a file or folder is called."""
    return path.name.split(".")[0] or "graph"


def _is_triple_file(source: str) -> bool:
    return source not in embedded_names() and not is_store(source) and not is_saved_graph(Path(source))


def read_schema(folder: Path) -> dict[str, Relation]:
    """The relations of an embedded graph by name."""
    with (folder / SCHEMA_FILE).open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {
            row["relation"]: Relation(
                row["relation"],
                tuple(row["domain"].split("|")),
                tuple(row["range"].split("|")),
                row["inverse"],
                row["kind"],
                row["gloss"],
            )
            for row in rows
        }


def themes(folder: Path) -> list[Path]:
    """The files of facts of an embedded graph, one a theme."""
    return sorted(f for f in folder.glob("*.tsv") if f.name != SCHEMA_FILE and f.name.count(".") == 1)


def literal_files(folder: Path) -> list[Path]:
    """The files of values of an embedded graph, at most one a theme."""
    return sorted(folder.glob("*.literals.tsv"))


def _embedded(folder: Path, cache: ArrayCache | None) -> KnowledgeGraph:
    """An embedded graph; from the cache, if what these files say when this code reads them is kept."""
    files = sorted(folder.glob("*.tsv"))
    if cache is None or sum(file.stat().st_size for file in files) < cache.min_labels * _LABEL_BYTES:
        return _read_embedded(folder)
    here = Path(__file__).parent
    code = sorted([*here.glob("*.py"), *here.parent.glob("*.py")])
    content = [part for file in (*files, *code) for part in (file.name, file.read_bytes())]

    def arrays() -> dict[str, NDArray[Any]]:
        kg = _read_embedded(folder)
        record = {
            "inverse_labels": kg.inverse_labels,
            "info": [(label, *(getattr(info, name) for name in _INFO)) for label, info in kg.info.items()],
            "literals": {
                entity: {attribute: (literal.value, literal.unit) for attribute, literal in own.items()}
                for entity, own in kg.literals.items()
            },
        }
        return {**arrays_of(kg), _RECORD: np.frombuffer(json.dumps(record).encode(), np.uint8)}

    found = cache.get(key_of("graph", *content), arrays)
    record = json.loads(found[_RECORD].tobytes())
    info = {
        label: EntityInfo(kind, tuple(aliases), description, attributes)
        for label, kind, aliases, description, attributes in record["info"]
    }
    literals = {
        entity: {attribute: Literal(*literal) for attribute, literal in own.items()}
        for entity, own in record["literals"].items()
    }
    return graph_of(found.__getitem__, folder.name, record["inverse_labels"], info, literals)


def _read_embedded(folder: Path) -> KnowledgeGraph:
    """An embedded graph from its files."""
    inverse = {relation.name: relation.inverse for relation in read_schema(folder).values()}
    triples = (triple for theme in themes(folder) for triple in read_triples(theme))
    info, literals = joined(entity_rows(folder)), read_literals(literal_files(folder))
    return KnowledgeGraph.from_triples(triples, folder.name, inverse, info, literals)


def save_source(source: str, folder: Path, entities: Path | None = None) -> int:
    """Write the graph of a source into ``folder``; of a file no more than some of its triples are held at a time.

    The verifier's index is made from a second reading of the source, and of nothing that the first one wrote.

    Args:
        source, entities: as for ``open_graph``.
        folder: where to.

    Returns:
        how many triples it has.

    Raises:
        GraphFormatError: as for ``open_graph``; a graph behind a store cannot be saved.
    """
    if is_store(source):
        raise GraphFormatError("A graph behind a store cannot be saved; save the file that the store was filled from.")
    path = Path(source)
    if source in embedded_names() or is_saved_graph(path):
        kg, facts = open_graph(source, entities), open_facts(source)
        assert not isinstance(facts, StoreFacts)
        save(kg, facts, folder)
        return len(kg)
    info = read_entity_info(entities) if entities else {}
    if found := published(path):
        triples, info = found.triples(), {**found.info(), **info}
    else:
        _known_kind(path)
        triples = read_triples(path)
    return save_triples(triples, _stated(path), graph_name(path), info, folder)


# stores by name -----------------------------------------------------------------------------------


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
    """A new connection; what one over the network needs is not loaded for other graphs."""
    place, profile = _place(source)
    if place.startswith(CYPHER):
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


# how the graph in a store is shaped ---------------------------------------------------------------


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
    known = {field.name: field.default for field in fields(kind)}  # type: ignore[arg-type]  # all are
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


# what a store states ------------------------------------------------------------------------------


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
