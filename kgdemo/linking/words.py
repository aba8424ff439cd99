"""Words of questions and labels in one spelling, which of them are ordinary, and what those around a name say of it.

A name and its mention meet when their words are equal after folding case, accents and punctuation;
apostrophes vanish (``Schindler's`` = ``schindlers``), ``&`` is ``and``, ``C++`` is ``cplusplus``, and letters
that stand alone are drawn together (``U.S.`` = ``US``, ``J. R. R.`` = ``jrr``).

The words around a mention say what it is: a person, a language, a time, an option.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
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
_RARE = 50  # times that a word stands in the subtitles of films
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


@cache
def english_words() -> frozenset[str]:
    """Words that are English and not rare, *chap*, *ticker*: typed as they are meant. Read with the first strange word.

    They are those of pyspellchecker's dictionary, which counts how often each stands in subtitles of films.
    """
    from spellchecker import SpellChecker

    counted = SpellChecker().word_frequency.dictionary
    return frozenset(word for word, times in counted.items() if times > _RARE)


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
def nations() -> dict[str, str]:
    """What is of a place, *irish* -> the place."""
    return {word.lower(): places[0] for places, words in demonyms() for word in words}


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


# the words around a mention -----------------------------------------------------------------------

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
    if not _OF_TONGUES.isdisjoint(_keys_at(words, first - 2, first)):
        return 1.0
    if _keys_at(words, first - 1, first) == ["in"]:
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
    before, after = _keys_at(words, first - 2, first), _keys_at(words, last, last + _SOURCE)
    if not _SOURCE_WORDS.isdisjoint(pairwise(_keys_at(words, first - 4, first))):  # an author's name may stand between
        return -1
    source = not {"behind", "became"}.isdisjoint(before) or not {"based", "adapted"}.isdisjoint(after)
    return 1 if source or after[:2] in (["is", "from"], ["was", "from"]) else 0


def named_after(words: Sequence[Word], first: int, last: int) -> int:
    """1 for what is said to be named after something, -1 for what something is named after, 0 where neither is said.

    *The person the newton is named for*, *the unit named after Newton*.
    """
    before, after = _keys_at(words, first - 3, first), _keys_at(words, last, last + _NAMING)
    if any(said == "named" and how in _AFTER for said, how in pairwise(before)):
        return -1
    named = [place for place, (said, how) in enumerate(pairwise(after)) if said == "named" and how in (*_AFTER, "by")]
    return 1 if named and not words[last - 1].owns else 0


def kinds_beside(words: Sequence[Word], first: int, last: int) -> tuple[str, ...]:
    """What the words around a mention say of its type: *the Cats musical*, *Friends cast*, *whose film is Jaws*."""
    beside = [key for word in (*words[max(first - 1, 0) : first], *words[last : last + 1]) for key in word.keys]
    if not {"of", "by"}.isdisjoint(_keys_at(words, first - 2, first)):  # the author of, the CEO of the
        beside += [word for word in _keys_at(words, first - 3, first - 1) if word in _WHAT_WORKS_HAVE]
    if first > 2 and words[first - 3].key == "whose" and words[first - 1].key in ("is", "was"):
        beside += words[first - 2].keys
    return (*beside, *(kind for key in beside for kind in _WHAT_WORKS_HAVE.get(key, ())))


def is_option(words: Sequence[Word], first: int, last: int) -> bool:
    """Whether *or* stands right before a mention or right after it."""
    return "or" in (*_keys_at(words, first - 2, first), *_keys_at(words, last, last + 1))


def is_time(words: Sequence[Word], first: int, last: int) -> bool:
    """Whether a mention says when rather than what; *who wrote 1984* does not."""
    if follows_work_word(words, first):
        return False
    digits = all(key.isdigit() or key in _TIMES for key in _keys_at(words, first, last))
    return digits or "during" in _keys_at(words, first - 2, first)


def follows_work_word(words: Sequence[Word], first: int) -> bool:
    """Whether a mention follows *wrote*, *film* and the like: then it is a title, whatever it says."""
    return not _OF_WORKS.isdisjoint(_keys_at(words, first - 1, first))


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


def _keys_at(words: Sequence[Word], first: int, last: int) -> list[str]:
    """Folded words ``first`` to ``last`` (exclusive); what lies before the question is left out."""
    return [word.key for word in words[max(first, 0) : max(last, 0)]]
