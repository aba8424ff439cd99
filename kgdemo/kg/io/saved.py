"""Saved graphs: a folder of arrays that opens memory-mapped, so that a million triples are there at once.

One ``.npy`` file an array, ``graph.json`` with name, inverse labels and version, ``info.jsonl`` with types and aliases
where the graph has any. ``facts.npy`` and ``facts.json`` are the verifier's, see ``facts``.

A graph of a hundred million triples opens at once too, and takes as much memory as its questions reach: it is seen
through the verbs of a ``stores.base.Store`` (``SavedStore``), so no label is tokenised or indexed beforehand.

``build_arrays`` writes the arrays of a graph that does not fit into memory: a hundred million triples on a small
machine. The triples are read once, in chunks. The labels of a chunk are sorted and written, and so are its triples, as
places among these labels (a *run*). Merging the runs' labels gives every label its id. Then the triples are dealt into
buckets, each of which holds all edges of some entities and is sorted by itself. No more than a chunk, a bucket and one
number for each entity is held at a time. The arrays are those that ``KnowledgeGraph.from_triples`` makes.
"""

from __future__ import annotations

import heapq
import json
import shutil
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from kgdemo.errors import GraphFormatError
from kgdemo.facts import SavedFacts, StatedFacts, write_index
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph, Triple
from kgdemo.kg.io.formats import with_entity_kinds
from kgdemo.kg.labels import Adjacency, LabelTable, Literals
from kgdemo.kg.stores.base import Edge, Ends, Node, RelationEnds, Step, Survey
from kgdemo.kg.stores.graph import StoreGraph

LARGE = 1_000_000  # entities; of a saved graph that has more, only what questions reach is brought into memory
ROWS = 2_000_000  # triples that are held at once while arrays are built
_READ = 50_000  # labels taken from a run, or written, at once
_HEADER, _VERSION = "graph.json", 2
_TABLES, _TABLE_PARTS = ("entities", "relations"), ("blob", "offsets")
_SIDES, _SIDE_PARTS = ("outgoing", "incoming"), ("offsets", "relations", "targets")
_SAMPLE = 200  # facts of a relation, by which it is told whether it says the same in both directions
_WINDOWS = 400  # places in a graph at which facts are taken for that
_WINDOW = 5_000  # facts taken at each


def save(kg: KnowledgeGraph, facts: StatedFacts | SavedFacts, folder: Path) -> None:
    """Write a graph into ``folder``, which is made.

    Args:
        kg: the graph.
        facts: of the same source, for the verifier of the saved graph.
        folder: where to.
    """
    begin(folder, _HEADER)
    for name, values in arrays_of(kg).items():
        np.save(folder / f"{name}.npy", values)
    facts.write(folder)
    _finish(kg, folder)


def save_triples(
    triples: Iterable[Triple], stated: Iterable[Triple], name: str, info: Mapping[str, EntityInfo], folder: Path
) -> int:
    """Write a graph of any size into ``folder``; no more than some of its triples are held at a time.

    Args:
        triples: (head, relation, tail) labels.
        stated: the same from a second reading, for the verifier's index.
        name: of the graph.
        info: as for ``KnowledgeGraph.from_triples``.
        folder: where to.

    Returns:
        how many triples it has.
    """
    begin(folder, _HEADER)
    build_arrays(triples, folder)
    built = _mapped(folder, name, {})
    known = {label: about for label, about in info.items() if label in built.entities}
    built = with_entity_kinds(_mapped(folder, name, {}, known))
    write_index(stated, {}, folder)
    _finish(built, folder)
    return len(built)


def _finish(kg: KnowledgeGraph, folder: Path) -> None:
    """Write what is known of entities, and at last the header: a folder with it is whole."""
    with (folder / "info.jsonl").open("w", encoding="utf-8") as stream:
        for label, info in kg.info.items():
            stream.write(json.dumps({"entity": label, **asdict(info)}, ensure_ascii=False) + "\n")
    header = {"version": _VERSION, "name": kg.name, "inverse_readings": kg.inverse_labels}
    if len(kg.entities) > LARGE:
        header["symmetric"] = symmetric_relations(kg)
    (folder / _HEADER).write_text(json.dumps(header, ensure_ascii=False), "utf-8")


