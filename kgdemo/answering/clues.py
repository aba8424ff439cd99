"""What a whole question describes: *that fish which blows itself up into a ball when it is scared, what is it called*.

A question that nothing else answers may tell a thing by what the graph holds it known for (``records``). Each thing
with a mark that shares a word with the question is a candidate; a conditional logit that may choose none of them
(McFadden 1974) weighs how near its nearest mark is by sentence embeddings, how much of what the words tell is told of
it, and whether the question says what kind of thing it is. ``lab.training.clues`` fits
it. A question that describes one thing and asks for another, *the tower that leans: where is it*, describes nothing
here.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kgdemo.answering.marks import ALSO_CALLED, ASKS_BEHIND, HAS_BEEN, is_foreign
from kgdemo.answering.operands import is_of_kind, names_of_kind
from kgdemo.answering.properties import IS_OR_PLAYS
from kgdemo.answering.records import Record, order_of, records_of, telling_words
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import FUNCTION_WORDS, bare, fold
from kgdemo.models.embedding import Embedder, embedding_cache
from kgdemo.query.answer_type import AnswerType, Fit, answer_type_of, fits, kind_of, singulars
from kgdemo.query.measures import NUMBERS

MEANT = 0.5  # probability from which a thing is taken for the one described
_CANDIDATES = 60  # marks that share the rarest words with a question, whose embeddings are compared
_LEAST_WORDS = 2  # that tell something, without which nothing is described
_TOLD_OF_FIRST = 0.85  # of a question for the first, or the most, of some: more words mean others
_MOST_BESIDE = 400  # links of a thing whose ends are looked at
_SAYS_NOTHING = frozenset(  # words that only ask for the name of what is described
    "what whats which who whos whom was is are were s the that those this it its i m im am after name names title of "
    "do does did you they we call called them him her thats theres there a an please thanks again so ok hey um looking "
    "for thinking one ones how whose can could tell me know anyone remember".split()
)
_SENTENCE = re.compile(
    r"(?<=[a-z0-9]{2})[?.!;:]+\s+|[,–-]+\s+(?=(?:what|who|which|where|when|how|name|title|whats)\b)|[?.!]+$", re.I
)
_ASKS = re.compile(r"(?:and |so |but )?(?:what|which|who|whose|where|when|how)\b", re.IGNORECASE)
_ASKS_OF_IT = re.compile(  # something else than what it is
    r"^(?:where|when|how|whose|why|(?:in|on|at|from|of|to|by|for) (?:what|which|whom)"
    r"|(?:what|which)(?: [\w-]+){0,3}? (?:do|does|did|has|have|can)(?! (?:you|they|we|people|one) (?:call|name))"
    r"|(?:what|which)(?: [\w-]+){1,3}? (?:is|was|are|were) (?:the|that|this|an?)"
    r"|what(?:['’]?s| is| was) the [\w-]+ name of)\b",
    re.IGNORECASE,
)
_ASKS_ITS_NAME = re.compile(  # *what is that monster called*
    r"^(?:and |so |but )?(?:what|which|who)(?:['’]?s| is| was)? (?:the |that |this |it |he |she )?(?:name of )?"
    r"(?:the |that |this )?(?:\w+)?(?: (?:called|named|again|is it|was it|is that|was that))?$",
    re.IGNORECASE,
)
_DOES_TO = re.compile(
    r"^who (?!(?:is|was|were|are)\b)\w+ (?:the|that|this|an?) (?:[\w-]+ ){0,2}?(?P<noun>[\w-]+)", re.I
)
_NOUN_ENDS = re.compile(
    r",| (?:who|whom|whose|that|which|where|when|with|without|of|in|on|at|from|to|by|for|about|between|under|over|into"
    r"|is|was|are|were|has|had|have|does|did|do|you|they|we|he|she|it|used|made|called|thats|whos|\w+ing|\w+ed)\b",
    re.IGNORECASE,
)
_BELONGS = frozenset(  # relatives, and other things that belong to somebody or something
    "mother father parent son daughter wife husband widow brother sister capital currency language population flag "
    "anthem author writer director composer president minister king queen leader founder".split()
)
_LISTS = re.compile(
    rf"^(?:(?:the |all )?(?:of )?(?:{'|'.join(NUMBERS)}|\d\d?) (?:[\w-]+ )?\w+s\b"
    r"|(?:who|what|which) (?:are|were)|(?:which|what) of"
    r"|(?:please )?(?:name|list|tell me|the names of) (?:all|the|some))\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"^(?:which|what) (?:[\w-]+ ){0,2}?[a-z]{2,}s(?:,|(?: [\w-]+)? (?:are|were|have|do|did|can|could)\b)"
    r"|^(?:the )?(?:[\w-]+ ){0,2}?[a-z]{2,}s (?:who|that|which) (?:are|were|have|do|did|can|could)\b",
    re.IGNORECASE,
)
_WHICH = re.compile(r"^(?:which|what)((?: [\w-]+){1,5})", re.IGNORECASE)
_HIS_NAME = re.compile(r"[.,;] (?:his|her) (?:full |first )?name\W*$", re.IGNORECASE)  # of whoever is described
_ASKS_OF_WHOM = re.compile(  # of whatever is described: *the man who wrote it, capital of his country*
    r"\b(?:his|her|its|their) (?!(?:(?:full|first) )?name\b)[\w-]+\W*$"
    r"|\b(?:what|which|who)(?:['’]?s| is| was| are| were) (?:the )?[\w-]+['’]s [\w-]+",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b[12]\d{3}\b")
_IS_IT = re.compile(r"^(?:is|are|was|were|do|does|did|has|have|had|can|could)(?:n['’]?t)?\b", re.IGNORECASE)
_CHOICE = re.compile(  # between things that are named
    r"\b(?:which|what|who)\b.*\b\w+ or \w+|\bbetween .+ and .+\b(?:which|who)\b|\w+ or \w+.*\b(?:which|who)\b",
    re.IGNORECASE,
)
_WHO_DID = re.compile(r"^who (?!(?:is|was|were|are|has|have|had|got|did|does|can|could|else)\b)(?P<verb>\w+)", re.I)


@dataclass(frozen=True, slots=True)
class Clue:
    """What tells whether a question means a thing; all from 0 to 1.

    Attributes:
        likeness: cosine of the question's words and the nearest name of what the thing is known for.
        told: how much of what the words tell stands in all it is known for, or beside it in the graph.
        kind: whether the question says what kind of thing it is.
        brief: the fewer words of the question tell something, the more.
    """

    likeness: float
    told: float
    kind: float
    brief: float


TELLS = (*(part.name for part in fields(Clue)), "ahead")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A thing that a question may mean.

    Attributes:
        record: the nearest of what it is known for.
        clue: what tells for it.
    """

    record: Record
    clue: Clue

    @property
    def holder(self) -> str:
        return self.record.holders[0]


