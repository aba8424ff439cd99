"""What is known of a graph's entities besides its triples: told by a side file, or implied by names of relations.

Two kinds of side files are read. With a header, columns are taken by name: ``label`` (or ``entity``), and where there
are such columns ``type``, ``aliases``, ``description`` and further names, ``wikidata_label`` and
``freebase_name``. Without one, a line is ``entity<TAB>type<TAB>aliases``, the last two optional. Several
aliases in one cell are separated by ``|``.

A relation of Freebase is named after the type it leaves from and the property it stands for: whatever
``/location/country/capital`` leaves from is a country, and what it leads to is a capital. ``freebase_kinds.tsv`` says
which of these types and properties stand for which kind, in the words that people ask with. The kinds marked general
hold of many things that are something else besides (a singer too has recordings, a university a revenue), so they are
taken only where no other kind is implied.
"""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kgdemo.errors import GraphFormatError
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph

_ENTITY_COLUMNS = ("label", "entity")
_NAME_COLUMNS = ("wikidata_label", "freebase_name")
_KNOWN = (*_ENTITY_COLUMNS, *_NAME_COLUMNS, "type", "aliases", "description")
_HEADERLESS = ("entity", "type", "aliases")
_IDENTIFIER = re.compile(r"^(Q\d+|/[a-z]+/\w+)$")  # what stands where a source has no name


@dataclass(frozen=True, slots=True)
class EntityRow:
    """What one line says of an entity, and where it stands (``file, line 3``)."""

    where: str
    label: str
    info: EntityInfo


def read_entity_info(path: Path) -> dict[str, EntityInfo]:
    """Types, aliases and descriptions of the entities in a side file; see ``read_entity_rows`` and ``joined``."""
    return joined(read_entity_rows(path))


def joined(rows: Iterable[EntityRow]) -> dict[str, EntityInfo]:
    """What is known of each entity: of several lines the aliases add up, and the first type and description stay."""
    info: dict[str, EntityInfo] = {}
    for row in rows:
        known = info.get(row.label)
        info[row.label] = (
            row.info
            if known is None
            else EntityInfo(
                known.type or row.info.type,
                tuple(dict.fromkeys((*known.aliases, *row.info.aliases))),
                known.description or row.info.description,
            )
        )
    return info


def read_entity_rows(path: Path) -> Iterator[EntityRow]:
    """The lines of a side file, plain or gzip.

    Args:
        path: a tab-separated file, see above.

    Raises:
        GraphFormatError: the file is missing, damaged or not text, or a line (named) does not fit.
    """
    if not path.is_file():
        raise GraphFormatError(f"There is no file {path}; give a tab-separated file of entities.")
    opener = gzip.open if path.suffix == ".gz" else open
    columns: tuple[str, ...] = ()
    try:
        with opener(path, "rb") as stream:
            for number, raw in enumerate(stream, 1):
                where = f"{path.name}, line {number}"
                cells = _cells(raw, where)
                if not any(cells):
                    continue
                if not columns:
                    columns = _header(cells)
                    if columns != _HEADERLESS or cells == list(_HEADERLESS):
                        continue
                if len(cells) > len(columns):
                    raise GraphFormatError(f"{where}: {len(cells)} columns where {len(columns)} are expected.")
                yield _row(dict(zip(columns, cells, strict=False)), where)
    except (EOFError, OSError) as error:
        raise GraphFormatError(f"{path.name} is damaged or cut off ({error}); copy or download it again.") from error


def entity_rows(folder: Path) -> Iterator[EntityRow]:
    """What the ``*.entities.tsv`` files of an embedded graph say, line by line; themes may name the same entity.

    Raises:
        GraphFormatError: a line that has no label or type.
    """
    for file in sorted(folder.glob("*.entities.tsv")):
        for row in read_entity_rows(file):
            if not row.info.type:
                raise GraphFormatError(f"{row.where}: write entity<TAB>type<TAB>alias | alias.")
            yield row


def _row(cells: Mapping[str, str], where: str) -> EntityRow:
    label = next((cells[column] for column in _ENTITY_COLUMNS if column in cells), "")
    if not label:
        raise GraphFormatError(f"{where}: the entity is missing; write entity<TAB>type<TAB>aliases.")
    info = EntityInfo(cells.get("type", ""), tuple(_aliases(label, cells)), cells.get("description", ""))
    return EntityRow(where, label, info)


