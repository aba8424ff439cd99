"""What the rest of a question says of a mention and of the entities it may mean.

The words around a mention say what it is: a person, a language, a time, an option. *What party did Lincoln belong to?*
asks for someone with a party, so of all Lincolns the ones whose edges, type or description speak of parties fit best.

Where names do not settle which of several candidates a question means, sentence embeddings do (``Meaning``). A question
is likened to the relations of each candidate: *where was Lincoln shot* is near relations that a president has and a
city lacks. Embedding relations, not entities, keeps this small: a graph has few, and they are cached. Namesakes that
even then are level are likened by their type and description.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import FUNCTION_WORDS, spoken
from kgdemo.linking.names import bracket_of, without_bracket
from kgdemo.linking.words import Word, name_words
from kgdemo.models.embedding import Embedder, embedding_cache

_PROFILES = 4_000  # kept, of those asked for last; some kilobytes each
_STEM = 6  # letters: direct|ed, direct|or; but not countr|y, county
_SAME = {"movie": "film", "movies": "film", "films": "film", "books": "book", "songs": "song", "albums": "album"}
_MADE_FROM = frozenset(word[:_STEM] for word in ("based", "adapted", "adaptation"))
_NAMED = frozenset(("named",))
_PERSONAL = frozenset(w[:_STEM] for w in ("born", "birth", "died", "occupation", "profession", "nationality", "gender"))
_BETWEEN_WORDS = re.compile(r"[/_.~]+")


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of an entity besides its names.

    Attributes:
        degree, variety: its edges and the different steps among them, each on a logarithmic scale 0..1.
        stems: word stems of its relations.
        said: word stems of its bracket and type.
        around: word stems of its neighbours' types.
        person, language: whether it seems to be one.
        adapted: 1 for a work based on another, -1 for one that others are based on.
        named: 1 for what is named after something, -1 for what others are named after.
    """

    degree: float
    variety: float
    stems: frozenset[str]
    said: frozenset[str]
    around: frozenset[str]
    person: bool
    language: bool
    adapted: int = 0
    named: int = 0


