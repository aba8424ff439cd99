"""Side files: what is known of a graph's entities besides its triples.

Two kinds are read. With a header, columns are taken by name: ``label`` (or ``entity``), and where there
are such columns ``type``, ``aliases``, ``description`` and further names, ``wikidata_label`` and
``freebase_name``. Without one, a line is ``entity<TAB>type<TAB>aliases``, the last two optional. Several
aliases in one cell are separated by ``|``.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kgdemo.errors import GraphFormatError
from kgdemo.kg.graph import EntityInfo

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