class Clues:
    """The things of a graph that whole questions describe.

    Args:
        kg: the graph.
        embedder: compares questions with what things are known for.
    """

    def __init__(self, kg: KnowledgeGraph, embedder: Embedder) -> None:
        self._kg, self._records, self._likeness = kg, records_of(kg), embedding_cache(embedder)

    def meant(self, question: str, asked: AnswerType) -> tuple[Candidate, float] | None:
        """What a question most likely means, and the probability; None where that is less likely than ``MEANT``.

        Args:
            question: as it was typed.
            asked: of what kind the answer is.
        """
        candidates = self.candidates(question, asked)
        likely = probabilities([one.clue for one in candidates])
        best = max(range(len(candidates)), key=lambda place: likely[place], default=None)
        return (candidates[best], likely[best]) if best is not None and likely[best] >= MEANT else None

    def candidates(self, question: str, asked: AnswerType) -> list[Candidate]:
        """The things that a question may describe; none where it asks for something else than what a thing is.

        Args:
            question, asked: see ``meant``.
        """
        if _IS_IT.match(question):
            return []  # whether something is so
        several = self._speaks_of_several(question) or ASKS_BEHIND.search(question) or _CHOICE.search(question)
        described = "" if several or _ASKS_OF_WHOM.search(question) else described_in(question)
        words = telling_words(described)
        if len(words) < _LEAST_WORDS:
            return []
        asked = answer_type_of("who did it", self._kg.types) if _HIS_NAME.search(question) else asked
        near = self._near(described, words)
        names = [name for records in near.values() for record in records for name in record.names]
        alike = dict(zip(names, self._likeness.similarity(described, names).tolist(), strict=True)) if names else {}
        been, years = HAS_BEEN.search(question), telling_words(" ".join(_YEAR.findall(question)))
        done_to, did, head = _DOES_TO.match(question), _WHO_DID.match(question), self._kind_spoken_of(described)
        found = []
        for holder, records in near.items():
            kinds = self._kinds(holder)
            if is_foreign(self._kg, holder, described):
                continue  # no American is an *Irish playwright*
            named = telling_words(bare(holder))
            if fits(asked, kind_of(self._kg, holder)) is Fit.NO and not is_of_kind(self._kg, holder, asked.types):
                continue
            if named <= words or (done_to and not kinds.isdisjoint(names_of_kind(done_to["noun"]))):
                continue  # it is named, or something is done to it
            record, name = max(
                ((record, name) for record in records for name in record.names), key=lambda one: alike[one[1]]
            )
            told = frozenset().union(*(one.every_word for one in records))
            belongs = bool(head) and head[0] in _BELONGS
            of_it = telling_words(name) if belongs else told
            if head and (belongs or kinds.isdisjoint(head)) and telling_words(head[0]).isdisjoint(of_it):
                continue  # the *mother of the hero* is no hero
            if been and telling_words(been["noun"]).isdisjoint(told):
                continue  # who *had been a general* is no other
            if did and telling_words(did["verb"]).isdisjoint(told):
                continue  # who *founded* a company did not take it over
            if not years <= self._words_beside(holder):
                continue  # nothing of it is of that time
            if record.end and not telling_words(name) <= words:
                continue  # the *largest predatory fish* is not the largest
            clue = self._clue(described, words, holder, alike[name], kinds)
            if not record.end or clue.told >= _TOLD_OF_FIRST:
                found.append(Candidate(record, clue))
        return found

    def _speaks_of_several(self, question: str) -> bool:
        """Whether a question asks for more things than one: *which metals*, *the sisters in the novel*."""
        which = _WHICH.match(question)
        words = which[1].split() if which else []
        said = _LISTS.match(question) or _SEVERAL.match(question)
        return bool(said) or any(self._is_plural(*pair) for pair in pairwise([*words, ""]))

    def _is_plural(self, word: str, behind: str) -> bool:
        """Whether a word is a plural, *presidents died*, and no verb, *rises in*."""
        kinds = singulars(word.removesuffix("'"))[1:] if word.islower() else ()
        known = any(
            one in self._kg.types or kind_of(self._kg, one) in ("occupation", "kind", "position") for one in kinds
        )
        return known or (bool(kinds) and behind != "" and fold(behind) not in FUNCTION_WORDS)

    def _near(self, described: str, words: frozenset[str]) -> dict[str, list[Record]]:
        """Of each thing with a mark that shares words with a description those marks."""
        end, rank = order_of(_NOUN_ENDS.split(described, maxsplit=1)[0])  # a bushranger's *last* stand is no last one

        def may_be_meant(record: Record) -> bool:
            return len(record.holders) == 1 and record.rank == rank and record.end in (end, "only")

        near = defaultdict[str, list[Record]](list)
        for record in self._records.sharing_words(described, _CANDIDATES, may_be_meant, end):
            near[record.holders[0]].append(record)
        return near

    def _clue(self, described: str, words: frozenset[str], holder: str, likeness: float, kinds: frozenset[str]) -> Clue:
        beside = self._words_beside(holder)
        return Clue(
            likeness=likeness,
            told=self._weight(words & beside) / (self._weight(words) or 1.0),
            kind=float(any(not kinds.isdisjoint(names_of_kind(word)) for word in fold(described).split())),
            brief=1 / len(words),
        )

    def _kind_spoken_of(self, described: str) -> tuple[str, ...]:
        """What a description begins to speak of, if that is a kind of thing in the graph, or a relative."""
        noun = fold(_NOUN_ENDS.split(described, maxsplit=1)[0]).split()[-1:]
        if not noun:
            return ()
        kinds = (*names_of_kind(ALSO_CALLED.get(noun[0], noun[0])), noun[0])
        known = any(
            one in self._kg.types or kind_of(self._kg, one) in ("occupation", "kind", "position") for one in kinds
        )
        return kinds if known or noun[0] in _BELONGS else ()

    def _weight(self, words: frozenset[str]) -> float:
        return sum(map(self._records.rarity, words))

    def _kinds(self, holder: str) -> frozenset[str]:
        """What kind of thing something is, in the words of the graph."""
        around = self._kg.neighbours(holder, directed=True)
        said = (bare(end).lower() for label, end in around if label in IS_OR_PLAYS)
        return frozenset((kind_of(self._kg, holder), *said))

    def _words_beside(self, holder: str) -> frozenset[str]:
        """The telling words of a thing, of what it is joined to, and of what it is known for by every name."""
        around = self._kg.neighbours(holder)[:_MOST_BESIDE]
        ends = [end for _, end in around]
        marks = [name for end in ends if kind_of(self._kg, end) == "feat" for name in self._kg.names_of(end)]
        return frozenset().union(*map(telling_words, (*self._kg.names_of(holder), *ends, *marks)))


