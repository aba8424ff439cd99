"""What is described instead of named: *the film in which a shark attacks the bathers of a seaside town*.

A graph may hold what things are known for as entities of their own (``feat``), each with those it is true of: *Great
white shark terrorises a beach town*. Of those that share a word with a description, and are true of something of the
kind that it says, the nearest by sentence embeddings is what is meant, where a logistic regression
(``lab.training.marks``) finds it near enough and the rest of the description told. What a description names, and the
years in it, have to stand beside the thing in the graph.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path

from kgdemo.answering.operands import SAYS_WHAT_IT_IS, is_of_kind, names_of_kind
from kgdemo.answering.records import (
    HAPPENING,
    Record,
    Records,
    negates,
    order_of,
    records_of,
    says_order,
    telling_words,
)
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import bare, fold
from kgdemo.linking.names import name_index
from kgdemo.linking.words import nations
from kgdemo.models.embedding import Embedder, embedding_cache
from kgdemo.query.answer_type import ANYTHING, AnswerType, Fit, answer_type_of, fits, kind_of, singulars
from kgdemo.query.nested import BEING, WHOLE, descriptions

MEANT = 0.6  # probability from which a thing is taken for the one described
MEANT_OF_KIND = 0.5  # the same where the description says a type of the graph, *film*
MEANT_IN_ORDER = 0.3  # the same where both speak of the same end of an order, *largest*
HAPPENED = 0.7  # the same of what happened, for a clause may as well tell what never did
VERY_LIKELY = 0.85  # the same where the graph does not join it to all that is named: *the Florentine lady*
_CANDIDATES = 16  # marks that share the rarest words with a description, whose embeddings are compared
_NO_LESS = 0.05  # probability by which a part of a description may be less likely than the whole
_MOST_BESIDE = 400  # links of a thing whose ends are looked at
_MOST_HOLDERS = 3  # of a record, which two may have reached together
_LEAST_ALIKE = 0.5  # cosine below which nothing is meant, however many words it shares
_LEAST_APART = 0.03  # by how much a record has to be nearer than the next one, *most nominations* and *most prizes*
_LEAST_TOLD = 0.5  # of what a description tells beside an order
_MOST_PARTS = 8  # of a question that are looked at, however many articles it has
_LEAST_UNNAMED = 2  # telling words beside the names, without which a part of a question is a name
_LEAST_WORDS = 3  # that tell something, without which nothing is described
_NAME = re.compile(r"(?<=[\w,] )(?:[A-Z][\w'’-]+|\d{3,4})\b")
_THAN = re.compile(r"\b(?P<how>\w+) than\b", re.IGNORECASE)
_HEAD = re.compile(
    r"(?:the|an?|this|that) (?:\S+ )*?(?P<noun>[\w-]+)(?=[,.?]|$| (?:who|whom|whose|that|which|where|when|what|is|was"
    r"|are|were|has|have|had|does|did|made|said|seen|born|in|on|at|of|by|to|from|with|without|about|for|near|off|between"
    r"|under|over|into|\w+ed|\w+ing)\b)",
    re.IGNORECASE,
)
_WHO_DID = re.compile(rf"who (?!(?:{BEING}|has|have|had|got|won)\b)(?P<verb>\w+)", re.IGNORECASE)
_MAKERS = frozenset("author writer composer director painter sculptor architect inventor creator founder poet".split())
_NO_PLURAL = frozenset("series species news gas bus lens canvas corps always mathematics physics olympics".split())
_OF_ANOTHER = re.compile(
    r"(?:the|an?) (?:[\w-]+ )??(?P<noun>[\w-]+) (?:of|in|to|from) (?:the|an?|that|this) ", re.IGNORECASE
)
_SAID_OF_IT = re.compile(r"\b(?:has|had|with|did|won|got)$", re.IGNORECASE)
_BELONGS_TO = re.compile(
    r"(?:the )?(?:\w+ )??(?P<noun>mother|father|parent|son|daughter|wife|husband|widow|brother|sister|mentor|teacher"
    r"|pupil|friend|rival|lover|actor|actress) (?:of|to|who)\b",
    re.IGNORECASE,
)
ASKS_BEHIND = re.compile(  # *who was minister when …*, *a moon of which planet*
    r"^who (?:was|were|is) .*\bwhen\b|.\bwho \w+(?: (?:that|this|it|them)\b|\W*$)|\b(?:when|where|why|how)(?:[?!.]|$)"
    r"|\b(?:of|by|in|from|for|to|at|on) (?:which|what) \w+(?: \w+)?(?:[?,.]|$)",
    re.IGNORECASE,
)
HAS_BEEN = re.compile(  # who *had also been a five-star general*
    r"\b(?:have|has|had) (?:also |once |previously |earlier )?been (?:an?|the) (?:[\w-]+ )*?(?P<noun>[\w-]+)"
    r"(?= (?:in|of|at|for|during|under|before|with)\b|[,.?]|$)",
    re.IGNORECASE,
)
_SUCCEEDS = re.compile(
    r"\b(?:who|that|which) (?:came|was|ruled|reigned|served|governed|took over|took office)(?: \w+)? (?:after|before) ",
    re.IGNORECASE,
)
ALSO_CALLED = {
    **dict.fromkeys(("story", "tale", "bestseller", "trilogy", "classic"), "book"),
    **dict.fromkeys(("blockbuster", "picture", "thriller", "comedy", "western", "musical"), "film"),
    **dict.fromkeys(("sitcom", "soap", "show", "cartoon"), "series"),
    **dict.fromkeys(("liquor", "spirit", "beverage", "cocktail"), "drink"),
    **dict.fromkeys(("hit", "tune", "ballad", "anthem"), "song"),
    **dict.fromkeys(("portrait", "fresco", "canvas"), "painting"),
    **dict.fromkeys(("bronze", "statue"), "sculpture"),
    **dict.fromkeys(("chain", "maker", "manufacturer", "airline", "retailer", "brand"), "company"),
}
_PERSONS = frozenset(
    "man woman boy girl person hero heroine lady guy gentleman people president king queen emperor leader prince "
    "princess".split()
)


@dataclass(frozen=True, slots=True)
class MarkFeatures:
    """What tells whether something is what a description means.

    Attributes:
        likeness: cosine of the description and the nearest of the names of what the thing is known for.
        margin: by how much it is more than that of the next thing.
        told: how much of what the words of the description tell stands in those names or beside the thing.
        alone: whether nothing else of the kind shares as many words with it.
    """

    likeness: float
    margin: float
    told: float
    alone: bool


@dataclass(frozen=True, slots=True)
class Meant:
    """What is meant by a description.

    Attributes:
        record: what something is known for, which says so.
        likely: the probability that it is meant.
        of_kind: whether the words say a type of the graph that it has.
    """

    record: Record
    likely: float
    of_kind: bool = True

    @property
    def holder(self) -> str:
        return self.record.holders[0]

    @property
    def mark(self) -> str:
        return self.record.label


class Marks:
    """The things of a graph, found by what they are known for.

    Args:
        kg: the graph.
        embedder: compares descriptions with marks.
        records: what is looked for; what things are known for, if not given.
    """

    def __init__(self, kg: KnowledgeGraph, embedder: Embedder, records: Records | None = None) -> None:
        self._kg, self._records, self._embedder = kg, records or records_of(kg), embedder

    def meant(self, description: str, asked: AnswerType = ANYTHING) -> Meant | None:
        """What a description means, if that is likely.

        Args:
            description: a noun phrase, *the film about a shark*.
            asked: of what kind it is, where something else says so.
        """
        found = self.likely(description, asked)
        if found is None or _is_name(self._kg, description):  # *the Second World War* is none of those known for it
            return None
        if is_foreign(self._kg, found.holder, description):
            return None
        if self._speaks_of_several(description) or _SUCCEEDS.search(description):
            return None  # whoever *came after* somebody is told by who succeeded him
        if set(fold(bare(found.holder)).split()) <= set(fold(description).split()):
            return None  # it is named
        whose, beside = _OF_ANOTHER.match(description), self._words_beside(found.record)
        if whose and telling_words(whose["noun"]).isdisjoint(beside):
            return None  # *the score of the film about …* is no film
        if whose and whose["noun"].lower() in _MAKERS and kind_of(self._kg, found.holder) not in ("person", "band"):
            return None  # and the writer of a story no character of it
        if self._is_of_kin(found.record, description):
            return None  # who is the *mother of the woman who wrote* it did not write it
        of_kind = bool(asked.types or self.kind_described(description).types)
        known = of_kind or not telling_words(_head_of(description)).isdisjoint(beside)
        been = HAS_BEEN.search(description)
        if been and telling_words(been["noun"]).isdisjoint(beside):
            return None
        done = _WHO_DID.match(description)
        if done and telling_words(done["verb"]).isdisjoint(found.record.every_word):
            return None  # *who built the maze in which a monster lived* is not that monster
        return replace(found, of_kind=of_kind) if known else None

    def of_question(self, question: str, asked: AnswerType, named: Collection[str] = ()) -> list[tuple[Meant, str]]:
        """What the parts of a question mean, the likeliest first, each with the question that has a gap in its place.

        Args:
            question: in plain words.
            asked: of what kind the answer is.
            named: what linking found in it, of which no part that says hardly more is a description.

        Returns:
            for the whole question, whose gap is all of it, only what no part of it means: in *the father of the hero
            who killed a monster* that hero is described, but not asked for.
        """
        found = list[tuple[Meant, str]]()
        linked = frozenset().union(*map(telling_words, named))
        for part, outer in islice(descriptions(question), _MOST_PARTS):
            if len(telling_words(part) - linked) < _LEAST_UNNAMED and not says_order(part):
                continue
            if outer == WHOLE and ASKS_BEHIND.search(question):
                continue  # *the bean of Chicago, who made it*
            if outer == WHOLE and part.lower().startswith("where ") and not says_order(part):
                continue  # of a place that is described it is not asked where that is
            meant = self.meant(part, asked if outer == WHOLE else ANYTHING)
            if meant is not None and outer != WHOLE and self._is_asked_for(meant.holder, outer):
                outer = WHOLE
            if meant is not None:
                found.append((meant, outer))
        parts = [meant for meant, outer in found if outer != WHOLE and meant.of_kind]
        within = {meant.holder for meant in parts}  # in *the country that mines the most copper*, *the most copper*
        whole = {
            meant.holder: meant
            for meant, outer in found
            if outer == WHOLE
            and not any(one.holder == meant.holder and one.likely >= meant.likely - _NO_LESS for one in parts)
        }
        left = [
            (meant, outer)
            for meant, outer in found
            if (meant.holder in whole if outer == WHOLE else meant.of_kind or meant.holder not in {*whole, *within})
        ]
        return sorted(left, key=lambda one: -one[0].likely - _NO_LESS * (one[1] == WHOLE))

    def _is_asked_for(self, holder: str, outer: str) -> bool:
        """Whether what something has or did describes the very thing asked for: *Egyptian god, has a jackal's head*."""
        before, _, behind = outer.partition("{}")
        if behind.strip(" ?.!") or not _SAID_OF_IT.search(before.strip()):
            return False
        around = self._kg.neighbours(holder, directed=True)
        kinds = {kind_of(self._kg, holder), *(bare(end).lower() for label, end in around if label in SAYS_WHAT_IT_IS)}
        said = fold(before).split()
        return any(not kinds.isdisjoint(names_of_kind(word)) for word in said) or (
            "person" in kinds and not _PERSONS.isdisjoint(said)
        )

    def happened(self, clause: str) -> str:
        """What happened, if a clause likely says so, *Roger Bannister run a mile in four minutes*; else empty."""
        found = self.likely(clause, AnswerType(HAPPENING))
        return found.holder if found is not None and found.likely >= HAPPENED else ""

    def likely(self, description: str, asked: AnswerType) -> Meant | None:
        """What is nearest to some words, if they are likely to mean it.

        Args:
            description: the words.
            asked: of what kind it is.
        """
        nearest = self.nearest(description, asked)
        if nearest is None:
            return None
        record, features = nearest
        if features.likeness < _LEAST_ALIKE or (record.end and features.margin < _LEAST_APART):
            return None
        compared = _THAN.search(description)
        if compared and telling_words(compared["how"]).isdisjoint(record.every_word):
            return None  # what is *smaller than* another has no storm larger than it
        if (record.end or order_of(description)[0]) and features.told < _LEAST_TOLD:
            return None  # *Napoleon's first wife* is no *first exile of Napoleon*, nor the *largest* religion any one
        probable, named = probability(features), self._unknown_beside(description, record)
        least = MEANT_OF_KIND if asked.types or self.kind_described(description).types else MEANT
        least = VERY_LIKELY if named else MEANT_IN_ORDER if record.end else least
        if probable < least or any(name.isdigit() for name in named):
            return None
        return Meant(record, probable)

    def nearest(
        self, description: str, asked: AnswerType = ANYTHING, without: str = ""
    ) -> tuple[Record, MarkFeatures] | None:
        """The mark that is nearest to a description, of one thing alone, and how it fits; None where none is near.

        Args:
            description, asked: see ``meant``.
            without: a thing that is left out.
        """
        words, (end, rank) = telling_words(description), order_of(description)
        asked, negated = asked if asked.types else self.kind_described(description), negates(description)

        def may_be_meant(record: Record) -> bool:
            """Whether a mark says the first, the last, the most or *not* where the description does, of such a kind."""
            needless = record.end in ("", "only") and end not in (
                "first",
                "last",
            )  # the only one of a kind needs no word
            if record.rank != rank or not (record.end == end or needless) or record.negated is not negated:
                return False
            fit = any(holder != without and self._fit(asked, holder) for holder in record.holders)
            return fit and len(record.holders) <= _MOST_HOLDERS

        near = self._records.sharing_words(description, _CANDIDATES, may_be_meant, end)
        if not near or len(words) < (1 if end else _LEAST_WORDS):
            return None
        names = [name for one in near for name in one.names]
        similarity = embedding_cache(self._embedder).similarity(description, names)
        likeness = dict(zip(names, similarity.tolist(), strict=True))
        like = {one.label: float(max(likeness[name] for name in one.names)) for one in near}
        said = {one.label: any(len(own) >= _LEAST_WORDS and own <= words for own in one.words) for one in near}
        best = max(near, key=lambda one: (said[one.label], like[one.label]))  # first one whose very words stand there
        others = [one for one in near if one.holders != best.holders]
        apart = like[best.label] - max((like[one.label] for one in others), default=0.0)
        shared = {one.label: sum(map(self._records.rarity, words & one.every_word)) for one in near}
        beside = self._words_beside(best) | {word for kind in asked.types for word in telling_words(kind)}
        told = {word: self._records.rarity(word) for word in words}
        features = MarkFeatures(
            likeness=like[best.label],
            margin=max(apart, 0.0) if said[best.label] else apart,
            told=sum(told[word] for word in words & beside) / (sum(told.values()) or 1.0),
            alone=all(shared[one.label] < shared[best.label] for one in others),
        )
        return best, features

    def kind_described(self, description: str) -> AnswerType:
        """The kind of thing that a noun phrase speaks of: of *the black and white bear that eats bamboo* a bear."""
        noun = _head_of(description).lower()
        noun = ALSO_CALLED.get(noun, noun)
        if description.lower().startswith("who ") or noun in _PERSONS:
            return answer_type_of("who did it", self._kg.types)
        return answer_type_of(f"which {noun} is it", self._kg.types) if noun else ANYTHING

    def _is_of_kin(self, record: Record, description: str) -> bool:
        """Whether a mark says that something belongs to another thing, *mother of*, and a description does not."""
        said = telling_words(description)
        belonging = (one["noun"] for name in record.names if (one := _BELONGS_TO.match(name)))
        return any(telling_words(noun).isdisjoint(said) for noun in belonging)

    def _speaks_of_several(self, description: str) -> bool:
        """Whether a noun phrase speaks of more things than one: *the countries that have no coast*."""
        noun = _head_of(description).lower()
        if noun.endswith(("s", "men", "people", "children")) and noun not in _NO_PLURAL and noun[-2:] != "ss":
            return True
        return any(self._names_several(word) for word in description.split()[1:3])  # *the actors* won it

    def _names_several(self, word: str) -> bool:
        """Whether a word is a plural of what things of the graph are."""
        kinds = singulars(word)[1:] if word.islower() else ()
        return any(one in self._kg.types or kind_of(self._kg, one) in ("occupation", "kind") for one in kinds)

    def _fit(self, asked: AnswerType, holder: str) -> bool:
        told = not asked.types or is_of_kind(self._kg, holder, asked.types)
        return told or fits(asked, kind_of(self._kg, holder)) is not Fit.NO

    def _words_beside(self, record: Record) -> frozenset[str]:
        """The telling words of what a thing is known for, of its names, its dates and of what it is joined to."""
        said = list[str]()
        for holder in record.holders:
            around = self._kg.neighbours(holder)[:_MOST_BESIDE]
            years = [literal.value[:4] for literal in self._kg.literals.get(holder, {}).values() if literal.is_date]
            said += [holder, *self._kg.names_of(holder), *(end for _, end in around), *years]
        return record.every_word.union(*map(telling_words, said))

    def _unknown_beside(self, description: str, record: Record) -> frozenset[str]:
        """What a description names, and the years in it, that do not stand beside a thing in the graph."""
        named = {word for name in _NAME.findall(description) for word in telling_words(name)}
        return frozenset(named - self._words_beside(record))


