"""Graphs as their authors publish them, recognised by what is in them: nothing has to be converted first.

ConceptNet 5 (assertions), GRBench (``graph.json``), UMLS (``MRREL.RRF``), FB2M and FB5M, and Wikidata (truthy
statements as N-Triples). Where a source calls its entities by ids and gives their names apart, a name becomes
the label and the id an alias; of several entities with one name the first keeps it, the others get their id behind it.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pyoxigraph import Literal, NamedNode

from kgdemo.errors import GraphFormatError
from kgdemo.kg.graph import EntityInfo, Triple
from kgdemo.kg.io.formats import numbered_lines, statements

_LOOKED_AT = 1 << 16  # bytes from the beginning of a file by which it is recognised
_LONGEST = 200  # characters of a feature that is a fact; longer ones are texts about an entity

Info = dict[str, EntityInfo]


@dataclass(frozen=True, slots=True)
class Published:
    """One file of a known form.

    Attributes:
        triples: reads the triples, anew at each call.
        info: reads what is known of the entities besides.
    """

    triples: Callable[[], Iterator[Triple]]
    info: Callable[[], Info]


def published(path: Path) -> Published | None:
    """What a file, or the graph in a folder, holds; None where it is of none of these forms."""
    if path.is_dir():
        found = next((path / name for name in ("graph.json", "graph.json.gz") if (path / name).is_file()), None)
        return Published(partial(_grbench_triples, found), partial(_grbench_info, found)) if found else None
    opening = _opening(path) if path.is_file() else ""
    readers = ((triples, info) for fits, triples, info in _FORMS if fits(opening))
    return next((Published(partial(triples, path), partial(info, path)) for triples, info in readers), None)


def unknown_graph(name: str) -> GraphFormatError:
    """The complaint about a file that neither its name nor its content tells."""
    forms = "ConceptNet assertions, GRBench graph.json, UMLS MRREL.RRF, FB2M or FB5M, Wikidata truthy N-Triples"
    return GraphFormatError(
        f"{name} has no known triple format; name it .tsv, .txt, .csv, .jsonl, .nt, .ttl (.gz is fine), or give a "
        f"published graph ({forms})."
    )


def _opening(path: Path) -> str:
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as stream:
            return str(stream.read(_LOOKED_AT).decode("utf-8-sig", "ignore")).lstrip()
    except (EOFError, OSError, zlib.error):
        return ""  # the reader of the triples says what is wrong


# --------------------------------------------------------------------------------------------------
# Ids and names.


class Names:
    """Labels of the ids of a source: their names where it has any, told apart where several have the same.

    Args:
        named: (id, name); the first name of an id is its label, the others are aliases.
    """

    def __init__(self, named: Iterable[tuple[str, str]]) -> None:
        self.labels: dict[str, str] = {}
        self._taken: set[str] = set()
        self._aliases: dict[str, list[str]] = {}
        for key, name in named:
            self.add(key, name)

    def add(self, key: str, name: str) -> None:
        """One more name of an id."""
        if not name:
            return
        if key in self.labels:
            self._aliases.setdefault(key, []).append(name)
            return
        if name in self._taken:
            self._aliases.setdefault(key, []).append(name)
            name = f"{name} ({key})"
        self._taken.add(name)
        self.labels[key] = name

    def __call__(self, key: str) -> str:
        """The label of an id: itself where it has no name."""
        return self.labels.get(key, key)

    def info(self, types: Mapping[str, str], descriptions: Mapping[str, str]) -> Info:
        """What is known of each named entity; its id is one of its aliases."""
        return {
            label: EntityInfo(
                types.get(key, ""),
                tuple(dict.fromkeys((key, *self._aliases.get(key, ())))),
                descriptions.get(key, ""),
            )
            for key, label in self.labels.items()
        }


def _beside(path: Path, *patterns: str) -> Path | None:
    """A file of the same folder by patterns of its name, in their order."""
    found = (file for pattern in patterns for file in sorted(path.parent.glob(pattern)))
    return next((file for file in found if file != path and file.is_file()), None)


# --------------------------------------------------------------------------------------------------
# ConceptNet 5: tab-separated, relation and concepts as /r/… and /c/language/…; only English concepts are taken.


def _is_conceptnet(opening: str) -> bool:
    return any(len(_concepts(line)) == 3 for line in opening.split("\n")[:2])


def _conceptnet_triples(path: Path) -> Iterator[Triple]:
    """The assertions between two English concepts; their weights play no part, senses are joined."""
    for number, (where, line) in enumerate(numbered_lines(path)):
        parts = _concepts(line)
        if len(parts) < 2 and number:
            raise GraphFormatError(f"{where}: no assertion; write it as ConceptNet does, with /r/… and /c/en/….")
        if len(parts) == 3 and all(part.startswith("/c/en/") for part in parts[1:]):
            relation, head, tail = parts[0].split("/")[-1], *(part.split("/")[3] for part in parts[1:])
            if head and tail and head != tail:
                yield head.replace("_", " "), _spaced(relation), tail.replace("_", " ")


def _concepts(line: str) -> list[str]:
    """Relation, then concepts in their order; the address of the assertion itself is none of them."""
    cells = [cell.strip() for cell in line.split("\t" if "\t" in line else ",")]
    relations = [cell for cell in cells if cell.startswith("/r/")]
    return [*relations[:1], *(cell for cell in cells if cell.startswith("/c/"))] if relations else []


def _spaced(name: str) -> str:
    """``HasPrerequisite`` as *has prerequisite*."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").lower()


