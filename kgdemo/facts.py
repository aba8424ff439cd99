"""What the sources of a graph state: the verifier's own index of triples, made from their labels alone.

The decoder walks the arrays of ``kg.graph``. Nothing here reads them, so a fault in building, saving or opening those
arrays cannot make the verifier agree with a path that no source states. Three kinds of source are known: triples as
they were read (``StatedFacts``), those with a few changes (``EditedFacts``), and a saved graph (``SavedFacts``), whose
index was made from the source when it was saved.
"""

from __future__ import annotations

import gzip
import json
import shutil
from abc import ABC, abstractmethod
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import blake2b
from itertools import chain, compress, count, islice, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kgdemo.errors import GraphFormatError

Triple = tuple[str, str, str]
Statement = tuple[str, str, str, str]  # entity, attribute, value and unit
_INDEX, _HEADER = "facts.npy", "facts.json"
_READ = 50_000  # labels of a saved graph taken at once when all are gone through


class Facts(ABC):
    """What a verifier asks of a source of triples.

    Attributes:
        relations: of the triples.
        inverse_labels: relation -> how the schema reads it from tail to head, for those that have such words.
    """

    relations: Collection[str]
    inverse_labels: Mapping[str, str]

    @abstractmethod
    def entities(self) -> Iterator[str]:
        """The entities of the triples, each once; none where they cannot be listed."""

    @abstractmethod
    def has_entity(self, label: str) -> bool:
        """Whether an entity has exactly this label."""

    @abstractmethod
    def holds(self, head: str, relation: str, tail: str) -> bool:
        """Whether this very triple, in this direction, is stated."""

    def states(self, entity: str, attribute: str, value: str, unit: str) -> bool:
        """Whether an attribute of an entity is stated to have this very value; what an entity is, is its ``type``."""
        return False

    def speaks_of(self, entity: str, attribute: str) -> bool:
        """Whether any value of an attribute, or any end of a relation, is stated of an entity; True if not known."""
        return True

    def has_distinct_ends(self, relation: str) -> bool:
        """Whether no head of this relation's triples is a tail of them too, so that none can be meant the other way.

        False if not known.
        """
        return False

    def expect(self, triples: Iterable[Triple], names: Iterable[str] = ()) -> None:  # noqa: B027  # for remote sources
        """Announce which triples, and which names beside theirs, are about to be asked for."""

    def forget(self) -> None:  # noqa: B027  # for remote sources
        """Ask anew from now on, where the source is one that is asked and may have changed."""


class StatedFacts(Facts):
    """An index in memory: ids of labels in dictionaries, and for each relation its pairs of ids, sorted.

    Args:
        triples: (head, relation, tail) labels as the source states them; repeats count once.
        inverse_labels: see ``Facts``.
        statements: (entity, attribute, value, unit) as the source writes them.
    """

    def __init__(
        self,
        triples: Iterable[Triple],
        inverse_labels: Mapping[str, str] | None = None,
        statements: Iterable[Statement] = (),
    ) -> None:
        self.inverse_labels = dict(inverse_labels or {})
        self._statements = frozenset(statements)
        self._entities: dict[str, int] = {}
        relations: dict[str, int] = {}
        heads, between, tails = array("I"), array("I"), array("I")
        for head, relation, tail in triples:
            heads.append(self._entities.setdefault(head, len(self._entities)))
            between.append(relations.setdefault(relation, len(relations)))
            tails.append(self._entities.setdefault(tail, len(self._entities)))
        pairs = np.array(heads, dtype=np.uint64) << np.uint64(32) | np.array(tails, dtype=np.uint64)
        ids = np.array(between, dtype=np.uint32)
        order = np.lexsort((pairs, ids))
        ends = np.cumsum(np.bincount(ids, minlength=len(relations)))[:-1]
        self._pairs = dict(zip(relations, np.split(pairs[order], ends), strict=False))
        self.relations = self._pairs.keys()

    def entities(self) -> Iterator[str]:
        """See ``Facts``."""
        return iter(self._entities)

    def has_entity(self, label: str) -> bool:
        """See ``Facts``."""
        return label in self._entities

    def holds(self, head: str, relation: str, tail: str) -> bool:
        """See ``Facts``."""
        first, last, pairs = self._entities.get(head), self._entities.get(tail), self._pairs.get(relation)
        if first is None or last is None or pairs is None:
            return False
        pair = np.uint64(first << 32 | last)
        place = int(np.searchsorted(pairs, pair))
        return place < len(pairs) and bool(pairs[place] == pair)

    def states(self, entity: str, attribute: str, value: str, unit: str) -> bool:
        """See ``Facts``."""
        return (entity, attribute, value, unit) in self._statements

    def speaks_of(self, entity: str, attribute: str) -> bool:
        """See ``Facts``."""
        pairs, head = self._pairs.get(attribute), self._entities.get(entity)
        if pairs is not None and head is not None:
            place = int(np.searchsorted(pairs, np.uint64(head << 32)))
            if place < len(pairs) and int(pairs[place]) >> 32 == head:
                return True
        return any(one[:2] == (entity, attribute) for one in self._statements)

    def has_distinct_ends(self, relation: str) -> bool:
        """See ``Facts``."""
        pairs = self._pairs.get(relation)
        if pairs is None:
            return False
        return not len(np.intersect1d(pairs >> np.uint64(32), pairs & np.uint64(0xFFFFFFFF)))

    def triples(self) -> Iterator[Triple]:
        """All triples, by relation; repeats are yielded as often as they were stated."""
        labels = list(self._entities)
        for relation, pairs in self._pairs.items():
            for pair in pairs.tolist():
                yield labels[pair >> 32], relation, labels[pair & 0xFFFFFFFF]

    def write(self, folder: Path) -> None:
        """Write the index of a saved graph into its folder, see ``SavedFacts``."""
        write_index(self.triples(), self.inverse_labels, folder)