def _cells(raw: bytes, where: str) -> list[str]:
    try:
        line = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise GraphFormatError(f"{where}: not UTF-8 text; save the file as UTF-8.") from error
    if "\0" in line:
        raise GraphFormatError(f"{where}: this is a binary file; give a tab-separated text file.")
    return [cell.strip() for cell in line.rstrip("\r\n").split("\t")]


def _header(cells: list[str]) -> tuple[str, ...]:
    """The columns' names, or those of a file without a header: only a header has two known names, one the entity's."""
    names = tuple(cell.lower() for cell in cells)
    is_header = any(name in _ENTITY_COLUMNS for name in names) and sum(name in _KNOWN for name in names) > 1
    return names if is_header else _HEADERLESS


def _aliases(label: str, cells: Mapping[str, str]) -> Iterator[str]:
    """Other names on a line, each once, without those that say nothing new."""
    names = [alias.strip() for alias in cells.get("aliases", "").split("|")]
    names += [cells.get("wikidata_label", ""), cells.get("freebase_name", "").replace("_", " ")]
    for name in dict.fromkeys(names):
        if name and name != label and not _IDENTIFIER.match(name):
            yield name


_RELATION_NAME = re.compile(r"/?\w+([/.]\w+){2,}")  # domain, type, property
_FREEBASE_KINDS = Path(__file__).parent / "freebase_kinds.tsv"


def with_entity_kinds(kg: KnowledgeGraph) -> KnowledgeGraph:
    """The graph with a type for each entity that has none but whose edges imply one.

    Returns:
        a graph over the same arrays; ``kg`` itself where its relations are not named in Freebase's way.
    """
    parts = [_type_and_property(relation) for relation in kg.relations]
    kinds = _implied_kinds(kg, parts) if any(parts) else {}
    if not kinds:
        return kg
    info = dict(kg.info)
    for entity, kind in kinds.items():
        label = kg.entities[entity]
        known = info.get(label, EntityInfo())
        info[label] = known if known.type else replace(known, type=kind)
    return KnowledgeGraph(kg.name, kg.entities, kg.relations, kg.outgoing, kg.incoming, kg.inverse_labels, info)


def _implied_kinds(kg: KnowledgeGraph, parts: Sequence[tuple[str, str] | None]) -> dict[int, str]:
    """Entity -> the kind that most of its edges imply; ``parts`` are those of the relations' names."""
    relations, tails = kg.outgoing.relations, kg.outgoing.targets
    heads = np.repeat(np.arange(len(kg.entities), dtype=np.int32), np.diff(kg.outgoing.offsets))
    kinds: NDArray[np.object_] = np.full(len(kg.entities), "", dtype=object)
    votes = np.zeros(len(kinds), np.int64)  # edges that imply the kind taken so far
    for kind, types, properties, general in _kinds():
        leaves = np.array([part is not None and part[0] in types for part in parts])
        leads = np.array([part is not None and part[1] in properties for part in parts])
        implied = np.bincount(heads[leaves[relations]], minlength=len(kinds))
        implied += np.bincount(tails[leads[relations]], minlength=len(kinds))
        better = (implied > 0) & (votes == 0) if general else implied > votes
        kinds[better], votes[better] = kind, implied[better]
    return {entity: kinds[entity] for entity in np.flatnonzero(votes).tolist()}


def _type_and_property(relation: str) -> tuple[str, str] | None:
    """The type a relation leaves from and the property that leads to its tail; None where its name has no such parts.

    >>> _type_and_property("/people/person/places_lived./people/place_lived/location")
    ('person', 'location')
    >>> _type_and_property("location.country.capital")
    ('country', 'capital')
    """
    halves = re.split(r"\.+/", relation)
    if not all(_RELATION_NAME.fullmatch(half) for half in halves):
        return None
    first, last = (re.split(r"[/.]", half) for half in (halves[0], halves[-1]))
    return first[-2], last[-1]


@cache
def _kinds() -> tuple[tuple[str, frozenset[str], frozenset[str], bool], ...]:
    """(kind, types of heads, properties that lead to it, general); the general ones last."""
    with _FREEBASE_KINDS.open(encoding="utf-8", newline="") as stream:
        rows = [
            (row["kind"], frozenset(row["heads"].split()), frozenset(row["tails"].split()), bool(row["general"]))
            for row in csv.DictReader(stream, delimiter="\t")
        ]
    return tuple(sorted(rows, key=lambda row: row[3]))