def begin(folder: Path, header: str) -> None:
    """Make ``folder``, or ready to be written anew what is there already.

    Its header goes first and is written last, so that what breaks off in between is no whole folder. Arrays are taken
    away instead of written over: a process that has them mapped keeps what it has opened.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / header).is_file():
        (folder / header).unlink()
        for array in folder.glob("*.npy"):
            array.unlink()


def is_saved_graph(folder: Path) -> bool:
    """Whether ``folder`` was written by ``save``."""
    return (folder / _HEADER).is_file() and any(folder.glob("*.npy"))  # GRBench too calls its graph graph.json


def load(folder: Path) -> KnowledgeGraph:
    """Open a saved graph; its arrays stay on disk until they are read.

    Raises:
        GraphFormatError: the folder is no saved graph, is incomplete or of another version.
    """
    try:
        header = json.loads((folder / _HEADER).read_text("utf-8"))
        if header["version"] != _VERSION:
            raise GraphFormatError(f"{folder} was saved by another version; save the graph again.")
        lines = (folder / "info.jsonl").read_text("utf-8").split("\n")
        return _mapped(folder, header["name"], header["inverse_readings"], dict(_info(line) for line in lines if line))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise GraphFormatError(f"{folder} is no saved graph or is incomplete ({error}); save it again.") from error


def open_saved(folder: Path) -> KnowledgeGraph:
    """A saved graph; of a large one only what questions reach is brought into memory. Raises as ``load`` does."""
    kg = load(folder)
    if len(kg.entities) <= LARGE:
        return kg
    symmetric = json.loads((folder / _HEADER).read_text("utf-8")).get("symmetric")
    return StoreGraph(SavedStore(kg, symmetric), kg.name, folder)


def _mapped(
    folder: Path, name: str, inverse_readings: Mapping[str, str], info: Mapping[str, EntityInfo] | None = None
) -> KnowledgeGraph:
    """The arrays in a folder as a graph."""

    def array(name: str) -> NDArray[Any]:
        mapped: NDArray[Any] = np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
        return mapped

    return graph_of(array, name, inverse_readings, info)


def _info(line: str) -> tuple[str, EntityInfo]:
    record = json.loads(line)
    label = record.pop("entity")
    return label, EntityInfo(**{**record, "aliases": tuple(record["aliases"])})


def arrays_of(kg: KnowledgeGraph) -> dict[str, NDArray[Any]]:
    """The arrays of a graph by name."""
    return {
        f"{name}.{part}": getattr(getattr(kg, name), part)
        for names, parts in ((_TABLES, _TABLE_PARTS), (_SIDES, _SIDE_PARTS))
        for name in names
        for part in parts
    }


def graph_of(
    array: Callable[[str], NDArray[Any]],
    name: str,
    inverse_labels: Mapping[str, str],
    info: Mapping[str, EntityInfo] | None = None,
    literals: Literals | None = None,
) -> KnowledgeGraph:
    """The graph of some arrays, given by name; see ``KnowledgeGraph`` for the rest."""
    entities, relations = (LabelTable(*(array(f"{table}.{part}") for part in _TABLE_PARTS)) for table in _TABLES)
    outgoing, incoming = (Adjacency(*(array(f"{side}.{part}") for part in _SIDE_PARTS)) for side in _SIDES)
    return KnowledgeGraph(name, entities, relations, outgoing, incoming, inverse_labels, info, literals)


# a saved graph as a store -------------------------------------------------------------------------


class SavedStore:
    """The arrays of a graph, seen as a store; safe to use from several threads.

    The ids of entities and relations are their numbers, written in digits.

    Args:
        kg: a graph whose arrays are memory-mapped, or in memory.
        symmetric: its relations that say the same in both directions; None where that has to be found out.
    """

    def __init__(self, kg: KnowledgeGraph, symmetric: Sequence[str] | None = None) -> None:
        self.kg = kg
        self._symmetric = symmetric
        self._aliases: defaultdict[str, list[str]] = defaultdict(list)  # alias -> labels
        for label, known in kg.info.items():
            for alias in known.aliases:
                self._aliases[alias].append(label)

    def survey(self, relations_alone: bool = False) -> Survey:
        """See ``Store``."""
        relations = tuple(Node(str(place), label) for place, label in enumerate(self.kg.relations))
        if relations_alone:
            return Survey(relations)
        if self._symmetric is None:
            self._symmetric = symmetric_relations(self.kg)
        symmetric = frozenset(node.id for node in relations if node.label in set(self._symmetric))
        return Survey(relations, symmetric, {kind: kind for kind in self.kg.types}, len(self.kg))

    def relations(self, entities: Sequence[str], few: int = 0) -> list[RelationEnds]:
        """See ``Store``."""
        found = []
        for entity in entities:
            for outgoing, side in ((True, self.kg.outgoing), (False, self.kg.incoming)):
                row = side.row(int(entity))
                relations = side.relations[row]
                bounds = [0, *(np.flatnonzero(np.diff(relations)) + 1).tolist(), len(relations)]
                for first, behind in pairwise(bounds if len(relations) else []):
                    led = side.targets[row][first:behind] if behind - first <= few else ()
                    ends = tuple(self._node(int(end)) for end in led)
                    found.append(RelationEnds(entity, str(relations[first]), outgoing, behind - first, ends))
        return found

    def ends(self, steps: Sequence[Step], limit: int = 10_000) -> Ends:
        """See ``Store``; of a step with more ends those come that lie evenly among their labels in order."""
        edges: list[Edge] = []
        for entity, relation, outgoing in steps:
            targets = self._targets(int(entity), int(relation), outgoing)
            room = limit - len(edges)
            some = targets if len(targets) <= room else targets[np.arange(room) * len(targets) // max(room, 1)]
            edges += [Edge(entity, relation, outgoing, self._node(end)) for end in some.tolist()]
            if len(targets) > room:
                return Ends(tuple(edges), False)
        return Ends(tuple(edges), True)

    def labels(self, ids: Sequence[str]) -> list[Node]:
        """See ``Store``."""
        return [self._node(int(one)) for one in ids]

    def find(self, texts: Sequence[str]) -> list[tuple[str, Node]]:
        """See ``Store``."""
        found = []
        for text in dict.fromkeys(texts):
            for label in (text, *self._aliases.get(text, ())):
                place = self.kg.entities.find(label)
                if place is not None:
                    found.append((text, self._node(place)))
        return found

    def search(self, texts: Sequence[str]) -> list[tuple[str, Node]]:
        """See ``Store``: the labels one slip away."""
        spelt = dict.fromkeys(one for text in texts for one in _begun_otherwise(text))
        places = dict.fromkeys(place for one in spelt for place in self.kg.entities.one_slip_from(one))
        return [(node.label, node) for node in map(self._node, places)]

    def look_up(self, texts: Sequence[str], few: int) -> tuple[list[tuple[str, Node]], list[RelationEnds]]:
        """See ``Store``."""
        found = self.find(texts)
        return found, self.relations(list(dict.fromkeys(node.id for _, node in found)), few)

    def exists(self, triples: Sequence[tuple[str, str, str]]) -> list[bool]:
        """See ``Store``."""
        return [_has(self._targets(int(head), int(relation), True), int(tail)) for head, relation, tail in triples]

    def _targets(self, entity: int, relation: int, outgoing: bool) -> NDArray[np.int32]:
        """Where a relation leads from an entity: ids in order, which is that of their labels."""
        return (self.kg.outgoing if outgoing else self.kg.incoming).ends(entity, relation)

    def _node(self, place: int) -> Node:
        label = self.kg.entities[place]
        known = self.kg.info.get(label)
        if known is None:
            return Node(str(place), label)
        return Node(str(place), label, known.type, known.aliases, known.description)


def _begun_otherwise(text: str) -> Iterator[str]:
    """A text, and what it is where a slip has moved a capital letter: *Gkellie*, *Rpesley* and *An Somerhalder*."""
    yield text
    words = text.split(" ")
    for place, word in enumerate(words):
        if word[:1].isupper():
            for begun in (word.lower(), word[:1].lower() + word[1:2].upper() + word[2:]):
                yield " ".join([*words[:place], begun, *words[place + 1 :]])


def symmetric_relations(kg: KnowledgeGraph) -> list[str]:
    """The relations of which most facts are stored in both directions, told by some facts of each.

    Args:
        kg: a graph of any size; not all of it is read where it is large.
    """
    edges = kg.outgoing
    begins = np.unique(np.linspace(0, max(0, len(kg) - _WINDOW), _WINDOWS).astype(np.int64))
    places = np.unique(np.concatenate([np.arange(begin, min(begin + _WINDOW, len(kg))) for begin in begins]))
    found = []
    relations = edges.relations[places]
    for relation, label in enumerate(kg.relations):
        own = places[relations == relation]
        own = own[:: max(1, len(own) // _SAMPLE)]
        heads = np.searchsorted(edges.offsets, own, side="right") - 1
        pairs = [(h, t) for h, t in zip(heads.tolist(), edges.targets[own].tolist(), strict=True) if h != t]
        both = sum(_has(edges.ends(tail, relation), head) for head, tail in pairs)
        if 2 * both > len(pairs):
            found.append(label)
    return found


def _has(ordered: NDArray[np.int32], value: int) -> bool:
    place = int(np.searchsorted(ordered, value))
    return place < len(ordered) and int(ordered[place]) == value


# building arrays piece by piece ------------------------------------------------------------------


def build_arrays(triples: Iterable[Triple], folder: Path, rows: int = ROWS) -> None:
    """Write the label tables and both adjacencies of a saved graph.

    Args:
        triples: (head, relation, tail) labels; repeats count once.
        folder: is there; what it takes meanwhile lies in a folder within it, some 40 bytes a triple.
        rows: triples that are held at once.
    """
    scratch = folder / "building"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    try:
        runs, relation_ids = _write_runs(iter(triples), scratch, rows)
        relations, relation_rank = LabelTable.ranked(relation_ids)
        np.save(folder / "relations.blob.npy", relations.blob)
        np.save(folder / "relations.offsets.npy", relations.offsets)
        entities = _merge_labels(runs, folder)
        edges = (_ids(run, relation_rank) for run in runs)
        outgoing = _Buckets(scratch / "outgoing", _degrees(runs, 0, entities), rows)
        for heads, between, tails in edges:
            outgoing.deal(heads, between, tails)
        incoming = _Buckets(scratch / "incoming", _degrees(runs, 2, entities), rows)
        for heads, between, tails in outgoing.write(folder, "outgoing"):
            incoming.deal(tails, between, heads)
        for _ in incoming.write(folder, "incoming"):
            pass
    finally:
        shutil.rmtree(scratch)


class GrowingArray:
    """An ``.npy`` file of one dimension that is written piece by piece; its header leaves room for any length."""

    def __init__(self, path: Path, dtype: type[np.generic]) -> None:
        self._stream = path.open("wb")
        self._dtype = np.dtype(dtype)
        self._length = 0
        self._write_header()

    def append(self, values: NDArray[np.generic]) -> None:
        """Write more values behind the others."""
        values.astype(self._dtype, copy=False).tofile(self._stream)
        self._length += len(values)

    def close(self) -> None:
        """Say in the header how many there are."""
        self._stream.seek(0)
        self._write_header()
        self._stream.close()

    def _write_header(self) -> None:
        shape = {"descr": npy.dtype_to_descr(self._dtype), "fortran_order": False, "shape": (self._length,)}
        npy.write_array_header_1_0(self._stream, shape)


# labels ------------------------------------------------------------------------------------------


def _write_runs(triples: Iterator[Triple], scratch: Path, rows: int) -> tuple[list[Path], dict[str, int]]:
    """Write the triples in runs; also all relations, by the order in which they come."""
    runs: list[Path] = []
    relation_ids: dict[str, int] = {}
    while True:
        entity_ids: dict[str, int] = {}
        flat = array("i")
        for head, relation, tail in islice(triples, rows):
            flat.append(entity_ids.setdefault(head, len(entity_ids)))
            flat.append(relation_ids.setdefault(relation, len(relation_ids)))
            flat.append(entity_ids.setdefault(tail, len(entity_ids)))
        if not flat:
            return runs, relation_ids
        ids = np.array(flat, np.int32).reshape(-1, 3)
        table, rank = LabelTable.ranked(entity_ids)
        ids[:, 0], ids[:, 2] = rank[ids[:, 0]], rank[ids[:, 2]]
        run = scratch / f"run{len(runs)}"
        run.mkdir()
        for name, values in (("blob", table.blob), ("offsets", table.offsets), ("triples", ids)):
            np.save(run / f"{name}.npy", values)
        runs.append(run)


def _merge_labels(runs: list[Path], folder: Path) -> int:
    """Write the table of all entities, and for each run the ids of its labels; returns how many there are."""
    blob = GrowingArray(folder / "entities.blob.npy", np.uint8)
    ends = GrowingArray(folder / "entities.offsets.npy", np.int64)
    ids = [GrowingArray(run / "ids.npy", np.int32) for run in runs]
    waiting: list[list[int]] = [[] for _ in runs]
    labels: list[bytes] = []
    count, size = 0, 0
    ends.append(np.zeros(1, np.int64))

    def write_out() -> None:
        nonlocal size
        blob.append(np.frombuffer(b"".join(labels), np.uint8))
        behind = size + np.cumsum([len(label) for label in labels], dtype=np.int64)
        ends.append(behind)
        size = int(behind[-1]) if len(behind) else size
        labels.clear()
        for known, own in zip(ids, waiting, strict=True):
            known.append(np.array(own, np.int32))
            own.clear()

    before = None
    for label, run in heapq.merge(*(_labels_of(run, place) for place, run in enumerate(runs))):
        if label != before:
            if len(labels) == _READ:
                write_out()
            before = label
            labels.append(label)
            count += 1
        waiting[run].append(count - 1)
    write_out()
    for written in (blob, ends, *ids):
        written.close()
    return count


def _labels_of(run: Path, place: int) -> Iterator[tuple[bytes, int]]:
    """The labels of a run in order, each with the run's place."""
    blob, offsets = np.load(run / "blob.npy", mmap_mode="r"), np.load(run / "offsets.npy", mmap_mode="r")
    for first in range(0, len(offsets) - 1, _READ):
        bounds = offsets[first : first + _READ + 1].tolist()
        text = blob[bounds[0] : bounds[-1]].tobytes()
        yield from ((text[begin - bounds[0] : end - bounds[0]], place) for begin, end in pairwise(bounds))