def write_index(
    triples: Iterable[Triple], inverse_labels: Mapping[str, str], folder: Path, rows: int = 1_000_000
) -> None:
    """Write the index of a saved graph, see ``SavedFacts``; no more than some of its triples are held at a time.

    The digests are dealt by their first byte into files, each of which is sorted by itself.

    Args:
        triples: (head, relation, tail) labels as the source states them.
        inverse_labels: see ``Facts``.
        folder: of the saved graph.
        rows: triples that are held at once.
    """
    scratch, relations = folder / "digests", dict[str, None]()
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    try:
        source = iter(triples)
        while chunk := list(islice(source, rows)):
            relations.update(dict.fromkeys(relation for _, relation, _ in chunk))
            named = dict.fromkeys(label for head, _, tail in chunk for label in (head, tail))
            digests = b"".join(chain((_digest(label) for label in named), (_digest(*triple) for triple in chunk)))
            pairs = np.frombuffer(digests, dtype=np.uint64).reshape(-1, 2)
            byte = (pairs[:, 0] >> np.uint64(56)).astype(np.int64)
            ends = np.cumsum(np.bincount(byte, minlength=256))
            for place, own in enumerate(np.split(pairs[np.argsort(byte, kind="stable")], ends[:-1])):
                if len(own):
                    with (scratch / f"{place:03}").open("ab") as stream:
                        own.tofile(stream)
        _write_sorted(sorted(scratch.iterdir()), folder / _INDEX)
    finally:
        shutil.rmtree(scratch)
    header = {"relations": list(relations), "inverse_labels": dict(inverse_labels)}
    (folder / _HEADER).write_text(json.dumps(header, ensure_ascii=True), "utf-8")


