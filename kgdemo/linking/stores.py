"""Linking over a graph behind a store, and which linker a graph has.

A graph behind a store is linked by the store's own ``find``, in one request a question. Every run of words is looked up
as it is written, in the ways that names are capitalised, and by the other names and demonyms of the hand-written list
where nothing is called so. The longest runs that do not overlap become mentions; of several entities of one name the
one with most facts comes first. For runs that are left and may be misspelt the store's text search is asked, in one
request more; what is spelt nearly so is taken. Context is left aside there.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from kgdemo.events import Candidate, Mention
from kgdemo.kg.cache import ArrayCache
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.stores.graph import StoreGraph
from kgdemo.linking.linker import CONFIDENT, EntityLinker, Linker, Linking
from kgdemo.linking.matching import CUT, FUZZY_SIZES, SUGGESTED, WORD_CUT, is_english, likeness_of, may_be_misspelt
from kgdemo.linking.names import other_names_of, spellings, without_bracket
from kgdemo.linking.words import Word, name_words, words_of
from kgdemo.models.embedding import Embedder

_MAX_WORDS = 40  # of a question
_MAX_RUN = 7  # words of a name
_MAX_NAMESAKES = 20  # whose facts are counted
_MAX_SEARCHED = 8  # runs of words that a store's text search is asked for
_LONGEST_SEARCHED = 80  # letters of one


class StoreLinker:
    """Links questions to one graph behind a store, by whole names and by names nearly spelt so.

    It is safe to use from several threads.

    Args:
        kg: the graph.
    """

    knows_all_names = False

    def __init__(self, kg: StoreGraph) -> None:
        self.kg = kg

    def link(self, question: str, max_candidates: int = 5) -> Linking:
        """See ``Linker``."""
        words = words_of(question)[:_MAX_WORDS]
        runs = list(_runs(words, question))
        texts = dict.fromkeys(t for *_, written in runs for t in (*spellings(written), *other_names_of(written)))
        called: defaultdict[str, dict[int, None]] = defaultdict(dict)
        for text, node in self.kg.store.find(list(texts)):
            called[text][self.kg.met(node)] = None
        taken: list[tuple[int, int, list[int]]] = []
        for first, last, written in runs:
            ways = (spellings(written), other_names_of(written))
            found = next(filter(None, ([e for text in way for e in called.get(text, ())] for way in ways)), [])
            found = list(dict.fromkeys(found))[:_MAX_NAMESAKES]
            if found and not _meets((first, last), taken):
                taken.append((first, last, found))
        spelt = list(taken)
        searched = self._search(_mistyped(words, question, spelt))
        likeness: dict[int, float] = {}
        for first, last, found, like in searched:
            within = [one for one in taken if _meets((first, last), [one])]
            if like >= CUT and all(one in spelt for one in within):
                taken = [*(one for one in taken if one not in within), (first, last, found)]
                likeness |= dict.fromkeys(found, like / 100)
        self.kg.degrees([entity for _, _, found in taken if len(found) > 1 for entity in found])
        taken.sort()
        mentions = tuple(
            Mention(
                question[words[first].start : words[last - 1].end],
                words[first].start,
                words[last - 1].end,
                self._candidates(found, max_candidates, likeness),
            )
            for first, last, found in taken
        )
        chosen = tuple(dict.fromkeys(mention.candidates[0].entity for mention in mentions))
        self.kg.describe(chosen)
        return Linking(mentions, chosen, () if chosen else self._suggested(searched, max_candidates))

    def _search(self, runs: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, list[int], float]]:
        """Runs of words with the entities called nearly so, and how alike the names are, of 100; likest first."""
        runs = [run for run in runs if len(run[2]) <= _LONGEST_SEARCHED][:_MAX_SEARCHED]
        found = self.kg.store.search([text for *_, run in runs for text in spellings(run)]) if runs else []
        near: list[tuple[int, int, list[int], float]] = []
        for first, last, run in runs:
            alike: defaultdict[float, dict[int, None]] = defaultdict(dict)
            for name, node in found:
                like = _likeness(name_words(run), name_words(without_bracket(name)))
                if like >= SUGGESTED:
                    alike[like][self.kg.met(node)] = None
            near += [(first, last, list(own)[:_MAX_NAMESAKES], like) for like, own in alike.items()]
        return sorted(near, key=lambda one: -one[3])

    def _suggested(self, searched: Iterable[tuple[int, int, list[int], float]], limit: int) -> tuple[Candidate, ...]:
        """The names likest to something in a question in which nothing is named."""
        likeness: dict[int, float] = {}
        for *_, found, like in searched:
            for entity in found:
                likeness.setdefault(entity, like / 100 * CONFIDENT)
        made = [self._candidates([entity], 1, likeness)[0] for entity in list(likeness)[:limit]]
        return tuple(made)

    def nearest(self, text: str, limit: int = 5) -> tuple[Candidate, ...]:
        """See ``Linker``: the entities that are called so in any capitals, or else nearly so."""
        found = dict.fromkeys(self.kg.met(node) for _, node in self.kg.store.find(spellings(text)))
        if not found:
            return self._suggested(self._search([(0, 1, text)]), limit)
        return self._candidates(list(found)[:_MAX_NAMESAKES], limit)

    def entities_in(self, text: str) -> tuple[str, ...]:
        """See ``Linker``."""
        return tuple(c.entity for mention in self.link(text).mentions for c in mention.candidates)

    def knows(self, word: str) -> bool:
        """See ``Linker``; nobody can list the words that a store's names are made of, so any may be one."""
        return True

    def warm_up(self) -> None:
        """See ``Linker``; there is nothing to load."""

    def _candidates(
        self, entities: Sequence[int], limit: int, likeness: Mapping[int, float] | None = None
    ) -> tuple[Candidate, ...]:
        """Entities of one name, best known first.

        The score is the share of their facts, on a logarithmic scale, times how alike the name is, 0..1, where it is
        spelt otherwise.
        """
        likeness = likeness or {}
        degrees = self.kg.degrees(entities) if len(entities) > 1 else [1]  # nothing to choose: nothing is asked for
        weights = dict(zip(entities, (math.log1p(degree) + 0.01 for degree in degrees), strict=True))
        total, ranked = sum(weights.values()), sorted(entities, key=lambda entity: -weights[entity])
        labels = [self.kg.entities[entity] for entity in ranked[:limit]]
        known = [self.kg.info.get(label) for label in labels]
        return tuple(
            Candidate(
                label,
                round(likeness.get(e, 1.0) * weights[e] / total, 4),
                info.type if info else "",
                info.description if info else "",
            )
            for e, label, info in zip(ranked, labels, known, strict=False)
        )


