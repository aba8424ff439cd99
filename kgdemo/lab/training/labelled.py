"""Natural questions labelled with relation paths of Freebase, as wordings of the relations of any graph.

A question whose entity or answer a graph lacks still says how people ask for a relation: with a slot in place of its
topic it can be asked of every entity that has one. The labels are written in Freebase's own words, where a fact of
several arguments takes two relations; ``templates/freebase-paths.tsv`` says what they are called in other graphs.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kgdemo.errors import UserError
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.lab.training.examples import AGREES
from kgdemo.lab.training.templates import FOLDER

Chain = tuple[str, ...]  # readings of relations, in the order they are walked


def labelled_wordings(kg: KnowledgeGraph, file: Path, names: Mapping[Chain, Chain]) -> dict[Chain, list[str]]:
    """The wordings of labelled questions, by what they ask for.

    Args:
        kg: the graph that is to be asked.
        file: JSON lines with ``question``, ``topic_key`` (the topic in lower case, ``_`` between its words),
            ``answer`` and ``relation_paths`` (each with ``relations`` and ``count``, the ends it reaches).
        names: Freebase's relations -> readings in the graph, see ``freebase_names``; FB15k-237 has most by
            Freebase's own names.

    Returns:
        readings of the relations -> wordings with the slot ``{e}``; questions that do not name their topic, and
        those that the graph has no relation for, are passed over.

    Raises:
        UserError: the file is missing.
    """
    known = set(kg.step_labels)
    chains: dict[Chain, list[str]] = defaultdict(list)
    if not file.is_file():
        raise UserError(f"There is no question file {file}; give the folder of the public sets with --data.")
    for line in file.read_text("utf-8").splitlines():
        record = json.loads(line)
        wording = _with_slot(record["question"], record["topic_key"].replace("_", " "))
        labels = _agreeing(record)
        if wording is None or not labels:
            continue
        meant = {names.get(label) or _joined(label, known) for label in labels}
        if all(known.issuperset(chain) for chain in meant):  # else it may be the one unknown here that was meant
            for chain in meant:
                chains[chain].append(wording)
    return dict(chains)


def freebase_names(graph: str) -> dict[Chain, Chain]:
    """What Freebase's relation paths are called in a graph: ``world``, or ``freebase`` for FB15k-237."""
    lines = (FOLDER / "freebase-paths.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    return {tuple(path.split(" / ")): tuple(chain.split(" -> ")) for of, path, chain in rows if of == graph}


def _with_slot(question: str, topic: str) -> str | None:
    """The question with ``{e}`` in place of its topic; None where it does not name the topic word by word."""
    padded = f" {question.rstrip('?').rstrip()} "
    before, found, after = padded.partition(f" {topic}")
    if not found or "{" in question or after[:1] not in (" ", "'"):
        return None
    return f"{before} {{e}}{after}".strip() + "?"


def _agreeing(record: Mapping[str, Any]) -> list[Chain]:
    """The best labelled paths, unless they reach so many ends that they answer by accident."""
    answers = len(record["answer"])
    weights = {
        tuple(path["relations"]): 2 * min(answers, path["count"]) / (answers + path["count"])
        for path in record["relation_paths"]
    }
    best = max(weights.values(), default=0.0)
    return [path for path, weight in weights.items() if weight >= max(best, AGREES)]


def _joined(relations: Sequence[str], known: set[str]) -> Chain:
    """Two relations around a mediator as the one that FB15k-237 makes of them."""
    joined: list[str] = []
    for relation in relations:
        pair = f"{joined[-1]}.{relation}" if joined else ""
        if pair in known:
            joined[-1] = pair
        else:
            joined.append(relation)
    return tuple(joined)