# --------------------------------------------------------------------------------------------------
# GRBench (Graph-CoT): {"paper_nodes": {id: {"features": {…}, "neighbors": {relation: [id, …]}}}, …}.

_NAMING = ("name", "title", "case_name", "full_name")  # the feature that a node is called by


def _is_grbench(opening: str) -> bool:
    return opening.startswith("{") and '"neighbors"' in opening and '"features"' in opening


def _grbench_nodes(path: Path) -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """(type, id, features, neighbours) of each node."""
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8-sig") as stream:
            whole = json.load(stream)
        for kind, nodes in whole.items():
            for key, node in nodes.items():
                yield kind.removesuffix("_nodes"), str(key), dict(node["features"]), dict(node["neighbors"])
    except (EOFError, OSError, ValueError, KeyError, TypeError, AttributeError, zlib.error) as error:
        raise GraphFormatError(
            f"{path.name} is no graph of GRBench ({error}); each node needs features and neighbors."
        ) from error


def _grbench_names(path: Path) -> Names:
    return Names((key, _called(features)) for _, key, features, _ in _grbench_nodes(path))


def _called(features: Mapping[str, Any]) -> str:
    return next((" ".join(str(features[name]).split()) for name in _NAMING if features.get(name)), "")


def _grbench_triples(path: Path) -> Iterator[Triple]:
    """Edges between nodes, and the features that are short enough to be facts."""
    names = _grbench_names(path)
    for kind, key, features, neighbours in _grbench_nodes(path):
        for relation, others in neighbours.items():
            ends = relation.split("-")  # of Disease-presents-Symptom a symptom lists its diseases too
            backwards = len(ends) == 3 and kind == ends[2] != ends[0]
            for other in [others] if isinstance(others, str) else others:
                edge = (names(str(other)), relation, names(key))
                yield edge if backwards else edge[::-1]
        for feature, value in features.items():
            for text in map(str, value if isinstance(value, list) else [value]):
                if feature not in _NAMING and 0 < len(text.strip()) <= _LONGEST:
                    yield names(key), feature, " ".join(text.split())


def _grbench_info(path: Path) -> Info:
    return _grbench_names(path).info({key: kind for kind, key, _, _ in _grbench_nodes(path)}, {})


# --------------------------------------------------------------------------------------------------
# UMLS: MRREL.RRF, with names from MRCONSO.RRF and types from MRSTY.RRF beside it.