def linker_of(
    kg: KnowledgeGraph,
    embedder: Embedder | None = None,
    base: Linker | None = None,
    cache: ArrayCache | None = None,
) -> Linker:
    """The entity linker of a graph.

    Args:
        kg: the graph.
        embedder, cache: see ``EntityLinker``.
        base: the linker of the graph that it is an edit of.
    """
    if isinstance(kg, StoreGraph):
        return StoreLinker(kg)
    return base.over(kg) if isinstance(base, EntityLinker) else EntityLinker(kg, embedder, cache)


def _mistyped(
    words: Sequence[Word], question: str, taken: Sequence[tuple[int, int, list[int]]]
) -> list[tuple[int, int, str]]:
    """Runs of words that may be a misspelt name, those with the fewest English words first.

    Args:
        words, question: in which.
        taken: runs that are names; another run may hold one of them whole: *Nick Canon*.
    """
    read = {place for first, last, _ in taken for place in range(first, last)}
    plain = [word.ordinary or is_english(word) for word in words]
    runs = []
    for order, length in enumerate(FUZZY_SIZES):
        for first in range(len(words) - length + 1):
            run, places = words[first : first + length], range(first, first + length)
            strange = [place for place in places if not plain[place] and place not in read]
            whole = all(
                first <= begin and end <= first + length
                for begin, end, _ in taken
                if _meets((first, first + length), [(begin, end, [])])
            )
            if strange and whole and may_be_misspelt(run):
                end = run[-1].start + len(run[-1].text)
                runs.append(
                    (
                        sum(plain[place] for place in places),
                        order,
                        (first, first + length, question[run[0].start : end]),
                    )
                )
    return [run for *_, run in sorted(runs)]


def _likeness(words: Sequence[str], name: Sequence[str]) -> float:
    """How alike a name is to words, of 100; in a short one a single slip counts as little as in a long one."""
    one, other = " ".join(words), " ".join(name)
    if 4 <= len(one) <= 6 and OSA.distance(one, other, score_cutoff=1) <= 1:
        return max(CUT, fuzz.ratio(one, other))
    return fuzz.ratio(one, other) if 100 * likeness_of(words, name) >= WORD_CUT else 0.0


def _meets(run: tuple[int, int] | tuple[int, int, str], taken: Iterable[tuple[int, int, list[int]]]) -> bool:
    """Whether a run of words has one that another has taken."""
    return any(run[0] < end and begin < run[1] for begin, end, _ in taken)


def _runs(words: Sequence[Word], question: str) -> Iterator[tuple[int, int, str]]:
    """Runs of words that may be a name, longest first: first word, the one behind the last, and the text."""
    for length in range(min(_MAX_RUN, len(words)), 0, -1):
        for first in range(len(words) - length + 1):
            run = words[first : first + length]
            if not all(word.ordinary for word in run):
                end = run[-1].start + len(run[-1].text)
                yield first, first + length, question[run[0].start : end]