def described_in(question: str) -> str:
    """The words of a question that describe something, without those that ask what it is.

    Empty where the question asks for something else, *the tower that leans, where is it*.
    """
    said = list[str]()
    for place, sentence in enumerate(filter(None, _SENTENCE.split(question.strip()))):
        words = sentence.split()
        telling = [word for word in words if _plain(word) not in _SAYS_NOTHING]
        if place and _ASKS_ITS_NAME.match(sentence):
            continue
        if telling and ((place and _ASKS.match(sentence)) or _ASKS_OF_IT.match(sentence)):
            return ""
        while words and _plain(words[0]) in _SAYS_NOTHING:
            words = words[1:]
        if telling:
            said.append(" ".join(words))
    return ". ".join(said)


def _plain(word: str) -> str:
    return re.sub(r"[^a-z]", "", word.lower())


def told_by(clues: Sequence[Clue]) -> NDArray[np.float64]:
    """What several clues tell, ``(clues, len(TELLS))``: their own parts, and how far the best is ahead of the next."""
    rows = np.array([astuple(clue) for clue in clues], np.float64).reshape(len(clues), len(fields(Clue)))
    alike = np.array([clue.likeness + clue.told for clue in clues])
    second, first = np.sort(np.append(alike, 0.0))[-2:] if len(clues) else (0.0, 0.0)
    return np.column_stack([rows, np.where(alike == first, first - second, 0.0)])


def probabilities(clues: Sequence[Clue]) -> list[float]:
    """That each of several things is meant, where none of them may be."""
    weights = _weights()
    odds = np.append(told_by(clues) @ [weights[name] for name in TELLS], weights["none"])
    likely: list[float] = np.exp(odds - np.logaddexp.reduce(odds))[:-1].tolist()
    return likely


@cache
def _weights() -> dict[str, float]:
    """The weight of each part of a clue, and that of none."""
    weights: dict[str, float] = json.loads((Path(__file__).parent / "clues.json").read_text("utf-8"))
    return weights
