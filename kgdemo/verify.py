"""Is this path in the graph? A verdict for every hop, whoever wrote the path.

This module shares nothing with the decoder: it asks ``Facts``, an index of its own made from what the sources state,
and knows neither the graph's arrays nor tokens nor tries. Paths that were decoded under the constraint, paths that a
model made up and text that a person pastes are all judged here.

Written text is read by exact labels. Only a name that is no label is matched whatever its case, accents and
punctuation, and only to the one label that it can mean; the verdict then says so.

A hop that is not in the graph may still say what an edge between the same two entities states, in other words. Such an
edge is named beside the verdict, which stays what it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

from kgdemo.facts import Facts, Triple, backward_labels
from kgdemo.kg.path import Path

_ARROW = re.compile(r"\s*(?:->|→)\s*")
_MARKS = re.compile(r"^\s*<path>|</path>\s*$", re.IGNORECASE)
_SIGNS = frozenset("#%&*@‰′″")  # Unicode calls them punctuation, but C# is not C
_DASHES = frozenset("-‐‑‒–—")
_PLAIN_WORDS = frozenset(
    "a an and are as at been by for from had has have her his in is it its of on or s the their to was were "
    "which who whose with".split()
)
_TURNING = frozenset(("of", "by", "whose", "~"))  # words by which a relation is read from its other end
_ENDINGS = ("ing", "ed", "er", "or", "es", "s", "e")


class HopVerdict(str, Enum):
    """What the graph says of one hop."""

    OK = "ok"
    MATCHED = "matched"  # in the graph, but a name was written otherwise than the graph spells it
    UNKNOWN_ENTITY = "unknown entity"
    UNKNOWN_RELATION = "unknown relation"
    AMBIGUOUS = "ambiguous name"  # several labels may be meant, or the text can be cut in several ways
    NO_EDGE = "no such edge"
    OTHER_WAY = "edge runs the other way"
    MALFORMED = "malformed"

    @property
    def holds(self) -> bool:
        """Whether the hop is in the graph."""
        return self in (HopVerdict.OK, HopVerdict.MATCHED)


@dataclass(frozen=True, slots=True)
class Hop:
    """One hop as the graph spells it, where it knows the labels, and its verdict.

    Attributes:
        restates: the edge of the graph that a hop which does not hold says in other words; None where there is none.
    """

    head: str
    relation: str
    tail: str
    verdict: HopVerdict
    restates: Triple | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of a whole path.

    Attributes:
        hops: one verdict a hop; a single one when the text is no path or can be read as several.
        faithful: every hop is in the graph.
        answer_on_path: whether the answer given with the path is one of its entities; None without one.
    """

    hops: tuple[Hop, ...]
    faithful: bool
    answer_on_path: bool | None = None


def spelling_key(label: str) -> str:
    """A label without what people leave out when they type a name: case, accents, punctuation.

    Stricter than ``kg.labels.fold``, by which answers are scored and names looked up in questions: a claim rests on
    this one. What tells names apart is kept: signs and symbols (``C++``, ``C#``, emoji), the minus before a number and
    the points within one, forms of digits (``x²``), and marks that make another letter (``ハ``, ``バ``; ``и``, ``й``).

    Args:
        label: any text.

    Returns:
        words and signs, a space between them; the text itself where nothing else would be left.
    """
    if label.isascii() and label.replace(" ", "").isalpha():
        return " ".join(label.lower().split())
    text = unicodedata.normalize("NFD", label.replace("->", "→"))
    text = unicodedata.normalize("NFD", text.casefold())
    letters, base = [], " "  # base: the letter that a mark stands on
    for place, letter in enumerate(text):
        kind = unicodedata.category(letter)
        if kind != "Mn":
            base = letter
        if kind[0] == "P" and letter not in _SIGNS:
            letters.append(_within_number(text, place))
        elif kind[0] == "S" or letter in _SIGNS:
            letters.append(f" {letter} ")
        elif kind != "Mn" or not _is_accent(letter, base):
            letters.append(letter)
    return " ".join("".join(letters).split()) or text


def _within_number(text: str, place: int) -> str:
    """What is left of punctuation: a space, but for a minus before a number and what stands between two digits."""
    before, behind = text[:place].rstrip(), text[place + 1 :].lstrip()
    if not behind[:1].isdigit():
        return " "
    dash = text[place] in _DASHES
    if before[-1:].isdigit():
        return " - " if dash else f" {text[place]} "
    return " − " if dash and not before[-1:].isalpha() else " "


def _is_accent(mark: str, base: str) -> bool:
    """Whether a name may be typed without this mark; in other scripts than these three a mark is part of a letter."""
    script = unicodedata.name(base, "").split(" ")[0]
    if script == "CYRILLIC":  # stress marks, and the dots of ё; й and ї are other letters than и and і
        return mark in "\u0300\u0301" or (mark == "\u0308" and base == "е")
    return script in ("LATIN", "GREEK")


