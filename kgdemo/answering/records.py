"""The records and deeds of a graph, and what happened in it, with the words that tell them apart.

A graph may hold them as entities (``feat``), each with those it is true of: *First person on the Moon*. A question that
names one whole is read by its words (``Computation._record``); one that says it in words of its own by ``marks``.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from kgdemo.kg.cache import PerGraph
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import FUNCTION_WORDS, fold
from kgdemo.query.measures import ORDINALS

ACHIEVED = "achieved by"  # of a record, or of what was done for the first time
HAPPENING = frozenset(("event", "feat", "battle", "treaty", "war", "discovery"))  # types of what happens
_FEAT = "feat"
_STEM = 5  # letters of a word that are compared: *astronaut*, *astronomer* differ, *continents*, *continental* do not
_MORE = frozenset(
    "largest biggest greatest most tallest highest longest oldest fastest heaviest deepest hottest richest strongest "
    "loudest brightest busiest widest deadliest more farthest furthest nearest closest quickest".split()
)
_LESS = frozenset(
    "smallest tiniest littlest least fewest shortest lowest slowest youngest lightest shallowest coldest poorest "
    "weakest quietest narrowest fewer less".split()
)
_LESSER = _LESS | frozenset("smaller shorter younger lower slower lighter shallower colder poorer weaker".split())
_FIRST = frozenset("first earliest original initial pioneer inaugural".split())
_LAST = frozenset("last final latest newest".split())
_ONLY = frozenset(("only", "sole"))
_OTHERS = frozenset("any anyone anybody everyone everybody all others".split())
_SAYS_ORDER = _MORE | _LESS | _FIRST | _LAST | _ONLY | _OTHERS | frozenset("ever else other before than".split())
_ASKING = frozenset("what which who whom whose where when how can could you tell name me please know them they".split())
_NO_ORDER = frozenset(
    "west midwest forest priest guest nest test contest conquest quest harvest chest rest interest protest tempest "
    "pest vest arrest request everest budapest bucharest".split()
)
_NAMED_BY_ORDER = re.compile(
    r"\b(?:(?:first|second) world war|first (?:name|lady|ladies)|second language|at (?:least|most))\b", re.IGNORECASE
)
_NEGATES = re.compile(r"\b(?:not|no|non|never|neither|nor|without|nobody|none)\b|n['’]t\b", re.IGNORECASE)
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Record:
    """A record with its names and those who hold it.

    Attributes:
        label, names: what it is called.
        holders: who or what it is true of.
        words: the telling ones of each name.
        end, rank: of the order that it speaks of; see ``says_order``.
        negated: whether it says what is not so.
    """

    label: str
    names: tuple[str, ...]
    holders: tuple[str, ...]
    words: tuple[frozenset[str], ...]
    end: str
    rank: int
    negated: bool

    @property
    def every_word(self) -> frozenset[str]:
        return frozenset().union(*self.words)


class Records:
    """The records of a graph, found by questions in other words.

    Args:
        kg: the graph.
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self._kg = kg
        self._records: list[Record] = []
        for label, known in kg.info.items():
            if holders := self._holders(label, known.type):
                names = (label, *known.aliases)
                words = tuple(frozenset(telling_words(name)) for name in names)
                self._records.append(Record(label, names, holders, words, *order_of(label), negates(label)))
        self._having: dict[str, list[Record]] = defaultdict(list)
        for record in self._records:
            for word in record.every_word:
                self._having[word].append(record)

    def _holders(self, label: str, kind: str) -> tuple[str, ...]:
        """Who or what a record is true of; none where something is no record."""
        around = self._kg.neighbours(label, directed=True) if kind == _FEAT else []
        return tuple(end for relation, end in around if relation == ACHIEVED)

    def sharing_words(self, text: str, limit: int, fitting: Callable[[Record], bool], end: str = "") -> list[Record]:
        """The records that share most words with a text, rare words counting most.

        Args:
            text: of a question, or a part of one.
            limit: how many.
            fitting: whether a record may be meant.
            end: of an order; of those that share as much, the ones that speak of it come first.
        """
        shared: dict[str, float] = defaultdict(float)
        found: dict[str, Record] = {}
        for word in sorted(telling_words(text)):
            for record in self._having.get(word, ()):
                found[record.label] = record
                shared[record.label] += self.rarity(word)
        ordered = sorted(shared, key=lambda label: (-shared[label], found[label].end != end))
        likely = (found[label] for label in ordered)
        return list(islice(filter(fitting, likely), limit))

    def rarity(self, word: str) -> float:
        """How much a word tells: the fewer records have it, the more."""
        return math.log((len(self._records) + 1) / (len(self._having.get(word, ())) + 1))


def negates(text: str) -> bool:
    """Whether a text says what is not so."""
    return _NEGATES.search(text) is not None


def of_one_order(text: str, other: str) -> bool:
    """Whether two texts speak of the same end of an order: the *longest* novel is not somebody's *last*."""
    end, _ = order_of(text)
    return bool(end) and end == order_of(other)[0]


def says_order(question: str) -> bool:
    """Whether a question asks for the first, the most or another place of some order."""
    end, rank = order_of(question)
    return bool(end) or rank > 1


def order_of(text: str) -> tuple[str, int]:
    """Which end of an order a text speaks of, empty where none, and the place from there."""
    text = _NAMED_BY_ORDER.sub("", text)
    words = [re.sub(r"^(\d+)(?:st|nd|rd|th)$", r"\1.", word) for word in fold(text).split()]
    words = [word.strip(".,;:!?'\"()") for word in words]
    said = set(words)
    rank = next((place for word in words if (place := ORDINALS.get(word, 0)) > 1), 1)
    numbered = re.search(r"\b(\d{1,2})(?:st|nd|rd|th)\b", text)
    rank = int(numbered[1]) if numbered and rank == 1 else rank
    if said & _FIRST or ("before" in said and said & _OTHERS):
        return "first", rank
    if "than" in said and said & _OTHERS:  # *bigger than any other*
        return ("less" if said & _LESSER else "more"), rank
    for word in words:  # the first that is said: *the largest and lowest*
        for end, telling in (("last", _LAST), ("only", _ONLY), ("less", _LESS), ("more", _MORE)):
            if word in telling:
                return end, rank
    return ("more" if any(re.fullmatch(r"[a-z]{3,}est", word) for word in said - _NO_ORDER) else ""), rank


def telling_words(text: str) -> frozenset[str]:
    """The beginnings of a text's words, without those that say an order or ask."""
    left_out = FUNCTION_WORDS | _SAYS_ORDER | _ASKING
    words = (word for word in _WORD.findall(fold(text)) if word not in left_out and len(word) > 1)
    return frozenset(word[:_STEM] for word in words if word in _NO_ORDER or not word.endswith("est"))


class Happenings(Records):
    """What happened at a time that a graph states, found in the same way; each is true of itself."""

    def _holders(self, label: str, kind: str) -> tuple[str, ...]:
        dated = kind in HAPPENING and "happened" in self._kg.literals.get(label, {})
        return (label,) if dated else ()


_RECORDS, _HAPPENINGS = PerGraph(Records), PerGraph(Happenings)


def records_of(kg: KnowledgeGraph) -> Records:
    """The records of a graph, looked for once and kept as long as the graph."""
    return _RECORDS.of(kg)


def happenings_of(kg: KnowledgeGraph) -> Records:
    """What happened in a graph, looked for once and kept as long as the graph."""
    return _HAPPENINGS.of(kg)
