"""From a question to its topic entities.

Names are matched, every match is weighed, and the best ones that do not overlap become mentions. Where candidates are
close, sentence embeddings of the question and of what the graph knows of the candidates decide. All alternatives stay
on the mention, for the page to offer.

An edited graph is linked by the old graph's linker, which knows nearly all names, beside a small one for the rest:
indexing the names of a large graph takes seconds, and an edit adds a handful of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kgdemo.events import Candidate, Mention
from kgdemo.kg.cache import ArrayCache
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io.catalogue import build_graph
from kgdemo.kg.labels import spoken
from kgdemo.linking.features import WEIGHTS, Context, Scorer
from kgdemo.linking.matching import Match, Matcher, MatchKind
from kgdemo.linking.names import bracket_of, name_index, without_bracket
from kgdemo.linking.words import Word, name_words, without_article, words_of
from kgdemo.models.embedding import Embedder, embedding_cache
from kgdemo.settings import whole_characters


@dataclass(frozen=True, slots=True)
class Linking:
    """The entities of one question.

    Attributes:
        mentions: stretches of the question that may name entities, in the question's order.
        chosen: the topic entities: the first candidate of each confident mention, surest first, each once.
        nearest: where nothing was chosen, the names most like the question's words; only ever suggestions.
    """

    mentions: tuple[Mention, ...] = ()
    chosen: tuple[str, ...] = ()
    nearest: tuple[Candidate, ...] = ()


class Linker(Protocol):
    """What a run asks of the names of its graph.

    Attributes:
        knows_all_names: whether every name is known, so that a word which is in none of them may be mistyped.
    """

    knows_all_names: bool

    def link(self, question: str, max_candidates: int = 5) -> Linking:
        """The entities that a question is about.

        Args:
            question: as typed.
            max_candidates: how many a mention keeps, and how many names are suggested where none is found.

        Returns:
            mentions, the topic entities, and suggestions where there is none.
        """

    def nearest(self, text: str, limit: int = 5) -> tuple[Candidate, ...]:
        """The entities whose names are most like a text, whether or not they would be taken."""

    def entities_in(self, text: str) -> tuple[str, ...]:
        """The entities that a text may name: those chosen, those whose name it is, and others that are likely."""

    def knows(self, word: str) -> bool:
        """Whether a word may be part of a name."""

    def warm_up(self) -> None:
        """Load what the first question would otherwise wait for."""


LIKELY = 0.16  # a candidate below this is no suggestion
CONFIDENT = 0.2  # the best mention is taken from here on
_UNCERTAIN = 0.1  # or from here on, where it is far ahead of any other entity
_AHEAD = 0.5  # log-odds: so far
_WHOLE = 0.5  # a longer name that has all words of a shorter one is taken from here on
_SURE = 0.5  # further mentions are taken where they are likelier than not; what does not meet the first is let go
_SHOWN = 0.1  # below this a match is no mention
_CLOSE = 2.0  # log-odds: further behind, an embedding could not turn the order; the most it was seen to move is 1.9
_CLOSE_SECOND = 0.5  # score from which a namesake may be the one meant
_LEVEL = 0.7  # log-odds: namesakes as close as this are told apart by their descriptions
_MAX_WEIGHED = 12  # candidates that embeddings may compare
_MAX_LEVEL = 2  # namesakes whose descriptions are read: each costs as much as a third of the question
_HUB = 400  # edges of an entity that so much is linked to that it tells nothing of other words
_MAX_LETTERS = 2000  # of a question: a longer text is cut
_FORWARD, _BACKWARD, _TEXT = 1.9, 2.5, 2.0  # of likeness, in log-odds; fitted beside the weights of ``features``
_MAX_AT_ONCE = 512  # relations; of a graph with more only those that are asked for are embedded


@dataclass(slots=True)
class _Weighed:
    """A match and its log-odds."""

    match: Match
    odds: float

    @property
    def score(self) -> float:
        """The log-odds as a probability."""
        return 1 / (1 + math.exp(-self.odds))


_MAKERS = {  # a role, and the relations of a work that lead to who has it
    **dict.fromkeys(("author", "writer"), ("author", "written by")),
    **dict.fromkeys(("director", "composer", "painter"), ("directed by", "composed by", "painted by")),
}
_MAKING = {"write": "author", "wrote": "author", "direct": "director", "compose": "composer", "paint": "painter"}
_ROLE_OF = re.compile(
    rf"\b(?:(?P<role>{'|'.join(_MAKERS)})s? of|(?P<verb>{'|'.join(_MAKING)})(?:ed)?) (?:the )?$", re.IGNORECASE
)


class EntityLinker:
    """Links questions to one graph; safe to use from several threads.

    Args:
        kg: the graph; its names are indexed, unless they are already.
        embedder: for candidates that names do not tell apart; without one the graph's own signs decide.
        cache: where the names of a large graph are kept; None for a graph that only one visitor has.
    """

    knows_all_names = True

    def __init__(self, kg: KnowledgeGraph, embedder: Embedder | None = None, cache: ArrayCache | None = None) -> None:
        self.kg = kg
        index = name_index(kg, cache)
        self._index = index
        self._matcher = Matcher(index, kg.types)
        self._context = Context(kg)
        self._scorer = Scorer(index, self._context)
        self._meaning = None if embedder is None else Meaning(kg, self._context, embedder)

    def link(self, question: str, max_candidates: int = 5) -> Linking:
        """See ``Linker``; programs ask it too, with whatever text they have."""
        question = whole_characters(question)
        words = words_of(question[:_MAX_LETTERS])
        weighed = self._weigh(question, words)
        mentions, chosen, unsure = [], [], []
        for best, rivals in _apart(weighed):
            if best.score < _SHOWN:
                break
            if best.score >= _SURE or (best is weighed[0] and _is_confident(weighed)):
                best = self._made_by_somebody(question, words, best, rivals)
                mentions.append(self._mention(question, words, best, rivals, max_candidates))
                chosen.append(self.kg.entities[best.match.name.entity])
            else:
                unsure.append((best, rivals))
        chosen, mentions = self._namesakes_linked(chosen, mentions)
        for best, rivals in unsure:
            told = self._told_by_others(words, [best, *rivals], chosen)
            mentions.append(self._mention(question, words, told or best, [best, *rivals], max_candidates))
            if told:
                chosen.append(self.kg.entities[told.match.name.entity])
        mentions.sort(key=lambda mention: mention.start)
        nearest = () if chosen else self._nearest(words, weighed, max_candidates)
        return Linking(tuple(mentions), tuple(dict.fromkeys(chosen)), nearest)

    def _namesakes_linked(self, chosen: list[str], mentions: list[Mention]) -> tuple[list[str], list[Mention]]:
        """Of two namesakes the one that the graph links to something else chosen, where the likelier one is to nothing.

        The Darwin of *On the Origin of Species* is not the city.
        """
        for place, mention in enumerate(mentions):
            first, *others = mention.candidates
            rest = [other for other in chosen if other != first.entity]
            if first.entity not in chosen or not rest or self._links_any(first.entity, rest):
                continue
            near = [one for one in others if one.score >= _CLOSE_SECOND and one.entity not in chosen]
            near = [one for one in near if one.type == "person" or _called(one.entity, mention.text)]
            told = next((one for one in near if self._links_any(one.entity, rest)), None)
            if told is not None:
                candidates = (told, *(one for one in mention.candidates if one is not told))
                mentions[place] = replace(mention, candidates=candidates)
                chosen[chosen.index(first.entity)] = told.entity
        return chosen, mentions

    def _links_any(self, label: str, others: Sequence[str]) -> bool:
        """Whether an edge joins an entity to one of others, of which none is linked to very much."""
        entity, few = self.kg.entities.find(label), [self.kg.entities.find(other) for other in others]
        assert entity is not None
        return any(
            other is not None and self.kg.degree(other) <= _HUB and self._context.linked(entity, other) for other in few
        )

    def _made_by_somebody(
        self, question: str, words: Sequence[Word], best: _Weighed, rivals: Sequence[_Weighed]
    ) -> _Weighed:
        """The namesake that has the relation whose role stands before a name: a character has no *author of* it."""
        role = _ROLE_OF.search(question[: words[best.match.first].start])
        if role is None:
            return best
        relations = _MAKERS[(role["role"] or _MAKING[role["verb"].lower()]).lower()]
        alike = (own for own in (best, *rivals) if _same_words(own, best))
        return next((own for own in alike if self._has_any(own.match.name.entity, relations)), best)

    def _has_any(self, entity: int, relations: Collection[str]) -> bool:
        label = self.kg.entities[entity]
        return any(relation in relations for relation, _ in self.kg.neighbours(label))

    def _told_by_others(
        self, words: Sequence[Word], doubtful: Sequence[_Weighed], chosen: Sequence[str]
    ) -> _Weighed | None:
        """What rare words mean that say too little by themselves: the one such entity that is linked to a chosen one.

        Of all Jacks the one in *Titanic*; a *Shakespere* beside *Macbeth*.
        """
        topics = [entity for label in chosen if (entity := self.kg.entities.find(label)) is not None]
        topics = [entity for entity in topics if self.kg.degree(entity) <= _HUB]
        near = {
            own.match.name.entity: own
            for own in reversed(doubtful)
            if not all(word.ordinary for word in words[own.match.first : own.match.last])
            and not own.match.inflected
            and any(self._context.linked(own.match.name.entity, topic) for topic in topics)
        }
        if len(near) != 1 or self.kg.entities[next(iter(near))] in chosen:
            return None
        (own,) = near.values()
        return _Weighed(own.match, 0.0)  # as likely as not, with what the others say

    def entities_in(self, text: str) -> tuple[str, ...]:
        """See ``Linker``; of several entities of that name the one with most edges comes first."""
        found = self.link(text)
        same = {name.entity for name in self._index.whole("".join(without_article(name_words(text))))}
        whole = [self.kg.entities[entity] for entity in sorted(same, key=lambda entity: -self.kg.degree(entity))]
        if text.startswith("the ") and whole:  # which no title is written with: *the Second World War* is no book on it
            titles = {entity for entity in found.chosen if entity.startswith("The ") and entity != whole[0]}
            found = replace(found, chosen=tuple(entity for entity in found.chosen if entity not in titles))
        candidates = (candidate for mention in found.mentions for candidate in mention.candidates)
        others = (candidate.entity for candidate in candidates if candidate.score >= LIKELY)
        exact = (text,) if text in self.kg.entities else ()
        return tuple(dict.fromkeys((*exact, *found.chosen, *whole, *others)))

    def knows(self, word: str) -> bool:
        """See ``Linker``."""
        return self._index.knows(word)

    def over(self, edited: KnowledgeGraph) -> Linker:
        """The linker of an edit of this graph, whose new entities come behind those of this one."""
        new = [edited.entities[i] for i in range(len(self.kg.entities), len(edited.entities))]
        around = [(name, relation_label, other) for name in new for relation_label, other in edited.neighbours(name)]
        return OverlayLinker(self, EntityLinker(build_graph(around)), new) if around else self

    def nearest(self, text: str, limit: int = 5) -> tuple[Candidate, ...]:
        """See ``Linker``."""
        words = words_of(text[:_MAX_LETTERS])
        return self._nearest(words, self._weigh(text, words), limit)

    def warm_up(self) -> None:
        """See ``Linker``: the embedder, and the relations embedded, which the first tie would wait for."""
        if self._meaning is not None and len(self.kg.entities):
            self._meaning.by_relations(self._meaning.question("to begin with"), [0])

    # weighing ----------------------------------------------------------------------------------

    def _weigh(self, question: str, words: Sequence[Word]) -> list[_Weighed]:
        """All matches, best first."""
        matches = self._matcher.find(words)
        features = self._scorer.features(matches, words)
        weighed = [_Weighed(match, own.times(WEIGHTS)) for match, own in zip(matches, features, strict=True)]
        self._sort(weighed)
        if self._meaning is not None:
            self._settle(question, weighed, self._meaning)
        return weighed

    def _settle(self, question: str, weighed: list[_Weighed], meaning: Meaning) -> None:
        """Let embeddings decide between candidates for the same words, and between the first mentions."""
        close = [own for own in weighed[:_MAX_WEIGHED] if own.odds > weighed[0].odds - _CLOSE]
        if len({own.match.name.entity for own in close}) < 2:
            return
        namesakes = [own.match.name.entity for own in close if _same_words(own, close[0])][:_MAX_LEVEL]
        vector = meaning.question(question[:_MAX_LETTERS], namesakes if len(set(namesakes)) > 1 else ())
        _add(close, meaning.by_relations(vector, [own.match.name.entity for own in close]))
        self._sort(weighed)
        first = weighed[0]
        level = [own for own in close if _same_words(own, first) and own.odds > first.odds - _LEVEL][:_MAX_LEVEL]
        if len({own.match.name.entity for own in level}) > 1:
            _add(level, meaning.by_text(vector, [own.match.name.entity for own in level]))
            self._sort(weighed)

    def _sort(self, weighed: list[_Weighed]) -> None:
        weighed.sort(key=lambda own: (-own.odds, own.match.first, own.match.name.entity))

    # results -----------------------------------------------------------------------------------

    def _mention(
        self, question: str, words: Sequence[Word], best: _Weighed, rivals: Sequence[_Weighed], limit: int
    ) -> Mention:
        start, end = words[best.match.first].start, words[best.match.last - 1].end
        return Mention(question[start:end], start, end, self._candidates([best, *rivals], limit))

    def _candidates(self, weighed: Sequence[_Weighed], limit: int) -> tuple[Candidate, ...]:
        """The best entities, each once."""
        found: dict[int, Candidate] = {}
        for own in weighed:
            entity = own.match.name.entity
            if entity not in found and len(found) < limit:
                found[entity] = self._candidate(entity, own.score)
        return tuple(found.values())

    def _candidate(self, entity: int, score: float) -> Candidate:
        label = self.kg.entities[entity]
        info = self.kg.info.get(label)
        return Candidate(label, round(score, 4), info.type if info else "", info.description if info else "")

    def _nearest(self, words: Sequence[Word], weighed: Sequence[_Weighed], limit: int) -> tuple[Candidate, ...]:
        """Suggestions: matches too doubtful to be taken, then names merely spelt alike."""
        found = {candidate.entity: candidate for candidate in self._candidates(weighed, limit)}
        for name, likeness in self._matcher.suggest(words, limit):
            candidate = self._candidate(name.entity, likeness * CONFIDENT)
            if len(found) < limit:
                found.setdefault(candidate.entity, candidate)
        return tuple(sorted(found.values(), key=lambda candidate: -candidate.score))


def _called(label: str, text: str) -> bool:
    """Whether an entity's whole name is what is written, but for what stands in brackets."""
    return name_words(without_bracket(label)) == name_words(text)


