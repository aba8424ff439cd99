"""Reading files of text: triples (TSV, CSV, JSONL, N-Triples, Turtle), plain or gzip, and side files of entities.

Every error names the line. RDF is parsed by pyoxigraph and turned into readable labels. An address becomes its last
part in words (``http://example.org/films#directed_by``: *directed by*), a literal its text without language and
datatype. A blank node has no name: it keeps the mark that the file gives it (``_:b1``), and where the file gives none,
as for brackets and lists, it is numbered in the order of appearance. Lists are chains of *first* and *rest*, as RDF
defines them. ``rdfs:label`` is read as a relation like any other: a label may stand anywhere in a file, so naming
entities by it would mean to hold the whole file before the first triple is known.

What a visitor pastes or sends is read within limits (``read_upload``): nothing is written to disk, no address or
path in it is followed, and a packed file is unpacked only up to the limit.

What is known of entities besides is told by a side file, or implied by names of relations. Two kinds of side files are
read. With a header, columns are taken by name: ``label`` (or ``entity``), and where there are such columns ``type``,
``aliases``, ``description`` and further names, ``wikidata_label`` and ``freebase_name``. Without one, a line is
``entity<TAB>type<TAB>aliases``, the last two optional. Several aliases in one cell are separated by ``|``.

A relation of Freebase is named after the type it leaves from and the property it stands for: whatever
``/location/country/capital`` leaves from is a country, and what it leads to is a capital. ``freebase_kinds.tsv`` says
which of these types and properties stand for which kind, in the words that people ask with. The kinds marked general
hold of many things that are something else besides (a singer too has recordings, a university a revenue), so they are
taken only where no other kind is implied.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import IO, cast
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, parse

from kgdemo.errors import GraphFormatError
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph, Triple

_FORMATS = {".nt": RdfFormat.N_TRIPLES, ".ttl": RdfFormat.TURTLE}
_GENERATED = re.compile(r"[0-9a-f]{24,32}")  # the parser's own mark of a nameless node: a random number of 128 bits


def read_rdf(lines: Iterable[str], suffix: str, name: str) -> Iterator[tuple[str, str, str]]:
    """Labels of subject, predicate and object of each triple, as they are read.

    Args:
        lines: lines of text, with or without their line ends; no more of them is held than the parser needs.
        suffix: ``.nt`` or ``.ttl``.
        name: what to call the source in an error.

    Raises:
        GraphFormatError: naming the line that is no RDF, or the triple that has an empty part.
    """
    nameless: dict[str, str] = {}
    for number, terms in enumerate(statements(lines, suffix, name), 1):
        labels = [_label(term, nameless) for term in terms]
        if not all(labels):
            shown = " ".join(label or "(nothing)" for label in labels)
            raise GraphFormatError(
                f"{name}, triple {number} ({shown[:200]}): head, relation and tail must all be given."
            )
        yield labels[0], labels[1], labels[2]


def statements(lines: Iterable[str], suffix: str, name: str) -> Iterator[tuple[object, object, object]]:
    """Subject, predicate and object of each triple as the parser's own terms; see ``read_rdf``."""
    stream = cast("IO[bytes]", _Lines(lines))  # the parser only calls ``read``
    quads = parse(stream, format=_FORMATS[suffix], lenient=True)  # lenient: addresses need not be valid IRIs
    try:
        for quad in quads:
            yield quad.subject, quad.predicate, quad.object
    except SyntaxError as error:
        what = str(error.msg).partition(": ")[2].replace("\n", " ").rstrip(".") or "this is no RDF"
        raise GraphFormatError(f"{name}, line {error.lineno}: {what[:200]}; write {_HINTS[suffix]}") from error


_HINTS = {
    ".nt": '<head> <relation> <tail> . or <head> <relation> "text" .',
    ".ttl": 'subject predicate object . with <addresses>, declared prefix:names and "texts".',
}


