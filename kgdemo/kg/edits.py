"""A graph with a few triples removed or added: a new graph over the old one's arrays, which stay as they are.

Entities keep their ids, and new ones come behind them, so whatever was built on the old graph's labels (token
ids, names) can be used again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgdemo.errors import UserError
from kgdemo.kg.graph import KnowledgeGraph, Triple, inverse_step_labels
from kgdemo.kg.labels import Adjacency, LabelTable, encoded

ADD, REMOVE = "add", "remove"
MAX_EDITS = 50
LONGEST_LABEL = 300  # characters


@dataclass(frozen=True, slots=True)
class Edit:
    """One change: ``kind`` is ``add`` or ``remove``."""

    kind: str
    triple: Triple


def checked(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """The edits with their labels stripped.

    Raises:
        UserError: there are too many, one is of no known kind, or a label is empty or too long.
    """
    found = []
    for edit in edits:
        head, relation, tail = (" ".join(str(label).split()) for label in edit.triple)
        if edit.kind not in (ADD, REMOVE):
            raise UserError(f"An edge can be added or removed; {edit.kind[:20]!r} is neither.")
        if not (head and relation and tail):
            raise UserError("An edge needs three parts; give head, relation and tail.")
        if max(map(len, (head, relation, tail))) > LONGEST_LABEL:
            raise UserError(f"A name of an added or removed edge may have {LONGEST_LABEL} characters; shorten it.")
        found.append(Edit(edit.kind, (head, relation, tail)))
    if len(found) > MAX_EDITS:
        raise UserError(f"A graph can be changed in {MAX_EDITS} places; undo some changes first.")
    return tuple(found)


def apply(kg: KnowledgeGraph, edits: Sequence[Edit]) -> KnowledgeGraph:
    """The graph after the edits, one after another; ``kg`` itself is not touched.

    Args:
        kg: the graph as it is.
        edits: from ``checked``; a triple may also be named as a hop against its edge, in the words of its
            inverse step (``~relation``).

    Returns:
        a graph with the same name, step labels and entity information; entities that lose their last edge stay.

    Raises:
        UserError: a triple to remove is not there, or one to add is there already.
    """
    added: dict[Triple, None] = {}
    removed: set[Triple] = set()
    for edit in edits:
        readings = _meanings(kg, edit.triple, added)
        there = [t for t in readings if t in added or (t not in removed and kg.has_triple(*t))]
        shown = " → ".join(edit.triple)
        if edit.kind == REMOVE:
            if not there:
                raise UserError(f"The graph {kg.name} has no edge {shown}; take one from a path, or mend the spelling.")
            if there[0] in added:
                del added[there[0]]
            else:
                removed.add(there[0])
        else:
            if there:
                raise UserError(f"The graph {kg.name} already has the edge {shown}; add another one.")
            triple = readings[-1] if edit.triple[1] not in kg.relations else edit.triple
            if triple in removed:
                removed.discard(triple)
            else:
                added[triple] = None
    return _with(kg, list(added), removed)


def _meanings(kg: KnowledgeGraph, hop: Triple, added: Iterable[Triple]) -> list[Triple]:
    """The triples that a hop may stand for: itself, and those that it walks backwards."""
    head, relation_label, tail = hop
    relations = list(dict.fromkeys([*kg.relations, *(relation for _, relation, _ in added)]))
    inverses = inverse_step_labels(relations, kg.inverse_labels)
    backwards = [relation for relation, inverse in zip(relations, inverses, strict=True) if inverse == relation_label]
    return [hop, *((tail, relation, head) for relation in backwards)]


def _with(kg: KnowledgeGraph, added: Sequence[Triple], removed: Iterable[Triple]) -> KnowledgeGraph:
    entities = _extended(kg.entities, [label for head, _, tail in added for label in (head, tail)])
    relations = _extended(kg.relations, [relation for _, relation, _ in added])
    heads = np.repeat(np.arange(len(kg.entities), dtype=np.int32), np.diff(kg.outgoing.offsets))
    between, tails = kg.outgoing.relations, kg.outgoing.targets
    keep = np.ones(len(tails), dtype=bool)
    for triple in removed:
        head, relation, tail = _ids(triple, kg.entities, kg.relations)
        row = kg.outgoing.row(head)
        keep[row] &= (between[row] != relation) | (tails[row] != tail)
    new = np.array([_ids(triple, entities, relations) for triple in added], dtype=np.int32).reshape(-1, 3)
    heads = np.concatenate([heads[keep], new[:, 0]])
    between = np.concatenate([between[keep], new[:, 1]])
    tails = np.concatenate([tails[keep], new[:, 2]])
    return KnowledgeGraph(
        kg.name,
        entities,
        relations,
        Adjacency.build(heads, between, tails, len(entities)),
        Adjacency.build(tails, between, heads, len(entities)),
        kg.inverse_labels,
        kg.info,
        kg.literals,
    )


class ExtendedLabelTable(LabelTable):
    """A table with a few labels more; the old ones keep their ids, the new ones come behind them.

    Args:
        base: the table to go on from.
        added: labels that it lacks, each once.
    """

    def __init__(self, base: LabelTable, added: Sequence[str]) -> None:
        keys = [encoded(label) for label in added]
        ends = base.offsets[-1] + np.cumsum([len(key) for key in keys], dtype=np.int64)
        blob = np.concatenate([base.blob, np.frombuffer(b"".join(keys), dtype=np.uint8)])
        super().__init__(blob, np.concatenate([base.offsets, ends]))
        self.base = base
        self._added = {label: len(base) + place for place, label in enumerate(added)}

    def find(self, label: str) -> int | None:
        """Return the id of ``label``, or None when the table has no such label."""
        return self._added.get(label, self.base.find(label))


def _extended(table: LabelTable, labels: Iterable[str]) -> LabelTable:
    """The table itself where it has all the labels already."""
    new = tuple(dict.fromkeys(label for label in labels if label not in table))
    return ExtendedLabelTable(table, new) if new else table


def _ids(triple: Triple, entities: LabelTable, relations: LabelTable) -> NDArray[np.int32]:
    head, relation, tail = entities.find(triple[0]), relations.find(triple[1]), entities.find(triple[2])
    return np.array([head, relation, tail], dtype=np.int32)
