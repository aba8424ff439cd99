"""Words of questions and labels in one spelling, and which of them are ordinary.

A name and its mention meet when their words are equal after folding case, accents and punctuation;
apostrophes vanish (``Schindler's`` = ``schindlers``), ``&`` is ``and``, ``C++`` is ``cplusplus``, and letters
that stand alone are drawn together (``U.S.`` = ``US``, ``J. R. R.`` = ``jrr``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from kgdemo.kg.labels import fold
from kgdemo.models.causal import EMBEDDED_FOLDER

_DATA = Path(__file__).parent / "data"
_APOSTROPHES = "'’‘`´ʼ"
_WORD = re.compile(rf"[^\W_]+(?:[{_APOSTROPHES}][^\W_]+)*[+#]*|&")
_POSSESSIVE = re.compile(rf"[{_APOSTROPHES}][sS]$")
_BEFORE_US = frozenset("the in of a which what every first former current".split())  # the country, not the pronoun
# what people type for letters that are no accented ones: Wisla, Orsted
_AS_TYPED: dict[int, str | int | None] = {
    **{ord(mark): None for mark in f"{_APOSTROPHES}."},
    **str.maketrans("łŁøØđĐðÐıİ", "lLoOdDdDiI"),
    **{ord(one): two for one, two in {"æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "þ": "th", "Þ": "Th"}.items()},
}
_LETTERS_APART = re.compile(r"[\s.]*")
_NOTHING_TO_FOLD = re.compile("[A-Za-z0-9]{2,}(?: [A-Za-z0-9]{2,})*")
_SIGNS_OR_INITIALS = re.compile(rf"[{_APOSTROPHES}+#&_]|\b[A-Za-z][\s.]+[A-Za-z]\b")
_FREQUENT = 8000  # place in the vocabulary
_ASCII_WORD = re.compile("[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a question, ``question[start:end]``.

    Attributes:
        keys: its folded spellings, as written first, then without a possessive or plural s.
        capital: whether it begins with a capital letter.
        ordinary: whether it is one of the words that questions are made of, and is written like one.
    """

    text: str
    start: int
    end: int
    keys: tuple[str, ...]
    capital: bool
    ordinary: bool

    @property
    def key(self) -> str:
        """The folded spelling as written."""
        return self.keys[0]

    @property
    def owns(self) -> bool:
        """Whether it ends in a possessive s: what it belongs to is another name."""
        return len(self.keys) > 1 and self.bare != self.key

    @property
    def bare(self) -> str:
        """The folded spelling without a possessive s."""
        return _folded(self.text)


def words_of(text: str) -> list[Word]:
    """Split a question into words that know their place in it."""
    words: list[Word] = []
    for start, end in _spans(text):
        keys = _lookup_keys(text[start:end])
        if keys:
            possessive = _POSSESSIVE.search(text[start:end])
            close = start + possessive.start() if possessive else end
            close += "." in text[start:close] and text[close : close + 1] == "."  # the last dot of U.S.
            written, before = text[start:close], words[-1].key if words else ""
            ordinary = _is_ordinary(written, keys[0], before)
            words.append(Word(written, start, close, keys, text[start].isupper(), ordinary))
    return words