def is_foreign(kg: KnowledgeGraph, holder: str, text: str) -> bool:
    """Whether somebody is a citizen of other countries than a text says: no American is an *Irish playwright*."""
    said = {place for word in re.findall(r"\w+", text.lower()) if (place := nations().get(word))}
    countries = [end for label, end in kg.neighbours(holder, directed=True) if label == "citizen of"] if said else []
    own = {name for country in countries for name in kg.names_of(country)} & set(nations().values())
    return bool(own) and own.isdisjoint(said)


def _is_name(kg: KnowledgeGraph, description: str) -> bool:
    """Whether a noun phrase is the name of something that is more than what another thing is known for."""
    names = name_index(kg).called(re.sub(r"^(?:the|an?) |[?!.]+$", "", description, flags=re.IGNORECASE))
    return any(kind_of(kg, kg.entities[name.entity]) not in ("feat", "event") for name in names)


def _head_of(description: str) -> str:
    """The noun of a noun phrase; empty where it is none."""
    found = _HEAD.match(description)
    return found["noun"] if found else ""


def probability(features: MarkFeatures) -> float:
    """That what has these features is meant."""
    weights = _weights()
    odds = weights["bias"] + sum(weights[name] * float(getattr(features, name)) for name in features.__slots__)
    return 1 / (1 + math.exp(-odds))


@cache
def _weights() -> dict[str, float]:
    """The weight of each feature, and the bias."""
    weights: dict[str, float] = json.loads((Path(__file__).parent / "marks.json").read_text("utf-8"))
    return weights
