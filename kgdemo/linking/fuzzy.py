"""Names nearly spelt like some words, by rapidfuzz over a band of names alike in length and beginning."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from rapidfuzz import fuzz, process

from kgdemo.linking.names import Name, NameIndex, NameKind

_CUT = 82.0  # of 100: two slips in ten letters
_WORD_LIKE = 79.0  # for a word by itself: one letter of five
_WORD_CUT = 65.0  # for every word of it


class FuzzyNames:
    """Names in bands: first letter and length. A typo changes one of these at most a little.

    The first letter of every word counts as a beginning, so that ``hte beatles`` still meets The Beatles.
    """

    def __init__(self, index: NameIndex) -> None:
        self._index = index
        self._bands: dict[tuple[str, int], list[int]] = defaultdict(list)
        self._spelt: dict[tuple[str, int], list[str]] = defaultdict(list)  # the texts of each band, in its order
        self._texts: list[str] = []
        for number, name in enumerate(index.names):
            self._texts.append(" ".join(name.words))
            if name.kind in (NameKind.LABEL, NameKind.ALIAS, NameKind.SHORT, NameKind.CUT):
                for letter in {word[0] for word in (name.words[0], name.words[-1])}:
                    self._bands[letter, len(self._texts[-1])].append(number)
                    self._spelt[letter, len(self._texts[-1])].append(self._texts[-1])
        self._words: dict[tuple[str, int], list[str]] = defaultdict(list)
        for word in index.vocabulary:
            self._words[word[0], len(word)].append(word)

    def words_like(self, word: str, most: int = 2) -> list[tuple[str, float]]:
        """Words of names spelt nearly like an unknown one, with their likeness 0..1, likest first."""
        choices = [w for length in (-1, 0, 1) for w in self._words.get((word[0], len(word) + length), ())]
        found = process.extract(word, choices, scorer=fuzz.ratio, score_cutoff=_WORD_LIKE, limit=most)
        return [(other, likeness / 100) for other, likeness, _ in found]

    def nearest(self, words: Sequence[str], cut: float = _CUT, most: int = 5) -> list[tuple[Name, float]]:
        """The names most like these words, with their likeness 0..1, likest first."""
        text = " ".join(words)
        slack = max(1, round(len(text) * (1 - cut / 100)))
        alike: dict[int, float] = {}
        for letter in {words[0][0], words[-1][0]}:
            for length in range(len(text) - slack, len(text) + slack + 1):
                band = self._bands.get((letter, length))
                if band:
                    spelt = self._spelt[letter, length]
                    found = process.extract(text, spelt, scorer=fuzz.ratio, score_cutoff=cut, limit=most)
                    alike.update((band[place], likeness) for _, likeness, place in found)
        likest = sorted(alike, key=lambda number: (-alike[number], number))[:most]
        names = [self._index.names[number] for number in likest]
        return [
            (name, likeness)
            for name in names
            if (likeness := _likeness(words, name.words)) * 100 >= min(cut, _WORD_CUT)
        ]


def _likeness(words: Sequence[str], name: Sequence[str]) -> float:
    """Likeness 0..1; of the least alike pair where there are as many words: Auburn University is not Hamburg's."""
    if set(words) < set(name) or set(words) > set(name):
        return 0.0  # a word more or less is no typo
    if len(words) != len(name):
        return fuzz.ratio(" ".join(words), " ".join(name)) / 100
    return min(fuzz.ratio(word, other) for word, other in zip(words, name, strict=True)) / 100
