"""A graph as a folder of arrays that re-opens memory-mapped: a million triples are there at once.

Layout: one ``.npy`` file an array, ``graph.json`` with name, inverse labels and version, ``info.jsonl`` with
types and aliases where the graph has any. ``facts.npy`` and ``facts.json`` are the verifier's, see ``facts``.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np

from kgdemo.errors import GraphFormatError
from kgdemo.facts import SavedFacts, StatedFacts
from kgdemo.kg.adjacency import Adjacency
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.kg.labels import LabelTable

VERSION = 2
_HEADER = "graph.json"


def save(kg: KnowledgeGraph, facts: StatedFacts | SavedFacts, folder: Path) -> None:
    """Write a graph into ``folder``, which is made.

    Args:
        kg: the graph.
        facts: of the same source, for whoever verifies paths of the saved graph.
        folder: where to.
    """
    begin(folder, _HEADER)
    for name, table in (("entities", kg.entities), ("relations", kg.relations)):
        np.save(folder / f"{name}.blob.npy", table.blob)
        np.save(folder / f"{name}.offsets.npy", table.offsets)
    for name, adjacency in (("outgoing", kg.outgoing), ("incoming", kg.incoming)):
        np.save(folder / f"{name}.offsets.npy", adjacency.offsets)
        np.save(folder / f"{name}.relations.npy", adjacency.relations)
        np.save(folder / f"{name}.targets.npy", adjacency.targets)
    with (folder / "info.jsonl").open("w", encoding="utf-8") as stream:
        for label, info in kg.info.items():
            stream.write(json.dumps({"entity": label, **asdict(info)}, ensure_ascii=False) + "\n")
    facts.write(folder)
    header = {"version": VERSION, "name": kg.name, "inverse_readings": kg.inverse_labels}
    (folder / _HEADER).write_text(json.dumps(header, ensure_ascii=False), "utf-8")  # last: a folder with it is whole


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
        if header["version"] != VERSION:
            raise GraphFormatError(f"{folder} was saved by another version; save the graph again.")
        lines = (folder / "info.jsonl").read_text("utf-8").split("\n")
        return KnowledgeGraph(
            header["name"],
            LabelTable(_array(folder, "entities.blob"), _array(folder, "entities.offsets")),
            LabelTable(_array(folder, "relations.blob"), _array(folder, "relations.offsets")),
            _adjacency(folder, "outgoing"),
            _adjacency(folder, "incoming"),
            header["inverse_readings"],
            dict(_info(line) for line in lines if line),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise GraphFormatError(f"{folder} is no saved graph or is incomplete ({error}); save it again.") from error


def _array(folder: Path, name: str) -> np.ndarray:
    array: np.ndarray = np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
    return array


def _adjacency(folder: Path, name: str) -> Adjacency:
    return Adjacency(*(_array(folder, f"{name}.{part}") for part in ("offsets", "relations", "targets")))


def _info(line: str) -> tuple[str, EntityInfo]:
    record = json.loads(line)
    label = record.pop("entity")
    return label, EntityInfo(**{**record, "aliases": tuple(record["aliases"])})