class Verifier:
    """Judges paths against one graph.

    Args:
        facts: what the sources of the graph state.
    """

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._backward = backward_labels(facts.relations, facts.inverse_labels)
        self._relation_labels = frozenset((*facts.relations, *self._backward))

    def expect(self, paths: Iterable[Path], answers: Iterable[str] = ()) -> None:
        """Announce which paths and answers are about to be judged, so that a store is asked for all of them at once."""
        hops = (hop for path in paths for hop in path.hops)
        self.facts.expect(
            (
                stated
                for head, said, tail in hops
                for stated in (
                    (head, said, tail),
                    *((tail, relation, head) for relation in self._backward.get(said, ())),
                )
            ),
            answers,
        )

    def verify(self, path: Path, answer: str | None = None) -> Verdict:
        """Judge a path by its exact labels."""
        return self._judged([_Named(label) for label in path.labels], answer)

    def verify_text(self, text: str, answer: str | None = None) -> tuple[Path | None, Verdict]:
        """Judge written text ``e0 -> r1 -> e1 …``.

        A label may hold arrows itself. Where the text can be cut into known labels in several ways, it is ambiguous.

        Args:
            text: the path; marks ``<PATH>`` and ``</PATH>`` around it do not count.
            answer: an answer that came with it.

        Returns:
            the path as the graph spells it (None when the text is no path, or can be read as several), and its verdict.
        """
        text = _MARKS.sub("", text).strip()
        cut = _Cut(text)
        parses = cut.parses(self._exactly, self._max_arrows) or cut.parses(self._matched, self._max_arrows)
        if len(parses) > 1:
            return None, Verdict((Hop(text, "", "", HopVerdict.AMBIGUOUS),), False)
        if parses:
            names = parses[0]
        elif cut.is_path:
            names = [self._matched(part, place % 2 == 1) or _Named(part) for place, part in enumerate(cut.parts)]
        else:
            return None, Verdict((Hop(text, "", "", HopVerdict.MALFORMED),), False)
        return Path.from_labels([name.label for name in names]), self._judged(names, answer)

    # hops --------------------------------------------------------------------------------------

    def _judged(self, names: list[_Named], answer: str | None) -> Verdict:
        hops = []
        for place in range(0, len(names) - 2, 2):
            head, relation, tail = names[place : place + 3]
            verdict = self._hop(head, relation, tail)
            restates = self._restated(head.label, relation.label, tail.label, verdict)
            hops.append(Hop(head.label, relation.label, tail.label, verdict, restates))
        if not hops:
            hops = [Hop(names[0].label, "", "", HopVerdict.MALFORMED)]
        on_path = None if answer is None else self._is_one_of(answer, [name.label for name in names[::2]])
        return Verdict(tuple(hops), all(hop.verdict.holds for hop in hops), on_path)

    def _hop(self, head: _Named, relation: _Named, tail: _Named) -> HopVerdict:
        names = (head, relation, tail)
        if not all(entity.ambiguous or self.facts.has_entity(entity.label) for entity in (head, tail)):
            return HopVerdict.UNKNOWN_ENTITY
        if not (relation.ambiguous or relation.label in self._relation_labels):
            return HopVerdict.UNKNOWN_RELATION
        if any(name.ambiguous for name in names):
            return HopVerdict.AMBIGUOUS
        if self._walks(head.label, relation.label, tail.label):
            return HopVerdict.MATCHED if any(name.matched for name in names) else HopVerdict.OK
        if self._walks(tail.label, relation.label, head.label):
            return HopVerdict.OTHER_WAY
        return HopVerdict.NO_EDGE

    def _walks(self, head: str, relation_label: str, tail: str) -> bool:
        """Whether a triple is stated that a step of this label walks from ``head`` to ``tail``."""
        backward = self._backward.get(relation_label, ())
        return self.facts.holds(head, relation_label, tail) or any(self.facts.holds(tail, r, head) for r in backward)

    def _restated(self, head: str, relation_label: str, tail: str, verdict: HopVerdict) -> Triple | None:
        """The edge between the same two entities that a hop says in other words.

        Its relation is the same one, walked against its direction, or one whose words the hop's own, which the graph
        does not know, has all. Where an entity can be at either end of the relation (``child``), the direction is a
        part of what is said, so it has to be the same.
        """
        if verdict is HopVerdict.OTHER_WAY:
            meant = [relation_label, *self._backward.get(relation_label, ())]
        elif verdict is HopVerdict.UNKNOWN_RELATION:
            words = _content(relation_label)
            meant = [relation for relation, own in self._contents if own <= words]
        else:
            return None
        for relation in meant:
            turned = _turns(relation_label) != _turns(relation)
            if self.facts.has_distinct_ends(relation):
                edges = [(head, relation, tail), (tail, relation, head)]
            else:
                edges = [] if turned or verdict is HopVerdict.OTHER_WAY else [(head, relation, tail)]
            for edge in edges:
                if self.facts.holds(*edge):
                    return edge
        return None

    @cached_property
    def _contents(self) -> list[tuple[str, frozenset[str]]]:
        """Each relation with its content words, those with most words first; those without any are left out."""
        found = [(relation, _content(relation)) for relation in self.facts.relations]
        return sorted((one for one in found if one[1]), key=lambda one: (-len(one[1]), one[0]))

    def _is_one_of(self, answer: str, entities: list[str]) -> bool:
        """Whether an answer names one of a path's entities; their key counts only where no entity is called just so."""
        if answer in entities or self.facts.has_entity(answer):
            return answer in entities
        return spelling_key(answer) in map(spelling_key, entities)

    # names -------------------------------------------------------------------------------------

    def _exactly(self, written: str, is_relation: bool) -> _Named | None:
        """The label that is written exactly so."""
        known = written in self._relation_labels if is_relation else self.facts.has_entity(written)
        return _Named(written) if known else None

    def _matched(self, written: str, is_relation: bool) -> _Named | None:
        """The label that is written exactly so, else the only one with the same key; ambiguous where there are more."""
        if exact := self._exactly(written, is_relation):
            return exact
        labels, key = self._relation_keys if is_relation else self._entity_keys, spelling_key(written)
        if key not in labels:
            return None
        label = labels[key]
        return _Named(written, ambiguous=True) if label is None else _Named(label, matched=True)

    @cached_property
    def _entity_keys(self) -> dict[str, str | None]:
        return _by_key(self.facts.entities())

    @cached_property
    def _relation_keys(self) -> dict[str, str | None]:
        return _by_key(self._relation_labels)

    @cached_property
    def _max_arrows(self) -> int:
        """How many arrows a label of the graph holds at most."""
        labels = (label for known in (self.facts.entities(), self._relation_labels) for label in known)
        return max((len(_ARROW.findall(label)) for label in labels if "->" in label or "→" in label), default=0)


