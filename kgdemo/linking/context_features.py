"""What the words around a mention say of it: is a person, a language, a time, an option meant here?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from kgdemo.linking.words import Word

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
_ACTED = frozenset("played plays playing portrayed portrays portraying".split())
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
    "members": ("band",),
}
_SOURCE = 3  # words between a work and *based*
_MADE_FROM = frozenset([("based", "on"), ("made", "from"), ("adapted", "from"), ("version", "of"), ("versions", "of")])
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


def is_acted(words: Sequence[Word], first: int) -> bool:
    """Whether a mention follows *who played* and the like, which is asked of characters; sports are played as well."""
    before = keys(words, first - 2, first)
    return not _ACTED.isdisjoint(before) and "for" not in before


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
    if not _MADE_FROM.isdisjoint(pairwise(keys(words, first - 4, first))):  # an author's name may stand between
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


def capital(words: Sequence[Word], first: int, last: int) -> float:
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


def beside_answer_type(outside: Sequence[str]) -> set[str]:
    """The other words of a question but the kind of thing that it asks for: *which language …*"""
    return {word for before, word in zip(("", *outside), outside, strict=False) if before not in ("what", "which")}


def keys(words: Sequence[Word], first: int, last: int) -> list[str]:
    """Folded words ``first`` to ``last`` (exclusive); what lies before the question is left out."""
    return [word.key for word in words[max(first, 0) : max(last, 0)]]
