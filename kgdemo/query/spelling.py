"""How the words of a question are written: short forms and shared names in full, mistyped words put right.

Nothing here is about what is asked. What is a name, and which words a graph knows, is handed in; a word that is either
stays as it was typed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import lru_cache

from rapidfuzz import process
from rapidfuzz.distance import OSA

from kgdemo.kg.labels import FUNCTION_WORDS

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_SHORTEST = 3  # letters of a word that is corrected
_LONG_NAME = 6  # letters from which a word that names use is corrected as well, since it named nothing here: *capitol*
_LONGER = 8  # letters from which two of them may be wrong
_ASKING = frozenset("what who which when where whose".split())


_SHARED_NAME = re.compile(r"\b(?P<one>[^\W\d_]+) (?P<word>and|or) (?P<other>[^\W\d_]+) (?P<family>[^\W\d_]+)\b")


_FAMILY_FIRST = re.compile(  # *Charlotte Brontë or Emily*
    r"\b(?P<one>[A-Z][^\W\d_]+ [A-Z][^\W\d_]+) (?P<word>and|or) (?P<other>[A-Z][^\W\d_]+)\b(?! [A-Z])"
)
_IN_BOTH = re.compile(  # *the Nobel Prize for physics and chemistry*
    r"\b(?P<head>[^\W\d_]+ [^\W\d_]+) (?:in|for) (?:both )?(?P<one>[^\W\d_]+) and (?P<other>[^\W\d_]+)\b(?: both\b)?",
    re.IGNORECASE,
)
_TEXT_SPEAK = {
    "n": "and", "u": "you", "r": "are", "ur": "your", "wot": "what", "wat": "what", "wiv": "with", "thru": "through",
    "b4": "before", "yr": "year", "yrs": "years", "temp": "temperature", "abt": "about", "coz": "because",
    "pm": "prime minister",
}  # fmt: skip
_SHORT_WORD = re.compile(rf"(?<=[a-z?] )(?:{'|'.join(_TEXT_SPEAK)})(?= [a-z])|^(?:{'|'.join(_TEXT_SPEAK)})(?= [a-z])")


def in_whole_words(text: str) -> str:
    """A question with the words of text messages written out, *wot did woody n buzz do b4*; not the symbol *N*."""
    text = re.sub(r"\b(what|who|where|when|how)s (?=[a-z])", r"\1 is ", text, flags=re.IGNORECASE)
    return _SHORT_WORD.sub(lambda found: _TEXT_SPEAK[found[0]], text)


_NUMBERED_NAME = re.compile(r"\b(?P<name>[^\W\d_]+) (?:the )?(?P<number>\d\d?)(?:st|nd|rd|th)(?P<own>['’]?s)?\b", re.I)
_ROMAN = ("", *"I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX XXI XXII XXIII".split())


def in_roman(text: str, is_name: Callable[[str], bool]) -> str:
    """A question with the numbers of kings and popes as names have them: *louis 16ths wife*.

    Args:
        text: the question.
        is_name: whether a text is an entity's name.
    """

    def written(found: re.Match[str]) -> str:
        number = int(found["number"])
        whole = f"{found['name'].capitalize()} {_ROMAN[number]}" if number < len(_ROMAN) else ""
        return f"{whole}{chr(39) + 's' if found['own'] else ''}" if whole and is_name(whole) else found[0]

    return _NUMBERED_NAME.sub(written, text)


def in_full(text: str, is_name: Callable[[str], bool]) -> str:
    """A question with the first of two names that share their last word written out: *Venus and Serena Williams*.

    Args:
        text: the question.
        is_name: whether a text is an entity's name.
    """

    def written(found: re.Match[str]) -> str:
        whole, other = f"{found['one']} {found['family']}", f"{found['other']} {found['family']}"
        return f"{whole} {found['word']} {other}" if is_name(whole) and is_name(other) else found[0]

    def with_noun(found: re.Match[str]) -> str:
        own = [f"{found[end]} {found['noun']}" for end in ("one", "other")]
        return f"which{found['rest']} {own[0]} or {own[1]}" if all(map(is_name, own)) else found[0]

    def with_family(found: re.Match[str]) -> str:
        other = f"{found['other']} {found['one'].split()[-1]}"
        known = is_name(found["one"]) and is_name(other)
        return f"{found['one']} {found['word']} {other}" if known else found[0]

    def in_both(found: re.Match[str]) -> str:
        one, other = (f"{found['head']} in {found[end]}" for end in ("one", "other"))
        return f"{one} and {other}" if is_name(one) and is_name(other) else found[0]

    text = _IN_BOTH.sub(in_both, _FAMILY_FIRST.sub(with_family, text))
    return _WHICH_OF_NOUN.sub(with_noun, _SHARED_NAME.sub(written, text))


_WHICH_OF_NOUN = re.compile(  # *which elephant is bigger, the African or the Asian*
    r"\bwhich (?P<noun>[a-z]+)(?P<rest>(?:['’]s| is| was| has| lives| runs| weighs)[^,:]*[,:]?)"
    r" (?:the )?(?P<one>\w+) or (?:the )?(?P<other>\w+)\b",
    re.IGNORECASE,
)


_OWNS = re.compile(  # *what is saturns biggest moon*
    r"\b(?P<the>the )?(?P<owner>[^\W\d_]{3,})s (?=(?:\w+est|first|second|third|last|surface|core|population|capital"
    r"|currency|flag"
    r"|president|king|queen|wife|husband|mother|father|brother|sister|son|daughter|dog|cat|horse|name|height|moons?)\b)",
    re.IGNORECASE,
)


def with_apostrophes(text: str, is_name: Callable[[str], bool]) -> str:
    """A question with the apostrophes that were left out behind names.

    Args:
        text: the question.
        is_name: whether a text is an entity's name.
    """

    def written(found: re.Match[str]) -> str:
        the, owner = found["the"] or "", found["owner"]
        owns = is_name(owner) and ((the and owner.islower()) or not is_name(f"{owner}s"))
        return f"{the}{owner}'s " if owns else found[0]

    return _OWNS.sub(written, text)


def unknown_words(text: str, vocabulary: Collection[str]) -> list[str]:
    """The words of a question that are no common words, as they stand there: names, or mistyped."""
    found = [match[0] for match in _WORD.finditer(text)]
    return [word for word in found if word.lower() not in vocabulary and _is_strange(word.lower(), 0, vocabulary)]


def corrected(
    text: str,
    named: Collection[tuple[int, int]],
    vocabulary: Collection[str],
    is_name: Callable[[str], bool],
    is_meant: Callable[[str, str], bool] = lambda word, better: False,
) -> str:
    """A question with the mistyped words that are neither names nor words of questions put right.

    Args:
        text: the question.
        named: stretches that name entities, (start, end) each; they stay as they are.
        vocabulary: words that questions are made of, in lower case.
        is_name: whether a word in lower case is part of any name.
        is_meant: whether a word may be meant as it stands, given the one that it would be put right to.
    """
    parts, done = [], 0
    for found in _WORD.finditer(text):
        word, (start, end) = found[0], found.span()
        inside = any(start < close and first < end for first, close in named)
        if inside or not _is_strange(word, start, vocabulary):
            continue
        better = _plural_of(word.lower(), vocabulary) or _nearest(word.lower(), frozenset(vocabulary))
        if is_meant(word.lower(), better):
            continue
        if better and (len(word) >= _LONG_NAME or better in FUNCTION_WORDS or not is_name(word.lower())):
            parts += [text[done:start], better.capitalize() if word[0].isupper() else better]
            done = end
    return "".join([*parts, text[done:]])


_SLIP = 6  # letters from which a word of questions is told with one of them wrong, before any name is looked for


def without_slips(
    text: str,
    vocabulary: Collection[str],
    is_name: Callable[[str], bool],
    is_meant: Callable[[str, str], bool] = lambda word, better: False,
    usual: frozenset[str] = frozenset(),
) -> str:
    """A question with words of questions put right in which one letter is wrong: *captial*, *heighest*, *htat*.

    Done before names are looked for, since a name may be like such a word; only words that no name has are touched.

    Args:
        text, vocabulary, is_name, is_meant: see ``corrected``.
        usual: the commonest words of questions; a short word must be like a single one of these.
    """
    words = frozenset(vocabulary)

    def right(found: re.Match[str]) -> str:
        word = found[0]
        if is_name(word.lower()) or not _is_strange(word, found.start(), vocabulary):
            return word
        if len(word) < _SLIP:
            like = [
                one for one in usual if len(one) >= _SHORTEST and OSA.distance(word.lower(), one, score_cutoff=1) == 1
            ]
            short = like[0] if len(like) == 1 and not is_meant(word.lower(), "") else word
            return short.capitalize() if word[0].isupper() else short
        better = _nearest(word.lower(), words)
        near = (
            better
            and not is_meant(word.lower(), better)
            and OSA.distance(word.lower(), better) == 1
            and not is_name(f"{word.lower()}s")
        )
        return (better.capitalize() if word[0].isupper() else better) if near else word

    return _WORD.sub(right, text)


def _is_strange(word: str, start: int, vocabulary: Collection[str]) -> bool:
    """Whether a word may be mistyped; a capital letter behind the first word makes a name of it."""
    if len(word) < _SHORTEST or "'" in word or (start > 0 and not word.islower()):
        return False
    plain = word.lower()
    if _plural_of(plain, vocabulary):
        return True
    forms = [plain, *(plain.removesuffix(ending) for ending in ("s", "es", "ed", "ing", "ly"))]  # *directly*
    forms += [form.removeprefix(first) for form in forms for first in ("be", "un", "re") if len(form) > _SLIP]
    if plain.endswith("ed"):
        forms.append(plain[:-1])
    return not any(form in vocabulary for form in forms)


def _plural_of(word: str, vocabulary: Collection[str]) -> str:
    """The plural that *countrys* stands for."""
    right = re.sub(r"(?<=[^aeiou])ys$", "ies", word)
    return right if right != word and word[:-1] in vocabulary else ""


@lru_cache(maxsize=8)  # one a graph
def _by_length(vocabulary: frozenset[str]) -> dict[int, list[str]]:
    lengths: dict[int, list[str]] = {}
    for word in sorted(vocabulary):
        lengths.setdefault(len(word), []).append(word)
    return lengths


def _nearest(word: str, vocabulary: frozenset[str]) -> str:
    """The word that was meant: one letter wrong, two in a long word; empty where none is near.

    A short word must be a question word or have all of its letters, in another order: too many are one letter apart.
    """
    wrong = 2 if len(word) >= _LONGER else 1
    lengths = _by_length(vocabulary)
    near = [w for n in range(len(word) - wrong, len(word) + wrong + 1) for w in lengths.get(n, ()) if n >= _SHORTEST]
    found = process.extract(word, near, scorer=OSA.distance, score_cutoff=wrong, limit=20)
    if len(word) == _SHORTEST:
        found = [one for one in found if one[0] in _ASKING or sorted(one[0]) == sorted(word)]
    asking = word.startswith("w")  # *wich* is *which*, not *with*
    return min(
        found,
        key=lambda one: (one[1], asking and one[0] not in _ASKING, *_unlikeness(word, one[0])),
        default=("",),
    )[0]


def _unlikeness(typed: str, word: str) -> tuple[bool, int, int, int]:
    """Of words equally near the one is meant that is common, begins like the typed one, ends like it, and is longer."""
    both = list(zip(typed, word, strict=False))
    ahead = next((i for i, (a, b) in enumerate(both) if a != b), len(both))
    behind = next((i for i in range(len(both) - ahead) if typed[-1 - i] != word[-1 - i]), len(both) - ahead)
    return word not in FUNCTION_WORDS, -ahead, -behind, -len(word)
