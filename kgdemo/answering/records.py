"""Which record or first of the graph a question means in words of its own: *who walked on the Moon before all others*.

A graph may hold records as entities (``feat``), each with those who hold it: *First person on the Moon*. A question
that names one whole is read by its words (``Computation._record``). This is for the others: the nearest record by
sentence embeddings is taken where a logistic regression (``lab.training.records``) finds it meant. The answer always
says which record it is.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kgdemo.answering.operands import is_of_kind
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import FUNCTION_WORDS, fold
from kgdemo.kg.per_graph import PerGraph
from kgdemo.models.embedding import Embedder, embedding_cache
from kgdemo.query.answer_type import AnswerType, Fit, answer_type_of, fits, kind_of
from kgdemo.query.measures import ORDINALS

ACHIEVED = "achieved by"  # of a record, or of what was done for the first time
MEANT = 0.55  # probability from which a record is taken for the one that is asked for
_CANDIDATES = 40  # records that share the rarest words with the question, whose embeddings are compared
_STEM = 5  # letters of a word that are compared: *astronaut*, *astronomer* differ, *continents*, *continental* do not
_OTHER_RANK, _OTHER_END = 0.15, 0.10  # what a candidate of another rank, or of the other end, loses of its likeness
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
_ASKING = frozenset("what which who whom whose where when how can could you tell name me please know".split())
_ASKS_DETAIL = re.compile(r"\b(?:when|how|why|(?:what|which) year)\b", re.IGNORECASE)
_NAMED_BY_ORDER = re.compile(
    r"\b(?:(?:first|second) world war|first (?:name|lady|ladies)|second language)\b", re.IGNORECASE
)
_OPPOSED = ({"more", "less"}, {"first", "last"}, {"first", "more"})
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class RecordFeatures:
    """What tells whether a record is meant.

    Attributes:
        likeness: cosine of the question and the nearest of the record's names.
        margin: by how much it is more than that of the next record, which others hold.
        telling: how many of the question's words tell other records apart, but do not stand in this one.
        same_rank: whether both say the same place, *second* or none.
        opposed: whether they say opposite ends, *largest* and *smallest*.
        fitting: whether a holder is of the kind that is asked for.
        detail: whether the question asks when, how or why.
    """

    likeness: float
    margin: float
    telling: int
    same_rank: bool
    opposed: bool
    fitting: Fit
    detail: bool


@dataclass(frozen=True, slots=True)
class _Record:
    """A record with its names and those who hold it."""

    label: str
    names: tuple[str, ...]
    holders: tuple[str, ...]
    words: tuple[frozenset[str], ...]  # of each name
    end: str
    rank: int

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
        self._records: list[_Record] = []
        for label, known in kg.info.items():
            holders = (
                tuple(end for r, end in kg.neighbours(label, directed=True) if r == ACHIEVED) if known.type else ()
            )
            if known.type == "feat" and holders:
                names = (label, *known.aliases)
                words = tuple(frozenset(_words(name)) for name in names)
                self._records.append(_Record(label, names, holders, words, *_order_of(label)))
        self._having: dict[str, list[_Record]] = defaultdict(list)
        for record in self._records:
            for word in record.every_word:
                self._having[word].append(record)

    def meant(self, question: str, embedder: Embedder) -> tuple[str, float]:
        """The record that a question may mean, and the probability that it does; empty and 0 where there is none."""
        nearest = self.nearest(question, embedder)
        if nearest is None:
            return "", 0.0
        label, features = nearest
        weights = _weights()
        odds = weights["bias"] + sum(weights[name] * float(getattr(features, name)) for name in features.__slots__)
        return label, 1 / (1 + math.exp(-odds))

    def nearest(self, question: str, embedder: Embedder) -> tuple[str, RecordFeatures] | None:
        """The nearest record, and how it fits; None where none shares a word with a question that says an order."""
        end, rank = _order_of(question)
        candidates = self._candidates(question) if end or rank > 1 else []
        if not candidates:
            return None
        names = [name for record in candidates for name in record.names]
        likeness = dict(zip(names, embedding_cache(embedder).similarity(question, names).tolist(), strict=True))

        def near(record: _Record) -> float:
            lost = _OTHER_RANK * (record.rank != rank) + _OTHER_END * ({record.end, end} in _OPPOSED)
            return float(max(likeness[name] for name in record.names)) - lost

        best = max(candidates, key=near)
        others = [near(one) for one in candidates if set(one.holders).isdisjoint(best.holders)]
        asked = answer_type_of(question, self._kg.types)
        features = RecordFeatures(
            likeness=max(likeness[name] for name in best.names),
            margin=near(best) - max(others, default=0.0),
            telling=sum(word in self._having for word in _words(question) - best.every_word),
            same_rank=best.rank == rank,
            opposed={best.end, end} in _OPPOSED,
            fitting=max(self._fit(asked, holder) for holder in best.holders),
            detail=_ASKS_DETAIL.search(question) is not None,
        )
        return best.label, features

    def _fit(self, asked: AnswerType, holder: str) -> Fit:
        """Whether a holder is of the kind that is asked for, by its type or by what else says so: *star*, *metal*."""
        if is_of_kind(self._kg, holder, asked.types):
            return Fit.YES
        return fits(asked, kind_of(self._kg, holder))

    def _candidates(self, question: str) -> list[_Record]:
        """The records that share most words with a question, rare words counting most."""
        shared: dict[str, float] = defaultdict(float)
        found: dict[str, _Record] = {}
        for word in sorted(_words(question)):
            for record in self._having.get(word, ()):
                found[record.label] = record
                shared[record.label] += self._rarity(word)
        return [found[label] for label in sorted(shared, key=lambda label: -shared[label])[:_CANDIDATES]]

    def _rarity(self, word: str) -> float:
        return math.log((len(self._records) + 1) / (len(self._having.get(word, ())) + 1))


def says_order(question: str) -> bool:
    """Whether a question asks for the first, the most or another place of some order."""
    end, rank = _order_of(question)
    return bool(end) or rank > 1


def _order_of(text: str) -> tuple[str, int]:
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
    for end, telling in (("last", _LAST), ("only", _ONLY), ("less", _LESS), ("more", _MORE)):
        if said & telling:
            return end, rank
    return ("more" if any(re.fullmatch(r"[a-z]{3,}est", word) for word in words) else ""), rank


def _words(text: str) -> frozenset[str]:
    """The beginnings of a text's words, without those that say an order or ask."""
    left_out = FUNCTION_WORDS | _SAYS_ORDER | _ASKING
    words = (word for word in _WORD.findall(fold(text)) if word not in left_out and len(word) > 1)
    return frozenset(word[:_STEM] for word in words if not word.endswith("est"))


@cache
def _weights() -> dict[str, float]:
    """The weight of each feature, and the bias."""
    weights: dict[str, float] = json.loads((Path(__file__).parent / "records.json").read_text("utf-8"))
    return weights


_RECORDS = PerGraph(Records)


def records_of(kg: KnowledgeGraph) -> Records:
    """The records of a graph, looked for once and kept as long as the graph."""
    return _RECORDS.of(kg)