def _add(weighed: Sequence[_Weighed], odds: NDArray[np.float32]) -> None:
    for own, more in zip(weighed, odds.tolist(), strict=True):
        own.odds += more


def _is_confident(weighed: Sequence[_Weighed]) -> bool:
    """Whether the best match is to be taken: likely, or at least without a rival."""
    best = weighed[0]
    others = (own.odds for own in weighed[1:] if own.match.name.entity != best.match.name.entity)
    ahead = best.odds - next(others, -math.inf) >= _AHEAD
    return best.score >= CONFIDENT or (best.score >= _UNCERTAIN and ahead)


def _apart(weighed: Sequence[_Weighed]) -> list[tuple[_Weighed, list[_Weighed]]]:
    """Best matches that do not overlap, best first, each with the weaker matches within its words."""
    taken: list[tuple[_Weighed, list[_Weighed]]] = []
    for own in weighed:
        over = [entry for entry in taken if entry[0].match.overlaps(own.match)]
        if not over:
            taken.append((own, []))
        elif (
            len(over) == 1
            and own.score >= _WHOLE
            and own.match.kind is MatchKind.WHOLE
            and own.match.holds(over[0][0].match)
        ):
            best, rivals = over[0]  # *South American* is not American
            taken[taken.index(over[0])] = (own, [best, *rivals])
        elif len(over) == 1:
            over[0][1].append(own)
    return taken


