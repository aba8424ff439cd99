"""Graphs by name or file: the embedded ones and whatever triple file a user has."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from kgdemo.errors import GraphFormatError
from kgdemo.kg.formats import kind_of, read_triples
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph

_HERE = Path(__file__).parent
SCHEMA_FILE = "schema.tsv"


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


def embedded_folder(name: str) -> Path:
    """The folder of an embedded graph.

    Raises:
        GraphFormatError: there is none of that name.
    """
    if name not in embedded_names():
        raise GraphFormatError(f"There is no embedded graph {name!r}; choose {', '.join(embedded_names())}.")
    return _HERE / name


def open_graph(source: str) -> KnowledgeGraph:
    """Open an embedded graph by name, or a triple file by path.

    Raises:
        GraphFormatError: there is no such graph, or the file cannot be read.
    """
    if source in embedded_names():
        return _embedded(_HERE / source)
    path = Path(source)
    if not path.suffix and not path.exists():
        raise GraphFormatError(
            f"There is no graph {source!r}; choose {', '.join(embedded_names())} or give a triple file."
        )
    kind_of(path.name)
    return KnowledgeGraph.from_triples(read_triples(path), name=path.name.split(".")[0])


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


def read_entities(folder: Path) -> dict[str, EntityInfo]:
    """Types and aliases of an embedded graph's entities; themes may name the same one, with one type."""
    info: dict[str, EntityInfo] = {}
    for file in sorted(folder.glob("*.entities.tsv")):
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            label, kind, *rest = line.split("\t")
            aliases = tuple(a.strip() for a in (rest[0] if rest else "").split("|") if a.strip())
            known = info.get(label, EntityInfo(kind))
            if known.type != kind:
                raise GraphFormatError(f"{file.name}, line {number}: {label} is {known.type} elsewhere, not {kind}.")
            info[label] = EntityInfo(kind, tuple(dict.fromkeys((*known.aliases, *aliases))))
    return info


def themes(folder: Path) -> list[Path]:
    """The files of facts of an embedded graph, one a theme."""
    return sorted(f for f in folder.glob("*.tsv") if f.name != SCHEMA_FILE and not f.name.endswith(".entities.tsv"))


def _embedded(folder: Path) -> KnowledgeGraph:
    triples = (triple for theme in themes(folder) for triple in read_triples(theme))
    inverse = {relation.name: relation.inverse for relation in read_schema(folder).values()}
    return KnowledgeGraph.from_triples(triples, folder.name, inverse, read_entities(folder))