class Context:
    """Profiles of one graph's entities, made when asked for; those asked for last are kept."""

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        own = [_stems(_BETWEEN_WORDS.sub(" ", relation_label)) for relation_label in kg.step_labels]
        # what a company makes is also asked for as *made by* it
        count = len(kg.relations)
        self._step_stems = [own[step] | own[step + count] for step in range(count)] + own[count:]
        self._own_stems = own
        ends = [(kg.outgoing, 0), (kg.incoming, len(kg.relations))]
        holders: Counter[str] = Counter()
        for adjacency, offset in ends:
            owners = np.repeat(np.arange(len(kg.entities)), np.diff(adjacency.offsets))
            pairs = np.unique(adjacency.relations * np.int64(len(kg.entities)) + owners)
            steps = pairs // max(1, len(kg.entities))
            for step, count in enumerate(np.bincount(steps, minlength=len(kg.relations)).tolist()):
                for stem in self._step_stems[step + offset]:
                    holders[stem] = max(holders[stem], count)
        scale = math.log(len(kg.entities) + 2)
        self._telling = {stem: 1 - math.log(count + 1) / scale for stem, count in holders.items()}
        degrees = np.diff(kg.outgoing.offsets) + np.diff(kg.incoming.offsets)
        self._max_log_degree = math.log(int(degrees.max(initial=1)) + 1)
        self._types, self._type_of = kg.kinds
        self._kept = lru_cache(_PROFILES)(self._make)

    def profile(self, entity: int) -> Profile:
        """What is known of an entity."""
        return self._kept(entity)

    def steps(self, entity: int) -> NDArray[np.int32]:
        """The different steps from an entity."""
        return self.kg.steps_from(np.array([entity]))

    def fit(self, entity: int, question: Sequence[str]) -> float:
        """How much of what is asked the entity's relations speak of, by how telling that is; 0 and up."""
        stems = self.profile(entity).stems
        return sum(self._telling[stem] for stem in _content_stems(question) if stem in stems)

    def said_of(self, entity: int, question: Sequence[str]) -> float:
        """How much of the entity's bracket and type is asked; a word of a long bracket counts less."""
        said = self.profile(entity).said
        return len(said & _content_stems(question)) / math.sqrt(max(len(said), 1))

    def offers(self, entity: int, question: Sequence[str]) -> bool:
        """Whether a neighbour of the entity is of a kind that is asked."""
        return not self.profile(entity).around.isdisjoint(_content_stems(question))

    def _around(self, entity: int) -> frozenset[str]:
        kinds = np.unique(self._type_of[self.kg.steps(entity)[1]])
        return frozenset(stem for kind in kinds for stem in _stems(self._types[kind]))

    def _is_person(self, steps: NDArray[np.int32]) -> bool:
        """Whether an entity has, as head, a relation that only people have."""
        forward = (self._own_stems[step] for step in steps if step < len(self.kg.relations))
        return any(stems & _PERSONAL for stems in forward)

    def _end_of(self, steps: NDArray[np.int32], stems: frozenset[str]) -> int:
        """1 for the head of relations such as *based on*, -1 for their tail, 0 for neither or both."""
        count = len(self.kg.relations)
        ends = {bool(step < count) for step in steps if self._own_stems[step % count] & stems}
        return 0 if len(ends) != 1 else (1 if True in ends else -1)

    def linked(self, one: int, other: int) -> bool:
        """Whether an edge joins two entities, in either direction."""
        if self.kg.degree(one) > self.kg.degree(other):
            one, other = other, one
        return bool(np.any(self.kg.steps(one)[1] == other))

    def _make(self, entity: int) -> Profile:
        label = self.kg.entities[entity]
        info = self.kg.info.get(label)
        steps = self.steps(entity)
        notes = f"{bracket_of(label)} {info.type if info else ''}"
        stems = frozenset(stem for step in steps for stem in self._step_stems[step])
        return Profile(
            math.log(self.kg.degree(entity) + 1) / self._max_log_degree,
            math.log(len(steps) + 1) / math.log(len(self.kg.step_labels) + 1),
            stems,
            _stems(notes),
            self._around(entity),
            info.type == "person" if info and info.type else self._is_person(steps),
            info.type == "language" if info and info.type else label.casefold().endswith(" language"),
            self._end_of(steps, _MADE_FROM),
            self._end_of(steps, _NAMED),
        )


def _stems(text: str) -> frozenset[str]:
    return _content_stems(name_words(text))


def _content_stems(words: Sequence[str]) -> frozenset[str]:
    return frozenset(_SAME.get(word, word)[:_STEM] for word in words if word not in FUNCTION_WORDS)


_FORWARD, _BACKWARD, _TEXT = 1.9, 2.5, 2.0  # fitted beside the weights of ``features``
_MAX_AT_ONCE = 512  # relations; of a graph with more only those that are asked for are embedded


class Meaning:
    """Likeness of questions to the entities of one graph."""

    def __init__(self, kg: KnowledgeGraph, context: Context, embedder: Embedder) -> None:
        self.kg = kg
        self._context = context
        self._embeddings = embedding_cache(embedder)

    def question(self, text: str, namesakes: Sequence[int] = ()) -> NDArray[np.float32]:
        """A question's vector, ``(d,)``; entities that may have to be told apart are embedded in the same go."""
        result: NDArray[np.float32] = self._embeddings.vectors([text, *map(self.text, namesakes)])[0]
        return result

    def by_relations(self, question: NDArray[np.float32], entities: Sequence[int]) -> NDArray[np.float32]:
        """Log-odds for each entity from its relations, as head and as tail; on average 0."""
        count = len(self.kg.relations)
        steps = [self._context.steps(entity) for entity in entities]
        used = sorted({int(step) % count for own in steps for step in own})
        likeness = np.zeros(count, dtype=np.float32)
        if count <= _MAX_AT_ONCE:  # the first question pays, the others look them up
            self._embeddings.vectors([spoken(relation) for relation in self.kg.relations])
        texts = [spoken(self.kg.relations[relation]) for relation in used]
        likeness[used] = self._embeddings.vectors(texts) @ question
        odds = [
            _FORWARD * likeness[own[own < count]].max(initial=0.0)
            + _BACKWARD * likeness[own[own >= count] - count].max(initial=0.0)
            for own in steps
        ]
        result: NDArray[np.float32] = np.asarray(odds, dtype=np.float32) - np.float32(np.mean(odds))
        return result

    def by_text(self, question: NDArray[np.float32], entities: Sequence[int]) -> NDArray[np.float32]:
        """Log-odds for each entity from its label, type and description; on average 0."""
        odds = _TEXT * (self._embeddings.vectors([self.text(entity) for entity in entities]) @ question)
        result: NDArray[np.float32] = odds - odds.mean()
        return result

    def text(self, entity: int) -> str:
        """An entity in words: label, type or bracket, description."""
        label = self.kg.entities[entity]
        info = self.kg.info.get(label)
        notes = [info.type, info.description] if info else []
        about = ", ".join(dict.fromkeys(filter(None, [bracket_of(label), *notes])))
        return f"{without_bracket(label)}: {about}" if about else without_bracket(label)