_CUI = re.compile(r"C\d{7}")


def _is_umls(opening: str) -> bool:
    cells = opening.split("\n", 1)[0].split("|")
    return len(cells) >= 8 and all(_CUI.fullmatch(cells[place]) for place in (0, 4))


def _umls_info(path: Path) -> Info:
    file = _beside(path, "MRSTY.RRF*")
    types = {cells[0]: cells[3].lower() for cells in _pipes(file, 4)} if file else {}
    return _umls_names(path).info(types, {})


def _umls_triples(path: Path) -> Iterator[Triple]:
    """The second concept of a line stands in the relation to the first, as UMLS defines it."""
    names = _umls_names(path)
    for cells in _pipes(path, 8):
        if cells[0] != cells[4]:
            yield names(cells[4]), (cells[7] or cells[3]).replace("_", " "), names(cells[0])


def _umls_names(path: Path) -> Names:
    """Preferred names come first, then those in English; other languages are left out."""
    concepts = _beside(path, "MRCONSO.RRF*")
    if concepts:
        rows = [cells for cells in _pipes(concepts, 15) if cells[1] == "ENG"]
        rows.sort(key=lambda cells: (cells[2], cells[4], cells[6]) != ("P", "PF", "Y"))  # stable: as they stand else
        return Names((cells[0], cells[14].strip()) for cells in rows)
    named = _beside(path, "*name*")
    lines = numbered_lines(named) if named else ()
    return Names((cells[0], cells[-1]) for _, line in lines if len(cells := re.split(r"[|\t]", line.strip("|"))) > 1)


def _pipes(path: Path, min_columns: int) -> Iterator[list[str]]:
    for where, line in numbered_lines(path):
        cells = line.split("|")
        if len(cells) < min_columns:
            raise GraphFormatError(f"{where}: {len(cells)} columns apart by |, where UMLS has {min_columns} or more.")
        yield cells


# --------------------------------------------------------------------------------------------------
# FB2M, FB5M: head, relation and tails apart by blanks, as addresses of freebase.com; names in a file beside them.

_FREEBASE = re.compile(r"^(https?://)?(www\.)?freebase\.com/")


def _is_freebase(opening: str) -> bool:
    cells = opening.split("\n", 1)[0].split("\t")
    return len(cells) == 3 and all(_FREEBASE.match(cell) for cell in cells)


def _freebase_info(path: Path) -> Info:
    return _freebase_names(path).info({}, {})


def _freebase_triples(path: Path) -> Iterator[Triple]:
    names = _freebase_names(path)
    for where, line in numbered_lines(path):
        cells = line.split("\t")
        if len(cells) != 3 or not all(cell.strip() for cell in cells):
            raise GraphFormatError(f"{where}: {len(cells)} columns; FB2M has head, relation and tails with tabs.")
        head, relation = names(_mid(cells[0])), _mid(cells[1])
        for tail in cells[2].split():
            yield head, relation, names(_mid(tail))


def _mid(address: str) -> str:
    """``www.freebase.com/m/02mjmr`` and ``<fb:m.02mjmr>`` as ``m.02mjmr``, the form that questions have."""
    bare = _FREEBASE.sub("", address.strip().strip("<>")).removeprefix("fb:")
    return bare.strip("/").replace("/", ".")


def _freebase_names(path: Path) -> Names:
    """Lines of id and name, with what kind of name between them or not, as the files that go with FB2M have it."""
    file, names = _beside(path, "*name*"), Names(())
    for _, line in numbered_lines(file) if file else ():
        cells = [cell.strip() for cell in line.split("\t") if cell.strip() not in ("", ".")]
        if len(cells) > 1 and (found := re.fullmatch(r'"?(.*?)"?(@en)?', cells[-1])) and found[1]:
            names.add(_mid(cells[0]), found[1])
    return names


# --------------------------------------------------------------------------------------------------
# Wikidata: truthy statements, names and other names in English, wherever in the file they stand.