def _write_sorted(files: list[Path], index: Path) -> None:
    """Sort the digests of each file, each digest once, and write them one file behind the other, ``(2, digests)``."""
    sizes = []
    for file in files:
        pairs = np.fromfile(file, np.uint64).reshape(-1, 2)
        pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
        new = np.ones(len(pairs), np.bool_)
        new[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
        pairs[new].tofile(file)
        sizes.append(int(new.sum()))
    ends = np.cumsum([0, *sizes])
    if not files:  # nothing can be mapped of an empty file
        np.save(index, np.empty((2, 0), np.uint64))
        return
    found = np.memmap(files[0].parent / "sorted", np.uint64, "w+", shape=(2, int(ends[-1])))
    for file, (first, last) in zip(files, pairwise(ends.tolist()), strict=True):
        found[:, first:last] = np.fromfile(file, np.uint64).reshape(-1, 2).T
    np.save(index, found)


class SavedFacts(Facts):
    """The index beside the arrays of a saved graph: digests of its triples and entities, sorted, memory-mapped.

    A digest has 128 bits, so that no false claim is found by chance or by search, and a graph of many millions of
    triples opens at once. The arrays beside it are read for one thing: the spellings that a name may be matched to.
    Only those whose digest is in the index count. What an entity's values are, and whether a relation's ends are
    distinct, digests do not tell.

    Args:
        folder: of the saved graph.

    Raises:
        GraphFormatError: the index is missing or damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            digests = np.load(folder / _INDEX, mmap_mode="r", allow_pickle=False)
            self._first: NDArray[np.uint64] = np.asarray(digests[0])
            self._second: NDArray[np.uint64] = np.asarray(digests[1])
            header = json.loads((folder / _HEADER).read_text("utf-8"))
            self.relations = frozenset(header["relations"])
            self.inverse_labels = header["inverse_labels"]
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            raise GraphFormatError(
                f"{folder} has no index for the verifier ({error}); save the graph again."
            ) from error

    def entities(self) -> Iterator[str]:
        """See ``Facts``."""
        blob = np.load(self._folder / "entities.blob.npy", mmap_mode="r", allow_pickle=False)
        offsets = np.load(self._folder / "entities.offsets.npy", mmap_mode="r", allow_pickle=False)
        for place in range(0, len(offsets) - 1, _READ):
            bounds = offsets[place : place + _READ + 1].tolist()
            text = blob[bounds[0] : bounds[-1]].tobytes()
            labels = [
                text[begin - bounds[0] : end - bounds[0]].decode("utf-8", "surrogatepass")
                for begin, end in pairwise(bounds)
            ]
            yield from compress(labels, self._have(b"".join(map(_digest, labels))))

    def has_entity(self, label: str) -> bool:
        """See ``Facts``."""
        return bool(self._have(_digest(label))[0])

    def holds(self, head: str, relation: str, tail: str) -> bool:
        """See ``Facts``."""
        return bool(self._have(_digest(head, relation, tail))[0])

    def write(self, folder: Path) -> None:
        """Write the same index into the folder of another saved graph."""
        for name in (_INDEX, _HEADER):
            shutil.copyfile(self._folder / name, folder / name)

    def _have(self, digests: bytes) -> NDArray[np.bool_]:
        """Whether each of these digests is in the index; they are sorted by their first half, seldom alike in it."""
        first, second = np.frombuffer(digests, dtype=np.uint64).reshape(-1, 2).T
        found, place = np.zeros(len(first), dtype=np.bool_), self._first.searchsorted(first)
        while (here := (place < len(self._first))).any():
            at = np.minimum(place, len(self._first) - 1)
            here &= self._first[at] == first
            found |= here & (self._second[at] == second)
            if not (here & ~found).any():
                break
            place += 1
        return found


class EditedFacts(Facts):
    """Facts with a few triples added and removed, one change after another.

    Args:
        base: what was stated before.
        edits: (whether it is added, triple); the triple may also be named as a hop against its edge.
    """

    def __init__(self, base: Facts, edits: Iterable[tuple[bool, Triple]]) -> None:
        self.base = base
        self.relations, self.inverse_labels = base.relations, base.inverse_labels
        self._stated: dict[Triple, bool] = {}
        for adds, hop in edits:
            stated = stated_as(hop, self)
            if adds:
                self._change(hop if hop[1] in base.relations else stated[-1], True)
            else:
                self._change(next((triple for triple in stated if self.holds(*triple)), hop), False)

    def entities(self) -> Iterator[str]:
        """See ``Facts``; an entity that has lost its last triple is still one."""
        yield from self.base.entities()
        new = dict.fromkeys(label for head, _, tail in self._added() for label in (head, tail))
        yield from (label for label in new if not self.base.has_entity(label))

    def has_entity(self, label: str) -> bool:
        """See ``Facts``."""
        return self.base.has_entity(label) or any(label in (head, tail) for head, _, tail in self._added())

    def holds(self, head: str, relation: str, tail: str) -> bool:
        """See ``Facts``."""
        stated = self._stated.get((head, relation, tail))
        return self.base.holds(head, relation, tail) if stated is None else stated

    def states(self, entity: str, attribute: str, value: str, unit: str) -> bool:
        """See ``Facts``; edits change triples alone."""
        return self.base.states(entity, attribute, value, unit)

    def speaks_of(self, entity: str, attribute: str) -> bool:
        """See ``Facts``; what an edit took away counts as stated."""
        added = any(adds and hop[:2] == (entity, attribute) for hop, adds in self._stated.items())
        return added or self.base.speaks_of(entity, attribute)

    def expect(self, triples: Iterable[Triple], names: Iterable[str] = ()) -> None:
        """See ``Facts``."""
        self.base.expect(triples, names)

    def forget(self) -> None:
        """See ``Facts``."""
        self.base.forget()

    def has_distinct_ends(self, relation: str) -> bool:
        """See ``Facts``; of a relation with added triples it is not known."""
        return self.base.has_distinct_ends(relation) and all(added != relation for _, added, _ in self._added())

    def _change(self, triple: Triple, stated: bool) -> None:
        self._stated.pop(triple, None)
        if self.base.holds(*triple) != stated:
            self._stated[triple] = stated
        self.relations = {*self.base.relations, *(relation for _, relation, _ in self._added())}

    def _added(self) -> list[Triple]:
        return [triple for triple, stated in self._stated.items() if stated]


def backward_labels(relations: Collection[str], inverse_labels: Mapping[str, str]) -> dict[str, list[str]]:
    """Label of a step -> the relations that such a step walks from tail to head.

    A relation is walked so by the schema's words for it, and by its own name behind a tilde. Where that is the name of
    a relation too, more tildes are put before it, until no relation that is named alike but for its tildes has such
    a name: of ``part`` and ``~part`` the inverses are ``~~part`` and ``~~~part``.
    """
    tildes: defaultdict[str, set[int]] = defaultdict(set)
    for relation in relations:
        tildes[relation.lstrip("~")].add(len(relation) - len(relation.lstrip("~")))
    found: defaultdict[str, list[str]] = defaultdict(list)
    for relation in relations:
        taken = tildes[relation.lstrip("~")]
        more = next(n for n in count(1) if not taken & {n + before for before in taken})
        found["~" * more + relation].append(relation)
        schema = inverse_labels.get(relation)
        if schema is not None and schema != "~" * more + relation:
            found[schema].append(relation)
    return dict(found)


def stated_as(hop: Triple, facts: Facts) -> list[Triple]:
    """The triples that a hop may stand for: itself, then those that it walks from tail to head."""
    head, relation_label, tail = hop
    backward = backward_labels(facts.relations, facts.inverse_labels).get(relation_label, ())
    return [hop, *((tail, relation, head) for relation in backward)]


def tsv_triples(path: Path) -> Iterator[Triple]:
    """The triples of a tab-separated file, plain or gzip, read by code that the graph's loader does not use.

    Raises:
        GraphFormatError: the file cannot be read, or a line is no triple.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    number = 0
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="\n") as lines:
            for line in lines:
                number += 1
                if line.strip():
                    head, relation, tail = line.split("\t")
                    yield head.strip(), relation.strip(), tail.strip()
    except (OSError, EOFError, ValueError) as error:
        where = f"{path.name}, line {number or 1}"
        raise GraphFormatError(f"{where}: {error}; write head<TAB>relation<TAB>tail in UTF-8.") from error


def tsv_statements(path: Path) -> Iterator[Statement]:
    """What a file of values or of entities states, read by code that the graph's loader does not use.

    Args:
        path: lines of entity, attribute, value and unit; or, in a file of entities, of entity and type.
    """
    is_types = path.name.endswith(".entities.tsv")
    for line in path.read_text("utf-8-sig").split("\n"):
        cells = [cell.strip() for cell in line.split("\t")]
        if is_types and len(cells) > 1:
            yield cells[0], "type", cells[1], ""
        elif len(cells) > 2:
            yield cells[0], cells[1], cells[2], "".join(cells[3:4])


def _digest(*labels: str) -> bytes:
    """16 bytes that stand for an entity (one label) or a triple (three); the lengths keep the labels apart."""
    parts = [label.encode("utf-8", "surrogatepass") for label in labels]
    return blake2b(b" ".join([*(b"%d" % len(part) for part in parts), *parts]), digest_size=16).digest()