_TITLES = frozenset(
    "president pres king queen prince princess emperor empress pope saint st sir lord lady dr doctor mr mrs ms "
    "professor general captain colonel senator governor mayor minister chancellor actor actress singer author writer "
    "director composer painter poet philosopher rapper musician artist scientist explorer".split()
)
_OF_PEOPLE = frozenset(
    "born birth birthplace birthday die died dies death dead killed shot assassinated murdered buried married marry "
    "wife husband spouse girlfriend boyfriend son sons daughter daughters child children kids parents mother father "
    "mom dad brother brothers sister sisters siblings school college university educated graduate graduated education "
    "degree major party elected influenced influence inspired invented invent discovered discover profession job jobs "
    "occupation nationality ethnicity raised grow grew famous religion wrote painted composed "
    "play plays played coach coached teammates".split()
)
_OF_TONGUES = frozenset("speak speaks spoke spoken speaking learn write written dialect dialects".split())
_OF_WORDS = frozenset(
    "language word mean say alphabet translate translated translation literature grammar original".split()
)
_NO_TONGUE = -0.6
_OF_WORKS = frozenset(
    "wrote directed made sang film movie book novel song album series show called titled named".split()
)
_TIMES = frozenset(
    "january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday".split()
)
_WHAT_WORKS_HAVE = {  # word -> the types it may stand beside
    "show": ("series",),
    "novel": ("book",),
    "cast": ("film", "series"),
    "score": ("film", "series", "game"),
    "soundtrack": ("film", "series", "game", "musical"),
    "sequel": ("film", "book", "game"),
    "trailer": ("film",),
    "lyrics": ("song",),
    "ceo": ("company",),
    "author": ("book", "play", "poem"),
    "director": ("film", "series"),
    "population": ("country", "city"),
    "capital": ("country", "state"),
    "moons": ("planet",),
    "members": ("band",),
}
_SOURCE = 3  # words between a work and *based*
_SOURCE_WORDS = frozenset(
    [("based", "on"), ("made", "from"), ("adapted", "from"), ("version", "of"), ("versions", "of")]
)
_NAMING = 4  # words between a thing and *named after*
_AFTER = ("after", "for")
_MOSTLY = 0.8  # from this share of capitals on a question is a heading, and they say nothing


def title_before(words: Sequence[Word], first: int) -> str:
    """The title right before a mention, in full; empty when there is none."""
    before = words[first - 1].key if first else ""
    return {"pres": "president"}.get(before, before) if before in _TITLES else ""


def asks_of_people(outside: Sequence[str]) -> bool:
    """Whether the rest of a question is mostly asked of people."""
    return not _OF_PEOPLE.isdisjoint(outside)


def asks_of_language(words: Sequence[Word], first: int, last: int, of_place: bool) -> float:
    """1 for a mention right after *speak* and the like; below 0 where nothing tells of languages but a place would do.

    *Spanish painters* are of Spain; *the Spanish word* is of the language.
    """
    if not _OF_TONGUES.isdisjoint(keys(words, first - 2, first)):
        return 1.0
    if keys(words, first - 1, first) == ["in"]:
        return 0.0
    said = {key for word in (*words[:first], *words[last:]) for key in word.keys}
    return _NO_TONGUE if of_place and said.isdisjoint(_OF_TONGUES | _OF_WORDS) else 0.0