_ENTITY, _DIRECT = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"
_NAME_OF = ("http://www.w3.org/2000/01/rdf-schema#label", "http://www.w3.org/2004/02/skos/core#prefLabel")
_ALIAS_OF, _ABOUT = "http://www.w3.org/2004/02/skos/core#altLabel", "http://schema.org/description"
_INSTANCE_OF = f"{_DIRECT}P31"
_DATE = re.compile(r"([+-]?\d+-\d\d-\d\d)T[\d:.]+Z?")
_VALUES = ("dateTime", "decimal", "integer", "double")


def _is_wikidata(opening: str) -> bool:
    return opening.startswith(("<", "_:", "#", "@prefix")) and (f"<{_ENTITY}" in opening or f"<{_DIRECT}" in opening)


def _wikidata_rows(path: Path) -> Iterator[tuple[str, str, Any]]:
    """(subject, predicate, object) with addresses for the first two."""
    suffix = ".ttl" if ".ttl" in path.suffixes else ".nt"
    text = (f"{line}\n" for _, line in numbered_lines(path))
    for subject, predicate, value in statements(text, suffix, path.name):
        if isinstance(subject, NamedNode) and isinstance(predicate, NamedNode):
            yield subject.value, predicate.value, value


def _wikidata_names(path: Path) -> tuple[Names, Names]:
    """Of entities and of properties: a property may be called as an entity is."""
    names, others = (Names(()), Names(())), []
    for subject, predicate, value in _wikidata_rows(path):
        if subject.startswith(_ENTITY) and isinstance(value, Literal) and value.language == "en":
            key = subject.removeprefix(_ENTITY)
            own = names[key.startswith("P")]
            if predicate in _NAME_OF and key not in own.labels:
                own.add(key, value.value.strip())
            elif predicate == _ALIAS_OF:
                others.append((key, value.value.strip()))
    for key, name in others:
        if key in names[0].labels:
            names[0].add(key, name)
    return names


def _wikidata_triples(path: Path) -> Iterator[Triple]:
    """Statements whose value is an entity, a date or a number; texts are nearly all ids in other catalogues."""
    names, properties = _wikidata_names(path)
    for subject, predicate, value in _wikidata_rows(path):
        if subject.startswith(_ENTITY) and predicate.startswith(_DIRECT) and (tail := _wikidata_value(value, names)):
            yield names(subject.removeprefix(_ENTITY)), properties(predicate.removeprefix(_DIRECT)), tail


def _wikidata_value(value: object, names: Names) -> str:
    """The label of a value; nothing for one that is no fact about the world."""
    if isinstance(value, NamedNode):
        return names(value.value.removeprefix(_ENTITY)) if value.value.startswith(_ENTITY) else ""
    if isinstance(value, Literal) and value.datatype.value.endswith(_VALUES):
        date = _DATE.fullmatch(value.value)
        return (date[1] if date else value.value).lstrip("+")
    return ""


def _wikidata_info(path: Path) -> Info:
    names, _ = _wikidata_names(path)
    types: dict[str, str] = {}
    about: dict[str, str] = {}
    for subject, predicate, value in _wikidata_rows(path):
        key = subject.removeprefix(_ENTITY)
        if predicate == _INSTANCE_OF and isinstance(value, NamedNode):
            types.setdefault(key, names(value.value.removeprefix(_ENTITY)))
        elif predicate == _ABOUT and isinstance(value, Literal) and value.language == "en":
            about.setdefault(key, value.value)
    return names.info(types, about)


_FORMS: tuple[tuple[Callable[[str], bool], Callable[[Path], Iterator[Triple]], Callable[[Path], Info]], ...] = (
    (_is_conceptnet, _conceptnet_triples, lambda _: {}),
    (_is_grbench, _grbench_triples, _grbench_info),
    (_is_umls, _umls_triples, _umls_info),
    (_is_freebase, _freebase_triples, _freebase_info),
    (_is_wikidata, _wikidata_triples, _wikidata_info),
)