@cache
def common_words() -> frozenset[str]:
    """English words that are typed as they are meant, though no question asks with them: *arrow*, *sword*.

    They are the whole words among the tokens of the embedded model, taken from BERT's vocabulary; names are among them.
    """
    tokens = json.loads((EMBEDDED_FOLDER / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    return frozenset(token for token in tokens if len(token) > 2 and token.isalpha())


@cache
def frequent_words() -> frozenset[str]:
    """The English words of which every text has some: *hill* is no mistyped *will*. BERT's vocabulary goes by that."""
    tokens = json.loads((EMBEDDED_FOLDER / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    return frozenset(word for word in common_words() if tokens[word] < _FREQUENT)


def name_words(name: str) -> tuple[str, ...]:
    """The folded words of a name, as ``words_of`` spells them when the name stands in a question."""
    return tuple(name_text(name).split())


def name_text(name: str) -> str:
    """The folded words of a name, a space between them.

    A graph has many names, so nothing else of a ``Word`` is worked out here.
    """
    if _NOTHING_TO_FOLD.fullmatch(name):  # most names
        return name.lower()
    if name.isascii() and not _SIGNS_OR_INITIALS.search(name):
        return " ".join(_ASCII_WORD.findall(name.lower()))
    keys = ["and" if name[start:end] == "&" else _folded(name[start:end]) for start, end in _spans(name)]
    return " ".join(key for key in keys if key)


def _spans(text: str) -> list[tuple[int, int]]:
    """Where each word begins and ends; letters that stand alone are drawn together."""
    spans: list[tuple[int, int]] = []
    for start, end in (match.span() for match in _WORD.finditer(text)):
        joins = end - start == 1 and spans and _continues_initials(text, spans[-1][1], start, end)
        if joins and _is_initial(text, *spans[-1]):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _is_ordinary(written: str, key: str, before: str) -> bool:
    """Whether a word is ordinary as it is written: *us* may be, *U.S.* and *the us* are not."""
    if "." in written or (key == "us" and (before in _BEFORE_US or written == "US")):
        return False
    return key in ordinary_words()


def _is_initial(text: str, start: int, end: int) -> bool:
    """Whether this is one letter, or letters already drawn together."""
    return all(len(part) == 1 and part.isalpha() for part in re.split(r"[\s.]+", text[start:end]))


def _continues_initials(text: str, gap: int, start: int, end: int) -> bool:
    """Whether the word at ``start`` is one more initial; ``a`` and ``i`` are words unless a dot says otherwise."""
    if end - start != 1 or not text[start].isalpha() or not _LETTERS_APART.fullmatch(text, gap, start):
        return False
    return text[start] not in "aAiI" or text[end : end + 1] == "." or (start == gap + 1 and text[gap] == ".")


def _lookup_keys(text: str) -> tuple[str, ...]:
    """Spellings of one word; ``Obama's`` may be a name's own word or a possessive, ``Nigerians`` a plural."""
    if text == "&":
        return ("and",)
    whole = _folded(text)
    bare = _folded(_POSSESSIVE.sub("", text))
    keys = [whole, bare]
    for suffix, ending in (("ies", "y"), ("es", ""), ("s", "")):
        if whole.endswith(suffix) and len(whole) - len(suffix) >= 3 and not whole.endswith("ss"):
            keys.append(whole[: -len(suffix)] + ending)
    return tuple(dict.fromkeys(key for key in keys if key))


@lru_cache(maxsize=1 << 16)  # bounded: questions of strangers pass through here
def _folded(text: str) -> str:
    plain = text.translate(_AS_TYPED)
    plain = re.sub(r"\+", " plus", re.sub("#", " sharp", plain))
    return fold(plain).replace(" ", "")


@cache
def ordinary_words() -> frozenset[str]:
    """Words that questions are made of, whatever they ask about."""
    lines = (_DATA / "ordinary.txt").read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


@cache
def other_names() -> tuple[tuple[str, ...], ...]:
    """Groups of names that mean one and the same: ``United States``, ``USA``, ``America``."""
    return tuple(row for kind, row in _synonyms() if kind == "same")


@cache
def demonyms() -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """Places (all their names) with the words for what is of them: ``Spain``: ``Spanish``, ``Spaniard``."""
    return tuple((row[:1], row[1:]) for kind, row in _synonyms() if kind == "of")


@cache
def short_given_names() -> dict[str, tuple[str, ...]]:
    """Short form of a given name -> the given names it may stand for."""
    longer: dict[str, list[str]] = {}
    for kind, row in _synonyms():
        if kind == "given":
            for short in row[1:]:
                longer.setdefault(_folded(short), []).append(_folded(row[0]))
    return {short: tuple(names) for short, names in longer.items()}


@cache
def _synonyms() -> tuple[tuple[str, tuple[str, ...]], ...]:
    rows = []
    for line in (_DATA / "synonyms.tsv").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            kind, name, others = line.split("\t")
            rows.append((kind, (name, *(other.strip() for other in others.split("|")))))
    return tuple(rows)


def all_ordinary(words: Iterable[str]) -> bool:
    """Whether a name is built of ordinary words alone."""
    return all(word in ordinary_words() for word in words)


def without_article(words: Sequence[str]) -> tuple[str, ...]:
    """A name's words without a leading article."""
    return tuple(words[1:]) if len(words) > 1 and words[0] in ("the", "a", "an") else tuple(words)