def names_answer_type(words: Sequence[Word], first: int) -> bool:
    """Whether a mention follows *what* or *which*: then it is the kind of thing asked for."""
    return first > 0 and words[first - 1].key in ("what", "which")


def answer_type_words(words: Sequence[Word]) -> tuple[str, ...]:
    """The spellings of the word after *what* or *which*: the kind of thing asked for."""
    return next((after.keys for word, after in pairwise(words) if word.key in ("what", "which")), ())


def made_from(words: Sequence[Word], first: int, last: int) -> int:
    """1 for a work said to be made from another, -1 for one that others are made from, 0 where neither is said.

    *The book behind …*, *the play that … is based on*; *films based on …*.
    """
    before, after = keys(words, first - 2, first), keys(words, last, last + _SOURCE)
    if not _SOURCE_WORDS.isdisjoint(pairwise(keys(words, first - 4, first))):  # an author's name may stand between
        return -1
    source = not {"behind", "became"}.isdisjoint(before) or not {"based", "adapted"}.isdisjoint(after)
    return 1 if source or after[:2] in (["is", "from"], ["was", "from"]) else 0


def named_after(words: Sequence[Word], first: int, last: int) -> int:
    """1 for what is said to be named after something, -1 for what something is named after, 0 where neither is said.

    *The person the newton is named for*, *the unit named after Newton*.
    """
    before, after = keys(words, first - 3, first), keys(words, last, last + _NAMING)
    if any(said == "named" and how in _AFTER for said, how in pairwise(before)):
        return -1
    named = [place for place, (said, how) in enumerate(pairwise(after)) if said == "named" and how in (*_AFTER, "by")]
    return 1 if named and not words[last - 1].owns else 0


def kinds_beside(words: Sequence[Word], first: int, last: int) -> tuple[str, ...]:
    """What the words around a mention say of its type: *the Cats musical*, *Friends cast*, *whose film is Jaws*."""
    beside = [key for word in (*words[max(first - 1, 0) : first], *words[last : last + 1]) for key in word.keys]
    if not {"of", "by"}.isdisjoint(keys(words, first - 2, first)):  # the author of, the CEO of the
        beside += [word for word in keys(words, first - 3, first - 1) if word in _WHAT_WORKS_HAVE]
    if first > 2 and words[first - 3].key == "whose" and words[first - 1].key in ("is", "was"):
        beside += words[first - 2].keys
    return (*beside, *(kind for key in beside for kind in _WHAT_WORKS_HAVE.get(key, ())))


def is_option(words: Sequence[Word], first: int, last: int) -> bool:
    """Whether *or* stands right before a mention or right after it."""
    return "or" in (*keys(words, first - 2, first), *keys(words, last, last + 1))


def is_time(words: Sequence[Word], first: int, last: int) -> bool:
    """Whether a mention says when rather than what; *who wrote 1984* does not."""
    if follows_work_word(words, first):
        return False
    digits = all(key.isdigit() or key in _TIMES for key in keys(words, first, last))
    return digits or "during" in keys(words, first - 2, first)


def follows_work_word(words: Sequence[Word], first: int) -> bool:
    """Whether a mention follows *wrote*, *film* and the like: then it is a title, whatever it says."""
    return not _OF_WORKS.isdisjoint(keys(words, first - 1, first))


def capitalisation(words: Sequence[Word], first: int, last: int) -> float:
    """1 where capitals set a mention off, -1 where they set others off, 0 where they say nothing.

    They say nothing where there are none beyond the first word, or hardly anything else.
    """
    rest = words[1:]
    capitals = sum(word.capital for word in rest)
    if not capitals or capitals > _MOSTLY * len(rest):
        return 0.0
    inside = [word for word in words[first:last] if len(word.text) > 3] or [words[first]]
    if first == 0 and len(inside) == 1:
        return 0.0
    return 1.0 if sum(word.capital for word in inside) * 2 > len(inside) else -1.0


def keys(words: Sequence[Word], first: int, last: int) -> list[str]:
    """Folded words ``first`` to ``last`` (exclusive); what lies before the question is left out."""
    return [word.key for word in words[max(first, 0) : max(last, 0)]]
