"""Entity linking over a graph behind a store: names found by the store's own ``find``, in one request a question.

A second request says more of what was found, and a third counts the facts of entities that share a name.

Every run of words in the question is looked up as it is written and in the ways that names are capitalised. The longest
runs that do not overlap become mentions; of several entities of one name the one with most facts comes first. It knows
no misspelt names and weighs no context: a graph in memory has ``EntityLinker`` for that.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

from kgdemo.events import Candidate, Mention
from kgdemo.kg.stores.graph import StoreGraph
from kgdemo.linking.linker import Linking
from kgdemo.linking.words import Word, words_of

_MAX_WORDS = 40  # of a question
_MAX_RUN = 7  # words of a name
_MAX_NAMESAKES = 20  # whose facts are counted


class StoreLinker:
    """Links questions to one graph behind a store; safe to use from several threads.

    Args:
        kg: the graph.
    """

    def __init__(self, kg: StoreGraph) -> None:
        self.kg = kg

    def link(self, question: str, max_candidates: int = 5) -> Linking:
        """See ``EntityLinker.link``; nothing is suggested where no name is found."""
        words = words_of(question)[:_MAX_WORDS]
        runs = list(_runs(words, question))
        texts = dict.fromkeys(text for _, _, written in runs for text in _variants(written))
        called: defaultdict[str, dict[int, None]] = defaultdict(dict)
        for text, node in self.kg.store.find(list(texts)):
            called[text][self.kg.met(node)] = None
        taken: list[tuple[int, int, list[int]]] = []
        for first, last, written in runs:
            found = list(dict.fromkeys(e for text in _variants(written) for e in called.get(text, ())))[:_MAX_NAMESAKES]
            if found and not any(first < end and begin < last for begin, end, _ in taken):
                taken.append((first, last, found))
        self.kg.degrees([entity for _, _, found in taken if len(found) > 1 for entity in found])
        taken.sort()
        mentions = tuple(
            Mention(
                question[words[first].start : words[last - 1].end],
                words[first].start,
                words[last - 1].end,
                self._candidates(found, max_candidates),
            )
            for first, last, found in taken
        )
        chosen = tuple(dict.fromkeys(mention.candidates[0].entity for mention in mentions))
        self.kg.describe(chosen)
        return Linking(mentions, chosen)

    def nearest(self, text: str, limit: int = 5) -> tuple[Candidate, ...]:
        """The entities that are called so, in any capitals."""
        found = dict.fromkeys(self.kg.met(node) for _, node in self.kg.store.find(_variants(text)))
        return self._candidates(list(found)[:_MAX_NAMESAKES], limit) if found else ()

    def warm_up(self) -> None:
        """See ``EntityLinker``; there is nothing to load."""

    def _candidates(self, entities: Sequence[int], limit: int) -> tuple[Candidate, ...]:
        """Entities of one name, best known first; the score is the share of their facts, on a logarithmic scale."""
        degrees = (
            self.kg.degrees(entities) if len(entities) > 1 else [1]
        )  # nothing is asked for where nothing is chosen
        weights = dict(zip(entities, (math.log1p(degree) + 0.01 for degree in degrees), strict=True))
        total, ranked = sum(weights.values()), sorted(entities, key=lambda entity: -weights[entity])
        labels = [self.kg.entities[entity] for entity in ranked[:limit]]
        known = [self.kg.info.get(label) for label in labels]
        return tuple(
            Candidate(label, round(weights[e] / total, 4), info.type if info else "", info.description if info else "")
            for e, label, info in zip(ranked, labels, known, strict=False)
        )


def _runs(words: Sequence[Word], question: str) -> Iterator[tuple[int, int, str]]:
    """Runs of words that may be a name, longest first: first word, the one behind the last, and the text."""
    for length in range(min(_MAX_RUN, len(words)), 0, -1):
        for first in range(len(words) - length + 1):
            run = words[first : first + length]
            if not all(word.ordinary for word in run):
                end = run[-1].start + len(run[-1].text)
                yield first, first + length, question[run[0].start : end]


def _variants(written: str) -> list[str]:
    """A name as it is written, without a possessive s, and as names are capitalised."""
    texts = [written, written[:-2] if written.endswith(("'s", "’s")) else written]
    made = [one for text in texts for one in (text, text.title(), text[:1].upper() + text[1:], text.lower())]
    return list(dict.fromkeys(made))
