"""Is this path in the graph? A verdict for every hop, whoever wrote the path.

This module shares nothing with the decoder: it looks triples up one by one in the stored edges and
knows neither tokens nor tries. Paths that were decoded under the constraint, paths that a model made up
and text that a person pastes are all judged here.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path

_ARROW = re.compile(r"\s*(?:->|→)\s*")
_MARKS = re.compile(r"</?path>", re.IGNORECASE)


class HopVerdict(str, Enum):
    """What the graph says of one hop."""

    OK = "ok"
    UNKNOWN_ENTITY = "unknown entity"
    UNKNOWN_RELATION = "unknown relation"
    NO_EDGE = "no such edge"
    OTHER_WAY = "edge runs the other way"
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class Hop:
    """One hop as the graph spells it, where it knows the labels, and its verdict."""

    head: str
    relation: str
    tail: str
    verdict: HopVerdict


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of a whole path.

    Attributes:
        hops: one verdict a hop; a single malformed one when the text is no path.
        faithful: every hop is in the graph.
        answer_on_path: whether the answer given with the path is one of its entities; None without one.
    """

    hops: tuple[Hop, ...]
    faithful: bool
    answer_on_path: bool | None = None


def fold(label: str) -> str:
    """A label without case, accents and punctuation: how written text is matched to the graph."""
    plain = unicodedata.normalize("NFKD", label.casefold())
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    tilde = "~" if plain.lstrip().startswith("~") else ""  # it turns a relation round, so it is no punctuation
    return tilde + " ".join(re.sub(r"[^\w]|_", " ", plain).split())


class Verifier:
    """Judges paths against one graph.

    Args:
        kg: the graph.
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        # reading -> the (relation, walked backwards) pairs it may stand for
        self._meanings: dict[str, list[tuple[str, bool]]] = defaultdict(list)
        for relation in kg.relations:
            self._meanings[relation].append((relation, False))
            self._meanings[f"~{relation}"].append((relation, True))
            if relation in kg.inverse_labels:
                self._meanings[kg.inverse_labels[relation]].append((relation, True))
        self._folded_entities: dict[str, list[str]] | None = None
        self._folded_readings: dict[str, list[str]] | None = None

    def verify(self, path: Path, answer: str | None = None) -> Verdict:
        """Judge a path by its exact labels."""
        hops = tuple(Hop(h, r, t, self._hop(h, r, t)) for h, r, t in path.hops)
        if not hops:
            hops = (Hop(path.entities[0], "", "", HopVerdict.MALFORMED),)
        return Verdict(hops, all(hop.verdict is HopVerdict.OK for hop in hops), _names(answer, path.entities))

    def verify_text(self, text: str, answer: str | None = None) -> tuple[Path | None, Verdict]:
        """Judge written text ``e0 -> r1 -> e1 …``; labels match whatever their case, accents, punctuation.

        Returns:
            the path as the graph spells it (None when the text is no path), and its verdict.
        """
        parts = [part.strip() for part in _ARROW.split(_MARKS.sub(" ", text).strip())]
        if len(parts) >= 3 and all(parts):
            for labels in self._readings_of(parts):
                verdict = self.verify(Path.from_labels(labels), answer)
                if verdict.faithful:
                    return Path.from_labels(labels), verdict
        if len(parts) < 3 or len(parts) % 2 == 0 or not all(parts):
            return None, Verdict((Hop(text.strip(), "", "", HopVerdict.MALFORMED),), False, None)
        path = Path.from_labels([self._spelled(part, place) for place, part in enumerate(parts)])
        return path, self.verify(path, answer)

    # one hop -----------------------------------------------------------------------------------

    def _hop(self, head: str, relation: str, tail: str) -> HopVerdict:
        kg = self.kg
        if head not in kg.entities or tail not in kg.entities:
            return HopVerdict.UNKNOWN_ENTITY
        meanings = self._meanings.get(relation)
        if not meanings:
            return HopVerdict.UNKNOWN_RELATION
        for name, backwards in meanings:
            if kg.has_triple(tail, name, head) if backwards else kg.has_triple(head, name, tail):
                return HopVerdict.OK
        for name, backwards in meanings:
            if kg.has_triple(head, name, tail) if backwards else kg.has_triple(tail, name, head):
                return HopVerdict.OTHER_WAY
        return HopVerdict.NO_EDGE

    # text --------------------------------------------------------------------------------------

    def _readings_of(self, parts: list[str]) -> Iterable[list[str]]:
        """Ways to read split text as a path of known labels; labels may themselves hold arrows or be folded alike."""
        self._fold_labels()
        assert self._folded_entities is not None
        assert self._folded_readings is not None
        budget = 2000  # hostile text can have very many readings; an honest one has a handful

        def grow(labels: list[str], rest: list[str]) -> Iterable[list[str]]:
            nonlocal budget
            if not rest:
                if len(labels) >= 3 and len(labels) % 2 == 1:
                    yield labels
                return
            known = self._folded_entities if len(labels) % 2 == 0 else self._folded_readings
            for size in range(1, len(rest) + 1):
                for label in known.get(fold(" -> ".join(rest[:size])), ()):  # type: ignore[union-attr]
                    budget -= 1
                    if budget < 0:
                        return
                    if len(labels) < 2 or len(labels) % 2 or self._hop(*labels[-2:], label) is HopVerdict.OK:
                        yield from grow([*labels, label], rest[size:])

        return grow([], parts)

    def _spelled(self, part: str, place: int) -> str:
        """The graph's spelling of a label, or the text itself when the graph has none."""
        self._fold_labels()
        known = self._folded_readings if place % 2 else self._folded_entities
        found = known.get(fold(part), [])  # type: ignore[union-attr]
        return part if part in found or not found else found[0]

    def _fold_labels(self) -> None:
        if self._folded_entities is not None:
            return
        self._folded_entities, self._folded_readings = defaultdict(list), defaultdict(list)
        for label in self.kg.entities:
            self._folded_entities[fold(label)].append(label)
        for relation_label in self._meanings:
            self._folded_readings[fold(relation_label)].append(relation_label)


def _names(answer: str | None, entities: Iterable[str]) -> bool | None:
    return None if answer is None else fold(answer) in {fold(entity) for entity in entities}