def _same_words(one: _Weighed, other: _Weighed) -> bool:
    return (one.match.first, one.match.last) == (other.match.first, other.match.last)


class Meaning:
    """Likeness of questions to the entities of one graph, by sentence embeddings.

    A question is likened to the relations of each candidate: *where was Lincoln shot* is near relations that a
    president has and a city lacks. Embedding relations, not entities, keeps this small: a graph has few, and they are
    cached. Namesakes that even then are level are likened by their type and description.
    """

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


class OverlayLinker:
    """Links to a graph with a few entities more.

    Args:
        base: the linker of the graph before its edits.
        small: a linker of the added triples alone.
        new: the entities that only the edited graph has.
    """

    knows_all_names = True

    def __init__(self, base: EntityLinker, small: EntityLinker, new: Collection[str]) -> None:
        self.base, self.small, self.new = base, small, frozenset(new)

    def link(self, question: str, max_candidates: int = 5) -> Linking:
        """See ``Linker``. A new entity is taken where its mention is no shorter than an old one's there."""
        old, found = self.base.link(question, max_candidates), self.small.link(question, max_candidates)
        fresh = [m for m in found.mentions if m.candidates[0].entity in self.new]
        chosen = [m for m in fresh if m.candidates[0].entity in found.chosen]
        mentions, beaten = list(chosen), set()
        for mention in old.mentions:
            name = mention.candidates[0].entity
            rivals = [m for m in chosen if m.start < mention.end and mention.start < m.end]
            if not rivals or (name in old.chosen and all(_length(mention) > _length(rival) for rival in rivals)):
                mentions = [m for m in mentions if m not in rivals] + [mention]
            else:
                beaten.add(name)
        mentions.sort(key=lambda m: m.start)
        unbeaten = [name for name in old.chosen if name not in beaten]
        taken = [m.candidates[0].entity for m in mentions if m in chosen]
        nearest = () if unbeaten or taken else (*old.nearest, *self.small.nearest(question, 2))[:max_candidates]
        return Linking(tuple(mentions), tuple(dict.fromkeys([*unbeaten, *taken])), nearest)

    def entities_in(self, text: str) -> tuple[str, ...]:
        """See ``Linker``; the new entities come before the old ones."""
        added = [entity for entity in self.small.entities_in(text) if entity in self.new]
        known = self.base.entities_in(text)
        exact = [entity for entity in (*added, *known) if entity == text]
        return tuple(dict.fromkeys((*exact, *self.link(text).chosen, *added, *known)))

    def knows(self, word: str) -> bool:
        """See ``Linker``."""
        return self.base.knows(word) or self.small.knows(word)

    def warm_up(self) -> None:
        """See ``Linker``."""
        self.base.warm_up()

    def nearest(self, text: str, limit: int = 5) -> tuple[Candidate, ...]:
        """See ``Linker``."""
        fresh = tuple(c for c in self.small.nearest(text, limit) if c.entity in self.new)
        return (*fresh, *self.base.nearest(text, limit))[:limit]


def _length(mention: Mention) -> int:
    return mention.end - mention.start