@dataclass(frozen=True, slots=True)
class _Named:
    """A name in written text: the label that it means, or as it was written where that is none or not clear."""

    label: str
    matched: bool = False  # written otherwise than the graph spells it
    ambiguous: bool = False


class _Cut:
    """Written text, cut at its arrows."""

    def __init__(self, text: str) -> None:
        arrows = [found.span() for found in _ARROW.finditer(text)]
        self._text = text
        self._begins = [0, *(end for _, end in arrows)]
        self._ends = [*(begin for begin, _ in arrows), len(text)]
        self.parts = [text[begin:end] for begin, end in zip(self._begins, self._ends, strict=True)]

    @property
    def is_path(self) -> bool:
        """Whether the parts alternate between entities and relations where every arrow is one of the path's."""
        return len(self.parts) >= 3 and len(self.parts) % 2 == 1 and all(self.parts)

    def parses(self, named: Callable[[str, bool], _Named | None], max_arrows: int) -> list[list[_Named]]:
        """Ways to read the text as a path of names, some of which hold arrows; two where there are two or more.

        Args:
            named: what a piece of text means as an entity (False) or relation (True), None for nothing.
            max_arrows: how many a name may hold.
        """
        count = len(self.parts)
        # ways[place][is_relation]: all ways to read from that part on, as linked pairs (name, the rest)
        ways: list[tuple[list[Any], list[Any]]] = [([], []) for _ in range(count)] + [([], [None])]
        for place in range(count - 1, -1, -1):
            for is_relation in (False, True):
                found = ways[place][is_relation]
                for last in range(place, min(place + max_arrows + 1, count)):
                    rests = ways[last + 1][not is_relation]
                    name = named(self._text[self._begins[place] : self._ends[last]], is_relation) if rests else None
                    if name is not None:
                        found += [(name, rest) for rest in rests][: 2 - len(found)]
        paths = [_unlinked(way) for way in ways[0][False]]
        return [names for names in paths if len(names) >= 3]


def _unlinked(way: Any) -> list[_Named]:
    names = []
    while way is not None:
        name, way = way
        names.append(name)
    return names


def _words(relation_label: str) -> list[str]:
    return re.findall(r"[^\W_]+|~", relation_label.casefold())


def _content(relation_label: str) -> frozenset[str]:
    """The words of a relation that carry its meaning, without their endings: ``composer`` and ``composed by`` agree."""
    return frozenset(_stem(word) for word in _words(relation_label) if word not in _PLAIN_WORDS and word != "~")


def _stem(word: str) -> str:
    ending = next((ending for ending in _ENDINGS if word.endswith(ending) and len(word) - len(ending) > 3), "")
    return word.removesuffix(ending)


def _turns(relation_label: str) -> frozenset[str]:
    return _TURNING.intersection(_words(relation_label))


def _by_key(labels: Iterable[str]) -> dict[str, str | None]:
    """Spelling key -> the label that has it, None where several have."""
    found: dict[str, str | None] = {}
    for label in labels:
        key = spelling_key(label)
        found[key] = None if key in found else label
    return found