def _label(term: object, nameless: dict[str, str]) -> str:
    """The words of a term, stripped.

    Args:
        term: from the parser.
        nameless: numbered marks of the blank nodes that have none of their own; grows.
    """
    if isinstance(term, NamedNode):
        return _last_part(term.value)
    if isinstance(term, Literal):
        return term.value.strip()
    if isinstance(term, BlankNode):
        if _GENERATED.fullmatch(term.value):
            return nameless.setdefault(term.value, f"_:nameless {len(nameless) + 1}")
        return f"_:{term.value}"
    return str(term)  # a triple about which another one speaks (RDF 1.2)


def _last_part(address: str) -> str:
    """The last part of an address in words."""
    last = re.split(r"[/#]", address.rstrip("/#"))[-1]
    return (unquote(last).replace("_", " ") or address).strip()


class _Lines(io.RawIOBase):
    """Lines of text as the stream of bytes that the parser reads."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._rest = b""
        self._between = ""  # what the last line lacks of its end

    def read(self, size: int = -1) -> bytes:
        """At most ``size`` bytes, at least one unless the lines are at an end."""
        while len(self._rest) < size or size < 0:
            line = next(self._lines, None)
            if line is None:
                break
            self._rest += (self._between + line).encode("utf-8", "surrogatepass")
            self._between = "" if line.endswith("\n") else "\n"
        taken, self._rest = (self._rest, b"") if size < 0 else (self._rest[:size], self._rest[size:])
        return taken


SUFFIXES = (".tsv", ".txt", ".csv", ".jsonl", ".nt", ".ttl")


def read_triples(path: Path) -> Iterator[Triple]:
    """Yield the triples of a file; the format follows from the name, ``.gz`` is unpacked.

    Raises:
        GraphFormatError: the file is missing, empty, cut off, not text, or has a line that is no triple.
    """
    suffix = kind_of(path.name)
    if not path.is_file():
        raise GraphFormatError(f"There is no file {path}; give the path of a triple file ({', '.join(SUFFIXES)}).")
    opener = gzip.open if path.suffix == ".gz" else open
    count = 0
    try:
        with opener(path, "rb") as stream:
            for triple in parse_triples(lines_of(stream, path.name), suffix, path.name):
                count += 1
                yield triple
    except (EOFError, gzip.BadGzipFile, OSError) as error:
        raise GraphFormatError(
            f"{path.name} is damaged or cut off after {count} triples ({error}); copy or download it again."
        ) from error
    if count == 0:
        raise GraphFormatError(f"{path.name} holds no triples; write one a line: head<TAB>relation<TAB>tail.")


def kind_of(name: str) -> str:
    """The triple format a file name stands for: ``.tsv``, ``.csv``, ``.jsonl``, ``.nt`` or ``.ttl``.

    Raises:
        GraphFormatError: the name ends in none of the known suffixes.
    """
    suffix = Path(name.removesuffix(".gz")).suffix.lower()
    if suffix not in SUFFIXES:
        raise GraphFormatError(f"{name} has no known triple format; name it {', '.join(SUFFIXES)} (.gz is fine).")
    return {".txt": ".tsv"}.get(suffix, suffix)


def parse_triples(lines: Iterable[str], suffix: str, name: str) -> Iterator[Triple]:
    """Parse lines of one format; blank lines are passed over, and comments where the format has them.

    Args:
        lines: lines of text, with or without their line ends.
        suffix: one of ``.tsv .csv .jsonl .nt .ttl``.
        name: what to call the source in an error.

    Raises:
        GraphFormatError: naming the first line that is no triple.
    """
    if suffix in (".nt", ".ttl"):
        yield from read_rdf(lines, suffix, name)
    else:
        yield from {".csv": _csv, ".tsv": _tsv, ".jsonl": _jsonl}[suffix](lines, name)


def lines_of(stream: io.BufferedIOBase, name: str) -> Iterator[str]:
    """The lines of a file as text.

    Raises:
        GraphFormatError: naming the first line that is not UTF-8, or is binary.
    """
    for number, raw in enumerate(stream, 1):
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise GraphFormatError(f"{name}, line {number}: not UTF-8 text; save the file as UTF-8.") from error
        if "\0" in line:
            raise GraphFormatError(f"{name}, line {number}: this is a binary file; give a text file.")
        yield line


def numbered_lines(path: Path) -> Iterator[tuple[str, str]]:
    """(where, line without its end) of a file, plain or gzip, blank lines left out; raises as ``lines_of`` does."""
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as stream:
            for number, line in enumerate(lines_of(stream, path.name), 1):
                if line.strip():
                    yield f"{path.name}, line {number}", line.rstrip("\r\n")
    except (EOFError, OSError, zlib.error) as error:
        raise GraphFormatError(f"{path.name} is damaged or cut off ({error}); copy or download it again.") from error


def _checked(parts: list[str], where: str) -> Triple:
    head, relation, tail = (part.strip() for part in parts)
    if not (head and relation and tail):
        raise GraphFormatError(f"{where}: head, relation and tail must all be given.")
    if any("\ud800" <= letter <= "\udfff" for part in (head, relation, tail) for letter in part):
        raise GraphFormatError(f"{where}: half a character (\\ud800 to \\udfff alone); write the whole character.")
    return head, relation, tail


def _tsv(lines: Iterable[str], name: str) -> Iterator[Triple]:
    """The format that large graphs come in: its loop is kept flat, a million lines go through it."""
    for number, line in enumerate(lines, 1):
        parts = line.split("\t")
        if len(parts) == 3:
            head, relation, tail = parts[0].strip(), parts[1].strip(), parts[2].strip()
            if head and relation and tail:
                yield head, relation, tail
                continue
        if line.strip():
            where = f"{name}, line {number}"
            if len(parts) != 3:
                raise GraphFormatError(f"{where}: {len(parts)} columns; write head<TAB>relation<TAB>tail.")
            raise GraphFormatError(f"{where}: head, relation and tail must all be given.")


def _csv(lines: Iterable[str], name: str) -> Iterator[Triple]:
    reader = csv.reader(lines)
    try:
        for row in reader:
            if not row or (reader.line_num == 1 and [c.strip().lower() for c in row] == ["head", "relation", "tail"]):
                continue
            where = f"{name}, line {reader.line_num}"
            if len(row) != 3:
                raise GraphFormatError(f"{where}: {len(row)} columns; write head,relation,tail.")
            yield _checked(row, where)
    except csv.Error as error:
        raise GraphFormatError(f"{name}, line {reader.line_num}: {error}; write head,relation,tail.") from error


def _jsonl(lines: Iterable[str], name: str) -> Iterator[Triple]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{name}, line {number}"
        try:
            record = json.loads(line)
            parts = [record[key] for key in ("head", "relation", "tail")]
        except (json.JSONDecodeError, KeyError, TypeError, RecursionError) as error:
            raise GraphFormatError(f'{where}: write {{"head": …, "relation": …, "tail": …}}.') from error
        if not all(isinstance(part, str) for part in parts):
            raise GraphFormatError(f"{where}: head, relation and tail must be strings.")
        yield _checked(parts, where)


PASTED = "pasted text"
_GZIP = b"\x1f\x8b"
LINES_A_TRIPLE = 10  # blank lines, comments and Turtle's line breaks take some
MAX_FAULTS = 1000  # lines that are no triples; with more of them it is no such file


def read_upload(
    content: bytes, name: str, max_bytes: int, max_triples: int, max_label: int = 0, faults: list[str] | None = None
) -> list[Triple]:
    """The triples of a text or file.

    Args:
        content: its bytes, plain or gzip.
        name: its file name, which gives the format; with ``PASTED`` the format is guessed from the text.
        max_bytes: the limit for the content as it comes, and again for the unpacked content.
        max_triples: how many triples it may hold.
        max_label: characters of the longest name it may hold; 0 for no limit.
        faults: if given, up to ``MAX_FAULTS`` lines that are no triples are passed over, and what is wrong with each is
            put in here; Turtle alone has no lines of its own, so there the first fault ends it.

    Raises:
        GraphFormatError: it is too large, damaged, empty, or has a line (named) that is no triple.
    """
    if len(content) > max_bytes:
        size, limit = _size(len(content)), _size(max_bytes)
        raise GraphFormatError(f"{name} has {size}; at most {limit} can be taken, so shorten it.")
    if content.startswith(_GZIP):
        content = _unpacked(content, name, max_bytes)
    if content.count(b"\n") > LINES_A_TRIPLE * max_triples:
        raise GraphFormatError(f"{name} has more than {LINES_A_TRIPLE * max_triples:,} lines; shorten it.")
    suffix = _guessed(content) if name == PASTED else kind_of(name)
    triples: list[Triple] = []
    lines = lines_of(io.BytesIO(content), name)
    read = parse_triples(lines, suffix, name)
    if faults is not None and suffix != ".ttl":
        read = _rows_that_read(lines, suffix, name, faults)
    for triple in read:
        if len(triples) == max_triples:
            raise GraphFormatError(f"{name} has more than {max_triples:,} triples; leave some out.")
        longest = max(triple, key=len)
        if 0 < max_label < len(longest):
            raise GraphFormatError(
                f"{name} has a name of {len(longest):,} characters, beginning {longest[:30]!r}; "
                f"at most {max_label} can be taken, so shorten it."
            )
        triples.append(triple)
    if not triples:
        raise GraphFormatError(f"{name} holds no triples; write one a line, for example head<TAB>relation<TAB>tail.")
    return triples


def _rows_that_read(lines: Iterable[str], suffix: str, name: str, faults: list[str]) -> Iterator[Triple]:
    """The triples of those lines that can be read; what is wrong with the others goes to ``faults``."""
    for number, line in enumerate(lines, 1):
        try:
            yield from parse_triples([line], suffix, name)
        except GraphFormatError as error:
            faults.append(str(error).replace(f"{name}, line 1:", f"line {number}:"))
            if len(faults) > MAX_FAULTS:
                raise GraphFormatError(
                    f"{name} has more than {MAX_FAULTS:,} lines that are no triples, first {faults[0]}"
                ) from error


def _guessed(content: bytes) -> str:
    """The format of a pasted text, from its first line that is not blank."""
    first = next((line.strip() for line in content.splitlines() if line.strip()), b"")
    if first.startswith(b"{"):
        return ".jsonl"
    if first.lower().startswith((b"<", b"_:", b"#", b"@prefix", b"prefix", b"@base", b"base")) and (
        b"\t" not in first and b"," not in first
    ):
        return ".ttl"  # N-Triples are Turtle too
    return ".tsv" if b"\t" in first or b"," not in first else ".csv"


def _unpacked(content: bytes, name: str, limit: int) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
            unpacked = packed.read(limit + 1)
    except (EOFError, OSError, zlib.error) as error:
        raise GraphFormatError(f"{name} is damaged or cut off ({error}); pack it again.") from error
    if len(unpacked) > limit:
        raise GraphFormatError(f"{name} unpacks to more than {_size(limit)}, which is the most; shorten it.")
    return unpacked


def _size(count: int) -> str:
    return f"{count / 1_000_000:,.1f} MB" if count >= 100_000 else f"{count:,} bytes"


# what is known of entities ------------------------------------------------------------------------

_ENTITY_COLUMNS = ("label", "entity")
_NAME_COLUMNS = ("wikidata_label", "freebase_name")
_KNOWN = (*_ENTITY_COLUMNS, *_NAME_COLUMNS, "type", "aliases", "description")
_HEADERLESS = ("entity", "type", "aliases")
_IDENTIFIER = re.compile(r"^(Q\d+|/[a-z]+/\w+)$")  # what stands where a source has no name
_RELATION_NAME = re.compile(r"/?\w+([/.]\w+){2,}")  # domain, type, property
_FREEBASE_KINDS = Path(__file__).parent / "freebase_kinds.tsv"


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
    columns: tuple[str, ...] = ()
    for where, line in numbered_lines(path):
        cells = [cell.strip() for cell in line.split("\t")]
        if not any(cells):
            continue
        if not columns:
            columns = _header(cells)
            if columns != _HEADERLESS or cells == list(_HEADERLESS):
                continue
        if len(cells) > len(columns):
            raise GraphFormatError(f"{where}: {len(cells)} columns where {len(columns)} are expected.")
        yield _row(dict(zip(columns, cells, strict=False)), where)


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