# edges -------------------------------------------------------------------------------------------

_Edges = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]


def _ids(run: Path, relation_rank: NDArray[np.int32]) -> _Edges:
    """The triples of a run in ids: heads, relations, tails."""
    triples, ids = np.load(run / "triples.npy"), np.load(run / "ids.npy")
    return ids[triples[:, 0]], relation_rank[triples[:, 1]], ids[triples[:, 2]]


def _degrees(runs: list[Path], column: int, entities: int) -> NDArray[np.int64]:
    """How many triples have each entity as their head (column 0) or tail (2), repeats included."""
    degrees = np.zeros(entities, np.int64)
    for run in runs:
        own = np.load(run / "ids.npy")
        triples = np.load(run / "triples.npy", mmap_mode="r")
        degrees[own] += np.bincount(triples[:, column], minlength=len(own))
    return degrees


class _Buckets:
    """Edges on disk, dealt by the entity that they start from; each bucket is sorted by itself.

    Args:
        folder: is made.
        degrees: how many edges will come from each entity.
        rows: edges in a bucket, more only where a single entity has more.
    """

    def __init__(self, folder: Path, degrees: NDArray[np.int64], rows: int) -> None:
        folder.mkdir()
        self._folder = folder
        self._entities = len(degrees)
        total = np.cumsum(degrees)
        wanted = np.arange(rows, int(total[-1]) if len(total) else 0, rows)
        self._bounds = np.unique(total.searchsorted(wanted))  # the first entity of each bucket but the first

    def deal(self, sources: NDArray[np.int32], relations: NDArray[np.int32], targets: NDArray[np.int32]) -> None:
        """Put edges into their buckets."""
        bucket = self._bounds.searchsorted(sources, side="right")
        order = np.argsort(bucket, kind="stable")
        rows = np.stack((sources, relations, targets), axis=1)[order]
        ends = np.cumsum(np.bincount(bucket, minlength=len(self._bounds) + 1))
        for place, own in enumerate(np.split(rows, ends[:-1])):
            if len(own):
                with (self._folder / str(place)).open("ab") as stream:
                    own.tofile(stream)

    def write(self, folder: Path, name: str) -> Iterator[_Edges]:
        """Write the adjacency of a saved graph; yields its edges bucket by bucket, each once, and drops the bucket."""
        relations, targets = (
            GrowingArray(folder / f"{name}.{part}.npy", np.int32) for part in ("relations", "targets")
        )
        counts = np.zeros(self._entities, np.int64)
        for place in range(len(self._bounds) + 1):
            file = self._folder / str(place)
            if not file.exists():
                continue
            rows = np.fromfile(file, np.int32).reshape(-1, 3)
            file.unlink()
            rows = rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))]
            new = np.ones(len(rows), np.bool_)
            new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
            sources, between, ends = rows[new].T
            relations.append(between)
            targets.append(ends)
            own = np.bincount(sources - sources[0])
            counts[sources[0] : sources[0] + len(own)] += own
            yield sources, between, ends
        relations.close()
        targets.close()
        np.save(folder / f"{name}.offsets.npy", np.concatenate([[0], np.cumsum(counts)]))
